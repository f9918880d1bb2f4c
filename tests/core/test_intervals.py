from __future__ import annotations

import pytest

from katachi.core.cards import wilson_interval


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
