"""Shapes that players have names for, found around a move by small diagrams.

>>> from katachi.go.points import parse_vertex
>>> board = Board.parse('''
... . . . . .
... . X . . .
... . X . . .
... . . . . .
... . . . . .''')
>>> [(shape.name.value, len(shape.stones)) for shape in find_shapes(board, parse_vertex("C3", 5))]
[('empty triangle', 3)]
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from functools import cache
from typing import Final, NamedTuple

import numpy as np

from katachi.core.evaluators import after
from katachi.go.board import Board
from katachi.go.points import EMPTY, PASS


class ShapeName(Enum):
    """What a shape is called."""

    EMPTY_TRIANGLE = "empty triangle"
    DUMPLING = "dumpling"
    PONNUKI = "ponnuki"
    TORTOISE_SHELL = "tortoise shell"
    TIGERS_MOUTH = "tiger's mouth"
    BAMBOO_JOINT = "bamboo joint"
    HEAD_OF_THREE = "hane at the head of three"
    HEAD_OF_TWO = "hane at the head of two"
    DOUBLE_HANE = "double hane"
    HANE = "hane"
    CROSSCUT = "crosscut"
    CUT = "cut"
    SOLID_CONNECTION = "solid connection"
    PEEK = "peek"
    SHOULDER_HIT = "shoulder hit"
    ATTACHMENT = "attachment"
    DIAGONAL_MOVE = "diagonal move"
    ONE_SPACE_JUMP = "one-space jump"
    KNIGHTS_MOVE = "knight's move"
    TWO_SPACE_JUMP = "two-space jump"
    LARGE_KNIGHTS_MOVE = "large knight's move"


class NamedShape(NamedTuple):
    """A shape that a move made, and the stones that it consists of."""

    name: ShapeName
    stones: tuple[int, ...]


# In a diagram, for the player who moved:
#   *  a stone of theirs that may be the move     X  one that was there before
#   O  a stone of the opponent's                  A, B  two of different chains
#   P, Q  two of theirs of chains that the move joined
#   L  the opponent's last move                   M  their own before
#   .  an empty point, before too                 x  one where the move took a stone
#   #  off the board; these may be, too: ,  not theirs    ;  not the opponent's    :  no stone    ?  anything
_DIAGRAMS: Final[Mapping[ShapeName, tuple[str, ...]]] = {
    ShapeName.EMPTY_TRIANGLE: ("**? *., ?,?",),
    ShapeName.DUMPLING: ("*** ***",),
    ShapeName.PONNUKI: (",*, *x* ,*,",),
    ShapeName.TORTOISE_SHELL: (",**, *xx* ,**,",),
    ShapeName.TIGERS_MOUTH: (",*? *.* ?.?",),
    ShapeName.BAMBOO_JOINT: ("** .. **",),
    ShapeName.HEAD_OF_THREE: ("????,? ;OOO*, ?XXX.?",),
    ShapeName.HEAD_OF_TWO: ("???,? ;OO*, ?XX.?",),
    ShapeName.DOUBLE_HANE: ("??,? ?.*, ?ML? XO??",),
    ShapeName.HANE: ("?,? O*, X.?",),
    ShapeName.CUT: ("A* XB",),
    ShapeName.SOLID_CONNECTION: ("P* OQ",),
    ShapeName.PEEK: ("?*? A.B ?;?",),
    ShapeName.SHOULDER_HIT: ("?::: ?.*: ,O.: ?,?? ???? ####", "?::: ?.*: ,O.: ?,?? ???? ???? ####"),
    ShapeName.ATTACHMENT: (",:, O*: ,:,",),
    ShapeName.ONE_SPACE_JUMP: ("?;,? X.*, ?;,?",),
    ShapeName.TWO_SPACE_JUMP: ("?;;,? X..*, ?;;,?",),
    ShapeName.KNIGHTS_MOVE: ("X.,? ..*, ??,?",),
    ShapeName.LARGE_KNIGHTS_MOVE: ("X..,? ?..*, ???,?",),
    ShapeName.DIAGONAL_MOVE: ("X.? .*, ?,?",),
}
# What a name makes needless to say: that a hane at the head of two is a hane, or that a cut is made by a hane.
_IMPLIED: Final[Mapping[ShapeName, frozenset[ShapeName]]] = {
    ShapeName.HEAD_OF_THREE: frozenset({ShapeName.HANE}),
    ShapeName.HEAD_OF_TWO: frozenset({ShapeName.HANE}),
    ShapeName.DOUBLE_HANE: frozenset({ShapeName.HANE}),
    ShapeName.CROSSCUT: frozenset({ShapeName.HANE, ShapeName.CUT}),
    ShapeName.CUT: frozenset({ShapeName.HANE}),
    ShapeName.TORTOISE_SHELL: frozenset({ShapeName.PONNUKI}),
    ShapeName.DUMPLING: frozenset({ShapeName.EMPTY_TRIANGLE}),
}
_WAYS_TO_MOVE: Final = (  # the nearest is said of a move that nothing else is said of
    ShapeName.DIAGONAL_MOVE,
    ShapeName.ONE_SPACE_JUMP,
    ShapeName.KNIGHTS_MOVE,
    ShapeName.TWO_SPACE_JUMP,
    ShapeName.LARGE_KNIGHTS_MOVE,
)
_SMALLEST_WITH_SIDES: Final = 9  # on a smaller board the fourth line is no side
_MARGIN: Final = 7  # of a board's frame, wider than any diagram
_OFF: Final = 9

Cells = tuple[tuple[int, int, str], ...]  # rows and columns from the move, and what is there


def find_shapes(board: Board, move: int) -> list[NamedShape]:
    """The named shapes that a move makes, each once; raises IllegalMove if simple ko or suicide forbids the move."""
    played = after(board, move)
    if move == PASS:
        return []
    view = _View(board, played, move)
    found: dict[ShapeName, tuple[int, ...]] = {}
    for name, cells in _all_cells():
        if name is ShapeName.SHOULDER_HIT and board.size < _SMALLEST_WITH_SIDES:
            continue
        if name not in found and view.has(cells):
            found[name] = view.stones(cells)
    if ShapeName.CUT in found and played.liberty_count(move) == 1:  # it is taken: nothing was cut
        del found[ShapeName.CUT]
    if ShapeName.CUT in found and all(len(played.chain(stone)) == 1 for stone in found[ShapeName.CUT]):
        found[ShapeName.CROSSCUT] = found[ShapeName.CUT]
    needless = {implied for name in found for implied in _IMPLIED.get(name, ())}
    names = [name for name in ShapeName if name in found and name not in needless]
    told = [name for name in names if name not in _WAYS_TO_MOVE] or names[:1]
    return [NamedShape(name, found[name]) for name in told]


class _View:
    """A board before and after a move as its player sees it: own stones are 1, the opponent's −1."""

    def __init__(self, board: Board, played: Board, move: int) -> None:
        self._boards = (board, played)
        self._last = board.recent_points[:2]
        self._size = board.size
        self._row, self._column = divmod(move, board.size)
        self._before, self._now = (self._frame(each, board.to_play) for each in (board, played))

    def _frame(self, board: Board, color: int) -> list[list[int]]:
        stones = board.stones.reshape(self._size, self._size) * color
        rows: list[list[int]] = np.pad(stones, _MARGIN, constant_values=_OFF).tolist()
        return rows

    def has(self, cells: Cells) -> bool:
        """Whether all points are what a diagram says, and its chains apart."""
        marked: dict[str, int] = {}
        for down, right, symbol in cells:
            row, column = self._row + down + _MARGIN, self._column + right + _MARGIN
            if self._now[row][column] not in _NOW[symbol]:
                return False
            if symbol in _BEFORE and self._before[row][column] not in _BEFORE[symbol]:
                return False
            if symbol in "ABPQLM":
                marked[symbol] = (self._row + down) * self._size + self._column + right
        if any(marked.get(symbol, move) != move for symbol, move in zip("LM", self._last, strict=True)):
            return False
        return self._apart(marked, "AB", 1) and self._apart(marked, "PQ", 0)

    def _apart(self, marked: Mapping[str, int], pair: str, when: int) -> bool:
        """Whether two stones, if a diagram marks them, belong to different chains before (0) or after (1) the move."""
        first, second = (marked.get(symbol) for symbol in pair)
        return first is None or second is None or second not in self._boards[when].chain(first)

    def stones(self, cells: Cells) -> tuple[int, ...]:
        """The stones of a diagram, on the board."""
        points = (
            (self._row + down) * self._size + self._column + right for down, right, mark in cells if mark in _STONES
        )
        return tuple(sorted(points))


