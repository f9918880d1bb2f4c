"""The examples run, and print what their text promises."""

from __future__ import annotations

import re
import runpy
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
ARGUMENTS = {"demo.py": ["500"]}  # games to learn from
PROMISED = {
    "demo.py": r"against alp: \d+\.\d% [\s\S]*shapes \(X\) against alp \(O\): [BW]\+",
    "own_player.py": r"it keeps the contract, and won ([89]|10) of 10 games as Black",
    "two_players.py": r"alp against influence: [BW]\+\d+\.5 after \d+ moves",
    "who_owns_what.py": r"dead: B3 G3\narea score without them: 5",
}


@pytest.mark.parametrize("name", sorted(path.name for path in EXAMPLES.glob("*.py")))
def test_example(name, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [name, *ARGUMENTS.get(name, [])])
    runpy.run_path(str(EXAMPLES / name), run_name="__main__")
    assert re.search(PROMISED[name], capsys.readouterr().out)


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.name)
def test_an_example_is_short(path):
    assert 20 <= len(path.read_text(encoding="utf-8").splitlines()) <= 70
