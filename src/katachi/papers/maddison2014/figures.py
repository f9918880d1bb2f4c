"""The sizes of the networks, and how well they predict: top-n accuracy, learning curves, depth and width."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np

from katachi.core.training import METRICS
from katachi.papers.documents import COLORS, format_rounded, format_value, label_axes, plot, table
from katachi.papers.experiment import Budget, Json, Row, Scope, Table
from katachi.papers.maddison2014.nets import (
    MAIN,
    NETS,
    Net,
    accuracy,
    ask_pretrained,
    describe_tested,
    learn,
    pretrained_networks,
)
from katachi.papers.maddison2014.tables import LearnedTable, published
from katachi.papers.tournaments import describe_set, require_games
from katachi.policy.config import PolicyConfig
from katachi.policy.measure import TOP

# How many parameters, connections and hidden units the paper's networks have.

LARGEST: Final = "12x128"
SHAPES: Final = ("3x16", "3x64", "3x128", "6x128", "6x192", "10x128", LARGEST)
# Of the largest network.
COUNTS_PUBLISHED: Final = {"parameters": "2.3 million", "connections": "630 million", "units": "550,000"}


class Counts(Table):
    name = "counts"
    title = "The size of the networks"
    own_differences = (
        "The paper says neither how its biases are shared nor how the edge is padded. All three of its figures fit "
        "one reading: the 5×5 layer counts as a layer, every filter has a bias for each point, and the board is "
        "padded with zeros.",
        "The size of the output's filters is not given. We take 3×3; with 1×1 there would be 2,048 parameters fewer, "
        "which fits as well.",
    )

    def measure(self, scope: Scope) -> Json:  # noqa: ARG002 — counting takes no budget
        """Count everything."""
        return {"nets": {shape: self._count(*map(int, shape.split("x"))) for shape in SHAPES}}

    def _count(self, layers: int, filters: int) -> Json:
        net = PolicyConfig.maddison(layers, filters)
        counts = (net.parameter_count(), net.connection_count(), net.unit_count())
        return dict(zip(COUNTS_PUBLISHED, counts, strict=True))

    def rows(self, results: Json) -> list[Row]:
        """The counts of every network; the paper gives those of the largest, rounded."""
        return [
            Row(
                f"{self.name}/{shape}/{what}",
                f"{self._title(shape)}: {what}",
                COUNTS_PUBLISHED[what] if shape == LARGEST else None,
                count,
                None,
            )
            for shape, counts in results["nets"].items()
            for what, count in counts.items()
        ]

    def _title(self, shape: str) -> str:
        return shape.replace("x", "×")

    def section(self, results: Json) -> str:
        """The table, and how the counts settle what the paper leaves open."""
        lines = [
            (self._title(shape), *(f"{count:,}" for count in found.values()))
            for shape, found in results["nets"].items()
        ]
        return f"""
Networks of so many layers × filters on 19×19 with 36 planes. The first layer has filters of 5×5, all others of 3×3, and
every filter has a bias for each point. A connection is one product in a convolution, a unit one output of a hidden
layer. The paper's figures are those of {self._title(LARGEST)}:
{", ".join(f"{n} {what}" for what, n in COUNTS_PUBLISHED.items())}.

