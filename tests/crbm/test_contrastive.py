from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file

from helpers import naive_crbm
from helpers.positions import random_board
from helpers.random_crbms import random_weights
from helpers.small_sets import make_small_set
from katachi.core.training import Machine, MetricLine
from katachi.crbm.config import CrbmConfig, CrbmTraining
from katachi.crbm.evaluator import load_crbm
from katachi.crbm.network import Crbm
from katachi.crbm.train import (
    Contrast,
    ContrastiveLearner,
    Diverged,
    contrast,
    measure_crbm,
    train_crbm,
    use_of_kernels,
)


@pytest.mark.parametrize(
    "config",
    [
        CrbmConfig(size=2, kernels=2, kernel_size=2),
        CrbmConfig(size=2, kernels=1, kernel_size=1),
        CrbmConfig(size=2, kernels=1, kernel_size=2, units="oriented"),
        CrbmConfig(size=2, kernels=1, kernel_size=2, units="oriented-or-off"),
    ],
    ids=lambda config: f"{config.units} {config.kernel_size}",
)
def test_slopes_against_the_model_itself_are_those_of_the_likelihood(config: CrbmConfig) -> None:
    """CD from samples of the model's own distribution climbs the likelihood, which a tiny CRBM can enumerate."""
    weights = random_weights(config, seed=4)
    boards = naive_crbm.all_boards(config)
    data = np.random.default_rng(1).dirichlet(np.full(len(boards), 0.1))
    model = np.exp(naive_crbm.log_probabilities(config, weights))
    layer = Crbm(config, weights).learning
    contrast(layer, _ensemble(boards, data), _ensemble(boards, model)).backward()
    exact = {name: array.astype(np.float64) for name, array in weights.items()}
    for name, gradients in naive_crbm.likelihood_gradients(config, exact, data).items():
        found = getattr(layer, name.partition(".")[2]).grad.numpy()
        assert -found == pytest.approx(gradients, abs=2e-3), name
        if not (config.units == "oriented" and name.endswith("hidden_bias")):  # units that are never off need none
            assert np.abs(gradients).max() > 0.02, name


def _ensemble(boards: np.ndarray, shares: np.ndarray) -> torch.Tensor:
    """Boards in these shares, nearly: each so often that rounding hardly matters."""
    return torch.from_numpy(np.repeat(boards, np.round(shares * 200_000).astype(np.int64), axis=0)).float()


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    """Steps of tiny CRBMs are too short to share."""
    torch.set_num_threads(1)


HERE = Machine(threads=1, workers=0)


def tiny(**changes: Any) -> CrbmTraining:
    settings = {"size": 5, "kernels": 8, "data": "none", "batch": 20, "positions": 20 * 40, "step_size": 0.02}
    return CrbmTraining(**({"spread": 0.01} | settings | changes))


BOARDS = [random_board(5, 4 + n % 16, seed=n) for n in range(60)]


def learn(settings: CrbmTraining, steps: int = 40) -> ContrastiveLearner:
    learner = ContrastiveLearner(settings)
    planes = settings.planes.encode(BOARDS)
    for step in range(steps):
        learner.update(planes[(20 * step) % 60 :][:20])
    return learner


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"gibbs_steps": 3},
        {"persistent": True},
        {"visible": "real", "step_size": 0.002},
        {"units": "oriented"},
        {"units": "oriented-or-off", "edges": True, "liberties": True},
    ],
    ids=str,
)
def test_learning_makes_boards_likelier_and_reconstructions_better(changes: dict[str, Any]) -> None:
    settings = tiny(**changes)
    planes = settings.planes.encode(BOARDS)
    before = measure_crbm(ContrastiveLearner(settings).crbm, planes)
    after = measure_crbm(learn(settings).crbm, planes)
    assert after["reconstruction_error"] < 0.95 * before["reconstruction_error"]


def test_sparsity_pulls_activity_to_its_target() -> None:
    planes = tiny().planes.encode(BOARDS)
    free = measure_crbm(learn(tiny()).crbm, planes)["activity"]
    pulled = learn(tiny(sparsity=20.0, target_activity=0.03, step_size=0.01), steps=80).crbm
    assert measure_crbm(pulled, planes)["activity"] == pytest.approx(0.03, abs=0.01)
    assert abs(free - 0.03) > 0.02
    assert use_of_kernels(pulled, planes) == pytest.approx(0.03, abs=0.02)
    with pytest.raises(ValueError, match="never off: sparsity needs"):
        tiny(units="oriented", sparsity=1.0)


