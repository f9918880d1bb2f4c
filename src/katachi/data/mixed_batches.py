"""Batches of a set with boards of several sizes, for networks that judge any: each batch has one size, drawn by
chance.

Sizes are drawn in proportion to their positions, so that all positions count alike. Batch ``k`` is the k-th of its
size, whatever the others before it were: so it still depends on the set, the settings and ``k`` alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from katachi.data.batches import Batch, Batches
from katachi.data.computing_ahead import compute_ahead
from katachi.data.dataset import Dataset
from katachi.sgf.splits import Split

_SIZES: Final = 2  # what seeds are drawn for, beside what ``data/batches.py`` draws


class MixedBatches:
    """The endless sequence of batches of several sizes; ``batches[k]`` is the k-th."""

    def __init__(self, parts: Sequence[Batches], seed: int) -> None:
        """Mix batches of one set, a part for each size."""
        self._parts = parts
        self._seed = seed
        self._shares = np.array([part.epoch for part in parts]) / self.epoch

    @property
    def dataset(self) -> Dataset:
        return self._parts[0].dataset

    @property
    def games(self) -> int:
        """How many games the positions are from."""
        return sum(part.games for part in self._parts)

    @property
    def epoch(self) -> int:
        """How many positions there are."""
        return sum(part.epoch for part in self._parts)

    def __getitem__(self, number: int) -> Batch:
        """Batch ``number``, computed here and now."""
        rng = np.random.default_rng((self._seed, _SIZES, number))
        return self._parts[rng.choice(len(self._parts), p=self._shares)][number]

    def stream(self, start: int = 0, workers: int = 0) -> Iterator[Batch]:
        """As those of ``Batches``."""
        return compute_ahead(self.__getitem__, start, workers)

    def positions(self, split: Split, count: int) -> Batch:
        """Held-out positions of the size that has the most."""
        return max(self._parts, key=lambda part: part.epoch).positions(split, count)


AnyBatches = Batches | MixedBatches
