"""Strength from results: Bradley–Terry ratings with bootstrap intervals.

P(i beats j) = 1 / (1 + 10^((rating_j − rating_i) / 400)); a draw is half a win for each. Ratings are the maximum of
the likelihood after a small prior was added to every pair that met (``PRIOR_GAMES`` virtual games, all drawn), so
that a player who won everything still has a finite rating. The bootstrap draws the games of each pair anew by the
fitted ratings: drawn from the games themselves a score of 100–0 would come out with an interval of width zero.

Bradley & Terry, *Rank analysis of incomplete block designs*, Biometrika 39 (1952).

>>> table = pair_scores(["a", "b"], [("a", "b", 1.0)] * 3 + [("a", "b", 0.0)])
>>> [round(rating) for rating in fit_ratings(table.wins)]
[83, -83]
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from katachi.core.statistics import CONFIDENCE

Array = NDArray[np.float64]

ELO: Final = 400 / math.log(10)  # Elo points in one unit of the natural logarithm of the odds
PRIOR_GAMES: Final = 0.5  # virtual drawn games in every pair that met
_MAX_STEP: Final = 2.0  # Newton steps are cut to this; the likelihood is concave but flat far out
_MAX_ITERATIONS: Final = 200
_TOLERANCE: Final = 1e-10
_RIDGE: Final = 1e-6  # only chooses among equally good answers: the common shift of players who met


@dataclass(frozen=True, slots=True)
class PairScores:
    """What every player scored against every other: ``wins[i, j]`` is i's score against j, draws as half."""

    players: tuple[str, ...]
    wins: Array  # [n, n]
    draws: Array  # [n, n], symmetric

    @property
    def games(self) -> Array:
        """[n, n], symmetric."""
        return self.wins + self.wins.T


@dataclass(frozen=True, slots=True)
class Rating:
    """A player's rating with its interval; the anchor's interval has no width."""

    player: str
    rating: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class RatingList:
    """Ratings best first, and ``superiority[i][j]``: how likely the i-th of them is stronger than the j-th."""

    ratings: tuple[Rating, ...]
    superiority: tuple[tuple[float, ...], ...]


@dataclass(frozen=True, slots=True)
class Anchor:
    """The player whose rating is given; all others are measured from there."""

    player: str
    rating: float = 0.0


def elo_difference(win_rate: float) -> float:
    """The rating difference at which this share is expected; infinite at 0 and 1.

    >>> round(elo_difference(0.75), 1)
    190.8
    """
    if not 0 < win_rate < 1:
        return math.copysign(math.inf, win_rate - 0.5)
    return ELO * math.log(win_rate / (1 - win_rate))


def pair_scores(players: Sequence[str], games: Iterable[tuple[str, str, float]]) -> PairScores:
    """Add up games given as (player, opponent, score of the player: 1, ½ or 0)."""
    index = {player: number for number, player in enumerate(players)}
    wins = np.zeros((len(players), len(players)))
    draws = np.zeros_like(wins)
    for player, opponent, score in games:
        i, j = index[player], index[opponent]
        wins[i, j] += score
        wins[j, i] += 1 - score
        if score == 0.5:
            draws[i, j] += 1
            draws[j, i] += 1
    return PairScores(tuple(players), wins, draws)


def fit_ratings(wins: Array) -> Array:
    """Bradley–Terry ratings of one table or of a batch, [..., n, n] → [..., n] in Elo points with mean 0.

    Players who never met, not even through others, are not comparable: each such set has mean 0 of its own.
    """
    met = (wins + np.swapaxes(wins, -1, -2)) > 0
    padded = wins + PRIOR_GAMES / 2 * met
    games = padded + np.swapaxes(padded, -1, -2)
    scored = padded.sum(axis=-1)
    ratings = np.zeros(wins.shape[:-1])
    for _ in range(_MAX_ITERATIONS):
        step = _newton_step(ratings, games, scored)
        ratings += step
        if np.abs(step).max(initial=0.0) < _TOLERANCE:
            break
    in_elo: Array = ELO * (ratings - ratings.mean(axis=-1, keepdims=True))
    return in_elo


def _newton_step(ratings: Array, games: Array, scored: Array) -> Array:
    """The clipped step towards the maximum: gradient = scored − expected, Hessian = −Σ games·p·(1−p)."""
    expected = 1 / (1 + np.exp(ratings[..., None, :] - ratings[..., :, None]))  # [..., n, n], i against j
    gradient = scored - (games * expected).sum(axis=-1) - _RIDGE * ratings
    weight = games * expected * (1 - expected)
    curvature = -weight
    diagonal = np.arange(ratings.shape[-1])
    curvature[..., diagonal, diagonal] += weight.sum(axis=-1) + _RIDGE
    step: Array = np.linalg.solve(curvature, gradient[..., None])[..., 0]
    # The common shift of all players is free; without it the clip would cut the steps that matter.
    step -= step.mean(axis=-1, keepdims=True)
    longest = np.abs(step).max(axis=-1, keepdims=True, initial=0.0)
    step *= np.minimum(1.0, _MAX_STEP / np.maximum(longest, _TOLERANCE))
    return step


def resample(scores: PairScores, ratings: Array, samples: int, rng: np.random.Generator) -> Array:
    """Tables of as many games as were played, drawn by ratings [n] and each pair's share of draws: [samples, n, n]."""
    count = len(scores.players)
    tables = np.zeros((samples, count, count))
    for i, j in zip(*np.triu_indices(count, 1), strict=True):
        games = round(float(scores.games[i, j]))
        if games:
            expected = 1 / (1 + math.exp((ratings[j] - ratings[i]) / ELO))
            tables[:, i, j] = _draw_games(expected, scores.draws[i, j] / games, games, rng, samples)
            tables[:, j, i] = games - tables[:, i, j]
    return tables


def _draw_games(expected: float, draws: float, games: int, rng: np.random.Generator, samples: int) -> Array:
    """What a player scores who expects so much of each game, where so many are draws."""
    draws = min(draws, 2 * expected, 2 * (1 - expected))
    counts = rng.multinomial(games, [expected - draws / 2, draws, 1 - expected - draws / 2], size=samples)
    result: Array = counts[:, 0] + counts[:, 1] / 2
    return result


def rate(
    scores: PairScores,
    rng: np.random.Generator,
    *,
    anchor: Anchor | None = None,
    samples: int = 1000,
    confidence: float = CONFIDENCE,
) -> RatingList:
    """Ratings best first with bootstrap intervals; without an anchor their mean is 0."""
    fitted = _anchored(fit_ratings(scores.wins), scores.players, anchor)
    sampled = _anchored(fit_ratings(resample(scores, fitted, samples, rng)), scores.players, anchor)
    low, high = np.quantile(sampled, [(1 - confidence) / 2, (1 + confidence) / 2], axis=0)
    order = sorted(range(len(fitted)), key=lambda i: (-fitted[i], i))
    ratings = (Rating(scores.players[i], *(float(values[i]) for values in (fitted, low, high))) for i in order)
    superiority = ((_likelihood_of_superiority(sampled[:, i] - sampled[:, j]) for j in order) for i in order)
    return RatingList(tuple(ratings), tuple(tuple(row) for row in superiority))


def _anchored(ratings: Array, players: Sequence[str], anchor: Anchor | None) -> Array:
    if anchor is None:
        return ratings
    index = players.index(anchor.player)
    return ratings - ratings[..., index : index + 1] + anchor.rating


def _likelihood_of_superiority(differences: Array) -> float:
    return float(np.mean(differences > 0) + np.mean(differences == 0) / 2)
