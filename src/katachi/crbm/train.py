"""Contrastive divergence: a convolutional RBM learns to prefer boards as they are to what it makes of them itself.

Each step compares a batch of boards with reconstructions of them: after one step of Gibbs sampling (CD-1, Hinton
2002) or several (CD-k), or with *particles* that go on sampling from step to step (persistent, Tieleman 2008).
``sparsity`` pulls the mean activity of every kernel towards a target (Lee et al. 2009).

All chance comes from the seed and the number of the step, so that a run goes on to the same bytes on one thread.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple, Self

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import Field, model_validator
from torch import Tensor

from katachi.core.cards import Metric
from katachi.core.contracts import Floats
from katachi.core.disk import write_atomically
from katachi.core.training import MetricLine, TrainingError, TrainingRun, load_first_weights, name_weights, weights_of
from katachi.crbm.evaluator import SavedCrbm, load_crbm, mean_use, save_crbm
from katachi.crbm.network import Crbm, CrbmConfig, CrbmLayer, Weights
from katachi.data.batches import Batch, Batches, describe_training
from katachi.data.dataset import Dataset
from katachi.sgf.files import Split

_SAMPLING: Final = 2  # what a seed is drawn for, beside those of data/batches.py
_LARGEST_WEIGHT: Final = 100.0  # beyond it nothing is learned any more
_SLOWER: Final = 3  # how much smaller the step size is that a diverged run is told to take

Boards = NDArray[np.uint8]  # planes of states, [B, states, n, n]


class Diverged(TrainingError):
    """Weights that are no numbers any more, or too large to be of use: at which step, and the way out."""


class CrbmTraining(CrbmConfig):
    """A convolutional RBM, and how it learns."""

    data: str  # the folder of a set of games
    weakest: str | None = None  # the lowest rank of both players whose games are learned from, such as 1d
    positions: int = Field(default=500_000, ge=1)  # to learn from in all
    batch: int = Field(default=100, ge=1)
    spread: float = Field(default=0.3, gt=0, le=10)  # of new kernels; small ones all learn the same, or turn off
    step_size: float = Field(default=0.05, gt=0, le=100, allow_inf_nan=False)
    momentum: float = Field(default=0.5, ge=0, lt=1)
    final_momentum: float = Field(default=0.9, ge=0, lt=1)  # after a tenth of the positions
    decay: float = Field(default=1e-4, ge=0, le=1)  # of kernels
    gibbs_steps: int = Field(default=1, ge=1, le=1000)  # k of CD-k
    persistent: bool = False
    sparsity: float = Field(default=0.0, ge=0, le=1000)  # how strongly activity is pulled towards its target
    target_activity: float = Field(default=0.05, gt=0, lt=1)
    symmetries: bool = False  # whether positions are turned and mirrored at random
    seed: int = Field(default=0, ge=0)
    evaluate_every: int = Field(default=25_000, ge=1)  # positions
    validation_positions: int = Field(default=2048, ge=1)
    first_model: str | None = None  # a run or a model whose weights to begin with, such as those of a first layer

    @model_validator(mode="after")
    def _can_be_sparse(self) -> Self:
        if self.sparsity and self.units == "oriented" and self.second_kernels is None:
            raise ValueError("oriented units are never off: sparsity needs binary or oriented-or-off ones")
        return self

    @property
    def config(self) -> CrbmConfig:
        """The CRBM alone."""
        return CrbmConfig(**{name: getattr(self, name) for name in CrbmConfig.model_fields})

    @property
    def steps(self) -> int:
        """How many batches there are to learn from."""
        return -(-self.positions // self.batch)

    def momentum_at(self, step: int) -> float:
        """The momentum of a step from 0 on."""
        return self.momentum if step * 10 < self.steps else self.final_momentum


class Contrast(NamedTuple):
    """What a batch told."""

    error: float  # mean square of what reconstructions differ by
    gap: float  # mean free energy of the boards less that of what stood against them


class ContrastiveLearner:
    """A convolutional RBM that learns batch by batch, from boards of any source."""

    def __init__(self, settings: CrbmTraining, weights: Mapping[str, NDArray[np.float32]] | None = None) -> None:
        """Begin with what ``weights`` has of those that are needed; the others are new."""
        self.settings = settings
        self.crbm = Crbm.new(settings.config, settings.seed, settings.spread, weights)
        self.step = 0
        self._velocities = {name: torch.zeros_like(tensor) for name, tensor in self.crbm.learned.items()}
        self._particles = self._new_particles()

    @property
    def positions(self) -> int:
        """The positions that were learned from."""
        return self.step * self.settings.batch

    @property
    def is_finished(self) -> bool:
        return self.step >= self.settings.steps

    def update(self, boards: Boards) -> Contrast:
        """Learn from boards as planes of states; raises Diverged, and is of no more use then."""
        layer, visible = self.crbm.learning, self.crbm.visible(boards)
        with torch.no_grad():
            hidden = layer.hidden(visible)
            error = float(((layer.visible_means(hidden) - visible) ** 2).mean())
            against = self._sample(layer, visible)
        gap = contrast(layer, visible, against)
        gap.backward()  # type: ignore[no-untyped-call]
        self._pull_activity(layer, hidden)
        self._descend()
        self._check(gap.item())
        self.step += 1
        return Contrast(error, gap.item())

    def _sample(self, layer: CrbmLayer, visible: Tensor) -> Tensor:
        """What boards are compared with."""
        seed = np.random.SeedSequence((self.settings.seed, _SAMPLING, self.step)).generate_state(1, np.uint64)[0]
        random = torch.Generator().manual_seed(int(seed >> np.uint64(1)))
        sampled = self._particles if self.settings.persistent else visible
        for _ in range(self.settings.gibbs_steps):
            sampled = layer.sample(sampled, random)
        if self.settings.persistent:
            self._particles = sampled
        return sampled

    def _pull_activity(self, layer: CrbmLayer, hidden: Tensor) -> None:
        """Lee et al. 2009: the biases of hidden units also follow λ (p − mean activity)."""
        if self.settings.sparsity and layer.hidden_bias.grad is not None:
            activity = hidden.sum(2).mean((0, 2, 3))
            layer.hidden_bias.grad -= self.settings.sparsity * (self.settings.target_activity - activity)

    @torch.no_grad()
    def _descend(self) -> None:
        """A step against the gradients, with momentum."""
        momentum = self.settings.momentum_at(self.step)
        for name, tensor in self.crbm.learned.items():
            if tensor.grad is not None:
                gradient = tensor.grad + self.settings.decay * tensor if name.endswith("kernels") else tensor.grad
                self._velocities[name].mul_(momentum).sub_(gradient, alpha=self.settings.step_size)
                tensor.add_(self._velocities[name])
                tensor.grad = None

    @torch.no_grad()
    def _check(self, gap: float) -> None:
        largest = torch.stack([tensor.abs().max() for tensor in self.crbm.learned.values()]).max().item()
        if np.isfinite(gap) and largest <= _LARGEST_WEIGHT:
            return
        what = f"a weight grew to {largest:.3g}" if np.isfinite(largest) else "weights are no numbers any more"
        slower = f"{self.settings.step_size / _SLOWER:.2g}"
        raise Diverged(
            f"step {self.step + 1}: {what}; nothing was overwritten, and what was kept before is as it was: "
            f"begin another run with --set step_size={slower}"
        )

    # State

    def _new_particles(self) -> Tensor:
        """Where the particles of persistent sampling begin: all visible units alike."""
        shape = self.crbm.learning.shape
        count = self.settings.batch if self.settings.persistent else 0
        return torch.full((count, shape.channels, shape.lines, shape.lines), 1 / shape.channels)

    def state_dict(self) -> dict[str, NDArray[Any]]:
        """All that is needed to go on."""
        state = name_weights(self.crbm.arrays())
        state |= {f"velocities/{name}": tensor.numpy().copy() for name, tensor in self._velocities.items()}
        return state | {"particles": self._particles.numpy().copy(), "step": np.array([self.step])}

    def load_state_dict(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Go on from a state; raises ValueError if it is not one of these settings."""
        self.crbm = Crbm(self.settings.config, weights_of(state))
        try:
            self.step = int(state["step"][0])
            for name, tensor in self._velocities.items():
                tensor.copy_(torch.from_numpy(state[f"velocities/{name}"]))
            self._particles = self._new_particles().copy_(torch.from_numpy(state["particles"]))
        except (KeyError, IndexError, RuntimeError, TypeError) as error:
            raise ValueError(f"it is not of these settings: {error}") from None


