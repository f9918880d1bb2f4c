"""Figure 1: how often the move that was played is among the n likeliest; and what was foretold by rank and phase."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from katachi.papers.documents import COLORS, format_rounded, format_value, label_axes, numbered, plot, share, table
from katachi.papers.experiment import Json, Row, Scope, Table
from katachi.papers.games import describe_set, require_games
from katachi.papers.maddison2014.differences import differences
from katachi.papers.maddison2014.nets import MAIN, ask_shipped, learn, top_1
from katachi.policy.measure import TOP

NAME: Final = "figure1"
RUN: Final = f"maddison2014/{NAME}"
PUBLISHED: Final = {1: 55.2, 10: 94.0}  # percent among so many, of the network of 12 layers
SHOWN: Final = (1, 2, 3, 5, 10, 20)
_SPARE_COLORS: Final = COLORS[1:]  # black is the paper's


def measure(scope: Scope) -> Json:
    """Learn and test the network of the budget, and test those that ship."""
    games = require_games(scope)
    main = MAIN[scope.budget]
    nets = [learn([main], games, scope)[main], *ask_shipped(games, scope)]
    return {"data": games.describe(), "nets": [net.to_json() for net in nets]}


def rows(results: Json) -> list[Row]:
    """The points of the curve that a reader asks for, for every network."""
    return [_row(net, places) for net in results["nets"] for places in SHOWN]


def _row(net: Json, places: int) -> Row:
    found = share(net["tested"]["top"][places - 1], net["tested"]["positions"])
    what = f"{net['title']}: among the {places} likeliest, %" if places > 1 else f"{net['title']}: the likeliest, %"
    name = f"{NAME}/{net['title'].strip('`').replace('×', 'x')}/top-{places}"
    return Row(name, what, PUBLISHED.get(places), round(found.mean, 1), found.interval, RUN)


def section(results: Json, pictures: Path) -> str:
    """The curve, its points, and what was foretold by phase and by rank."""
    _draw(results, pictures / f"{NAME}.svg")
    header = ("net", "positions", *(f"top-{places}, %" for places in SHOWN), "loss")
    return f"""
{describe_set(results["data"])} How often the move that was played was among the n that a network held for likeliest.
The paper says that of its network of 12 layers for n = 10 ({PUBLISHED[10]:g} %) and n = 1 ({PUBLISHED[1]:g} %).

![The share of moves among the n likeliest](maddison2014/{NAME}.svg)

{table(header, map(_line, results["nets"]))}

The likeliest move was played so often, by phase of the game (on 19×19 they begin with moves 61 and 151) and by the rank
of the player to move:

{table(("", *(f"{net['title']}, %" for net in results["nets"])), _parts(results))}

Differences from the paper:

{numbered((*differences(results["data"]), *_DIFFERENCES))}
"""


def _line(net: Json) -> tuple[str, ...]:
    tested = net["tested"]
    shares = (format_value(round(100 * tested["top"][places - 1] / tested["positions"], 1)) for places in SHOWN)
    return net["title"], format_value(net["positions"]), *shares, f"{tested['loss']:.3f}"


def _parts(results: Json) -> Iterator[tuple[str, ...]]:
    """A line for every phase and every rank that there is; all networks met the same positions."""
    for kind in ("phases", "ranks"):
        for part in results["nets"][0]["tested"][kind]:
            yield part, *(format_rounded(top_1(net["tested"][kind][part])) for net in results["nets"])


def _draw(results: Json, path: Path) -> None:
    with plot(path) as (axes,):
        for net, color in zip(results["nets"], _SPARE_COLORS, strict=False):
            _draw_curve(axes, net, color)
        axes.plot(*zip(*PUBLISHED.items(), strict=True), "o", color=COLORS[0], label="paper, 12×128")
        axes.set_ylim(0, 100)
        label_axes(axes, "Moves among the n likeliest", "n", "%")


def _draw_curve(axes: Any, net: Json, color: str) -> None:
    shares = [100 * hits / net["tested"]["positions"] for hits in net["tested"]["top"]]
    axes.plot(range(1, TOP + 1), shares, color=color, marker=".", label=net["title"].strip("`"))


_DIFFERENCES: Final = (
    "The paper draws its curve without figures; only those two are in its text.",
    "Phases and ranks are ours: the paper does not tell them apart.",
)

TABLE: Final = Table(NAME, "Figure 1: among the n likeliest", measure, rows, section)
