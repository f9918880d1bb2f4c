from __future__ import annotations

import numpy as np
import pytest

from katachi.data.batches import Permutation
from katachi.go.kernels.replay import permute


@pytest.mark.parametrize("length", [1, 2, 3, 4, 5, 16, 17, 63, 64, 65, 1000, 4097])
def test_every_number_has_one_place(length: int) -> None:
    places = Permutation(length, (7,))(np.arange(length))
    assert sorted(places.tolist()) == list(range(length))


def test_seeds_give_other_orders_and_the_same_seed_the_same() -> None:
    numbers = np.arange(500)
    first, again, other = (Permutation(500, seed)(numbers) for seed in ((1, 0), (1, 0), (1, 1)))
    assert (first == again).all()
    assert (first == other).sum() < 20
    assert (first == numbers).sum() < 20


def test_neighbors_are_spread_evenly() -> None:
    """The first tenth of the order comes from all tenths alike: 100 of each expected, with a deviation of about 9."""
    places = Permutation(10_000, (3,))(np.arange(1000))
    counts = np.bincount(places // 1000, minlength=10)
    assert counts.min() > 60
    assert counts.max() < 140


def test_kernel_and_slow_twin_agree() -> None:
    keys = np.random.default_rng(0).integers(1 << 63, size=6, dtype=np.uint64)
    numbers = np.arange(50, dtype=np.uint64)
    permute(numbers, np.uint64(50), np.uint64(3), keys)
    assert numbers.tolist() == [_naive_permute(number, 50, 3, keys.tolist()) for number in range(50)]


def _naive_permute(number: int, length: int, half: int, keys: list[int]) -> int:
    left, right = divmod(number, 1 << half)
    for key in keys:
        left, right = right, left ^ (_naive_mix(right ^ key) % (1 << half))
    image = left * (1 << half) + right
    return image if image < length else _naive_permute(image, length, half, keys)


def _naive_mix(word: int) -> int:
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9 % (1 << 64)
    word = (word ^ (word >> 27)) * 0x94D049BB133111EB % (1 << 64)
    return word ^ (word >> 31)
