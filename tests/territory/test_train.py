from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file

from helpers.small_sets import label_small_set, make_small_set
from katachi.core.contracts import OwnershipEvaluator
from katachi.core.models import load_model, open_model
from katachi.core.training import Machine, MetricLine
from katachi.go.board import Board
from katachi.territory.evaluator import load_territory
from katachi.territory.learner import Losses, TerritoryLearner, TerritoryTraining, fit_points, validate
from katachi.territory.train import open_batches, train_territory

HERE = Machine(threads=1, workers=0)


@pytest.fixture(scope="module")
def games(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = make_small_set(tmp_path_factory.mktemp("records"))
    label_small_set(path, unknown=1)
    return path


def settings(games: Path, **changes: Any) -> TerritoryTraining:
    few = {"batch": 10, "positions": 60, "evaluate_every": 20, "validation_positions": 30}
    return TerritoryTraining(**{"data": str(games), **few, **changes})


class Killed(Exception):
    pass


@pytest.mark.parametrize(("optimizer", "seconds"), [("adam", 180.0), ("sgd", 180.0), ("adam", 0.0)])
def test_a_run_resumes_to_the_same_bytes(games: Path, tmp_path: Path, optimizer: str, seconds: float) -> None:
    training = settings(games, optimizer=optimizer)
    train_territory(training, tmp_path / "straight", machine=HERE)

    def kill(positions: int, losses: Losses) -> None:
        if positions == 50:  # after the second of three checkpoints
            raise Killed

    seen: list[MetricLine] = []
    with pytest.raises(Killed):
        train_territory(training, tmp_path / "killed", machine=HERE._replace(checkpoint_seconds=seconds), tick=kill)
    train_territory(training, tmp_path / "killed", seen.append, machine=Machine(threads=1, workers=1))
    assert [line.values["positions"] for line in seen] == [20, 40, 60]
    for name in ("checkpoint.safetensors", "model/weights.safetensors"):
        straight, killed = ((tmp_path / run / name).read_bytes() for run in ("straight", "killed"))
        assert straight == killed, name


def test_it_learns_who_owns_the_points(games: Path) -> None:
    for recipe in ({}, {"optimizer": "sgd", "step_size": 0.01}, {"cell": "gated", "sweeps": 2, "policy": True}):
        training = settings(games, positions=600, **recipe)
        batches = open_batches(training)
        batches.count_propensity()
        held_out = batches.held_out(60)
        learner = TerritoryLearner(training)
        before = validate(learner.net, held_out)
        for batch in batches.stream():
            learner.update(batch)
            if learner.is_finished:
                break
        after = validate(learner.net, held_out)
        assert after["loss"] < 0.8 * before["loss"], recipe
        assert after["right"] > 0.6, recipe


def test_what_is_measured_is_what_it_says(games: Path) -> None:
    training = settings(games, policy=True)
    batches = open_batches(training)
    batches.count_propensity()
    held_out = batches.held_out(40)
    learner = TerritoryLearner(training)
    found = validate(learner.net, held_out)
    gradient = learner.net.gradient(held_out.inputs, 5, held_out.targets, held_out.played, 1.0)
    assert found["loss"] == pytest.approx(gradient.ownership / 40, rel=1e-5)
    assert found["move_loss"] == pytest.approx(gradient.moves / (held_out.played >= 0).sum(), rel=1e-5)
    ownership = learner.net.ownership(held_out.inputs, 5)
    wanted = [(ownership[b, p] > 0.5) == (held_out.owned[b, p] > 0) for b, p in np.argwhere(held_out.owned != 0)]
    assert found["right"] == pytest.approx(np.mean(wanted))
    phases = [found[f"loss_{phase}"] for phase in range(5) if f"loss_{phase}" in found]
    assert min(phases) <= found["loss"] <= max(phases)
    assert 0.5 <= fit_points(learner.net, held_out) <= 100


def test_threads_share_a_batch(games: Path) -> None:
    training = settings(games, optimizer="sgd", step_size=0.01)  # Adam would enlarge roundings
    batches = open_batches(training)
    batches.count_propensity()
    one, three = TerritoryLearner(training), TerritoryLearner(training, threads=3)
    assert one.update(batches[0]) == pytest.approx(three.update(batches[0]), rel=1e-6)
    assert one.net.weights == pytest.approx(three.net.weights, abs=1e-5)


@pytest.fixture(scope="module")
def trained(games: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("trained") / "run"
    train_territory(settings(games), folder, command="katachi train territory", machine=HERE)
    return folder


def test_what_a_run_leaves(games: Path, trained: Path) -> None:
    lines = [json.loads(line) for line in (trained / "metrics.jsonl").read_text().splitlines()]
    assert lines[-1]["positions"] == 60
    assert {"loss", "epochs", "validation_loss", "validation_right", "validation_right_1", "seconds"} <= lines[
        -1
    ].keys()
    assert json.loads((trained / "run.json").read_text())["status"] == "finished"
    evaluator, card = load_model(trained / "model"), open_model(trained / "model").card
    assert isinstance(evaluator, OwnershipEvaluator)
    assert evaluator.ownership([Board(7)]).shape == (1, 49)
    assert card.training.positions == 60
    assert card.metrics["validation points known"].value == lines[-1]["validation_right"]
    assert 'kind = "greedy"' in (trained / "player.toml").read_text()


def test_a_new_schedule_begins_with_the_weights_of_a_run_or_a_model(games: Path, trained: Path, tmp_path: Path) -> None:
    first = load_territory(trained / "model")[0].net.arrays()
    for name, source in (("run", trained), ("model", trained / "model")):
        further = settings(games, first_model=str(source), step_size=1e-9)
        train_territory(further, tmp_path / name, machine=HERE)
        last = load_file(tmp_path / name / "model" / "weights.safetensors")
        assert last["output.hidden"] == pytest.approx(first["output.hidden"], abs=1e-6)
    with pytest.raises(ValueError, match="not those of this network"):
        train_territory(settings(games, sweeps=2, first_model=str(trained)), tmp_path / "other")
