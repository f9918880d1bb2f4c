"""Training a convolutional RBM on disk: the loop with its checkpoints, measurements and pictures, and the model.

A run goes on to the same bytes on one thread: batch k is the same whoever computes it, and so is all chance of step
k. One that diverges ends with a sentence, and leaves what was kept before.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import torch

from katachi.core.cards import Metric
from katachi.core.disk import write_atomically
from katachi.core.models import load_crbm, save_crbm
from katachi.core.training import MetricLine, TrainingRun, load_first_weights
from katachi.crbm.evaluator import SavedCrbm
from katachi.crbm.network import Weights
from katachi.crbm.train import Boards, Contrast, ContrastiveLearner, CrbmTraining, measure_crbm, use_of_kernels
from katachi.data.batches import Batch, Batches
from katachi.data.dataset import Dataset
from katachi.data.telling import tell_training
from katachi.sgf.splits import Split

PICTURE: Final = "kernels.svg"
_UNITS: Final = {"validation_reconstruction_error": "mean square", "validation_free_energy": "nats"}

Watcher = Callable[[MetricLine], None]
Ticker = Callable[[int, Contrast], None]
Sketcher = Callable[[SavedCrbm], str]


def _ignore(positions: int, contrast: Contrast) -> None: ...


def train_crbm(
    settings: CrbmTraining,
    directory: Path,
    watch: Watcher,
    command: str = "",
    workers: int = 1,
    tick: Ticker = _ignore,
    sketch: Sketcher | None = None,
) -> None:
    """Train in a run directory, or go on there, and save the model there at the end.

    ``watch`` sees every evaluation, those of an earlier run first; ``tick`` hears after every batch how many positions
    were learned from; ``sketch`` draws the kernels after every evaluation, into ``kernels.svg``. Raises Diverged.
    """
    torch.set_num_threads(1)
    batches = _open_batches(settings)
    learner = ContrastiveLearner(settings, load_first_weights(settings.first_model, _weights_of_model))
    with TrainingRun(directory, settings) as run:
        run.restore(learner)
        for line in run.lines:
            watch(line)
        held_out = batches.positions(Split.VALIDATION, settings.validation_positions).planes
        if not learner.is_finished:
            _train(learner, run, batches.stream(learner.step, workers), held_out, watch, tick, sketch)
        _save(directory / "model", learner, batches, held_out, run.lines[-1], command)
        run.finish()


def _weights_of_model(path: Path) -> Weights:
    return load_crbm(path)[0].weights


def _open_batches(settings: CrbmTraining) -> Batches:
    """The batches of a training; raises DatasetError if there are none."""
    return Batches(
        Dataset.open(settings.data),
        settings.planes,
        settings.batch,
        settings.seed,
        symmetries=settings.symmetries,
        size=settings.size,
        weakest=settings.weakest,
    )


def _train(
    learner: ContrastiveLearner,
    run: TrainingRun,
    stream: Iterator[Batch],
    held_out: Boards,
    watch: Watcher,
    tick: Ticker,
    sketch: Sketcher | None,
) -> None:
    """Learn batch after batch, and measure and keep everything now and then."""
    every = max(1, learner.settings.evaluate_every // learner.settings.batch)
    began = time.monotonic() - (run.lines[-1].values["seconds"] if run.lines else 0)
    since: list[Contrast] = []
    while not learner.is_finished:
        since.append(learner.update(next(stream).planes))
        tick(learner.positions, since[-1])
        if learner.step % every == 0 or learner.is_finished:
            line = MetricLine(
                {
                    "positions": learner.positions,
                    "reconstruction_error": sum(contrast.error for contrast in since) / len(since),
                    "seconds": round(time.monotonic() - began, 1),
                    **{f"validation_{name}": value for name, value in measure_crbm(learner.crbm, held_out).items()},
                }
            )
            run.keep(learner.state_dict(), line)
            if sketch is not None:
                write_atomically(run.path / PICTURE, sketch(_snapshot(learner, held_out)))
            watch(line)
            since = []


def _snapshot(learner: ContrastiveLearner, held_out: Boards) -> SavedCrbm:
    return SavedCrbm(learner.settings.config, learner.crbm.arrays(), use_of_kernels(learner.crbm, held_out))


def _save(
    path: Path, learner: ContrastiveLearner, batches: Batches, held_out: Boards, last: MetricLine, command: str
) -> None:
    settings = learner.settings
    training = tell_training(settings, batches.dataset, batches.games, learner.positions, last, command)
    metrics = {
        name.replace("_", " "): Metric(value=value, unit=_UNITS.get(name, ""), positions=len(held_out))
        for name, value in last.values.items()
        if name.startswith("validation_")
    }
    save_crbm(path, _snapshot(learner, held_out), training, metrics=metrics, replace=True)
