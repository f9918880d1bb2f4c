from __future__ import annotations

import pytest


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
    assert "shapes" in played.out


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
    ],
)
def test_bad_settings_get_one_sentence(run_katachi, options, says):
    ran = run_katachi("train", "shapes", *options)
    assert ran.code == 2
    assert says in ran.err
    assert ran.err.count("\n") <= 2