def contrast(layer: CrbmLayer, visible: Tensor, against: Tensor) -> Tensor:
    """The free energy of boards less that of others, means; its gradients are those of contrastive divergence."""
    gap: Tensor = layer.free_energy(visible).mean() - layer.free_energy(against).mean()
    return gap


# Held-out boards


def measure_crbm(crbm: Crbm, boards: Boards) -> dict[str, float]:
    """Means over boards: reconstruction error, free energy, activity, and how many multinomial units come out right."""
    layer, visible = crbm.learning, crbm.visible(boards)
    with torch.no_grad():
        means = layer.reconstruct(visible)
        found = {
            "reconstruction_error": float(((means - visible) ** 2).mean()),
            "free_energy": float(layer.free_energy(visible).mean()),
            "activity": float(layer.features(visible).mean()),
        }
        if layer.visible == "multinomial":
            found["points_right"] = float((means.argmax(1) == visible.argmax(1)).float().mean())
    return found


def use_of_kernels(crbm: Crbm, boards: Boards) -> Floats:
    """How often each kernel of the last layer is on, [kernels]."""
    return mean_use(crbm.features(boards).numpy(), crbm.learning.shape.kernels)


# Training a convolutional RBM on disk: the loop with its checkpoints, measurements and pictures, and the model.
#
# A run goes on to the same bytes on one thread: batch k is the same whoever computes it, and so is all chance of step
# k. One that diverges ends with a sentence, and leaves what was kept before.

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
    training = describe_training(settings, batches.dataset, batches.games, learner.positions, last, command)
    metrics = {
        name.replace("_", " "): Metric(value=value, unit=_UNITS.get(name, ""), positions=len(held_out))
        for name, value in last.values.items()
        if name.startswith("validation_")
    }
    save_crbm(path, _snapshot(learner, held_out), training, metrics=metrics, replace=True)
