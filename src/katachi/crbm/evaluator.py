"""The hidden units of a convolutional RBM as a feature set: how sure each of them is to be on, compiled, without
torch.

The player who has just moved sees his own stones as such, as with local shapes. Feature ``place · maps + map`` is a
kernel at one window, counted from the upper left; with plain oriented units a map is a kernel in one orientation.

Features may be *centered*: less how often each kernel is on anyway. Otherwise all of them are above 0, and what they
share on all boards drowns what tells one board from another: a value learns many times slower.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from katachi.core.contracts import Doubles, Floats, Ints
from katachi.core.evaluators import WrongBoardSize
from katachi.crbm.crbm_config import LAYERS, CrbmConfig, LayerShape
from katachi.crbm.crbm_weights import check_weights, edge_planes, orient
from katachi.crbm.kernels import network as kernels
from katachi.go.board import Board
from katachi.go.kernels.board import new_boards
from katachi.go.points import Symmetry, format_vertex

Parameters = tuple[NDArray[np.int32], Floats]

_LETTERS: Final = {"own": "X", "enemy": "O", "free": "."}


class CrbmFeatures:
    """The features of a CRBM on boards of its size. Meets ``FeatureSet`` and ``SweepingFeatures``."""

    def __init__(
        self, config: CrbmConfig, weights: Mapping[str, NDArray[np.float32]], center: Floats | None = None
    ) -> None:
        """Take weights by name; raises ValueError if they are not those of the configuration.

        ``center`` is what is subtracted from the features of every place, [maps].
        """
        check_weights(config, weights)
        maps = config.layer_shapes()[-1].maps
        self.config = config
        self.weights = {name: np.asarray(array, dtype=np.float32) for name, array in weights.items()}
        self.center = np.zeros(maps, dtype=np.float32) if center is None else center
        if self.center.shape != (maps,):
            raise ValueError(f"the center of {maps} features a place is not {list(self.center.shape)}")
        self._parameters = lay_out(config, self.weights, self.center)
        self._spare = new_boards(1, config.size)

    @property
    def name(self) -> str:
        config = self.config
        layers = "" if config.second_kernels is None else f" and {config.second_kernels} above them"
        side = config.kernel_size
        return f"{config.kernels} {side}×{side} kernels of a {config.visible} CRBM with {config.units} units{layers}"

    @property
    def size(self) -> int:
        return self.config.feature_count

    @property
    def board_size(self) -> int:
        return self.config.size

    @property
    def digest(self) -> str:
        """A short text that changes with the configuration, the center and any weight."""
        content = hashlib.sha256(self.config.model_dump_json().encode() + self.center.tobytes())
        for name in sorted(self.weights):
            content.update(self.weights[name].tobytes())
        return content.hexdigest()[:16]

    def encode(self, records: NDArray[Any]) -> Floats:
        """All features of boards, as records of this size, [B, size]."""
        self._check(records)
        out = np.empty((records.size, self.size), dtype=np.float32)
        kernels.fill_features(records, *self._parameters, out)
        return out

    def active(self, board: Board) -> tuple[Ints, Floats]:
        """The features that are not zero to the last digit, in order, and their values."""
        (values,) = self.encode(board.record)
        indices = np.flatnonzero(values)
        return indices, values[indices]

    def sum_afterstates(self, board: Board, weights: Floats) -> Doubles:
        """Σ weight · feature after each legal move, [n²+1], as he sees it who makes it; NaN elsewhere."""
        self._check(board.record)
        if weights.shape != (self.size,):
            raise ValueError(f"{self.size} weights are needed, not {list(weights.shape)}")
        sums = np.empty(board.size**2 + 1)
        kernels.sum_afterstates(board.record, self._spare, *self._parameters, weights, sums)
        return sums

    def describe(self, index: int) -> str:
        """A feature in words, and below it what its kernel looks for: the state that each point should rather be in."""
        if not 0 <= index < self.size:
            raise ValueError(f"{index} is no feature: there are {self.size}")
        last = self.config.layer_shapes()[-1]
        place, map_ = divmod(index, last.maps)
        row, col = divmod(place, last.places)
        kernel, turn = divmod(map_, last.maps // last.kernels)
        corner = format_vertex(row * self.board_size + col, self.board_size)
        turned = f", {Symmetry(turn).name.lower().replace('_', ' ')}" if turn else ""
        words = f"kernel {kernel + 1}{turned}, its upper left at {corner}"
        if self.config.second_kernels is not None:
            return f"second layer: {words}"
        return f"{words}\n{self._draw(kernel, Symmetry(turn))}"

    def _draw(self, kernel: int, symmetry: Symmetry) -> str:
        strongest = symmetry.transform(self.weights["first.kernels"][kernel, : self.config.planes.count].argmax(0))
        letters = [_LETTERS[name.partition(" ")[0].rstrip(":")] for name in self.config.planes.names]
        return "\n".join(" ".join(letters[state] for state in line) for line in strongest.tolist())

    def _check(self, records: NDArray[Any]) -> None:
        if (records["lines"] != self.board_size).any():
            size, found = self.board_size, int(records["lines"][0])
            raise WrongBoardSize(f"these features are of {size}×{size} boards, not {found}×{found}")


# What the kernels take


def lay_out(config: CrbmConfig, weights: Mapping[str, Floats], center: Floats) -> Parameters:
    """A CRBM as the two arrays of ``crbm/kernels/network.py``; only the last layer has a center."""
    shapes = config.layer_shapes()
    ints = [int(config.liberties), len(shapes)]
    floats: list[Floats] = []
    at = 0
    for name, shape in zip(LAYERS, shapes, strict=False):
        base, table = _tables(config, shape, weights[f"{name}.kernels"], weights[f"{name}.hidden_bias"])
        units = shape.kernels * shape.orientations
        ints += [shape.lines, shape.kernel_size, shape.places, shape.channels, units, shape.orientations]
        ints += [int(shape.pooled), shape.maps, at, at + base.size, at + base.size + table.size]
        floats += [base.ravel(), table.ravel(), center if shape is shapes[-1] else np.zeros(shape.maps, np.float32)]
        at = sum(part.size for part in floats)
    return np.array(ints, dtype=np.int32), np.concatenate(floats)


def _tables(config: CrbmConfig, shape: LayerShape, kernels: Floats, bias: Floats) -> tuple[Floats, Floats]:
    """Inputs without a board, [places, places, units], and for each cell and state, [k², channels, units]."""
    filters = orient(kernels, shape)
    table = filters[:, : shape.channels].transpose(2, 3, 1, 0).reshape(-1, shape.channels, len(filters))
    base = np.zeros((shape.places, shape.places, len(filters))) + np.repeat(bias, shape.orientations)
    if shape.given:
        base += _see_edges(filters[:, shape.channels :], edge_planes(config.size))
    return base.astype(np.float32), np.ascontiguousarray(table)


def _see_edges(filters: Floats, planes: Floats) -> Doubles:
    """What filters [units, planes, k, k] make of planes at each window, [places, places, units]."""
    windows = np.lib.stride_tricks.sliding_window_view(planes, filters.shape[-2:], axis=(1, 2))
    seen: Doubles = np.einsum("cijuv,fcuv->ijf", windows, filters, dtype=np.float64)
    return seen
