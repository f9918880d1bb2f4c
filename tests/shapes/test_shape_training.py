from __future__ import annotations

import hashlib
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import pytest

from katachi.core.conformance import check_player, sample_games
from katachi.core.linear import load_linear
from katachi.core.training import MetricLine
from katachi.players.specs import load_player
from katachi.shapes import train
from katachi.shapes.train import ShapeTraining, train_in_folder

PROGRAM = """
import sys
from pathlib import Path
from katachi.shapes.train import ShapeTraining, train_in_folder
train_in_folder(ShapeTraining.model_validate_json(sys.argv[1]), Path(sys.argv[2]), lambda line: None)
"""
SETTINGS = ShapeTraining(size=5, games=1200, evaluate_every=300, test_games=20, seed=3)


def digest(folder: Path) -> str:
    files = [folder / "model" / "weights.safetensors", folder / "checkpoint.safetensors", folder / "metrics.jsonl"]
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("training") / "run"
    train_in_folder(SETTINGS, folder, lambda line: None)
    return folder


def test_what_is_measured(finished: Path) -> None:
    seen: list[MetricLine] = []
    train_in_folder(SETTINGS, finished, seen.append)  # is finished: only tells
    assert [line.games for line in seen] == [300, 600, 900, 1200]
    assert all(0 <= rate <= 1 for line in seen for rate in line.win_rates)


def test_the_model_knows_how_it_was_made(finished: Path) -> None:
    model, card = load_linear(finished / "model")
    assert card.training.games == 1200
    assert card.training.settings["step_size"] == 0.3
    assert model.weights.any()


def test_the_player_of_a_run_plays(finished: Path) -> None:
    text = str(finished / "player.toml")
    check_player(load_player(text, seed=1), load_player(text, seed=1), games=sample_games((5,), seed=1))


def test_a_pair_leaves_two_models(tmp_path: Path) -> None:
    pair = SETTINGS.model_copy(update={"agents": 2, "games": 20, "evaluate_every": 20})
    paths = train_in_folder(pair, tmp_path / "run", lambda line: None)
    first, second = (load_linear(path)[0].weights for path in paths)
    assert (first != second).any()


def test_a_run_that_is_killed_again_and_again_ends_in_the_same_bytes(finished: Path, tmp_path: Path) -> None:
    arguments = [sys.executable, "-c", PROGRAM, SETTINGS.model_dump_json(), str(tmp_path / "run")]
    folder = tmp_path / "run"
    kills = 0
    for delay in (0.9, 0.05, 0.1, 0.2):
        process = subprocess.Popen(arguments)
        while not (folder / "config.toml").exists():
            time.sleep(0.01)
        time.sleep(delay)
        process.send_signal(signal.SIGKILL)
        kills += process.wait() == -signal.SIGKILL
    subprocess.run(arguments, check=True)
    assert digest(folder) == digest(finished)
    assert kills


@pytest.mark.parametrize("stopped_at", [1, 2, 3, 5, 6])  # slices of games; the third and the sixth end an evaluation
def test_a_run_that_ctrl_c_stopped_between_evaluations_ends_the_same(tmp_path, monkeypatch, stopped_at):
    settings = ShapeTraining(size=5, games=500, evaluate_every=250, test_games=2, sets=("LI 2x2",))
    train_in_folder(settings, tmp_path / "whole")

    @contextmanager
    def stop():
        calls = count(1)
        yield lambda: next(calls) == stopped_at

    with monkeypatch.context() as patch:
        patch.setattr(train.core, "finish_first", stop)
        with pytest.raises(KeyboardInterrupt):
            train_in_folder(settings, tmp_path / "run")
    played = []
    train_in_folder(settings, tmp_path / "run", tick=lambda _size, games: played.append(games))
    assert played[:1] == [100, 200, 250, 350, 450, 500][stopped_at : stopped_at + 1]  # none is played again
    for name in ("metrics.jsonl", "checkpoint.safetensors", "model/weights.safetensors"):
        assert (tmp_path / "run" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
