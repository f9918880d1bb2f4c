"""How the fused tables of some sets of shapes are made: the windows of a board, their classes, and who shares in
whom.

``shapes/kernels/player.py`` says what fused tables are and holds the compiled part.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from katachi.features.windows import find_windows
from katachi.shapes.features import LocalShapes
from katachi.shapes.kernels.player import Level
from katachi.shapes.sets import ShapeSet

# The sizes of windows, and of the shapes that go straight into them.
_LEVELS: Final = (
    ((2, 2), ((1, 1), (2, 1), (2, 2))),
    ((3, 2), ((3, 2),)),
    ((3, 3), ((3, 3),)),
)
MIN_SIZE: Final = 3


class FusedTables(NamedTuple):
    """The 3×3 windows of a board, and the levels by which weights come into their tables."""

    cells: NDArray[np.int64]  # [windows, 9]; cell i counts 3^i
    classes: NDArray[np.int64]  # [windows]
    small: Level
    middle: Level
    large: Level


class _Windows(NamedTuple):
    """Windows or placements in which a level above shares: their cells, and the first entry of each."""

    cells: NDArray[np.int64]  # [windows, area]
    bases: NDArray[np.int64]  # [windows]
    classes: NDArray[np.int64]  # [windows]


def levels_of(tables: FusedTables) -> tuple[Level, Level, Level]:
    """The levels with room of their own, so that several threads may fuse at once."""
    small, middle, large = (
        level._replace(table=np.zeros_like(level.table)) for level in (tables.small, tables.middle, tables.large)
    )
    return small, middle, large


def build_fused_tables(features: LocalShapes) -> FusedTables:
    """The tables for these features; raises ValueError where shapes are larger than 3×3 or the board is smaller."""
    if features.board_size < MIN_SIZE:
        raise ValueError(f"fused tables need a board of at least 3×3, not {features.board_size}×{features.board_size}")
    if any(shape_set.is_hashed for shape_set in features.sets):
        raise ValueError("fused tables hold shapes up to 3×3 alone")
    if features.tied:
        raise ValueError("fused tables have no signs: they do not hold shapes with tied inverses")
    return _build(features.board_size, features.sets)


@lru_cache(maxsize=8)
def _build(board_size: int, sets: tuple[ShapeSet, ...]) -> FusedTables:
    features = LocalShapes(board_size, sets)
    levels = []
    below = _Windows(np.empty((0, 0), dtype=np.int64), np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))
    for size, shapes in _LEVELS:
        windows = _find_windows(board_size, size)
        levels.append(_build_level(features, windows, below, shapes))
        below = windows
    return FusedTables(windows.cells, windows.classes, *levels)


def _find_windows(board_size: int, size: tuple[int, int]) -> _Windows:
    windows = find_windows(board_size, *size)
    places = windows.y * board_size + windows.x
    classes = np.unique(places, return_inverse=True)[1]
    cells = windows.cells.astype(np.int64)
    return _Windows(cells, classes * 3 ** cells.shape[1], classes)


def _build_level(
    features: LocalShapes, windows: _Windows, below: _Windows, shapes: tuple[tuple[int, int], ...]
) -> Level:
    codes = 3 ** windows.cells.shape[1]
    child, child_share = _parts(windows, below)
    weight = [np.empty((len(child), 0, codes), dtype=np.uint32)]
    weight_share = [np.empty((len(child), 0))]
    for j, shape_set in enumerate(features.sets):
        if (shape_set.width, shape_set.height) in shapes:
            entries, shares = _parts(windows, _placements(features, j))
            weight.append(features.tables.canonical[entries].astype(np.uint32))
            weight_share.append(shares)
    table = np.zeros(len(child) * codes)
    weights = np.concatenate(weight, axis=1)
    return Level(child, child_share, weights, np.concatenate(weight_share, axis=1), table)


def _placements(features: LocalShapes, j: int) -> _Windows:
    """The placements of one set; an entry is a weight, not yet the one in use."""
    tables = features.tables
    mine = tables.placement_set == j
    area = features.sets[j].area
    cells = tables.cells[tables.placement_window[mine], :area].astype(np.int64)
    return _Windows(cells, tables.placement_base[mine].astype(np.int64), tables.placement_class[mine].astype(np.int64))


def _parts(windows: _Windows, parts: _Windows) -> tuple[NDArray[np.uint32], NDArray[np.float64]]:
    """The entries of the parts that lie in one window of each class, by code, and their shares of 1."""
    area = windows.cells.shape[1]
    digits = np.arange(3**area)[:, None] // 3 ** np.arange(area) % 3
    inside = [set(cells) for cells in windows.cells.tolist()]
    holders = [[w for w, cells in enumerate(inside) if cells.issuperset(part)] for part in parts.cells.tolist()]
    entries: list[list[NDArray[np.int64]]] = []
    shares: list[list[float]] = []
    for window in np.unique(windows.classes, return_index=True)[1].tolist():
        mine = [i for i, windows_around in enumerate(holders) if window in windows_around]
        place = {cell: k for k, cell in enumerate(windows.cells[window].tolist())}
        order = [[place[cell] for cell in parts.cells[i].tolist()] for i in mine]
        codes = [digits[:, cells] @ 3 ** np.arange(len(cells)) for cells in order]
        entries.append([parts.bases[i] + code for i, code in zip(mine, codes, strict=True)])
        shares.append([1 / len(holders[i]) for i in mine])
    shape = (len(entries), len(entries[0]), 3**area)
    return np.array(entries, dtype=np.uint32).reshape(shape), np.array(shares, dtype=np.float64).reshape(shape[:2])
