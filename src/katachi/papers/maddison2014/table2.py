"""Table 2: what depth and width are worth, in moves foretold and in games against GNU Go without search."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from katachi.arena.records import GameRecord
from katachi.papers.documents import format_rounded, format_value, numbered, table
from katachi.papers.experiment import Budget, Json, Row, Scope, Table
from katachi.papers.games import describe_set, require_games
from katachi.papers.gnugo import gnugo, gnugo_name, gnugo_referee, has_gnugo
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
from katachi.papers.maddison2014.nets import MAIN, Learned, Net, ask_shipped, learn, top_1
from katachi.papers.tournaments import play_rounds, rounds

NAME: Final = "table2"
RUN: Final = f"maddison2014/{NAME}"
LEVEL: Final = 10
OPPONENT: Final = gnugo_name(LEVEL)


class Published(NamedTuple):
    """The paper's figures, in percent: moves foretold, games won against GNU Go, and the standard error of these."""

    top_1: float
    won: float
    error: float | None


PUBLISHED: Final = {
    "3×16": Published(37.5, 3.4, 1.1),
    "3×128": Published(48.0, 61.8, 2.6),
    "6×128": Published(51.2, 84.4, 1.9),
    "10×128": Published(54.5, 94.7, 1.2),
    "12×128": Published(55.2, 97.2, 0.9),
}
PUBLISHED_OTHERS: Final = {
    "Clark and Storkey, 8 layers": Published(44.4, 86, 2.5),
    "Aya, 2014": Published(38.8, 6, 1.0),
    "a human 6 dan": Published(52, 100, None),
}

PLANS: Final[Mapping[Budget, Mapping[Net, int]]] = {  # with games against GNU Go
    Budget.SMOKE: {MAIN[Budget.SMOKE]: 2, Net(6, 16, 12_800): 0},
    Budget.HOUR: {Net(3, 16, 1_000_000): 0, MAIN[Budget.HOUR]: 10},
    Budget.FULL: {
        Net(3, 16, 8_000_000): 200,
        Net(3, 16, 8_000_000, adamw=True): 200,
        MAIN[Budget.FULL]: 200,
    },
}
SHIPPED_GAMES: Final = {Budget.SMOKE: 2, Budget.HOUR: 60, Budget.FULL: 200}


def measure(scope: Scope) -> Json:
    """Learn, test, and play, if GNU Go is here; ``--runs`` is the number of games of those that play."""
    games = require_games(scope)
    plan = PLANS[scope.budget]
    learned = learn(plan, games, scope)
    shipped = ask_shipped(games, scope)
    results = {"data": games.describe(), "nets": [net.to_json() for net in (*learned.values(), *shipped)]}
    scope.keep(results | count_games([], []))
    playing = [(net, plan[made]) for made, net in learned.items()]
    playing += [(net, SHIPPED_GAMES[scope.budget]) for net in shipped]
    return _play([(net, scope.runs or count) for net, count in playing if count], results, scope)


def _play(playing: Sequence[tuple[Learned, int]], results: Json, scope: Scope) -> Json:
    """The results so far, and games if GNU Go is here."""
    if not has_gnugo():
        return results | count_games([], [])
    games = {player_name(net.title, net.positions): count for net, count in playing}
    players: dict[str, Json | str] = {OPPONENT: gnugo(LEVEL)}
    players |= zip(games, (policy_player(net.model) for net, _ in playing), strict=True)
    template = tournament(players, results["data"]["size"], scope, gnugo_referee(LEVEL))

    def count(records: Sequence[GameRecord]) -> Json:
        return results | count_games([*games, OPPONENT], records)

    return play_rounds(rounds(template, games), scope, count)


def player_name(title: str, positions: int | None) -> str:
    """What a network is called in games, and its file."""
    name = title.strip("`").replace("×", "x").replace(", ", "-").lower()
    return name if positions is None else f"{name}-{positions}"


def published(title: str) -> Published | None:
    """The paper's figures for a network of this shape, however ours learned."""
    shape, _, _ = title.partition(", ")
    return PUBLISHED.get(shape)


def rows(results: Json) -> list[Row]:
    """Moves foretold and games won by every network."""
    return [row for net in results["nets"] for row in _rows(net, results)]


def _rows(net: Json, results: Json) -> Iterator[Row]:
    name, found = player_name(net["title"], net["positions"]), top_1(net["tested"])
    paper = published(net["title"])
    what = f"{net['title']} after {format_value(net['positions'])} positions"
    yield Row(
        f"{NAME}/{name}/top-1",
        f"{what}: moves foretold, %",
        paper and paper.top_1,
        round(found.mean, 1),
        found.interval,
        RUN,
    )
    pair = scores(results).get((name, OPPONENT))
    if pair is not None:
        what += f" against {OPPONENT}: won, %"
        yield Row(f"{NAME}/{name}/won", what, paper and paper.won, round(pair.percent, 1), won(pair).interval, RUN)


def section(results: Json, pictures: Path) -> str:  # noqa: ARG001 — the tables say it all
    """How it was learned and played, ours, the paper's others, and the differences."""
    size = results["data"]["size"]
    return f"""
{describe_set(results["data"])} Networks of layers × filters learn by the paper's protocol: 36 planes, a softmax each
for Black and White, plain descent at 0.128 in batches of 128, positions turned and mirrored at random. Those by
AdamW come further in as many positions; their step size falls along a cosine.
{_play_text(size)}

{_table(results)}

The paper's other rows:

{table(("who", "top-1, %", f"won against {OPPONENT}, %"), map(_other_line, PUBLISHED_OTHERS))}

Differences from the paper:

{numbered((*differences(results["data"]), *_DIFFERENCES))}
"""


def _play_text(size: int) -> str:
    return (
        f"Those with games played {OPPONENT} on {size}×{size} without search, by Chinese rules, with GNU Go as the "
        f"referee, from {RANDOM_PLIES} random moves; games that came out the same count once."
    )


def _table(results: Json) -> str:
    header = ("net", "positions", "paper: top-1, %", "top-1, %", "top-5, %", "paper: won, %", "won, %")
    found = scores(results)
    lines = []
    for net in results["nets"]:
        tested, paper = net["tested"], published(net["title"])
        lines.append(
            (
                net["title"],
                format_value(net["positions"]),
                format_value(paper and paper.top_1),
                format_rounded(top_1(tested)),
                format_value(round(100 * tested["top"][4] / tested["positions"], 1)),
                format_value(paper and f"{paper.won} ± {paper.error}"),
                format_won(found.get((player_name(net["title"], net["positions"]), OPPONENT))),
            )
        )
    return table(header, lines)


def _other_line(who: str) -> tuple[str, str, str]:
    found = PUBLISHED_OTHERS[who]
    error = "" if found.error is None else f" ± {found.error}"
    return who, format_value(found.top_1), f"{found.won}{error}"


_DIFFERENCES: Final = (
    "The paper's networks saw thousands of times as many positions. Its larger ones would take days here; what depth "
    "and width are worth is asked in a table of its own.",
    f"Our games begin after {RANDOM_PLIES} random moves, because a network without search always plays the same. What "
    "the paper did is not said, but for the removal of games that came out the same.",
    "Our players never fill a simple eye of their own, and pass when the opponent has passed and counting would win.",
    "GNU Go captures what is dead before it passes.",
)

TABLE: Final = Table(NAME, "Table 2: depth, width, and games against GNU Go", measure, rows, section)
