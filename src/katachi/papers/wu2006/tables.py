"""Table 2: the probability of the moves that people made, on three board sizes, by a network that knows one of
them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from katachi.papers.documents import Estimate, format_rounded, format_value, numbered, share, table
from katachi.papers.experiment import Budget, Json, Row, Scope, Table
from katachi.papers.wu2006.moves import Question, ask
from katachi.papers.wu2006.nets import (
    DIFFERENCES,
    LARGE,
    PAPERS,
    STRONG,
    describe_sets,
    is_the_papers,
    learn,
    require_sets,
    shipped,
)

NAME: Final = "table2"
RUN: Final = f"wu2006/{NAME}"
QUESTIONS: Final = {9: Question(9), 13: Question(13), 19: Question(19, 80, 83)}
_LEAST: Final = 1e-6  # probability that an inverse is taken of
BEST: Final = 30  # moves, among which half of the paper's are at 80 stones
AMONG_BEST: Final = 0.5
MOVES: Final = {Budget.SMOKE: 20, Budget.HOUR: 2700, Budget.FULL: 7200}


class Published(NamedTuple):
    """The paper's figures, 1 / x, of the random player and of its network; and those of others."""

    random: float
    ours: float
    others: dict[str, float]


PUBLISHED: Final = {
    9: Published(62, 7, {}),
    13: Published(132, 10, {}),
    19: Published(281, 15, {"Boltzmann5 (Stern et al.)": 254, "BoltzmannLiberties (Stern et al.)": 194}),
}


def measure(scope: Scope) -> Json:
    """Learn all networks, and ask them and those that ship about the moves of each size that there are games of.

    ``--runs`` is the number of moves.
    """
    sets = require_sets(scope)
    papers = [learn(kind, sets, scope) for kind in PAPERS]
    nets = [*papers, learn("strong", sets, scope).judging_by_policy(), *shipped(by_policy=True)]
    results: Json = {"data": sets.describe(), "nets": [net.to_json() for net in nets], "boards": {}}
    for size, question in QUESTIONS.items():
        games = sets.of_size(question.size)
        if games is not None:
            count = scope.runs or MOVES[scope.budget]
            found = [ask(net, question, games, count, scope) for net in nets]
            results["boards"][str(size)] = {"name": games.path.name, "asked": found}
            scope.keep(results)
    return results


def rows(results: Json) -> list[Row]:
    """1 / x of every network and of random play, on every board."""
    return [row for size, board in results["boards"].items() for row in _rows(int(size), board, results["nets"])]


def _rows(size: int, board: Json, nets: list[Json]) -> Iterator[Row]:
    published, first = PUBLISHED[size], board["asked"][0]
    random = round(math.exp(-first["random_log"]), 1)
    yield Row(f"{NAME}/{size}/random", f"{size}×{size}, random: 1 / x", published.random, random, None, RUN)
    for net, asked in zip(nets, board["asked"], strict=True):
        low, high = (math.exp(-bound) for bound in reversed(asked["interval"]))
        name = net["title"].strip("`")
        known = published.ours if is_the_papers(net) else None
        what = f"{size}×{size}, {net['title']}: 1 / x"
        found = round(math.exp(-asked["mean_log"]), 2)
        yield Row(f"{NAME}/{size}/{name}", what, known, found, (round(low, 2), round(high, 2)), RUN)
        low, high = (_inverse(bound) for bound in reversed(asked["mean_interval"]))
        found = round(_inverse(asked["mean"]), 2)
        interval = (round(low, 2), round(high, 2))
        yield Row(f"{NAME}/{size}/{name}/arithmetic", f"{what}, arithmetic mean", known, found, interval, RUN)
        among = _among_best(asked)
        known = 100 * AMONG_BEST if size == LARGE and is_the_papers(net) else None
        what = f"{size}×{size}, {net['title']}: among the {BEST} best, %"
        yield Row(f"{NAME}/{size}/{name}/top-{BEST}", what, known, round(among.mean, 1), among.interval, RUN)


def _among_best(asked: Json) -> Estimate:
    return share(asked["top"][BEST - 1], asked["moves"])


