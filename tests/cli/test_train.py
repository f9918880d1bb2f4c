from __future__ import annotations

import json
import shutil
import sys

import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from katachi.shapes.train import ShapeTraining, train_in_folder


def test_learning_and_playing_what_was_learned(run_katachi, tmp_path):
    options = ["--size", "5", "--games", "300", "--set", "test_games=10", "--run", str(tmp_path / "run")]
    ran = run_katachi("train", "shapes", *options)
    assert ran.code == 0
    assert "against alp: " in ran.out
    again = run_katachi("train", "shapes", *options)
    assert again.out == ran.out
    played = run_katachi(
        "play",
        str(tmp_path / "run" / "player.toml"),
        "--size",
        "5",
        "--sgf",
        str(tmp_path / "game.sgf"),
        stdin="C3\nquit\n",
    )
    assert played.code == 0
    assert "run: " in played.out  # a player is called by its run


def test_growing_and_beginning_with_what_was_learned(run_katachi, small_run, tmp_path):
    options = ["--games", "40", "--grow-from", "5", "--set", "grow_at=1.0", "--set", "grow_games=20"]
    start = ["--start-from", str(small_run / "model"), "--set", "test_games=10", "--set", "sets=['LI 2x2']"]
    ran = run_katachi("train", "shapes", "--size", "6", *options, *start, "--run", str(tmp_path / "run"))
    assert ran.code == 0
    assert "5×5 was left after 20 games without 100% against alp" in ran.err
    assert "against alp on 6×6: " in ran.out
    lines = [json.loads(line) for line in (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()]
    assert {line["size"] for line in lines} == {5, 6}
    assert (tmp_path / "run" / "curve.svg").read_text().startswith("<?xml")


def test_several_runs_are_what_they_would_be_alone(run_katachi, tmp_path):
    options = ["--size", "5", "--games", "60", "--set", "test_games=10", "--set", "sets=['LI 2x2']"]
    ran = run_katachi("train", "shapes", *options, "--seed", "4", "--runs", "3", "--jobs", "2", "--run", str(tmp_path))
    assert ran.code == 0
    assert [line.split(":")[0] for line in ran.out.splitlines()] == ["seed-4", "seed-5", "seed-6"]
    run_katachi("train", "shapes", *options, "--seed", "5", "--run", str(tmp_path / "alone"))
    for name in ("model/weights.safetensors", "metrics.jsonl"):
        alone, among = ((tmp_path / folder / name).read_bytes() for folder in ("alone", "seed-5"))
        assert alone == among


def test_tensorboard(run_katachi, tmp_path, monkeypatch):
    options = ["--size", "5", "--games", "60", "--set", "test_games=10", "--set", "sets=['LI 2x2']", "--tensorboard"]
    for _ in range(2):  # what goes on is written anew
        assert run_katachi("train", "shapes", *options, "--run", str(tmp_path / "run")).code == 0
        shown = EventAccumulator(str(tmp_path / "run" / "tensorboard"))  # of the program that draws it
        shown.Reload()
        assert [event.step for event in shown.Scalars("5x5/win_rate_1")] == list(range(2, 61, 2))
    monkeypatch.setitem(sys.modules, "tensorboardX", None)
    ran = run_katachi("train", "shapes", *options, "--run", str(tmp_path / "other"))
    assert ran.code == 1
    assert "pip install 'katachi[tensorboard]'" in ran.err
    assert not (tmp_path / "other").exists()


@pytest.fixture(scope="module")
def small_run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("train") / "run"
    settings = ShapeTraining(size=5, games=40, evaluate_every=20, test_games=10, sets=("LI 2x2",))
    train_in_folder(settings, folder, lambda line: None)
    return folder


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--set", "step_sise=1"], "there is no setting step_sise; did you mean step_size?"),
        (["--set", "step_size=nan"], "step_size: Input should be"),
        (["--set", "step_size"], "say KEY=VALUE"),
        (["--set", "sets=['LI 9x9']"], "sets"),
        (["--set", "sets=['LI 4x4']"], "mode fast has shapes up to 3x3 alone"),
        (["--size", "20"], "size: Input should be"),
        (["missing.toml"], "cannot read missing.toml"),
        (["--games", "-5"], "games: Input should be greater than or equal to 1"),
        (["--set", "games=many"], "games: Input should be a valid integer"),
        (["--set", "evaluate_every=0"], "evaluate_every: Input should be greater"),
        (["--set", "step_size=-1"], "step_size: Input should be greater than 0"),
        (["--set", "sets=[]"], "need at least one set"),
        (["--set", "sets=['LI 2x2', 'LI 2x2']"], "none of them twice"),
        (["--set", "sets=3"], "sets: Input should be a valid tuple"),
        (["--size", "3", "--set", "sets=['LI 5x5']", "--set", "mode=online"], "LI 5x5 does not fit on a 3×3 board"),
        (["--set", "cascade=true"], "mode fast has no cascade"),
        (["--set", "epsilon=2"], "epsilon: Input should be less than or equal to 1"),
        (["--set", "komi=inf"], "komi: Input should be"),
        (["--size", "5", "--grow-from", "7"], "grow_from is at most the size, which is 5"),
        (["--from", "nowhere"], "nowhere: there is no such model, neither pretrained nor on disk"),
    ],
)
def test_bad_settings_get_one_sentence(run_katachi, options, says):
    ran = run_katachi("train", "shapes", *options)
    assert ran.code == 2
    assert says in ran.err
    assert ran.err.count("\n") <= 2


