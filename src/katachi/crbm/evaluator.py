"""A convolutional RBM as features, as a value over them, and on disk; compiled, without torch.

The features are the hidden units: how sure each of them is to be on. The player who has just moved sees their own
stones as such, as with local shapes. Feature ``place · maps + map`` is a kernel at one window, counted from the upper
left; with plain oriented units a map is a kernel in one orientation.

Features may be *centered*: less how often each kernel is on anyway. Otherwise all of them are above 0, and what they
share on all boards drowns what tells one board from another: a value learns many times slower.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from katachi.core.cards import Hex, Metric, ModelCard, ModelError, ReadFile, Strict, Training, digest_file
from katachi.core.contracts import Doubles, Floats, Ints
from katachi.core.evaluators import DEFAULT_TEMPERATURE, WrongBoardSize
from katachi.core.linear import LinearModel
from katachi.core.models import WEIGHTS, blaming, format_tensors, open_model, parse_tensors, save_model
from katachi.crbm.config import LAYERS, CrbmConfig, LayerShape, Weights, check_weights, edge_planes, orient
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
        """Σ weight · feature after each legal move, [n²+1], as the player who makes it sees it; NaN elsewhere."""
        self._check(board.record)
        if weights.shape != (self.size,):
            raise ValueError(f"{self.size} weights are needed, not {list(weights.shape)}")
        sums = np.empty(board.size**2 + 1)
        kernels.sum_afterstates(board.record, self._spare, *self._parameters, weights, sums)
        return sums

    def describe(self, index: int) -> str:
        """A feature in words, and below it what its kernel looks for: the state that each point should rather be in."""
        if not 0 <= index < self.size:
            raise ValueError(f"{index} is not a feature: there are {self.size}")
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


# The card of a convolutional RBM: its configuration, how it learned, and whether its features carry a linear value.
#
# All of it is in one file, ``weights.safetensors``: the weights, ``use``, how often each kernel is on, and ``value``, a
# weight for each feature, once a value was learned. Without one it is a feature set and evaluates nothing.

FORMAT: Final = 1
_USE: Final = "use"
_VALUE: Final = "value"


@dataclass(frozen=True)
class SavedCrbm:
    """What is in the file of a CRBM."""

    config: CrbmConfig
    weights: Weights
    use: Floats | None = None  # [kernels], the mean activity of each of the last layer on held-out boards
    value: Floats | None = None  # [features]
    centered: bool = False  # whether its features are less the use of their kernels

    def features(self) -> CrbmFeatures:
        """The feature set; raises ValueError if the weights are not those of the configuration."""
        if not self.centered:
            return CrbmFeatures(self.config, self.weights)
        if self.use is None:
            raise ModelError("features are centered by how often their kernels are on, and that is not known of these")
        last = self.config.layer_shapes()[-1]
        each = last.maps // last.kernels  # orientations that share the use of a kernel
        return CrbmFeatures(self.config, self.weights, np.repeat(self.use / np.float32(each), each))

    def format(self) -> bytes:
        """The content of the file; raises ModelError if something is not a number or has the wrong shape."""
        extra = {_USE: self.use, _VALUE: self.value}
        tensors = self.weights | {name: array for name, array in extra.items() if array is not None}
        _check_shapes(self)
        return format_tensors(tensors)

    @classmethod
    def parse(cls, config: CrbmConfig, content: bytes, *, centered: bool) -> SavedCrbm:
        """Read the content of the file; raises ModelError."""
        tensors = parse_tensors(content)
        use, value = tensors.pop(_USE, None), tensors.pop(_VALUE, None)
        saved = cls(config, tensors, use, value, centered)
        _check_shapes(saved)
        return saved


def _check_shapes(saved: SavedCrbm) -> None:
    """Raise ModelError unless the weights can be of the configuration; whether they are, the features say."""
    last = saved.config.layer_shapes()[-1]
    for name, array, length in ((_USE, saved.use, last.kernels), (_VALUE, saved.value, saved.config.feature_count)):
        if array is not None and array.shape != (length,):
            raise ModelError(f"its {name} is {list(array.shape)}, but [{length}] is needed")


class CrbmCard(ModelCard):
    """Everything about a CRBM but its weights."""

    format: Literal[1] = FORMAT
    kind: Literal["crbm"] = "crbm"
    config: CrbmConfig
    planes_digest: Hex
    centered: bool = False
    temperature: float = Field(default=DEFAULT_TEMPERATURE, gt=0, le=1e6)
    training: Training = Training()
    value_training: Training | None = None  # how the value was learned, if there is one
    metrics: dict[str, Metric] = Field(default_factory=dict)
    weights_sha256: Hex = ""

    @property
    def files(self) -> dict[str, str]:
        return {WEIGHTS: self.weights_sha256}

    @property
    def board_size(self) -> int:
        return self.config.size

    @property
    def title(self) -> str:
        config = self.config
        layers = "" if config.second_kernels is None else f" + {config.second_kernels}"
        return f"{config.visible} {self.kind}, {config.kernels}{layers} kernels, {config.units} units"

    @property
    def remarks(self) -> list[str]:
        value = self.value_training
        return ["features alone" if value is None else f"a value from {value.games:,} games of {value.data}"]

    def count_weights(self, read: ReadFile) -> int:  # noqa: ARG002 (the card knows)
        """How many numbers were learned."""
        value = self.config.feature_count if self.value_training else 0
        return self.config.parameter_count() + value

    def build(self, read: ReadFile, options: Strict) -> LinearModel:  # noqa: ARG002 (there are none)
        """The linear value over the features; raises ModelError if none was learned."""
        saved = self.read_crbm(read)
        if saved.value is None:
            raise ModelError("it has features but no value yet: learn one by katachi train value")
        return LinearModel(saved.features(), saved.value, self.temperature)

    def read_crbm(self, read: ReadFile) -> SavedCrbm:
        """All that is in the file; raises ModelError if its states mean something else today."""
        today = self.config.planes.digest
        if today != self.planes_digest:
            raise ModelError(f"its planes have the digest {self.planes_digest}, but {today} today")
        return SavedCrbm.parse(self.config, read(WEIGHTS), centered=self.centered)


def save_crbm(
    path: Path | str,
    crbm: SavedCrbm,
    training: Training | None = None,
    value_training: Training | None = None,
    metrics: Mapping[str, Metric] | None = None,
    *,
    replace: bool = False,
) -> None:
    """Write a convolutional RBM as ``save_model`` does; ``value_training`` says how its value was learned, if any.

    Raises ModelError if one of the two is there without the other.
    """
    crbm.features()  # raises ValueError if the weights are not those of the configuration
    content = crbm.format()
    if (crbm.value is None) != (value_training is None):
        raise ModelError("a value and how it was learned come together")
    card = CrbmCard(
        config=crbm.config,
        planes_digest=crbm.config.planes.digest,
        centered=crbm.centered,
        training=training or Training(),
        value_training=value_training,
        metrics=dict(metrics or {}),
        weights_sha256=digest_file(content),
    )
    save_model(path, card, {WEIGHTS: content}, replace=replace)


def load_crbm(path: Path | str) -> tuple[SavedCrbm, CrbmCard]:
    """Read a convolutional RBM, with or without a value, and its card; raises ModelError if it is of another kind."""
    saved = open_model(path, CrbmCard)
    with blaming(path):
        return saved.card.read_crbm(saved.read), saved.card


def mean_use(features: Floats, kernels: int) -> Floats:
    """How often each kernel is on, of its features on some boards [B, maps, places, places]; [kernels]."""
    by_map = features.mean(axis=(0, 2, 3), dtype=np.float64).reshape(kernels, -1)
    use: Floats = by_map.sum(axis=1).astype(np.float32)
    return use


def warmup() -> None:
    """Compile features, their values, and the learning of these."""
    from katachi.crbm.features import STONES
    from katachi.crbm.value import LinearTdLearner, LinearTdSettings, link_afterstates

    config = CrbmConfig(size=5, kernels=1)
    zeros = {name: np.zeros(shape, dtype=np.float32) for name, shape in config.weight_shapes().items()}
    features = CrbmFeatures(config, zeros)
    STONES.encode([Board(5)])
    learner = LinearTdLearner(features, LinearTdSettings())
    learner.update(link_afterstates(features, [Board(5)], winner=1))
    LinearModel(features, learner.weights).evaluate([Board(5)])
