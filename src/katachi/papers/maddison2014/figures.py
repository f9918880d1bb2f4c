"""How moves foretold grow with positions seen, and what that promises for ten times as many."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

import numpy as np

from katachi.core.training import METRICS
from katachi.papers.documents import COLORS, format_value, label_axes, numbered, plot, table
from katachi.papers.experiment import Json, Row, Scope, Table
from katachi.papers.games import describe_set, require_games
from katachi.papers.maddison2014.differences import differences
from katachi.papers.maddison2014.nets import NETS, shipped_nets

NAME: Final = "curve"
RUN: Final = f"maddison2014/{NAME}"
TIMES: Final = 10  # more positions
_SAID: Final = f"{TIMES} times the positions"


def measure(scope: Scope) -> Json:
    """The curves of the networks that ship, and of those that this run has learned so far."""
    games = require_games(scope)
    learned = sorted((scope.folder.parent / NETS).glob(f"*-{games.digest}"))
    folders = {f"`{name}`": path for name, path in shipped_nets(games.size).items()}
    folders |= {path.name.removesuffix(f"-{games.digest}"): path for path in learned}
    curves = {title: _read(path / METRICS) for title, path in folders.items()}
    return {"data": games.describe(), "nets": {title: found for title, found in curves.items() if found}}


def _read(metrics: Path) -> list[list[float]]:
    """Positions, and the share of held-out moves that were the likeliest."""
    if not metrics.is_file():
        return []
    lines = [json.loads(line) for line in metrics.read_text(encoding="utf-8").splitlines()]
    return [[line["positions"], line["validation_top_1"]] for line in lines]


def promise(curve: list[list[float]]) -> tuple[float, float] | None:
    """What ten times the positions promise, in percent: by a power law of moves not foretold, and by a straight line.

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


def rows(results: Json) -> list[Row]:
    """What every network foretold last, and what it promises."""
    return [row for title, curve in results["nets"].items() for row in _rows(title, curve)]


def _rows(title: str, curve: list[list[float]]) -> list[Row]:
    name, (positions, share) = title.strip("`"), curve[-1]
    what = f"{title} after {format_value(positions)} positions: held-out moves foretold, %"
    found = [Row(f"{NAME}/{name}", what, None, round(100 * share, 1), None, RUN)]
    promised = promise(curve)
    if promised is not None:
        what = f"{title} after {_SAID}: promised by a power law, %"
        found.append(Row(f"{NAME}/{name}/promised", what, None, round(promised[0], 1), None, RUN))
    return found


def section(results: Json, pictures: Path) -> str:
    """The curves, what they promise, and how far to trust it."""
    _draw(results, pictures / f"{NAME}.svg")
    header = ("net", "positions", "held-out moves foretold, %", "promised by a power law, %", "by a straight line, %")
    return f"""
{describe_set(results["data"])} How many of a few thousand held-out moves, from games that are neither learned from nor
tested with, were held for likeliest in the course of training.

![Moves foretold by positions seen](maddison2014/{NAME}.svg)

What {_SAID} promise is read off the last tenfold of the curve: if moves that were not foretold
grow fewer by a power law of positions, or if moves foretold grow by the logarithm of positions.

{table(header, (_line(*net) for net in results["nets"].items()))}

Differences from the paper:

{numbered((*differences(results["data"]), *_DIFFERENCES))}
"""


def _line(title: str, curve: list[list[float]]) -> tuple[str, ...]:
    positions, share = curve[-1]
    promised = promise(curve) or (None, None)
    return title, f"{positions:,}", *(format_value(value and round(value, 1)) for value in (100 * share, *promised))


def _draw(results: Json, path: Path) -> None:
    with plot(path) as (axes,):
        for number, (title, curve) in enumerate(results["nets"].items()):
            color = COLORS[(number + 1) % len(COLORS)]
            positions, shares = np.array(curve).T
            axes.plot(positions, 100 * shares, color=color, label=_label(title))
            promised = promise(curve)
            if promised is not None:
                axes.plot([positions[-1], positions[-1] * TIMES], [100 * shares[-1], promised[0]], ":", color=color)
        axes.set_xscale("log")
        label_axes(axes, "Moves foretold by positions seen", "positions", "%")


def _label(title: str) -> str:
    """A name that is short enough for a legend: the plot shows how many positions were seen."""
    return title.strip("`") if title.startswith("`") else title.rpartition("-")[0]


_DIFFERENCES: Final = (
    "The paper has no such curve. A promise is no measurement: within a schedule the step size falls, which lifts the "
    "end of every curve, and a network of a given size has a ceiling that neither law knows of.",
    "Held-out positions are few: a point of a curve is uncertain by a percent or so.",
)

TABLE: Final = Table(NAME, "What more positions would bring", measure, rows, section)
