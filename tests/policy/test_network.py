from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn.functional import conv2d, cross_entropy

from katachi.go.board import Board
from katachi.go.points import Symmetry
from katachi.policy import network as cnn
from katachi.policy.config import PolicyConfig
from katachi.policy.network import GlobalInputs, PolicyNetwork
from katachi.policy.planes import PLANES


def some_planes(config: PolicyConfig, count: int, size: int) -> torch.Tensor:
    rng = np.random.default_rng(size)
    boards = []
    for _ in range(count):
        board = Board(size)
        for _ in range(size * 2):
            board.play(int(rng.choice(np.flatnonzero(board.legal_moves()[:-1]))))
        boards.append(board)
    return torch.from_numpy(PLANES[config.planes].encode(boards))


def shaken(config: PolicyConfig, seed: int = 0) -> PolicyNetwork:
    """A network all of whose weights count."""
    rng = np.random.default_rng(seed)
    weights = {
        name: (rng.uniform(0.5, 1.5, shape) if name.endswith(("gain", "variance")) else rng.normal(0, 0.2, shape))
        for name, shape in config.weight_shapes().items()
    }
    return PolicyNetwork(config, {name: array.astype(np.float32) for name, array in weights.items()})


@pytest.mark.parametrize(
    "config",
    [PolicyConfig.maddison(3, 16), PolicyConfig.maddison(6, 64, symmetric=True), PolicyConfig(layers=5, filters=16)],
)
def test_a_new_network_knows_nothing(config: PolicyConfig) -> None:
    planes = some_planes(config, 4, 19)
    policy = PolicyNetwork.new(config, seed=3).predict(planes, GlobalInputs(torch.full((4,), 5))).policy
    assert policy.shape == (4, config.outputs, 361)
    loss = cross_entropy(policy[:, 0], torch.tensor([0, 100, 180, 360]))
    assert float(loss.detach()) == pytest.approx(math.log(361), abs=0.2)
    if config.outputs == 2 and not config.symmetric:
        weights = PolicyNetwork.new(config, seed=3).arrays()["layers.1.weight"]
        assert -0.05 <= weights.min() < -0.049
        assert 0.049 < weights.max() <= 0.05


@pytest.mark.parametrize("layers", [5, 9])
def test_a_deeper_network_says_the_same_until_it_learns(layers: int) -> None:
    config = PolicyConfig(size=9, layers=3, filters=8, komi=True, pooling=True, value=True, score=True, ownership=True)
    first = shaken(config)
    deeper = PolicyNetwork.continued(config.model_copy(update={"layers": layers}), 1, first.arrays())
    planes, inputs = some_planes(config, 3, 9), GlobalInputs(torch.full((3,), 5), torch.tensor([5.5, 6.5, -7.5]))
    for one, other in zip(first.predict(planes, inputs), deeper.predict(planes, inputs), strict=True):
        if one is not None:
            assert other is not None
            assert float(one.detach().std()) > 0
            torch.testing.assert_close(other, one)
    policy = deeper.predict(planes, inputs, training=True).policy
    cross_entropy(policy[:, 0], torch.tensor([0, 20, 40])).backward()
    gradient = deeper.weights[f"layers.{layers - 1}.gain"].grad
    assert gradient is not None
    assert float(gradient.abs().max()) > 0
    with pytest.raises(ValueError, match=f"it has {layers} layers, more than 3"):
        PolicyNetwork.continued(config, 1, deeper.arrays())


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"kind": "plain", "layers": 2},
        {"normalized": False},
        {"value": True, "outputs": 2},
        {"ownership": True, "reply": True},
        {"layers": 5, "pooling": True, "komi": True, "servers": "kgs tom", "value": True, "score": True},
        {"pooling": True, "value": True, "score": True, "ownership": True},
    ],
)
def test_layers_are_what_the_configuration_says(changes: dict[str, Any]) -> None:
    """A slow obvious twin, one layer after another, without Winograd."""
    config = PolicyConfig(**{"planes": "maddison-9", "size": 5, "layers": 3, "filters": 16, **changes})
    net = shaken(config)
    weights = {name: tensor.detach() for name, tensor in net.weights.items()}
    planes, ranks = some_planes(config, 3, 5), torch.tensor([0, 4, 9])
    servers, komi = torch.tensor([1, 0, 1] if config.servers else [0, 0, 0]), torch.tensor([6.5, -6.5, 0.5])

    def pooled(boards: torch.Tensor) -> torch.Tensor:
        return torch.cat([boards.mean((2, 3)), boards.amax((2, 3))], dim=1)

    def layer(number: int, boards: torch.Tensor) -> torch.Tensor:
        part = {name.rpartition(".")[2]: weights[name] for name in weights if name.startswith(f"layers.{number}.")}
        everywhere = pooled(boards) @ part["pooling"].T if "pooling" in part else torch.zeros(3, 16)
        boards = conv2d(boards, part["weight"], padding="same") + everywhere[..., None, None]
        if "bias" in part:
            boards = boards + (part["bias"] if part["bias"].ndim == 3 else part["bias"][:, None, None])
        if number == 0:
            boards = boards + weights["ranks"][ranks][..., None, None]
            if config.servers:
                boards = boards + weights["servers"][servers][..., None, None]
            if config.komi:
                boards = boards + (komi[:, None] / 10 * weights["komi"])[..., None, None]
        if "gain" in part:
            gain, shift, mean, variance = (part[name][:, None, None] for name in ("gain", "shift", "mean", "variance"))
            boards = gain * (boards - mean) / torch.sqrt(variance + 1e-5) + shift
        return boards

    boards = torch.relu(layer(0, planes.float()))
    if config.kind == "plain":
        boards = torch.relu(layer(1, boards))
    for block in range(config.blocks):
        boards = torch.relu(boards + layer(2 * block + 2, torch.relu(layer(2 * block + 1, boards))))
    policy = conv2d(boards, weights["policy.weight"]) + weights["policy.bias"]
    with torch.no_grad():
        found = net.predict(planes, GlobalInputs(ranks + 10 * servers, komi))
    assert torch.allclose(found.policy, policy.flatten(2), atol=1e-4)
    if config.value:
        assert found.value is not None
        seen = pooled(boards) if config.pooling else boards.mean((2, 3))
        if config.score:
            seen = (seen - seen.mean(1, keepdim=True)) / torch.sqrt(seen.var(1, keepdim=True, correction=0) + 1e-5)
        seen = torch.cat([seen, komi[:, None] / 10], dim=1) if config.komi else seen
        owners = conv2d(boards, weights["ownership.weight"]) + weights["ownership.bias"] if config.ownership else None
        lead = 0 if owners is None else torch.tanh(owners / 2).sum((1, 2, 3)) / 20
        seen = seen if owners is None or not config.score else torch.cat([seen, lead[:, None]], dim=1)
        hidden = torch.relu(seen @ weights["value.hidden"].T + weights["value.hidden_bias"])
        outputs = hidden @ weights["value.output"].T + weights["value.output_bias"]
        if config.score:
            outputs[:, 1] += lead
        named = [found.value, found.score, found.spread, found.doubt] if config.score else [found.value]
        assert torch.allclose(torch.stack([row for row in named if row is not None], dim=1), outputs, atol=1e-4)
    for head, maps in (("ownership", found.ownership), ("reply", found.reply)):
        if getattr(config, head):
            assert maps is not None
            wanted = conv2d(boards, weights[f"{head}.weight"]) + weights[f"{head}.bias"]
            assert torch.allclose(maps, wanted.flatten(1), atol=1e-4)


