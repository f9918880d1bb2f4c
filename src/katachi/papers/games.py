"""The games that are learned from: any set, of which the size with the most games is taken."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from katachi.data.dataset import Dataset
from katachi.papers.experiment import ExperimentError, Json, Scope
from katachi.sgf.splits import Split


@dataclass(frozen=True, slots=True)
class Games:
    """A set, and the board size that is chosen of it."""

    dataset: Dataset
    size: int

    @property
    def digest(self) -> str:
        """What tells them from other games, in names."""
        return self.dataset.digest[:8]

    def count_positions(self, split: Split) -> int:
        """How many there are to learn from, or to test with."""
        return int(self.dataset.games["plays"][self.dataset.select(self.size, split)].sum(dtype=np.int64))

    def describe(self) -> Json:
        """What a document tells of them."""
        return {
            "name": self.dataset.path.name,
            "size": self.size,
            "games": int(self.dataset.select(self.size).size),
            "positions": self.count_positions(Split.TRAINING),
            "test positions": self.count_positions(Split.TEST),
        }


def require_games(scope: Scope) -> Games:
    """The games that were given; raises ExperimentError if none were, and DatasetError if they cannot be read."""
    if scope.data is None:
        raise ExperimentError("this table learns from games: give --data SET (see: katachi data import --help)")
    dataset = Dataset.open(scope.data.resolve())
    if not dataset.games.size:
        raise ExperimentError(f"{scope.data} has no games to learn from")
    size = int(np.bincount(dataset.games["lines"]).argmax())
    for split in Split:
        if not dataset.select(size, split).size:
            raise ExperimentError(f"{scope.data} has no {size}×{size} games for {split}")
    return Games(dataset, size)


def describe_set(data: Json) -> str:
    """One sentence about what was learned from and tested with."""
    board = f"{data['size']}×{data['size']}"
    return (
        f"The set `{data['name']}` has {data['games']:,} games on {board}: {data['positions']:,} positions to learn "
        f"from and {data['test positions']:,} of other games to test with, which nothing is tuned on."
    )
