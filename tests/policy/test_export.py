from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from katachi.policy.config import PolicyConfig
from katachi.policy.evaluator import OnnxNetwork, name_inputs, open_policy
from katachi.policy.export import export_onnx, quantize_onnx, resize_map, resize_onnx
from katachi.policy.network import GlobalInputs, PolicyNetwork
from katachi.policy.train import name_heads
from policy.test_network import shaken, some_planes

RANKS = np.array([0, 3, 9, 1, 5])
KOMI = np.array([6.5, -6.5, 0.5, -7.5, 0], dtype=np.float32)
OUTCOME: dict[str, Any] = {
    "pooling": True,
    "value": True,
    "komi": True,
    "score": True,
    "ownership": True,
    "reply": True,
}


def ask(onnx: bytes, config: PolicyConfig, planes: Any) -> list[Any]:
    heads = ["policy", *(head for head in ("value", "score", "ownership") if getattr(config, head))]
    return OnnxNetwork(onnx).run(name_inputs(config, planes, RANKS, KOMI), heads)


@pytest.mark.parametrize(
    "changes",
    [
        {"kind": "plain", "layers": 2, "normalized": False, "outputs": 2, "first_kernel": 5, "output_kernel": 3},
        {"value": True},
        {"rank_embedding": False, "position_bias": False},
        {"symmetric": True},
        {"size": None, "position_bias": False, "value": True},
        {"ownership": True, "output_kernel": 3},
        {"pooling": True, "value": True, "komi": True},
        OUTCOME,
        {**OUTCOME, "size": None, "position_bias": False, "servers": "kgs tom"},
    ],
)
def test_the_exported_network_says_what_the_trained_one_says(changes: dict[str, Any]) -> None:
    config = PolicyConfig(**{"size": 9, "layers": 5, "filters": 16, **changes})
    net = shaken(config)
    onnx = export_onnx(config, net.arrays())
    open_policy(config, onnx)  # checks the names and shapes of all inputs and outputs
    for size in (9,) if config.size else (9, 5):
        planes = some_planes(config, 5, size)
        with torch.no_grad():
            wanted = net.predict(planes, GlobalInputs(torch.from_numpy(RANKS), torch.from_numpy(KOMI)))
        said = name_heads(wanted)
        for head, found in zip(said, ask(onnx, config, planes.numpy()), strict=True):
            assert np.abs(found - said[head]).max() < 1e-4 * max(1, float(np.abs(said[head]).max())), head


def test_eight_bits_say_nearly_the_same(caplog: pytest.LogCaptureFixture) -> None:
    config = PolicyConfig(size=9, layers=5, filters=16, **{**OUTCOME, "servers": ""})
    onnx = export_onnx(config, shaken(config).arrays())
    planes = some_planes(config, 5, 9).numpy()
    int8 = quantize_onnx(onnx, name_inputs(config, planes, RANKS, KOMI))
    assert not caplog.records
    open_policy(config, int8)
    policy, _, _, owners = ask(onnx, config, planes)
    rough, _, _, rough_owners = ask(int8, config, planes)
    assert 0 < np.abs(rough - policy).mean() < 0.05 * policy.std()
    assert 0 < np.abs(rough_owners - owners).mean() < 0.05 * owners.std()


@pytest.mark.parametrize(("width", "size"), [(9, 9), (9, 6), (9, 5), (8, 5), (5, 9), (6, 9), (4, 7)])
def test_a_point_has_the_bias_of_one_as_far_from_the_edges(width: int, size: int) -> None:
    def distances(lines: int) -> Any:
        away = np.minimum(np.arange(lines), lines - 1 - np.arange(lines))
        return np.minimum(away[:, None], away) * 10 + np.maximum(away[:, None], away)

    known = distances(width)
    resized = resize_map(np.stack([known, known + 1000]), size)
    middle = (width - 1) // 2
    wanted = np.minimum(distances(size) // 10, middle) * 10 + np.minimum(distances(size) % 10, middle)
    assert (resized == np.stack([wanted, wanted + 1000])).all()
    corners = np.arange(width * width).reshape(width, width)
    assert (resize_map(corners, size)[[0, 0, -1, -1], [0, -1, 0, -1]] == corners[[0, 0, -1, -1], [0, -1, 0, -1]]).all()


@pytest.mark.parametrize("changes", [OUTCOME, {"first_kernel": 5, "output_kernel": 3, "ownership": True}])
@pytest.mark.parametrize("size", [5, 11])
def test_a_resized_network_is_that_of_resized_biases(changes: dict[str, Any], size: int) -> None:
    config = PolicyConfig(size=9, layers=5, filters=16, **changes)
    arrays = shaken(config).arrays()
    other = config.model_copy(update={"size": size})
    shapes = other.weight_shapes()
    resized = {
        name: array if array.shape == shapes[name] else resize_map(array, size) for name, array in arrays.items()
    }
    planes = some_planes(config, 5, size)
    onnx = export_onnx(config, arrays)
    found = ask(resize_onnx(onnx, 9, size), other, planes.numpy())
    with torch.no_grad():
        given = GlobalInputs(torch.from_numpy(RANKS), torch.from_numpy(KOMI))
        said = name_heads(PolicyNetwork(other, resized).predict(planes, given))
    for head, answer in zip(said, found, strict=True):
        assert np.abs(answer - said[head]).max() < 1e-4 * max(1, float(np.abs(said[head]).max())), head
    rough = quantize_onnx(onnx, name_inputs(config, some_planes(config, 5, 9).numpy(), RANKS, KOMI))
    open_policy(other, resize_onnx(rough, 9, size))
    differences = ask(resize_onnx(rough, 9, size), other, planes.numpy())[0] - found[0]
    assert 0 < np.abs(differences).mean() < 0.1 * found[0].std()
