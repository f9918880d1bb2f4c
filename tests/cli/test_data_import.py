from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from katachi.cli.data import app
from katachi.data.dataset import Dataset

GAME = "(;GM[1]SZ[9]BR[3k]WR[1d]RE[B+R];B[ee];W[gc])"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "records"
    folder.mkdir()
    (folder / "one.sgf").write_text(GAME)
    (folder / "two.sgf").write_text(GAME)
    (folder / "bad.sgf").write_text("nothing")
    return folder


def test_json_is_one_object_and_nothing_else(folder: Path, tmp_path: Path) -> None:
    command = ["import", str(folder), "--out", str(tmp_path / "set"), "--unique", "--json"]
    for _ in range(2):  # the second time it is there already
        result = CliRunner().invoke(app, command)
        assert result.exit_code == 0
        assert result.stderr == ""
        report = json.loads(result.stdout)
        assert (report["games"], report["moves"], report["repeated"]) == (1, 2, 1)
        assert report["skipped"] == {"cannot be read": 1}
        assert report["by_rank"] == {"1d": 1, "3k": 1}
    assert Dataset.open(tmp_path / "set").digest == report["digest"]


def test_the_table_names_counts_and_faults(folder: Path, tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["import", str(folder), "--out", str(tmp_path / "set")])
    assert result.exit_code == 0
    assert "games 2, moves 4" in result.stdout
    assert "cannot be read" in result.stdout
    assert "games that came again 1, kept" in result.stdout
    assert "no game found" in " ".join(result.stdout.split())


def test_help_has_examples() -> None:
    result = CliRunner().invoke(app, ["import", "--help"])
    assert result.exit_code == 0
    assert "katachi data import games/" in result.stdout
