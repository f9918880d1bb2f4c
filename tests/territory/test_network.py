from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import torch

from katachi.bench import import_twin
from katachi.core.contracts import Floats
from katachi.go.points import Symmetry
from katachi.territory.inputs import PointInputs
from katachi.territory.kernels.network import make_logistic
from katachi.territory.network import FLIP_SYMMETRIES, DagRnn, DagRnnConfig

INPUTS = PointInputs()
SHARE = 0.3  # of the moves in the loss

CONFIGS = {
    "paper": DagRnnConfig(),
    "full borders": DagRnnConfig(borders="full"),
    "diagonal": DagRnnConfig(diagonal=True, policy=True, hidden=24),
    "two sweeps": DagRnnConfig(sweeps=2),
    "gated": DagRnnConfig(sweeps=2, cell="gated", hidden=8),
    "gated and diagonal": DagRnnConfig(sweeps=2, cell="gated", hidden=16, channels=16, diagonal=True, policy=True),
}


@pytest.fixture(params=CONFIGS)
def net(request: pytest.FixtureRequest) -> DagRnn:
    return make_net(CONFIGS[request.param])


def make_net(config: DagRnnConfig) -> DagRnn:
    """A network whose biases are not 0 either."""
    new = DagRnn.new(config, INPUTS, seed=1)
    rng = np.random.default_rng(2)
    new.load((new.weights + rng.normal(scale=0.1, size=new.weights.size)).astype(np.float32))
    return new


class Case:
    """Random boards, targets of all kinds and next moves of both colors and of nobody."""

    def __init__(self, size: int, boards: int = 3) -> None:
        rng = np.random.default_rng(size)
        points = size * size
        self.size = size
        self.inputs: Floats = rng.random((boards, points, INPUTS.d), dtype=np.float32)
        self.targets: Floats = rng.choice([0, 0.125, 0.5, 0.875, 1], (boards, points)).astype(np.float32)
        self.moves = np.array([1, points + 2, -1])[:boards]

    def loss(self, net: DagRnn) -> float:
        found = net.gradient(self.inputs, self.size, self.targets, self.moves, SHARE)
        return found.ownership + SHARE * found.moves


@pytest.mark.parametrize("size", [2, 3, 5])
def test_outputs_losses_and_gradients_are_those_of_the_twin(net: DagRnn, size: int) -> None:
    case = Case(size)
    twin = import_twin("torch_dag_rnn").TorchDagRnn(net.config, INPUTS, net.arrays(), torch.float64)
    logits = twin.logits(case.inputs, size).detach().numpy()
    assert net.logits(case.inputs, size) == pytest.approx(logits, abs=1e-5)
    assert net.ownership(case.inputs, size) == pytest.approx(1 / (1 + np.exp(-logits[:, :, 0])), abs=2e-6)
    loss = twin.loss(case.inputs, size, case.targets, case.moves, SHARE)
    loss.backward()  # type: ignore[no-untyped-call]
    found = net.gradient(case.inputs, size, case.targets, case.moves, SHARE)
    assert case.loss(net) == pytest.approx(float(loss.detach()), rel=1e-6)
    wanted = np.concatenate([_gradients(weight).ravel() for weight in twin.weights.values()])
    assert np.abs(found.gradients - wanted).max() <= 1e-6 * max(1.0, float(np.abs(wanted).max()))


def _gradients(weight: torch.Tensor) -> np.ndarray:
    return np.zeros(weight.shape) if weight.grad is None else weight.grad.numpy()


def test_gradients_are_those_of_finite_differences(net: DagRnn) -> None:
    case = Case(3, boards=2)
    gradients = net.gradient(case.inputs, 3, case.targets, case.moves, SHARE).gradients
    before = net.weights
    for direction in _directions(before.size):
        losses = []
        for sign in (1, -1):
            net.load((before + sign * 1e-2 * direction).astype(np.float32))
            losses.append(case.loss(net))
        gradient = float(gradients.astype(np.float64) @ direction)
        assert (losses[0] - losses[1]) / 2e-2 == pytest.approx(
            gradient, abs=0.02 * float(np.linalg.norm(gradients)) + 1e-3
        )


def _directions(count: int) -> Iterator[np.ndarray]:
    rng = np.random.default_rng(4)
    for _ in range(5):
        direction = rng.normal(size=count)
        yield direction / np.linalg.norm(direction)


@pytest.mark.parametrize("size", [2, 5, 9])
def test_the_flips_of_a_board_give_the_flips_of_the_output_to_the_last_bit(net: DagRnn, size: int) -> None:
    case = Case(size)
    logits = net.logits(case.inputs, size)
    for flip in FLIP_SYMMETRIES:
        flipped = net.logits(INPUTS.flip(case.inputs, flip), size)
        assert np.array_equal(flipped[:, flip.points(size)], logits), flip


def test_all_eight_symmetries_where_the_diagonal_matters_not(net: DagRnn) -> None:
    case = Case(5)
    logits = net.logits(case.inputs, 5)
    turned = [net.logits(INPUTS.flip(case.inputs, symmetry), 5)[:, symmetry.points(5)] for symmetry in Symmetry]
    error = max(float(np.abs(other - logits).max()) for other in turned)
    assert (error < 1e-5) == net.config.diagonal


def test_one_network_judges_boards_of_all_sizes_and_boards_by_themselves() -> None:
    net = make_net(CONFIGS["paper"])
    for size in (2, 4, 9, 13, 19):
        case = Case(size)
        together = net.logits(case.inputs, size)
        assert together.shape == (3, size * size, 1)
        for board in range(3):
            assert np.array_equal(net.logits(case.inputs[board : board + 1], size)[0], together[board])


def test_a_change_in_one_corner_is_felt_in_the_opposite_one() -> None:
    net = make_net(CONFIGS["gated"])
    case = Case(9, boards=1)
    before = net.logits(case.inputs, 9)
    case.inputs[0, 0] = 1 - case.inputs[0, 0]
    assert (net.logits(case.inputs, 9) != before)[0, [8, 72, 80]].all()


def test_gradients_add_up_over_boards() -> None:
    net = make_net(CONFIGS["gated"])
    case = Case(4)
    whole = net.gradient(case.inputs, 4, case.targets)
    parts = [net.gradient(case.inputs[i : i + 1], 4, case.targets[i : i + 1]) for i in range(3)]
    assert sum(part.gradients for part in parts) == pytest.approx(whole.gradients, abs=1e-4)
    assert sum(part.ownership for part in parts) == pytest.approx(whole.ownership)


def test_the_logistic_function_is_as_good_as_float32() -> None:
    x = np.linspace(-30, 30, 4096, dtype=np.float32)
    y = x.copy()
    make_logistic(y, 0, y.size)
    assert y == pytest.approx(1 / (1 + np.exp(-x.astype(np.float64))), abs=3e-7)
    assert y.min() >= 0
    assert y.max() <= 1 + 2e-7


def test_what_does_not_fit_is_refused() -> None:
    net = make_net(CONFIGS["paper"])
    case = Case(3)
    for inputs in (case.inputs[:, :-1], case.inputs[..., :-1], case.inputs.astype(np.float64)):
        with pytest.raises(ValueError, match=r"inputs of 3×3 boards are an array \[B, 9, 69\]"):
            net.ownership(inputs, 3)
    with pytest.raises(ValueError, match="targets of these boards"):
        net.gradient(case.inputs, 3, case.targets[:, :4])
    weights = net.arrays()
    with pytest.raises(ValueError, match="not those of this network"):
        DagRnn(CONFIGS["two sweeps"], INPUTS, weights)
