"""A linear value over features that are there already: CRBM kernels, or all templates as their baseline.

First it learns from the recorded games of a set, as often as ``passes`` says, each time in another order; then from
games against its own former self, over the last of which its weights may be averaged: constant steps swing. Game k
and all its chance depend on the seed and k alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Final, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from katachi.core.cards import ModelError
from katachi.core.contracts import Floats
from katachi.core.models import find_model, load_crbm, load_model
from katachi.core.training import TrainingError
from katachi.crbm.evaluator import CrbmFeatures, SavedCrbm
from katachi.crbm.features import Templates
from katachi.crbm.former_self import FormerSelfSettings, play_former_self
from katachi.crbm.linear_td import Chains, LinearTdLearner, link_afterstates, turned
from katachi.crbm.recorded_chains import RecordedGames
from katachi.data.dataset import Dataset
from katachi.go.points import MAX_SIZE, Symmetry
from katachi.sgf.splits import Split
from katachi.shapes.model import LinearModel

TEMPLATES: Final = "templates"


class ValueTraining(FormerSelfSettings):
    """What to learn, from what, and for how long. The gradient and the step size are our own, not the paper's."""

    step_size: float = Field(default=0.3, gt=0, le=10, allow_inf_nan=False)
    gradient: Literal["squared", "logistic"] = "logistic"
    features: str  # a CRBM, as a run or a model, or ``templates``
    centered: bool = True  # whether features of a CRBM are less how often their kernels are on
    size: int = Field(default=9, ge=2, le=MAX_SIZE)
    data: str | None = None  # the folder of a set of games
    weakest: str | None = None  # the lowest rank of both players whose games are learned from, such as 1d
    games: int | None = Field(default=None, ge=1)  # how many of them, at most
    passes: int = Field(default=1, ge=1)  # over these games
    symmetries: bool = False  # whether each game teaches in all its eight orientations
    seed: int = Field(default=0, ge=0)
    evaluate_every: int = Field(default=200, ge=1)  # games
    validation_games: int = Field(default=100, ge=1)
    first_model: str | None = None  # a model whose value to begin with, over the same features

    @model_validator(mode="after")
    def _has_games(self) -> Self:
        if self.data is None and not self.self_play:
            raise ValueError("there is nothing to learn from: give data, or games of self_play")
        return self


class ValueLearner:
    """A linear value that learns game by game, from records and then from its own games."""

    def __init__(self, settings: ValueTraining) -> None:
        """Load what is needed; raises ModelError or DatasetError, or ValueError if the first weights do not fit."""
        self.settings = settings
        self.features = load_features(settings)
        first = None if settings.first_model is None else _load_value(settings.first_model, self.features)
        self.learner = LinearTdLearner(self.features, settings, first)
        self.records = None if settings.data is None else open_records(settings, Split.TRAINING, settings.games)
        self.recorded = 0 if self.records is None else self.records.games * settings.passes
        self.games = 0
        self._former = self.learner.weights  # is replaced when self-play begins
        self._mean = np.zeros(self.features.size)

    @property
    def total_games(self) -> int:
        return self.recorded + self.settings.self_play

    @property
    def is_finished(self) -> bool:
        return self.games >= self.total_games

    @property
    def weights(self) -> Floats:
        """What was learned: the weights, or their mean over the games since averaging began."""
        return self.learner.weights if self._averaged <= 0 else self._mean.astype(np.float32)

    @property
    def _averaged(self) -> int:
        """How many games there were since averaging began, below 0 before."""
        return self.games - self.recorded - round(self.settings.average_from * self.settings.self_play)

    def learn_game(self) -> dict[str, float]:
        """Learn from the next game, and say what there is to count of it; raises TrainingError if it diverges."""
        counts: dict[str, float] = {}
        chains: Callable[[Symmetry], Chains]
        if self.games < self.recorded and self.records is not None:
            chains = partial(self.records.chains, self.features, self.games)
        else:
            counts, chains = self._play_game()
        learned = [self.learner.update(chains(symmetry)).values for symmetry in self._orientations]
        if not np.isfinite(self.learner.weights).all():
            raise TrainingError(
                f"game {self.games + 1}: weights are no numbers any more; nothing was overwritten: "
                f"begin another run with --set step_size={self.settings.step_size / 3:.2g}"
            )
        self.games += 1
        if self._averaged > 0:
            self._mean += (self.learner.weights - self._mean) / self._averaged
        errors = sum(values["td_error"] ** 2 * values["updates"] for values in learned)
        return counts | {"squared_errors": errors, "updates": sum(values["updates"] for values in learned)}

    @property
    def _orientations(self) -> tuple[Symmetry, ...]:
        return tuple(Symmetry) if self.settings.symmetries else (Symmetry.IDENTITY,)

    def _play_game(self) -> tuple[dict[str, float], Callable[[Symmetry], Chains]]:
        number = self.games - self.recorded
        if number % (self.settings.renewed_every or self.settings.self_play) == 0:
            self._former = self.learner.weights
        learner, former = (LinearModel(self.features, weights) for weights in (self.learner.weights, self._former))
        size, seed = self.features.board_size, self.settings.seed
        played = play_former_self(learner, former, self.settings, size, number, seed)
        counts = {"played": 1.0, "won": float(played.learner_won), "unfinished": float(played.winner is None)}

        def chains(symmetry: Symmetry) -> Chains:
            return link_afterstates(self.features, turned(played.afterstates, symmetry), played.winner)

        return counts, chains

    def state_dict(self) -> dict[str, NDArray[Any]]:
        """All that is needed to go on."""
        return self.learner.state_dict() | {
            "former": self._former,
            "mean": self._mean.copy(),
            "games": np.array([self.games]),
        }

    def load_state_dict(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Go on from a state; raises ValueError if it is none of these settings."""
        shapes = {name: state[name].shape for name in ("former", "mean") if name in state}
        if shapes != dict.fromkeys(("former", "mean"), self._former.shape) or "games" not in state:
            raise ValueError("it is no state of this value")
        self.learner.load_state_dict(state)
        self._former = state["former"].copy()
        self._mean = state["mean"].copy()
        self.games = int(state["games"][0])


def load_features(settings: ValueTraining) -> CrbmFeatures | Templates:
    """The features that a value is learned over; raises ModelError."""
    if settings.features == TEMPLATES:
        return Templates(settings.size)
    features = load_saved_crbm(settings).features()
    if features.board_size != settings.size:
        raise ModelError(f"{settings.features} has features of size {features.board_size}, not {settings.size}")
    return features


def load_saved_crbm(settings: ValueTraining) -> SavedCrbm:
    """The CRBM whose features these are; raises ModelError."""
    return replace(load_crbm(find_model(settings.features))[0], centered=settings.centered)


def _load_value(name: str, features: CrbmFeatures | Templates) -> Floats:
    model, _ = load_model(find_model(name))
    if not isinstance(model, LinearModel) or getattr(model.features, "digest", "") != features.digest:
        raise ModelError(f"{name} is no value over {features.name}")
    return model.weights


def open_records(settings: ValueTraining, split: Split, most: int | None) -> RecordedGames:
    """So many games of a split of the set, at most; raises DatasetError if there are none."""
    dataset = Dataset.open(settings.data or "")
    return RecordedGames(dataset, settings.size, split, settings.weakest, most, settings.seed)
