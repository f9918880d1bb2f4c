"""A random order of any number of things that takes no memory: where each goes is computed, not looked up.

A Feistel network permutes the numbers below a power of four; what lands outside is permuted again until it lands
inside, which leaves a permutation of those inside (cycle walking, Black and Rogaway 2002).
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from katachi.data.kernels.ordering import permute

_ROUNDS: Final = 6


class Permutation:
    """A permutation of 0 … ``length`` − 1, another one for every seed."""

    def __init__(self, length: int, seed: tuple[int, ...]) -> None:
        self._length = np.uint64(length)
        self._half = np.uint64(max(1, ((length - 1).bit_length() + 1) // 2))
        self._keys = np.random.SeedSequence(seed).generate_state(_ROUNDS, np.uint64)

    def __call__(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Where numbers go; they must be smaller than the length."""
        images = numbers.astype(np.uint64)
        permute(images, self._length, self._half, self._keys)
        return images.astype(np.int64)