_STONES: Final = "*XOABPQLM"
_OWN, _OTHER = frozenset({1}), frozenset({-1})
_NONE, _NO_STONE = frozenset({EMPTY}), frozenset({EMPTY, _OFF})
# What may stand on a point of a diagram after the move; and before, where that matters
_NOW: Final[Mapping[str, frozenset[int]]] = {
    **dict.fromkeys("*XPQM", _OWN),
    **dict.fromkeys("OABL", _OTHER),
    **dict.fromkeys(".x", _NONE),
    ",": _NO_STONE | _OTHER,
    ";": _NO_STONE | _OWN,
    ":": _NO_STONE,
    "#": frozenset({_OFF}),
}
_BEFORE: Final[Mapping[str, frozenset[int]]] = {**dict.fromkeys("XPQM", _OWN), ".": _NONE, "x": _OTHER}


@cache
def _all_cells() -> tuple[tuple[ShapeName, Cells], ...]:
    """Every diagram in all of its symmetries, with each stone that may be the move in the middle."""
    return tuple((name, cells) for name, diagrams in _DIAGRAMS.items() for each in diagrams for cells in _turn(each))


def _turn(diagram: str) -> Iterator[Cells]:
    rows = diagram.split()
    cells = [(row, column, mark) for row, line in enumerate(rows) for column, mark in enumerate(line) if mark != "?"]
    seen: set[frozenset[tuple[int, int, str]]] = set()
    for first_row, first_column, mark in cells:
        if mark != "*":
            continue
        for turn in _SYMMETRIES:
            turned = [(*turn(row - first_row, column - first_column), mark) for row, column, mark in cells]
            if frozenset(turned) not in seen:
                seen.add(frozenset(turned))
                yield tuple(sorted(turned, key=lambda cell: (abs(cell[0]) + abs(cell[1]), cell)))  # what is near first


_SYMMETRIES: Final[tuple[Callable[[int, int], tuple[int, int]], ...]] = (
    lambda row, column: (row, column),
    lambda row, column: (row, -column),
    lambda row, column: (-row, column),
    lambda row, column: (-row, -column),
    lambda row, column: (column, row),
    lambda row, column: (column, -row),
    lambda row, column: (-column, row),
    lambda row, column: (-column, -row),
)
