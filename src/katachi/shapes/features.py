"""The arrays by which compiled code finds local shapes: windows, their contacts with points, and shared weights.

``canonical`` leads from each weight to the one in use. Hence a weight is ``signs[base + code] *
weights[canonical[base + code]]``, or ``expanded[base + code]`` after ``expanded = signs * weights[canonical]``.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from katachi.features.windows import TABLE_SIZES, Windows, find_windows
from katachi.go.kernels.board import OFF
from katachi.shapes.kernels import features as kernels
from katachi.shapes.sets import HASHED_SIZES, ShapeSet, rectangle_orders
from katachi.shapes.shape_sharing import key_words, share_weights


class ShapeTables(NamedTuple):
    """What compiled users of local shapes need; plain arrays, none of them to be written to.

    There are W windows up to 3×3, size by size, which LI and LD share; P placements, set by set, each a window as one
    set sees it; and C contacts, each a point in a window. The hashed sizes have windows and placements of their own,
    called keyed. M is the number of weights.
    """

    cells: NDArray[np.uint16]  # [W, 9] points in the window's frame, OFF behind the last; cell i counts 3^i
    placement_set: NDArray[np.uint8]  # [P]
    placement_window: NDArray[np.uint16]  # [P]
    placement_class: NDArray[np.uint16]  # [P] 0 in LI sets
    placement_base: NDArray[np.uint32]  # [P] the first weight of its class
    contact_starts: NDArray[np.uint16]  # [n²+1] contacts of point p are [starts[p], starts[p+1])
    contact_window: NDArray[np.uint16]  # [C]
    contact_power: NDArray[np.uint16]  # [C] 3^i if the point is cell i
    canonical: NDArray[np.uint32]  # [M] the weight in use for each; bins stand for themselves
    signs: NDArray[np.int8]  # [M] 1; if inverses are tied −1 for the inverse of the one in use, 0 for its own inverse
    keyed_cells: NDArray[np.uint16]  # [keyed W, 25]
    keyed_set: NDArray[np.uint8]  # [keyed P]
    keyed_window: NDArray[np.uint16]  # [keyed P]
    record: NDArray[Any]  # the same and the keys in one ``_local_shapes.SHAPES`` record, as trackers take it


@lru_cache(maxsize=16)
def build_tables(board_size: int, sets: tuple[ShapeSet, ...], bins: int, tied: bool) -> ShapeTables:
    """The tables of these sets one after another; the same arguments give the same arrays."""
    offsets = np.cumsum([0, *(s.allocated(board_size, bins) for s in sets)])
    starts = [(s, int(start)) for s, start in zip(sets, offsets[:-1], strict=True) if not s.is_hashed]
    canonical, signs = share_weights(board_size, starts, int(offsets[-1]), tied=tied)
    small, large = (_Family(board_size, sets, sizes) for sizes in (TABLE_SIZES, HASHED_SIZES))
    record = np.zeros(1, dtype=kernels.SHAPES)
    record["bins"] = bins
    _fill_codes(record, small, offsets)
    _fill_keys(record, large, offsets)
    _fill_words(record)
    placements, contacts = small.owner.size, record["starts"][0, board_size**2]
    tables = ShapeTables(
        cells=small.cells,
        placement_set=small.owner,
        placement_window=record["window"][0, :placements],
        placement_class=small.class_number.astype(np.uint16),
        placement_base=record["base"][0, :placements],
        contact_starts=record["starts"][0, : board_size**2 + 1],
        contact_window=record["contact"][0, :contacts],
        contact_power=record["power"][0, :contacts],
        canonical=canonical,
        signs=signs,
        keyed_cells=large.cells,
        keyed_set=large.owner,
        keyed_window=record["keyed_window"][0, : large.owner.size],
        record=record,
    )
    for array in tables:
        array.setflags(write=False)
    return tables


class _Family:
    """The windows of those sizes that some sets use, and the placements of these sets, set by set."""

    def __init__(self, board_size: int, sets: Sequence[ShapeSet], sizes: Sequence[tuple[int, int]]) -> None:
        self.board_size = board_size
        self.members = [(j, s) for j, s in enumerate(sets) if (s.width, s.height) in sizes]
        used = [size for size in sizes if size in {(s.width, s.height) for _, s in self.members}]
        self.windows = {size: find_windows(board_size, *size) for size in used}
        most = sizes[-1][0] * sizes[-1][1]
        self.cells = np.concatenate([np.empty((0, most), np.uint16), *(_pad(w, most) for w in self.windows.values())])
        self.window_size = self._concatenate([np.full(len(self.windows[s].x), sizes.index(s)) for s in used])
        first = {size: int(np.argmax(self.window_size == sizes.index(size))) for size in used}
        seen = [(j, s, self.windows[s.width, s.height]) for j, s in self.members]
        self.owner = self._concatenate([np.full(len(w.x), j) for j, _, w in seen]).astype(np.uint8)
        self.window = self._concatenate([first[s.width, s.height] + np.arange(len(w.x)) for _, s, w in seen])
        self.class_number = self._concatenate([s.class_numbers(board_size, w.x, w.y) for _, s, w in seen])

    @staticmethod
    def _concatenate(rows: list[NDArray[np.int64]]) -> NDArray[np.int64]:
        return np.concatenate([np.empty(0, dtype=np.int64), *rows])

    def contacts(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Where each point's contacts begin, [n²+1], and the window and the cell of every contact, point by point."""
        window, cell = np.nonzero(self.cells != OFF)
        point = self.cells[window, cell]
        order = np.argsort(point, kind="stable")
        starts = np.searchsorted(point[order], np.arange(self.board_size**2 + 1))
        return starts, window[order], cell[order]


