"""Points, moves, colors, results, their text, and the eight symmetries.

A *point* is ``row * size + col`` counted from the top left, ``0 … size² − 1``. A *move* is a point or ``PASS``.
Text exists at the edges only, and this file is the only place that converts it:

- a GTP *vertex* is a column letter without I and a row counted from the **bottom**: ``A1`` is the lower left;
- an SGF point is two letters, column then row, counted from the **top**: ``aa`` is the upper left.

>>> parse_vertex("C2", size=3), format_vertex(5, size=3)
(5, 'C2')
>>> parse_sgf_point("cb", size=3), format_sgf_point(5, size=3)
(5, 'cb')

How a game ended, and its SGF text: ``B+3.5``, ``W+R``, ``B+T``, ``W+F``, ``B+`` or ``0``.

>>> GameResult.parse("w+resign")
GameResult(winner=-1, margin=None, reason=<Reason.RESIGNATION: 'R'>)
>>> str(GameResult.by_score(-0.5))
'W+0.5'
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum, IntEnum
from functools import cache
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

MIN_SIZE: Final = 1  # 1×1 exists so that positions can be counted on it; people play on 2 to 19
MAX_SIZE: Final = 19
MAX_POINTS: Final = MAX_SIZE * MAX_SIZE

PASS: Final = -1

BLACK: Final = 1
WHITE: Final = -1
EMPTY: Final = 0

_Scalar = TypeVar("_Scalar", bound=np.generic)

COLUMN_LETTERS: Final = "ABCDEFGHJKLMNOPQRST"
_SGF_LETTERS: Final = "abcdefghijklmnopqrs"
_COLOR_NAMES: Final = {"b": BLACK, "black": BLACK, "w": WHITE, "white": WHITE}


def check_size(size: int) -> int:
    """Return ``size`` if boards of that size exist, else raise ValueError."""
    if not MIN_SIZE <= size <= MAX_SIZE:
        raise ValueError(f"board size {size} is not between {MIN_SIZE} and {MAX_SIZE}")
    return size


def parse_color(text: str) -> int:
    """``b``, ``black``, ``w`` or ``white`` in any case."""
    try:
        return _COLOR_NAMES[text.lower()]
    except KeyError:
        raise ValueError(f"{text!r} is not a color: say black or white") from None


def format_color(color: int) -> str:
    """``black``, ``white`` or ``empty``."""
    return {BLACK: "black", WHITE: "white", EMPTY: "empty"}[color]


def parse_vertex(text: str, size: int) -> int:
    """A GTP vertex or ``pass``, in any case; raises ValueError if it is not on the board."""
    word = text.upper()
    if word == "PASS":
        return PASS
    column = COLUMN_LETTERS.find(word[:1]) if word else -1
    digits = word[1:]
    if column < 0 or not (digits.isascii() and digits.isdigit() and len(digits) <= 2):
        raise ValueError(f"{text!r} is not a vertex")
    row = size - int(digits)
    if column >= size or not 0 <= row < size:
        raise ValueError(f"{text} is off the {size}×{size} board")
    return row * size + column


def format_vertex(move: int, size: int) -> str:
    """The GTP text of a move: ``C2`` or ``pass``."""
    if move == PASS:
        return "pass"
    row, column = divmod(move, size)
    return f"{COLUMN_LETTERS[column]}{size - row}"


def parse_sgf_point(text: str, size: int) -> int:
    """An SGF point; raises ValueError if it is not on the board. Whether ``""`` and ``tt`` pass, the caller knows."""
    column, row = (_SGF_LETTERS.find(letter) for letter in text) if len(text) == 2 else (-1, -1)
    if not (0 <= column < size and 0 <= row < size):
        raise ValueError(f"{text!r} is not a point of a {size}×{size} board")
    return row * size + column


def format_sgf_point(move: int, size: int) -> str:
    """The SGF text of a move; a pass is the empty text, as FF4 has it."""
    if move == PASS:
        return ""
    row, column = divmod(move, size)
    return _SGF_LETTERS[column] + _SGF_LETTERS[row]


class Symmetry(IntEnum):
    """The eight maps of the square onto itself: turn clockwise by quarters, after mirroring left and right.

    >>> Symmetry.TURN_90.then(Symmetry.TURN_270)
    <Symmetry.IDENTITY: 0>
    >>> int(Symmetry.TURN_90.points(3)[0])  # the upper left goes to the upper right
    2
    >>> Symmetry.MIRROR.transform(np.array([[1, 2], [3, 4]])).tolist()
    [[2, 1], [4, 3]]
    """

    IDENTITY = 0
    TURN_90 = 1
    TURN_180 = 2
    TURN_270 = 3
    MIRROR = 4
    MIRROR_TURN_90 = 5
    MIRROR_TURN_180 = 6
    MIRROR_TURN_270 = 7

    @property
    def inverse(self) -> Symmetry:
        """The symmetry that takes this one back; every mirrored one is its own."""
        return self if self >= 4 else Symmetry(-self % 4)

    def then(self, second: Symmetry) -> Symmetry:
        """This symmetry followed by ``second``."""
        # A mirror reverses the sense of the turns that came before it.
        turns = (-self if second >= 4 else self) % 4 + second % 4
        return Symmetry(turns % 4 + 4 * ((self >= 4) != (second >= 4)))

    def points(self, size: int) -> NDArray[np.int64]:
        """The table ``new_point[point]``, [size²]; do not write to it."""
        table: NDArray[np.int64] = _symmetry_tables(size)[self]
        return table

    def apply(self, move: int, size: int) -> int:
        """Where this symmetry takes a move; a pass stays a pass."""
        return move if move == PASS else int(self.points(size)[move])

    def transform(self, grids: NDArray[_Scalar]) -> NDArray[_Scalar]:
        """Boards, planes or anything else [..., n, n] with every point where this symmetry takes it; a view."""
        mirrored = grids[..., ::-1] if self >= 4 else grids
        return np.rot90(mirrored, -(self % 4), axes=(-2, -1))


@cache
def _symmetry_tables(size: int) -> NDArray[np.int64]:
    points = np.arange(size * size).reshape(size, size)
    tables = np.empty((8, size * size), dtype=np.int64)
    for symmetry in Symmetry:
        tables[symmetry][symmetry.transform(points).ravel()] = points.ravel()
    tables.setflags(write=False)
    return tables


# Where handicap stones stand: the fixed placement of GTP, and as many more as a board takes.


def inner_points(size: int, line: int) -> NDArray[np.bool_]:
    """The points [n²] on a line counted from the edge, where 1 is the first, or further inside."""
    inner = np.zeros((size, size), dtype=np.bool_)
    inner[line - 1 : size - line + 1, line - 1 : size - line + 1] = True
    return inner.ravel()


def max_fixed_handicap(size: int) -> int:
    """The most stones that have a fixed place on a board of that size (GTP 2, section 4.1.1)."""
    if size < 7:
        return 0
    return 4 if size % 2 == 0 or size == 7 else 9


def fixed_handicap_points(size: int, stones: int) -> list[int]:
    """The points of a fixed handicap of 2 stones or more, in order; raises ValueError if there are no such places."""
    most = max_fixed_handicap(check_size(size))
    if not 2 <= stones <= most:
        known = f"2 to {most} stones" if most else "no handicap stones"
        raise ValueError(f"{stones} handicap stones: on {size}×{size} {known} have fixed places")
    low = 2 if size < 13 else 3
    high, middle = size - 1 - low, size // 2
    # (row, col) from the top; GTP's first stone is in the lower left, its second in the upper right.
    corners = [(high, low), (low, high), (low, low), (high, high)]
    sides = [(middle, low), (middle, high), (low, middle), (high, middle)]
    places = corners[: min(stones, 4)]
    if stones >= 6:
        places += sides[: stones // 2 * 2 - 4]
    if stones >= 5 and stones % 2:
        places.append((middle, middle))
    return sorted(row * size + col for row, col in places)


def free_handicap_points(size: int, stones: int) -> list[int]:
    """Points for any handicap that leaves room to play: the fixed places first, then those farthest from the others."""
    if not 2 <= stones <= size * size - 1:
        raise ValueError(f"{stones} handicap stones do not fit on {size}×{size}")
    most = min(stones, max_fixed_handicap(size))
    chosen = fixed_handicap_points(size, most) if most >= 2 else []
    while len(chosen) < stones:
        chosen.append(_farthest(size, chosen))
    return sorted(chosen)


def _farthest(size: int, chosen: list[int]) -> int:
    """The free point whose nearest chosen stone, or edge, is farthest away; the first of equals."""

    def distance(point: int) -> tuple[int, int]:
        row, col = divmod(point, size)
        edge = min(row, col, size - 1 - row, size - 1 - col)
        nearest = min((abs(row - p // size) + abs(col - p % size) for p in chosen), default=size)
        return min(nearest, 2 * edge + 1), nearest

    free = [point for point in range(size * size) if point not in chosen]
    return max(free, key=lambda point: (distance(point), -point))


# How a game ended.


class Reason(Enum):
    SCORE = "score"
    RESIGNATION = "R"
    TIME = "T"
    FORFEIT = "F"
    UNKNOWN = ""


_LETTERS = {BLACK: "B", WHITE: "W"}
_WON = re.compile(r"(b|black|w|white)\+(.*)", re.IGNORECASE | re.DOTALL)
_REASONS = {
    "r": Reason.RESIGNATION,
    "resign": Reason.RESIGNATION,
    "t": Reason.TIME,
    "time": Reason.TIME,
    "f": Reason.FORFEIT,
    "forfeit": Reason.FORFEIT,
    "": Reason.UNKNOWN,
}


@dataclass(frozen=True, slots=True)
class GameResult:
    """The winner (EMPTY for a draw), by how much if the board was counted, and the reason."""

    winner: int
    margin: float | None = None
    reason: Reason = Reason.UNKNOWN

    @classmethod
    def by_score(cls, black_lead: float) -> GameResult:
        """The result of a count; ``black_lead`` is Black's score less White's, komi included."""
        winner = BLACK if black_lead > 0 else WHITE if black_lead < 0 else EMPTY
        return cls(winner, abs(black_lead), Reason.SCORE)

    @classmethod
    def parse(cls, text: str) -> GameResult:
        """Read an SGF result; raises ValueError for one that tells no winner (``?``, ``Void``)."""
        word = text.strip().lower()
        if word in ("0", "draw", "jigo"):
            return cls.by_score(0.0)
        won = _WON.fullmatch(word)
        if not won:
            raise ValueError(f"{text!r} tells no result")
        winner = BLACK if won[1].startswith("b") else WHITE
        how = won[2].strip()
        if how in _REASONS:
            return cls(winner, None, _REASONS[how])
        if not re.fullmatch(r"\d{1,4}([.,]\d{0,3})?", how):
            raise ValueError(f"{text!r} tells no result")
        return cls(winner, float(how.replace(",", ".")), Reason.SCORE)

    def __str__(self) -> str:
        if self.winner == EMPTY:
            return "0"
        how = f"{self.margin:g}" if self.margin is not None else self.reason.value
        return f"{_LETTERS[self.winner]}+{how}"
