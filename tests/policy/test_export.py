from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from katachi.policy.config import PolicyConfig
from katachi.policy.evaluator import OnnxNetwork, name_inputs, open_policy
from katachi.policy.export import export_onnx, quantize_onnx
from katachi.policy.network import GlobalInputs
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
