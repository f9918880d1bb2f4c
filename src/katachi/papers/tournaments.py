"""Ratings from several tournaments, because slow players can be given fewer games than fast ones.

Each tournament is a run directory of its own, which the arena plays on after an interruption. Their games together
give one list of ratings. *Rounds* are tournaments of a few games a pair, one after another: an interrupted
measurement has games of all pairs, and one that asks for more games later goes on with those that there are.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import chain, combinations
from pathlib import Path
from typing import Final

import numpy as np

from katachi.arena.ratings import Anchor, pair_scores, rate
from katachi.arena.records import GameRecord, pairings
from katachi.arena.settings import TournamentSettings
from katachi.arena.tournament import play_tournament
from katachi.core.statistics import wilson_interval
from katachi.papers.experiment import Json, Progress, Scope, Watcher

GAMES_A_ROUND: Final = 10  # of each pair

_SEED: Final = 1  # of the bootstrap: the same games, the same intervals
_SECONDS_BETWEEN_COUNTS: Final = 60.0


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

    @property
    def percent(self) -> float:
        """What the first won, draws counted as half."""
        return 100 * self.points / self.games

    @property
    def percent_interval(self) -> tuple[float, float]:
        low, high = wilson_interval(self.points, self.games)
        return 100 * low, 100 * high


def play_rounds(
    tournaments: Mapping[str, TournamentSettings], scope: Scope, count: Callable[[Sequence[GameRecord]], Json]
) -> Json:
    """Play rounds, or what is left of them, and count their games: now and then, and at the end."""
    counted = time.monotonic()

    def keep(records: Sequence[GameRecord]) -> None:
        nonlocal counted
        if time.monotonic() > counted + _SECONDS_BETWEEN_COUNTS:
            scope.keep(count(records))
            counted = time.monotonic()

    return count(play_tournaments(tournaments, scope.folder, scope.watch, keep))


def rounds(
    template: TournamentSettings, games: Mapping[str, int], games_a_round: int = GAMES_A_ROUND
) -> dict[str, TournamentSettings]:
    """Split a tournament into rounds, each with openings and seeds of its own, by the name of its folder.

    ``games`` says how many games of each pair a player is in; whoever has played them is left out of later rounds.
    """
    found = {}
    for number, (some, players) in enumerate(_split(games, games_a_round), start=1):
        names = {name: spec for name, spec in template.players.items() if name in players or name not in games}
        settings = template.model_copy(update={"players": names, "games": some, "seed": number})
        found[f"round-{number:02d}-{settings.digest()[:8]}"] = settings
    return found


def _split(games: Mapping[str, int], games_a_round: int) -> Iterator[tuple[int, set[str]]]:
    """How many games each round has, and who plays them."""
    left = {name: count for name, count in games.items() if count}
    while left:
        some = min(games_a_round, *left.values())
        yield some, set(left)
        left = {name: count - some for name, count in left.items() if count > some}


def play_tournaments(
    tournaments: Mapping[str, TournamentSettings],
    folder: Path,
    watch: Watcher,
    keep: Callable[[Sequence[GameRecord]], None] | None = None,
) -> list[GameRecord]:
    """Play all tournaments, or what is left of them, each in a folder of its name; returns all games.

    ``keep`` is handed all games so far whenever a new one was played. Tournaments that are through come first, so that
    their games are among those even if the others are interrupted again.
    """
    found: dict[str, list[GameRecord]] = {name: [] for name in tournaments}
    games = {name: settings.games * len(pairings(settings)) for name, settings in tournaments.items()}
    kept = {name: _count_kept(folder / name) for name in tournaments}
    total, earlier, start = sum(games.values()), sum(kept.values()), time.monotonic()
    done = 0

    def add(name: str, record: GameRecord) -> None:
        nonlocal done
        found[name].append(record)
        done += 1
        watch(Progress(folder.name, done, total, done, total, max(0, done - earlier), time.monotonic() - start))
        if keep is not None and done > earlier:
            keep(list(chain.from_iterable(found.values())))

    for name in sorted(tournaments, key=lambda name: kept[name] < games[name]):
        play_tournament(tournaments[name], folder / name, partial(add, name))
    return list(chain.from_iterable(found.values()))


def _count_kept(folder: Path) -> int:
    games = folder / "games.jsonl"
    return len(games.read_bytes().splitlines()) if games.exists() else 0


def rate_games(players: Sequence[str], records: Iterable[GameRecord], anchor: Anchor) -> Json:
    """Ratings of those who played, with intervals, once the anchor has; and the score of every pair that met."""
    games = [(record.black.name, record.white.name, record.score_of(record.black.name)) for record in records]
    scores = pair_scores(players, games)
    played = scores.games.sum(axis=1) > 0
    scores = pair_scores([player for player, met in zip(players, played, strict=True) if met], games)
    ratings = (
        rate(scores, np.random.default_rng(_SEED), anchor=anchor).ratings if anchor.player in scores.players else ()
    )
    pairs = [
        Pair(a, b, int(scores.games[i, j]), int(scores.wins[i, j] - scores.draws[i, j] / 2), int(scores.draws[i, j]))
        for (i, a), (j, b) in combinations(enumerate(scores.players), 2)
        if scores.games[i, j]
    ]
    return {
        "ratings": {r.player: [round(r.rating), round(r.low), round(r.high)] for r in ratings},
        "pairs": [asdict(pair) for pair in pairs],
    }


def distinct_games(records: Iterable[GameRecord]) -> list[GameRecord]:
    """The first of each game that the same two played more than once, with the same colors."""
    found: dict[tuple[str, str, str], GameRecord] = {}
    for record in records:
        found.setdefault((record.black.name, record.white.name, record.fingerprint), record)
    return list(found.values())


def describe_games(records: Sequence[GameRecord]) -> Json:
    """How many games there were, how many of them differ, and what a move took each player, in seconds."""
    moves: dict[str, int] = {}
    seconds: dict[str, float] = {}
    for side in (side for record in records for side in (record.black, record.white)):
        moves[side.name] = moves.get(side.name, 0) + side.moves
        seconds[side.name] = seconds.get(side.name, 0.0) + side.seconds
    return {
        "games": len(records),
        "distinct": len(distinct_games(records)),
        "seconds": {name: round(total / max(moves[name], 1), 4) for name, total in seconds.items()},
    }
