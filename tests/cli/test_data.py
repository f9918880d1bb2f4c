from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from katachi.cli.data import app

GAME = "(;GM[1]SZ[9]BR[3k]WR[1d]RE[B+R];B[ee];W[gc])"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "one.sgf").write_text(GAME)
    (tmp_path / "many.sgf.gz").write_bytes(gzip.compress(f"{GAME}\n{GAME.replace('9', '13')}".encode()))
    (tmp_path / "bad.sgf").write_text("nothing")
    return tmp_path


def test_json_is_one_object_and_nothing_else(folder: Path) -> None:
    result = CliRunner().invoke(app, ["info", str(folder), "--json"])
    assert result.exit_code == 0
    assert result.stderr == ""
    report = json.loads(result.stdout)
    assert (report["games"], report["errors"], report["by_size"]) == (3, 1, {"9": 2, "13": 1})
    assert report["seconds"] > 0
    assert report["by_result"] == {"B+R": 3}


def test_processes_count_the_same(folder: Path) -> None:
    alone, together = (
        json.loads(CliRunner().invoke(app, ["info", str(folder), "--json", "--jobs", jobs]).stdout) for jobs in "12"
    )
    assert together["processes"] == 2
    for report in (alone, together):
        for key in ("seconds", "processes", "games_per_minute_and_process"):
            del report[key]
    assert alone == together


def test_the_table_names_counts_and_faults(folder: Path) -> None:
    result = CliRunner().invoke(app, ["info", str(folder)])
    assert result.exit_code == 0
    assert "games 3, moves 6, errors 1" in result.stdout
    assert "no game found" in result.stdout.replace("\n", "")
    assert "B+R" in result.stdout


def test_no_game_at_all_is_a_failure(folder: Path) -> None:
    assert CliRunner().invoke(app, ["info", str(folder / "bad.sgf")]).exit_code == 1


def test_a_missing_file_is_a_usage_error(folder: Path) -> None:
    assert CliRunner().invoke(app, ["info", str(folder / "missing.sgf")]).exit_code == 2


def test_help_has_examples() -> None:
    result = CliRunner().invoke(app, ["info", "--help"])
    assert result.exit_code == 0
    assert "katachi data info games/" in result.stdout
