"""Training a network on disk: the loop with its checkpoints and measurements, and what becomes of the weights.

A run goes on to the same bytes on one thread: batch k is the same whoever computes it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import torch
from safetensors import SafetensorError
from safetensors.numpy import load_file

from katachi.disk import write_atomically
from katachi.features.planes import PLANES
from katachi.interfaces import Floats
from katachi.learning.batches import Batch, Batches
from katachi.learning.cnn_saving import save_trained
from katachi.learning.datasets import Dataset
from katachi.learning.position_sheet import draw_positions
from katachi.learning.processes import is_first, joined_processes, tell_all
from katachi.learning.splits import Split
from katachi.learning.supervised import CnnTraining, Learner, Losses, validate, weights_of
from katachi.learning.training_runs import CHECKPOINT, MetricLine, TrainingError, TrainingRun
from katachi.models.saving import find_model, load_weights

_EXAMPLES = "examples.txt"
_SHOWN = 6  # positions in it


class Machine(NamedTuple):
    """What a run may use; it does not change what is learned, but for the rounding of several threads."""

    threads: int = 1  # of torch
    workers: int = 1  # threads that compute batches ahead; 0: the one that learns does


Watcher = Callable[[MetricLine], None]
Ticker = Callable[[int, Losses], None]


def _ignore(positions: int, losses: Losses) -> None: ...


def train_cnn(
    settings: CnnTraining,
    directory: Path,
    watch: Watcher,
    command: str = "",
    machine: Machine = Machine(),  # noqa: B008
    tick: Ticker = _ignore,
) -> None:
    """Train in a run directory, or go on there, and save the model there at the end with a player's spec.

    ``watch`` sees every evaluation, those of an earlier run first; ``tick`` hears after every batch how many positions
    were learned from, and what was known of the last ones.
    """
    torch.set_num_threads(machine.threads)
    batches = open_batches(settings)
    learner = Learner(settings, None if settings.first_model is None else load_first_weights(settings.first_model))
    with joined_processes():
        if not is_first():
            _help(learner, batches, machine.workers)
            return
        with TrainingRun(directory, settings) as run:
            _go_on(learner, run)
            tell_all(run.state)
            for line in run.lines:
                watch(line)
            if not learner.is_finished:
                _train(learner, run, batches, machine.workers, watch, tick)
            save_trained(directory / "model", learner, batches, run.lines[-1], command)
            run.finish()


def _help(learner: Learner, batches: Batches, workers: int) -> None:
    """Learn along with the process that keeps the run."""
    state = tell_all(None)
    if state is not None:
        learner.load_state_dict(state)
    stream = batches.stream(learner.step, workers)
    while not learner.is_finished:
        learner.update(next(stream))


def open_batches(settings: CnnTraining) -> Batches:
    """The batches of a training; raises DatasetError if there are none."""
    return Batches(
        Dataset.open(settings.data),
        PLANES[settings.planes],
        settings.batch,
        settings.seed,
        symmetries=settings.symmetries,
        size=settings.size,
        weakest=settings.weakest,
    )


def _train(learner: Learner, run: TrainingRun, batches: Batches, workers: int, watch: Watcher, tick: Ticker) -> None:
    """Learn batch after batch, and measure and keep everything now and then."""
    settings = learner.settings
    held_out = batches.positions(Split.VALIDATION, settings.validation_positions)
    every = max(1, settings.evaluate_every // settings.batch)
    clock = _Clock(run.lines[-1].values if run.lines else {})
    since: list[Losses] = []
    stream = batches.stream(learner.step, workers)
    while not learner.is_finished:
        since.append(learner.update(next(stream)))
        tick(learner.positions, since[-1])
        if learner.step % every == 0 or learner.is_finished:
            line = MetricLine({**_summarize(learner, since), **clock.read(), **_validation(learner, held_out)})
            run.keep(learner.state_dict(), line)
            write_atomically(run.path / _EXAMPLES, draw_positions(learner, held_out, _SHOWN))
            watch(line)
            since = []


def _summarize(learner: Learner, since: list[Losses]) -> dict[str, float]:
    positions = sum(losses.positions for losses in since)
    means = {
        "positions": learner.positions,
        "step_size": learner.settings.step_size_at(learner.step - 1),
        "loss": sum(losses.moves for losses in since) / positions,
        "top_1": sum(losses.hits for losses in since) / positions,
    }
    if learner.settings.value:
        means["value_loss"] = sum(losses.values for losses in since) / positions
    return means


def _validation(learner: Learner, held_out: Batch) -> dict[str, float]:
    return {f"validation_{name}": value for name, value in validate(learner, held_out).items()}


class _Clock:
    """The time that a run took, over all its parts."""

    def __init__(self, before: Mapping[str, Any]) -> None:
        self._wall = time.monotonic() - before.get("seconds", 0)
        self._core = time.process_time() - before.get("core_seconds", 0)

    def read(self) -> dict[str, float]:
        """Seconds by the clock, and of the cores that learned."""
        now = {"seconds": time.monotonic() - self._wall, "core_seconds": time.process_time() - self._core}
        return {name: round(value, 1) for name, value in now.items()}


def _go_on(learner: Learner, run: TrainingRun) -> None:
    """Go to where the run was."""
    if run.state is not None:
        try:
            learner.load_state_dict(run.state)
        except ValueError as error:
            raise TrainingError(f"{run.path} cannot go on: its checkpoint is damaged ({error})") from None


def load_first_weights(name: str) -> dict[str, Floats]:
    """The weights of a run at its last checkpoint, or of a model that kept them; raises TrainingError or ModelError."""
    checkpoint = Path(name) / CHECKPOINT
    if not checkpoint.exists():
        return load_weights(find_model(name))
    try:
        return weights_of(load_file(checkpoint))
    except (OSError, SafetensorError) as error:
        raise TrainingError(f"{checkpoint} has no weights to begin with: {error}") from None
