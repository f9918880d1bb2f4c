"""Training a player of local shapes from nothing: settings, the loop, and what becomes of the weights.

The defaults are our own recipe: one agent that plays itself, the logistic gradient, all shapes up to 3×3, location
independent and dependent, and the mean of the weights over the second half of the games. The settings of Silver, Sutton
and Müller (2007) are the defaults of ``TdSettings``: a pair, the squared error, a step size of 0.1.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import numpy as np
from pydantic import Field

from katachi.disk import write_atomically
from katachi.go.rules import Rules
from katachi.learning.td import TdLearner, TdSettings, play_against_alp
from katachi.learning.training_runs import MetricLine, TrainingRun
from katachi.models.cards import Metric, Training, describe_model
from katachi.models.linear import LinearModel
from katachi.models.saving import save_model
from katachi.provenance import provenance

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


Watcher = Callable[[MetricLine], None]


def train_shapes(settings: ShapeTraining, directory: Path, watch: Watcher, command: str = "") -> list[Path]:
    """Train in a run directory, or go on there, and return the models, one for each agent; each with a player's spec.

    ``watch`` sees every evaluation, those of an earlier run first. The same settings end in the same bytes however
    often the run was interrupted.
    """
    with TrainingRun(directory, settings) as run:
        learner = TdLearner(settings, settings.games)
        for line in run.lines:
            watch(line)
        if run.state is not None:
            learner.load_state_dict(run.state)
        while learner.games < settings.games:
            due = settings.evaluate_every - learner.games % settings.evaluate_every
            metrics = learner.train(min(due, settings.games - learner.games))
            line = MetricLine(dict(metrics.values) | _test(learner, settings))
            run.keep(learner.state_dict(), line)
            watch(line)
        models = [directory / name for name in _model_names(settings.agents)]
        for path, weights, rate in zip(models, learner.averaged_weights, run.lines[-1].win_rates, strict=True):
            _save(path, LinearModel(learner.features, weights), rate, settings, command)
        run.finish()
    return models


def _test(learner: TdLearner, settings: ShapeTraining) -> dict[str, float | list[float]]:
    """The share of games that each agent wins against the average liberty player, with what it would be saved with."""
    seeds = np.random.SeedSequence((settings.seed, learner.games)).generate_state(settings.agents)
    wins = [
        play_against_alp(
            learner.features, weights, settings.test_games, int(seed), settings.komi, random_plies=_TEST_PLIES
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
    save_model(path, model, describe_model(model, Rules(komi=settings.komi), training, metrics), replace=True)
    spec = f'kind = "search"\nname = "shapes"\n[evaluator]\nmodel = {json.dumps(str(path.resolve()))}\n'
    write_atomically(path.with_name(f"{path.name.replace('model', 'player')}.toml"), spec)
