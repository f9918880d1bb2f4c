from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from katachi.arena.records import GameRecord, RunDirectory, unfinished_directory
from katachi.arena.settings import RunError, TournamentSettings, parse_settings
from katachi.core.disk import DirectoryInUse

MakeRecord = Callable[..., GameRecord]
MakeSettings = Callable[..., TournamentSettings]


class Killed(BaseException):
    """The end of the process, as far as the code under test can tell."""


def test_a_run_keeps_its_settings_versions_and_games(
    tmp_path: Path, make_settings: MakeSettings, make_record: MakeRecord
) -> None:
    settings = make_settings(seed=5)
    with RunDirectory(tmp_path / "run", settings) as run:
        run.add(make_record("random", "alp", "B+3.5"), "(;GM[1])")
        run.finish({"games": 1}, "<html>")
    files = {path.name for path in (tmp_path / "run").iterdir()}
    assert files == {".lock", "config.toml", "run.json", "games.jsonl", "games", "results.json", "report.html"}
    assert tomllib.loads((tmp_path / "run/config.toml").read_text())["max_moves"] == 75
    state = json.loads((tmp_path / "run/run.json").read_text())
    assert (state["status"], state["seed"]) == ("finished", 5)
    assert set(state["sessions"][0]) == {"katachi", "commit", "python", "platform", "libraries"}
    assert (tmp_path / "run/games/01-0001.sgf").read_text() == "(;GM[1])"
    with RunDirectory(tmp_path / "run", settings) as run:
        assert list(run.records.values()) == [make_record("random", "alp", "B+3.5")]


@pytest.mark.parametrize("torn", [b'{"id": "01-0002", "pai', b"{", b"\x00\x00"])
def test_a_torn_last_line_is_dropped(
    tmp_path: Path, make_settings: MakeSettings, make_record: MakeRecord, torn: bytes
) -> None:
    games = [make_record("random", "alp", "B+3.5", number=number) for number in range(3)]
    with RunDirectory(tmp_path, make_settings()) as run:
        run.add(games[0], "")
    with (tmp_path / "games.jsonl").open("ab") as file:
        file.write(torn)
    with RunDirectory(tmp_path, make_settings()) as run:
        assert list(run.records) == ["01-0001"]
        run.add(games[1], "")
    with RunDirectory(tmp_path, make_settings()) as run:
        assert list(run.records.values()) == games[:2]


def test_every_cut_of_the_file_leaves_whole_games(
    tmp_path: Path, make_settings: MakeSettings, make_record: MakeRecord
) -> None:
    games = [make_record("random", "alp", "B+3.5", number=number) for number in range(2)]
    with RunDirectory(tmp_path, make_settings()) as run:
        for game in games:
            run.add(game, "")
    data = (tmp_path / "games.jsonl").read_bytes()
    first = data.index(b"\n") + 1
    for length in [0, 1, first - 1, first, first + 1, len(data) - 1, len(data)]:
        (tmp_path / "games.jsonl").write_bytes(data[:length])
        with RunDirectory(tmp_path, make_settings()) as run:
            assert list(run.records.values()) == games[: data[:length].count(b"\n")]


def test_damage_elsewhere_is_named_and_refused(
    tmp_path: Path, make_settings: MakeSettings, make_record: MakeRecord
) -> None:
    with RunDirectory(tmp_path, make_settings()) as run:
        run.add(make_record("random", "alp", "B+3.5"), "")
    line = (tmp_path / "games.jsonl").read_bytes()
    (tmp_path / "games.jsonl").write_bytes(b'{"id": 1}\n' + line)
    with pytest.raises(RunError, match=r"games\.jsonl is damaged in line 1"):
        RunDirectory(tmp_path, make_settings())
    (tmp_path / "games.jsonl").write_bytes(line + line)
    with pytest.raises(RunError, match="game 01-0001 is there twice"):
        RunDirectory(tmp_path, make_settings())
    (tmp_path / "run.json").write_text("{}")
    with pytest.raises(RunError, match=r"run\.json is not a record of a run"):
        RunDirectory(tmp_path, make_settings())


def test_other_settings_are_refused_with_the_difference(tmp_path: Path, make_settings: MakeSettings) -> None:
    RunDirectory(tmp_path, make_settings(seed=1)).close()
    with pytest.raises(RunError, match="started with other settings: seed is 1 there and 2 here"):
        RunDirectory(tmp_path, make_settings(seed=2))
    RunDirectory(tmp_path, make_settings(seed=1, jobs=2)).close()


