"""Strength from results: Bradley–Terry ratings with bootstrap intervals, Wald's test, and the tables of a tournament.

P(i beats j) = 1 / (1 + 10^((rating_j − rating_i) / 400)); a draw is half a win for each. Ratings are the maximum of
the likelihood, and nothing else is assumed. The bootstrap draws the games of each pair anew by the fitted ratings.

The games carry a rating only if chains of wins lead both from the player to the reference and back. Where one of them
is missing, as against an opponent that was always beaten, there is none, but a bound on one side: the rating at which
all games together are but one fortieth as likely as at best.

Bradley & Terry, *Rank analysis of incomplete block designs*, Biometrika 39 (1952).

>>> table = pair_scores(["a", "b"], [("a", "b", 1.0)] * 3 + [("a", "b", 0.0)])
>>> [round(rating) for rating in fit_ratings(table.wins)]
[95, -95]
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import count, takewhile
from statistics import NormalDist
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from katachi.arena.match import Ending
from katachi.arena.records import GameRecord, find_duplicates, game_id, pairings
from katachi.arena.settings import TournamentSettings
from katachi.core.cards import CONFIDENCE, Decided, Sprt, wilson_interval
from katachi.go.points import BLACK, WHITE

Array = NDArray[np.float64]

ELO: Final = 400 / math.log(10)  # Elo points in one unit of the natural logarithm of the odds
_MAX_STEP: Final = 2.0  # Newton steps are cut to this; the likelihood is concave but flat far out
_MAX_ITERATIONS: Final = 200
_TOLERANCE: Final = 1e-10
_RIDGE: Final = 1e-6  # chooses among equally good answers, as the common shift of players who met; keeps all finite
_FAR: Final = 1e9  # Elo that no games carry
_BISECTIONS: Final = 40


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
    """A player's rating with its interval; that of the anchor has no width.

    ``rating`` is None where the games carry none; then at most one end is known.
    """

    player: str
    rating: float | None
    low: float | None
    high: float | None


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

    Players who never met, not even through others, are not comparable: each such set has mean 0 of its own. Those whom
    the games put infinitely far apart come out thousands apart.
    """
    ratings = _fit(wins, wins.sum(axis=-1))
    in_elo: Array = ELO * (ratings - ratings.mean(axis=-1, keepdims=True))
    return in_elo


def _fit(wins: Array, scored: Array) -> Array:
    """Natural ratings at which everybody expects to score so much, as far as there are such."""
    games = wins + np.swapaxes(wins, -1, -2)
    ratings = np.zeros(wins.shape[:-1])
    for _ in range(_MAX_ITERATIONS):
        step = _newton_step(ratings, games, scored)
        ratings += step
        if np.abs(step).max(initial=0.0) < _TOLERANCE:
            break
    return ratings


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
    """Ratings best first with bootstrap intervals, or bounds where the games carry no rating.

    They are counted from the anchor; without one from the mean of all, or of the most players whom the games connect.
    """
    reference, zero = _reference(scores, anchor), anchor.rating if anchor else 0.0
    fitted = _counted_from(reference, fit_ratings(scores.wins))
    drawn = resample(scores, fitted, samples, rng)
    sampled = _counted_from(reference, fit_ratings(drawn))
    ends = _ends(scores.wins, reference, sampled, drawn, (1 - confidence) / 2)
    is_carried = np.logical_and(*_links(scores.wins, reference))
    order = sorted(range(len(fitted)), key=lambda i: (-fitted[i], i))
    ratings = (
        Rating(
            scores.players[i],
            float(fitted[i]) + zero if is_carried[i] else None,
            *(None if abs(end) >= _FAR else float(end) + zero for end in ends[:, i]),
        )
        for i in order
    )
    ahead = sampled[:, order, None] - sampled[:, None, order]  # [samples, n, n]
    superiority = (ahead > 0).mean(axis=0) + (ahead == 0).mean(axis=0) / 2
    return RatingList(tuple(ratings), tuple(map(tuple, superiority.tolist())))


def _reference(scores: PairScores, anchor: Anchor | None) -> Array:
    """What ratings are counted from: weights of the players, [n]."""
    if anchor is not None:
        return np.array([float(player == anchor.player) for player in scores.players])
    chains = connections(scores.wins)
    together = chains & chains.T
    largest = together[np.argmax(together.sum(axis=1))]
    weights: Array = largest / largest.sum()
    return weights


def _counted_from(reference: Array, ratings: Array) -> Array:
    counted: Array = ratings - (ratings @ reference)[..., None]
    return counted


def connections(wins: Array) -> NDArray[np.bool_]:
    """Whether a chain of wins leads from a player to another, [..., n, n]; draws lead both ways.

    >>> connections(np.array([[0.0, 3.0], [0.0, 0.0]])).tolist()
    [[True, True], [False, True]]
    """
    count = wins.shape[-1]
    chains: NDArray[np.bool_] = (wins > 0) | np.eye(count, dtype=np.bool_)
    for _ in range(count.bit_length()):
        chains = chains @ chains
    return chains


