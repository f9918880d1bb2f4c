from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from katachi.arena import tournament
from katachi.arena.settings import RunError
from katachi.cli.data import app
from katachi.sgf import parse_sgf


def test_games_are_one_collection_and_an_interrupted_command_goes_on(tmp_path: Path, monkeypatch) -> None:
    out = tmp_path / "games.sgf"
    command = ["selfplay", "random", "random", "--games", "6", "--size", "3", "--komi", "0.5", "--out", str(out)]
    real = tournament.play_tournament

    def interrupted(settings, directory, watch):
        count = 0

        def stop_after_two(record) -> None:
            nonlocal count
            count += 1
            watch(record)
            if count == 2:
                raise KeyboardInterrupt

        return real(settings, directory, stop_after_two)

    monkeypatch.setattr(tournament, "play_tournament", interrupted)
    assert CliRunner().invoke(app, command).exit_code != 0
    assert not out.exists()
    kept = [file.read_text() for file in sorted((tmp_path / "games.sgf.run" / "games").glob("*.sgf"))]
    assert len(kept) == 2
    monkeypatch.setattr(tournament, "play_tournament", real)
    result = CliRunner().invoke(app, [*command, "--json"])
    assert result.exit_code == 0
    report = json.loads(result.stdout)
    assert (report["games"], report["file"], sum(report["wins"].values()) + report["draws"]) == (6, str(out), 6)
    records = parse_sgf(out.read_bytes())
    assert len(records) == 6
    assert all(record.size == 3 and record.komi == 0.5 and record.result is not None for record in records)
    assert out.read_text().startswith(kept[0].strip())
    assert [record.black for record in records] == ["random 1", "random 2"] * 3
    openings = [record.root.text("C").split(".")[0] for record in records]
    assert openings == [f"Opening: random {number}" for number in range(1, 7)]


def test_a_file_that_is_not_ours_is_not_overwritten(tmp_path: Path) -> None:
    out = tmp_path / "games.sgf"
    out.write_text("mine")
    result = CliRunner().invoke(app, ["selfplay", "random", "alp", "--games", "2", "--size", "3", "--out", str(out)])
    assert isinstance(result.exception, RunError)
    assert "exists already: give another name" in str(result.exception)
    assert out.read_text() == "mine"


@pytest.mark.parametrize("arguments", [["nobody", "random"], ["random", "random", "--games", "0"]])
def test_bad_input_leaves_nothing_behind(tmp_path: Path, arguments: list[str]) -> None:
    result = CliRunner().invoke(app, ["selfplay", *arguments, "--out", str(tmp_path / "games.sgf")])
    assert isinstance(result.exception, ValueError | SystemExit)
    assert result.exit_code != 0
    assert list(tmp_path.iterdir()) == []


def test_help_has_examples() -> None:
    result = CliRunner().invoke(app, ["selfplay", "--help"])
    assert result.exit_code == 0
    assert "katachi data selfplay alp influence" in result.stdout
