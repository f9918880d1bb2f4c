from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from katachi.core.cards import wilson_interval

Match = Callable[..., dict[str, Any]]
RunKatachi = Callable[..., tuple[int, str, str]]


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def match(run_katachi: RunKatachi) -> Match:
    """The JSON of a match."""

    def play(*arguments: str) -> dict[str, Any]:
        code, out, _ = run_katachi("match", *arguments, "--json")
        assert code == 0
        values = json.loads(out)
        assert isinstance(values, dict)
        return values

    return play


def test_json_is_one_object_with_the_agreed_keys_first(match: Match) -> None:
    values = match("alp", "random", "--games", "7", "--size", "5", "--seed", "2")
    first = ["a", "b", "games", "wins_a", "wins_b", "draws", "duplicates", "win_rate_a", "interval_a"]
    assert list(values)[: len(first)] == first
    assert (values["a"], values["b"], values["games"]) == ("alp", "random", 7)
    wins_a, draws = values["wins_a"], values["draws"]
    assert wins_a + values["wins_b"] + draws == 7
    assert values["win_rate_a"] == (wins_a + draws / 2) / 7
    assert values["interval_a"] == list(wilson_interval(wins_a + draws / 2, 7))


def test_the_score_is_the_first_players(match: Match) -> None:
    arguments = ("--games", "30", "--size", "5", "--komi", "0.5")
    assert match("random", "alp", *arguments)["win_rate_a"] < 0.35
    assert match("alp", "random", *arguments)["win_rate_a"] > 0.65


def test_a_match_is_kept_and_goes_on_in_its_folder(match: Match, run_katachi: RunKatachi, tmp_path: Path) -> None:
    arguments = ("alp", "random", "--games", "4", "--size", "5", "--run", "cup")
    first = match(*arguments)
    games = (tmp_path / "cup/games.jsonl").read_bytes()
    (tmp_path / "cup/games.jsonl").write_bytes(games[: games.rindex(b'{"id"') + 10])
    assert match(*arguments) == first
    assert len(list((tmp_path / "cup/games").glob("*.sgf"))) == 4
    code, _, told = run_katachi("match", "alp", "random", "--games", "6", "--size", "5", "--run", "cup")
    assert code == 2
    assert "started with other settings: games is 4 there and 6 here" in told


def test_without_a_folder_a_finished_match_is_played_anew(match: Match, tmp_path: Path) -> None:
    for _ in range(2):
        match("alp", "random", "--games", "1", "--size", "3")
    folders = sorted(folder.name for folder in (tmp_path / "runs").iterdir())
    assert len(folders) == 2
    assert folders[1] == folders[0] + "-2"
    assert folders[0].startswith("match-alp-random-")


def _fake(how: str) -> str:
    engine = Path(__file__).parents[1] / "helpers" / "fake_engine.py"
    return f"gtp:{sys.executable} -S {engine} {how} log"


def test_a_program_that_cannot_be_held_to_a_time_is_named_once_and_in_the_report(
    match: Match, run_katachi: RunKatachi, tmp_path: Path
) -> None:
    arguments = (_fake("untimed"), "random", "--games", "2", "--size", "5", "--max-moves", "4", "--seconds", "0.5")
    code, out, told = run_katachi("match", *arguments, "--run", "cup")
    assert code == 0
    sentence = f"{Path(sys.executable).name} cannot be held to 0.5 s per move: it has no time_settings"
    assert told.count(sentence) == 1
    assert f"note: {sentence}" in " ".join(out.split())
    assert sentence in (tmp_path / "cup/report.html").read_text(encoding="utf-8")
    assert match(*arguments, "--run", "cup")["notes"] == [sentence]


def test_a_program_is_given_half_a_second_per_move(match: Match, tmp_path: Path) -> None:
    arguments = ("--games", "1", "--size", "5", "--max-moves", "4", "--seconds", "0.5")
    assert match(_fake("well"), "random", *arguments)["notes"] == []
    heard = (tmp_path / "log").read_text().splitlines()
    assert "time_settings 0 1 2" in heard
    assert heard[heard.index("genmove black") - 1] == "time_left black 1 2"


def test_the_report_is_text_on_standard_output(run_katachi: RunKatachi) -> None:
    code, out, told = run_katachi("match", "alp", "random", "--games", "2", "--size", "5")
    assert code == 0
    assert "alp – random" in out
    assert "games are kept in runs/match-alp-random-" in told.replace("\\", "/")


def test_a_player_may_meet_itself(match: Match) -> None:
    values = match("random", "random", "--games", "2", "--size", "3")
    assert (values["a"], values["b"]) == ("random", "random")


def test_duplicates_are_counted_and_can_be_excluded(match: Match) -> None:
    # On 2×2 there are few games, and no openings make them different.
    arguments = ("random", "alp", "--games", "60", "--size", "2", "--random-plies", "0")
    counted = match(*arguments)
    excluded = match(*arguments, "--exclude-duplicates")
    assert counted["duplicates"] == excluded["duplicates"] > 0
    assert (counted["games"], excluded["games"]) == (60, 60 - counted["duplicates"])
    assert excluded["played"] == 60


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("alp", "rnadom"), "rnadom"),
        (("alp", "random", "--size", "20"), "size"),
        (("alp", "random", "--games", "0"), "games"),
        (("alp", "random", "--rules", "chinesse"), "chinese"),
        (("alp", "random", "--book", "none.sgf"), "none.sgf"),
        (("alp", "gtp:no-such-program"), "no-such-program"),
        (("alp", "random", "--referee", "nobody"), "referee"),
    ],
)
def test_what_cannot_be_played_is_one_line_and_exit_code_2(
    arguments: tuple[str, ...], words: str, run_katachi: RunKatachi
) -> None:
    code, out, told = run_katachi("match", *arguments, "--json")
    assert (code, out) == (2, "")
    assert words in told
    assert "Traceback" not in told


def test_the_board_is_of_a_size_that_both_can_play(match: Match) -> None:
    values = match("shapes-5", "random", "--games", "1")
    assert "size = 5" in (Path(values["run"]) / "config.toml").read_text()


def test_players_in_run_folders_are_called_by_the_run(match: Match, run_katachi: RunKatachi) -> None:
    former = Path(__file__).parents[1] / "golden" / "first-release" / "runs"
    for name in ("one", "two"):
        shutil.copytree(former / "value-templates", f"runs/{name}")
    shutil.copytree(former / "value-templates", "runs/value-templates")
    values = match("runs/one", "runs/two", "--games", "1", "--run", "cup")
    config = (Path(values["run"]) / "config.toml").read_text()
    assert ("one = " in config, "two = " in config, "size = 5" in config) == (True, True, True)
    player = Path("runs/two/player.toml")
    player.write_text(f'description = "another"\n{player.read_text()}')
    code, _, told = run_katachi("match", "runs/one", "runs/two", "--games", "1", "--run", "cup")
    assert code == 2
    assert "changed since the run began" in told
