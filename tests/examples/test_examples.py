"""The examples run, and print what their text promises."""

from __future__ import annotations

import re
import runpy
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
ARGUMENTS = {  # the size of a smoke test: games to play or to learn from
    "demo.py": "500",
    "dataset_in_torch.py": "6",
    "own_evaluator.py": "2",
    "own_player.py": "4",
    "pettingzoo_go.py": "2",
    "shapes_in_ten_lines.py": "500",
}
NEEDED = {"dataset_in_torch.py": "torch", "pettingzoo_go.py": "pettingzoo"}
PROMISED = {
    "dataset_in_torch.py": r"batch    0 of \d+: planes \[32, 9, 7, 7\], loss \d\.\d+\n",
    "demo.py": r"against alp: \d+\.\d% [\s\S]*shapes \(X\) against alp \(O\): [BW]\+",
    "own_evaluator.py": r"after 500 simulations: Black wins \d+% with [\s\S]*nearest stone against influence: 2–0",
    "own_player.py": r"it keeps the contract\nplayouts against alp: [34]–[01], [\s\S]*\(;FF\[4\]",
    "pettingzoo_go.py": r"alp won 2 of 2 games as black_0 against random actions",
    "shapes_in_ten_lines.py": r"   500 games +\d+\.\d% [\s\S]*learned shapes in a tree against alp: (10|9|8)–",
    "who_owns_what.py": r"dead: B3 G3\narea score without them: 5",
}


@pytest.mark.parametrize("name", sorted(path.name for path in EXAMPLES.glob("*.py")))
def test_example(name, capsys, monkeypatch, tmp_path):
    pytest.importorskip(NEEDED.get(name, "katachi"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [name, ARGUMENTS[name]] if name in ARGUMENTS else [name])
    runpy.run_path(str(EXAMPLES / name), run_name="__main__")
    assert re.search(PROMISED[name], capsys.readouterr().out)


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.name)
def test_an_example_is_about_a_page_and_says_how_to_run_it(path):
    text = path.read_text(encoding="utf-8")
    assert 20 <= len(text.splitlines()) <= 105
    header = text.split('"""')[1]
    assert re.search(rf"Run it with: python examples/{path.name}.* \((about|a few|a second)[^)]*\)", header)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_pettingzoo_finds_its_own_api():
    api_test = pytest.importorskip("pettingzoo.test").api_test
    api_test(runpy.run_path(str(EXAMPLES / "pettingzoo_go.py"))["GoEnv"](5), num_cycles=200)
