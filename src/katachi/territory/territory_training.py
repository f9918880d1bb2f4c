"""Training a DAG-RNN on disk: the loop with its checkpoints and measurements, the model and its player.

A run goes on to the same bytes on one thread: batch k is the same whoever computes it.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, NamedTuple

from numpy.typing import NDArray

from katachi.core.cards import Metric
from katachi.core.disk import write_atomically
from katachi.core.models import load_weights, save_dag_rnn
from katachi.core.statistics import wilson_interval
from katachi.core.training import MetricLine, TrainingRun, load_first_weights
from katachi.data.batches import tell_training
from katachi.data.dataset import Dataset
from katachi.sgf.files import Split
from katachi.territory.evaluator import PROPENSITY, Territory
from katachi.territory.learner import (
    Losses,
    Positions,
    TerritoryBatches,
    TerritoryLearner,
    TerritoryTraining,
    fit_points,
    validate,
)
from katachi.territory.measure import judge_moves, pick_moves

_AFTERSTATES: Final = 16_000  # about so many are judged to fit a temperature to moves of validation games

Watcher = Callable[[MetricLine], None]
Ticker = Callable[[int, Losses], None]
Counter = Callable[[int], None]


class Machine(NamedTuple):
    """What a run may use; it does not change what is learned, but for the rounding of several threads."""

    threads: int = 1  # that learn
    workers: int = 1  # threads that compute batches ahead; 0: the one that learns does


def _ignore(positions: int, losses: Losses) -> None: ...


def _ignore_count(games: int) -> None: ...


def train_territory(
    settings: TerritoryTraining,
    directory: Path,
    watch: Watcher,
    command: str = "",
    machine: Machine = Machine(),  # noqa: B008
    tick: Ticker = _ignore,
    count: Counter = _ignore_count,
) -> None:
    """Train in a run directory, or go on there, and save the model there at the end with a player's spec.

    ``watch`` sees every evaluation, those of an earlier run first; ``count`` hears how many games were counted for
    propensities; ``tick`` hears after every batch how many positions were learned from, and what was known of them.
    """
    batches = open_batches(settings)
    first = load_first_weights(settings.first_model, _weights_of_model)
    learner = TerritoryLearner(settings, first, machine.threads)
    with TrainingRun(directory, settings) as run:
        run.restore(learner)
        for line in run.lines:
            watch(line)
        propensity = batches.count_propensity(count)
        held_out = batches.held_out(settings.validation_positions)
        _train(learner, run, batches, held_out, settings.evaluate_every, machine.workers, watch, tick)
        territory = Territory(learner.net, propensity)
        last = run.lines[-1]
        training = tell_training(settings, batches.dataset, batches.games, learner.positions, last, command)
        points, temperature = fit_points(learner.net, held_out), _fit_temperature(territory, batches)
        save_dag_rnn(directory / "model", territory, points, temperature, training, _metrics(last), replace=True)
        write_player(directory)
        run.finish()


def _weights_of_model(path: Path) -> dict[str, NDArray[Any]]:
    return {name: array for name, array in load_weights(path).items() if name != PROPENSITY}


def open_batches(settings: TerritoryTraining) -> TerritoryBatches:
    """The batches of a training; raises DatasetError or LabelError if there are none."""
    return TerritoryBatches(
        Dataset.open(settings.data),
        settings.inputs,
        settings.batch,
        settings.seed,
        settings.target,
        turns=not settings.diagonal,
        exchanges=settings.exchanges,
        by_mover=settings.by_mover,
        weakest=settings.weakest,
    )


def _train(
    learner: TerritoryLearner,
    run: TrainingRun,
    batches: TerritoryBatches,
    held_out: Positions,
    every: int,
    workers: int,
    watch: Watcher,
    tick: Ticker,
) -> None:
    """Learn batch after batch, and measure and keep everything every so many positions."""
    steps = max(1, every // learner.settings.batch)
    began = time.monotonic() - (run.lines[-1].values["seconds"] if run.lines else 0)
    since: list[Losses] = []
    stream = batches.stream(learner.step, workers)
    while not learner.is_finished:
        since.append(learner.update(next(stream)))
        tick(learner.positions, since[-1])
        if learner.step % steps == 0 or learner.is_finished:
            measured = {f"validation_{name}": value for name, value in validate(learner.net, held_out).items()}
            seconds = {"seconds": round(time.monotonic() - began, 1)}
            line = MetricLine({**_summarize(learner, batches, since), **seconds, **measured})
            run.keep(learner.state_dict(), line)
            watch(line)
            since = []


def _summarize(learner: TerritoryLearner, batches: TerritoryBatches, since: list[Losses]) -> dict[str, float]:
    positions = sum(losses.positions for losses in since)
    return {
        "positions": learner.positions,
        "epochs": round(learner.positions / batches.epoch, 3),
        "step_size": learner.settings.step_size_at(learner.step - 1),
        "loss": sum(losses.ownership for losses in since) / positions,
        **({"move_loss": sum(losses.moves for losses in since) / positions} if learner.settings.policy else {}),
    }


# What becomes of it


def _metrics(last: MetricLine) -> dict[str, Metric]:
    """What the last evaluation found on held-out positions; the interval counts a position as one observation."""
    values = last.values
    count, right = values["validation_positions"], values["validation_right"]
    low, high = wilson_interval(right * count, int(count))
    known = Metric(value=right, low=low, high=high, positions=count)
    loss = Metric(value=values["validation_loss"], unit="nats a position", positions=count)
    return {"validation loss": loss, "validation points known": known}


def _fit_temperature(territory: Territory, batches: TerritoryBatches) -> float:
    """The temperature by which moves of validation games are likeliest."""
    count = _AFTERSTATES // batches.size**2
    asked = pick_moves(batches.dataset, batches.games_of(Split.VALIDATION), count, seed=0)
    return judge_moves(territory, batches.dataset, asked).fit_temperature()


def write_player(directory: Path) -> None:
    """A player that takes the move after which it expects most, without search."""
    model = json.dumps(str((directory / "model").resolve()))
    spec = f'kind = "search"\nname = "territory"\n[evaluator]\nmodel = {model}\n[search]\nkind = "greedy"\n'
    write_atomically(directory / "player.toml", spec)
