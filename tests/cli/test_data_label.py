from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from helpers.settled_games import MARKS, OWNERSHIP, settled_record
from katachi.cli import data as data_label
from katachi.cli.data import app
from katachi.data.dataset import Dataset
from katachi.gtp import EngineFailure
from katachi.gtp.client import Engines


@pytest.fixture
def games(tmp_path: Path) -> Path:
    """An imported set of three games: one with marks, one without, one whose record is wrong."""
    records = [settled_record("B+4.5", marks=MARKS), settled_record("B+4.5"), settled_record("W+1.5")]
    (tmp_path / "games.sgf").write_text("\n".join(records))
    result = CliRunner().invoke(app, ["import", str(tmp_path / "games.sgf"), "--out", str(tmp_path / "set")])
    assert result.exit_code == 0
    return tmp_path / "set"


def test_json_is_one_object_and_nothing_else(games: Path) -> None:
    command = ["label", str(games), "--by", "marks", "--by", "playouts", "--playouts", "50", "--json"]
    for _ in range(2):  # the second time there is nothing left to ask
        result = CliRunner().invoke(app, command)
        assert (result.exit_code, result.stderr) == (0, "")
        report = json.loads(result.stdout)
        assert (report["games"], report["labeled"], report["looked_at"]) == (3, 2, 3)
        assert report["by_source"]["marks"]["agrees"] == report["by_source"]["playouts"]["agrees"] == 1
    labels = [Dataset.open(games).ownership(game) for game in range(3)]
    assert [None if row is None else row.tolist() for row in labels] == [OWNERSHIP, OWNERSHIP, None]


def test_the_table_tells_rates_and_splits(games: Path) -> None:
    result = CliRunner().invoke(app, ["label", str(games), "--by", "playouts", "--jobs", "1"])
    assert result.exit_code == 0
    assert "labeled 2 (66.7%)" in result.stdout
    assert "66.7%" in result.stdout.splitlines()[-2]
    assert "for training" in result.stdout


def test_without_gnugo_the_others_are_asked_unless_it_was_named(games: Path, monkeypatch) -> None:
    def fail(_self: Engines) -> None:
        raise EngineFailure("gnugo cannot be started: it is not here")

    monkeypatch.setattr(Engines, "check", fail)
    result = CliRunner().invoke(app, ["label", str(games), "--by", "gnugo"])
    assert isinstance(result.exception, EngineFailure)
    result = CliRunner().invoke(app, ["label", str(games), "--json"])
    assert result.exit_code == 0
    assert "it is not here; marks and playouts alone are asked" in result.stderr
    assert json.loads(result.stdout)["labeled"] == 2


def test_help_has_examples() -> None:
    result = CliRunner().invoke(app, ["label", "--help"])
    assert result.exit_code == 0
    assert "katachi data label my-games" in result.stdout
    assert data_label.label.__doc__ is not None
