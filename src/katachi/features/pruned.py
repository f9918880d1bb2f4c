"""A feature set with only some of its features left, numbered anew; the rest is as if it never occurred."""

from __future__ import annotations

import numpy as np

from katachi.core.contracts import FeatureSet, Floats, Ints
from katachi.go.board import Board


class PrunedFeatures:
    """Some features of a set. Meets ``FeatureSet``."""

    def __init__(self, features: FeatureSet, kept: Ints) -> None:
        """Keep the features with these numbers; raises ValueError if there are none, or they do not exist."""
        self._features = features
        self.kept = np.unique(kept)
        if not kept.size or self.kept.size < kept.size:
            raise ValueError("at least one feature must be kept, and each only once")
        if self.kept[0] < 0 or self.kept[-1] >= features.size:
            raise ValueError(f"{features.name} has {features.size} features: {self.kept[[0, -1]].tolist()} are none")

    @property
    def name(self) -> str:
        return f"{self.size} of {self._features.name}"

    @property
    def size(self) -> int:
        return self.kept.size

    def active(self, board: Board) -> tuple[Ints, Floats]:
        """The features that are left, in the order in which the whole set has them."""
        indices, occurrences = self._features.active(board)
        is_kept = np.isin(indices, self.kept)
        return np.searchsorted(self.kept, indices[is_kept]), occurrences[is_kept]

    def describe(self, index: int) -> str:
        if not 0 <= index < self.size:
            raise ValueError(f"{index} is no feature: there are {self.size}")
        return self._features.describe(int(self.kept[index]))
