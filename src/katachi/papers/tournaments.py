"""Ratings from several tournaments, because slow players can be given fewer games than fast ones.

Each tournament is a run directory of its own, which the arena plays on after an interruption. Their games together
give one list of ratings. *Rounds* are tournaments of a few games a pair, one after another: an interrupted
measurement has games of all pairs, and one that asks for more games later continues with those that there are.
"""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import chain, combinations
from pathlib import Path
from typing import Any, Final

import numpy as np

from katachi.arena.ratings import Anchor, pair_scores, rate
from katachi.arena.records import GameRecord, find_directory, games_kept, pairings
from katachi.arena.settings import TournamentSettings
from katachi.arena.tournament import play_tournament
from katachi.core.contracts import Player
from katachi.core.disk import format_toml, write_atomically
from katachi.data.dataset import Dataset
from katachi.papers.documents import Estimate, format_rounded, share
from katachi.papers.experiment import ExperimentError, Json, Progress, Scope, Watcher
from katachi.players.specs import RatingTable, find_spec, parse_spec
from katachi.sgf.files import Split

# The games that are learned from: any set, of which the size with the most games is taken.


@dataclass(frozen=True, slots=True)
class Games:
    """A set, and the board size that is chosen of it."""

    dataset: Dataset
    size: int

    @property
    def digest(self) -> str:
        """What tells them from other games, in names."""
        return self.dataset.digest[:8]

    def count_positions(self, split: Split) -> int:
        """How many there are to learn from, or to test with."""
        return int(self.dataset.games["plays"][self.dataset.select(self.size, split)].sum(dtype=np.int64))

    def describe(self) -> Json:
        """What a document tells of them."""
        return {
            "name": self.dataset.path.name,
            "size": self.size,
            "games": int(self.dataset.select(self.size).size),
            "positions": self.count_positions(Split.TRAINING),
            "test positions": self.count_positions(Split.TEST),
        }


def require_games(scope: Scope, splits: Iterable[Split] = Split, work: str = "learns from games") -> Games:
    """The games that were given; raises ExperimentError if none were, and DatasetError if they cannot be read."""
    if scope.data is None:
        raise ExperimentError(f"this table {work}: give --data SET (see: katachi data import --help)")
    return open_games(scope.data, splits)


def open_games(path: Path, splits: Iterable[Split] = Split) -> Games:
    """The games of a set; raises ExperimentError if one of the splits has none."""
    dataset = Dataset.open(path.resolve())
    if not dataset.games.size:
        raise ExperimentError(f"{path} has no games to learn from")
    size = int(np.bincount(dataset.games["lines"]).argmax())
    for split in splits:
        if not dataset.select(size, split).size:
            raise ExperimentError(f"{path} has no {size}×{size} games for {split}")
    return Games(dataset, size)


def describe_set(data: Json) -> str:
    """One sentence about what was learned from and tested with."""
    board = f"{data['size']}×{data['size']}"
    return (
        f"The set `{data['name']}` has {data['games']:,} games on {board}: {data['positions']:,} positions to learn "
        f"from and {data['test positions']:,} of other games to test with, which nothing is tuned on."
    )


# GNU Go as an opponent and a referee: how it is started, and whether it is here.

_DEBIAN_GAMES: Final = "/usr/games"  # not on everybody's PATH


def gnugo(level: int) -> str:
    """The player spec of a level: area rules, everything played out, and a seed of its own in every game."""
    return f"gtp:gnugo --mode gtp --level {level} --chinese-rules --capture-all-dead --seed {{seed}}"


def gnugo_referee(level: int) -> str:
    """A level as a referee: it says which stones are dead, and counts the area."""
    return f"gtp:gnugo --mode gtp --level {level} --chinese-rules"


def gnugo_name(level: int) -> str:
    """What a level is called in tables."""
    return f"GNU Go level {level}"


def has_gnugo() -> bool:
    """Whether it is installed."""
    return shutil.which("gnugo", path=os.pathsep.join((os.environ.get("PATH", ""), _DEBIAN_GAMES))) is not None


def require_gnugo() -> None:
    """Raise ExperimentError if it is not installed."""
    if not has_gnugo():
        raise ExperimentError("this table is measured against GNU Go, and it is not here (Debian: apt install gnugo)")


# Players that an experiment makes up, as the TOML files that a tournament reads; and ratings in bundled ones.


def write_players(players: Mapping[str, Json], folder: Path) -> dict[str, str]:
    """Write the spec of each player to a file of its name; returns the files by name.

    A run that was started with other specs notices that its files have changed, and refuses to resume.
    """
    folder.mkdir(parents=True, exist_ok=True)
    files = {}
    for name, values in players.items():
        path = folder / f"{name.replace(' ', '-')}.toml"
        write_atomically(path, format_toml(values))
        files[name] = str(path)
    return files


