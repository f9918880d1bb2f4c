from __future__ import annotations

import numpy as np
import pytest

from katachi.core.cards import effective_count, mean_interval, wilson_interval


@pytest.mark.parametrize(
    ("wins", "games", "interval"),
    [  # Newcombe, Two-sided confidence intervals for the single proportion (1998), table I
        (81, 263, (0.2553, 0.3662)),
        (15, 148, (0.0624, 0.1605)),
        (0, 20, (0.0, 0.1611)),
        (1, 29, (0.0061, 0.1718)),
    ],
)
def test_wilson_interval_has_the_published_values(wins: int, games: int, interval: tuple[float, float]) -> None:
    assert wilson_interval(wins, games) == pytest.approx(interval, abs=5e-5)


def test_wilson_interval_before_the_first_game_says_nothing() -> None:
    assert wilson_interval(0, 0) == (0.0, 1.0)


# Values in groups, such as positions of games


def interval_over_groups(right, groups):
    count = effective_count(right, groups)
    return wilson_interval(float(right.mean()) * count, count)


def test_one_value_in_each_group_gives_the_binomial_interval():
    right = np.arange(200) % 3 == 0
    assert interval_over_groups(right, np.arange(200)[::-1]) == pytest.approx(wilson_interval(67, 200))
    values = np.random.default_rng(1).normal(size=200)
    assert mean_interval(values, groups=np.arange(200)) == pytest.approx(mean_interval(values))


def test_values_that_repeat_in_their_group_count_once():
    right, groups = np.repeat(np.arange(50) % 4 == 0, 9), np.repeat(np.arange(50), 9)
    assert effective_count(right, groups) == pytest.approx(50)
    low, high = wilson_interval(int(right.sum()), right.size)
    wide = interval_over_groups(right, groups)
    assert wide == pytest.approx(wilson_interval(13, 50))
    assert wide[1] - wide[0] > 2.5 * (high - low)
    values = np.repeat(np.random.default_rng(2).normal(size=50), 9)
    assert mean_interval(values, groups=groups) == pytest.approx(mean_interval(values[::9]))


def test_nobody_knows_more_than_the_groups_that_all_say_the_same():
    assert effective_count(np.ones(30, dtype=np.bool_), np.repeat([1, 2, 3], 10)) == 3
    assert effective_count(np.arange(30) % 2 == 0, np.zeros(30)) == 1
    assert effective_count(np.zeros(0, dtype=np.bool_), np.zeros(0)) == 0


def test_intervals_over_groups_hold_the_truth_as_often_as_they_say():
    rng, inside, naive = np.random.default_rng(3), [], []
    for _ in range(1000):
        sizes = rng.integers(1, 20, 80)  # groups of many sizes, each with a share of its own around a half
        groups = np.repeat(np.arange(80), sizes)
        right = rng.random(groups.size) < rng.beta(2, 2, 80)[groups]
        for found, (low, high) in (
            (inside, interval_over_groups(right, groups)),
            (inside, mean_interval(right, groups=groups)[1:]),
            (naive, wilson_interval(int(right.sum()), right.size)),
        ):
            found.append(low <= 0.5 <= high)
    assert 0.93 < np.mean(inside) < 0.96
    assert np.mean(naive) < 0.8


@pytest.mark.parametrize("games", range(1, 200))
def test_wilson_interval_holds_the_share_to_the_last_bit(games: int) -> None:
    for wins in (0, games):
        low, high = wilson_interval(wins, games)
        assert low <= wins / games <= high