def _links(wins: Array, reference: Array) -> NDArray[np.bool_]:
    """Whether chains of wins lead from each player to the reference, and from there to the player, [2, ..., n]."""
    chains, members = connections(wins), reference > 0
    return np.stack([chains[..., members].all(axis=-1), chains[..., members, :].all(axis=-2)])


def _ends(wins: Array, reference: Array, sampled: Array, drawn: Array, tail: float) -> Array:
    """The lowest and the highest rating that the games allow each player, [2, n]; ``_FAR`` away where they allow all.

    Games that are drawn anew and carry no rating have an infinite one. Where that happens too often for quantiles, the
    ends are those of the likelihood ratio.
    """
    below, above = ~_links(drawn, reference)
    low = np.quantile(np.where(below, -_FAR, np.where(above, _FAR, sampled)), tail, axis=0)
    high = np.quantile(np.where(above, _FAR, np.where(below, -_FAR, sampled)), 1 - tail, axis=0)
    ends, links = np.stack([low, high]), _links(wins, reference)
    for i in np.flatnonzero((np.abs(ends) > _FAR / 1000).any(axis=0)):  # a quantile may lie between two samples
        direction = np.eye(len(reference))[i] - reference
        drop = NormalDist().inv_cdf(tail) ** 2 / 2 if links[:, i].all() else -math.log(tail)
        for side, sign in enumerate((-1, 1)):
            ends[side, i] = sign * (_farthest(wins, sign * direction, drop) if links[side, i] else _FAR)
    return ends


def _farthest(wins: Array, direction: Array, drop: float) -> float:
    """How far ratings go in a direction until the logarithm of the likelihood is so much below its maximum; in Elo."""
    scored = wins.sum(axis=-1)
    best = _log_likelihood(wins, _fit(wins, scored))
    weak, strong = _RIDGE, float(wins.sum())
    with np.errstate(over="ignore"):
        for _ in range(_BISECTIONS):
            pull = math.sqrt(weak * strong)
            ratings = _fit(wins, scored + pull * direction)
            weak, strong = (pull, strong) if best - _log_likelihood(wins, ratings) < drop else (weak, pull)
    return ELO * float(direction @ ratings)


def _log_likelihood(wins: Array, ratings: Array) -> float:
    return -float((wins * np.logaddexp(0, ratings[None, :] - ratings[:, None])).sum())


def sprt_outcome(settings: TournamentSettings, records: Mapping[str, GameRecord]) -> Decided | None:
    """What the games of a match have decided, None if they have not or if no test was asked for."""
    if settings.sprt is None:
        return None
    pairing = pairings(settings)[0]
    played = takewhile(bool, (records.get(game_id(pairing, number)) for number in count()))
    return Sprt(**settings.sprt.model_dump()).outcome(record.score_of(pairing.first) for record in played if record)


# The tables of a tournament, counted from its games.

_STREAM = 2  # keeps the random numbers of the bootstrap apart from those of openings and players


@dataclass(slots=True)
class Score:
    """Wins, draws and losses of one side."""

    wins: int = 0
    draws: int = 0
    losses: int = 0

    def add(self, score: float) -> None:
        self.wins += score == 1
        self.draws += score == 0.5
        self.losses += score == 0

    @property
    def games(self) -> int:
        return self.wins + self.draws + self.losses

    @property
    def points(self) -> float:
        return self.wins + self.draws / 2

    @property
    def rate(self) -> float | None:
        """The share of the points, None before the first game."""
        return self.points / self.games if self.games else None

    @property
    def interval(self) -> tuple[float, float]:
        return wilson_interval(self.points, self.games)


@dataclass(slots=True)
class PairResult:
    """What the first player of a pair scored against the second, in all and with either color."""

    first: str
    second: str
    score: Score = field(default_factory=Score)
    with_black: Score = field(default_factory=Score)
    with_white: Score = field(default_factory=Score)
    played: int = 0  # duplicates included, whether they count or not
    duplicates: int = 0
    black_wins: int = 0
    moves: int = 0

    @property
    def mean_moves(self) -> float | None:
        return self.moves / self.played if self.played else None

    def add(self, record: GameRecord, *, duplicate: bool, counts: bool) -> None:
        self.played += 1
        self.moves += record.moves
        self.duplicates += duplicate
        if counts:
            score = record.score_of(self.first)
            self.score.add(score)
            (self.with_black if record.black.name == self.first else self.with_white).add(score)
            self.black_wins += record.winner == BLACK


