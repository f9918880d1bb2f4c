"""Tiny networks in ONNX files, made by hand, for tests that need one without training it."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from katachi.policy.config import PolicyConfig

OPSET = 17


def tiny_config(size: int | None = 5, **changes: Any) -> PolicyConfig:
    """One layer of two filters over the reduced planes, for the mover, without ranks and value."""
    config = {
        "planes": "maddison-9",
        "size": size,
        "kind": "plain",
        "layers": 1,
        "filters": 2,
        "first_kernel": 3,
        "normalized": False,
        "position_bias": size is not None,
        "rank_embedding": False,
    }
    return PolicyConfig(**{**config, **changes})


def tiny_onnx(config: PolicyConfig, *, seed: int = 0, scale: float = 1.0) -> bytes:
    """A random 3×3 convolution with a bias for every point; rank, value and ownership in the simplest way.

    It has the inputs and outputs of its configuration, but not its layers: ``reference_logits`` says what it computes.
    """
    weights = tiny_weights(config, seed, scale)
    points = config.size**2 if config.size else "points"
    lines = config.size or "lines"
    nodes = [
        helper.make_node("Cast", ["planes"], ["floats"], to=TensorProto.FLOAT),
        helper.make_node("Conv", ["floats", "filter"], ["maps"], pads=[1, 1, 1, 1]),
        helper.make_node("Add", ["maps", "bias"], ["biased"]),
    ]
    inputs = [helper.make_tensor_value_info("planes", TensorProto.UINT8, ["B", config.inputs, lines, lines])]
    outputs = [helper.make_tensor_value_info("policy", TensorProto.FLOAT, ["B", config.outputs, points])]
    sums = "biased"
    if config.rank_embedding:
        inputs.append(helper.make_tensor_value_info("rank", TensorProto.INT64, ["B"]))
        nodes += [
            helper.make_node("Gather", ["ranks", "rank"], ["of_rank"]),
            helper.make_node("Mul", ["biased", "of_rank"], ["ranked"]),
        ]
        sums = "ranked"
    nodes.append(helper.make_node("Reshape", [sums, "flat"], ["policy"]))
    if config.value:
        outputs.append(helper.make_tensor_value_info("value", TensorProto.FLOAT, ["B"]))
        nodes.append(helper.make_node("ReduceMean", [sums], ["value"], axes=[1, 2, 3], keepdims=0))
    if config.ownership:
        outputs.append(helper.make_tensor_value_info("ownership", TensorProto.FLOAT, ["B", points]))
        nodes += [
            helper.make_node("ReduceMean", ["policy"], ["mean"], axes=[1], keepdims=0),
            helper.make_node("Tanh", ["mean"], ["ownership"]),
        ]
    graph = helper.make_graph(
        nodes, "tiny", inputs, outputs, [numpy_helper.from_array(array, name) for name, array in weights.items()]
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=8)
    return bytes(model.SerializeToString())


def tiny_weights(config: PolicyConfig, seed: int = 0, scale: float = 1.0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    weights = {
        "filter": rng.normal(scale=scale, size=(config.outputs, config.inputs, 3, 3)).astype(np.float32),
        "bias": rng.normal(scale=scale, size=(1, config.outputs, config.size or 1, config.size or 1)).astype(
            np.float32
        ),
        "flat": np.array([0, config.outputs, -1], dtype=np.int64),
    }
    if config.rank_embedding:
        weights["ranks"] = np.linspace(0.1, 1.9, 10, dtype=np.float32).reshape(10, 1, 1, 1)
    return weights


def reference_logits(config: PolicyConfig, planes: Any, rank: int = 9, seed: int = 0, scale: float = 1.0) -> Any:
    """What ``tiny_onnx`` computes for planes [B, C, n, n], in numpy: [B, outputs, n²]."""
    weights = tiny_weights(config, seed, scale)
    size = planes.shape[-1]
    padded = np.pad(planes.astype(np.float64), ((0, 0), (0, 0), (1, 1), (1, 1)))
    sums = np.zeros((planes.shape[0], config.outputs, size, size))
    for row in range(3):
        for column in range(3):
            window = padded[:, :, row : row + size, column : column + size]
            sums += np.einsum("bcij,oc->boij", window, weights["filter"][:, :, row, column])
    sums += weights["bias"]
    if config.rank_embedding:
        sums *= weights["ranks"][rank]
    return sums.reshape(planes.shape[0], config.outputs, -1)
