"""A command that needs a library of an extra says so in one sentence, before it does anything, and how to get it."""

from __future__ import annotations

import runpy
import sys
import tomllib
from pathlib import Path

import pytest

from katachi.cli import describe_error
from katachi.cli import setup as doctor
from katachi.core.registry import EXTRAS, MissingExtra, require

ROOT = Path(__file__).parents[2]
TRAINING = "training networks needs torch: pip install 'katachi[train]'"
WINNERS = "predicting winners from features needs {}: pip install 'katachi[train]'"
NEEDS = [
    ("torch", "train crbm --data games", TRAINING),
    ("torch", "train policy --data games", TRAINING),
    ("torch", "models make crbm-9 --data games", TRAINING),
    ("torch", "models make policy-9 --data games", TRAINING),
    ("torch", "reproduce largman2010 --data games", TRAINING),
    ("torch", "reproduce maddison2014 --data games --table table5", TRAINING),
    ("torch", "bench training", TRAINING),
    ("onnx", "train policy --data games", "writing trained networks needs onnx: pip install 'katachi[train]'"),
    ("sklearn", "reproduce largman2010 --data games --table winners", WINNERS.format("scikit-learn")),
    ("scipy", "reproduce largman2010 --data games", WINNERS.format("scipy")),
    ("nicegui", "serve --no-open", "the board in the browser needs nicegui: pip install 'katachi[web]'"),
    ("pyarrow", "analyze game.sgf --parquet", "writing Parquet needs pyarrow: pip install 'katachi[parquet]'"),
    (
        "tensorboardX",
        "train shapes --tensorboard",
        "writing metrics for TensorBoard needs tensorboardX: pip install 'katachi[tensorboard]'",
    ),
]


@pytest.fixture
def hide(monkeypatch):
    """Make a module one that is not installed."""

    def hide(module: str) -> None:
        for name in [name for name in sys.modules if name.partition(".")[0] == module]:
            monkeypatch.delitem(sys.modules, name)
        monkeypatch.setitem(sys.modules, module, None)

    return hide


@pytest.mark.parametrize(("module", "command", "sentence"), NEEDS)
def test_one_sentence(run_katachi, hide, monkeypatch, tmp_path, module, command, sentence):
    monkeypatch.chdir(tmp_path)
    Path("game.sgf").write_text("(;SZ[5];B[cc];W[bb])")
    hide(module)
    assert run_katachi(*command.split()) == (1, "", f"katachi: {sentence}\n")
    assert [path.name for path in tmp_path.iterdir()] == ["game.sgf"]


@pytest.mark.parametrize("script", ["fuzz_sgf.py", "fuzz_gtp.py"])
def test_fuzzing(hide, script):
    hide("atheris")
    with pytest.raises(SystemExit, match=r"^fuzzing needs atheris: pip install 'katachi\[fuzz\]'$"):
        runpy.run_path(str(ROOT / "benchmarks" / script))


def test_what_is_missed_later_is_described_too():
    assert describe_error(ModuleNotFoundError("No module", name="torch.nn")) == TRAINING
    assert "KATACHI_DEBUG=1" in describe_error(ModuleNotFoundError("No module", name="tortoise"))


def test_libraries_that_are_there_are_not_missed(hide):
    require("nicegui", "pyarrow")
    hide("pyarrow")
    with pytest.raises(MissingExtra) as missed:
        require("nicegui", "pyarrow")
    assert missed.value.name == "pyarrow"


def test_the_extras_bring_what_their_commands_say():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    for extra in EXTRAS.values():
        assert any(requirement.startswith(f"{extra.library}>=") for requirement in extras[extra.name])


def test_doctor_lists_them(run_katachi, monkeypatch):
    installed = doctor._installed
    monkeypatch.setattr(doctor, "_installed", lambda name: None if name == "torch" else installed(name))
    found = {finding.what: finding for finding in doctor._extras()}
    assert {f"extra {extra.name}" for extra in EXTRAS.values()} <= set(found)
    assert found["extra train"] == ("extra train", "pip install 'katachi[train]' brings torch", False, False)
    assert found["extra web"].found == "installed"
    assert "pip install 'katachi[train]'" in run_katachi("doctor").out
