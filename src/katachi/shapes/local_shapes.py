"""Local shapes: every rectangle of the board as a feature (Silver, Sutton and Müller 2007, section 4).

Shapes are seen by the player who has **just moved**: his stones are ``X`` and code 1, the enemy's ``O`` and code 2;
so a board that White has just moved on is looked at with the colors inverted. Shapes up to 3×3 have a weight each,
larger ones are hashed into bins. ``shapes/sets.py`` says what the sets are, ``shapes/features.py`` how weights are
numbered.

>>> shapes = LocalShapes(5, [ShapeSet.parse("LI 1x1"), ShapeSet.parse("LI 2x1")])
>>> board = Board(5)
>>> board.play(0)
>>> indices, occurrences = shapes.active(board)
>>> dict(zip(indices.tolist(), occurrences.tolist(), strict=True))
{0: 24.0, 1: 1.0, 3: 38.0, 4: 2.0}
>>> print(shapes.describe(4))
LI 2x1: one stone of the mover, anywhere
X .
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from katachi.core.contracts import Floats, Ints
from katachi.features.windows import PAPER_SIZES
from katachi.go.board import Board
from katachi.shapes.features import ShapeTables, build_tables
from katachi.shapes.sets import Location, ShapeSet, is_hashed
from katachi.shapes.shape_features import ShapeFeatures
from katachi.shapes.shape_tracker import ShapeTracker
from katachi.shapes.shape_words import count_stones, draw_shape

__all__ = ["PAPER_SIZES", "LocalShapes", "Location", "ShapeSet", "is_hashed"]


class LocalShapes(ShapeFeatures):
    """The local shapes of some sets on boards of one size.

    ``tied`` makes a shape and its color inverse share one weight with opposite signs: one of them then occurs
    negatively, and shapes that are their own inverse are no features.
    """

    kind = "local shapes"
    states = 3  # empty, the mover's, the enemy's

    def __init__(self, board_size: int, sets: Sequence[ShapeSet], *, bins: int = 100_000, tied: bool = False) -> None:
        super().__init__(board_size, sets, bins)
        self.tied = tied

    def options(self) -> dict[str, bool]:
        return {"inverses tied": self.tied}

    def is_tabled(self, shape_set: ShapeSet) -> bool:
        return not shape_set.is_hashed

    def distinct(self, shape_set: ShapeSet) -> int:
        """How many shapes of a set differ once symmetry, and inversion if tied, is applied."""
        return shape_set.distinct(self.board_size, tied=self.tied)

    @cached_property
    def tables(self) -> ShapeTables:
        """The arrays that compiled code takes; built once for each choice of size and sets."""
        return build_tables(self.board_size, self.sets, self.bins, self.tied)

    @property
    def sharing(self) -> tuple[NDArray[np.uint32], NDArray[np.int8]]:
        return self.tables.canonical, self.tables.signs

    def active(self, board: Board) -> tuple[Ints, Floats]:
        """The weights of the shapes on a board, in order, and how often each occurs."""
        tracker = self.tracker()
        tracker.follow(board)
        return tracker.active(-board.to_play)

    def tracker(self) -> ShapeTracker:
        """What follows a changing board and knows its shapes at every moment; it begins at the empty board."""
        return ShapeTracker(self.board_size, self.tables, self.tied)

    def describe_shape(self, shape_set: ShapeSet, digits: list[int], x: int, y: int) -> str:
        where, drawn = draw_shape(shape_set, [".XO"[digit] for digit in digits], x, y)
        return f"{shape_set.name}: {count_stones(digits)}, {where}\n{drawn}"
