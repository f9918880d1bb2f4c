"""The card of a DAG-RNN: its configuration, the inputs that it is told, and what a point of the score is worth to it.

``weights.safetensors`` holds its weights and the table of propensities that its inputs are made with, which has no more
places than 16-bit numbers have. The digest of the inputs says whether they still mean what they meant when the network
learned.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

import numpy as np
from pydantic import Field, ValidationError

from katachi.core.cards import Hex, Metric, ModelError, ReadFile, Strict, Training, digest_file, explain
from katachi.core.weights import WEIGHTS, format_tensors, parse_tensors
from katachi.go.rules import DEFAULT_KOMI
from katachi.territory.dag_rnn import DagRnn
from katachi.territory.dag_rnn_config import DagRnnConfig
from katachi.territory.evaluator import DEFAULT_AREA_TEMPERATURE, DEFAULT_POINTS, Territory, TerritoryEvaluator
from katachi.territory.inputs import PointInputs
from katachi.territory.propensity import check_table

FORMAT: Final = 1
PROPENSITY: Final = "propensity"  # the name of the table among the weights


class DagRnnOptions(Strict):
    """How a network is asked."""

    komi: float = Field(default=DEFAULT_KOMI, ge=-1000, le=1000)
    temperature: float | None = Field(default=None, gt=0, le=1e6)  # of expected areas; None is what the card says


class DagRnnCard(Strict):
    """Everything about a network but its weights."""

    format: Literal[1] = FORMAT
    kind: Literal["dag_rnn"] = "dag_rnn"
    config: DagRnnConfig
    inputs: PointInputs
    inputs_digest: Hex
    points: float = Field(default=DEFAULT_POINTS, gt=0, le=1e6)  # of a lead that make e : 1 of the odds of a win
    temperature: float = Field(default=DEFAULT_AREA_TEMPERATURE, gt=0, le=1e6)  # of expected areas, for the policy
    training: Training = Training()
    metrics: dict[str, Metric] = Field(default_factory=dict)
    weights_sha256: Hex = ""

    @property
    def files(self) -> dict[str, str]:
        """The files of the model and their digests."""
        return {WEIGHTS: self.weights_sha256}

    @property
    def board_size(self) -> None:
        """It judges boards of any size."""
        return

    @property
    def title(self) -> str:
        net = self.config
        sweeps = "" if net.sweeps == 1 else f", {net.sweeps} sweeps"
        return f"{net.cell} DAG-RNN, {net.hidden} hidden units, {net.channels} channels{sweeps}"

    @property
    def remarks(self) -> list[str]:
        return ["ownership and policy" if self.config.policy else "ownership"]

    def count_weights(self, read: ReadFile) -> int:  # noqa: ARG002 (the card knows)
        """How many numbers were learned, without the table of propensities."""
        return self.config.parameter_count(self.inputs.d)

    def build(self, read: ReadFile, options: Mapping[str, Any]) -> TerritoryEvaluator:
        """The network as an evaluator with these options (see ``DagRnnOptions``)."""
        chosen = _parse_options(options)
        territory = self.read_territory(read)
        return TerritoryEvaluator(territory, chosen.komi, self.points, chosen.temperature or self.temperature)

    def read_territory(self, read: ReadFile) -> Territory:
        """All that is in the file; raises ValueError if it is another's, or the inputs mean something else today."""
        if self.inputs.digest != self.inputs_digest:
            raise ModelError(f"its inputs have the digest {self.inputs_digest}, but {self.inputs.digest} today")
        tensors = parse_tensors(read(WEIGHTS))
        if PROPENSITY not in tensors:
            raise ModelError("its weights are damaged: there is no table of propensities")
        propensity = check_table(tensors.pop(PROPENSITY))
        return Territory(DagRnn(self.config, self.inputs, tensors), propensity)


def format_territory(territory: Territory) -> bytes:
    """The content of the file; raises ModelError if something is no number."""
    table = check_table(territory.propensity).astype(np.float16)
    return format_tensors({**territory.net.arrays(), PROPENSITY: table})


def describe_dag_rnn(
    territory: Territory,
    content: bytes,
    points: float,
    temperature: float,
    training: Training | None = None,
    metrics: Mapping[str, Metric] | None = None,
) -> DagRnnCard:
    """The card of a network that is kept in a file with this content."""
    return DagRnnCard(
        config=territory.net.config,
        inputs=territory.net.inputs,
        inputs_digest=territory.net.inputs.digest,
        points=points,
        temperature=temperature,
        training=training or Training(),
        metrics=dict(metrics or {}),
        weights_sha256=digest_file(content),
    )


def _parse_options(options: Mapping[str, Any]) -> DagRnnOptions:
    for option in options.keys() - DagRnnOptions.model_fields.keys():
        raise ModelError(f"{option} is no option of a dag_rnn")
    try:
        return DagRnnOptions.model_validate(dict(options))
    except ValidationError as error:
        raise ModelError(explain(error)) from None
