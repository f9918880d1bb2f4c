"""A DAG-RNN: who will own each point of a board, of any size (Wu and Baldi 2006); ``territory/dag_rnn_config.py``
says how.

>>> from katachi.go.board import Board
>>> inputs = PointInputs()
>>> net = DagRnn.new(DagRnnConfig(), inputs, seed=0)
>>> net.ownership(inputs.encode([Board(5)]), size=5).shape, net.ownership(inputs.encode([Board(9)]), size=9).shape
((1, 25), (1, 81))
"""

from __future__ import annotations

import math
import threading
from collections.abc import Mapping
from typing import Any, Final, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from katachi.core.contracts import Floats, Ints
from katachi.go.points import Symmetry
from katachi.territory.dag_rnn_config import DagRnnConfig
from katachi.territory.dag_rnn_grid import make_grid, make_memory
from katachi.territory.inputs import PointInputs
from katachi.territory.kernels.gradient import add_gradient
from katachi.territory.kernels.network import Grid, Memory, predict
from katachi.territory.network import DagRnnLayout

_LOGISTIC_GAIN: Final = 4.0  # of Glorot's uniform distribution: the slope of a logistic unit is a quarter at most


class Gradient(NamedTuple):
    """The sum over some boards of the slopes of the loss, and of the loss."""

    slopes: Floats  # of all weights, one after another
    ownership: float  # relative entropy, over all points
    moves: float  # −log p of what was played, if there are policies


class DagRnn:
    """A network with its weights. May be asked from several threads at once, but not while its weights change."""

    def __init__(self, config: DagRnnConfig, inputs: PointInputs, weights: Mapping[str, NDArray[Any]]) -> None:
        """Raises ValueError if these are not the weights of such a network."""
        self.config = config
        self.inputs = inputs
        self._layout = DagRnnLayout(config, np.stack([inputs.flip_order(symmetry) for symmetry in Symmetry]))
        if {name: array.shape for name, array in weights.items()} != self._layout.shapes:
            raise ValueError("these weights are not those of this network: their names or shapes differ")
        self._room = threading.local()
        self.load(np.concatenate([weights[name].ravel() for name in self._layout.shapes]).astype(np.float32))

    @classmethod
    def new(cls, config: DagRnnConfig, inputs: PointInputs, seed: int) -> Self:
        """A network with random weights: Glorot's uniform distribution for logistic units, He's for rectified ones."""
        rng = np.random.default_rng(seed)
        weights = {}
        for name, shape in config.weight_shapes(inputs.d).items():
            if config.cell == "logistic":
                bound = _LOGISTIC_GAIN * math.sqrt(6 / sum(shape))
            else:
                bound = math.sqrt((6 if name.endswith("hidden") else 3) / shape[-1])
            weights[name] = rng.uniform(-bound, bound, shape) * (len(shape) == 2)
        return cls(config, inputs, weights)

    @property
    def weights(self) -> Floats:
        """All weights, one after another; not to be written to."""
        return self._weights

    def load(self, weights: Floats) -> None:
        """Go on with other weights."""
        self._weights = weights
        self._kernel_weights = self._layout.to_kernels(weights)

    def arrays(self) -> dict[str, Floats]:
        """The weights by name."""
        first, shapes = self._layout.first, self._layout.shapes
        return {name: self._weights[first[name] :][: math.prod(shape)].reshape(shape) for name, shape in shapes.items()}

    def ownership(self, inputs: Floats, size: int) -> Floats:
        """The probability that Black owns each point in the end, [B, n²], from inputs [B, n², d]."""
        logits = self.logits(inputs, size)[:, :, 0]
        return np.asarray(1 / (1 + np.exp(-logits)))

    def logits(self, inputs: Floats, size: int) -> Floats:
        """Of Black's ownership, and of the next move of Black and of White if there are policies; [B, n², 1 or 3]."""
        grid, memory = self._prepare(size)
        boards = self._check(inputs, size)
        out = np.empty((len(boards), size * size * self.config.outputs), dtype=np.float32)
        predict(self._layout.net, grid, self._kernel_weights, boards, memory, out)
        return out.reshape(len(boards), size * size, self.config.outputs)

    def gradient(
        self, inputs: Floats, size: int, targets: Floats, moves: Ints | None = None, policy_loss: float = 0.0
    ) -> Gradient:
        """The gradient of the loss, summed over boards, with respect to all weights.

        Targets, [B, n²], are probabilities that Black owns a point. ``moves``, [B], are played next, n² more if White
        did, or −1; they count ``policy_loss`` times.
        """
        grid, memory = self._prepare(size)
        boards = self._check(inputs, size)
        if targets.shape != (len(boards), size * size) or targets.dtype != np.float32:
            raise ValueError(f"the targets of these boards are an array [{len(boards)}, {size * size}] of float32")
        played = np.full(len(boards), -1) if moves is None else moves
        slopes, losses = np.zeros(self._layout.kernel_count, dtype=np.float32), np.zeros(2)
        add_gradient(
            self._layout.net,
            grid,
            self._kernel_weights,
            boards,
            targets,
            played,
            np.float32(policy_loss),
            memory,
            slopes,
            losses,
        )
        return Gradient(self._layout.from_kernels(slopes), *losses.tolist())

    def _prepare(self, size: int) -> tuple[Grid, Memory]:
        """The tables of a board size, and room to work in, of which each thread has its own."""
        grid = make_grid(size)
        rooms: dict[int, Memory] = self._room.__dict__.setdefault("rooms", {})
        if size not in rooms:
            rooms[size] = make_memory(self._layout.net, grid, self._layout.kernel_count)
        return grid, rooms[size]

    def _check(self, inputs: Floats, size: int) -> Floats:
        """Inputs as the kernels take them."""
        if inputs.shape != (len(inputs), size * size, self.inputs.d) or inputs.dtype != np.float32:
            shape = f"[B, {size * size}, {self.inputs.d}]"
            raise ValueError(f"inputs of {size}×{size} boards are an array {shape} of float32")
        return np.ascontiguousarray(inputs).reshape(len(inputs), -1)
