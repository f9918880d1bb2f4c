"""katachi driven by the code of other programs, at the settings of our pages about them.

``make other-programs`` installs KaTrain's engine and game from PyPI, and what Sabaki is made of from npm. Neither npm
nor Debian has gtp2ogs or GoGui: the dialogue of the former is repeated here as its source has it.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers.random_records import random_record
from katachi.analysis.batches import analyze_game
from katachi.analysis.judges import Judges
from katachi.core.contracts import Limit
from katachi.go.game import Game
from katachi.go.points import BLACK, WHITE, format_vertex, parse_vertex
from katachi.go.rules import parse_rules
from katachi.gtp.client import GtpPlayer
from katachi.gtp.engine import GtpEngine
from katachi.players.specs import load_player
from katachi.sgf import game_to_sgf, load_sgf, parse_sgf
from katachi.sgf.tree import Node, unescape_text

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
INSTALLED = ROOT / "build" / "other-programs"
PAGES = ROOT / "docs" / "how-to"
KATACHI = [sys.executable, "-m", "katachi"]
SECONDS = 250  # more than any of it takes

Found = dict[str, Any]


def installed(name: str) -> Path:
    """Where a program is, or why its tests are skipped."""
    if not (INSTALLED / name / "installed.txt").is_file():
        pytest.skip(f"{name} is not installed (make other-programs)")
    return INSTALLED / name


def run(command: list[str], **environment: str) -> Any:
    """What a driver prints as its last line."""
    done = subprocess.run(
        command, env=os.environ | environment, capture_output=True, text=True, timeout=SECONDS, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Records that katachi wrote: a game with a handicap, one with set-up stones, and one with an analysis."""
    folder = tmp_path_factory.mktemp("records")
    game = Game(9, parse_rules("japanese").with_komi(0.5))
    game.place_handicap([parse_vertex(vertex, 9) for vertex in ("C3", "G7")])
    for vertex in ("E5", "E4", "pass"):
        game.play(parse_vertex(vertex, 9))
    (folder / "handicap.sgf").write_text(game_to_sgf(game), encoding="utf-8")
    (folder / "random.sgf").write_text(random_record(np.random.default_rng(5), 9, 40), encoding="utf-8")
    played = Game(9, parse_rules("chinese").with_komi(7))
    for vertex in ("E5", "C5", "E3", "E7"):
        played.play(parse_vertex(vertex, 9))
    text = game_to_sgf(played, black=r"Anna \ [1d]: 黒", comments={2: "a comment ] with \\ and\ntwo lines"})
    (record,) = parse_sgf(text)
    analysis = analyze_game(record, Judges(load_player("policy-9", seed=1), Limit(simulations=1)))
    (folder / "analysis.sgf").write_text(analysis.to_sgf(), encoding="utf-8")
    return folder


# KaTrain


def katrain(folder: Path, files: Path, player: str, *scenarios: str) -> Found:
    """What KaTrain found, with the engine settings of our page but for the player and fewer visits."""
    settings = json.loads("{" + re.search(r"^```json\n(.*?)^```", page("katrain.md"), re.M | re.S)[1] + "}")["engine"]
    assert settings["altcommand"].startswith("exec /home/you/katachi/.venv/bin/katachi analysis-engine ")
    command = f"exec {' '.join(KATACHI)} analysis-engine {player}"
    settings |= {"altcommand": command, "max_visits": 8, "fast_visits": 4, "max_time": 1000.0}
    driver = HERE / "other_programs" / "katrain_games.py"
    return run([sys.executable, str(driver), str(folder), json.dumps(settings), str(files), *scenarios])


def page(name: str) -> str:
    return (PAGES / name).read_text(encoding="utf-8")


def unknown_settings(found: Found) -> set[str]:
    """The settings of KataGo that katachi said it does not know."""
    said = " ".join(found["warnings"])
    assert said.count("'warning'") == said.count("Unknown setting"), said
    return set(re.findall(r"Unknown setting: (\w+)", said))


def check_node(node: Found, size: int = 9) -> None:
    """KaTrain knows everything about a position that it can show."""
    assert node["ownership"] == size**2
    assert node["policy"] == size**2 + 1
    assert node["visits"] > 0
    assert re.fullmatch(r"[BW]\+\d+\.\d", node["score"])
    assert re.fullmatch(r"[BW] \d+\.\d%", node["winrate"])
    assert node["best"]
    assert len(node["losses"]) == len(node["best"])


