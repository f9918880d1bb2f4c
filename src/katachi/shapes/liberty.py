"""Liberty shapes: local shapes whose stones also carry their external liberties (Silver et al. 2007, section 9).

Each stone of a shape knows how many liberties its chain has *outside* the rectangle: none, one, or two and more. So a
shape can tell a stone in atari from one that is safe. As in ``shapes/features.py`` the mover is he who has just
moved, and weights are shared over symmetries (LD) or over the whole board (LI). Shapes are hashed into bins, each set
into its own; ``tabled`` gives every shape up to 2×2 a weight of its own instead.

>>> shapes = LibertyShapes(5, [ShapeSet.parse("LI 2x1")], tabled=True)
>>> board = Board(5)
>>> board.play(0)  # a stone in the corner has two liberties, one of them in each 2×1 rectangle around it
>>> indices, occurrences = shapes.active(board)
>>> dict(zip(indices.tolist(), occurrences.tolist(), strict=True))
{0: 38.0, 2: 2.0}
>>> print(shapes.describe(2))
LI 2x1 with liberties: anywhere
X1 .
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from katachi.core.contracts import Floats, Ints
from katachi.features.windows import TABLE_SIZES, Windows, check_board_size, find_windows
from katachi.go.board import Board
from katachi.shapes.features import ShapeFeatures
from katachi.shapes.kernels import liberty as kernels
from katachi.shapes.sets import ShapeSet, rectangle_orders
from katachi.shapes.shape_sharing import share_weights
from katachi.shapes.shape_words import draw_shape

_LARGEST_TABLED: Final = 4  # cells
_STATES: Final = (". ", "X0", "X1", "X2", "O0", "O1", "O2")  # 2 is two or more


class LibertyShapes(ShapeFeatures):
    """The liberty shapes of some sets, 1×1 to 3×3, on boards of one size."""

    kind = "liberty shapes"
    states = kernels.STATES

    def __init__(self, board_size: int, sets: Sequence[ShapeSet], *, bins: int = 100_000, tabled: bool = False) -> None:
        super().__init__(board_size, sets, bins)
        self.tabled = tabled
        too_large = [s.name for s in self.sets if (s.width, s.height) not in TABLE_SIZES]
        if too_large:
            raise ValueError(f"{too_large[0]} is too large for liberty shapes, which go up to 3x3")

    def options(self) -> dict[str, bool]:
        return {"tabled up to 2x2": self.tabled}

    def is_tabled(self, shape_set: ShapeSet) -> bool:
        return self.tabled and shape_set.area <= _LARGEST_TABLED

    @cached_property
    def sharing(self) -> tuple[NDArray[np.uint32], NDArray[np.int8]]:
        """The weight in use for each weight, and its sign, which is always 1; bins stand for themselves."""
        starts = [(s, int(o)) for s, o in zip(self.sets, self.offsets[:-1], strict=True) if self.is_tabled(s)]
        return share_weights(self.board_size, starts, self.size, states=self.states)

    def active(self, board: Board) -> tuple[Ints, Floats]:
        """The weights of the shapes on a board, in order, and how often each occurs."""
        indices, occurrences = np.unique(self.placements(board), return_counts=True)
        return indices, occurrences.astype(np.float32)

    def placements(self, board: Board) -> Ints:
        """The weight of every placement: size by size, window by window, LI before LD."""
        check_board_size(board.size, self.board_size)
        entries = np.empty(int(self.active_counts.sum()), dtype=np.int64)
        readings = np.zeros(1, dtype=kernels.READING)
        kernels.active_placements(board.record, self.record, readings, -board.to_play, entries)
        return entries

    @cached_property
    def record(self) -> NDArray[Any]:
        """One ``_liberty_shapes.LIBERTY_SHAPES`` record, as compiled code takes it; do not write to it."""
        record = np.zeros(1, dtype=kernels.LIBERTY_SHAPES)
        record["bins"] = self.bins
        count = 0
        for i, (width, height) in enumerate(TABLE_SIZES):
            users = [j for j, s in enumerate(self.sets) if (s.width, s.height) == (width, height)]
            if users:
                windows = find_windows(self.board_size, width, height)
                rows = slice(count, count + len(windows.cells))
                self._fill_size(record, i, self.sets[users[0]], rows, windows)
                for j in users:
                    self._fill_placements(record, j, rows, windows)
                count = rows.stop
        record["windows"] = count
        record.setflags(write=False)
        return record

    def _fill_size(self, record: NDArray[Any], i: int, one: ShapeSet, rows: slice, windows: Windows) -> None:
        orders = rectangle_orders(one.width, one.height)
        record["cell"][0, rows, : one.area] = windows.cells
        record["shape"][0, rows] = i
        record["area"][0, i] = one.area
        record["tabled"][0, i] = self.is_tabled(one)
        record["symmetries"][0, i] = len(orders)
        record["order"][0, i, : len(orders), : one.area] = orders

    def _fill_placements(self, record: NDArray[Any], j: int, rows: slice, windows: Windows) -> None:
        shape_set = self.sets[j]
        slot = int(shape_set.is_dependent)
        places = zip(windows.x.tolist(), windows.y.tolist(), strict=True)
        record["mask"][0, rows, slot] = [shape_set.symmetry_mask(self.board_size, x, y) for x, y in places]
        record["base"][0, rows, slot] = self.offsets[j]
        if not shape_set.is_dependent:
            return
        if self.is_tabled(shape_set):
            classes = shape_set.class_numbers(self.board_size, windows.x, windows.y)
            record["base"][0, rows, slot] += (classes * self.states**shape_set.area).astype(np.uint32)
        # By distance from the corner, so that bins mean the same on boards of all sizes; codes stay below 2³².
        record["place"][0, rows, slot] = (1 + windows.x + (windows.y << 8)).astype(np.uint64) << np.uint64(32)

    def describe_shape(self, shape_set: ShapeSet, digits: list[int], x: int, y: int) -> str:
        where, drawn = draw_shape(shape_set, [_STATES[digit] for digit in digits], x, y)
        return f"{shape_set.name} with liberties: {where}\n{drawn}"
