"""How many features there are: those of the paper's CRBM, and all templates as their baseline."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from katachi.crbm.features import Templates
from katachi.crbm.network import CrbmConfig
from katachi.papers.documents import format_value, table
from katachi.papers.experiment import Json, Row, Scope, Table

NAME: Final = "counts"
RUN: Final = f"largman2010/{NAME}"
PUBLISHED: Final = {"CRBM, 105 kernels of 3×3": 5_145, "all 2×2 templates": 5_184}


def measure(scope: Scope) -> Json:  # noqa: ARG001 — counting takes no budget
    """Count the features of all sets on 9×9."""
    crbm, templates = PUBLISHED
    return {
        "features": {
            crbm: CrbmConfig().feature_count,
            "the same, kernels in any orientation": CrbmConfig(units="oriented-or-off").feature_count,
            templates: Templates(9).size,
            "all 3×3 templates": Templates(9, side=3).size,
        }
    }


def rows(results: Json) -> list[Row]:
    """The size of every feature set."""
    return [
        Row(f"{NAME}/{number}", f"{name}: features on 9×9", PUBLISHED.get(name), count, None, RUN)
        for number, (name, count) in enumerate(results["features"].items(), start=1)
    ]


def section(results: Json, pictures: Path) -> str:  # noqa: ARG001 — there is nothing to draw
    """The counts beside the paper's."""
    lines = [
        (name, format_value(PUBLISHED.get(name)), format_value(count)) for name, count in results["features"].items()
    ]
    return f"""
A feature is a kernel, or a template, at one place of the board; nothing is shared between places.

{table(("features on 9×9", "paper", "ours"), lines)}
"""


TABLE: Final = Table(NAME, "The number of features", measure, rows, section)