def test_katrain_reviews_asks_and_restarts(tmp_path: Path) -> None:
    found = katrain(installed("katrain"), tmp_path, "level-10", "review", "buttons", "hurry")
    assert found["errors"] == []
    assert unknown_settings(found) == {"wideRootNoise"}

    nodes = found["review"]["nodes"]
    assert [node["move"] for node in nodes] == [None, "E5", "C5", "E3", "E7", "J9", "pass"]
    for node in nodes:
        check_node(node)
    assert nodes[5]["points_lost"] > 1, "a stone in the corner"
    assert "according to policy" in nodes[5]["comment"]
    assert found["review"]["again"][3]["score"] == nodes[3]["score"], "read from the record"
    kept = load_sgf(tmp_path / "review.sgf")[0]
    assert [move for node in kept.main_line() for name in "BW" for move in node.properties.get(name, [])] == [
        *("ee", "ce", "eg", "ec", "ia"),
        "",
    ]
    assert all(len(node.properties["KT"]) == 3 for node in kept.main_line()), "KaTrain's own analysis"

    asked = found["buttons"]
    for name in ("before", "extra", "equalize", "alternative", "sweep", "local", "region", "after pondering"):
        check_node(asked[name], 5)
    assert asked["extra"]["visits"] >= 16, "as many again"
    assert set(asked["before"]["best"]) < set(asked["alternative"]["best"])
    assert len(asked["sweep"]["best"]) == 23, "every free point"
    assert asked["region"]["best"][0] in ("A1", "A2", "B1", "B2", "pass")
    assert asked["game"] >= 12

    for node in found["hurry"]["nodes"]:
        check_node(node)
    (refused,) = found["hurry"]["refused"]
    assert "chinese is the nearest rule set" in refused
    check_node(found["hurry"]["restarted"])


def test_all_opponents_of_katrain_move(records: Path) -> None:
    found = katrain(installed("katrain"), records, "policy-9", "strategies", "records")
    moves = found["strategies"]
    assert {"ai:default", "ai:jigo", "ai:scoreloss", "ai:simple", "ai:policy", "ai:p:rank", "ai:human"} < moves.keys()
    assert [color for _, color in moves.values()] == ["W" if turn % 2 == 0 else "B" for turn in range(len(moves))]
    assert len({move for move, _ in moves.values()}) == len(moves)
    beyond_19, year = found["errors"]
    assert beyond_19.endswith("Human policy length 82 != 362")
    assert "proyear_1914" in year, "no network of ours knows years; the most probable move is played"
    assert unknown_settings(found) == {
        *("wideRootNoise", "antiMirror", "ignorePreRootHistory"),
        *("playoutDoublingAdvantage", "playoutDoublingAdvantagePla"),
    }
    for name, node in found["records"].items():
        (record,) = load_sgf(records / f"{name}.sgf")
        game = record.replay()
        check_node(node)
        assert node["stones"] == sorted(stones_of(game)), name
        assert node["komi"] == game.komi
    assert found["records"]["handicap"]["rules"] == "japanese"
    assert found["records"]["analysis"]["rules"] == "chinese"


def stones_of(game: Game) -> list[str]:
    stones = game.board.stones
    colors = {BLACK: "B", WHITE: "W"}
    return [colors[int(stones[p])] + format_vertex(p, game.size) for p in np.flatnonzero(stones).tolist()]


# Sabaki


