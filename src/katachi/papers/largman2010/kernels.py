"""What kernels look for (D4, D5): pictures of multinomial and real-valued units, and how much free points matter."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from katachi.core.cards import Metric
from katachi.core.disk import write_atomically
from katachi.core.models import load_crbm
from katachi.crbm.drawing import DrawnKernel, NamedCrbm, draw_kernels, rank_kernels
from katachi.crbm.evaluator import SavedCrbm
from katachi.crbm.network import CrbmConfig
from katachi.papers.documents import Estimate, estimate, format_rounded, format_value, numbered, table
from katachi.papers.experiment import Json, Row, Scope, Table
from katachi.papers.games import require_games
from katachi.papers.largman2010.learned import Kind, Subject, learn_features

NAME: Final = "kernels"
RUN: Final = f"largman2010/{NAME}"
TITLES: Final = {Kind.CRBM: "multinomial", Kind.REAL: "real-valued"}
SHOWN: Final = 16

_FREE: Final = 2  # the channel


def measure(scope: Scope) -> Json:
    """Learn one CRBM of each kind, and keep what is drawn and counted of it."""
    games = require_games(scope)
    subjects = {title: Subject(kind) for kind, title in TITLES.items()}
    learn_features(subjects.values(), games, scope)
    found = {title: _describe(*_load(subject.features(games, scope))) for title, subject in subjects.items()}
    return {"data": games.describe(), "crbms": found}


def _load(path: str) -> tuple[SavedCrbm, dict[str, Metric]]:
    saved, card = load_crbm(path)
    return saved, card.metrics


def _describe(crbm: SavedCrbm, metrics: dict[str, Metric]) -> Json:
    every = rank_kernels(crbm, crbm.config.kernels)
    return {
        "reconstruction error": metrics["validation reconstruction error"].value,
        "free": [round(_share_of_free(kernel), 4) for kernel in every],
        "shown": [_to_json(kernel) for kernel in every[:SHOWN]],
    }


def _share_of_free(kernel: DrawnKernel) -> float:
    """How much of a kernel's weight, in squares, is for or against free points; a third if all states matter alike."""
    squares: NDArray[Any] = (kernel.channels.astype(np.float64) ** 2).sum(axis=(1, 2))
    return float(squares[_FREE] / max(squares.sum(), np.finfo(float).tiny))


def _to_json(kernel: DrawnKernel) -> Json:
    return {"use": round(kernel.use or 0.0, 4), "channels": np.round(kernel.channels, 3).tolist()}


def _share(found: Json) -> Estimate:
    mean, interval = estimate([100 * share for share in found["free"]])
    return Estimate(mean, interval)


def rows(results: Json) -> list[Row]:
    """The share of free points in the weights of each kind."""
    return [
        Row(
            f"{NAME}/{title}/free",
            f"{title} units: share of kernels' weight for or against free points, %",
            None,
            round(_share(found).mean, 1),
            _share(found).interval,
            RUN,
        )
        for title, found in results["crbms"].items()
    ]


def section(results: Json, pictures: Path) -> str:
    """The pictures side by side, and what can be counted."""
    named = [NamedCrbm(title, _restore(found["shown"])) for title, found in results["crbms"].items()]
    pictures.mkdir(parents=True, exist_ok=True)
    write_atomically(pictures / f"{NAME}.svg", draw_kernels(named, SHOWN))
    lines = [
        (title, format_rounded(_share(found)), format_value(found["reconstruction error"]))
        for title, found in results["crbms"].items()
    ]
    header = ("visible units", "weight for or against free points, %", "reconstruction error")
    return f"""
The {SHOWN} kernels that are on most often, as the CRBMs learned them from `{results["data"]["name"]}`. On wood each
point shows the state that has the largest weight there, own stones black. The three small squares are the weights for
own stones, the enemy's and free points, green above the mean of the three and red below.

![Kernels of multinomial and of real-valued units](largman2010/{NAME}.svg)

The paper found the kernels of multinomial units more meaningful, and more sensitive to free points; it shows a
pinwheel, peeps in two orientations and a part of an eye. If all three states mattered alike, a third of the weight, in
squares, would be for or against free points:

{table(header, lines)}

Differences from the paper:

{numbered(_DIFFERENCES)}
"""


def _restore(shown: list[Json]) -> SavedCrbm:
    """As much of a CRBM as is drawn."""
    kernels = np.array([kernel["channels"] for kernel in shown], dtype=np.float32)
    config = CrbmConfig(kernels=len(shown), kernel_size=kernels.shape[-1], size=max(2, kernels.shape[-1]))
    return SavedCrbm(config, {"first.kernels": kernels}, np.array([kernel["use"] for kernel in shown], np.float32))


_DIFFERENCES: Final = (
    "The paper judges kernels by eye. Which states matter, we count.",
    "The paper's text and its captions disagree about which figure shows which units; we go by the text.",
    "The paper says nothing of step sizes, of sparsity, and of how kernels begin. We pull towards no sparsity. Kernels "
    "of multinomial units begin with a spread of 0.3 and take steps of 0.05: from a spread of 0.01 they all learned "
    "the same, or turned off.",
    "Real-valued units begin with a spread of 0.01 and take steps of 0.001.",
)

TABLE: Final = Table(NAME, "Kernels", measure, rows, section)
