"""Contrastive divergence: a convolutional RBM learns to prefer boards as they are to what it makes of them itself.

Each step compares a batch of boards with reconstructions of them: after one step of Gibbs sampling (CD-1, Hinton
2002) or several (CD-k), or with *particles* that are sampled on from step to step (persistent, Tieleman 2008).
``sparsity`` pulls the mean activity of every kernel towards a target (Lee et al. 2009).

All chance comes from the seed and the number of the step, so that a run resumes to the same bytes on one thread.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from katachi.core import training as core
from katachi.core.cards import Metric
from katachi.core.contracts import Floats
from katachi.crbm.config import CrbmTraining, Weights
from katachi.crbm.drawing import NamedCrbm, draw_kernels
from katachi.crbm.evaluator import SavedCrbm, load_crbm, mean_use, save_crbm
from katachi.crbm.network import Crbm, CrbmLayer
from katachi.data.batches import Batches
from katachi.data.dataset import Dataset
from katachi.sgf.files import Split

_SAMPLING: Final = 2  # what a seed is drawn for, beside those of data/batches.py
_LARGEST_WEIGHT: Final = 100.0  # beyond it nothing is learned any more
_SLOWER: Final = 3  # how much smaller the step size is that a diverged run should take

Boards = NDArray[np.uint8]  # planes of states, [B, states, n, n]


class Diverged(core.TrainingError):
    """Weights that are not numbers any more, or too large to be of use: at which step, and the way out."""


class Contrast(NamedTuple):
    """What was found in a batch, or the sums over several."""

    error: float  # mean square of what reconstructions differ by
    gap: float  # mean free energy of the boards less that of what they were compared with
    batches: int = 1


class ContrastiveLearner:
    """A convolutional RBM that learns batch by batch, from boards of any source."""

    def __init__(self, settings: CrbmTraining, weights: Mapping[str, NDArray[np.float32]] | None = None) -> None:
        """Start from what ``weights`` has of those that are needed; the others are new."""
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
        what = f"a weight grew to {largest:.3g}" if np.isfinite(largest) else "weights are not numbers any more"
        slower = f"{self.settings.step_size / _SLOWER:.2g}"
        raise Diverged(
            f"step {self.step + 1}: {what}; nothing was overwritten, and what was kept before is as it was: "
            f"start another run with --set step_size={slower}"
        )

    # State

    def _new_particles(self) -> Tensor:
        """Where the particles of persistent sampling start: all visible units alike."""
        shape = self.crbm.learning.shape
        count = self.settings.batch if self.settings.persistent else 0
        return torch.full((count, shape.channels, shape.lines, shape.lines), 1 / shape.channels)

    def state_dict(self) -> dict[str, NDArray[Any]]:
        """All that is needed to resume."""
        state = core.name_weights(self.crbm.arrays())
        state |= {f"velocities/{name}": tensor.numpy().copy() for name, tensor in self._velocities.items()}
        return state | {"particles": self._particles.numpy().copy(), "step": np.array([self.step])}

    def load_state_dict(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Resume from a state; raises ValueError if it is not one of these settings."""
        self.crbm = Crbm(self.settings.config, core.weights_of(state))
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


# The loop. A run that diverges ends with a sentence, and leaves what was kept before.

PICTURE: Final = "kernels.svg"
_UNITS: Final = {"validation_reconstruction_error": "mean square", "validation_free_energy": "nats"}


def train_crbm(
    settings: CrbmTraining,
    directory: Path,
    watch: core.Watcher = core.ignore,
    command: str = "",
    machine: core.Machine = core.Machine(),  # noqa: B008
    tick: Callable[[int, Contrast], None] = core.ignore,
) -> None:
    """Train in a run directory, or resume there, and save the model there at the end.

    ``watch`` sees every evaluation, those of an earlier run first; ``tick`` sees after every batch how many positions
    were learned from. After every evaluation ``kernels.svg`` shows the kernels. Raises Diverged.
    """
    torch.set_num_threads(machine.threads)
    batches = _open_batches(settings)
    learner = ContrastiveLearner(settings, core.load_first_weights(settings.first_model, _weights_of_model))
    with core.TrainingRun(directory, settings, watch, command) as run:
        run.restore(learner)
        held_out = batches.positions(Split.VALIDATION, settings.validation_positions).planes
        stream = batches.stream(learner.step, machine.workers)
        for found in run.learn(
            learner,
            update=lambda: learner.update(next(stream).planes),
            every=max(1, settings.evaluate_every // settings.batch),
            tick=lambda found: tick(learner.positions, found),
            checkpoint_seconds=machine.checkpoint_seconds,
        ):
            line = core.MetricLine(
                {
                    "positions": learner.positions,
                    "reconstruction_error": found.error / found.batches,
                    **run.times("seconds"),
                    **{f"validation_{name}": value for name, value in measure_crbm(learner.crbm, held_out).items()},
                }
            )
            kernels = draw_kernels([NamedCrbm(directory.name, _snapshot(learner, held_out))])
            run.keep(learner.state_dict(), line, {PICTURE: kernels})
        _save(run, learner, batches, held_out)
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


def _snapshot(learner: ContrastiveLearner, held_out: Boards) -> SavedCrbm:
    return SavedCrbm(learner.settings.config, learner.crbm.arrays(), use_of_kernels(learner.crbm, held_out))


def _save(run: core.TrainingRun, learner: ContrastiveLearner, batches: Batches, held_out: Boards) -> None:
    training = run.describe(batches.dataset.title, batches.games, learner.positions)
    metrics = {
        name.replace("_", " "): Metric(value=value, unit=_UNITS.get(name, ""), positions=len(held_out))
        for name, value in run.lines[-1].values.items()
        if name.startswith("validation_")
    }
    save_crbm(run.path / "model", _snapshot(learner, held_out), training, metrics=metrics, replace=True)
