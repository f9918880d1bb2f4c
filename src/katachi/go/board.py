"""A board: the stones, whose turn it is, and the simple ko. It knows neither the game's past nor its rules.

(Of the past it remembers the last few moves, which networks like to look at; they are not part of what it is equal
to.) The state is one structured record (see ``go/kernels/board.py``); ``board.record`` is what compiled code takes.
Undo keeps copies of the record, so that it restores every array exactly.

>>> board = Board.parse('''
... . X O .
... X . X O
... . X O .
... . . . .
... White to play''')
>>> board.play(5)  # White takes a stone …
>>> print(board)
  A B C D
4 . X O . 4
3 X O . O 3
2 . X O . 2
1 . . . . 1
  A B C D
Black to play, ko at C3
>>> board.play(6)  # … and Black may not take back at once
Traceback (most recent call last):
    ...
katachi.go.board.IllegalMove: C3: ko
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum
from typing import Any, overload

import numpy as np
from numpy.typing import DTypeLike, NDArray

from katachi.go.diagrams import Diagram, draw_svg, format_diagram, parse_diagram
from katachi.go.kernels import board as kernels
from katachi.go.points import BLACK, EMPTY, MAX_POINTS, PASS, WHITE, Symmetry, check_size, format_vertex


class Illegality(Enum):
    """Why a move is illegal."""

    OCCUPIED = "occupied"
    KO = "ko"
    SUPERKO = "superko"
    SUICIDE = "suicide"
    OFF_BOARD = "off the board"


_REASONS = {
    kernels.OCCUPIED: Illegality.OCCUPIED,
    kernels.KO: Illegality.KO,
    kernels.SUICIDE: Illegality.SUICIDE,
}


class IllegalMove(ValueError):
    """A move that the rules forbid, and why."""

    def __init__(self, move: int, reason: Illegality, size: int) -> None:
        on_board = PASS <= move < size * size
        super().__init__(f"{format_vertex(move, size) if on_board else move}: {reason.value}")
        self.move = move
        self.reason = reason


class NothingToUndo(ValueError):
    """There is no earlier state to go back to."""

    def __init__(self) -> None:
        super().__init__("there is nothing to undo")


class Board:
    """Stones on a square board; every method that plays takes the color to move unless given another."""

    __slots__ = ("_past", "record")

    def __init__(self, size: int = 19) -> None:
        self.record: NDArray[Any] = kernels.new_boards(1, check_size(size))
        self._past: list[NDArray[Any]] = []

    @classmethod
    def wrap(cls, record: NDArray[Any]) -> Board:
        """The board of a record, [1], which is shared and not copied; it has nothing to undo."""
        board = cls.__new__(cls)
        board.record, board._past = record, []
        return board

    @classmethod
    def parse(cls, text: str) -> Board:
        """Read a diagram (see ``diagrams.parse_diagram``); raises ValueError if it is not a board."""
        diagram = parse_diagram(text)
        board = cls(diagram.size)
        board._fill(diagram.stones)
        board.to_play = diagram.to_play
        if diagram.ko_point is not None:
            board.record["ko"] = diagram.ko_point
        return board

    @property
    def size(self) -> int:
        return int(self.record["lines"][0])

    @property
    def to_play(self) -> int:
        return int(self.record["to_play"][0])

    @to_play.setter
    def to_play(self, color: int) -> None:
        if _check_color(color) != self.to_play:
            self.record["ko"] = kernels.OFF  # it binds whoever lost the stone, at once or not at all
        self.record["to_play"] = color

    @property
    def ko_point(self) -> int | None:
        """The point that simple ko forbids to the player to move."""
        ko = int(self.record["ko"][0])
        return None if ko == kernels.OFF else ko

    @property
    def recent_points(self) -> list[int | None]:
        """Where the last eight moves were played, the last one first; None for a pass, and before the first move."""
        turns, ring = int(self.record["turns"][0]), self.record["recent"][0].tolist()
        points = [ring[(turns - ago) % kernels.RECENT] for ago in range(kernels.RECENT)]
        return [None if point == kernels.OFF else point for point in points]

    @property
    def hash(self) -> int:
        """Equal for equal stones, whoever is to play, in every process."""
        return int(self.record["hash"][0])

    @property
    def stones(self) -> NDArray[np.int8]:
        """The color of every point, [n²]; a view that follows the board and cannot be written to."""
        view: NDArray[np.int8] = self.record["stone"][0, : self.size**2]
        view.flags.writeable = False
        return view

    def __getitem__(self, point: int) -> int:
        return int(self.stones[self._check_point(point)])

    def captured(self, color: int) -> int:
        """How many stones of a color have been captured."""
        return int(self.record["captured"][0, 0 if _check_color(color) == BLACK else 1])

    # Legality

    def why_illegal(self, move: int, color: int | None = None, *, suicide: bool = False) -> Illegality | None:
        """The reason why a move is illegal under simple ko, None if it is legal. A pass always is."""
        if move == PASS:
            return None
        if not 0 <= move < self.size**2:
            return Illegality.OFF_BOARD
        color = self.to_play if color is None else _check_color(color)
        return _REASONS.get(kernels.why_illegal(self.record, move, color, suicide))

    def is_legal(self, move: int, color: int | None = None, *, suicide: bool = False) -> bool:
        return self.why_illegal(move, color, suicide=suicide) is None

    def legal_moves(self, color: int | None = None, *, suicide: bool = False) -> NDArray[np.bool_]:
        """Which moves are legal under simple ko, [n²+1]; the last is the pass, which always is."""
        legal = np.ones(self.size**2 + 1, dtype=np.bool_)
        kernels.fill_legal(self.record, self.to_play if color is None else _check_color(color), suicide, legal)
        return legal

    # Change

    def play(self, move: int, color: int | None = None, *, suicide: bool = False) -> None:
        """Play a point or PASS; raises IllegalMove and changes nothing if simple ko or suicide forbids it."""
        if not PASS <= move < self.size**2:
            raise IllegalMove(move, Illegality.OFF_BOARD, self.size)
        color = self.to_play if color is None else _check_color(color)
        before = self.record.copy()
        reason = _REASONS.get(kernels.try_play(self.record, move, color, suicide))
        if reason is not None:
            raise IllegalMove(move, reason, self.size)
        self._past.append(before)

    def place(
        self,
        black: Iterable[int] = (),
        white: Iterable[int] = (),
        empty: Iterable[int] = (),
        to_play: int | None = None,
    ) -> None:
        """Set up stones without playing; raises ValueError and changes nothing if a chain would have no liberty."""
        stones = self.stones.copy()
        for color, points in ((BLACK, black), (WHITE, white), (EMPTY, empty)):
            for point in points:
                stones[self._check_point(point)] = color
        next_to_play = self.to_play if to_play is None else _check_color(to_play)
        before = self.record
        self._fill(stones)
        self.record["captured"] = before["captured"]
        self.record["to_play"] = next_to_play
        self._past.append(before)

    def undo(self) -> None:
        """Take back the last ``play`` or ``place``; raises NothingToUndo if there was none."""
        if not self._past:
            raise NothingToUndo
        self.record = self._past.pop()

    def _fill(self, stones: NDArray[np.int8]) -> None:
        record = kernels.new_boards(1, self.size)
        if not kernels.set_stones(record, stones):
            raise ValueError("these stones cannot stand: a chain would have no liberty")
        record["to_play"] = BLACK
        self.record = record

    # Chains

    def chain(self, point: int) -> list[int]:
        """The points of the chain at a point, in order; raises ValueError if no stone is there."""
        out = np.empty(MAX_POINTS, dtype=np.int64)
        return sorted(out[: kernels.chain_at(self.record, self._check_stone(point), out)].tolist())

    def chains(self) -> list[list[int]]:
        """All chains of both colors, by their first points."""
        heads = self.record["head"][0, : self.size**2]
        by_head: dict[int, list[int]] = {}
        for point in np.flatnonzero(self.stones).tolist():
            by_head.setdefault(int(heads[point]), []).append(point)
        return list(by_head.values())

    def liberties(self, point: int) -> list[int]:
        """The empty points that touch the chain at a point, in order."""
        out = np.empty(MAX_POINTS, dtype=np.int64)
        return sorted(out[: kernels.liberties_at(self.record, self._check_stone(point), out)].tolist())

    def liberty_count(self, point: int) -> int:
        """How many liberties the chain at a point has."""
        return len(self.liberties(point))

    def pseudo_liberties(self, point: int) -> int:
        """The liberties of a chain, each counted once for every stone that touches it."""
        head = self.record["head"][0, self._check_stone(point)]
        return int(self.record["liberties"][0, head] & kernels.COUNT_MASK)

    def is_own_eye(self, point: int, color: int) -> bool:
        """Whether an empty point is a simple eye of a color (``kernels.board.is_own_eye`` says what that is)."""
        if self[point] != EMPTY:
            return False
        return bool(kernels.own_eye_at(self.record, point, _check_color(color)))

    # The object

    def copy(self) -> Board:
        """An independent board with the same past."""
        twin = Board.__new__(Board)
        twin.record = self.record.copy()
        twin._past = self._past.copy()  # the records of the past are never written to
        return twin

    def transformed(self, symmetry: Symmetry) -> Board:
        """The board turned or mirrored, with its ko and its last moves; it has nothing to undo."""
        goes_to = np.full(MAX_POINTS + 1, kernels.OFF, dtype=np.int64)
        goes_to[: self.size**2] = symmetry.points(self.size)
        stones = np.empty_like(self.stones)
        stones[goes_to[: self.size**2]] = self.stones
        twin = Board(self.size)
        twin._fill(stones)
        for name in ("to_play", "captured", "turns"):
            twin.record[name] = self.record[name]
        for name in ("ko", "recent"):
            twin.record[name] = goes_to[self.record[name]]
        return twin

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        """The stones as NumPy sees the board, [n, n] int8; a copy, since the board changes, unless ``copy`` is False.

        >>> np.asarray(Board.parse(". X / O ."))
        array([[ 0,  1],
               [-1,  0]], dtype=int8)
        """
        stones = self.stones.reshape(self.size, self.size)
        return np.array(stones, dtype=dtype, copy=copy is not False)

    def __eq__(self, other: object) -> bool:
        """Whether stones, turn and ko are the same, whatever led there."""
        if not isinstance(other, Board):
            return NotImplemented
        return (
            self.size == other.size
            and bool(np.array_equal(self.stones, other.stones))
            and (self.to_play, self.ko_point) == (other.to_play, other.ko_point)
        )

    __hash__ = None  # type: ignore[assignment]  # a board changes; its position's hash is ``hash``

    @property
    def diagram(self) -> Diagram:
        return Diagram(self.size, self.stones, self.to_play, self.ko_point)

    def __str__(self) -> str:
        return format_diagram(self.diagram)

    def __repr__(self) -> str:
        return f"Board.parse('''\n{self}''')"

    def _repr_svg_(self) -> str:
        return draw_svg(self.diagram)

    def _check_point(self, point: int) -> int:
        if not 0 <= point < self.size**2:
            raise ValueError(f"{point} is not a point of a {self.size}×{self.size} board")
        return point

    def _check_stone(self, point: int) -> int:
        if self[point] == EMPTY:
            raise ValueError(f"there is no stone on {format_vertex(point, self.size)}")
        return point


class Boards(Sequence[Board]):
    """Boards whose records lie in one array, [B], as kernels take them."""

    def __init__(self, records: NDArray[Any]) -> None:
        self.records = records

    def __len__(self) -> int:
        return self.records.size

    @overload
    def __getitem__(self, index: int) -> Board: ...
    @overload
    def __getitem__(self, index: slice) -> Boards: ...
    def __getitem__(self, index: int | slice) -> Board | Boards:
        if isinstance(index, slice):
            return Boards(self.records[index])
        index = range(len(self))[index]
        return Board.wrap(self.records[index : index + 1])


def stack_records(boards: Sequence[Board]) -> NDArray[Any]:
    """The records of boards in one array, [B], as kernels take them."""
    return boards.records if isinstance(boards, Boards) else concatenate_records([board.record for board in boards])


def concatenate_records(records: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Arrays of records as one."""
    as_bytes = np.dtype((np.void, kernels.BOARD.itemsize))  # numpy would compare all fields of all records
    return np.concatenate([array.view(as_bytes) for array in records]).view(kernels.BOARD)


def legal_moves_of(boards: Sequence[Board]) -> NDArray[np.bool_]:
    """Which moves are legal under simple ko on boards of one size, [B, n²+1]."""
    records = stack_records(boards)
    legal = np.ones((records.size, int(records["lines"][0]) ** 2 + 1), dtype=np.bool_)
    kernels.fill_legal_of_all(records, legal)
    return legal


def _check_color(color: int) -> int:
    if color not in (BLACK, WHITE):
        raise ValueError(f"{color} is not a color to play")
    return color
