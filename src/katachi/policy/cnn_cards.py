"""The card of a convolutional network: its architecture, the planes that it reads, and the files that it is kept in.

Play needs ``model.onnx``, or ``model.int8.onnx`` where it was made; ``weights.safetensors`` is there where training
is to go on. The digest of the planes says whether they still mean what they meant when the network learned.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

from pydantic import Field, ValidationError

from katachi.core.cards import Hex, Metric, ModelError, ReadFile, Strict, Training, digest_file, explain
from katachi.core.weights import WEIGHTS
from katachi.policy.config import CnnConfig
from katachi.policy.evaluator import CnnEvaluator, CnnOptions, knows_ranks, open_cnn
from katachi.policy.planes import PLANES

FORMAT: Final = 1
ONNX: Final = "model.onnx"
INT8: Final = "model.int8.onnx"


class CnnCard(Strict):
    """Everything about a network but its weights."""

    format: Literal[1] = FORMAT
    kind: Literal["cnn"] = "cnn"
    config: CnnConfig
    planes_digest: Hex
    training: Training = Training()
    metrics: dict[str, Metric] = Field(default_factory=dict)
    files: dict[str, Hex] = Field(max_length=3)

    @property
    def board_size(self) -> int | None:
        """The size of the boards that it judges; None is any."""
        return self.config.size

    @property
    def title(self) -> str:
        net = self.config
        return f"{net.kind} {self.kind}, {net.layers}×{net.filters}, over {net.planes} planes"

    @property
    def remarks(self) -> list[str]:
        heads = ["policy", *["value"] * self.config.value, *["ownership"] * self.config.ownership]
        return [" and ".join(heads), *["by rank"] * knows_ranks(self.config)]

    def count_weights(self, read: ReadFile) -> int:  # noqa: ARG002 (the card knows)
        """How many parameters the network has."""
        return self.config.parameter_count()

    def build(self, read: ReadFile, options: Mapping[str, Any]) -> CnnEvaluator:
        """The network as an evaluator with these options (see ``CnnOptions``)."""
        chosen = _parse_options(options)
        name = ONNX if chosen.precision == "fp32" else INT8
        if name not in self.files:
            raise ModelError(f"it has no {chosen.precision} form: there is no {name}")
        today = PLANES[self.config.planes].digest
        if today != self.planes_digest:
            raise ModelError(f"its planes have the digest {self.planes_digest}, but {today} today")
        return open_cnn(self.config, read(name), chosen)


def describe_cnn(
    config: CnnConfig,
    contents: Mapping[str, bytes],
    training: Training | None = None,
    metrics: Mapping[str, Metric] | None = None,
) -> CnnCard:
    """The card of a network that is kept in these files."""
    return CnnCard(
        config=config,
        planes_digest=PLANES[config.planes].digest,
        training=training or Training(),
        metrics=dict(metrics or {}),
        files={name: digest_file(content) for name, content in contents.items()},
    )


def name_files(onnx: bytes, int8: bytes | None, weights: bytes | None) -> dict[str, bytes]:
    """The files of a network, by their names."""
    contents = {ONNX: onnx, INT8: int8, WEIGHTS: weights}
    return {name: content for name, content in contents.items() if content is not None}


def _parse_options(options: Mapping[str, Any]) -> CnnOptions:
    for option in options.keys() - CnnOptions.model_fields.keys():
        raise ModelError(f"{option} is no option of a cnn")
    try:
        return CnnOptions.model_validate(dict(options))
    except ValidationError as error:
        raise ModelError(explain(error)) from None
