"""Windows: the rectangles of a board, each read in the frame of its nearest corner.

A window is turned until its long side lies across, then mirrored until it is nearest to the upper left corner, then,
if it is square, mirrored at the diagonal until it is at least as far from the left edge as from the top. Windows that
a symmetry of the board makes equal thus get the same place, and contents that the place's own symmetries connect.
"""

from __future__ import annotations

from functools import cache
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

# On 19×19, all sizes: windows, and how often points lie in them.
MAX_WINDOWS: Final = 2270


PAPER_SIZES: Final = ((1, 1), (2, 1), (2, 2), (3, 2), (3, 3), (4, 3), (4, 4), (5, 4), (5, 5))
TABLE_SIZES: Final = PAPER_SIZES[:5]  # a weight for every shape


def check_board_size(found: int, expected: int) -> None:
    """Raise ValueError if a board is of another size than the shapes are."""
    if found != expected:
        raise ValueError(f"these are the shapes of {expected}×{expected} boards, not of {found}×{found}")


# All windows of a size.


class Windows(NamedTuple):
    """The windows of one size on one board."""

    cells: NDArray[np.uint16]  # [W, area]
    x: NDArray[np.int64]  # [W] distance from the left in the window's frame
    y: NDArray[np.int64]  # [W]


@cache
def find_windows(board_size: int, width: int, height: int) -> Windows:
    """All windows of a size in their frames: those that lie across by rows, then those that stand."""
    points = np.arange(board_size**2).reshape(board_size, board_size)
    boards = [points] if width == height else [points, points.T]
    places = list(np.ndindex(board_size - height + 1, board_size - width + 1))
    found = [_framed(board, width, height, x, y) for board in boards for y, x in places]
    cells, x, y = zip(*found, strict=True)
    return Windows(np.array(cells, dtype=np.uint16), np.array(x), np.array(y))


def _framed(points: NDArray[np.int64], width: int, height: int, x: int, y: int) -> tuple[NDArray[np.int64], int, int]:
    """The cells of a window in its frame, and its place there."""
    cells = points[y : y + height, x : x + width]
    right, below = points.shape[1] - width - x, points.shape[0] - height - y
    if right < x:
        cells, x = cells[:, ::-1], right
    if below < y:
        cells, y = cells[::-1], below
    if width == height and y > x:
        cells, x, y = cells.T, y, x
    return cells.ravel(), x, y


SIDE: Final = 3
CODES: Final = 3 ** (SIDE * SIDE)
MAX_CLASSES: Final = 45  # on 19×19
