"""What a convolutional RBM is made of: visible units, kernels, how hidden units share them, and weights.

Largman and Pham: a board is three channels, of which one is 1 on every point (own stone, opponent stone, free); a
*kernel* looks at every k×k window of it, and each window has a hidden unit for each kernel. The hidden units are the
features.

- ``visible``: *multinomial* units are in one of their states; *real* ones are means that are never sampled.
- ``units``: *binary* hidden units; *oriented* ones, where each kernel is laid down in its eight orientations and just
  one of them is on; *oriented-or-off*, where at most one is.
- ``liberties``: seven states of a point instead of three. ``edges``: kernels also see how far the edge is away; that
  is given, not reconstructed.
- ``second_kernels``: a second layer, whose visible units are the features of the first.

>>> CrbmConfig().feature_count
5145
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from katachi.core import training as core
from katachi.core.cards import Strict
from katachi.core.contracts import Floats
from katachi.crbm.features import point_states
from katachi.features.planes import PlaneSet
from katachi.go.points import MAX_SIZE, Symmetry

EDGE_DISTANCES: Final = 4  # 0, 1, 2, and 3 or more
MAX_KERNELS: Final = 4096
Visible = Literal["multinomial", "real", "binary"]  # binary: in a second layer alone
Units = Literal["binary", "oriented", "oriented-or-off"]


class LayerShape(NamedTuple):
    """How large a layer is."""

    lines: int  # of a visible board, in one direction
    channels: int  # of visible units that are reconstructed
    given: int  # channels that are not
    kernels: int
    kernel_size: int
    orientations: int  # of each kernel, 1 or 8
    pooled: bool  # whether the features do not say which orientation is on

    @property
    def places(self) -> int:
        """How many windows there are in one direction."""
        return self.lines - self.kernel_size + 1

    @property
    def maps(self) -> int:
        """How many features each window has."""
        return self.kernels if self.pooled else self.kernels * self.orientations


class CrbmConfig(Strict):
    """A convolutional RBM without its weights; the defaults are the paper's."""

    size: int = Field(default=9, ge=2, le=MAX_SIZE)
    visible: Literal["multinomial", "real"] = "multinomial"
    liberties: bool = False
    edges: bool = False
    kernels: int = Field(default=105, ge=1, le=MAX_KERNELS)
    kernel_size: int = Field(default=3, ge=1, le=MAX_SIZE)
    units: Units = "binary"
    second_kernels: int | None = Field(default=None, ge=1, le=MAX_KERNELS)
    second_size: int = Field(default=3, ge=1, le=MAX_SIZE)

    @model_validator(mode="after")
    def _fits(self) -> Self:
        for number, layer in enumerate(self.layer_shapes()):
            if layer.places < 1:
                name = ("kernel_size", "second_size")[number]
                raise ValueError(f"{name} is at most {layer.lines} here, not {layer.kernel_size}")
        return self

    @property
    def planes(self) -> PlaneSet:
        """The states of a point that the visible units stand for."""
        return point_states(liberties=self.liberties)

    def layer_shapes(self) -> tuple[LayerShape, ...]:
        """The one layer, or both."""
        oriented = self.units != "binary"
        first = LayerShape(
            self.size,
            self.planes.count,
            EDGE_DISTANCES if self.edges else 0,
            self.kernels,
            self.kernel_size,
            len(Symmetry) if oriented else 1,
            self.units != "oriented",
        )
        if self.second_kernels is None:
            return (first,)
        return first, LayerShape(first.places, first.maps, 0, self.second_kernels, self.second_size, 1, True)

    @property
    def feature_count(self) -> int:
        """How many features a board has: the hidden units of the last layer."""
        last = self.layer_shapes()[-1]
        return last.places**2 * last.maps

    def weight_shapes(self) -> dict[str, tuple[int, ...]]:
        """All arrays of weights by name."""
        shapes: dict[str, tuple[int, ...]] = {}
        for name, layer in zip(LAYERS, self.layer_shapes(), strict=False):
            shapes[f"{name}.kernels"] = (
                layer.kernels,
                layer.channels + layer.given,
                layer.kernel_size,
                layer.kernel_size,
            )
            shapes[f"{name}.hidden_bias"] = (layer.kernels,)
            shapes[f"{name}.visible_bias"] = (layer.channels,)
        return shapes

    def parameter_count(self) -> int:
        """How many numbers are learned."""
        return sum(map(math.prod, self.weight_shapes().values()))


LAYERS: Final = ("first", "second")  # the starts of the names of their weights


Weights = dict[str, Floats]


