from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file

from helpers.small_sets import label_small_set, make_small_set
from katachi.core.cards import ModelError
from katachi.core.contracts import OutcomeEvaluator, OwnershipEvaluator
from katachi.core.disk import format_toml
from katachi.core.models import load_model, load_weights, open_model
from katachi.core.training import Machine, MetricLine, TrainingError, load_first_weights
from katachi.go.board import Board
from katachi.policy.config import PolicyTraining
from katachi.policy.learner import Learner, Losses, Replicas, predict
from katachi.policy.train import open_batches, train_policy

HERE = Machine(threads=1, workers=0)


@pytest.fixture(scope="module")
def games(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_small_set(tmp_path_factory.mktemp("records"))


def settings(games: Path, **changes: Any) -> PolicyTraining:
    tiny = {"size": 5, "layers": 3, "filters": 8, "batch": 16, "positions": 16 * 6, "evaluate_every": 32}
    return PolicyTraining(**{"data": str(games), "validation_positions": 20, **tiny, **changes})


class Killed(Exception):
    pass


def test_a_run_goes_on_to_the_same_bytes(games: Path, tmp_path: Path) -> None:
    training = settings(games)
    train_policy(training, tmp_path / "straight", machine=HERE)

    def kill(positions: int, losses: Losses) -> None:
        if positions == 16 * 5:  # after the second of three checkpoints
            raise Killed

    seen: list[MetricLine] = []
    with pytest.raises(Killed):
        train_policy(training, tmp_path / "killed", machine=HERE, tick=kill)
    train_policy(training, tmp_path / "killed", seen.append, machine=Machine(threads=1, workers=1))
    assert [line.values["positions"] for line in seen] == [32, 64, 96]
    for name in ("checkpoint.safetensors", "model/model.onnx", "model/weights.safetensors", "examples.txt"):
        straight, killed = ((tmp_path / run / name).read_bytes() for run in ("straight", "killed"))
        assert straight == killed, name


def test_a_run_that_is_older_than_a_setting_resumes(games: Path, tmp_path: Path) -> None:
    training = settings(games)
    train_policy(training, tmp_path / "straight", machine=HERE)

    def kill(positions: int, losses: Losses) -> None:
        if positions == 16 * 5:
            raise Killed

    with pytest.raises(Killed):
        train_policy(training, tmp_path / "old", machine=HERE, tick=kill)
    config = tmp_path / "old" / "config.toml"
    lines = config.read_text().splitlines(keepends=True)
    config.write_text("".join(line for line in lines if not line.startswith("products")))
    assert len(lines) == len(config.read_text().splitlines()) + 1
    with pytest.raises(TrainingError, match="started with another products"):
        train_policy(settings(games, products="bfloat16"), tmp_path / "old", machine=HERE)
    train_policy(training, tmp_path / "old", machine=HERE)
    straight, old = ((tmp_path / run / "model/weights.safetensors").read_bytes() for run in ("straight", "old"))
    assert straight == old


def test_a_network_of_rough_products_is_saved_as_exactly_as_any(games: Path, tmp_path: Path) -> None:
    training = settings(games, filters=16, products="bfloat16", optimizer="muon", schedule="trapezoid")
    train_policy(training, tmp_path / "run", machine=HERE)  # which compares it with its export
    assert open_model(tmp_path / "run" / "model").card.training.settings["products"] == "bfloat16"


@pytest.mark.parametrize("step", [2, 4])  # the first evaluation comes after two steps
def test_a_checkpoint_between_evaluations_is_gone_on_from(games: Path, tmp_path: Path, step: int) -> None:
    training = settings(games, value=True)
    train_policy(training, tmp_path / "straight", machine=HERE)

    def kill(positions: int, losses: Losses) -> None:
        if positions == 16 * step:
            raise Killed

    often = HERE._replace(checkpoint_seconds=0.0)
    with pytest.raises(Killed):
        train_policy(training, tmp_path / "killed", machine=often, tick=kill)
    heard: list[int] = []
    train_policy(training, tmp_path / "killed", machine=often, tick=lambda done, _: heard.append(done))
    assert heard == list(range(16 * step, 16 * 7, 16)), "the step before was kept, though no evaluation came after it"
    for name in ("checkpoint.safetensors", "model/model.onnx", "examples.txt"):
        assert (tmp_path / "straight" / name).read_bytes() == (tmp_path / "killed" / name).read_bytes(), name
    lines = [
        json.loads((tmp_path / run / "metrics.jsonl").read_text().splitlines()[1]) for run in ("straight", "killed")
    ]
    for name in ("loss", "top_1", "value_loss", "validation_loss"):
        assert lines[0][name] == lines[1][name], name


def test_ownership_is_learned_saved_and_asked(tmp_path: Path) -> None:
    games = make_small_set(tmp_path)
    label_small_set(games)
    train_policy(settings(games, ownership=True), tmp_path / "run", machine=HERE)
    line = json.loads((tmp_path / "run" / "metrics.jsonl").read_text().splitlines()[-1])
    assert 0 < line["ownership_loss"] < 2
    assert 0 < line["validation_ownership_hits"] < 1
    evaluator, card = load_model(tmp_path / "run" / "model"), open_model(tmp_path / "run" / "model").card
    assert isinstance(evaluator, OwnershipEvaluator)
    assert evaluator.ownership([Board(5)]).shape == (1, 25)
    assert "ownership" in card.remarks[0]
    assert card.metrics["validation owners known"].value == line["validation_ownership_hits"]


@pytest.fixture(scope="module")
def trained(games: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("trained") / "run"
    train_policy(settings(games, value=True), folder, command="katachi train policy", machine=HERE)
    return folder


def test_what_a_run_leaves(games: Path, trained: Path) -> None:
    lines = [json.loads(line) for line in (trained / "metrics.jsonl").read_text().splitlines()]
    assert lines[-1]["positions"] == 96
    assert {"loss", "top_1", "value_loss", "validation_loss", "validation_top_10", "seconds"} <= lines[-1].keys()
    assert json.loads((trained / "run.json").read_text())["status"] == "finished"
    evaluator, card = load_model(trained / "model"), open_model(trained / "model").card
    policy = evaluator.evaluate([Board(5)]).policy
    assert policy.sum() == pytest.approx(1, abs=1e-5)
    assert load_model(trained / "model", {"precision": "int8"}).evaluate([Board(5)]).policy.shape == policy.shape
    assert card.training.positions == 96
    assert card.metrics["validation top-1"].value == lines[-1]["validation_top_1"]
    assert 'kind = "policy"' in (trained / "player.toml").read_text()
    examples = (trained / "examples.txt").read_text()
    assert examples.startswith("after 96 positions")
    assert examples.count("most probable: ") == 6


def test_a_new_schedule_begins_with_the_weights_of_a_run_or_a_model(games: Path, trained: Path, tmp_path: Path) -> None:
    first = load_file(trained / "model" / "weights.safetensors")
    for name, source in (("run", trained), ("model", trained / "model")):
        further = settings(games, value=True, first_model=str(source), step_size=1e-9)
        train_policy(further, tmp_path / name, machine=HERE)
        last = load_file(tmp_path / name / "model" / "weights.safetensors")
        assert last["layers.0.weight"] == pytest.approx(first["layers.0.weight"], abs=1e-6)
    with pytest.raises(ValueError, match="not those of this network"):
        train_policy(settings(games, filters=24, first_model=str(trained)), tmp_path / "other", machine=HERE)


OUTCOME: dict[str, Any] = {
    "pooling": True,
    "komi": True,
    "value": True,
    "score": True,
    "ownership": True,
    "reply": True,
    "layers": 5,
}


@pytest.fixture(scope="module")
def labeled_games(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = make_small_set(tmp_path_factory.mktemp("labeled"))
    label_small_set(path, unknown=1)
    return path


@pytest.mark.parametrize("products", ["float32", "bfloat16"])
def test_replicas_resume_to_the_same_bytes(labeled_games: Path, tmp_path: Path, products: str) -> None:
    training = settings(
        labeled_games,
        **OUTCOME,
        optimizer="muon",
        products=products,
        mean_decay=0.9,
        replicas=2,
        meet_every=2,
        positions=16 * 11,
        evaluate_every=64,
    )
    train_policy(training, tmp_path / "straight", machine=HERE)

    def kill(positions: int, losses: Losses) -> None:
        if positions == 16 * 8:
            raise Killed

    with pytest.raises(Killed):
        train_policy(training, tmp_path / "killed", machine=Machine(1, 1), tick=kill)
    seen: list[MetricLine] = []
    train_policy(training, tmp_path / "killed", seen.append, machine=HERE)
    assert [line.values["positions"] for line in seen] == [64, 128, 192]  # the last three batches are two for each
    for name in ("checkpoint.safetensors", "model/model.onnx", "model/weights.safetensors", "examples.txt"):
        straight, killed = ((tmp_path / run / name).read_bytes() for run in ("straight", "killed"))
        assert straight == killed, name
    found = load_model(str(tmp_path / "killed" / "model"))
    assert isinstance(found, OutcomeEvaluator)


def test_replicas_that_meet_after_every_batch_of_plain_descent_learn_their_mean(games: Path) -> None:
    training = settings(games, optimizer="sgd", step_size=0.1, replicas=2, meet_every=1, normalized=False)
    batches, learner = open_batches(training), Learner(training)
    alone = [Learner(training) for _ in range(2)]
    for number, one in enumerate(alone):
        one.update(batches[number])
    with Replicas(learner, batches, 0) as replicas:
        losses = replicas.update()
    assert (losses.positions, learner.step, learner.positions) == (32, 2, 32)
    for name, array in learner.net.arrays().items():
        assert array == pytest.approx((alone[0].net.arrays()[name] + alone[1].net.arrays()[name]) / 2, abs=1e-7)


def test_a_lost_replica_is_reported(games: Path) -> None:
    training = settings(games, replicas=2, meet_every=1)
    with Replicas(Learner(training), open_batches(training), 0) as replicas:
        replicas.update()
        replicas._helpers[0][0].kill()
        replicas._helpers[0][0].join()
        with pytest.raises(TrainingError, match="has ended: give the same command again"):
            replicas.update()


def test_the_running_mean_of_weights_is_measured_and_saved(games: Path, tmp_path: Path) -> None:
    training = settings(games, mean_decay=0.5, step_size=0.05)
    learner, batches = Learner(training), open_batches(training)
    mean = learner.net.arrays()
    for step in range(4):
        learner.update(batches[step])
        share = max(0.5, 1 / (step + 1))
        mean = {name: mean[name] + share * (array - mean[name]) for name, array in learner.net.arrays().items()}
    for name, array in learner.result.arrays().items():
        assert array == pytest.approx(mean[name], abs=1e-5), name
    train_policy(training, tmp_path / "run", machine=HERE)
    saved, state = (
        load_file(tmp_path / "run" / name) for name in ("model/weights.safetensors", "checkpoint.safetensors")
    )
    assert all((saved[name] == state[f"mean/{name}"]).all() for name in saved)
    assert any((saved[name] != state[f"weights/{name}"]).any() for name in saved)


def test_heads_are_added_to_a_trained_trunk(labeled_games: Path, trained: Path, tmp_path: Path) -> None:
    """And at first, what is given beside planes, and pooled, changes nothing in the policy."""
    training = settings(labeled_games, **{**OUTCOME, "layers": 3}, first_model=str(trained))
    first = load_first_weights(str(trained), load_weights)
    assert first is not None
    old, new = Learner(settings(labeled_games, value=True), first), Learner(training, first)
    batch = open_batches(training)[0]
    assert (predict(old, batch) == predict(new, batch)).all()
    train_policy(training, tmp_path / "run", machine=HERE)
    assert isinstance(load_model(str(tmp_path / "run" / "model")), OutcomeEvaluator)


def test_a_run_resumes_without_what_it_started_from(games: Path, trained: Path, tmp_path: Path) -> None:
    shutil.copytree(trained, tmp_path / "first")
    training = settings(games, value=True, first_model=str(tmp_path / "first"))

    def kill(positions: int, losses: Losses) -> None:
        if positions == 16 * 3:
            raise Killed

    with pytest.raises(Killed):
        train_policy(training, tmp_path / "run", machine=HERE, tick=kill)
    shutil.rmtree(tmp_path / "first")
    train_policy(training, tmp_path / "run", machine=HERE)
    assert (tmp_path / "run" / "model").is_dir()


def test_several_servers(labeled_games: Path, games: Path, tmp_path: Path) -> None:
    more = {"more_data": [str(games)], "more_shares": [0.25], "more_until": 0.5}
    training = settings(labeled_games, **OUTCOME, servers="kgs tom", **more)
    train_policy(training, tmp_path / "run", machine=HERE)
    kgs, tom = (load_model(str(tmp_path / "run" / "model"), {"server": server}) for server in ("kgs", "tom"))
    board = Board(5)
    assert not (kgs.evaluate([board]).policy == tom.evaluate([board]).policy).all()
    with pytest.raises(ModelError, match="knows kgs, tom, not 'fox'"):
        load_model(str(tmp_path / "run" / "model"), {"server": "fox"})
    with pytest.raises(ValueError, match="servers names that of data"):
        settings(games, servers="kgs tom")
    with pytest.raises(ValueError, match="more_shares has a share for each"):
        settings(games, **{**more, "more_shares": [1.0]})


@pytest.mark.timeout(900)  # it starts torch seven times
def test_two_machines_learn_what_one_learns(games: Path, tmp_path: Path) -> None:
    """By the documented line, each in a folder of its own with its own games; interrupted and resumed."""
    training = settings(games, value=True, optimizer="sgd", step_size=0.1)  # AdamW would enlarge roundings
    train_policy(training, tmp_path / "one", machine=HERE)
    values = training.model_copy(update={"data": "games"}).model_dump(mode="json")
    machines = [tmp_path / "head", tmp_path / "helper"]
    meeting = ["--nnodes", "2", "--master-addr", "127.0.0.1", "--master-port", str(_free_port()), "--node-rank"]
    command = ["-m", "katachi", "--", "train", "policy", "settings.toml", "--run", "two", "--workers", "0"]
    for folder in machines:
        shutil.copytree(games, folder / "games")
        (folder / "settings.toml").write_text(format_toml(values))

    def start() -> list[subprocess.Popen[bytes]]:
        line = [sys.executable, "-m", "torch.distributed.run", *meeting]
        return [subprocess.Popen([*line, str(rank), *command], cwd=folder) for rank, folder in enumerate(machines)]

    interrupted = start()
    while not (machines[0] / "two" / "metrics.jsonl").exists() and interrupted[0].poll() is None:
        time.sleep(0.05)
    for process in interrupted:
        process.send_signal(signal.SIGINT)
        process.wait()
    assert [process.wait() for process in start()] == [0, 0]
    assert not (machines[1] / "two").exists()
    one, two = (load_file(run / "model" / "weights.safetensors") for run in (tmp_path / "one", machines[0] / "two"))
    new = Learner(training).net.arrays()
    assert any(np.abs(one[name] - new[name]).max() > 0.01 for name in one)
    for name, array in one.items():
        assert two[name] == pytest.approx(array, abs=1e-6), name


def test_threads_of_processes_that_meet_end_with_the_block() -> None:
    """Else they may abort the process when the interpreter ends, and a run that is through seems to have failed."""
    script = """if True:
        import os, torch
        from katachi.policy.learner import joined_processes
        with joined_processes():
            weight = torch.nn.Parameter(torch.ones(1))
            weight.sum().backward()
            torch.distributed.all_reduce(weight.grad)
            torch.optim.AdamW([weight]).step()
        print(*(open(f"/proc/self/task/{task}/comm").read() for task in os.listdir("/proc/self/task")))
    """
    place = {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(_free_port())}
    started = [
        subprocess.Popen(
            [sys.executable, "-c", script],
            env=os.environ | place | {"RANK": str(rank)},
            stdout=subprocess.PIPE,
            text=True,
        )
        for rank in range(2)
    ]
    for process in started:
        names, _ = process.communicate()
        assert process.returncode == 0
        assert "gloo" not in names
        assert "python" in names


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])
