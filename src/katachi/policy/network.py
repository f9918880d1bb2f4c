"""A convolutional network that predicts moves, for training: `policy/config.py` made of torch tensors.

Its weights are a dictionary of tensors by name, and nothing else changes. Players do not need torch: they use what
`policy/export.py` writes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final, NamedTuple, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import conv2d, layer_norm, linear, relu

from katachi.policy.config import DOUBT, KOMI_SCALE, SCORE, SCORE_SCALE, SPREAD, VALUE, PolicyConfig, is_learned
from katachi.policy.convolutions import Statistics, convolve, normalize, normalize_batch

# Filters and bias maps that look the same in all eight symmetries of the board (Maddison et al. 2014, section 4).
#
# What is learned is free; what is used is its mean over the symmetries, so each gradient is averaged over them too.


def symmetrize(maps: Tensor) -> Tensor:
    """The mean of square maps [..., k, k] over the eight symmetries."""
    turned = [torch.rot90(maps, turns, (-2, -1)) for turns in range(4)]
    mean = sum(turned[1:], start=turned[0]) / len(turned)
    return (mean + mean.flip(-1)) / 2


def first_of_orbits(maps: Tensor) -> Tensor:
    """Square maps in which every point has the number of one of the points that symmetry makes equal to it.

    So that symmetric filters begin as widely spread as free ones; their mean would not.
    """
    width = maps.shape[-1]
    points = torch.arange(width * width).view(width, width)
    turned = [torch.rot90(points, turns) for turns in range(4)]
    least = torch.stack([*turned, *(each.flip(-1) for each in turned)]).amin(0)
    return maps.flatten(-2)[..., least.flatten()].reshape(maps.shape)


# The network

Weights = dict[str, NDArray[np.float32]]

_PAPER_SPREAD: Final = (
    0.05  # Maddison et al. 2014, section 4: all begin uniform between −0.05 and 0.05; biases at 0 here
)
_FOLLOWING: Final = 0.05  # how far the statistics of a normalized layer go towards those of a batch
_FEWEST_CHANNELS: Final = 16  # that Winograd's method is worth its transforms for


_NOTHING: Final = np.empty(0, dtype=np.float32)


class Prediction(NamedTuple):
    """What a network says about B boards: logits, not masked, without the pass."""

    policy: Tensor  # [B, outputs, n²]
    value: Tensor | None = None  # [B], the logit that the mover wins
    score: Tensor | None = None  # [B], the mover's lead without komi, in units of ``SCORE_SCALE``
    spread: Tensor | None = None  # [B], the logarithm of its mean error in the same units
    doubt: Tensor | None = None  # [B], the logit of the mean square by which the value differs from the outcome
    ownership: Tensor | None = None  # [B, n²], the logit that a point will be the mover's
    reply: Tensor | None = None  # [B, n²], logits of the opponent's next move


class GlobalInputs(NamedTuple):
    """What a network is given of B boards beside their planes; it does not look at what it was not made for."""

    ranks: Tensor  # [B], the mover's rank as a code, and ``rank_count`` more for each server after the first
    komi: Tensor = torch.zeros(1)  # [B], as the mover sees it: positive for White


def count_layers(weights: Mapping[str, NDArray[np.float32]]) -> int:
    """How many layers there are before the heads."""
    return sum(name.startswith("layers.") and name.endswith(".weight") for name in weights)


class PolicyNetwork:
    """A network with its weights."""

    def __init__(self, config: PolicyConfig, weights: Mapping[str, NDArray[np.float32]]) -> None:
        """Take weights by name; raises ValueError if they are not those of the configuration."""
        shapes = {name: tuple(array.shape) for name, array in weights.items()}
        if shapes != config.weight_shapes():
            different = sorted(dict(shapes.items() ^ config.weight_shapes().items()))
            raise ValueError(f"its weights are not those of this network: {', '.join(different[:3])}")
        self.config = config
        # in which convolutions multiply in training, see `policy/convolutions.py`; None: torch convolves
        self.products: torch.dtype | None = torch.float32
        self.weights = {name: torch.tensor(weights[name]).requires_grad_(is_learned(name)) for name in shapes}

    @classmethod
    def new(cls, config: PolicyConfig, seed: int) -> Self:
        """A network that has learned nothing: all moves are equally likely, or nearly."""
        random = torch.Generator().manual_seed(seed)
        return cls(config, {name: _begin(config, name, random).numpy() for name in config.weight_shapes()})

    @classmethod
    def continued(cls, config: PolicyConfig, seed: int, weights: Mapping[str, NDArray[np.float32]]) -> Self:
        """A network that has the layers of another, and its own heads and inputs where the other has none or others.

        What is given beside planes, and pooled, begins as nothing, and so do residual blocks that the other has not: a
        deeper network says what the other does until it learns. Raises ValueError if its layers are not those of the
        other.
        """
        fresh = cls.new(config, seed).arrays()
        fits = {name: array for name, array in weights.items() if fresh.get(name, _NOTHING).shape == array.shape}
        if count_layers(weights) > config.layers:
            raise ValueError(f"it has {count_layers(weights)} layers, more than {config.layers}")
        if config.kind == "residual" and config.normalized:
            for layer in range(count_layers(weights), config.layers):
                names = [name for name in fresh if name.startswith(f"layers.{layer}.")]
                fits |= {name: fresh[name] for name in names}
                if layer % 2 == 0:  # the second layer of a block, which is added to what the block was given
                    fits[f"layers.{layer}.gain"] = np.zeros_like(fresh[f"layers.{layer}.gain"])
        missing = [name for name in fresh if name.startswith("layers.") and name not in fits and "pooling" not in name]
        if missing:
            raise ValueError(f"its weights are not those of this network: {', '.join(missing[:3])}")
        return cls(config, fresh | fits)

    @property
    def learned(self) -> dict[str, Tensor]:
        """The weights that are learned by gradients."""
        return {name: tensor for name, tensor in self.weights.items() if tensor.requires_grad}

    def arrays(self) -> Weights:
        """A copy of all weights."""
        return {name: tensor.detach().numpy().copy() for name, tensor in self.weights.items()}

    def predict(self, planes: Tensor, global_inputs: GlobalInputs, *, training: bool = False) -> Prediction:
        """What the network says of planes [B, C, n, n] and what it is given beside.

        In training layers are normalized by the batch, whose statistics are followed.
        """
        boards = planes.to(torch.float32, memory_format=torch.channels_last)
        boards = self._layer(0, boards, global_inputs=global_inputs, training=training)
        if self.config.kind == "plain":
            for layer in range(1, self.config.layers):
                boards = self._layer(layer, boards, training=training)
        for block in range(self.config.blocks):
            inner = self._layer(2 * block + 1, boards, training=training)
            boards = self._layer(2 * block + 2, inner, added=boards, training=training)
        policy, heads = self._maps(boards)
        if self.config.value:
            lead = torch.tanh(heads["ownership"].detach() / 2).sum(1) / SCORE_SCALE if self.config.counts else None
            rows = self._value(boards, global_inputs.komi, lead)
            heads["value"] = rows[VALUE]
            if self.config.score:
                score = rows[SCORE] if lead is None else rows[SCORE] + lead
                heads |= {"score": score, "spread": rows[SPREAD], "doubt": rows[DOUBT]}
        return Prediction(policy, **heads)

    def _maps(self, boards: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
        """The policy, [B, outputs, n²], and what other heads say of points, [B, n²], by one convolution."""
        names = ["policy", *(head for head in ("ownership", "reply") if getattr(self.config, head))]
        filters = torch.cat([self.weights[f"{name}.weight"] for name in names])
        maps = self._convolve(filters, boards) + torch.cat([self._bias(name) for name in names])
        maps, first = maps.flatten(2), self.config.outputs
        return maps[:, :first], {name: maps[:, first + number] for number, name in enumerate(names[1:])}

    def _layer(
        self,
        layer: int,
        boards: Tensor,
        *,
        training: bool,
        global_inputs: GlobalInputs | None = None,
        added: Tensor | None = None,
    ) -> Tensor:
        """A convolution, its biases, what a block adds, and ReLU."""
        name = f"layers.{layer}"
        pooled = linear(pool(boards), self.weights[f"{name}.pooling"]) if self.config.has_pooling(layer) else None
        boards = self._convolve(self.weights[f"{name}.weight"], boards, self.products if training else torch.float32)
        if self.config.has_bias(layer):
            boards = boards + self._bias(name)
        of_board = pooled if global_inputs is None else self._embed(global_inputs)
        if of_board is not None:
            boards = boards + of_board[:, :, None, None]
        if self.config.normalized:
            return self._normalize(name, boards, added, training=training)
        return relu(boards if added is None else boards + added)

    def _embed(self, global_inputs: GlobalInputs) -> Tensor | None:
        """What is added to the first layer for each board, [B, filters]."""
        config, parts = self.config, []
        if config.rank_embedding:
            parts.append(self.weights["ranks"][global_inputs.ranks % config.rank_count])
        if config.servers:
            parts.append(self.weights["servers"][global_inputs.ranks // config.rank_count])
        if config.komi:
            parts.append(global_inputs.komi[:, None] / KOMI_SCALE * self.weights["komi"])
        return sum(parts[1:], start=parts[0]) if parts else None

    def _normalize(self, name: str, boards: Tensor, added: Tensor | None, *, training: bool) -> Tensor:
        weights = {key: self.weights[f"{name}.{key}"] for key in ("gain", "shift", "mean", "variance")}
        kept = Statistics(weights["mean"], weights["variance"])
        if not training:
            return normalize(boards, weights["gain"], weights["shift"], added, kept)
        result, found = normalize_batch(boards, weights["gain"], weights["shift"], added)
        for old, new in zip(kept, found, strict=True):
            old.lerp_(new, _FOLLOWING)
        return result

    def _convolve(self, filters: Tensor, boards: Tensor, products: torch.dtype | None = torch.float32) -> Tensor:
        if self.config.symmetric:
            filters = symmetrize(filters)
        if filters.shape[-1] == 3 and min(filters.shape[:2]) >= _FEWEST_CHANNELS and products is not None:
            return convolve(boards, filters, products)
        filters = filters.contiguous(memory_format=torch.channels_last)
        return conv2d(boards, filters, padding=filters.shape[-1] // 2).float()

    def _bias(self, name: str) -> Tensor:
        """[outputs, n, n] or [outputs, 1, 1]."""
        bias = self.weights[f"{name}.bias"]
        if bias.ndim == 1:
            return bias[:, None, None]
        return symmetrize(bias) if self.config.symmetric else bias

    def _value(self, boards: Tensor, komi: Tensor, lead: Tensor | None) -> Tensor:
        """The rows of the value's outputs, [1 or 4, B]; a lead by ownership is in units of ``SCORE_SCALE``."""
        seen = pool(boards) if self.config.pooling else boards.mean((2, 3))
        if self.config.score:
            seen = layer_norm(seen, seen.shape[1:])
        more = [komi / KOMI_SCALE] * self.config.komi + ([] if lead is None else [lead])
        seen = torch.cat([seen, *(numbers[:, None] for numbers in more)], dim=1)
        hidden = relu(linear(seen, self.weights["value.hidden"], self.weights["value.hidden_bias"]))
        return linear(hidden, self.weights["value.output"], self.weights["value.output_bias"]).T