{table(("net", *COUNTS_PUBLISHED), lines)}
"""


TIMES: Final = 10  # more positions
_SAID: Final = f"{TIMES} times the positions"


def promise(curve: list[list[float]]) -> tuple[float, float] | None:
    """What ten times the positions promise, in percent: by a power law of the top-1 error, and by a straight line.

    Both are fitted over the logarithm of positions, to the last tenfold of them; None if there are too few.
    """
    positions, shares = np.array(curve).T
    late = positions >= positions[-1] / TIMES
    if np.count_nonzero(late) < 3:  # two of them are any line
        return None
    seen, then = np.log(positions[late]), np.log(positions[-1] * TIMES)
    missed = np.polyval(np.polyfit(seen, np.log(1 - shares[late]), 1), then)
    straight = np.polyval(np.polyfit(seen, shares[late], 1), then)
    return 100 * (1 - float(np.exp(missed))), 100 * float(straight)


class Curve(LearnedTable):
    name = "curve"
    title = "What more positions would bring"
    own_differences = (
        "The paper has no such curve. A promise is not a measurement: within a schedule the learning rate falls, "
        "which lifts the end of every curve, and a network of a given size has a ceiling that neither law knows of.",
        "Held-out positions are few: a point of a curve is uncertain by a percent or so.",
    )

    def measure(self, scope: Scope) -> Json:
        """The curves of the bundled networks, and of those that this run has learned so far."""
        games = require_games(scope)
        learned = sorted((scope.folder.parent / NETS).glob(f"*-{games.digest}"))
        folders = {f"`{name}`": path for name, path in pretrained_networks(games.size).items()}
        folders |= {path.name.removesuffix(f"-{games.digest}"): path for path in learned}
        curves = {title: self._read(path / METRICS) for title, path in folders.items()}
        return {"data": games.describe(), "nets": {title: found for title, found in curves.items() if found}}

    def _read(self, metrics: Path) -> list[list[float]]:
        """Positions, and the top-1 accuracy on held-out moves."""
        if not metrics.is_file():
            return []
        lines = [json.loads(line) for line in metrics.read_text(encoding="utf-8").splitlines()]
        return [[line["positions"], line["validation_top_1"]] for line in lines]

    def rows(self, results: Json) -> list[Row]:
        """The last accuracy of every network, and what it promises."""
        return [row for title, curve in results["nets"].items() for row in self._rows(title, curve)]

    def _rows(self, title: str, curve: list[list[float]]) -> list[Row]:
        name, (positions, share) = title.strip("`"), curve[-1]
        what = f"{title} after {format_value(positions)} positions: held-out top-1 accuracy, %"
        found = [Row(f"{self.name}/{name}", what, None, round(100 * share, 1), None)]
        promised = promise(curve)
        if promised is not None:
            what = f"{title} after {_SAID}: promised by a power law, %"
            found.append(Row(f"{self.name}/{name}/promised", what, None, round(promised[0], 1), None))
        return found

    def section(self, results: Json) -> str:
        """The curves, what they promise, and how far to trust it."""
        header = (
            "net",
            "positions",
            "held-out top-1 accuracy, %",
            "promised by a power law, %",
            "by a straight line, %",
        )
        return f"""
{describe_set(results["data"])} Top-1 accuracy in the course of training on a few thousand moves of games that are
neither learned from nor tested with.

![Top-1 accuracy by positions seen](maddison2014/{self.name}.svg)

What {_SAID} promise is read off the last tenfold of the curve: if the top-1 error falls by
a power law of positions, or if top-1 accuracy grows by their logarithm.

{table(header, (self._line(*net) for net in results["nets"].items()))}
"""

    def _line(self, title: str, curve: list[list[float]]) -> tuple[str, ...]:
        positions, share = curve[-1]
        promised = promise(curve) or (None, None)
        return title, f"{positions:,}", *(format_value(value and round(value, 1)) for value in (100 * share, *promised))

    def draw(self, results: Json, pictures: Path) -> None:
        """Draw the picture."""
        with plot(pictures / f"{self.name}.svg") as (axes,):
            for number, (title, curve) in enumerate(results["nets"].items()):
                color = COLORS[(number + 1) % len(COLORS)]
                positions, shares = np.array(curve).T
                axes.plot(positions, 100 * shares, color=color, label=self._label(title))
                promised = promise(curve)
                if promised is not None:
                    axes.plot([positions[-1], positions[-1] * TIMES], [100 * shares[-1], promised[0]], ":", color=color)
            axes.set_xscale("log")
            label_axes(axes, "Top-1 accuracy by positions seen", "positions", "%")

    def _label(self, title: str) -> str:
        """A name that is short enough for a legend: the plot shows how many positions were seen."""
        return title.strip("`") if title.startswith("`") else title.rpartition("-")[0]


# Figure 1: top-n accuracy, also by rank and phase.

FIGURE1_PUBLISHED: Final = {1: 55.2, 10: 94.0}  # percent among so many, of the network of 12 layers
SHOWN: Final = (1, 2, 3, 5, 10, 20)
_SPARE_COLORS: Final = COLORS[1:]  # black is the paper's


class Figure1(LearnedTable):
    name = "figure1"
    title = "Figure 1: top-n accuracy"
    own_differences = (
        "The paper draws its curve without figures; only those two are in its text.",
        "Phases and ranks are ours: the paper does not tell them apart.",
    )

    def measure(self, scope: Scope) -> Json:
        """Learn and test the network of the budget, and test the bundled ones."""
        games = require_games(scope)
        main = MAIN[scope.budget]
        nets = [learn([main], games, scope)[main], *ask_pretrained(games, scope)]
        return {"data": games.describe(), "nets": [net.to_json() for net in nets]}

    def rows(self, results: Json) -> list[Row]:
        """The points of the curve that a reader asks for, for every network."""
        return [self._row(net, places) for net in results["nets"] for places in SHOWN]

    def _row(self, net: Json, places: int) -> Row:
        found = accuracy(net["tested"], places)
        what = f"{net['title']}: top-{places} accuracy, %"
        name = f"{self.name}/{net['title'].strip('`').replace('×', 'x')}/top-{places}"
        return Row.measured(name, what, FIGURE1_PUBLISHED.get(places), found)

    def section(self, results: Json) -> str:
        """The curve, its points, and top-1 accuracy by phase and by rank."""
        header = ("net", "positions", *(f"top-{places}, %" for places in SHOWN), "loss")
        return f"""
{describe_set(results["data"])} How often the move that was played was among a network's n most probable ones,
in {describe_tested(results["nets"][0]["tested"])}. The paper says that of its network of 12 layers for n = 10
({FIGURE1_PUBLISHED[10]:g} %) and n = 1 ({FIGURE1_PUBLISHED[1]:g} %).

