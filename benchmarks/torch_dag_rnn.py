"""The DAG-RNN once more, in torch: the peer of our kernels in the benchmark, and their reference in the tests.

It shares nothing with them but the names of the weights. The four planes are those of the four flips of a board, made
by anti-diagonals from the upper left corner: all steps of a diagonal are independent and make one product, over all
boards and flips. What the points themselves give is one product before. In float64 it is exact enough to check
float32.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import linear

from katachi.go.points import Symmetry
from katachi.territory.inputs import PointInputs
from katachi.territory.network import KINDS, DagRnnConfig

_FLIPS: Final = (Symmetry.IDENTITY, Symmetry.MIRROR, Symmetry.MIRROR_TURN_180, Symmetry.TURN_180)
_DIAGONAL: Final = Symmetry.MIRROR_TURN_270
# Of the two steps at the ends of a diagonal the upper right one has a predecessor to its left, the other one above.
_HAS_LEFT: Final = torch.tensor([1.0, 0.0])[:, None]
_HAS_ABOVE: Final = torch.tensor([0.0, 1.0])[:, None]


class TorchDagRnn:
    """The same network, with weights that torch can learn."""

    def __init__(
        self,
        config: DagRnnConfig,
        inputs: PointInputs,
        weights: Mapping[str, NDArray[Any]],
        dtype: torch.dtype = torch.float32,
    ) -> None:
        self.config = config
        self.inputs = inputs
        self.dtype = dtype
        self.weights = {
            name: torch.tensor(np.asarray(array), dtype=dtype, requires_grad=True) for name, array in weights.items()
        }

    def logits(self, inputs: NDArray[Any], size: int) -> Tensor:
        """What ``DagRnn.logits`` says, [B, n², outputs]."""
        seen = torch.from_numpy(inputs).to(self.dtype)  # of each point, [B, n², .]
        for sweep in range(self.config.sweeps):
            seen = torch.cat([seen, *self._sweep(sweep, seen, size)], -1)
        matrix, bias = self._hidden("output", self.config.sweeps, 0)
        hidden = self._unit(linear(seen, matrix.flatten(0, 1), bias.repeat(len(_FLIPS))))
        mean = hidden.reshape(*hidden.shape[:2], len(_FLIPS), self.config.hidden).mean(-2)
        return linear(mean, self.weights["output.output"], self.weights["output.output_bias"])

    def _unit(self, x: Tensor) -> Tensor:
        return torch.relu(x) if self.config.cell == "gated" else torch.sigmoid(x)

    def _hidden(self, name: str, sweep: int, predecessors: int) -> tuple[Tensor, Tensor]:
        """The part of a network's first matrix that sees a point as it is, for each flip, [4, hidden, seen]; its bias.

        Not the inputs are flipped but the columns, which are few: a flip sees them in another order.
        """
        matrix = self._matrix(name, sweep, predecessors)
        orders = []
        for number, flip in enumerate(_FLIPS):
            order = np.argsort(self.inputs.flip_order(flip)).tolist()
            for _ in range(sweep):
                order += self._blocks(len(order), [number ^ plane for plane in range(len(_FLIPS))])
            orders.append(order)
        return torch.stack([matrix[:, torch.tensor(order)] for order in orders]), self.weights[f"{name}.hidden_bias"]

    def _matrix(self, name: str, sweep: int, predecessors: int) -> Tensor:
        """The first matrix of a network, the mean of it and its mirror image if the diagonal matters not."""
        matrix = self.weights[f"{name}.hidden"]
        if not self.config.diagonal:
            return matrix
        order = self.inputs.flip_order(_DIAGONAL).tolist()
        for _ in range(sweep):
            order += self._blocks(len(order), [0, 2, 1, 3])
        order += self._blocks(len(order), list(reversed(range(predecessors))))
        return (matrix + matrix[:, torch.tensor(order)]) / 2

    def _blocks(self, first: int, order: list[int]) -> list[int]:
        """The columns of blocks of states in an order, from a first column on."""
        channels = self.config.channels
        return [first + block * channels + channel for block in order for channel in range(channels)]

    def _sweep(self, sweep: int, seen: Tensor, size: int) -> Tensor:
        """The states of all flips on the board, [4, B, n², channels], made diagonal after diagonal."""
        names = [f"sweeps.{sweep}.{kind}" for kind in KINDS]
        counts = [self.config.predecessors(kind) for kind in KINDS]
        interior, sides, corner = (
            self._from_points(name, sweep, count, seen, places)
            for name, count, places in zip(names, counts, _places(size), strict=True)
        )
        width = seen.shape[-1]
        recurrent = [self._matrix(name, sweep, count)[:, width:] for name, count in zip(names, counts, strict=True)]
        edge = seen.new_zeros((len(_FLIPS), len(seen), 1, self.config.channels))
        made = [self._state(names[2], corner, edge)]
        first = 1
        for diagonal in range(1, 2 * size - 1):
            length = size - abs(size - 1 - diagonal)
            if diagonal < size:  # the steps at both ends lack a predecessor
                before, ends = made[-1], slice(2 * diagonal - 2, 2 * diagonal)
                outer = before[:, :, [0, -1]]
                sided = self._make(names[1], sides[:, :, ends], recurrent[1], outer * _HAS_ABOVE, outer * _HAS_LEFT)
                inner = slice(first + 1, first + length - 1)
                inside = self._make(names[0], interior[:, :, inner], recurrent[0], before[:, :, :-1], before[:, :, 1:])
                made.append(torch.cat([sided[:, :, :1], inside, sided[:, :, 1:]], 2))
            else:
                above, left = made[-1][:, :, :-1], made[-1][:, :, 1:]
                made.append(self._make(names[0], interior[:, :, first : first + length], recurrent[0], above, left))
            first += length
        states = torch.cat(made, 2)
        return torch.stack([state[:, places] for state, places in zip(states, _places_back(size), strict=True)])

    def _from_points(self, name: str, sweep: int, predecessors: int, seen: Tensor, places: Tensor) -> Tensor:
        """What the points themselves give to hidden units, [4, B, places, hidden], where each flip has its places."""
        matrix, bias = self._hidden(name, sweep, predecessors)
        if places.shape[1] == seen.shape[1]:  # all points: one product, and fewer numbers to put in order
            hidden = linear(seen, matrix.flatten(0, 1), bias.repeat(len(_FLIPS)))
            hidden = hidden.reshape(*hidden.shape[:2], *matrix.shape[:2])
            return torch.stack([hidden[:, points, flip] for flip, points in enumerate(places)])
        return torch.stack([linear(seen[:, points], matrix[flip], bias) for flip, points in enumerate(places)])

    def _make(self, name: str, from_points: Tensor, recurrent: Tensor, above: Tensor, left: Tensor) -> Tensor:
        """The states of steps that have predecessors; a missing one is 0."""
        channels = self.config.channels
        seen = torch.cat([above, left], -1) if recurrent.shape[1] == 2 * channels else above + left
        share = 0.5 if name.endswith(KINDS[0]) else 1.0
        return self._state(name, from_points + linear(seen, recurrent), (above + left) * share)

    def _state(self, name: str, hidden: Tensor, mean: Tensor) -> Tensor:
        ends = linear(self._unit(hidden), self.weights[f"{name}.output"], self.weights[f"{name}.output_bias"])
        if self.config.cell == "logistic":
            return torch.sigmoid(ends)
        gate, proposal = torch.sigmoid(ends[..., : self.config.channels]), torch.tanh(ends[..., self.config.channels :])
        return gate * mean + (1 - gate) * proposal

    def loss(self, inputs: NDArray[Any], size: int, targets: NDArray[Any], moves: NDArray[Any], share: float) -> Tensor:
        """The sum of the relative entropies, and ``share`` times −log p of the moves."""
        logits = self.logits(inputs, size)
        target = torch.from_numpy(targets).to(self.dtype)
        entropy: Tensor = torch.special.entr(target).sum() + torch.special.entr(1 - target).sum()
        owned = torch.nn.functional.binary_cross_entropy_with_logits(logits[..., 0], target, reduction="sum") - entropy
        if not self.config.policy:
            return owned
        policies = torch.log_softmax(logits[..., 1:], 1).transpose(1, 2).flatten(1)  # [B, 2 · n²]
        played = torch.from_numpy(moves)
        known = played >= 0
        return owned - share * policies[known, played[known]].sum()


def _by_diagonals(size: int) -> list[int]:
    """All points, diagonal after diagonal, each from its upper right to its lower left."""
    return [i * size + d - i for d in range(2 * size - 1) for i in range(size) if 0 <= d - i < size]


@cache
def _places(size: int) -> tuple[Tensor, Tensor, Tensor]:
    """Points of the board in the order in which each flip comes to them, [4, .]: all, those at sides, the corner."""
    sides = [point for i in range(1, size) for point in (i, i * size)]
    tables = [flip.points(size) for flip in _FLIPS]  # they bring points back, too
    orders = (_by_diagonals(size), sides, [0])
    every, at_sides, corners = (torch.tensor(np.stack([table[order] for table in tables])) for order in orders)
    return every, at_sides, corners


@cache
def _places_back(size: int) -> Tensor:
    """Where each flip has the points of the board, [4, n²]."""
    return torch.argsort(_places(size)[0], 1)
