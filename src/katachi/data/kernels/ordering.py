"""A random order that is computed: a Feistel network over the numbers below a power of four."""

from __future__ import annotations

from typing import Final

import numpy as np

from katachi.go.kernels import kernel

# The mixing constants of splitmix64.
_FIRST: Final = np.uint64(0xBF58476D1CE4E5B9)
_SECOND: Final = np.uint64(0x94D049BB133111EB)


@kernel
def _mix(word):
    word = (word ^ (word >> np.uint64(30))) * _FIRST
    word = (word ^ (word >> np.uint64(27))) * _SECOND
    return word ^ (word >> np.uint64(31))


@kernel
def permute(numbers, length, half, keys):
    """Replace numbers below ``length``, which has at most twice ``half`` bits, by where they go."""
    mask = (np.uint64(1) << half) - np.uint64(1)
    for i in range(numbers.size):
        number = numbers[i]
        while True:
            left, right = number >> half, number & mask
            for key in keys:
                left, right = right, left ^ (_mix(right ^ key) & mask)
            number = (left << half) | right
            if number < length:  # one that landed outside is permuted again until it is inside: still a permutation
                break
        numbers[i] = number
