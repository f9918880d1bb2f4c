"""``katachi gtp`` as a process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from katachi.core.contracts import Limit
from katachi.go.game import Game
from katachi.gtp.client import GtpPlayer
from katachi.gtp.engine import GtpEngine
from katachi.players.specs import load_player

KATACHI = [sys.executable, "-c", "from katachi.cli import main; main()", "gtp"]


def run(*arguments: str, lines: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*KATACHI, *arguments], input=lines, capture_output=True, text=True, timeout=120, check=False)


def test_a_dialogue_with_rules_files_and_log(sgf_folder, tmp_path):
    log = tmp_path / "dialogue.txt"
    lines = "1 name\n2 loadsgf sub/setup.sgf\n3 kata-get-rules\n4 loadsgf ../outside/secret.sgf\n5 quit\n6 name\n"
    done = run("alp", "--rules", "chinese", "--directory", str(sgf_folder), "--log", str(log), lines=lines)
    assert done.returncode == 0, done.stderr
    answers = done.stdout.split("\n\n")
    assert answers[0] == "=1 katachi alp"
    assert '"ko":"SIMPLE"' in answers[2]
    assert answers[3].startswith("?4 cannot load file")
    assert answers[4:] == ["=5 ", ""]
    assert log.read_text().startswith("> 1 name\n=1 katachi alp\n\n> 2 loadsgf")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no disk that is always full")
def test_a_log_that_cannot_be_written_ends_and_the_dialogue_continues():
    done = run("random", "--log", "/dev/full", lines="1 name\n2 protocol_version\n")
    assert done.stdout == "=1 katachi random\n\n=2 2\n\n"
    assert done.stderr == "katachi: the dialogue is not logged any more: No space left on device\n"
    assert done.returncode == 0


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes with names")
def test_pipes_do_not_block(tmp_path):
    os.mkfifo(tmp_path / "pipe.toml")
    log, player = (
        run("random", "--log", str(tmp_path / "pipe.toml"), lines="name\n"),
        run(str(tmp_path / "pipe.toml"), lines="name\n"),
    )
    assert log.stderr == f"katachi: {tmp_path / 'pipe.toml'}: No such device or address\n"
    assert player.stderr == f"katachi: {tmp_path / 'pipe.toml'}: it is not a regular file\n"


def test_the_seed_is_the_players():
    lines = ["boardsize 9", *["genmove b", "genmove w"] * 5]
    served = run("random", "--seed", "1", lines="\n".join(lines)).stdout
    same, other = (GtpEngine(load_player("random", seed=seed)) for seed in (1, 2))
    assert served == "".join(same.answer(line).decode() for line in lines)
    assert served != "".join(other.answer(line).decode() for line in lines)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["no_such_player"], "no player is called 'no_such_player'"),
        (["alp", "--rules", "chinse"], "did you mean 'chinese'?"),
        (["alp", "--directory", "no-such-folder"], "no-such-folder"),
    ],
)
def test_wrong_arguments_are_told_before_the_dialogue(arguments, message):
    done = run(*arguments, lines="name\n")
    assert done.returncode == 2
    assert done.stdout == ""
    assert message in done.stderr


def test_both_sides_of_ours_together():
    """Our client plays with our engine, and neither sees a difference."""
    player = GtpPlayer([*KATACHI, "alp", "--seed", "1"], name="alp")
    game = Game(5)
    while not game.is_over and len(game.moves) < 80:
        game.play(player.decide(game, Limit(seconds=5)).move)
    assert (player.stones(game) == game.board.stones).all()
    assert len(game.moves) > 10
    player.close()
