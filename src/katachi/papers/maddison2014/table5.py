"""Table 5: tree search with a network against the network alone, and against the same search without it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Final, NamedTuple

from katachi.arena.records import GameRecord
from katachi.arena.settings import TournamentSettings
from katachi.core.contracts import Limit
from katachi.papers.documents import numbered, table
from katachi.papers.experiment import Budget, ExperimentError, Json, Row, Scope, Table
from katachi.papers.games import require_games
from katachi.papers.maddison2014.matches import (
    RANDOM_PLIES,
    count_games,
    format_won,
    policy_player,
    scores,
    tournament,
    won,
)
from katachi.papers.maddison2014.nets import MAIN, learn, shipped_nets
from katachi.papers.tournaments import Pair, play_rounds, rounds

NAME: Final = "table5"
RUN: Final = f"maddison2014/{NAME}"
SIZES: Final = (9, 19)  # the first for which a network ships
PUBLISHED: Final = {10_000: (67.6, 2.6), 100_000: (86.7, 3.5)}  # percent won against the network, standard error


class Games(NamedTuple):
    """How many games the search with the network plays against each of its parts."""

    network: int
    search: int


GAMES: Final = {  # by what a move may take
    Budget.SMOKE: {Limit(simulations=8): Games(2, 2), Limit(seconds=0.05): Games(2, 2)},
    Budget.HOUR: {
        Limit(simulations=1_000): Games(100, 20),
        Limit(seconds=0.5): Games(0, 40),
    },
    Budget.FULL: {
        Limit(simulations=100): Games(200, 200),
        Limit(simulations=1_000): Games(200, 200),
        Limit(simulations=10_000): Games(20, 20),
        Limit(seconds=0.5): Games(200, 200),
    },
}
ALONE: Final = "network"
_EXPLORATION: Final = 2.0  # with the network: its priors know more than those by patterns
_BOTH: Final = "network and "


class _Network(NamedTuple):
    title: str
    model: Path
    size: int


def measure(scope: Scope) -> Json:
    """Play with a network that ships, or with one that is learned; ``--runs`` is the number of games of each pair."""
    network = _choose(scope)
    tournaments: dict[str, TournamentSettings] = {}
    for limit, games in GAMES[scope.budget].items():
        some = Games(scope.runs, scope.runs) if scope.runs else games
        tournaments |= _rounds(network, limit, some, scope)
    names = [name for limit in map(in_words, GAMES[scope.budget]) for name in (both(limit), limit)]

    def count(records: Sequence[GameRecord]) -> Json:
        return {"network": network.title, "size": network.size} | count_games([*names, ALONE], records)

    return play_rounds(tournaments, scope, count)


def _choose(scope: Scope) -> _Network:
    for size in SIZES:
        for name, path in shipped_nets(size).items():
            return _Network(f"`{name}`", path, size)
    if scope.data is None:
        raise ExperimentError("no network ships, and this table learns one from games: give --data SET")
    games, main = require_games(scope), MAIN[scope.budget]
    learned = learn([main], games, scope)[main]
    return _Network(f"{learned.title}, which learned from {main.positions:,} positions", learned.model, games.size)


def _rounds(network: _Network, limit: Limit, games: Games, scope: Scope) -> dict[str, TournamentSettings]:
    policy = policy_player(network.model)
    search = {"kind": "mcts", "threads": 1}
    steered = {"priors": "synchronous" if limit.simulations else "delayed", "exploration": _EXPLORATION}
    limits = {"limit": {name: value for name, value in asdict(limit).items() if value is not None}}
    without = in_words(limit)
    players = {
        both(without): policy | {"search": search | steered} | limits,
        ALONE: policy,
        without: {"kind": "search", "search": search} | limits,
    }
    template = tournament(players, network.size, scope)
    if limit.seconds:  # two threads think in a game, and games at once should not take each other's time
        template = template.model_copy(update={"jobs": max(1, template.jobs // 2)})
    found = rounds(template, {ALONE: games.network, without: games.search})
    return {f"{_slug(without)}-{folder}": settings for folder, settings in found.items()}


def in_words(limit: Limit) -> str:
    """What a move may take, which is what the search without the network is called."""
    return f"{limit.simulations:,} simulations" if limit.simulations else f"{limit.seconds:g} s"


def _slug(limit: str) -> str:
    return limit.replace(",", "").replace(" ", "-")


def both(limit: str) -> str:
    """What the search with the network is called."""
    return _BOTH + limit


_PAPER: Final = {in_words(Limit(simulations=count)): score for count, (score, _) in PUBLISHED.items()}


def rows(results: Json) -> list[Row]:
    """Games won against the network alone, and against the search alone."""
    return [_row(*pair) for pair in scores(results).items()]


def _row(names: tuple[str, str], pair: Pair) -> Row:
    first, second = names
    limit = first.removeprefix(_BOTH)
    paper = _PAPER.get(limit) if second == ALONE else None
    opponent = "network" if second == ALONE else "search"
    what = f"{first} a move against the {opponent} alone: won, %"
    return Row(f"{NAME}/{_slug(limit)}/{opponent}", what, paper, round(pair.percent, 1), won(pair).interval, RUN)


def section(results: Json, pictures: Path) -> str:  # noqa: ARG001 — the tables say it all
    """How it was played, the scores, the paper's, and the differences."""
    paper = [(f"{simulations:,}", f"{score} ± {error}") for simulations, (score, error) in PUBLISHED.items()]
    return f"""
The network is {results["network"]}. {results["games"]:,} games on {results["size"]}×{results["size"]} by Chinese rules,
of which {results["distinct"]:,} differ and count. The tree search gets its priors from the network: it waits for them
where simulations are counted, and goes on meanwhile where time is. It plays the network alone, which plays what it
likes best, and the same search without it, which gets them from patterns. All search with one thread; the network has
another where the search does not wait.

{table(("a move may take", "against the network, %", "against the search, %", "s a move"), _lines(results))}

The paper's network of 12 layers on 19×19, with search against without:

{table(("rollouts a move", "won, %"), paper)}

Differences from the paper:

{numbered(_DIFFERENCES)}
"""


def _lines(results: Json) -> Iterator[tuple[str, ...]]:
    found = scores(results)
    for name in dict.fromkeys(first for first, _ in found):
        limit = name.removeprefix(_BOTH)
        against = (format_won(found.get((name, other))) for other in (ALONE, limit))
        yield limit, *against, f"{results['seconds'][name]:.2f}"


_DIFFERENCES: Final = (
    "The network is ours, and so are its data and its size; `katachi models` tells how those that ship learned.",
    "The paper's search goes on while a graphics card computes priors, and uses them when they come. Where simulations "
    "are counted ours waits for them, so that results do not depend on the machine's speed; what late priors cost is "
    "measured by `katachi reproduce search --table async`.",
    "The paper's rollouts and ours differ: by 3×3 patterns there, by patterns and tactics here.",
    f"Our games begin after {RANDOM_PLIES} random moves, and our own referee counts them.",
    "The search without the network is ours alone.",
)

TABLE: Final = Table(NAME, "Table 5: search with the network", measure, rows, section)
