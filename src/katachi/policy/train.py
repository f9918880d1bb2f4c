"""Training a network on disk: the loop with its checkpoints and measurements, and what becomes of the weights.

A run goes on to the same bytes on one thread: batch k is the same whoever computes it, and what was found since the
last evaluation is part of a checkpoint.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

import torch

from katachi.core.disk import write_atomically
from katachi.core.models import load_weights
from katachi.core.training import MetricLine, TrainingRun, load_first_weights
from katachi.data.batches import AnyBatches, Batch, Batches, MixedBatches
from katachi.data.dataset import Dataset
from katachi.policy.cnn_course import Course
from katachi.policy.cnn_saving import save_trained
from katachi.policy.planes import PLANES
from katachi.policy.position_sheet import draw_positions
from katachi.policy.processes import is_first, joined_processes, tell_all
from katachi.policy.supervised import CnnTraining, Learner, Losses, validate
from katachi.sgf.splits import Split

_EXAMPLES: Final = "examples.txt"
_SHOWN: Final = 6  # positions in it


class Machine(NamedTuple):
    """What a run may use; it does not change what is learned, but for the rounding of several threads."""

    threads: int = 1  # of torch
    workers: int = 1  # threads that compute batches ahead; 0: the one that learns does
    checkpoint_seconds: float = 180.0  # how much is lost at most; every evaluation is kept, too


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
    learner = Learner(settings, load_first_weights(settings.first_model, load_weights))
    with joined_processes():
        if not is_first():
            _help(learner, batches, machine.workers)
            return
        with TrainingRun(directory, settings) as run:
            run.restore(learner)
            tell_all(run.state)
            for line in run.lines:
                watch(line)
            if not learner.is_finished:
                _train(learner, run, batches, machine, watch, tick)
            save_trained(directory / "model", learner, batches, run.lines[-1], command)
            run.finish()


def _help(learner: Learner, batches: AnyBatches, workers: int) -> None:
    """Learn along with the process that keeps the run."""
    state = tell_all(None)
    if state is not None:
        learner.load_state_dict(state)
    stream = batches.stream(learner.step, workers)
    while not learner.is_finished:
        learner.update(next(stream))


def open_batches(settings: CnnTraining) -> AnyBatches:
    """The batches of a training, of all sizes of the set if the network takes any; raises DatasetError if none."""
    dataset = Dataset.open(settings.data)
    sizes = dataset.sizes if settings.size is None else [settings.size]
    sizes = [size for size in sizes if dataset.select(size, Split.TRAINING, settings.weakest).size]
    parts = [
        Batches(
            dataset,
            PLANES[settings.planes],
            settings.batch,
            settings.seed,
            symmetries=settings.symmetries,
            size=size,
            weakest=settings.weakest,
            ownership=settings.ownership,
        )
        for size in sizes or [settings.size or dataset.only_size()]
    ]
    return parts[0] if len(parts) == 1 else MixedBatches(parts, settings.seed)


def _train(
    learner: Learner, run: TrainingRun, batches: AnyBatches, machine: Machine, watch: Watcher, tick: Ticker
) -> None:
    """Learn batch after batch, and measure and keep everything now and then."""
    settings = learner.settings
    held_out = batches.positions(Split.VALIDATION, settings.validation_positions)
    every = max(1, settings.evaluate_every // settings.batch)
    course = Course(run)
    due = time.monotonic() + machine.checkpoint_seconds
    stream = batches.stream(learner.step, machine.workers)
    while not learner.is_finished:
        losses = learner.update(next(stream))
        course.add(losses)
        tick(learner.positions, losses)
        if learner.step % every == 0 or learner.is_finished:
            line = MetricLine({**course.summarize(learner), **course.read_clock(), **_validation(learner, held_out)})
            course.begin_anew()
            run.keep(learner.state_dict(), line)
            write_atomically(run.path / _EXAMPLES, draw_positions(learner, held_out, _SHOWN))
            watch(line)
        elif time.monotonic() >= due:
            run.checkpoint(learner.state_dict() | course.state_dict())
        else:
            continue
        due = time.monotonic() + machine.checkpoint_seconds


def _validation(learner: Learner, held_out: Batch) -> dict[str, float]:
    return {f"validation_{name}": value for name, value in validate(learner, held_out).items()}
