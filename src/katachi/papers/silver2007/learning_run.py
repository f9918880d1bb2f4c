"""One learning run as the paper makes it: a pair learns by self-play, and is tested against the average liberty
player.

Every so many games each agent plays test games, and more of them at the end; there the mean of its weights over the
second half of the games is tested too. The paper knows no such mean, and taking it does not touch the learning.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from katachi.papers.experiment import Json, seed_of
from katachi.shapes.alp import play_by_color
from katachi.shapes.learner import TdLearner, TdSettings

_AVERAGE_FROM = 0.5


@dataclass(frozen=True, slots=True)
class Protocol:
    """How long a pair learns and how it is tested; the defaults are the paper's."""

    games: int = 100_000
    test_every: int = 500
    test_games: int = 100  # of each agent
    final_games: int = 1_000

    @property
    def arguments(self) -> Json:
        return asdict(self)

    @property
    def tests(self) -> list[int]:
        """The games after which the agents are tested."""
        return [
            min(games, self.games) for games in range(self.test_every, self.games + self.test_every, self.test_every)
        ]


def learn(
    sets: Sequence[str], size: int, komi: float, seed: int, protocol: Json, mode: str, cascade: bool = False
) -> Json:
    """Train a pair, and count its wins: in the tests along the way, and at the end by color.

    ``curve`` has a row for every test, ``final`` and ``averaged`` a row for each agent: wins as Black and as White.
    """
    plan = Protocol(**protocol)
    options: dict[str, Any] = {"sets": tuple(sets), "size": size, "komi": komi, "mode": mode, "cascade": cascade}
    settings = TdSettings(**options, seed=seed, average_from=_AVERAGE_FROM)
    learner = TdLearner(settings, plan.games)
    curve = []
    for games in plan.tests:
        learner.train(games - learner.games)
        curve.append(count_wins(learner, plan.test_games))
    return {"curve": curve} | test_at_the_end(learner, plan.final_games)


def count_wins(learner: TdLearner, games: int) -> list[float]:
    """What each agent wins of so many test games, as its weights are now."""
    return [sum(wins) for wins in _test(learner, learner.weights, games)]


def test_at_the_end(learner: TdLearner, games: int) -> Json:
    """What each agent wins with its last weights, and with their mean."""
    return {
        "final": _test(learner, learner.weights, games),
        "averaged": _test(learner, learner.averaged_weights, games),
    }


def _test(learner: TdLearner, weights: NDArray[Any], games: int) -> list[tuple[float, float]]:
    """What each agent wins as Black and as White."""
    settings = learner.settings
    seeds = [seed_of(settings.seed, learner.games, agent) for agent in range(settings.agents)]
    return [
        play_by_color(learner.features, of_agent, games, seed, settings.komi)
        for of_agent, seed in zip(weights, seeds, strict=True)
    ]


def mean_rates(curve: Sequence[Sequence[float]], test_games: int) -> NDArray[np.float64]:
    """The share of the test games that both agents won, [tests]."""
    rates: NDArray[np.float64] = np.mean(curve, axis=1) / test_games
    return rates


def mean_curve(curves: Sequence[Sequence[Sequence[float]]], test_games: int) -> list[float]:
    """The mean over runs of what both agents won, in percent, short enough to be kept."""
    mean: list[float] = np.mean([100 * mean_rates(curve, test_games) for curve in curves], axis=0).round(2).tolist()
    return mean


def percent_won(wins: Sequence[Sequence[float]], games: int, *, color: int | None = None, best: bool = False) -> float:
    """What both agents won of so many games each, or the better one; with both colors, or as Black (0) or White (1)."""
    counts = np.array(wins)
    of_each = counts.sum(axis=1) / games if color is None else counts[:, color] / (games / 2)
    return round(100 * float(of_each.max() if best else of_each.mean()), 4)


def games_until(
    curve: Sequence[Sequence[float]], tests: Sequence[int], wins: float, *, in_a_row: int = 1
) -> int | None:
    """The games after which every agent first wins more than so many test games, as a mean of tests in a row.

    None if that never happens.
    """
    for end in range(in_a_row, len(curve) + 1):
        if (np.mean(curve[end - in_a_row : end], axis=0) > wins).all():
            return tests[end - 1]
    return None