def spoil(path, name, content):
    """A copy of a run in which one file holds something else, or is missing."""
    if content is None:
        (path / name).unlink()
    else:
        (path / name).write_bytes(content((path / name).read_bytes()))


RUN = [
    "--size",
    "5",
    "--games",
    "40",
    "--set",
    "evaluate_every=20",
    "--set",
    "test_games=10",
    "--set",
    "sets=['LI 2x2']",
]


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("checkpoint.safetensors", lambda whole: whole[:-9], "cannot resume: its checkpoint is damaged"),
        ("checkpoint.safetensors", lambda whole: b"", "cannot resume: its checkpoint is damaged"),
        ("metrics.jsonl", lambda whole: whole[:30], "cannot resume: its checkpoint is damaged"),
        ("metrics.jsonl", None, "cannot read"),
        ("config.toml", lambda whole: b"size = \n", "config.toml is damaged"),
        ("config.toml", lambda whole: whole.replace(b"0.3", b"0.4"), "was started with another step_size"),
    ],
)
def test_a_damaged_run_gets_one_sentence(run_katachi, small_run, tmp_path, name, content, says):
    shutil.copytree(small_run, tmp_path / "run")
    spoil(tmp_path / "run", name, content)
    ran = run_katachi("train", "shapes", *RUN, "--run", str(tmp_path / "run"))
    assert ran.code == 2
    assert says in ran.err.splitlines()[-1]


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("weights.safetensors", lambda whole: whole[:-9], "one of the files was changed"),
        ("weights.safetensors", None, "there is no file weights.safetensors"),
        ("model.json", lambda whole: whole[:-9], "its card cannot be read"),
        ("model.json", lambda whole: b"[]", "its card cannot be read"),
        ("model.json", lambda whole: whole.replace(b'"format": ', b'"format": 9'), "its card cannot be read"),
    ],
)
@pytest.mark.parametrize("use", ["train", "play"])
def test_a_damaged_model_gets_one_sentence(run_katachi, small_run, tmp_path, name, content, says, use):
    shutil.copytree(small_run / "model", tmp_path / "model")
    spoil(tmp_path / "model", name, content)
    (tmp_path / "player.toml").write_text(f'kind = "search"\n[evaluator]\nmodel = "{tmp_path / "model"}"\n')
    commands = {
        "train": ["train", "shapes", *RUN, "--from", str(tmp_path / "model"), "--run", str(tmp_path / "run")],
        "play": ["play", str(tmp_path / "player.toml"), "--size", "5"],
    }
    ran = run_katachi(*commands[use])
    assert ran.code == 2
    assert says in ran.err.splitlines()[-1]
    assert "Traceback" not in ran.err


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--size", "4"], "evaluates 5×5 boards: start learning 4×4 with one for that or less"),
        (["--set", "sets=['LI 2x1']"], "to start from it, learn the same sets of shapes"),
        (["--set", "tied=true"], "to start from it, learn the same sets of shapes"),
    ],
)
def test_a_model_that_does_not_fit_gets_one_sentence(run_katachi, small_run, tmp_path, options, says):
    start = ["--start-from", str(small_run / "model"), "--run", str(tmp_path / "run")]
    ran = run_katachi("train", "shapes", *RUN, *options, *start)
    assert ran.code == 2
    assert says in ran.err.splitlines()[-1]
    assert not (tmp_path / "run").exists()


def test_a_model_of_another_size_does_not_play(run_katachi, small_run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ran = run_katachi("play", str(small_run / "player.toml"), "--size", "9", stdin="E5\n")
    assert ran.code != 0
    assert "5×5" in ran.err.splitlines()[-1]
    assert "Traceback" not in ran.err


def test_a_folder_with_other_files_is_left_alone(run_katachi, tmp_path):
    (tmp_path / "letter.txt").touch()
    ran = run_katachi("train", "shapes", *RUN, "--run", str(tmp_path))
    assert ran.code == 2
    assert "holds other files: give a new folder" in ran.err