def test_a_second_layer_learns_and_the_first_stays() -> None:
    first = learn(tiny()).crbm.arrays()
    settings = tiny(second_kernels=6, second_size=2)
    learner = ContrastiveLearner(settings, first)
    planes = settings.planes.encode(BOARDS)
    before = measure_crbm(learner.crbm, planes)["reconstruction_error"]
    for _ in range(40):
        learner.update(planes)
    assert measure_crbm(learner.crbm, planes)["reconstruction_error"] < 0.9 * before
    assert (learner.crbm.arrays()["first.kernels"] == first["first.kernels"]).all()


def test_divergence_is_told_with_the_step_and_the_way_out() -> None:
    with pytest.raises(Diverged, match=r"step [0-9]+: .* start another run with --set step_size=1.7") as told:
        learn(tiny(visible="real", step_size=5.0))
    assert "nothing was overwritten" in str(told.value)


def test_a_state_goes_on_as_if_nothing_had_happened() -> None:
    settings = tiny(persistent=True)
    straight = learn(settings, steps=10)
    again = ContrastiveLearner(settings)
    again.load_state_dict(learn(settings, steps=10).state_dict())
    planes = settings.planes.encode(BOARDS[:20])
    assert straight.update(planes) == again.update(planes)
    for name, array in straight.state_dict().items():
        assert array.tobytes() == again.state_dict()[name].tobytes(), name
    with pytest.raises(ValueError, match="not of these settings"):
        ContrastiveLearner(tiny()).load_state_dict(straight.state_dict())


# Runs


@pytest.fixture(scope="module")
def games(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_small_set(tmp_path_factory.mktemp("records"))


def run_settings(games: Path, **changes: Any) -> CrbmTraining:
    settings = {"data": str(games), "positions": 20 * 6, "evaluate_every": 40, "validation_positions": 20}
    return tiny(**(settings | changes))


class Killed(Exception):
    pass


@pytest.mark.parametrize("seconds", [0.0, 180.0])  # between two checkpoints
def test_a_run_resumes_to_the_same_bytes(games: Path, tmp_path: Path, seconds: float) -> None:
    training = run_settings(games, persistent=True)
    train_crbm(training, tmp_path / "straight", machine=HERE)

    def kill(positions: int, contrast: Contrast) -> None:
        if positions == 100:  # after the second of three checkpoints
            raise Killed

    seen: list[MetricLine] = []
    with pytest.raises(Killed):
        train_crbm(training, tmp_path / "killed", machine=HERE._replace(checkpoint_seconds=seconds), tick=kill)
    train_crbm(training, tmp_path / "killed", seen.append)
    assert [line.values["positions"] for line in seen] == [40, 80, 120]
    for name in ("checkpoint.safetensors", "model/weights.safetensors", "kernels.svg"):
        straight, killed = ((tmp_path / run / name).read_bytes() for run in ("straight", "killed"))
        assert straight == killed.replace(b"killed", b"straight"), name
    assert mean_errors(tmp_path / "straight") == mean_errors(tmp_path / "killed")


def mean_errors(run: Path) -> list[float]:
    lines = (run / "metrics.jsonl").read_text().splitlines()
    return [json.loads(line)["reconstruction_error"] for line in lines]


def test_what_a_run_leaves(games: Path, tmp_path: Path) -> None:
    train_crbm(run_settings(games), tmp_path / "run", command="katachi train crbm", machine=HERE)
    lines = [json.loads(line) for line in (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()]
    wanted = {"reconstruction_error", "validation_reconstruction_error", "validation_free_energy", "seconds"}
    assert wanted <= lines[-1].keys()
    saved, card = load_crbm(tmp_path / "run" / "model")
    assert card.training.positions == 120
    assert card.metrics["validation free energy"].value == lines[-1]["validation_free_energy"]
    assert saved.use is not None
    assert saved.use.shape == (8,)
    for name, source in (("on", "run"), ("further", "run/model")):
        further = run_settings(games, first_model=str(tmp_path / source), step_size=1e-9)
        train_crbm(further, tmp_path / name, machine=HERE)
        last = load_crbm(tmp_path / name / "model")[0].weights["first.kernels"]
        assert last == pytest.approx(saved.weights["first.kernels"], abs=1e-6)


def test_a_run_that_diverges_keeps_what_it_had(games: Path, tmp_path: Path) -> None:
    training = run_settings(games, visible="real", step_size=2.0, evaluate_every=20, positions=20 * 300)
    with pytest.raises(Diverged, match=r"step_size=0\.67"):
        train_crbm(training, tmp_path / "run", machine=HERE)
    kept = load_file(tmp_path / "run" / "checkpoint.safetensors")
    assert all(np.isfinite(array).all() for array in kept.values())
    assert not (tmp_path / "run" / "model").exists()