def test_statistics_follow_the_batches() -> None:
    config = PolicyConfig(planes="maddison-9", size=5, layers=1, filters=8)
    net = PolicyNetwork.new(config, seed=0)
    before = net.arrays()["layers.0.mean"]
    planes = some_planes(config, 3, 5)
    net.predict(planes, GlobalInputs(torch.zeros(3, dtype=torch.int64)))
    assert (net.arrays()["layers.0.mean"] == before).all()
    sums = conv2d(planes.float(), net.weights["layers.0.weight"].detach(), padding=1)
    net.predict(planes, GlobalInputs(torch.zeros(3, dtype=torch.int64)), training=True)
    assert net.arrays()["layers.0.mean"] == pytest.approx(0.05 * sums.mean((0, 2, 3)).numpy(), abs=1e-6)


@pytest.mark.parametrize("symmetry", list(Symmetry))
def test_a_symmetric_network_turns_with_the_board(symmetry: Symmetry) -> None:
    config = PolicyConfig.maddison(3, 16, size=7, planes="maddison-9", symmetric=True)
    net = shaken(config)
    planes = some_planes(config, 2, 7)
    ranks = torch.zeros(2, dtype=torch.int64)
    turned = torch.from_numpy(np.ascontiguousarray(symmetry.transform(planes.numpy())))
    with torch.no_grad():
        policy = net.predict(planes, GlobalInputs(ranks)).policy.view(2, 2, 7, 7).numpy()
        found = net.predict(turned, GlobalInputs(ranks)).policy.view(2, 2, 7, 7).numpy()
    assert found == pytest.approx(symmetry.transform(policy), abs=1e-4)


def test_one_network_for_all_sizes() -> None:
    config = PolicyConfig(size=None, position_bias=False, layers=3, filters=16)
    net = shaken(config)
    for size in (5, 9, 13):
        policy = net.predict(some_planes(config, 2, size), GlobalInputs(torch.tensor([1, 2]))).policy
        assert policy.shape == (2, 1, size * size)


def test_gradients_are_those_of_torchs_own_layers(monkeypatch: pytest.MonkeyPatch) -> None:
    config = PolicyConfig(size=9, layers=5, filters=16, value=True)
    planes, ranks = some_planes(config, 4, 9), torch.tensor([0, 1, 5, 9])

    def gradients() -> dict[str, torch.Tensor]:
        net = shaken(config)
        prediction = net.predict(planes, GlobalInputs(ranks), training=True)
        assert prediction.value is not None
        (cross_entropy(prediction.policy[:, 0], torch.tensor([3, 4, 5, 80])) + prediction.value.sum()).backward()
        return {name: tensor.grad for name, tensor in net.learned.items() if tensor.grad is not None}

    found = gradients()
    monkeypatch.setattr(cnn, "convolve", lambda boards, filters, _: conv2d(boards, filters, padding=1))
    wanted = gradients()
    assert (
        found.keys()
        == wanted.keys()
        == {name for name in config.weight_shapes() if "mean" not in name}
        - {name for name in config.weight_shapes() if "variance" in name}
    )
    for name, gradient in wanted.items():
        assert (found[name] - gradient).abs().max() <= 1e-3 * gradient.abs().max() + 1e-6, name


def test_weights_of_another_network_are_refused() -> None:
    weights = PolicyNetwork.new(PolicyConfig(layers=3, filters=8, size=5), seed=0).arrays()
    with pytest.raises(ValueError, match=r"not those of this network: layers\.0\.bias"):
        PolicyNetwork(PolicyConfig(layers=3, filters=8, size=7), weights)
