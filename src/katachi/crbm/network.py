"""A convolutional RBM for training: ``crbm/network.py`` made of torch tensors (Largman and Pham; Lee et al. 2009).

The energy of a layer is E(v, h) = −Σ h · (kernels ⋆ v) − Σ b·h − Σ a·v, with ½(v − a)² in place of the last term
where visible units are real; ⋆ is correlation, so that a kernel lies on the board as it is drawn. All that learning
needs follows from the *free energy* F(v) = −log Σ_h e^(−E): the gradient of mean F(data) − mean F(reconstruction) is
that of contrastive divergence, also where eight orientations share one kernel.

Players do not need torch: ``crbm/evaluator.py`` computes the same features.

What a convolutional RBM is made of: visible units, kernels, how hidden units share them, and weights.

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
from collections.abc import Mapping
from typing import Final, Literal, NamedTuple, Self

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, model_validator
from torch import Tensor
from torch.nn.functional import conv2d, conv_transpose2d, softplus

from katachi.core.contracts import Floats
from katachi.crbm.features import point_states
from katachi.features.planes import PlaneSet
from katachi.go.points import MAX_SIZE, Symmetry

# Crbm config

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
    pooled: bool  # whether the features do not tell which orientation is on

    @property
    def places(self) -> int:
        """How many windows there are in one direction."""
        return self.lines - self.kernel_size + 1

    @property
    def maps(self) -> int:
        """How many features each window has."""
        return self.kernels if self.pooled else self.kernels * self.orientations


class CrbmConfig(BaseModel):
    """A convolutional RBM without its weights; the defaults are the paper's."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

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


LAYERS: Final = ("first", "second")  # the beginnings of the names of their weights


# The weights of a convolutional RBM as arrays: whether they fit, turned kernels, and the distance to the edge.

Weights = dict[str, Floats]


def check_weights(config: CrbmConfig, weights: Mapping[str, NDArray[np.float32]]) -> None:
    """Raise ValueError if there are no such weights, or they are no numbers."""
    shapes = {name: tuple(array.shape) for name, array in weights.items()}
    if shapes != config.weight_shapes():
        different = sorted(dict(shapes.items() ^ config.weight_shapes().items()))
        raise ValueError(f"its weights are not those of this CRBM: {', '.join(different[:3])}")
    for name, array in weights.items():
        if not np.isfinite(array).all():
            raise ValueError(f"some of its {name} are no numbers")


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


# Crbm

_FIRST_HIDDEN_BIAS: Final = -2.0  # hidden units begin nearly off


class CrbmLayer:
    """Kernels over visible units [B, channels, n, n]; hidden units are [B, kernels, orientations, places, places]."""

    def __init__(
        self, shape: LayerShape, visible: Visible, units: Units, weights: Mapping[str, Tensor], given: Tensor | None
    ) -> None:
        """``given`` is what stands beside every board and is not reconstructed, [given, n, n]."""
        self.shape = shape
        self.visible = visible
        self.units = units
        self.kernels, self.hidden_bias, self.visible_bias = (
            weights[name] for name in ("kernels", "hidden_bias", "visible_bias")
        )
        self._given = given

    # From visible to hidden units

    def inputs(self, visible: Tensor) -> Tensor:
        """What reaches the hidden units."""
        boards = visible
        if self._given is not None:
            boards = torch.cat([visible, self._given.expand(len(visible), -1, -1, -1)], dim=1)
        inputs = conv2d(boards, self._filters())
        by_kernel = inputs.reshape(len(inputs), self.shape.kernels, self.shape.orientations, *inputs.shape[2:])
        return by_kernel + self.hidden_bias[:, None, None, None]

    def hidden(self, visible: Tensor) -> Tensor:
        """The probabilities of the hidden units to be on."""
        inputs = self.inputs(visible)
        if self.units == "binary":
            return inputs.sigmoid()  # what the general form below comes to, quicker
        return torch.exp(inputs - self._log_partition(inputs))

    def features(self, visible: Tensor) -> Tensor:
        """The probabilities of hidden units, of any orientation if they are pooled, [B, maps, places, places]."""
        hidden = self.hidden(visible)
        return hidden.sum(2) if self.shape.pooled else hidden.flatten(1, 2)

    def free_energy(self, visible: Tensor) -> Tensor:
        """F(v) of each board, [B]."""
        bias = self.visible_bias[:, None, None]
        if self.visible == "real":
            energy = ((visible - bias) ** 2 / 2).sum((1, 2, 3))
        else:
            energy = -(visible * bias).sum((1, 2, 3))
        return energy - self._log_partition(self.inputs(visible)).sum((1, 2, 3, 4))

    def _log_partition(self, inputs: Tensor) -> Tensor:
        """The logarithm of Σ e^input over what a hidden unit can be, with the off state's 0 if there is one."""
        if self.units == "binary":
            return softplus(inputs)
        total = inputs.logsumexp(2, keepdim=True)
        return softplus(total) if self.units == "oriented-or-off" else total

    def _filters(self) -> Tensor:
        """All kernels in all their orientations, [kernels · orientations, channels + given, k, k]."""
        if self.shape.orientations == 1:
            return self.kernels
        return torch.stack([_turn(self.kernels, symmetry) for symmetry in Symmetry], dim=1).flatten(0, 1)

    # From hidden to visible units

    def top_down(self, hidden: Tensor) -> Tensor:
        """What reaches the visible units, [B, channels, n, n]."""
        filters = self._filters()[:, : self.shape.channels]
        return conv_transpose2d(hidden.flatten(1, 2), filters) + self.visible_bias[:, None, None]

    def visible_means(self, hidden: Tensor) -> Tensor:
        """The probabilities of visible units to be on, or the means of real ones."""
        inputs = self.top_down(hidden)
        if self.visible == "multinomial":
            return inputs.softmax(1)
        return inputs if self.visible == "real" else inputs.sigmoid()

    def reconstruct(self, visible: Tensor) -> Tensor:
        """What the hidden units make of boards, without chance: means all the way."""
        return self.visible_means(self.hidden(visible))

    def sample(self, visible: Tensor, random: torch.Generator) -> Tensor:
        """A step of Gibbs sampling: hidden units drawn from visible ones, and visible ones from them."""
        hidden = _draw(self.hidden(visible), 2, random)
        means = self.visible_means(hidden)
        if self.visible == "real":
            return means
        return _draw(means, 1, random) if self.visible == "multinomial" else _draw_each(means, random)


