from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from katachi.arena.records import GameRecord
from katachi.arena.settings import TournamentSettings, parse_settings, read_settings
from katachi.arena.tournament import play_tournament
from katachi.go.points import GameResult
from katachi.gtp import EngineFailure
from katachi.sgf import parse_sgf

MakeSettings = Callable[..., TournamentSettings]
PROGRAM = """
import sys
from pathlib import Path
from katachi.arena.settings import read_settings
from katachi.arena.tournament import play_tournament
play_tournament(read_settings(Path(sys.argv[1])), Path(sys.argv[2]))
"""


def played(directory: Path) -> list[GameRecord]:
    lines = (directory / "games.jsonl").read_text().splitlines()
    return sorted((GameRecord.model_validate_json(line) for line in lines), key=lambda record: record.id)


def without_times(records: list[GameRecord]) -> list[dict[str, object]]:
    times = {"black": {"seconds", "longest"}, "white": {"seconds", "longest"}}
    return [record.model_dump(exclude=times) for record in records]


def sgfs(directory: Path) -> dict[str, str]:
    return {file.name: file.read_text() for file in sorted((directory / "games").iterdir())}


def test_a_tournament_plays_keeps_and_counts_every_game(tmp_path: Path, make_settings: MakeSettings) -> None:
    seen: list[GameRecord] = []
    settings = make_settings("random", "influence", "alp", games=5, seed=3)
    standings = play_tournament(settings, tmp_path, seen.append)
    records = played(tmp_path)
    assert standings.games == len(records) == len(seen) == 15
    assert sum(pair.score.games for pair in standings.pairs) == 15
    assert {record.ending for record in records} == {"passes"}
    for record in records:
        (game,) = parse_sgf((tmp_path / "games" / f"{record.id}.sgf").read_text())
        assert (game.black, game.white, str(game.result)) == (record.black.name, record.white.name, record.result)
        assert len(game.replay().moves) == record.moves
        assert not game.repairs
    results = json.loads((tmp_path / "results.json").read_text())
    assert [pair["games"] for pair in results["pairs"]] == [5, 5, 5]
    assert "<svg" in (tmp_path / "report.html").read_text()


def test_the_same_seed_repeats_and_another_does_not(tmp_path: Path, make_settings: MakeSettings) -> None:
    for name, seed in (("one", 1), ("again", 1), ("other", 2)):
        play_tournament(make_settings(games=4, seed=seed), tmp_path / name)
    assert sgfs(tmp_path / "one") == sgfs(tmp_path / "again")
    assert without_times(played(tmp_path / "one")) == without_times(played(tmp_path / "again"))
    assert sgfs(tmp_path / "one") != sgfs(tmp_path / "other")


def test_two_processes_play_the_same_games_as_one(tmp_path: Path, make_settings: MakeSettings) -> None:
    one = play_tournament(make_settings(games=6), tmp_path / "one")
    two = play_tournament(make_settings(games=6, jobs=2), tmp_path / "two")
    assert sgfs(tmp_path / "one") == sgfs(tmp_path / "two")
    assert one.to_json() == two.to_json()


