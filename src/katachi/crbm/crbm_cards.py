"""The card of a convolutional RBM: its configuration, how it learned, and whether its features carry a linear value.

All of it is in one file, ``weights.safetensors``: the weights, ``use``, how often each kernel is on, and ``value``, a
weight for each feature, once a value was learned. Without one it is a feature set and judges nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
from pydantic import Field

from katachi.core.cards import Hex, Metric, ModelError, ReadFile, Strict, Training, digest_file
from katachi.core.contracts import Floats
from katachi.core.evaluators import DEFAULT_TEMPERATURE
from katachi.core.weights import WEIGHTS, format_tensors, parse_tensors
from katachi.crbm.crbm_config import CrbmConfig
from katachi.crbm.crbm_weights import Weights
from katachi.crbm.evaluator import CrbmFeatures
from katachi.shapes.model import LinearModel

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
        """The content of the file; raises ModelError if something is no number or has the wrong shape."""
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


class CrbmCard(Strict):
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
        """The files of the model and their digests."""
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

    def build(self, read: ReadFile, options: Mapping[str, Any]) -> LinearModel:
        """The linear value over the features, which has no options; raises ModelError if none was learned."""
        for option in options:
            raise ModelError(f"{option} is no option of a {self.kind}")
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


def describe_crbm(
    saved: SavedCrbm,
    content: bytes,
    training: Training | None = None,
    value_training: Training | None = None,
    metrics: Mapping[str, Metric] | None = None,
) -> CrbmCard:
    """The card of a CRBM that is kept as this content; raises ModelError if it tells of a value that is not there."""
    if (saved.value is None) != (value_training is None):
        raise ModelError("a value and how it was learned come together")
    return CrbmCard(
        config=saved.config,
        planes_digest=saved.config.planes.digest,
        centered=saved.centered,
        training=training or Training(),
        value_training=value_training,
        metrics=dict(metrics or {}),
        weights_sha256=digest_file(content),
    )


def mean_use(features: Floats, kernels: int) -> Floats:
    """How often each kernel is on, of its features on some boards [B, maps, places, places]; [kernels]."""
    by_map = features.mean(axis=(0, 2, 3), dtype=np.float64).reshape(kernels, -1)
    use: Floats = by_map.sum(axis=1).astype(np.float32)
    return use
