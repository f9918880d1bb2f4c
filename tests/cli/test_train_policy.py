from __future__ import annotations

import json
import re

import pytest

from helpers.small_sets import make_small_set

TINY = ["--positions", "64", "--set", "size=5", "--set", "layers=1", "--set", "filters=8", "--set", "batch=16"]


@pytest.fixture(scope="module")
def games(tmp_path_factory):
    return make_small_set(tmp_path_factory.mktemp("records"))


def test_learning_and_going_on(run_katachi, games, tmp_path):
    run = str(tmp_path / "run")
    ran = run_katachi("train", "policy", "--data", str(games), *TINY, "--run", run, "--tensorboard")
    assert ran.code == 0, ran.err
    assert "held-out positions: top-1 " in ran.out
    (events,) = (tmp_path / "run" / "tensorboard").iterdir()
    assert b"validation_top_1" in events.read_bytes()
    again = run_katachi("train", "policy", "--resume", run)
    assert again.out == ran.out


def test_cnn_is_a_former_name(run_katachi, games, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run_katachi("train", "cnn", "--help").out == run_katachi("train", "policy", "--help").out.replace(
        "train policy [", "train cnn ["
    )
    assert "cnn" not in run_katachi("train", "--help").out
    ran = run_katachi("train", "policy", "--data", str(games), *TINY)
    (run,) = (tmp_path / "runs").iterdir()
    assert run.name.startswith("policy-5-")
    former = run.rename(run.with_name(run.name.replace("policy", "cnn")))  # a run that was started under that name
    for name in ("cnn", "policy"):
        assert run_katachi("train", name, "--data", str(games), *TINY).out == ran.out
    assert list((tmp_path / "runs").iterdir()) == [former]


def test_a_network_for_any_size_goes_on_too(run_katachi, games, tmp_path):
    run = str(tmp_path / "run")
    options = ["--set", "size=any", "--set", "position_bias=false"]
    ran = run_katachi("train", "policy", "--data", str(games), *TINY, *options, "--run", run)
    assert ran.code == 0, ran.err
    assert run_katachi("train", "policy", "--resume", run).out == ran.out


def test_beginning_with_what_was_learned_and_playing(run_katachi, games, tmp_path):
    run = str(tmp_path / "run")
    assert run_katachi("train", "policy", "--data", str(games), *TINY, "--run", run).code == 0
    further = run_katachi(
        "train", "policy", "--data", str(games), *TINY, "--from", run, "--run", str(tmp_path / "more")
    )
    assert further.code == 0
    assert json.loads((tmp_path / "more" / "model" / "model.json").read_text())["kind"] == "policy"
    game = ["--sgf", str(tmp_path / "game.sgf")]
    played = run_katachi("play", str(tmp_path / "run" / "player.toml"), "--size", "5", *game, stdin="C3\nquit\n")
    assert played.code == 0
    assert re.search(r"\brun\b", played.out)  # it is called by its run


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ([], "give --data SET"),
        (["--data", "nowhere"], "nowhere does not exist"),
        (["--data", "x", "--set", "layer=3"], "there is no setting layer; did you mean layers?"),
        (["--data", "x", "--set", "layers=2"], "layers of a residual net are odd"),
        (["--resume", "nowhere"], "nowhere is not a run that could be resumed"),
        (["--resume", "nowhere", "--seed", "0"], "give no others"),
        (["--data", "x", "--set", "size=any"], "a net for any size has no position_bias"),
    ],
)
def test_bad_input_gets_one_sentence(run_katachi, options, says):
    ran = run_katachi("train", "policy", *options)
    assert ran.code == 2
    assert says in ran.err
    assert ran.err.count("\n") <= 2