_OF_BOARDS: Final = ("kind", "rating", "opening")  # what a player for one size has beside


def player_values(text: str, size: int) -> Json:
    """What decides how a player plays on boards of a size, as JSON values; raises SpecError if it is not known."""
    spec = find_spec(text).on(size)
    values: Json = spec.model_dump(mode="json", exclude_unset=True, exclude={"description", "rating"})
    if "boards" not in values:
        return values
    board = values["boards"][str(size)]
    return {"kind": "search", "name": spec.name, **{key: board[key] for key in board if key not in _OF_BOARDS}}


def named_players(texts: Iterable[str], size: int) -> dict[str, Json]:
    """The values of players by their names, or by what they were called if two have the same; raises SpecError."""
    values = {text: player_values(text, size) for text in texts}
    names = [each.get("name", text) for text, each in values.items()]
    return dict(zip(names if len(set(names)) == len(names) else values, values.values(), strict=True))


def held(text: str, size: int, simulations: int, **search: Any) -> Json:
    """The values of a player with a tree search, on one thread and to so many simulations, whatever its own limit."""
    values = player_values(text, size)
    return values | {"search": values["search"] | {"threads": 1} | search, "limit": {"simulations": simulations}}


def without_search(text: str, size: int) -> Json:
    """The values of a player that does not search: its network alone."""
    values = {key: value for key, value in player_values(text, size).items() if key != "limit"}
    return values | {"search": {"kind": "policy"}}


def build_player(values: Json, seed: int) -> Player:
    """The player that has these values."""
    return parse_spec(format_toml(values)).build(seed)


def write_rating(path: Path, rating: RatingTable, place: str = "rating") -> None:
    """Put a rating into a table of a player's file, in the place of an earlier one; the rest stays as it is."""
    earlier = re.compile(rf"^\[{re.escape(place)}\]\n(?:[^\[].*\n?)*", re.MULTILINE)
    kept = earlier.sub("", path.read_text(encoding="utf-8")).rstrip("\n")
    write_atomically(path, f"{kept}\n[{place}]\n{format_toml(rating.model_dump(exclude_defaults=True))}")


# Tournaments in rounds, and what is counted of them.

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
    def won(self) -> Estimate:
        """What the first won, in percent; draws are counted as half."""
        return share(self.points, self.games)


def format_won(pair: Pair | None) -> str:
    """``86.7 (79.4 … 91.6) of 100``, or nothing."""
    return "" if pair is None else f"{format_rounded(pair.won)} of {pair.games}"


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
    places = {name: find_directory(folder / name, settings) for name, settings in tournaments.items()}
    kept = {name: games_kept(place) for name, place in places.items()}
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
        play_tournament(tournaments[name], places[name], partial(add, name))
    return list(chain.from_iterable(found.values()))


def rate_games(players: Sequence[str], records: Iterable[GameRecord], anchor: Anchor) -> Json:
    """Ratings of those who played, with intervals, once the anchor has; and the score of every pair that met."""
    games = [(record.black.name, record.white.name, record.score_of(record.black.name)) for record in records]
    scores = pair_scores(players, games)
    pairs = [
        Pair(a, b, int(scores.games[i, j]), int(scores.wins[i, j] - scores.draws[i, j] / 2), int(scores.draws[i, j]))
        for (i, a), (j, b) in combinations(enumerate(players), 2)
        if scores.games[i, j]
    ]
    return {"ratings": rate_pairs(pairs, anchor, players), "pairs": [asdict(pair) for pair in pairs]}


def rate_pairs(pairs: Iterable[Pair], anchor: Anchor, players: Sequence[str]) -> Json:
    """``[rating, low, high]`` of those who played, best first; None is what the games do not carry."""
    games = [
        (pair.first, pair.second, score)
        for pair in pairs
        for score, times in ((1.0, pair.wins), (0.5, pair.draws), (0.0, pair.games - pair.wins - pair.draws))
        for _ in range(times)
    ]
    met = {name for first, second, _ in games for name in (first, second)}
    if anchor.player not in met:
        return {}
    scores = pair_scores([player for player in players if player in met], games)
    rated = rate(scores, np.random.default_rng(_SEED), anchor=anchor).ratings
    return {r.player: [None if x is None else round(x) for x in (r.rating, r.low, r.high)] for r in rated}


def games_of(results: Json, player: str) -> int:
    """How many games a player has in the pairs of results."""
    return sum(pair["games"] for pair in results["pairs"] if player in (pair["first"], pair["second"]))


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
