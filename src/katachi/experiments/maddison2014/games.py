"""The games that are learned from: any set, of which the size with the most games is taken."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from katachi.experiments.errors import ExperimentError
from katachi.experiments.experiment import Scope
from katachi.experiments.runs import Json
from katachi.learning.datasets import Dataset
from katachi.learning.splits import Split

PUBLISHED_POSITIONS: Final = 27_400_000  # to learn from
PUBLISHED_TEST_POSITIONS: Final = 2_000_000


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


def differences(data: Json) -> tuple[str, ...]:
    """How learning differs from the paper's, whatever is measured."""
    return (
        f"The paper learned from {PUBLISHED_POSITIONS / 1e6:g} million positions of 160,000 KGS games and tested with "
        f"{PUBLISHED_TEST_POSITIONS / 1e6:g} million. Our set, `{data['name']}`, is another and has "
        f"{data['positions'] / 1e6:.3g} million.",
        "Every network of the paper saw all positions 25 times, then three times at half, a quarter and an eighth of "
        "the rate. Ours see as many positions as the table says, with the halvings in the same proportion.",
        "The paper's fifty replicas learned asynchronously. Here one process learns from one batch after another, so "
        "that the same run on one thread gives the same network.",
        "The bins of some planes, which the paper does not give, are our reading. Ranks below 1 dan count as 1 dan, "
        "professionals as 9 dan, and unknown ranks have no plane.",
        "Illegal points have no part in our tests, as they have none in play; the paper does not say.",
    )
