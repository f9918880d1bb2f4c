"""Table 3: what it does to tell a network a rank: in what it foretells of weaker and stronger players, and in
games.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from katachi.arena.ratings import elo_difference
from katachi.arena.records import GameRecord
from katachi.core.models import open_model
from katachi.features.planes import HIGHEST_RANK
from katachi.papers.documents import Estimate, format_rounded, format_value, mean_of_many, numbered, table
from katachi.papers.experiment import Budget, Json, Row, Run, Scope, Table, Workers, do_runs
from katachi.papers.games import Games, describe_set, require_games
from katachi.papers.maddison2014.differences import differences
from katachi.papers.maddison2014.matches import (
    RANDOM_PLIES,
    count_games,
    format_won,
    policy_player,
    scores,
    tournament,
    won,
)
from katachi.papers.maddison2014.nets import MAIN, Learned, learn, shipped_nets
from katachi.papers.tournaments import play_rounds, rounds
from katachi.policy.cnn_cards import CnnCard
from katachi.policy.evaluator import knows_ranks
from katachi.policy.measure import Foreteller
from katachi.sgf.splits import Split

NAME: Final = "table3"
RUN: Final = f"maddison2014/{NAME}"
PUBLISHED: Final = {1: (49.2, 3.6), 5: (60.1, 1.6), 9: (67.9, 5.0)}  # percent won against one net, standard error
GROUPS: Final = {"1d–2d": (1, 2), "8d–9d": (8, 9)}
POSITIONS: Final = {Budget.SMOKE: 200, Budget.HOUR: 2_000, Budget.FULL: 10_000}  # of each group
GAMES: Final = {Budget.SMOKE: 2, Budget.HOUR: 20, Budget.FULL: 200}
WEAKEST: Final = 1


def measure(scope: Scope) -> Json:
    """Ask one network with every rank, and let it play itself; ``--runs`` is the number of games of each pair."""
    games = require_games(scope)
    net = _choose(games, scope)
    groups = {name: _ask(name, net, games, scope) for name in GROUPS}
    results = {"data": games.describe(), "net": net.to_json(), "groups": groups}
    scope.keep(results | count_games([], []))
    return _play(net, results, scope)


def _choose(games: Games, scope: Scope) -> Learned:
    """A network that ships and knows ranks, or else one that is learned."""
    for name, path in shipped_nets(games.size).items():
        card = open_model(path).card
        if isinstance(card, CnnCard) and knows_ranks(card.config):
            return Learned(f"`{name}`", path, card.training.all_positions, {})
    main = MAIN[scope.budget]
    return learn([main], games, scope)[main]


# What is foretold


def _ask(group: str, net: Learned, games: Games, scope: Scope) -> Json:
    arguments = {"ranks": list(GROUPS[group]), "positions": POSITIONS[scope.budget]}
    work = partial(_ask_with_ranks, model=net.model, games=games, threads=scope.workers.jobs)
    name = f"{net.key} {group} {arguments['positions']}"
    return do_runs([Run(name, work, arguments, 1)], scope.folder, Workers(), lambda _: None)[0]


def _ask_with_ranks(ranks: Sequence[int], positions: int, model: Path, games: Games, threads: int) -> Json:
    """The mean log-likelihood of what players of these ranks played, by the rank that the network is told.

    ``gained`` is what the highest rank adds to that with the lowest, move by move: mean, low and high.
    """
    network = Foreteller.open(model, threads)
    batches = list(network.held_out(games.dataset, Split.TEST, games.size, positions, ranks))
    if not batches:
        return {"positions": 0}
    told = {rank: -network.foretell(batches, rank).losses for rank in range(WEAKEST, HIGHEST_RANK + 1)}
    gained, bounds = mean_of_many(told[HIGHEST_RANK] - told[WEAKEST])
    return {
        "positions": told[WEAKEST].size,
        "own": -float(network.foretell(batches).losses.mean(dtype=float)),
        "told": {str(rank): float(found.mean(dtype=float)) for rank, found in told.items()},
        "gained": [gained, *(bounds or ())],
    }


# Games


def _play(net: Learned, results: Json, scope: Scope) -> Json:
    """The results so far, and games."""
    players = {player_name(rank): policy_player(net.model, rank=rank) for rank in PUBLISHED}
    template = tournament(players, results["data"]["size"], scope)
    weakest, *stronger = players

    def count(records: Sequence[GameRecord]) -> Json:
        return results | count_games([*stronger, weakest], records)

    return play_rounds(rounds(template, dict.fromkeys(stronger, scope.runs or GAMES[scope.budget])), scope, count)


def player_name(rank: int) -> str:
    """What the network is called that is told a rank."""
    return f"{rank} dan"


def implied(rank: int) -> float:
    """What a rank would win against the weakest by Elo's curve, from the paper's scores of both against one net."""
    elo = elo_difference(PUBLISHED[rank][0] / 100) - elo_difference(PUBLISHED[WEAKEST][0] / 100)
    return round(float(100 / (1 + 10 ** (-elo / 400))), 1)


# The document


def rows(results: Json) -> list[Row]:
    """What the highest rank adds to the likelihood of moves, and games won by higher ranks."""
    return [*_likelihood_rows(results), *_game_rows(results)]


def _likelihood_rows(results: Json) -> Iterator[Row]:
    for group, found in results["groups"].items():
        what = f"moves of {group}: log-likelihood told {HIGHEST_RANK}d less that told {WEAKEST}d, thousandths"
        gained = thousandths(found) if found["positions"] else None
        ours, interval = (None, None) if gained is None else gained
        yield Row(f"{NAME}/{group}/gained", what, None, ours, interval, RUN)


def thousandths(group: Json) -> Estimate:
    """What telling the highest rank gains over the lowest."""
    gained, low, high = (round(1000 * value, 1) for value in group["gained"])
    return Estimate(gained, (low, high))


def _game_rows(results: Json) -> Iterator[Row]:
    for (first, second), pair in scores(results).items():
        what = f"told {first} against told {second}: won, % (paper: by the scores of both)"
        paper = implied(int(first.split()[0]))
        yield Row(f"{NAME}/{first.replace(' ', '-')}/won", what, paper, round(pair.percent, 1), won(pair).interval, RUN)


def section(results: Json, pictures: Path) -> str:  # noqa: ARG001 — the tables say it all
    """The likelihoods by rank, the games, the paper's, and the differences."""
    net, size = results["net"], results["data"]["size"]
    paper = [(player_name(rank), f"{score} ± {error}") for rank, (score, error) in PUBLISHED.items()]
    return f"""
{describe_set(results["data"])} The network is {net["title"]}, which learned from {net["positions"]:,} positions and
knows the ranks of their players. Moves of weaker and stronger players in test games are foretold with every rank;
the table has the mean log-likelihood of what was played. *Own* is with each player's own rank, *gained* what 9d adds to
1d, move by move.

{_likelihoods(results)}

In {results["games"]:,} games on {size}×{size} it played itself without search, told one rank on one side and another
on the other; {results["distinct"]:,} of them differ and count.

{table(("told", "against", "won, %", "paper: by the scores of both"), _games(results))}

The paper's network, told a rank, against a network of ten layers without ranks:

{table(("told", "won, %"), paper)}

Differences from the paper:

{numbered((*differences(results["data"]), *_DIFFERENCES))}
"""


def _likelihoods(results: Json) -> str:
    ranks = [str(rank) for rank in range(WEAKEST, HIGHEST_RANK + 1)]
    lines = []
    for group, found in results["groups"].items():
        if found["positions"]:
            told = (f"{value:.3f}".replace("-", "−") for value in (*map(found["told"].get, ranks), found["own"]))
            lines.append((group, f"{found['positions']:,}", *told, format_rounded(thousandths(found))))
    header = ("moves of", "positions", *(f"{rank}d" for rank in ranks), "own", "gained, thousandths (95 %)")
    return table(header, lines)


def _games(results: Json) -> Iterator[tuple[str, ...]]:
    for (first, second), pair in scores(results).items():
        yield first, second, format_won(pair), format_value(implied(int(first.split()[0])))


_DIFFERENCES: Final = (
    "The paper's opponent was a network that knows no ranks. Ours is the same network told 1 dan; what the paper's "
    "scores against one opponent say of that is computed by Elo's curve.",
    f"Our games begin after {RANDOM_PLIES} random moves, and our own referee counts them.",
    "The paper does not say how likely it held the moves of weaker and stronger players.",
)

TABLE: Final = Table(NAME, "Table 3: the rank of the player", measure, rows, section)
