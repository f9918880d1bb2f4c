"""Training a player of local shapes from nothing: settings, the loop, and what becomes of the weights.

The defaults are our own recipe: one agent that plays itself, the logistic gradient, all shapes up to 3×3, location
independent and dependent, and the mean of the weights over the second half of the games. The settings of Silver,
Sutton and Müller (2007) are the defaults of ``TdSettings``: a pair, the squared error, a step size of 0.1.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Literal, Self

import numpy as np
from pydantic import Field, model_validator

from katachi.core.cards import Metric, Training, provenance
from katachi.core.disk import write_atomically
from katachi.core.linear import LinearModel, describe_linear, save_linear
from katachi.core.training import MetricLine, TrainingRun
from katachi.go.points import MAX_SIZE
from katachi.go.rules import Rules
from katachi.shapes.alp import play_against_alp
from katachi.shapes.fused import MIN_SIZE
from katachi.shapes.learner import GrowingLearner, Stage, TdLearner, TdSettings, growing_stages, load_grown_weights

_SIZES = ("1x1", "2x1", "2x2", "3x2", "3x3")
_TEST_PLIES = 2  # random moves before a test game: greedy players would repeat themselves


class ShapeTraining(TdSettings):
    """How to learn, for how long, and how often to look."""

    sets: tuple[str, ...] = Field(
        default=tuple(f"{place} {size}" for place in ("LI", "LD") for size in _SIZES), strict=False
    )
    agents: Literal[1, 2] = 1
    gradient: Literal["squared", "logistic"] = "logistic"
    step_size: float = Field(default=0.3, gt=0, le=1000, allow_inf_nan=False)
    average_from: float = Field(default=0.5, ge=0, le=1)
    games: int = Field(default=300_000, ge=1)
    evaluate_every: int = Field(default=10_000, ge=1)
    test_games: int = Field(default=200, ge=2)  # of each agent against the average liberty player
    grow_from: int | None = Field(default=None, ge=MIN_SIZE, le=MAX_SIZE)  # the size to begin on; the last one
    grow_at: float = Field(default=0.9, gt=0, le=1)  # the win rate of every agent that leads to the next size
    grow_games: int = Field(default=100_000, ge=1)  # the most on each size before the last, which has ``games``
    first_model: str | None = None  # a model to begin with, of the first size or a smaller one

    @model_validator(mode="after")
    def _grows(self) -> Self:
        if self.grow_from is not None and self.grow_from > self.size:
            raise ValueError(f"grow_from is at most the size, which is {self.size}")
        self.stages()  # raises ValueError for sets that do not fit on a smaller board
        return self

    def stages(self) -> list[Stage]:
        """What is learned on each size: one stage without ``grow_from``."""
        return growing_stages(self, self.games, self.grow_from or self.size, self.grow_games)


Watcher = Callable[[MetricLine], None]
SizeTicker = Callable[[int, int], None]


def _ignore(size: int, games: int) -> None: ...


def train_shapes(
    settings: ShapeTraining, directory: Path, watch: Watcher, command: str = "", tick: SizeTicker = _ignore
) -> list[Path]:
    """Train in a run directory, or go on there, and return the models, one for each agent; each with a player's spec.

    ``watch`` sees every evaluation, those of an earlier run first; ``tick`` hears now and then how many games are
    played on which size. The same settings end in the same bytes however often the run was interrupted.
    """
    growing = _new_learner(settings)
    with TrainingRun(directory, settings) as run:
        run.restore(growing)
        for line in run.lines:
            watch(line)
        while not growing.is_finished:
            metrics = growing.train_until(settings.evaluate_every, partial(tick, growing.size))
            line = MetricLine({"size": growing.size, **metrics.values, **_test(growing.learner, settings)})
            growing.grow(line)
            run.keep(growing.state_dict(), line)
            watch(line)
        learner = growing.learner
        models = [directory / name for name in _model_names(settings.agents)]
        for path, weights, rate in zip(models, learner.averaged_weights, run.lines[-1].win_rates, strict=True):
            _save(path, LinearModel(learner.features, weights), rate, settings, command)
        run.finish()
    return models


def _new_learner(settings: ShapeTraining) -> GrowingLearner:
    stages = settings.stages()
    name = settings.first_model
    first = None if name is None else load_grown_weights(name, stages[0].settings)
    return GrowingLearner(stages, settings.grow_at, weights=first)


def _test(learner: TdLearner, settings: ShapeTraining) -> dict[str, float | list[float]]:
    """The share of games that each agent wins against the average liberty player, with what it would be saved with."""
    seeds = np.random.SeedSequence((settings.seed, learner.games)).generate_state(settings.agents)
    wins = [
        play_against_alp(
            learner.features,
            weights,
            settings.test_games,
            int(seed),
            settings.komi,
            random_plies=_TEST_PLIES,
            eye_rule=settings.eye_rule,
        )
        for weights, seed in zip(learner.averaged_weights, seeds, strict=True)
    ]
    return {"test_games": settings.test_games, "win_rates": [won / settings.test_games for won in wins]}


def _model_names(agents: int) -> list[str]:
    return ["model"] if agents == 1 else [f"model-{number + 1}" for number in range(agents)]


def _save(path: Path, model: LinearModel, rate: float, settings: ShapeTraining, command: str) -> None:
    training = Training(
        command=command,
        commit=provenance()["commit"],
        seed=settings.seed,
        games=settings.games,
        data="self-play",
        settings=settings.model_dump(mode="json"),
    )
    metrics = {"win rate against alp, one ply": Metric(value=rate)}
    save_linear(path, model, describe_linear(model, Rules(komi=settings.komi), training, metrics), replace=True)
    spec = f'kind = "search"\nname = "shapes"\n[evaluator]\nmodel = {json.dumps(str(path.resolve()))}\n'
    write_atomically(path.with_name(f"{path.name.replace('model', 'player')}.toml"), spec)
