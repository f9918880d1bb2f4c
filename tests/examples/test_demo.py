"""The demo ends with the board in the browser where somebody can look at it, and by itself everywhere else."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import pytest

import katachi.cli

DEMO = str(Path(__file__).parents[2] / "examples" / "demo.py")


def set_the_scene(monkeypatch, stdin: bool, stdout: bool, no_serve: str | None) -> None:
    monkeypatch.setattr(sys.stdin, "isatty", lambda: stdin, raising=False)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: stdout, raising=False)
    monkeypatch.delenv("KATACHI_NO_SERVE", raising=False)
    if no_serve is not None:
        monkeypatch.setenv("KATACHI_NO_SERVE", no_serve)


@pytest.mark.parametrize(
    ("stdin", "stdout", "no_serve", "opens"),
    [
        (True, True, None, True),
        (True, True, "", True),
        (True, True, "0", True),
        (True, True, "1", False),
        (False, True, None, False),
        (True, False, None, False),
    ],
)
def test_when_the_board_opens(monkeypatch, stdin, stdout, no_serve, opens):
    set_the_scene(monkeypatch, stdin, stdout, no_serve)
    monkeypatch.setenv("FORCE_COLOR", "1")  # which makes no terminal
    assert runpy.run_path(DEMO)["should_open_board"]() is opens


def test_the_board_opens_against_what_was_learned(monkeypatch, tmp_path, capsys):
    served = []
    monkeypatch.setattr(katachi.cli, "main", served.append)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["demo.py", "100"])
    set_the_scene(monkeypatch, stdin=True, stdout=True, no_serve=None)
    runpy.run_path(DEMO, run_name="__main__")
    assert served == [["serve", "runs/demo-1/player.toml", "--data", "runs/demo-1/board"]]
    assert Path("runs/demo-1/player.toml").exists()
    assert "katachi serve runs/demo-1/player.toml" in capsys.readouterr().out
