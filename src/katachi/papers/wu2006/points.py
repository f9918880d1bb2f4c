"""Points known right: whose each point became, over all phases of test games and at their end."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from katachi.core.models import load_dag_rnn
from katachi.data.dataset import Dataset
from katachi.papers.documents import Estimate, format_rounded, format_value, mean_of_many, numbered, table
from katachi.papers.experiment import Budget, Json, Row, Run, Scope, Table, do_runs
from katachi.papers.wu2006.nets import DIFFERENCES, TITLES, describe_sets, learn, require_sets, shipped
from katachi.sgf.splits import Split
from katachi.territory.territory_measuring import Known, measure_territory

NAME: Final = "points"
RUN: Final = f"wu2006/{NAME}"
POSITIONS: Final = {Budget.SMOKE: 50, Budget.HOUR: 5_000, Budget.FULL: 10_000}
# A convolutional network of 0.35 million parameters that learned from 15,000 professional games on 19×19 (GoCNN).
PUBLISHED: Final = {"all": 80.0, "end": 96.0}
_LARGE: Final = 19


def measure(scope: Scope) -> Json:
    """Learn all networks, and ask them and those that ship about every labeled set; ``--runs`` is the positions."""
    sets = require_sets(scope)
    nets = [*(learn(kind, sets, scope) for kind in TITLES), *shipped()]
    count = scope.runs or POSITIONS[scope.budget]
    results: Json = {"data": sets.describe(), "nets": [net.to_json() for net in nets], "sets": []}
    for games in sets.labeled_sets():
        if not games.select(split=Split.TEST, labeled=True).size:
            continue
        runs = [
            Run(
                f"{net.key}-{games.digest[:8]}-of-{count}",
                _measure,
                {"model": str(net.model), "data": str(games.path), "count": count},
                count,
            )
            for net in nets
        ]
        found = do_runs(runs, scope.folder, scope.workers, scope.watch)
        results["sets"].append({"name": games.path.name, "size": games.only_size(), "known": found})
        scope.keep(results)
    return results


def _measure(model: str, data: str, count: int) -> Json:
    territory, games = load_dag_rnn(model)[0], Dataset.open(data)
    every = measure_territory(territory, games, count)
    ended = measure_territory(territory, games, count, ended=True)
    return {
        "all": _tell(every),
        "end": _tell(ended),
        "phases": {phase: _tell(known) for phase, known in every.by_phase().items()},
    }


def _tell(known: Known) -> Json:
    found = mean_of_many(100 * known.shares)
    return {"mean": found.mean, "interval": found.interval, "positions": int(known.shares.size)}


def _estimate(told: Json) -> Estimate:
    return Estimate(told["mean"], tuple(told["interval"]))


def rows(results: Json) -> list[Row]:
    """The share over all phases and at the end, of every network on every set."""
    return [
        _row(net, games, known, when)
        for games in results["sets"]
        for net, known in zip(results["nets"], games["known"], strict=True)
        for when in PUBLISHED
    ]


def _row(net: Json, games: Json, known: Json, when: str) -> Row:
    found = _estimate(known[when])
    published = PUBLISHED[when] if games["size"] == _LARGE else None
    at = "over all phases" if when == "all" else "at the end"
    what = f"{net['title']} on {games['size']}×{games['size']}: points known {at}, %"
    name = f"{NAME}/{games['name']}/{net['title'].strip('`')}/{when}"
    return Row(name, what, published, round(found.mean, 1), found.interval, RUN)


def section(results: Json, pictures: Path) -> str:  # noqa: ARG001 — the tables say it all
    """A table for every set."""
    tables = "\n".join(_table(games, results["nets"]) for games in results["sets"])
    return f"""
{describe_sets(results["data"])} A point is known right if its owner in the end is the likelier one; points that nobody
owned do not count. Positions are random ones of test games, and the ends are those of as many games, if there are.
Phases are told by how full the board is. The paper gives no such figures; a convolutional network of 0.35 million
parameters that learned from about 15,000 professional games on 19×19 is said to know {PUBLISHED["all"]:g} % over all
phases and over {PUBLISHED["end"]:g} % at the end (GoCNN).

{tables}

Differences from the paper:

{numbered(DIFFERENCES)}
"""


def _table(games: Json, nets: list[Json]) -> str:
    phases = list(games["known"][0]["phases"])
    header = (f"`{games['name']}`, {games['size']}×{games['size']}", "learned from", "all, %", "at the end, %", *phases)
    lines = []
    for net, known in zip(nets, games["known"], strict=True):
        shares = [format_rounded(_estimate(known[when])) for when in PUBLISHED]
        by_phase = [f"{known['phases'][phase]['mean']:.1f}" if phase in known["phases"] else "" for phase in phases]
        lines.append((net["title"], f"{format_value(net['positions'])} positions", *shares, *by_phase))
    return table(header, lines)


TABLE: Final = Table(NAME, "Points known right", measure, rows, section)
