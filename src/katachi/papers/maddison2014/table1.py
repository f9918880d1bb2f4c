"""Table 1: whether it helps that all filters are symmetric, with nine planes and the same positions for both."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Final

from katachi.papers.documents import format_rounded, format_value, numbered, table
from katachi.papers.experiment import Budget, Json, Row, Scope, Table
from katachi.papers.games import describe_set, require_games
from katachi.papers.maddison2014.differences import differences
from katachi.papers.maddison2014.nets import Net, learn, top_1

NAME: Final = "table1"
RUN: Final = f"maddison2014/{NAME}"
PLANES: Final = "maddison-9"
NETS: Final = {
    Budget.SMOKE: Net(3, 16, 6_400, PLANES),
    Budget.HOUR: Net(3, 32, 200_000, PLANES),
    Budget.FULL: Net(3, 64, 2_000_000, PLANES),
}
KINDS: Final = {"free": False, "symmetric": True}
PUBLISHED: Final = {"3×64": {"free": 43.3, "symmetric": 44.3}, "6×192": {"free": 49.6, "symmetric": 49.4}}


def measure(scope: Scope) -> Json:
    """Learn and test both."""
    games = require_games(scope)
    nets = {kind: replace(NETS[scope.budget], symmetric=symmetric) for kind, symmetric in KINDS.items()}
    learned = learn(nets.values(), games, scope)
    return {"data": games.describe(), "nets": {kind: learned[net].to_json() for kind, net in nets.items()}}


def rows(results: Json) -> list[Row]:
    """Moves foretold with both kinds of filters."""
    return [_row(kind, net) for kind, net in results["nets"].items()]


def _row(kind: str, net: Json) -> Row:
    found = top_1(net["tested"])
    what = f"{net['title']}, {kind} filters, after {net['positions']:,} positions: moves foretold, %"
    return Row(f"{NAME}/{kind}", what, _published(kind, net), round(found.mean, 1), found.interval, RUN)


def _published(kind: str, net: Json) -> float | None:
    return PUBLISHED.get(net["title"], {}).get(kind)


def section(results: Json, pictures: Path) -> str:  # noqa: ARG001 — the tables say it all
    """How it was learned, both, and the paper's."""
    lines = [
        (f"{net['title']}, {kind}", f"{net['positions']:,}", *_cells(kind, net))
        for kind, net in results["nets"].items()
    ]
    paper = [(shape, *map(format_value, found.values())) for shape, found in PUBLISHED.items()]
    return f"""
{describe_set(results["data"])} Both networks see the same positions in the same order, and are tested with the same.
They see nine planes: stones, liberties, legal moves and the last move. *Symmetric* filters and bias maps are the mean
of their eight symmetries; both kinds learn from positions that are turned and mirrored at random.

{table(("net", "positions", "paper: top-1, %", "top-1, %", "loss"), lines)}

The paper's networks:

{table(("net", *(f"{kind}, top-1, %" for kind in KINDS)), paper)}

Differences from the paper:

{numbered((*differences(results["data"]), *_DIFFERENCES))}
"""


def _cells(kind: str, net: Json) -> tuple[str, str, str]:
    tested = net["tested"]
    return format_value(_published(kind, net)), format_rounded(top_1(tested)), f"{tested['loss']:.3f}"


_DIFFERENCES: Final = (
    "The paper lists the planes that it leaves out; that nine are left is our reading.",
    "The paper sums gradients over the symmetries. We learn free filters whose mean over the symmetries is used, which "
    "is the same up to the step size, and begin with filters as large as the others' are.",
    "The paper's larger pair, 6×192, is not learned here.",
)

TABLE: Final = Table(NAME, "Table 1: symmetric filters", measure, rows, section)
