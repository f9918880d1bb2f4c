"""Combined shapes: local shapes and liberty shapes as one feature set (Silver et al. 2007, section 9).

The weights are those of the local shapes, then those of the liberty shapes.

>>> sets = [ShapeSet.parse("LI 1x1")]
>>> shapes = CombinedShapes(LocalShapes(5, sets), LibertyShapes(5, sets, tabled=True))
>>> board = Board(5)
>>> board.play(0)  # the stone has two liberties
>>> indices, occurrences = shapes.active(board)
>>> dict(zip(indices.tolist(), occurrences.tolist(), strict=True))
{0: 24.0, 1: 1.0, 3: 24.0, 6: 1.0}
>>> print(shapes.describe(6))
LI 1x1 with liberties: anywhere
X2
"""

from __future__ import annotations

import hashlib
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from katachi.core.contracts import Floats, Ints
from katachi.go.board import Board
from katachi.shapes.features import LocalShapes
from katachi.shapes.liberty import LibertyShapes
from katachi.shapes.sets import ShapeSet


class CombinedShapes:
    """The shapes of ``basic`` and of ``liberty``, for boards of one size."""

    def __init__(self, basic: LocalShapes, liberty: LibertyShapes) -> None:
        if basic.board_size != liberty.board_size:
            sizes = f"{basic.board_size}×{basic.board_size} and {liberty.board_size}×{liberty.board_size}"
            raise ValueError(f"shapes of {sizes} cannot be combined")
        self.basic = basic
        self.liberty = liberty

    @property
    def board_size(self) -> int:
        return self.basic.board_size

    @property
    def name(self) -> str:
        return f"{self.basic.name}; {self.liberty.name}"

    @property
    def size(self) -> int:
        """How many weights there are."""
        return self.basic.size + self.liberty.size

    @property
    def sets(self) -> tuple[ShapeSet, ...]:
        """All sets, basic ones first; the same set may be there of both kinds."""
        return self.basic.sets + self.liberty.sets

    @cached_property
    def offsets(self) -> Ints:
        """Where the weights of each set begin, and behind the last the number of all, [m+1]."""
        return np.concatenate([self.basic.offsets, self.basic.size + self.liberty.offsets[1:]])

    @cached_property
    def active_counts(self) -> Ints:
        """How many shapes of each set are on any board, [m]."""
        return np.concatenate([self.basic.active_counts, self.liberty.active_counts])

    @cached_property
    def sharing(self) -> tuple[NDArray[np.uint32], NDArray[np.int8]]:
        """The weight in use for each weight, and its sign, [size] both."""
        (first, first_signs), (second, second_signs) = self.basic.sharing, self.liberty.sharing
        weights = np.concatenate([first, second + np.uint32(self.basic.size)])
        return weights, np.concatenate([first_signs, second_signs])

    @property
    def digest(self) -> str:
        """A short text that changes with anything that fixes the meaning of an index."""
        return hashlib.sha256(f"{self.basic.digest} {self.liberty.digest}".encode()).hexdigest()[:16]

    def active(self, board: Board) -> tuple[Ints, Floats]:
        """The weights of the shapes on a board, in order, and how often each occurs."""
        (first, first_times), (second, second_times) = self.basic.active(board), self.liberty.active(board)
        return np.concatenate([first, second + self.basic.size]), np.concatenate([first_times, second_times])

    def describe(self, index: int) -> str:
        """A feature in words and drawn from the upper left corner; one not in use as the one that stands for it."""
        if not 0 <= index < self.size:
            raise ValueError(f"{index} is no feature: there are {self.size}")
        if index < self.basic.size:
            return self.basic.describe(index)
        return self.liberty.describe(index - self.basic.size)

    def grow_from(self, smaller: CombinedShapes, weights: Floats) -> Floats:
        """Weights for this board from those of a smaller one, [..., size] to [..., size], as both kinds grow."""
        if weights.shape[-1:] != (smaller.size,):
            raise ValueError(f"{smaller.name} have {smaller.size} weights, not {weights.shape[-1]}")
        first, second = weights[..., : smaller.basic.size], weights[..., smaller.basic.size :]
        grown = self.basic.grow_from(smaller.basic, first), self.liberty.grow_from(smaller.liberty, second)
        return np.concatenate(grown, axis=-1)


Shapes = LocalShapes | LibertyShapes | CombinedShapes
