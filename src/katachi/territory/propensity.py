"""Propensity: whose a point usually becomes, by what stands in the 3×3 windows around it (Wu and Baldi 2006).

A window belongs to one of ten classes by its distances 0, 1, 2 or 3 and more from the two nearest edges; in the
middle between two edges it is far from both. Content that a symmetry of the class turns into another, or an exchange
of the colors, is the same content. With the number of times N that a point of it ended as Black's and as White's,

    S = (N_black − N_white) / (N_black + N_white + C),   C = 1,

and the propensity of a point is the mean of S over the windows that contain it. It is learned from the games that a
model is trained on, and is 0 where nothing was learned. Values are rounded to 11 binary places, so that their sums
are exact and turn with the board to the last bit, and 16-bit numbers can hold them.

>>> propensity = Propensity()
>>> board = Board.parse(". X . / . . . / O . .")
>>> owned = np.array([1, 1, 1, 1, 1, 0, -1, -1, -1], dtype=np.int8)
>>> propensity.count([board] * 3, owned[None].repeat(3, axis=0))
>>> propensity_of(board, propensity.table()).reshape(3, 3)
array([[ 0.75,  0.75,  0.75],
       [ 0.75,  0.75,  0.  ],
       [-0.75, -0.75, -0.75]], dtype=float32)
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from katachi.core.contracts import Floats, Ints
from katachi.features.windows import find_windows
from katachi.go.board import Board
from katachi.go.points import BLACK, PASS, WHITE, Symmetry
from katachi.territory.kernels._propensity import ALL_LEGAL, CELLS, count_game, count_positions, fill_propensity

CODES: Final = 3**CELLS
FAR: Final = 3  # and farther from an edge
CLASSES: Final = (FAR + 1) * (FAR + 2) // 2
TABLE_SHAPE: Final = (CLASSES, CODES, CELLS)
_FRACTION: Final = 1 << 11
_POWERS: Final = 3 ** np.arange(CELLS - 1, -1, -1)

Ownership: TypeAlias = NDArray[np.int8]
_Number = TypeVar("_Number", bound=np.generic)


class WindowClasses(NamedTuple):
    """The 3×3 windows of a board in their frames."""

    cells: NDArray[np.uint16]  # [W, 9]
    classes: NDArray[np.uint8]  # [W]


@cache
def classify_windows(size: int) -> WindowClasses:
    """The windows of a board by rows, with their classes; there are none on boards smaller than 3×3."""
    if size < 3:
        return WindowClasses(np.empty((0, CELLS), dtype=np.uint16), np.empty(0, dtype=np.uint8))
    windows = find_windows(size, 3, 3)
    x, y = (np.where(2 * offset == size - 3, FAR, np.minimum(offset, FAR)) for offset in (windows.x, windows.y))
    return WindowClasses(windows.cells, _class_at(x, y).astype(np.uint8))


def _class_at(x: Any, y: Any) -> Any:
    """The number of the class at distances x ≥ y."""
    return x * (x + 1) // 2 + y


def symmetries_of(window_class: int) -> list[Symmetry]:
    """The symmetries that leave a window of a class as far from the edges as it was, each on its side."""
    x, y = next((x, y) for x in range(FAR + 1) for y in range(x + 1) if _class_at(x, y) == window_class)
    distances = np.array([[0, y, 0], [x, 0, FAR], [0, FAR, 0]])
    return [symmetry for symmetry in Symmetry if np.array_equal(symmetry.transform(distances), distances)]


class Propensity:
    """Counts of window contents with the owners of their cells, and the table of what they tell."""

    def __init__(self) -> None:
        self._counts = np.zeros((*TABLE_SHAPE, 2), dtype=np.uint64)  # Black's, White's

    def count(self, boards: Sequence[Board], ownership: Ownership) -> None:
        """Count boards of one size with who owned their points in the end, [B, n²]: +1 Black, −1 White, 0 nobody."""
        if not boards:
            return
        owners = _check_ownership(ownership, (len(boards), boards[0].size ** 2))
        if any(board.size != boards[0].size for board in boards):
            raise ValueError(f"not all of these boards are {boards[0].size}×{boards[0].size}")
        records = np.concatenate([board.record for board in boards])
        count_positions(records, owners, *classify_windows(boards[0].size), self._counts)

    def count_game(self, start: Board, moves: Ints, colors: NDArray[np.int8], ownership: Ownership) -> None:
        """Count all positions of a game from its start to its end, with who owned the points then, [n²].

        Raises ValueError and counts nothing if a move is illegal.
        """
        points = start.size**2
        owners = _check_ownership(ownership, (points,))
        if moves.shape != colors.shape or ((moves < PASS) | (moves >= points)).any():
            raise ValueError(f"a game needs a color for each of its moves, and these on a board of {points} points")
        windows = classify_windows(start.size)
        ply = count_game(start.record, moves, colors, owners, *windows, self._counts)
        if ply != ALL_LEGAL:
            raise ValueError(f"move {ply + 1} of the game is illegal")

    def table(self, damping: float = 1.0) -> Floats:
        """S for every class, content and cell, [10, 19683, 9]; ``damping`` is C."""
        table = np.empty(TABLE_SHAPE, dtype=np.float32)
        for window_class, counts in enumerate(self._counts):
            black, white = _fold(counts, symmetries_of(window_class))
            propensity = (black - white) / (black + white + damping)
            table[window_class] = np.round(propensity * _FRACTION) / _FRACTION
        return table


def propensity_of(board: Board, table: Floats) -> Floats:
    """The propensity of every point, [n²], from −1, White's, to +1, Black's."""
    out = np.empty(board.size**2, dtype=np.float32)
    fill_propensity(board.record, *classify_windows(board.size), check_table(table), out)
    return out


def check_table(table: Floats) -> Floats:
    """A table as kernels take it; raises ValueError if it has not the shape and the type of one."""
    if table.shape != TABLE_SHAPE or table.dtype != np.float32 or not table.flags.c_contiguous:
        raise ValueError(f"a table of propensities is a contiguous array {list(TABLE_SHAPE)} of float32")
    return _read_only(table)


def _check_ownership(ownership: Ownership, shape: tuple[int, ...]) -> Ownership:
    if ownership.shape != shape or ownership.dtype != np.int8 or ((ownership < WHITE) | (ownership > BLACK)).any():
        raise ValueError(f"ownership must be {list(shape)} of int8, each +1, −1 or 0")
    return _read_only(np.ascontiguousarray(ownership))


def _read_only(array: NDArray[_Number]) -> NDArray[_Number]:
    """A view that cannot be written to. Arrays from files are so: kernels are compiled once, for this kind of array."""
    view = array.view()
    view.flags.writeable = False
    return view


# Folding


def _fold(counts: NDArray[np.uint64], symmetries: list[Symmetry]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The counts of both colors, [19683, 9], with equal content counted together.

    A content that some of these symmetries leave as it is would be counted once for each of them: it is divided by
    their number, so that n occurrences count n.
    """
    grids = counts.reshape(CODES, 3, 3, 2).transpose(3, 0, 1, 2).astype(np.float64)
    folded = np.zeros_like(grids)
    kept = np.zeros(CODES)
    for symmetry in symmetries:
        for seen, exchange in ((grids, False), (grids[::-1], True)):
            becomes = _turned_codes(symmetry, exchange)
            folded[:, becomes] += symmetry.transform(seen)
            kept += becomes == np.arange(CODES)
    black, white = (folded / kept[:, None, None]).reshape(2, CODES, CELLS)
    return black, white


@cache
def _turned_codes(symmetry: Symmetry, exchange: bool) -> Ints:
    """The code that every code becomes when its window is turned, and perhaps the colors are exchanged, [19683]."""
    digits = np.arange(CODES)[:, None] // _POWERS % 3
    if exchange:
        digits = -digits % 3
    turned = symmetry.transform(digits.reshape(CODES, 3, 3)).reshape(CODES, CELLS)
    codes: Ints = turned @ _POWERS
    return codes
