"""TD(0) of a linear value over any feature set, from games that somebody played: records, or a learner's own.

A game is two chains of afterstates, one of each color: the boards that a player leaves behind. Each of them learns
from the next of its chain, and the last one from the result. Whoever has just moved sees his own stones as such, so
that one weight vector serves both (Largman and Pham; Silver, Sutton and Müller 2007).

The step is scaled by 1/‖φ‖² of the afterstate's features: it moves the logit there by ``step_size`` · error · slope,
whatever the features are. So feature sets with 64 ones and with 5,145 dense numbers learn at the same rate.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from katachi.core.contracts import FeatureSet, Floats, Metrics
from katachi.crbm.kernels.value import LAST, learn_game
from katachi.go.board import Board
from katachi.go.points import BLACK, WHITE, Symmetry


class LinearTdSettings(BaseModel):
    """How to learn."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    step_size: float = Field(default=0.1, gt=0, le=10, allow_inf_nan=False)
    gradient: Literal["squared", "logistic"] = "squared"


class Chains(NamedTuple):
    """The afterstates of a game and how they hang together; features lie one after another."""

    starts: NDArray[np.int64]  # [T + 1], where the features of each begin
    indices: NDArray[np.int64]
    occurrences: Floats
    successors: NDArray[np.int64]  # [T], the next afterstate of the same color, or LAST
    rewards: NDArray[np.float64]  # [T], what the game was worth for him, where it was his last; NaN: nobody knows

    @property
    def order(self) -> NDArray[np.int64]:
        """Who learns when: each as soon as its successor is there, the last ones at the end."""
        when = np.where(self.successors == LAST, len(self.successors), self.successors)
        return np.argsort(when, kind="stable")


def link_afterstates(features: FeatureSet, afterstates: Iterable[Board], winner: int | None) -> Chains:
    """The chains of a game from the boards after each of its moves, which may be one board that is played on.

    ``winner`` EMPTY is a draw, None is not known. Raises ValueError if there are no moves.
    """
    seen = [(-board.to_play, *features.active(board)) for board in afterstates]
    movers = np.array([mover for mover, _, _ in seen], dtype=np.int64)
    successors = np.full(len(movers), LAST, dtype=np.int64)
    for color in (BLACK, WHITE):
        own = np.flatnonzero(movers == color)
        successors[own[:-1]] = own[1:]
    rewards = np.full(len(movers), np.nan) if winner is None else (1 + movers * winner) / 2
    lengths = [len(indices) for _, indices, _ in seen]
    return Chains(
        np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]),
        np.concatenate([indices for _, indices, _ in seen]),
        np.concatenate([occurrences for _, _, occurrences in seen]),
        successors,
        rewards,
    )


def turned(boards: Iterable[Board], symmetry: Symmetry) -> Iterable[Board]:
    """The same boards, turned or mirrored."""
    return boards if symmetry is Symmetry.IDENTITY else (board.transformed(symmetry) for board in boards)


class LinearTdLearner:
    """A weight for each feature, learned game by game. Meets ``Learner``."""

    def __init__(self, features: FeatureSet, settings: LinearTdSettings, weights: Floats | None = None) -> None:
        """Begin with the given weights or with zeros; raises ValueError if they do not fit."""
        self.features = features
        self.settings = settings
        first = np.zeros(features.size) if weights is None else weights.astype(np.float64)
        if first.shape != (features.size,) or not np.isfinite(first).all():
            raise ValueError(f"{features.name}: {features.size} finite weights are needed to begin with")
        self._weights = first

    @property
    def weights(self) -> Floats:
        """The weights as a model takes them."""
        return self._weights.astype(np.float32)

    def update(self, batch: Chains) -> Metrics:
        """Learn from a game; the error reported is the root of the mean square."""
        squared = self.settings.gradient == "squared"
        starts, indices, occurrences, successors, rewards = batch
        errors, updates = learn_game(
            self._weights,
            starts,
            indices,
            occurrences,
            batch.order,
            successors,
            rewards,
            self.settings.step_size,
            squared,
        )
        return Metrics({"td_error": float(np.sqrt(errors / max(updates, 1))), "updates": float(updates)})

    def state_dict(self) -> dict[str, NDArray[Any]]:
        """All that is needed to go on."""
        return {"weights": self._weights.copy()}

    def load_state_dict(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Go on from a state; raises ValueError if it is none of these features."""
        found = state.get("weights")
        if found is None or found.shape != self._weights.shape or found.dtype != self._weights.dtype:
            raise ValueError(f"it is no state of {self._weights.size} weights")
        self._weights = found.copy()
