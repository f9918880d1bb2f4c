"""Board growing: learn on a small board first, and take the weights to the next larger one when it is mastered.

Silver, Sutton and Müller 2007, section 6: a size is mastered when every agent wins so often against the average
liberty player. Shapes keep their place relative to the nearest corner, and shapes at new places begin at 0. A size
that is not mastered within its games is left all the same, so that growing always ends; ``sizes_not_mastered`` tells.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from katachi.core.contracts import FeatureSet, Floats, Metrics
from katachi.core.models import find_model, load_linear
from katachi.core.training import MetricLine, TrainingError
from katachi.shapes.combined_shapes import CombinedShapes
from katachi.shapes.features import LocalShapes
from katachi.shapes.learner import TdLearner, TdSettings, Ticker
from katachi.shapes.self_play import longest_game

_SIZE: Final = "board_size"  # beside the learner's arrays in a state


class Stage(NamedTuple):
    """Learning on boards of one size."""

    settings: TdSettings
    games: int  # the most, but on the last size exactly so many


def growing_stages(settings: TdSettings, games: int, grow_from: int, grow_games: int) -> list[Stage]:
    """From the size ``grow_from`` on, one line more at a time; raises ValueError where settings do not fit a size.

    Step-size schedule and averaging belong to the last size. Smaller ones learn with the first step size, and what is
    tested there and carried over are the weights as they are.
    """
    values = settings.model_dump(include=set(TdSettings.model_fields))
    smaller = []
    for size in range(grow_from, settings.size):
        own = {"size": size, "final_step_size": None, "average_from": 1.0}
        if settings.move_cap is not None:
            own["move_cap"] = min(settings.move_cap, longest_game(size))
        smaller.append(Stage(TdSettings.model_validate(values | own), grow_games))
    return [*smaller, Stage(TdSettings.model_validate(values), games)]


class GrowingLearner:
    """Learns on one size after another; ``learner`` is the one for the size at hand, and begins with ``weights``."""

    def __init__(self, stages: Sequence[Stage], grow_at: float, *, weights: Floats | None = None) -> None:
        self._stages = {stage.settings.size: stage for stage in stages}
        self._grow_at = grow_at
        self.learner = TdLearner(*stages[0], weights=weights)

    @property
    def size(self) -> int:
        """The board size at hand."""
        return self.learner.settings.size

    @property
    def is_finished(self) -> bool:
        """Whether all games on the last size are played."""
        return self.size == max(self._stages) and self._games_left == 0

    @property
    def _games_left(self) -> int:
        return self.learner.total_games - self.learner.games

    def train_until(self, multiple: int, tick: Ticker | None = None) -> Metrics:
        """Learn until the number of games on this size is the next multiple, or until they are all played."""
        return self.learner.train(min(multiple - self.learner.games % multiple, self._games_left), tick)

    def grow(self, line: MetricLine) -> None:
        """Go to the next size if there is one and this one is mastered, by its last evaluation, or its games played."""
        if self.size == max(self._stages) or not (line.masters(self._grow_at) or self._games_left == 0):
            return
        smaller = self.learner
        stage = self._stages[smaller.settings.size + 1]
        weights = grow_weights(stage.settings.features, smaller.features, smaller.weights)
        self.learner = TdLearner(*stage, weights=weights)

    def state_dict(self) -> dict[str, NDArray[Any]]:
        """All that the next game depends on, the size included."""
        return {**self.learner.state_dict(), _SIZE: np.array([self.size])}

    def load_state_dict(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Go to a saved state; raises ValueError if it is none of a learner with these stages."""
        rest = dict(state)
        size = int(rest.pop(_SIZE, np.zeros(1))[0])
        if size not in self._stages:
            raise ValueError(f"the state is for {size}×{size}, which is no size of this run")
        learner = TdLearner(*self._stages[size])
        learner.load_state_dict(rest)
        self.learner = learner


def grow_weights(features: FeatureSet, smaller: FeatureSet, weights: Floats) -> Floats:
    """Weights for larger boards, [..., size]; raises ValueError where the shapes are not the same."""
    if isinstance(features, LocalShapes) and isinstance(smaller, LocalShapes):
        return features.grow_from(smaller, weights)
    if isinstance(features, CombinedShapes) and isinstance(smaller, CombinedShapes):
        return features.grow_from(smaller, weights)
    raise ValueError(f"{features.name} cannot grow from {smaller.name}")


def load_grown_weights(name: str, settings: TdSettings) -> Floats:
    """The weights of a saved or shipped model, grown to ``settings.size``, for every agent, [agents, features.size].

    Raises ModelError if it cannot be read, and TrainingError if it does not fit.
    """
    model, card = load_linear(find_model(name))
    size, features = settings.size, settings.features
    if card.board_size > size:
        theirs = f"{card.board_size}×{card.board_size}"
        raise TrainingError(f"{name} judges {theirs} boards: begin learning {size}×{size} with one for that or less")
    try:
        grown = grow_weights(features, model.features, model.weights)
    except ValueError:
        text = f"{name} has {model.features.name}: to begin with it, learn the same sets of shapes"
        raise TrainingError(text) from None
    return np.repeat(grown[None], settings.agents, axis=0)


def games_to_master(lines: Sequence[MetricLine], size: int, rate: float) -> int | None:
    """The games on a size before every agent first won so often in an evaluation; None if that was never."""
    return next((line.games for line in lines if line.size == size and line.masters(rate)), None)


def sizes_not_mastered(lines: Sequence[MetricLine], rate: float) -> list[int]:
    """The sizes on which no evaluation reached the rate."""
    sizes = sorted({line.size for line in lines})
    return [size for size in sizes if games_to_master(lines, size, rate) is None]