@pytest.fixture(scope="module")
def sabaki() -> list[str]:
    """The command of our driver of Sabaki's packages."""
    folder = installed("node")
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed (Debian's package nodejs)")
    return ["env", f"NODE_PATH={folder / 'node_modules'}", node, str(HERE / "other_programs" / "sabaki_games.js")]


def test_sabaki_follows_a_game(sabaki: list[str]) -> None:
    arguments = re.search(r"^\| arguments \| `(.*)` \|$", page("sabaki.md"), re.M)[1]
    found = run([*sabaki, "games", *KATACHI, *arguments.split()])
    assert found["name"] == f"katachi {arguments.split()[-1]}"
    assert found["knows"].pop("no-such-command") is False
    assert all(found["knows"].values())
    assert (found["synced"]["komi"], found["synced"]["boardsize"]) == (5.5, [9, 9])
    assert found["synced"]["timeSettings"] == {"mainTime": 0, "byoyomiTime": 1, "byoyomiStones": 1}
    assert len(found["synced"]["history"]) == 4
    assert found["played"] == 5, f"{found['move']} is part of its game"
    assert found["undone"] == ["undo", "undo"]
    assert sorted(found["variation"].split()) == ["E5", "G5"]
    for name in ("analyze", "lz-analyze", "kata-analyze"):
        assert found[name]["error"] is False
        assert len(found[name]["lines"]) >= 3
        assert found[name]["after"] == "2", "the command that ended it has its own answer"
        for line in found[name]["lines"]:
            check_information(line)
    *lines, last = found["genmove_analyze"]["lines"]
    for line in lines:
        check_information(line)
    assert found["tracked"] == [{"name": "play", "args": ["W", last.removeprefix("play ")]}]
    assert sorted(found["handicap"].split()) == ["C3", "G7"]
    assert found["tracked_handicap"] == [{"name": "set_free_handicap", "args": found["placed"].split()}]
    assert found["refused"] == "Board size is not supported by engine"
    assert found["replayed"] == "History cannot be replayed on engine"
    assert float(found["alive"]) == 5.5
    assert found["exit"] == 0


def check_information(line: str) -> None:
    """A line of an analysis, as the guide for engines of Sabaki has it."""
    for part in re.split(r"\s*info\s+", line)[1:]:
        facts, variation = re.fullmatch(
            r"move (.+?) pv ((?:[A-HJ-T]\d+|pass)(?: (?:[A-HJ-T]\d+|pass))*)", part
        ).groups()
        assert variation.split()[0] == facts.split()[0]
        assert re.search(r" visits \d+ ", facts)
        assert re.search(r" winrate (\d+|0\.\d+|1) ", facts) or re.search(r" winrate (\d+|0\.\d+|1)$", facts)


def test_an_engine_made_with_sabakis_package_plays_with_us(sabaki: list[str]) -> None:
    engine = GtpPlayer([*sabaki, "engine"])
    ours = load_player("random", seed=3)
    game = Game(9, parse_rules("chinese"))
    try:
        while not game.is_over and len(game.moves) < 60:
            player = (ours, engine)[len(game.moves) % 2]
            move = player.decide(game, Limit()).move
            game.play(move if game.why_illegal(move) is None else -1)
    finally:
        engine.close()
    assert [format_vertex(step.move, 9) for step in game.steps[1:3:2]] == ["A1"]
    assert len(game.moves) > 20


def test_sabaki_reads_what_we_write_and_we_what_it_writes(sabaki: list[str], records: Path) -> None:
    files = sorted(records.glob("*.sgf"))
    for file, found in zip(files, run([*sabaki, "records", *map(str, files)]), strict=True):
        (record,), (tree,) = load_sgf(file), found["trees"]
        check_same(record.root, tree)
        (again,) = parse_sgf(found["written"])
        assert [read_texts(node) for node in again.root.walk()] == [read_texts(node) for node in record.root.walk()]
    (analysis,) = load_sgf(records / "analysis.sgf")
    assert all("SBKV" in node.properties for node in analysis.main_line()), "what Sabaki plots"


def check_same(node: Node, tree: list[Any]) -> None:
    """A node of ours has the texts and the children of one of Sabaki's."""
    properties, *children = tree
    assert read_texts(node) == properties
    assert len(node.children) == len(children)
    for child, other in zip(node.children, children, strict=True):
        check_same(child, other)


def read_texts(node: Node) -> dict[str, list[str]]:
    return {name: [unescape_text(value) for value in values] for name, values in node.properties.items()}


# gtp2ogs


def test_the_dialogue_of_gtp2ogs() -> None:
    """Lines end in CR LF, stones on the board come as moves of one color, vertices are in small letters."""
    engine = GtpEngine(load_player("random", seed=1))

    def ask(line: str) -> str:
        answers = re.split(r"\r?\n\r?\n", engine.answer(line + "\r\n").decode())
        assert answers[1:] == [""], "one empty line, at the end"
        assert answers[0].startswith("="), answers[0]
        return answers[0][1:].strip()

    commands = ask("list_commands").splitlines()
    sent = ["boardsize", "komi", "play", "genmove", "place_free_handicap", "set_free_handicap", "time_settings"]
    assert {*sent, "time_left", "kgs-time_settings", "kata-list_time_settings", "showboard", "quit"} <= set(commands)
    assert "fischer-capped" in ask("kata-list_time_settings")
    for line in (
        "boardsize 9",
        "clear_board",
        "komi 0.5",
        "play black c3",
        "play black g7",
        "play white e5",
        "play white pass",
    ):
        ask(line)
    clocks = [
        ("kata-time_settings fischer-capped 300 10 600 -1", "299 0"),
        ("kgs-time_settings byoyomi 600 30 5", "30 5"),
        ("kgs-time_settings canadian 600 300 25", "290 24"),
        ("time_settings 0 30 1", "29 1"),
        ("time_settings 900 0 0", "0 0"),
    ]
    for settings, left in clocks:
        for line in (settings, f"time_left black {left}", f"time_left white {left}"):
            ask(line)
        assert re.fullmatch(r"[A-J]\d|pass", ask("genmove black"))
        ask("undo")
    assert ask("showboard")
    for line in ("boardsize 19", "clear_board", "set_free_handicap d4 q16 d16"):
        ask(line)
    assert sorted(ask("list_stones black").split()) == ["D16", "D4", "Q16"]
    ask("clear_board")
    assert len(ask("place_free_handicap 4").split(" ")) == 4
