"""What depth and width are worth where all networks see as many positions: the paper's rows that are too slow to end.

On small boards a network learns several times as fast, so that this is best asked with games of 9×9.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from katachi.papers.documents import format_rounded, format_value, numbered, table
from katachi.papers.experiment import Budget, Json, Row, Scope, Table
from katachi.papers.games import describe_set, require_games
from katachi.papers.maddison2014.differences import differences
from katachi.papers.maddison2014.nets import Net, learn, top_1
from katachi.papers.maddison2014.table2 import published
from katachi.policy.config import CnnConfig

NAME: Final = "trend"
RUN: Final = f"maddison2014/{NAME}"
_PAPER: Final = ((3, 16), (3, 128), (6, 128), (10, 128), (12, 128))
NETS: Final = {
    Budget.SMOKE: [Net(*shape, 6_400, adamw=True) for shape in ((3, 16), (6, 16))],
    Budget.HOUR: [Net(*shape, 200_000, adamw=True) for shape in ((3, 16), (3, 64), (3, 128), (6, 128))],
    Budget.FULL: [Net(*shape, 2_000_000, adamw=True) for shape in _PAPER],
}


def measure(scope: Scope) -> Json:
    """Learn and test all of them."""
    games = require_games(scope)
    learned = learn(NETS[scope.budget], games, scope)
    nets = [
        {"parameters": CnnConfig.maddison(net.layers, net.filters, size=games.size).parameter_count()} | found.to_json()
        for net, found in learned.items()
    ]
    return {"data": games.describe(), "nets": nets}


def rows(results: Json) -> list[Row]:
    """Moves foretold by every network."""
    return [_row(net, results["data"]["size"]) for net in results["nets"]]


def _row(net: Json, size: int) -> Row:
    found = top_1(net["tested"])
    what = f"{net['title']} after {net['positions']:,} positions of {size}×{size}: moves foretold, %"
    return Row(f"{NAME}/{_shape(net).replace('×', 'x')}", what, None, round(found.mean, 1), found.interval, RUN)


def _shape(net: Json) -> str:
    return str(net["title"]).partition(", ")[0]


def section(results: Json, pictures: Path) -> str:  # noqa: ARG001 — the table says it all
    """How they learned, and the table."""
    header = ("net", "parameters", "positions", "top-1, %", "loss", "paper on 19×19: top-1, %")
    return f"""
{describe_set(results["data"])} Networks of layers × filters with the paper's 36 planes all learn from the same
positions, by AdamW with a step size that falls along a cosine.

{table(header, map(_line, results["nets"]))}

Differences from the paper:

{numbered((*differences(results["data"]), *_DIFFERENCES))}
"""


def _line(net: Json) -> tuple[str, ...]:
    tested, paper = net["tested"], published(net["title"])
    return (
        _shape(net),
        f"{net['parameters']:,}",
        f"{net['positions']:,}",
        format_rounded(top_1(tested)),
        f"{tested['loss']:.3f}",
        format_value(paper and paper.top_1),
    )


_DIFFERENCES: Final = (
    "Ours learn by AdamW, with smaller steps for wider networks. Larger networks gain more from more positions than "
    "these have seen: it is the order that can be compared, not the distance.",
)

TABLE: Final = Table(NAME, "Depth and width after as many positions", measure, rows, section)