def check_weights(config: CrbmConfig, weights: Mapping[str, NDArray[np.float32]]) -> None:
    """Raise ValueError if there are no such weights, or they are not numbers."""
    shapes = {name: tuple(array.shape) for name, array in weights.items()}
    if shapes != config.weight_shapes():
        different = sorted(dict(shapes.items() ^ config.weight_shapes().items()))
        raise ValueError(f"its weights are not those of this CRBM: {', '.join(different[:3])}")
    for name, array in weights.items():
        if not np.isfinite(array).all():
            raise ValueError(f"some of its {name} are not numbers")


def orient(kernels: Floats, shape: LayerShape) -> Floats:
    """All kernels in all their orientations, [kernels · orientations, channels, k, k]."""
    if shape.orientations == 1:
        return kernels
    turned = np.stack([symmetry.transform(kernels) for symmetry in Symmetry], axis=1)
    return turned.reshape(-1, *kernels.shape[1:])


def edge_planes(size: int) -> Floats:
    """How far the nearest edge is from every point, as planes of zeros and ones, [EDGE_DISTANCES, n, n]."""
    line = np.minimum(np.arange(size), np.arange(size)[::-1])
    distance = np.minimum(np.minimum.outer(line, line), EDGE_DISTANCES - 1)
    planes: Floats = (distance == np.arange(EDGE_DISTANCES)[:, None, None]).astype(np.float32)
    return planes


# Training: the settings, and the command of ``katachi train``. Here, because neither needs torch.


class CrbmTraining(core.DatasetTraining, CrbmConfig):
    """A convolutional RBM, and how it learns."""

    positions: core.Count = 500_000
    batch: core.Batch = 100
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
    seed: core.Seed = 0
    evaluate_every: core.Count = 25_000  # positions
    validation_positions: core.Count = 2048
    first_model: str | None = None  # a run or a model whose weights to start from, such as those of a first layer

    @model_validator(mode="after")
    def _can_be_sparse(self) -> Self:
        if self.sparsity and self.units == "oriented" and self.second_kernels is None:
            raise ValueError("oriented units are never off: sparsity needs binary or oriented-or-off ones")
        return self

    @property
    def config(self) -> CrbmConfig:
        """The CRBM alone."""
        return core.part_of(self, CrbmConfig)

    def momentum_at(self, step: int) -> float:
        """The momentum of a step from 0 on."""
        return self.momentum if step * 10 < self.steps else self.final_momentum


def _summarize(_: CrbmTraining, lines: Sequence[core.MetricLine]) -> str:
    """What was last measured of held-out boards."""
    if not lines:
        return ""
    values = lines[-1].values
    share = values.get("validation_points_right")
    right = "" if share is None else f", {share:.1%} of points right"
    return (
        f"held-out boards: reconstruction error {values['validation_reconstruction_error']:.4f}{right}, "
        f"free energy {values['validation_free_energy']:.1f}, activity {values['validation_activity']:.3f}"
    )


def _parse(values: dict[str, Any]) -> CrbmTraining:
    from katachi.data.dataset import infer_size

    return infer_size(values, partial(core.check_dataset_settings, CrbmTraining, made_by="katachi data import"))


def _train(settings: CrbmTraining, folder: Path, command: str, machine: core.Machine, observer: core.Observer) -> None:
    from katachi.crbm.train import train_crbm

    train_crbm(settings, folder, observer.watch, command, machine, observer.tick)


TRAINING: Final = core.TrainingCommand(
    help="""Find features of boards without supervision: a convolutional RBM (Largman and Pham).

    A run that was interrupted resumes when the same command is given again; kernels.svg in its folder shows what it has
    found so far. What the features are worth, katachi train value learns. Settings are those of the CRBM and of
    learning: visible, kernels, kernel_size, units, gibbs_steps, sparsity … All are in config.toml of any run.

    Examples:
      katachi train crbm --data runs/games
      katachi train crbm --data runs/games --set units=oriented-or-off --run runs/oriented
      katachi train crbm --data runs/games --set visible=real --set spread=0.01 --set step_size=0.001 --run runs/real
      katachi train crbm --data runs/games --set persistent=true --set sparsity=1.0
      katachi train crbm --data runs/games --from runs/oriented --set second_kernels=50 --set units=oriented-or-off
      katachi train crbm --resume runs/oriented
      katachi show runs/oriented
    """,
    options=(core.DATA, core.DATA_SIZE, core.POSITIONS, core.SEED, core.FIRST_RUN),
    parse=_parse,
    train=_train,
    folder=lambda settings: f"crbm-{settings.size}",
    summarize=_summarize,
    total=lambda settings: settings.steps * settings.batch,
    recent=lambda sums: f"error {sums.error / sums.batches:.4f}",
    usual="the paper's",
    needs=("torch",),
    takes_workers=True,
    then=("see it: katachi show {run}", "learn what its features are worth: katachi train value {run} --data SET"),
)