![Top-n accuracy](maddison2014/{self.name}.svg)

{table(header, map(self._line, results["nets"]))}

Top-1 accuracy by phase of the game (on 19×19 they begin with moves 61 and 151) and by the rank of the player to move:

{table(("", *(f"{net['title']}, %" for net in results["nets"])), self._parts(results))}
"""

    def _line(self, net: Json) -> tuple[str, ...]:
        tested = net["tested"]
        shares = (format_value(round(100 * tested["top"][places - 1] / tested["positions"], 1)) for places in SHOWN)
        return net["title"], format_value(net["positions"]), *shares, f"{tested['loss']:.3f}"

    def _parts(self, results: Json) -> Iterator[tuple[str, ...]]:
        """A line for every phase and every rank that there is; all networks met the same positions."""
        for kind in ("phases", "ranks"):
            for part in results["nets"][0]["tested"][kind]:
                yield part, *(format_rounded(accuracy(net["tested"][kind][part])) for net in results["nets"])

    def draw(self, results: Json, pictures: Path) -> None:
        """Draw the picture."""
        with plot(pictures / f"{self.name}.svg") as (axes,):
            for net, color in zip(results["nets"], _SPARE_COLORS, strict=False):
                self._draw_curve(axes, net, color)
            axes.plot(*zip(*FIGURE1_PUBLISHED.items(), strict=True), "o", color=COLORS[0], label="paper, 12×128")
            axes.set_ylim(0, 100)
            label_axes(axes, "Top-n accuracy", "n", "%")

    def _draw_curve(self, axes: Any, net: Json, color: str) -> None:
        shares = [100 * hits / net["tested"]["positions"] for hits in net["tested"]["top"]]
        axes.plot(range(1, TOP + 1), shares, color=color, marker=".", label=net["title"].strip("`"))


# What depth and width are worth where all networks see as many positions: the paper's rows that are too slow to end.
#
# On small boards a network learns several times as fast, so that this is best asked with games of 9×9.

_PAPER: Final = ((3, 16), (3, 128), (6, 128), (10, 128), (12, 128))
TREND_NETS: Final = {
    Budget.SMOKE: [Net(*shape, 6_400, adamw=True) for shape in ((3, 16), (6, 16))],
    Budget.HOUR: [Net(*shape, 200_000, adamw=True) for shape in ((3, 16), (3, 64), (3, 128), (6, 128))],
    Budget.FULL: [Net(*shape, 2_000_000, adamw=True) for shape in _PAPER],
}


class Trend(LearnedTable):
    name = "trend"
    title = "Depth and width after as many positions"
    own_differences = (
        "Ours learn by AdamW, with smaller steps for wider networks. Larger networks gain more from more positions "
        "than these have seen: it is the order that can be compared, not the distance.",
    )

    def measure(self, scope: Scope) -> Json:
        """Learn and test all of them."""
        games = require_games(scope)
        learned = learn(TREND_NETS[scope.budget], games, scope)
        nets = [
            {"parameters": PolicyConfig.maddison(net.layers, net.filters, size=games.size).parameter_count()}
            | found.to_json()
            for net, found in learned.items()
        ]
        return {"data": games.describe(), "nets": nets}

    def rows(self, results: Json) -> list[Row]:
        """The top-1 accuracy of every network."""
        return [self._row(net, results["data"]["size"]) for net in results["nets"]]

    def _row(self, net: Json, size: int) -> Row:
        found = accuracy(net["tested"])
        what = f"{net['title']} after {net['positions']:,} positions of {size}×{size}: top-1 accuracy, %"
        return Row.measured(f"{self.name}/{self._shape(net).replace('×', 'x')}", what, None, found)

    def _shape(self, net: Json) -> str:
        return str(net["title"]).partition(", ")[0]

    def section(self, results: Json) -> str:
        """How they learned, and the table."""
        header = ("net", "parameters", "positions", "top-1, %", "loss", "paper on 19×19: top-1, %")
        return f"""
{describe_set(results["data"])} Networks of layers × filters with the paper's 36 planes all learn from the same
positions, by AdamW with a learning rate that falls along a cosine.

{table(header, map(self._line, results["nets"]))}
"""

    def _line(self, net: Json) -> tuple[str, ...]:
        tested, paper = net["tested"], published(net["title"])
        return (
            self._shape(net),
            f"{net['parameters']:,}",
            f"{net['positions']:,}",
            format_rounded(accuracy(tested)),
            f"{tested['loss']:.3f}",
            format_value(paper and paper.top_1),
        )
