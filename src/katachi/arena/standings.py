"""The tables of a tournament, counted from its games: scores of every pair by color, duplicates, forfeits,
ratings.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from katachi.arena.duplicates import find_duplicates
from katachi.arena.match import Ending
from katachi.arena.ratings import Anchor, RatingList, pair_scores, rate
from katachi.arena.records import GameRecord
from katachi.arena.schedule import Pairing, pairings
from katachi.arena.settings import TournamentSettings
from katachi.arena.sprt import Outcome, sprt_outcome
from katachi.core.statistics import wilson_interval
from katachi.go.points import BLACK, WHITE

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
    """How often a second referee judged a game, and the games where it disagreed, with its explanation."""

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
    sprt: Outcome | None = None

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
            "pairs": [_pair_json(pair) for pair in self.pairs],
            "incidents": {player: asdict(incidents) for player, incidents in self.incidents.items()},
            "sprt": None if self.sprt is None else self.sprt._asdict(),
            "checked": self.checks.games,
            "disagreements": [{"game": game, "note": note} for game, note in self.checks.disagreements],
        }


def _pair_json(pair: PairResult) -> dict[str, Any]:
    score = pair.score
    return asdict(pair) | {"games": score.games, "rate": score.rate, "interval": list(score.interval)}


def count_standings(
    settings: TournamentSettings, records: Iterable[GameRecord], programs: tuple[str, ...] = ()
) -> Standings:
    """Count the games of a tournament, all of them or those played so far.

    Games that were already under way when a sequential test was decided do not count.
    """
    ordered = sorted(records, key=lambda record: (record.pairing, record.number))
    outcome = sprt_outcome(settings, {record.id: record for record in ordered})
    if outcome is not None:
        ordered = ordered[: outcome.games]
    duplicates = find_duplicates(ordered)
    counted = [r for r in ordered if not (settings.report.exclude_duplicates and r.id in duplicates)]
    paired = pairings(settings)
    return Standings(
        settings=settings,
        pairs=_count_pairs(paired, ordered, duplicates, {record.id for record in counted}),
        ratings=_rate(settings, counted),
        incidents=_count_incidents(settings.players, ordered),
        checks=_count_checks(ordered),
        games=len(ordered),
        scheduled=len(paired) * settings.games,
        duplicates=len(duplicates),
        programs=programs,
        sprt=outcome,
    )


def _count_pairs(
    paired: Sequence[Pairing], records: Sequence[GameRecord], duplicates: set[str], counted: set[str]
) -> tuple[PairResult, ...]:
    pairs = [PairResult(pairing.first, pairing.second) for pairing in paired]
    for record in records:
        pairs[record.pairing].add(record, duplicate=record.id in duplicates, counts=record.id in counted)
    return tuple(pairs)


def _rate(settings: TournamentSettings, records: Iterable[GameRecord]) -> RatingList:
    games = ((r.black.name, r.white.name, r.score_of(r.black.name)) for r in records)
    report = settings.report
    return rate(
        pair_scores(list(settings.players), games),
        np.random.default_rng(np.random.SeedSequence(settings.seed, spawn_key=(_STREAM,))),
        anchor=Anchor(report.anchor, report.anchor_rating) if report.anchor else None,
        samples=report.bootstrap_samples,
    )


def _count_incidents(players: Iterable[str], records: Iterable[GameRecord]) -> dict[str, Incidents]:
    incidents = {player: Incidents() for player in players}
    for record in records:
        incidents[record.black.name].add(record, BLACK)
        incidents[record.white.name].add(record, WHITE)
    return incidents


def _count_checks(records: Iterable[GameRecord]) -> Checks:
    checked = [(record, record.check) for record in records if record.check]
    notes = tuple((record.id, f"{record.result} here; {check.note}") for record, check in checked if not check.agrees)
    return Checks(len(checked), notes)
