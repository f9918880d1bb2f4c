"""A convolutional RBM for training, made of torch tensors (Largman and Pham; Lee et al. 2009).

The energy of a layer is E(v, h) = −Σ h · (kernels ⋆ v) − Σ b·h − Σ a·v, with ½(v − a)² in place of the last term
where visible units are real; ⋆ is correlation, so that a kernel lies on the board as it is drawn. All that learning
needs follows from the *free energy* F(v) = −log Σ_h e^(−E): the gradient of mean F(data) − mean F(reconstruction) is
that of contrastive divergence, also where eight orientations share one kernel.

Players do not need torch: ``crbm/evaluator.py`` computes the same features.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import conv2d, conv_transpose2d, softplus

from katachi.crbm.config import LAYERS, CrbmConfig, LayerShape, Units, Visible, Weights, check_weights, edge_planes
from katachi.go.points import Symmetry

_FIRST_HIDDEN_BIAS: Final = -2.0  # hidden units start nearly off


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
        weights = {name: _start(name, shape, spread, random).numpy() for name, shape in config.weight_shapes().items()}
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


def _start(name: str, shape: tuple[int, ...], spread: float, random: torch.Generator) -> Tensor:
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