class Crbm:
    """One layer, or two of which the first is as it is and the second learns."""

    def __init__(self, config: CrbmConfig, weights: Mapping[str, NDArray[np.float32]]) -> None:
        """Take weights by name; raises ValueError if they are not those of the configuration."""
        check_weights(config, weights)
        self.config = config
        self.weights = {name: torch.tensor(weights[name]) for name in config.weight_shapes()}
        shapes = config.layer_shapes()
        edges = torch.from_numpy(edge_planes(config.size)) if config.edges else None
        self.layers = [CrbmLayer(shapes[0], config.visible, config.units, self._of_layer(0), edges)]
        if len(shapes) > 1:
            self.layers.append(CrbmLayer(shapes[1], "binary", "binary", self._of_layer(1), None))
        for tensor in self.learned.values():
            tensor.requires_grad_()

    @classmethod
    def new(
        cls, config: CrbmConfig, seed: int, spread: float, first: Mapping[str, NDArray[np.float32]] | None = None
    ) -> Self:
        """One that has learned nothing but what ``first`` has of its weights, such as a trained first layer.

        New kernels are drawn with a standard deviation of ``spread``.
        """
        random = torch.Generator().manual_seed(seed)
        weights = {name: _begin(name, shape, spread, random).numpy() for name, shape in config.weight_shapes().items()}
        return cls(config, weights | {name: array for name, array in (first or {}).items() if name in weights})

    def _of_layer(self, number: int) -> dict[str, Tensor]:
        start = f"{LAYERS[number]}."
        return {name.removeprefix(start): tensor for name, tensor in self.weights.items() if name.startswith(start)}

    @property
    def learning(self) -> CrbmLayer:
        """The layer that learns: the last one."""
        return self.layers[-1]

    @property
    def learned(self) -> dict[str, Tensor]:
        """The weights of that layer."""
        start = LAYERS[len(self.layers) - 1]
        return {name: tensor for name, tensor in self.weights.items() if name.startswith(start)}

    def arrays(self) -> Weights:
        """A copy of all weights."""
        return {name: tensor.detach().numpy().copy() for name, tensor in self.weights.items()}

    def visible(self, planes: NDArray[np.uint8]) -> Tensor:
        """The visible units of the layer that learns, of boards as planes of states [B, states, n, n]."""
        visible = torch.from_numpy(planes).to(torch.float32)
        with torch.no_grad():
            for layer in self.layers[:-1]:
                visible = layer.features(visible)
        return visible

    def features(self, planes: NDArray[np.uint8]) -> Tensor:
        """The features of boards, [B, maps, places, places]."""
        with torch.no_grad():
            return self.learning.features(self.visible(planes))


def _begin(name: str, shape: tuple[int, ...], spread: float, random: torch.Generator) -> Tensor:
    if name.endswith("kernels"):
        return spread * torch.randn(shape, generator=random)
    return torch.full(shape, _FIRST_HIDDEN_BIAS if name.endswith("hidden_bias") else 0.0)


def _turn(kernels: Tensor, symmetry: Symmetry) -> Tensor:
    """``Symmetry.transform`` of tensors."""
    mirrored = kernels.flip(-1) if symmetry >= Symmetry.MIRROR else kernels
    return torch.rot90(mirrored, -(symmetry % 4), (-2, -1))


def _draw(shares: Tensor, dim: int, random: torch.Generator) -> Tensor:
    """One of the alternatives along a dimension, or none for what their shares leave of 1, as zeros and a one."""
    ends = shares.cumsum(dim)
    drawn = torch.rand(shares.narrow(dim, 0, 1).shape, generator=random)
    return ((drawn < ends) & (drawn >= ends - shares)).to(shares.dtype)


def _draw_each(shares: Tensor, random: torch.Generator) -> Tensor:
    return (torch.rand(shares.shape, generator=random) < shares).to(shares.dtype)
