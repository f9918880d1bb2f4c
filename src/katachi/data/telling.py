"""What the card of a model tells of a training on a set of games: enough to do it again."""

from __future__ import annotations

from pydantic import BaseModel

from katachi.core.cards import Training, provenance
from katachi.core.training import MetricLine
from katachi.data.dataset import Dataset


def tell_training(
    settings: BaseModel, dataset: Dataset, games: int, positions: int, last: MetricLine, command: str
) -> Training:
    """How a model learned from games of a set; ``last`` is the last line of its run."""
    values = settings.model_dump(mode="json")
    return Training(
        command=command,
        commit=provenance()["commit"],
        seed=values["seed"],
        games=games,
        positions=positions,
        hours=round(last.values["seconds"] / 3600, 2),
        data=f"{dataset.path.name} ({dataset.digest})",
        settings=values,
    )
