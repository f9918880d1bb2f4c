"""What local shapes and liberty shapes have in common: sets one after another, shared weights, and growing boards."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import ClassVar, Final, Self

import numpy as np
from numpy.typing import NDArray

from katachi.core.contracts import Floats, Ints
from katachi.go.points import check_size
from katachi.shapes.sets import ShapeSet

MAX_BINS: Final = 10_000_000
_LAYOUT: Final = 1  # changes whenever the meaning of an index does


class ShapeFeatures(ABC):
    """The shapes of some sets on boards of one size, each set with its own weights, one for every shape or in bins."""

    kind: ClassVar[str]
    states: ClassVar[int]  # that a cell of a shape can be in

    def __init__(self, board_size: int, sets: Sequence[ShapeSet], bins: int) -> None:
        self.board_size = check_size(board_size)
        self.sets = tuple(sets)
        self.bins = bins
        self._check_sets()

    def _check_sets(self) -> None:
        if not self.sets or len(set(self.sets)) != len(self.sets):
            raise ValueError(f"{self.kind} need at least one set, and none of them twice")
        if not 1 <= self.bins <= MAX_BINS:
            raise ValueError(f"{self.bins} bins: there must be at least one and at most {MAX_BINS:,}")
        for shape_set in self.sets:
            if shape_set.width > self.board_size:
                raise ValueError(f"{shape_set.name} does not fit on a {self.board_size}×{self.board_size} board")

    @property
    def name(self) -> str:
        sets = ", ".join(s.name for s in self.sets)
        options = "".join(f", {option}" for option, chosen in self.options().items() if chosen)
        return f"{self.kind} {self.board_size}×{self.board_size}: {sets}{options}"

    @abstractmethod
    def options(self) -> dict[str, bool]:
        """The choices beside sets and bins that fix the meaning of an index."""

    @abstractmethod
    def is_tabled(self, shape_set: ShapeSet) -> bool:
        """Whether every shape of a set has a weight of its own, rather than a bin."""

    @property
    @abstractmethod
    def sharing(self) -> tuple[NDArray[np.uint32], NDArray[np.int8]]:
        """The weight in use for each weight, and its sign, [size] both."""

    # Counts

    @cached_property
    def offsets(self) -> Ints:
        """Where the weights of each set begin, and behind the last the number of all, [m+1]."""
        return np.cumsum([0, *(self.allocated(s) for s in self.sets)])

    @property
    def size(self) -> int:
        """How many weights there are, all sets one after another."""
        return int(self.offsets[-1])

    @cached_property
    def active_counts(self) -> Ints:
        """How many shapes of each set are on any board, [m]."""
        return np.array([s.active_count(self.board_size) for s in self.sets])

    def allocated(self, shape_set: ShapeSet) -> int:
        """The weights kept for a set, used or not."""
        if not self.is_tabled(shape_set):
            return self.bins
        return int(self.states**shape_set.area * shape_set.class_count(self.board_size))

    @property
    def digest(self) -> str:
        """A short text that changes with anything that fixes the meaning of an index."""
        bins = None if all(self.is_tabled(s) for s in self.sets) else self.bins
        meaning = (self.kind, _LAYOUT, self.board_size, [s.name for s in self.sets], bins, self.options())
        return hashlib.sha256(repr(meaning).encode()).hexdigest()[:16]

    # Growing

    def grow_from(self, smaller: Self, weights: Floats) -> Floats:
        """Weights for this board from those of a smaller one, [..., size] to [..., size].

        Shapes keep their place relative to the nearest corner, and shapes at new places get 0. Where a place was its
        own mirror image, the two shapes that shared a weight both inherit it; but shapes in bins keep their bins, so
        that of two such shapes one inherits.
        """
        self._check_growth(smaller, weights)
        canonical, signs = smaller.sharing
        old = np.split(weights[..., canonical] * signs, smaller.offsets[1:-1], axis=-1)
        grown = np.concatenate([self._grow_set(s, smaller, w) for s, w in zip(self.sets, old, strict=True)], axis=-1)
        grown[..., self.sharing[0] != np.arange(self.size)] = 0
        return grown

    def _grow_set(self, shape_set: ShapeSet, smaller: Self, weights: Floats) -> Floats:
        """The weights of a set: bins as they are, a table with zeros at the places that are new."""
        if not (self.is_tabled(shape_set) and shape_set.is_dependent):
            return weights
        across, down = shape_set.offsets(smaller.board_size)
        new_across, new_down = shape_set.offsets(self.board_size)
        by_place = weights.reshape(*weights.shape[:-1], down, across, -1)
        wider = [(0, 0)] * (by_place.ndim - 3) + [(0, new_down - down), (0, new_across - across), (0, 0)]
        return np.pad(by_place, wider).reshape(*weights.shape[:-1], -1)

    def _check_growth(self, smaller: Self, weights: Floats) -> None:
        ours, theirs = ((features.sets, features.bins, features.options()) for features in (self, smaller))
        if ours != theirs or smaller.board_size > self.board_size:
            raise ValueError(f"{self.name} cannot grow from {smaller.name}")
        if weights.shape[-1:] != (smaller.size,):
            raise ValueError(f"{smaller.name} have {smaller.size} weights, not {weights.shape[-1]}")

    # Words

    def describe(self, index: int) -> str:
        """A feature in words and drawn from the upper left corner; one not in use as the one that stands for it."""
        shape_set, entry = self.find_entry(index)
        if not self.is_tabled(shape_set):
            return f"{shape_set.name}: the shapes in bin {entry} of {self.bins}"
        return self.describe_shape(shape_set, *self.decode(shape_set, entry))

    def find_entry(self, index: int) -> tuple[ShapeSet, int]:
        """The set of a feature, and its number in the set: that of the one that stands for it."""
        if not 0 <= index < self.size:
            raise ValueError(f"{index} is no feature: there are {self.size}")
        in_use = int(self.sharing[0][index])
        j = int(np.searchsorted(self.offsets, in_use, side="right")) - 1
        return self.sets[j], in_use - int(self.offsets[j])

    def decode(self, shape_set: ShapeSet, entry: int) -> tuple[list[int], int, int]:
        """The states of a shape's cells, row by row, and its distances from the left and the top; of tabled sets."""
        number, code = divmod(entry, self.states**shape_set.area)
        digits = [code // self.states**cell % self.states for cell in range(shape_set.area)]
        return digits, *shape_set.place_of_class(self.board_size, number)

    @abstractmethod
    def describe_shape(self, shape_set: ShapeSet, digits: list[int], x: int, y: int) -> str:
        """A shape by the states of its cells, at a distance from the left and the top."""