def test_a_finished_run_is_counted_again_without_playing(
    tmp_path: Path, make_settings: MakeSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = play_tournament(make_settings(games=4), tmp_path)
    monkeypatch.setattr("katachi.arena.tournament.play_scheduled", None)
    again = play_tournament(make_settings(games=4, report={"anchor": "alp", "anchor_rating": 50.0}), tmp_path)
    assert again.pairs == first.pairs
    assert next(rating for rating in again.ratings.ratings if rating.player == "alp").rating == 50


def test_colors_openings_and_komi_are_what_was_asked(tmp_path: Path, make_settings: MakeSettings) -> None:
    play_tournament(make_settings(games=4, komi=2.5, rules="chinese", openings={"random_plies": 3}), tmp_path)
    games = [parse_sgf(text)[0] for text in sgfs(tmp_path).values()]
    assert [game.black for game in games] == ["random", "alp", "random", "alp"]
    assert {(game.komi, game.rules.name) for game in games} == {(2.5, "chinese")}
    begins = [tuple(play.move for play in game.replay().moves[:3]) for game in games]
    assert begins[0] == begins[1] != begins[2] == begins[3]


def test_games_from_a_book(tmp_path: Path, make_settings: MakeSettings) -> None:
    book = tmp_path / "book.sgf"
    book.write_text("(;GM[1]SZ[5];B[cc];W[cb])(;GM[1]SZ[5];B[bb];W[dd])")
    play_tournament(make_settings(games=4, openings={"book": str(book)}), tmp_path / "run")
    begins = [[play.move for play in parse_sgf(text)[0].replay().moves[:2]] for text in sgfs(tmp_path / "run").values()]
    assert begins == [[12, 7], [12, 7], [6, 18], [6, 18]]


def test_players_that_cannot_take_part_are_refused_before_the_first_game(
    tmp_path: Path, make_settings: MakeSettings
) -> None:
    refused = {"rnadom": "rnadom", "gtp:no-such-program -x": "no-such-program", "shapes-9": "9×9 boards, not 5×5"}
    for player, word in refused.items():
        with pytest.raises(ValueError, match=word):
            play_tournament(make_settings("random", player), tmp_path / "run")
    with pytest.raises(EngineFailure, match="no-such-program"):
        play_tournament(make_settings(referee="gtp:no-such-program"), tmp_path / "run")
    assert not (tmp_path / "run").exists()


ENGINE = """
import sys
seed, moves = sys.argv[1], int(sys.argv[2])
asked = 0
for line in sys.stdin:
    number, command, *words = line.split()
    answer = ""
    if command == "list_commands":
        answer = "boardsize\\nclear_board\\nkomi\\nplay\\ngenmove\\nundo\\nquit"
    if command == "genmove":
        asked += 1
        if asked > moves:
            sys.exit(f"seed {seed}")
        answer = "pass"
    print(f"={number} {answer}\\n", flush=True)
    if command == "quit":
        break
"""


def test_an_engine_that_dies_forfeits_and_gets_the_seed_of_the_game(tmp_path: Path) -> None:
    engine = tmp_path / "engine.py"
    engine.write_text(ENGINE)
    command = f"gtp:{sys.executable} {engine} {{seed}} 0"
    settings = parse_settings({"players": {"alp": "alp", "mortal": command}, "size": 5, "games": 2})
    standings = play_tournament(settings, tmp_path / "run")
    assert standings.incidents["mortal"].failures == standings.pairs[0].score.wins == 2
    for record in played(tmp_path / "run"):
        assert record.ending == "failure"
        mortal = record.black if record.black.name == "mortal" else record.white
        assert f"seed {mortal.seed}" in record.detail
        assert GameResult.parse(record.result).reason.value == "F"


def test_a_referee_that_dies_is_replaced_and_named(tmp_path: Path, make_settings: MakeSettings) -> None:
    engine = tmp_path / "engine.py"
    engine.write_text(ENGINE)
    referee = f"gtp:{sys.executable} {engine} 1 0"
    play_tournament(make_settings(games=1, referee=referee, check_referee="count"), tmp_path / "run")
    (record,) = played(tmp_path / "run")
    assert record.detail.startswith("counted by estimate, because the referee failed:")
    assert record.check is not None
    assert record.check.referee == "count"


def run_and_kill(file: Path, directory: Path, rng: random.Random) -> bool:
    """Play on in a process of its own and kill it after a few more games; returns whether it had finished before."""
    games = directory / "games.jsonl"
    before = games.stat().st_size if games.exists() else 0
    goal = before + rng.randrange(1, 4000)
    process = subprocess.Popen([sys.executable, "-c", PROGRAM, str(file), str(directory)], stderr=subprocess.DEVNULL)
    while process.poll() is None and (games.stat().st_size if games.exists() else 0) < goal:
        time.sleep(rng.random() * 0.01)
    workers = children(process.pid)
    process.kill()
    finished = process.wait() == 0
    assert left_over(workers) == []
    return finished


def children(pid: int) -> list[int]:
    """The processes that a process has started, where the system tells."""
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except (FileNotFoundError, ProcessLookupError):
        return []


def left_over(pids: list[int]) -> list[int]:
    """Which of these processes do not end by themselves; they are ended here."""
    deadline = time.monotonic() + 60
    while (left := [pid for pid in pids if is_running(pid)]) and time.monotonic() < deadline:
        time.sleep(0.05)
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    return left


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


@pytest.mark.parametrize(("jobs", "most_kills"), [(1, 3), (2, 1)])
def test_killed_at_random_moments_it_goes_on_to_the_same_tables(tmp_path: Path, jobs: int, most_kills: int) -> None:
    file = tmp_path / "cup.toml"
    file.write_text(f'players = ["random", "influence", "alp"]\nsize = 5\ngames = 12\nseed = 9\njobs = {jobs}\n')
    play_tournament(read_settings(file).model_copy(update={"jobs": 1}), tmp_path / "unbroken")
    rng = random.Random(jobs)
    kills = 0
    while kills < most_kills and not run_and_kill(file, tmp_path / "killed", rng):
        kills += 1
    finish = [sys.executable, "-c", PROGRAM, str(file), str(tmp_path / "killed")]
    subprocess.run(finish, check=True, stderr=subprocess.DEVNULL)
    assert kills > 0
    assert without_times(played(tmp_path / "killed")) == without_times(played(tmp_path / "unbroken"))
    assert sgfs(tmp_path / "killed") == sgfs(tmp_path / "unbroken")
    assert (tmp_path / "killed/results.json").read_text() == (tmp_path / "unbroken/results.json").read_text()
