"""Liberty windows: all liberty shapes up to 2×2 as weights of 2×2 windows, so that a board is one look-up a window.

A 1×1 or 2×1 shape lies in several 2×2 windows; each of them gets an equal share of its weight. Windows that a
symmetry of the board makes equal are one class. ``shapes/kernels/liberty_windows.py`` says what the digits of a
window are.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from katachi.features.windows import find_windows
from katachi.shapes.kernels import liberty_windows as window_kernels
from katachi.shapes.liberty import LibertyShapes
from katachi.shapes.sets import ShapeSet

_ADJACENT = ((1, 2), (0, 3), (0, 3), (1, 2))  # the cells of a 2×2 window that touch each
_OPPOSITE = (3, 2, 1, 0)
_MOST = 2  # liberties that are told apart


class LibertyWindows(NamedTuple):
    """Which weights a window stands for, by entry (class · CODES + code), and which part of each."""

    weight: NDArray[np.uint32]  # [classes · CODES, parts] the weight in use
    share: NDArray[np.float64]  # [classes, parts]
    part_set: NDArray[np.int64]  # [parts] the set of each part


def can_fuse_liberties(features: LibertyShapes) -> bool:
    """Whether these are shapes up to 2×2, each with a weight of its own."""
    return all(features.is_tabled(shape_set) for shape_set in features.sets)


def build_liberty_windows(features: LibertyShapes) -> LibertyWindows:
    """The weights behind the windows of a board; raises ValueError where shapes are hashed."""
    if not can_fuse_liberties(features):
        raise ValueError("liberty windows hold liberty shapes up to 2×2 alone, each with a weight of its own")
    return _build(features.board_size, features.sets)


@lru_cache(maxsize=4)
def _build(board_size: int, sets: tuple[ShapeSet, ...]) -> LibertyWindows:
    features = LibertyShapes(board_size, sets, tabled=True)
    windows = find_windows(board_size, window_kernels.SIDE, window_kernels.SIDE)
    firsts = np.unique(windows.y * board_size + windows.x, return_index=True)[1]
    weights, shares = [], []
    for window in windows.cells[firsts].tolist():
        parts = [part for j in range(len(sets)) for part in _parts(features, j, window)]
        weights.append(np.stack([entries for entries, _ in parts], axis=1))
        shares.append([share for _, share in parts])
    weight = features.sharing[0][np.concatenate(weights)]
    counts = [sum(1 for _ in _parts(features, j, windows.cells[0].tolist())) for j in range(len(sets))]
    return LibertyWindows(weight, np.array(shares), np.repeat(np.arange(len(sets)), counts))


def _parts(features: LibertyShapes, j: int, window: list[int]) -> list[tuple[NDArray[np.int64], float]]:
    """The placements of a set in a window: the weight of each by the window's code, [CODES], and its share."""
    shape_set = features.sets[j]
    placements = find_windows(features.board_size, shape_set.width, shape_set.height)
    classes = shape_set.class_numbers(features.board_size, placements.x, placements.y)
    codes = features.states**shape_set.area
    parts = []
    for cells, number in zip(placements.cells.tolist(), classes.tolist(), strict=True):
        if set(cells) <= set(window):
            states = _states([window.index(p) for p in cells])
            entries = features.offsets[j] + number * codes + states @ features.states ** np.arange(len(cells))
            parts.append((entries, 1 / _windows_around(cells, features.board_size)))
    return parts


def _states(cells: list[int]) -> NDArray[np.int64]:
    """The states of the cells of a shape that lies in some cells of a window, by the window's code, [CODES, area]."""
    digits = (
        np.arange(window_kernels.CODES)[:, None]
        // window_kernels.DIGITS ** np.arange(window_kernels.CELLS)
        % window_kernels.DIGITS
    )
    is_enemy = digits > window_kernels.ENEMY
    own = np.where(is_enemy, digits - window_kernels.ENEMY, digits)
    beyond = np.where(own > 3, own - 4, own - 1)  # liberties outside the window
    states = []
    for i in cells:
        outside = beyond[:, i] + (own[:, i] > 3) * (_OPPOSITE[i] not in cells)
        outside = outside + sum(np.int64(digits[:, k] == 0) for k in _ADJACENT[i] if k not in cells)
        state = 1 + np.minimum(outside, _MOST) + 3 * is_enemy[:, i]
        states.append(np.where(digits[:, i] == 0, 0, state))
    return np.stack(states, axis=1)


def _windows_around(cells: list[int], size: int) -> int:
    """How many 2×2 windows contain all of these cells."""
    count = 1
    for lines in ([p // size for p in cells], [p % size for p in cells]):
        count *= min(min(lines), size - window_kernels.SIDE) - max(max(lines) - window_kernels.SIDE + 1, 0) + 1
    return count
