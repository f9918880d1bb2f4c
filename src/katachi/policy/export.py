"""A trained network as an ONNX file, built from its configuration and its weights alone, in floats or in eight bits.

Normalization is folded into the filters and biases before it, and symmetric filters are written out: what is left is
convolutions, sums and ReLU. Inputs are ``planes`` (uint8 [B, C, n, n]) and, where the network takes them, ``rank``
(int64 [B], the code of a rank, and the number of ranks more for each server after the first) and ``komi`` (float
[B], as the mover sees it). Outputs are ``policy`` ([B, outputs, n²], logits) and, where the network has them, ``value``
([B], a logit), ``score`` ([B, 3]: the mover's lead without komi, its standard deviation, and by how much the value is
expected to differ from the outcome) and ``ownership`` ([B, n²], +1 the mover's). What learns the reply is left out.
"""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, NodeProto, TensorProto, ValueInfoProto, helper, numpy_helper

from katachi.core.contracts import Floats
from katachi.policy.config import DEVIATION, DOUBT, EPSILON, KOMI_SCALE, SCORE, SCORE_SCALE, SPREAD, VALUE, PolicyConfig

_OPSET: Final = 17
_IR_VERSION: Final = 8
_CALIBRATED_AT_ONCE: Final = 16
_POLICY: Final = "policy"
_OWNERSHIP: Final = "ownership"
_IN_FLOATS: Final = tuple(f"{head}.{step}" for head in (_POLICY, _OWNERSHIP) for step in ("convolved", "biased"))


def export_onnx(config: PolicyConfig, weights: Mapping[str, Floats]) -> bytes:
    """The bytes of the ONNX file of a network."""
    return bytes(_Graph(config, fold_weights(config, weights)).build().SerializeToString())


# Folding


def fold_weights(config: PolicyConfig, weights: Mapping[str, Floats]) -> dict[str, Floats]:
    """The weights of the same network without normalization and with symmetric filters written out.

    Every layer has a ``weight`` and a ``bias``; what the network is given beside planes is added to that of layer 0.
    """
    folded = {name: _symmetrize(array) if config.symmetric else array for name, array in weights.items()}
    for layer in range(config.layers if config.normalized else 0):
        part = {key: folded.pop(f"layers.{layer}.{key}") for key in ("gain", "shift", "mean", "variance")}
        scale = part["gain"] / np.sqrt(part["variance"] + EPSILON)
        offset = part["shift"] - scale * part["mean"]
        bias = folded.get(f"layers.{layer}.bias", np.zeros_like(offset))
        spread = (-1, *[1] * (bias.ndim - 1))
        folded[f"layers.{layer}.weight"] = folded[f"layers.{layer}.weight"] * scale[:, None, None, None]
        folded[f"layers.{layer}.bias"] = bias * scale.reshape(spread) + offset.reshape(spread)
        if config.has_pooling(layer):
            folded[f"layers.{layer}.pooling"] = folded[f"layers.{layer}.pooling"] * scale[:, None]
        for name in ("ranks", "servers", "komi") if layer == 0 else ():
            if name in folded:
                folded[name] = folded[name] * scale
    return {name: np.ascontiguousarray(array, dtype=np.float32) for name, array in folded.items()}


def _symmetrize(array: Floats) -> Floats:
    """Square maps as the mean of their eight symmetries; all else as it is."""
    if array.ndim < 3:
        return array
    turned = [np.rot90(array, turns, (-2, -1)) for turns in range(4)]
    mean = np.mean([*turned, *(each[..., ::-1] for each in turned)], axis=0, dtype=np.float32)
    return np.asarray(mean, dtype=np.float32)


# The graph