@dataclass(slots=True)
class Incidents:
    """What went wrong in the games of one player, and how many of its moves took too long."""

    illegal_moves: int = 0
    failures: int = 0
    time_losses: int = 0
    overruns: int = 0

    def add(self, record: GameRecord, color: int) -> None:
        self.overruns += (record.black if color == BLACK else record.white).overruns
        if record.winner == -color:
            self.illegal_moves += record.ending == Ending.ILLEGAL_MOVE.value
            self.failures += record.ending == Ending.FAILURE.value
            self.time_losses += record.ending == Ending.TIME.value

    def __bool__(self) -> bool:
        return any(asdict(self).values())


@dataclass(frozen=True, slots=True)
class Checks:
    """How many games were counted twice, and those where the second referee disagreed, with its explanation."""

    games: int
    disagreements: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Standings:
    """Everything that a report shows."""

    settings: TournamentSettings
    pairs: tuple[PairResult, ...]
    ratings: RatingList
    incidents: dict[str, Incidents]
    checks: Checks
    games: int  # played so far
    scheduled: int
    duplicates: int
    programs: tuple[str, ...] = ()  # the versions that played
    sprt: Decided | None = None
    notes: tuple[str, ...] = ()  # on programs that cannot keep to the conditions

    def pair(self, player: str, opponent: str) -> Score | None:
        """What a player scored against another, None if they are not paired."""
        for pair in self.pairs:
            if (pair.first, pair.second) == (player, opponent):
                return pair.score
            if (pair.first, pair.second) == (opponent, player):
                return Score(pair.score.losses, pair.score.draws, pair.score.wins)
        return None

    def total(self, player: str) -> Score:
        """What a player scored in all."""
        scores = [score for other in self.settings.players if (score := self.pair(player, other))]
        return Score(*(sum(values) for values in zip(*((s.wins, s.draws, s.losses) for s in scores), strict=True)))

    def to_json(self) -> dict[str, Any]:
        """Plain values, the same for the same games in whatever order they were played."""
        return {
            "games": self.games,
            "scheduled": self.scheduled,
            "duplicates": self.duplicates,
            "duplicates_excluded": self.settings.report.exclude_duplicates,
            "ratings": [asdict(rating) for rating in self.ratings.ratings],
            "superiority": [list(row) for row in self.ratings.superiority],
            "pairs": [
                asdict(pair)
                | {"games": pair.score.games, "rate": pair.score.rate, "interval": list(pair.score.interval)}
                for pair in self.pairs
            ],
            "incidents": {player: asdict(incidents) for player, incidents in self.incidents.items()},
            "sprt": None if self.sprt is None else self.sprt._asdict(),
            "checked": self.checks.games,
            "notes": list(self.notes),
            "disagreements": [{"game": game, "note": note} for game, note in self.checks.disagreements],
        }


def count_standings(
    settings: TournamentSettings,
    records: Iterable[GameRecord],
    programs: tuple[str, ...] = (),
    notes: tuple[str, ...] = (),
) -> Standings:
    """Count the games of a tournament, all of them or those played so far.

    Games that were already under way when a sequential test was decided do not count.
    """
    ordered = sorted(records, key=lambda record: (record.pairing, record.number))
    outcome = sprt_outcome(settings, {record.id: record for record in ordered})
    if outcome is not None:
        ordered = ordered[: outcome.games]
    duplicates = find_duplicates(ordered)
    excluded = duplicates if settings.report.exclude_duplicates else set()
    pairs = [PairResult(pairing.first, pairing.second) for pairing in pairings(settings)]
    incidents = {player: Incidents() for player in settings.players}
    for record in ordered:
        pairs[record.pairing].add(record, duplicate=record.id in duplicates, counts=record.id not in excluded)
        incidents[record.black.name].add(record, BLACK)
        incidents[record.white.name].add(record, WHITE)
    checked = [(record, record.check) for record in ordered if record.check]
    doubted = tuple((record.id, f"{record.result} here; {check.note}") for record, check in checked if not check.agrees)
    return Standings(
        settings=settings,
        pairs=tuple(pairs),
        ratings=_rate(settings, (record for record in ordered if record.id not in excluded)),
        incidents=incidents,
        checks=Checks(len(checked), doubted),
        games=len(ordered),
        scheduled=len(pairs) * settings.games,
        duplicates=len(duplicates),
        programs=programs,
        sprt=outcome,
        notes=notes,
    )


def _rate(settings: TournamentSettings, records: Iterable[GameRecord]) -> RatingList:
    games = ((r.black.name, r.white.name, r.score_of(r.black.name)) for r in records)
    report = settings.report
    return rate(
        pair_scores(list(settings.players), games),
        np.random.default_rng(np.random.SeedSequence(settings.seed, spawn_key=(_STREAM,))),
        anchor=Anchor(report.anchor, report.anchor_rating) if report.anchor else None,
        samples=report.bootstrap_samples,
    )
