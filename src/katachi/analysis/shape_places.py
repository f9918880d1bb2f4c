"""Where the shapes of a board lie: every occurrence of a feature with the points that it looks at.

A feature set says how often a shape is on a board, not where. Local shapes and liberty shapes have places; of other
features none are known.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from katachi.core.contracts import Doubles, FeatureSet, Floats, Ints
from katachi.go.board import Board
from katachi.go.kernels.board import OFF
from katachi.shapes.combined_shapes import CombinedShapes
from katachi.shapes.liberty import LibertyShapes
from katachi.shapes.local_shapes import LocalShapes


class PlacedShapes(NamedTuple):
    """Every shape on a board, as the player who has just moved sees it."""

    indices: Ints  # [P] of the features
    signs: NDArray[np.int8]  # [P] −1 where a shape counts for its color inverse
    cells: Ints  # [P, k] points, OFF behind the last

    def spread(self, weights: Floats, size: int) -> Doubles:
        """What the shapes add to the logit of the mover, each in equal parts over its points, [n²]."""
        inside = self.cells != OFF
        shares = weights[self.indices].astype(np.float64) * self.signs / inside.sum(axis=1)
        spread: Doubles = np.zeros(size * size)
        np.add.at(spread, self.cells[inside], np.broadcast_to(shares[:, None], inside.shape)[inside])
        return spread

    def places_of(self, index: int) -> list[tuple[int, ...]]:
        """The points of every occurrence of a feature."""
        rows = self.cells[self.indices == index]
        return [tuple(sorted(row[row != OFF].tolist())) for row in rows]


def place_shapes(features: FeatureSet, board: Board) -> PlacedShapes | None:
    """The shapes on a board and where they are; None if the features have no places."""
    if isinstance(features, CombinedShapes):
        return _join(_place_local(features.basic, board), _place_liberty(features.liberty, board), features.basic.size)
    if isinstance(features, LocalShapes):
        return _place_local(features, board)
    return _place_liberty(features, board) if isinstance(features, LibertyShapes) else None


def _place_local(features: LocalShapes, board: Board) -> PlacedShapes:
    tracker, tables = features.tracker(), features.tables
    tracker.follow(board)
    indices, signs = tracker.placements(-board.to_play)
    small, large = tables.cells[tables.placement_window], tables.keyed_cells[tables.keyed_window]
    return PlacedShapes(indices, signs, _stack(small, large))


def _place_liberty(features: LibertyShapes, board: Board) -> PlacedShapes:
    indices = features.placements(board)
    count = int(features.record["windows"][0])
    cells = features.record["cell"][0, :count].astype(np.int64)
    areas = features.record["area"][0][features.record["shape"][0, :count]]
    cells[np.arange(cells.shape[1]) >= areas[:, None]] = OFF
    windows = np.nonzero(features.record["mask"][0, :count])[0]  # a window is there once for each set that has it
    return PlacedShapes(indices, np.ones(indices.size, dtype=np.int8), cells[windows])


def _join(first: PlacedShapes, second: PlacedShapes, offset: int) -> PlacedShapes:
    return PlacedShapes(
        np.concatenate([first.indices, second.indices + offset]),
        np.concatenate([first.signs, second.signs]),
        _stack(first.cells, second.cells),
    )


def _stack(first: NDArray[np.integer], second: NDArray[np.integer]) -> Ints:
    """Rows of cells below each other, the narrower ones with OFF behind them."""
    width = max(first.shape[1], second.shape[1])
    padded = [
        np.pad(rows.astype(np.int64), ((0, 0), (0, width - rows.shape[1])), constant_values=int(OFF))
        for rows in (first, second)
    ]
    return np.concatenate(padded)
