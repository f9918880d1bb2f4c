"""Ratings from several tournaments, because slow players can be given fewer games than fast ones.

Each tournament is a run directory of its own, which the arena plays on after an interruption. Their games together
give one list of ratings.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import Path
from typing import Final

import numpy as np

from katachi.arena.ratings import Anchor, pair_scores, rate
from katachi.arena.records import GameRecord
from katachi.arena.settings import TournamentSettings
from katachi.arena.tournament import play_tournament
from katachi.experiments.runs import Json, Progress, Watcher

_SEED: Final = 1  # of the bootstrap: the same games, the same intervals


@dataclass(frozen=True, slots=True)
class Pair:
    """What the first of two players won, drew and played against the second."""

    first: str
    second: str
    games: int
    wins: int
    draws: int

    @property
    def points(self) -> float:
        return self.wins + self.draws / 2


def play_tournaments(tournaments: Mapping[str, TournamentSettings], folder: Path, watch: Watcher) -> list[GameRecord]:
    """Play all tournaments, or what is left of them, each in a folder of its name; returns all games."""
    records: list[GameRecord] = []
    for name, settings in tournaments.items():
        records += _play(settings, folder / name, watch)
    return records


def _play(settings: TournamentSettings, folder: Path, watch: Watcher) -> list[GameRecord]:
    records: list[GameRecord] = []
    earlier, start = _count_kept(folder), time.monotonic()
    players = len(settings.players)
    pairs = players * (players - 1) // 2 if settings.scheme == "round-robin" else players - 1

    def add(record: GameRecord) -> None:
        records.append(record)
        done, total = len(records), pairs * settings.games
        watch(Progress(folder.name, done, total, done, total, max(0, done - earlier), time.monotonic() - start))

    play_tournament(settings, folder, add)
    return records


def _count_kept(folder: Path) -> int:
    games = folder / "games.jsonl"
    return len(games.read_bytes().splitlines()) if games.exists() else 0


def rate_games(players: Sequence[str], records: Iterable[GameRecord], anchor: Anchor) -> Json:
    """Ratings of those who played, with intervals, and the score of every pair that met."""
    games = [(record.black.name, record.white.name, record.score_of(record.black.name)) for record in records]
    scores = pair_scores(players, games)
    played = scores.games.sum(axis=1) > 0
    scores = pair_scores([player for player, met in zip(players, played, strict=True) if met], games)
    rated = rate(scores, np.random.default_rng(_SEED), anchor=anchor)
    pairs = [
        Pair(a, b, int(scores.games[i, j]), int(scores.wins[i, j] - scores.draws[i, j] / 2), int(scores.draws[i, j]))
        for (i, a), (j, b) in combinations(enumerate(scores.players), 2)
        if scores.games[i, j]
    ]
    return {
        "ratings": {r.player: [round(r.rating), round(r.low), round(r.high)] for r in rated.ratings},
        "pairs": [asdict(pair) for pair in pairs],
    }
