"""How many parameters, connections and hidden units the paper's networks have."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from katachi.papers.documents import numbered, table
from katachi.papers.experiment import Json, Row, Scope, Table
from katachi.policy.config import CnnConfig

NAME: Final = "counts"
RUN: Final = f"maddison2014/{NAME}"
LARGEST: Final = "12x128"
SHAPES: Final = ("3x16", "3x64", "3x128", "6x128", "6x192", "10x128", LARGEST)
PUBLISHED: Final = {"parameters": "2.3 million", "connections": "630 million", "units": "550,000"}  # of the largest


def measure(scope: Scope) -> Json:  # noqa: ARG001 — counting takes no budget
    """Count everything."""
    return {"nets": {shape: _count(*map(int, shape.split("x"))) for shape in SHAPES}}


def _count(layers: int, filters: int) -> Json:
    net = CnnConfig.maddison(layers, filters)
    counts = (net.parameter_count(), net.connection_count(), net.unit_count())
    return dict(zip(PUBLISHED, counts, strict=True))


def rows(results: Json) -> list[Row]:
    """The counts of every network; the paper gives those of the largest, rounded."""
    return [
        Row(f"{NAME}/{shape}/{what}", f"{_title(shape)}: {what}", _published(shape, what), count, None, RUN)
        for shape, counts in results["nets"].items()
        for what, count in counts.items()
    ]


def _published(shape: str, what: str) -> str | None:
    return PUBLISHED[what] if shape == LARGEST else None


def _title(shape: str) -> str:
    return shape.replace("x", "×")


def section(results: Json, pictures: Path) -> str:  # noqa: ARG001 — there is nothing to draw
    """The table, and how the counts settle what the paper leaves open."""
    lines = [(_title(shape), *(f"{count:,}" for count in found.values())) for shape, found in results["nets"].items()]
    return f"""
Networks of so many layers × filters on 19×19 with 36 planes. The first layer has filters of 5×5, all others of 3×3, and
every filter has a bias for each point. A connection is one product in a convolution, a unit one output of a hidden
layer. The paper's figures are those of {_title(LARGEST)}: {", ".join(f"{n} {what}" for what, n in PUBLISHED.items())}.

{table(("net", *PUBLISHED), lines)}

Differences from the paper:

{numbered(_DIFFERENCES)}
"""


_DIFFERENCES: Final = (
    "The paper says neither how its biases are shared nor how the edge is padded. All three of its figures fit one "
    "reading: the 5×5 layer counts as a layer, every filter has a bias for each point, and the board is padded with "
    "zeros.",
    "The size of the output's filters is not given. We take 3×3; with 1×1 there would be 2,048 parameters fewer, which "
    "fits as well.",
)

TABLE: Final = Table(NAME, "The size of the networks", measure, rows, section)
