"""A tracker: the local shapes of a board that changes, at the cost of the stones that changed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from katachi.core.contracts import Floats, Ints
from katachi.features.windows import check_board_size
from katachi.go.board import Board
from katachi.go.points import BLACK
from katachi.shapes.features import ShapeTables
from katachi.shapes.kernels import features as kernels


class ShapeTracker:
    """Follows boards of one size through play, captures, undo and set-up; ``record`` is what compiled code takes."""

    def __init__(self, board_size: int, tables: ShapeTables, tied: bool) -> None:
        self.board_size = board_size
        self.tables = tables
        self.tied = tied
        self.record = np.zeros(1, dtype=kernels.TRACKER)  # the empty board: every code and key is 0
        self.keys = np.zeros((2, len(tables.keyed_cells), 8), dtype=np.uint64)

    def follow(self, board: Board) -> int:
        """Go to the position on a board from whatever position was seen last; returns how many points changed."""
        check_board_size(board.size, self.board_size)
        return int(kernels.follow_board(self.tables.record, self.record, self.keys, board.record))

    def placements(self, mover: int) -> tuple[Ints, NDArray[np.int8]]:
        """The weight and the sign of every placement as ``mover`` sees it, table sets first."""
        tables = self.tables
        count = tables.placement_set.size + tables.keyed_set.size
        entries = np.empty(count, dtype=np.int64)
        signs = np.empty(count, dtype=np.int8)
        view = 0 if mover == BLACK else 1
        shared = (tables.canonical, tables.signs, self.tied)
        kernels.active_placements(tables.record, self.record, self.keys, view, *shared, entries, signs)
        return entries, signs

    def active(self, mover: int) -> tuple[Ints, Floats]:
        """The weights of the shapes that ``mover`` sees, in order, and how often each occurs."""
        entries, signs = self.placements(mover)
        indices, inverse = np.unique(entries, return_inverse=True)
        occurrences = np.bincount(inverse, weights=signs).astype(np.float32)
        present = occurrences != 0
        return indices[present], occurrences[present]