def pool(boards: Tensor) -> Tensor:
    """The mean and the maximum of every channel over the whole board, [B, 2 · channels]."""
    points = boards.permute(0, 2, 3, 1).flatten(1, 2)
    return torch.cat([points.mean(1), points.max(1).values], dim=1)


def _begin(config: PolicyConfig, name: str, random: torch.Generator) -> Tensor:
    """The first weights of a name.

    Those of the paper's network are the paper's, but for biases, which begin at 0; else filters keep the size of what
    they are given (He et al. 2015), and blocks and outputs begin as nothing.
    """
    shape = config.weight_shapes()[name]
    kind = name.rpartition(".")[2]
    if kind in ("gain", "variance"):
        return torch.zeros(shape) if kind == "gain" and _ends_block(config, name) else torch.ones(shape)
    if kind not in ("weight", "hidden"):
        return torch.zeros(shape)
    if config.kind == "plain" and not config.normalized:
        first = torch.empty(shape).uniform_(-_PAPER_SPREAD, _PAPER_SPREAD, generator=random)
    elif name in ("policy.weight", "ownership.weight", "reply.weight") or (
        not config.normalized and _ends_block(config, name)
    ):
        first = torch.zeros(shape)
    else:
        first = torch.randn(shape, generator=random) * math.sqrt(2 / math.prod(shape[1:]))
    return first_of_orbits(first) if config.symmetric and first.ndim == 4 else first


def _ends_block(config: PolicyConfig, name: str) -> bool:
    """Whether weights belong to the second layer of a residual block."""
    first, _, rest = name.partition(".")
    layer = rest.partition(".")[0]
    return config.kind == "residual" and first == "layers" and int(layer) > 0 and int(layer) % 2 == 0