class _Graph:
    """The nodes of a network, one after another."""

    def __init__(self, config: PolicyConfig, weights: Mapping[str, Floats]) -> None:
        self._config = config
        self._weights = weights
        self._nodes: list[NodeProto] = []
        self._constants: dict[str, NDArray[Any]] = {}

    def build(self) -> ModelProto:
        config = self._config
        boards = self._layer(0, self._node("Cast", ["planes"], "floats", to=TensorProto.FLOAT))
        for layer in range(1, config.layers) if config.kind == "plain" else ():
            boards = self._layer(layer, boards)
        for block in range(config.blocks):
            boards = self._layer(2 * block + 2, self._layer(2 * block + 1, boards), added=boards)
        policy = self._convolve(_POLICY, boards)
        self._node("Reshape", [policy, self._constant("rows", np.array([0, config.outputs, -1]))], _POLICY)
        if config.ownership:
            self._ownership(boards)
        if config.value:
            self._value(boards)
        constants = [numpy_helper.from_array(array, name) for name, array in self._constants.items()]
        graph = helper.make_graph(self._nodes, "cnn", self._inputs(), self._outputs(), constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", _OPSET)], ir_version=_IR_VERSION)

    def _layer(self, layer: int, boards: str, added: str | None = None) -> str:
        name = f"layers.{layer}"
        pooled = self._pool(name, boards) if self._config.has_pooling(layer) else None
        boards = self._convolve(name, boards)
        if pooled is not None:
            weight = self._constant(f"{name}.pooling", self._weights[f"{name}.pooling"])
            boards = self._add_to_board(name, boards, self._node("Gemm", [pooled, weight], f"{name}.pool", transB=1))
        if layer == 0 and self._config.rank_embedding:
            of_rank = self._node("Gather", [self._constant("ranks", self._of_ranks()), "rank"], "of_rank")
            boards = self._add_to_board(f"{name}.rank", boards, of_rank)
        if layer == 0 and self._config.komi:
            weights = self._constant("komi.weight", self._weights["komi"][None])
            of_komi = self._node("MatMul", [self._scaled_komi(), weights], "of_komi")
            boards = self._add_to_board(f"{name}.komi", boards, of_komi)
        if added is not None:
            boards = self._node("Add", [boards, added], f"{name}.sum")
        return self._node("Relu", [boards], f"{name}.output")

    def _of_ranks(self) -> Floats:
        """What is added for each rank of the first server, then of the next, [servers · ranks, filters]."""
        ranks, servers = self._weights["ranks"], self._weights.get("servers")
        if servers is None:
            return ranks
        return np.asarray((servers[:, None] + ranks).reshape(-1, ranks.shape[1]), dtype=np.float32)

    def _scaled_komi(self) -> str:
        """Komi as a column."""
        column = self._node("Reshape", ["komi", self._constant("column", np.array([-1, 1]))], "komi.column")
        return self._node(
            "Div", [column, self._constant("komi.scale", np.array(KOMI_SCALE, np.float32))], "komi.scaled"
        )

    def _add_to_board(self, name: str, boards: str, values: str) -> str:
        """Add values [B, filters] to all points of boards."""
        shape = self._constant("every", np.array([0, -1, 1, 1]))
        spread = self._node("Reshape", [values, shape], f"{name}.everywhere")
        return self._node("Add", [boards, spread], f"{name}.added")

    def _pool(self, name: str, boards: str) -> str:
        """The mean and the maximum of every filter, [B, 2 · filters]."""
        kinds = ("GlobalAveragePool", "GlobalMaxPool")
        parts = [
            self._node("Flatten", [self._node(kind, [boards], f"{name}.{kind}")], f"{name}.{kind}.flat")
            for kind in kinds
        ]
        return self._node("Concat", parts, f"{name}.pooled", axis=1)

    def _convolve(self, name: str, boards: str) -> str:
        """A convolution with its bias: one for each filter is part of it, one for each point is added."""
        filters, bias = self._weights[f"{name}.weight"], self._weights[f"{name}.bias"]
        inputs = [boards, self._constant(f"{name}.weight", filters)]
        if bias.ndim == 1:
            inputs.append(self._constant(f"{name}.bias", bias))
        convolved = self._node("Conv", inputs, f"{name}.convolved", pads=[filters.shape[-1] // 2] * 4)
        if bias.ndim == 1:
            return convolved
        return self._node("Add", [convolved, self._constant(f"{name}.bias", bias[None])], f"{name}.biased")

    def _value(self, boards: str) -> None:
        if self._config.pooling:
            seen = self._pool("value", boards)
        else:
            seen = self._node("Flatten", [self._node("GlobalAveragePool", [boards], "value.mean")], "value.pooled")
        if self._config.score:
            even = np.ones(2 * self._config.filters if self._config.pooling else self._config.filters, np.float32)
            seen = self._node("LayerNormalization", [seen, self._constant("value.even", even)], "value.normalized")
        more = ["komi.scaled"] * self._config.komi + ([self._lead()] if self._config.counts else [])
        if more:
            seen = self._node("Concat", [seen, *more], "value.seen", axis=1)
        for part in ("hidden", "output"):
            names = (f"value.{part}", f"value.{part}_bias")
            constants = [self._constant(name, self._weights[name]) for name in names]
            seen = self._node("Gemm", [seen, *constants], f"value.{part}.sum", transB=1)
            if part == "hidden":
                seen = self._node("Relu", [seen], "value.hidden.units")
        self._node("Reshape", [self._column(seen, VALUE), self._constant("row", np.array([-1]))], "value")
        if self._config.score:
            self._score(seen)

    def _score(self, outputs: str) -> None:
        scale = self._constant("score.scale", np.array(SCORE_SCALE, np.float32))
        lead = self._column(outputs, SCORE)
        if self._config.counts:
            lead = self._node("Add", [lead, self._lead()], "score.sum")
        lead = self._node("Mul", [lead, scale], "score.lead")
        spread = self._node("Exp", [self._column(outputs, SPREAD)], "score.exp")
        deviation = self._constant("score.deviation", np.array(SCORE_SCALE * DEVIATION, np.float32))
        spread = self._node("Mul", [spread, deviation], "score.spread")
        doubt = self._node(
            "Sqrt", [self._node("Sigmoid", [self._column(outputs, DOUBT)], "score.square")], "score.doubt"
        )
        self._node("Concat", [lead, spread, doubt], "score", axis=1)

    def _lead(self) -> str:
        """The lead by who will own what as a column, in units of the score; made once."""
        if not any(node.name == "owned.lead" for node in self._nodes):
            axis = self._constant("axis", np.array([1]))
            owned = self._node("ReduceSum", [_OWNERSHIP, axis], "owned", keepdims=1)
            self._node("Div", [owned, self._constant("score.unit", np.array(SCORE_SCALE, np.float32))], "owned.lead")
        return "owned.lead"

    def _column(self, rows: str, number: int) -> str:
        """One column of [B, columns], [B, 1]."""
        return self._node(
            "Gather", [rows, self._constant(f"column.{number}", np.array([number]))], f"value.{number}", axis=1
        )

    def _ownership(self, boards: str) -> None:
        """P less (1 − P) by the logit of P, which is the hyperbolic tangent of its half."""
        rows = self._constant("points", np.array([0, -1]))
        logits = self._node("Reshape", [self._convolve(_OWNERSHIP, boards), rows], f"{_OWNERSHIP}.logits")
        halves = self._node("Mul", [logits, self._constant("half", np.array(0.5, np.float32))], f"{_OWNERSHIP}.halves")
        self._node("Tanh", [halves], _OWNERSHIP)

    def _node(self, kind: str, inputs: Sequence[str], output: str, **attributes: Any) -> str:
        self._nodes.append(helper.make_node(kind, inputs, [output], name=output, **attributes))
        return output

    def _constant(self, name: str, array: NDArray[Any]) -> str:
        self._constants[name] = array
        return name

    def _inputs(self) -> list[ValueInfoProto]:
        lines = self._config.size or "lines"
        planes: list[str | int] = ["batch", self._config.inputs, lines, lines]
        inputs = [helper.make_tensor_value_info("planes", TensorProto.UINT8, planes)]
        if self._config.rank_embedding:
            inputs.append(helper.make_tensor_value_info("rank", TensorProto.INT64, ["batch"]))
        if self._config.komi:
            inputs.append(helper.make_tensor_value_info("komi", TensorProto.FLOAT, ["batch"]))
        return inputs

    def _outputs(self) -> list[ValueInfoProto]:
        points = self._config.size**2 if self._config.size else "points"
        policy = ["batch", self._config.outputs, points]
        outputs = [helper.make_tensor_value_info(_POLICY, TensorProto.FLOAT, policy)]
        if self._config.value:
            outputs.append(helper.make_tensor_value_info("value", TensorProto.FLOAT, ["batch"]))
        if self._config.score:
            outputs.append(helper.make_tensor_value_info("score", TensorProto.FLOAT, ["batch", 3]))
        if self._config.ownership:
            outputs.append(helper.make_tensor_value_info(_OWNERSHIP, TensorProto.FLOAT, ["batch", points]))
        return outputs


# Boards of another size


def resize_map(bias: NDArray[Any], size: int) -> NDArray[Any]:
    """Square maps [..., n, n] for boards of another size: a point has what the one as far from both edges had.

    What is in the middle of a larger board is as far from them as the middle of the smaller.
    """
    width = bias.shape[-1]
    lines = np.arange(size)
    near = np.minimum(lines, (width - 1) // 2)
    far = width - 1 - np.minimum(size - 1 - lines, (width - 1) // 2)
    sources = np.where(lines <= size - 1 - lines, near, far)
    return np.ascontiguousarray(bias[..., sources, :][..., sources])


def resize_onnx(onnx: bytes, width: int, size: int) -> bytes:
    """The network of boards of one width for those of another size, in floats or in eight bits."""
    model = ModelProto.FromString(onnx)
    graph = model.graph
    for tensor in graph.initializer:
        if ".bias" in tensor.name and list(tensor.dims[-2:]) == [width, width]:
            tensor.CopyFrom(numpy_helper.from_array(resize_map(numpy_helper.to_array(tensor), size), tensor.name))
    for value in (*graph.input, *graph.output):
        lengths = value.type.tensor_type.shape.dim
        if value.name == "planes":
            lengths[-1].dim_value = lengths[-2].dim_value = size
        elif value.name in (_POLICY, _OWNERSHIP):
            lengths[-1].dim_value = size * size
    del graph.value_info[:]  # shapes between, which follow
    return bytes(model.SerializeToString())


# Eight bits


def quantize_onnx(onnx: bytes, inputs: Mapping[str, NDArray[Any]]) -> bytes:
    """The same network with its convolutions in eight bits, scaled by what real inputs give.

    Weights have seven bits: without VNNI, eight of them overflow. The last convolutions stay in floats.
    """
    from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static

    graph = ModelProto.FromString(onnx).graph
    starts = iter(range(0, len(inputs["planes"]), _CALIBRATED_AT_ONCE))

    class Reader(CalibrationDataReader):  # type: ignore[misc]
        def get_next(self) -> dict[str, NDArray[Any]] | None:
            if (first := next(starts, None)) is None:
                return None
            return {name: array[first : first + _CALIBRATED_AT_ONCE] for name, array in inputs.items()}

    with tempfile.TemporaryDirectory() as folder, _no_advice():
        source, target = Path(folder) / "model.onnx", Path(folder) / "model.int8.onnx"
        source.write_bytes(onnx)
        quantize_static(
            source,
            target,
            Reader(),
            quant_format=QuantFormat.QDQ,
            op_types_to_quantize=["Conv", "Relu", "Add"],
            per_channel=True,
            reduce_range=True,
            activation_type=QuantType.QUInt8,
            weight_type=QuantType.QInt8,
            nodes_to_exclude=[node.name for node in graph.node if node.name in _IN_FLOATS],
        )
        return target.read_bytes()


@contextmanager
def _no_advice() -> Iterator[None]:
    """Keep back what onnxruntime advises on the root logger: there is nothing to optimize before, layers are folded."""

    def is_serious(record: logging.LogRecord) -> bool:
        return record.levelno > logging.WARNING

    root = logging.getLogger()
    root.addFilter(is_serious)
    try:
        yield
    finally:
        root.removeFilter(is_serious)