def test_a_changed_player_file_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text("kind = 'alp'")
    settings = parse_settings({"players": {"mine": str(file), "alp": "alp"}})
    RunDirectory(tmp_path / "run", settings).close()
    RunDirectory(tmp_path / "run", settings).close()
    file.write_text("kind = 'random'")
    with pytest.raises(RunError, match=r"mine\.toml changed since the run began"):
        RunDirectory(tmp_path / "run", settings)


def test_a_run_that_is_being_played_is_refused(tmp_path: Path, make_settings: MakeSettings) -> None:
    with RunDirectory(tmp_path, make_settings()), pytest.raises(DirectoryInUse, match="another process is at work"):
        RunDirectory(tmp_path, make_settings())
    RunDirectory(tmp_path, make_settings()).close()


def test_a_refused_run_is_not_left_locked(tmp_path: Path, make_settings: MakeSettings) -> None:
    RunDirectory(tmp_path, make_settings(seed=1)).close()
    with pytest.raises(RunError):
        RunDirectory(tmp_path, make_settings(seed=2))
    RunDirectory(tmp_path, make_settings(seed=1)).close()


def test_a_folder_with_other_files_is_left_alone(tmp_path: Path, make_settings: MakeSettings) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(RunError, match=r"holds no run, but other files such as thesis\.tex"):
        RunDirectory(tmp_path, make_settings())
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]
    with pytest.raises(RunError, match="is not a folder"):
        RunDirectory(tmp_path / "thesis.tex", make_settings())


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path, make_settings: MakeSettings) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RunError, match="cannot write to"):
        RunDirectory(tmp_path / "file" / "run", make_settings())


def test_a_kill_at_any_write_loses_no_finished_game_and_doubles_none(
    tmp_path: Path, make_settings: MakeSettings, make_record: MakeRecord, monkeypatch: pytest.MonkeyPatch
) -> None:
    games = [make_record("random", "alp", "B+3.5", number=number) for number in range(3)]
    calls = 0
    deadly = 0
    fsync, replace = os.fsync, Path.replace

    def mortal(function: Callable[..., object]) -> Callable[..., object]:
        def call(*arguments: object) -> object:
            nonlocal calls
            calls += 1
            if calls == deadly:
                raise Killed
            return function(*arguments)

        return call

    def play_rest(path: Path) -> list[str]:
        kept: list[str] = []
        with RunDirectory(path, make_settings()) as run:
            for game in games:
                if game.id not in run.records:
                    run.add(game, f"sgf of {game.id}")
                    kept.append(game.id)
            run.finish({"games": len(run.records)}, "")
        return kept

    monkeypatch.setattr(os, "fsync", mortal(fsync))
    monkeypatch.setattr(Path, "replace", mortal(replace))
    play_rest(tmp_path / "unbroken")
    total = calls
    for deadly in range(1, total + 1):
        calls = 0
        path = tmp_path / f"killed at {deadly}"
        with pytest.raises(Killed):
            play_rest(path)
        play_rest(path)
        lines = (path / "games.jsonl").read_text().splitlines()
        assert [json.loads(line)["id"] for line in lines] == [game.id for game in games]
        assert (path / "results.json").read_text() == (tmp_path / "unbroken/results.json").read_text()
        assert sorted(file.name for file in (path / "games").glob("*.sgf")) == [f"{game.id}.sgf" for game in games]
    assert total > 15


def test_the_default_folder_goes_on_until_its_run_is_finished(tmp_path: Path, make_settings: MakeSettings) -> None:
    base = tmp_path / "match"
    assert unfinished_directory(base) == base
    with RunDirectory(base, make_settings()) as run:
        assert unfinished_directory(base) == base
        run.finish({}, "")
    assert unfinished_directory(base) == tmp_path / "match-2"


def test_scores_are_seen_from_either_side(make_record: MakeRecord) -> None:
    for result, of_black in (("B+3.5", 1), ("B+R", 1), ("W+T", 0), ("W+F", 0), ("0", 0.5)):
        record = make_record("random", "alp", result)
        assert (record.score_of("random"), record.score_of("alp")) == (of_black, 1 - of_black)


def test_a_game_that_is_kept_survives_a_power_cut(
    tmp_path: Path, make_settings: MakeSettings, make_record: MakeRecord, synced: dict[Path, object]
) -> None:
    with RunDirectory(tmp_path, make_settings()) as run:
        for number in range(2):
            run.add(make_record("random", "alp", "B+3.5", number=number), "(;GM[1])")
            assert synced[tmp_path / "games.jsonl"] == (tmp_path / "games.jsonl").read_bytes()
            assert len(run.records) == str(synced[tmp_path / "games.jsonl"]).count("B+3.5")
            assert synced[tmp_path / "games"] == [f"01-000{count + 1}.sgf" for count in range(number + 1)]