def _inverse(likelihood: float) -> float:
    return 1 / max(likelihood, _LEAST)


def section(results: Json, pictures: Path) -> str:  # noqa: ARG001 — the table says it all
    """Who was asked about what, ours beside the paper's, and the differences."""
    boards = results["boards"].items()
    return f"""
{describe_sets(results["data"])} They are asked about the moves that people made in even games: any move of test games
on 9×9 and 13×13, moves 80 to 83 on 19×19, of players of {STRONG} and better where ranks are known. Moves are taken for
the likelier the more area they promise, at the temperature that fits the moves of validation games best; our own
networks are asked for their policies. A mean probability is given as 1 / x: the smaller x the better. Beside that
of the geometric mean, e to the mean of log p, stands that of the arithmetic mean, which has a temperature of its own.
The last column is how many of the moves are among the {BEST} that the network likes best.

{"".join(_board_table(int(size), board, results["nets"]) for size, board in boards)}

Differences from the paper:

{numbered((*DIFFERENCES, *_DIFFERENCES))}
"""


def _board_table(size: int, board: Json, nets: list[Json]) -> str:
    published, first = PUBLISHED[size], board["asked"][0]
    title = f"{size}×{size}, {first['moves']:,} moves of {first['games']:,} games of `{board['name']}`"
    header = (
        title,
        "learned from",
        "paper: x",
        "x",
        "log p",
        "temperature",
        "arithmetic: x",
        "temperature",
        f"among the best {BEST}, %",
    )
    random = (f"{math.exp(-first['random_log']):.0f}", f"{first['random_log']:.2f}".replace("-", "−"))
    nothing = ("",) * 3
    by_chance = f"{100 * first['random_top'][BEST - 1]:.0f}"
    lines: list[tuple[str, ...]] = [("random", "", format_value(published.random), *random, *nothing, by_chance)]
    lines += [(other, "", format_value(x), "", "", *nothing, "") for other, x in published.others.items()]
    lines += [_line(net, asked, published) for net, asked in zip(nets, board["asked"], strict=True)]
    return table(header, lines) + "\n"


def _line(net: Json, asked: Json, published: Published) -> tuple[str, ...]:
    low, high = (math.exp(-bound) for bound in reversed(asked["interval"]))
    least, most = (_inverse(bound) for bound in reversed(asked["mean_interval"]))
    geometric, arithmetic = asked["temperatures"]
    return (
        net["title"],
        f"{format_value(net['positions'])} positions",
        format_value(published.ours if is_the_papers(net) else None),
        f"{math.exp(-asked['mean_log']):.1f} ({low:.1f} … {high:.1f})",
        f"{asked['mean_log']:.2f}".replace("-", "−"),
        f"{geometric:.2f}",
        f"{_inverse(asked['mean']):.1f} ({least:.1f} … {most:.1f})",
        f"{arithmetic:.2f}",
        format_rounded(_among_best(asked)),
    )


def best_by_places(share: float, best: int, legal: int) -> float:
    """The largest geometric mean of probabilities by place if a share of moves is among the best.

    It is reached when all of that share is in the first place. The others are in any place after the best alike.
    """
    return math.pow(share, share) * math.pow((1 - share) / (legal - best), 1 - share)


_MOST: Final = best_by_places(AMONG_BEST, BEST, round(PUBLISHED[LARGE].random))

_DIFFERENCES: Final = (
    "The paper says neither which mean it takes nor at which temperature; ours are fitted to moves of other games of "
    "the same set and size. Its own figures speak for the arithmetic mean: half of the moves are among the best "
    f"{BEST} of 281 (Figure 2b); if all of these were in the first place and the others in any after the thirtieth "
    f"alike, the geometric mean of probabilities by place would be 1 / {1 / _MOST:.0f}.",
    "The paper's figures for 9×9 and 13×13 and that of Boltzmann5 are quoted from memory; we could not check them.",
    "That random play has 1 / 281 on 19×19 tells that the paper asked about positions with 80 stones and counts points "
    "alone; ours may have fewer stones, as some were captured.",
)

TABLE: Final = Table(NAME, "Table 2: the probability of human moves", measure, rows, section)
