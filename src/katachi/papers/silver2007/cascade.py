"""The online cascade on and off (section 8), on 5×5 with all shapes up to 3×3."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from katachi.papers.documents import COLORS, estimate, format_mean, label_axes, plot, table
from katachi.papers.experiment import Budget, Json, Row, Run, Scope, Table, do_runs, seed_of
from katachi.papers.silver2007.figure4 import KOMI, PROTOCOLS, SIZE, sum_up
from katachi.papers.silver2007.learning_run import Protocol, learn
from katachi.papers.silver2007.sets import UP_TO_3X3

NAME: Final = "cascade"
RUN: Final = f"silver2007/{NAME}"
RUNS: Final = {Budget.SMOKE: 2, Budget.HOUR: 3, Budget.FULL: 10}
_WAYS: Final = {"off": False, "on": True}


def measure(scope: Scope) -> Json:
    """Do all runs, or what is missing; the paper's exact update in both."""
    protocol, count = PROTOCOLS[scope.budget], scope.runs or RUNS[scope.budget]
    runs = [_run(way, number, protocol) for number in range(count) for way in _WAYS]
    results = do_runs(runs, scope.folder, scope.workers, scope.watch)
    summaries = {way: sum_up(results[first :: len(_WAYS)], protocol) for first, way in enumerate(_WAYS)}
    return {"protocol": protocol.arguments, "runs": count, "cascade": summaries}


def _run(way: str, number: int, protocol: Protocol) -> Run:
    arguments = {
        "sets": list(UP_TO_3X3),
        "size": SIZE,
        "komi": KOMI,
        "seed": seed_of(NAME, number),  # the same for both ways
        "protocol": protocol.arguments,
        "mode": "online",
        "cascade": _WAYS[way],
    }
    return Run(f"{way} {number:02d}", learn, arguments, protocol.games)


def rows(results: Json) -> list[Row]:
    """Win rates with and without; the paper gives no figures."""
    return list(_rows(results))


def _rows(results: Json) -> Iterator[Row]:
    words = {"early": "after 1,000 games", "final": "at the end", "averaged": "at the end, averaged weights"}
    for way, found in results["cascade"].items():
        for key, when in words.items():
            if found[key]:
                mean, interval = estimate(found[key])
                what = f"cascade {way}: win rate against ALP {when}, %"
                yield Row(f"{NAME}/{way}/{key}", what, None, round(mean, 2), interval, RUN)


def section(results: Json, pictures: Path) -> str:
    """What it does, the curves, and the win rates."""
    protocol = Protocol(**results["protocol"])
    with plot(pictures / "cascade.svg") as (axes,):
        for (way, found), color in zip(results["cascade"].items(), (COLORS[4], COLORS[5]), strict=True):
            axes.plot(protocol.tests, found["curve"], color=color, linewidth=1, label=f"cascade {way}")
        axes.set_xscale("log")
        axes.set_ylim(0, 100)
        label_axes(axes, "Online cascade, mean over runs", "games", "win rate against ALP, %")
    header = ("cascade", "final, %", "averaged, %", "better agent, %")
    keys = ("final", "averaged", "better agent")
    lines = [(way, *(format_mean(estimate(found[key])) for key in keys)) for way, found in results["cascade"].items()]
    return f"""
With the cascade each set of shapes learns from an error of its own, that of the value which only the sets as or
more general give; so the general shapes take what they can explain. The paper introduces it for the sake of growing
boards and gives no figures. Here all {len(UP_TO_3X3)} sets up to 3×3 learn on {SIZE}×{SIZE}, otherwise as in Figure
4, in {results["runs"]} runs each.

![Online cascade on and off](silver2007/cascade.svg)

{table(header, lines)}
"""


TABLE: Final = Table(NAME, "Online cascade", measure, rows, section)
