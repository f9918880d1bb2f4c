from __future__ import annotations

import json
import re

import pytest

from helpers.small_sets import make_small_set
from katachi.bench import shapes as crbm_bench

TINY = ["--positions", "60", "--set", "size=5", "--set", "kernels=4", "--set", "batch=20"]


@pytest.fixture(scope="module")
def games(tmp_path_factory):
    return make_small_set(tmp_path_factory.mktemp("records"))


def test_features_then_a_value_then_pictures_and_a_game(run_katachi, games, tmp_path):
    run, value = str(tmp_path / "run"), str(tmp_path / "value")
    ran = run_katachi("train", "crbm", "--data", str(games), *TINY, "--run", run, "--tensorboard")
    assert ran.code == 0, ran.err
    assert "held-out boards: reconstruction error " in ran.out
    assert (tmp_path / "run" / "kernels.svg").read_text().startswith("<svg")
    assert run_katachi("train", "crbm", "--resume", run).out == ran.out
    refused = run_katachi("play", "--size", "5", str(tmp_path / "run" / "model"))
    assert refused.code == 2

    learned = run_katachi(
        "train", "value", run, "--data", str(games), "--set", "size=5", "--self-play", "2", "--run", value
    )
    assert learned.code == 0, learned.err
    assert "won against its former self" in learned.out
    player = str(tmp_path / "value" / "player.toml")
    played = run_katachi("play", player, "--size", "5", "--sgf", str(tmp_path / "game.sgf"), stdin="C3\nquit\n")
    assert (played.code, re.search(r"\bvalue\b", played.out) is not None) == (0, True)

    shown = run_katachi("show", run, "--per-set", "2")
    assert shown.code == 0, shown.err
    assert "multinomial crbm, 4 kernels, binary units" in shown.out
    svg = tmp_path / "both.svg"
    assert run_katachi("show", run, "--beside", value, "--svg", str(svg)).code == 0
    assert svg.read_text().count('class="title"') == 2
    would_play = run_katachi("show", value, "--sgf", str(tmp_path / "game.sgf"))
    assert (would_play.code, "Black wins" in would_play.out) == (0, True)
    without = run_katachi("show", run, "--sgf", str(tmp_path / "game.sgf"))
    assert (without.code, "no value yet" in without.err) == (2, True)


@pytest.mark.parametrize(
    ("command", "options", "says"),
    [
        ("crbm", [], "give --data SET"),
        ("crbm", ["--data", "nowhere"], "nowhere does not exist"),
        ("crbm", ["--data", "x", "--set", "kernel=3"], "there is no setting kernel; did you mean kernels?"),
        ("crbm", ["--data", "x", "--set", "kernel_size=12"], "kernel_size is at most 9"),
        ("crbm", ["--resume", "nowhere"], "nowhere is not a run that could be resumed"),
        ("crbm", ["--resume", "nowhere", "--seed", "0"], "give no others"),
        ("value", ["templates"], "there is nothing to learn from"),
        ("value", ["nowhere", "--self-play", "1"], "there is no such model"),
        ("value", ["shapes-5", "--self-play", "1"], "but a crbm one is needed"),
    ],
)
def test_bad_input_gets_one_sentence(run_katachi, command, options, says):
    ran = run_katachi("train", command, *options)
    assert ran.code == 2
    assert says in ran.err
    assert ran.err.count("\n") <= 2


def test_divergence_is_one_sentence(run_katachi, games, tmp_path):
    wild = ["--set", "visible=real", "--set", "step_size=50.0"]
    ran = run_katachi("train", "crbm", "--data", str(games), *TINY, *wild, "--run", str(tmp_path / "run"))
    assert ran.code == 2
    assert "start another run with --set step_size=17" in ran.err


def test_bench(run_katachi):
    ran = run_katachi("bench", "crbm", "--seconds", "0.001", "--rounds", "1", "--json")
    assert ran.code == 0, ran.err
    rows = json.loads(ran.out)["rows"]
    assert {row["name"] for row in rows} == {*crbm_bench._KINDS, "katachi-whole-board"}
    assert all((row["size"], row["unit"]) == (9, "candidates/s") and row["rate"] > 0 for row in rows)
