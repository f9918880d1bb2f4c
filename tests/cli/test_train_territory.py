from __future__ import annotations

import json
import re

import pytest

from helpers.small_sets import label_small_set, make_small_set

TINY = ["--positions", "40", "--set", "batch=10", "--set", "validation_positions=20"]


@pytest.fixture(scope="module")
def games(tmp_path_factory):
    path = make_small_set(tmp_path_factory.mktemp("records"))
    label_small_set(path)
    return path


def test_learning_going_on_and_playing(run_katachi, games, tmp_path):
    run = str(tmp_path / "run")
    ran = run_katachi("train", "territory", "--data", str(games), *TINY, "--run", run, "--tensorboard")
    assert ran.code == 0, ran.err
    assert "held-out positions: ownership accuracy " in ran.out
    (events,) = (tmp_path / "run" / "tensorboard").iterdir()
    assert b"validation_right" in events.read_bytes()
    assert run_katachi("train", "territory", "--resume", run).out == ran.out
    further = ["--from", run, "--run", str(tmp_path / "more")]
    assert run_katachi("train", "territory", "--data", str(games), *TINY, *further).code == 0
    assert json.loads((tmp_path / "more" / "model" / "model.json").read_text())["kind"] == "territory"
    game = ["--sgf", str(tmp_path / "game.sgf")]
    played = run_katachi("play", str(tmp_path / "run" / "player.toml"), "--size", "4", *game, stdin="C3\nquit\n")
    assert played.code == 0
    assert re.search(r"\brun\b", played.out)  # it is called by its run


def test_learning_from_nothing(run_katachi, tmp_path):
    run = str(tmp_path / "run")
    few = ["--set", "games_a_round=2", "--set", "positions_a_game=10", "--set", "batch=10"]
    ran = run_katachi("train", "territory", "--self-play", "3", "--positions", "40", *few, "--run", run)
    assert ran.code == 0, ran.err
    assert ran.out.startswith("4 games: loss ")
    assert run_katachi("train", "territory", "--resume", run).out == ran.out


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ([], "give --data SET"),
        (["--data", "nowhere"], "nowhere does not exist"),
        (["--data", "x", "--set", "sweep=2"], "there is no setting sweep; did you mean sweeps?"),
        (["--data", "x", "--set", "hidden=20"], "hidden: "),
        (["--self-play", "5", "--data", "x"], "give neither --data nor --from"),
        (["--self-play", "5", "--set", "weakest=1d"], "there is no setting weakest"),
        (["--resume", "nowhere"], "nowhere is not a run that could be resumed"),
        (["--resume", "nowhere", "--seed", "0"], "give no others"),
    ],
)
def test_bad_input_gets_one_sentence(run_katachi, options, says):
    ran = run_katachi("train", "territory", *options)
    assert ran.code == 2
    assert says in ran.err
    assert ran.err.count("\n") <= 2


def test_a_set_without_labels_is_refused(run_katachi, tmp_path):
    ran = run_katachi("train", "territory", "--data", str(make_small_set(tmp_path)))
    assert ran.code == 2
    assert "has no labels: katachi data label" in ran.err
