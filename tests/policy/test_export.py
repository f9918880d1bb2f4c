from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from katachi.policy.config import PolicyConfig
from katachi.policy.evaluator import OnnxNetwork, open_policy
from katachi.policy.export import export_onnx, quantize_onnx
from policy.test_network import shaken, some_planes

RANKS = np.array([0, 3, 9, 1, 5])


def ask(onnx: bytes, config: PolicyConfig, planes: Any) -> list[Any]:
    inputs = {"planes": planes} | ({"rank": RANKS} if config.rank_embedding else {})
    return OnnxNetwork(onnx).run(inputs, ["policy", *["value"] * config.value, *["ownership"] * config.ownership])


@pytest.mark.parametrize(
    "changes",
    [
        {"kind": "plain", "layers": 2, "normalized": False, "outputs": 2, "first_kernel": 5, "output_kernel": 3},
        {"value": True},
        {"rank_embedding": False, "position_bias": False},
        {"symmetric": True},
        {"size": None, "position_bias": False, "value": True},
        {"ownership": True, "output_kernel": 3},
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
            wanted = net.predict(planes, torch.from_numpy(RANKS))
        policy, *others = ask(onnx, config, planes.numpy())
        assert np.abs(policy - wanted.policy.numpy()).max() < 1e-4 * max(1, float(wanted.policy.abs().max()))
        owners = None if wanted.ownership is None else 2 * torch.sigmoid(wanted.ownership) - 1
        for found, said in zip(others, filter(torch.is_tensor, (wanted.value, owners)), strict=True):
            assert np.abs(found - said.numpy()).max() < 1e-3


def test_eight_bits_say_nearly_the_same(caplog: pytest.LogCaptureFixture) -> None:
    config = PolicyConfig(size=9, layers=5, filters=16, value=True, ownership=True)
    onnx = export_onnx(config, shaken(config).arrays())
    planes = some_planes(config, 5, 9).numpy()
    int8 = quantize_onnx(onnx, planes, RANKS)
    assert not caplog.records
    open_policy(config, int8)
    policy, _, owners = ask(onnx, config, planes)
    rough, _, rough_owners = ask(int8, config, planes)
    assert 0 < np.abs(rough - policy).mean() < 0.05 * policy.std()
    assert 0 < np.abs(rough_owners - owners).mean() < 0.05 * owners.std()