def _pad(windows: Windows, most: int) -> NDArray[np.uint16]:
    return np.pad(windows.cells, ((0, 0), (0, most - windows.cells.shape[1])), constant_values=int(OFF))


def _fill_codes(record: NDArray[Any], family: _Family, offsets: NDArray[np.int64]) -> None:
    """The placements and contacts of the table sizes."""
    count = family.owner.size
    codes = 3 ** np.array([s.area for _, s in family.members], dtype=np.int64)
    rank = np.searchsorted([j for j, _ in family.members], family.owner)
    record["placements"] = count
    record["window"][0, :count] = family.window
    record["base"][0, :count] = offsets[family.owner] + family.class_number * codes[rank]
    starts, window, cell = family.contacts()
    record["starts"][0, : starts.size] = starts
    record["contact"][0, : window.size] = window
    record["power"][0, : window.size] = 3**cell


def _fill_keys(record: NDArray[Any], family: _Family, offsets: NDArray[np.int64]) -> None:
    """The placements and contacts of the hashed sizes."""
    count = family.owner.size
    record["keyed_placements"] = count
    record["keyed_window"][0, :count] = family.window
    record["keyed_base"][0, :count] = offsets[family.owner]
    for j, s in family.members:
        windows = family.windows[s.width, s.height]
        rows = np.flatnonzero(family.owner == j)
        places = zip(windows.x.tolist(), windows.y.tolist(), strict=True)
        record["keyed_symmetries"][0, rows] = [s.symmetry_mask(family.board_size, x, y) for x, y in places]
        if s.is_dependent:
            record["keyed_place"][0, rows] = key_words(s.width, s.height)[1][windows.y, windows.x]
    starts, window, cell = family.contacts()
    record["keyed_starts"][0, : starts.size] = starts
    record["keyed_contact"][0, : window.size] = window
    record["keyed_cell"][0, : window.size] = family.window_size[window] * kernels.MAX_CELLS + cell


def _fill_words(record: NDArray[Any]) -> None:
    """The Zobrist words of every cell of the hashed sizes as each symmetry of the rectangle reads it."""
    words = record["words"][0].reshape(kernels.KEY_SIZES, kernels.MAX_CELLS, 8, 2)
    counts = record["symmetries"][0].reshape(kernels.KEY_SIZES, kernels.MAX_CELLS)
    for i, (width, height) in enumerate(HASHED_SIZES):
        orders = rectangle_orders(width, height)
        counts[i] = len(orders)
        for g, order in enumerate(orders):
            words[i, : width * height, g] = key_words(width, height)[0][order]
