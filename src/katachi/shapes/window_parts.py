"""Window parts: all local shapes up to 3×3 as parts of the 3×3 windows that hold them.

A smaller shape lies in several 3×3 windows of the board; each of them gets an equal part of its weight, so that the
sum over windows is the sum over shapes. A position then costs one look-up a window (49 on 9×9), and a move at most
nine. Windows that a symmetry of the board makes equal are one class.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple, TypeGuard

import numpy as np
from numpy.typing import NDArray

from katachi.core.contracts import Floats
from katachi.features.windows import CODES, SIDE, find_windows
from katachi.go.kernels.board import OFF
from katachi.shapes.local_shapes import LocalShapes


class Part(NamedTuple):
    """A shape inside a 3×3 window: where its cells are among the window's, and the part of its weights there."""

    cells: list[int]
    weights: NDArray[np.float64]  # [3^area]

    def codes(self) -> NDArray[np.int64]:
        """What the shape is for every code of the window, [3^9]."""
        codes: NDArray[np.int64] = _digits()[:, self.cells] @ 3 ** np.arange(len(self.cells))
        return codes


@cache
def _digits() -> NDArray[np.int64]:
    """The digits of all codes, [3^9, 9]."""
    return np.arange(CODES)[:, None] // 3 ** np.arange(SIDE * SIDE) % 3


class WindowParts(NamedTuple):
    """The 3×3 windows of a board, and what lies in those of each class."""

    cells: NDArray[np.uint16]  # [W, 9] cell i counts 3^i
    class_of: NDArray[np.int64]  # [W]
    parts: list[list[Part]]  # by class


def has_parts(features: object) -> TypeGuard[LocalShapes]:
    """Whether these are local shapes that all lie in 3×3 windows."""
    if not isinstance(features, LocalShapes) or features.board_size < SIDE:
        return False
    return all(features.is_tabled(shape_set) for shape_set in features.sets)


def part_windows(features: LocalShapes, weights: Floats) -> WindowParts:
    """The windows of a board with the parts of these weights; the features must be such that ``has_parts``."""
    windows = find_windows(features.board_size, SIDE, SIDE)
    places = list(zip(windows.x.tolist(), windows.y.tolist(), strict=True))
    classes = sorted(set(places))
    expanded = weights[features.tables.canonical].astype(np.float64) * features.tables.signs
    parts = [_parts(features, expanded, windows.cells[places.index(place)].tolist()) for place in classes]
    return WindowParts(windows.cells, np.array([classes.index(place) for place in places]), parts)


def sum_parts(windows: WindowParts) -> NDArray[np.float64]:
    """The value of a window of each class by its code, [classes, 3^9]."""
    tables = np.zeros((len(windows.parts), CODES))
    for table, parts in zip(tables, windows.parts, strict=True):
        for part in parts:
            table += part.weights[part.codes()]
    return tables


def _parts(features: LocalShapes, expanded: NDArray[np.float64], window: list[int]) -> list[Part]:
    """All placements that lie in a window."""
    tables = features.tables
    inside: NDArray[np.bool_] = np.all(np.isin(tables.cells, [*window, int(OFF)]), axis=1)
    parts = []
    for placement in np.flatnonzero(inside[tables.placement_window]).tolist():
        cells = [p for p in tables.cells[tables.placement_window[placement]].tolist() if p != OFF]
        base = int(tables.placement_base[placement])
        shared = expanded[base : base + 3 ** len(cells)] / _windows_around(cells, features.board_size)
        parts.append(Part([window.index(p) for p in cells], shared))
    return parts


def _windows_around(cells: list[int], size: int) -> int:
    """How many 3×3 windows contain all of these cells."""
    count = 1
    for lines in ([p // size for p in cells], [p % size for p in cells]):
        count *= min(min(lines), size - SIDE) - max(max(lines) - SIDE + 1, 0) + 1
    return count
