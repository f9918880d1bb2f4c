"""Sentences: sixty diagrams with what is said of them, other languages, and the check of all that by another board."""

from __future__ import annotations

import re
import sys
import tomllib
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest

from katachi.analysis.batches import analyze_game
from katachi.analysis.explaining import _facts, link_turns
from katachi.analysis.records import CandidateRecord, MoveRecord, PositionRecord, TacticRecord
from katachi.analysis.tactics import ShapeName, Tactic
from katachi.analysis.words import (
    Catalogue,
    describe_answer,
    describe_loss,
    describe_tactics,
    describe_territory,
    describe_value,
    list_stones,
    say,
    speaking,
)
from katachi.go.board import Board
from katachi.go.points import BLACK, WHITE, format_vertex

ROOT = Path(__file__).parents[2]
ENGLISH = ROOT / "src" / "katachi" / "analysis" / "english.toml"
BLOCKS = [
    block.split("\n", 1)
    for block in Path(__file__).with_name("sentences.txt").read_text(encoding="utf-8").strip().split("\n\n")[1:]
]


def load_checker() -> Any:
    spec = spec_from_file_location("check_sentences", ROOT / "tools" / "check_sentences.py")
    module = module_from_spec(spec)
    sys.modules["check_sentences"] = module
    spec.loader.exec_module(module)
    return module


checker = load_checker()


def read(diagram: str, color: int) -> tuple[Board, int]:
    points = diagram.split()
    board = Board.parse(re.sub("[1ML]", ".", diagram))
    for mark in "ML":
        if mark in points:
            board.play(points.index(mark))
    board.to_play = color
    return board, points.index("1")


def say_of_move(diagram: str, color: int) -> str:
    board, move = read(diagram, color)
    name = "black" if color == BLACK else "white"
    record = MoveRecord(number=1, color=name, move=format_vertex(move, board.size), **_facts(board, move))
    return describe_tactics(record)


def say_of_points(diagram: str) -> str:
    owners = tuple({"b": 1.0, "w": -1.0}.get(mark, 0.0) for mark in diagram.split())
    pair = [
        PositionRecord(game="", turn=0, node=0, to_play="black", ownership=(0.0,) * len(owners)),
        PositionRecord(
            game="",
            turn=1,
            node=1,
            to_play="white",
            ownership=owners,
            move=MoveRecord(number=1, color="black", move="pass"),
        ),
    ]
    return describe_territory(link_turns(*pair).move.territory)


def test_there_are_sixty():
    assert len(BLOCKS) >= 60


@pytest.mark.parametrize(("sentence", "diagram"), BLOCKS)
def test_what_is_said_of_a_diagram(sentence, diagram):
    if "1" in diagram:
        assert say_of_move(diagram, WHITE if sentence.startswith("White") else BLACK) == sentence
    else:
        assert say_of_points(diagram) == sentence.replace("nothing", "")


# The check of sentences by another board


def check(diagram: str, color: int, facts: str) -> list[str]:
    """What is false of the facts, as the checker sees it."""
    board, move = read(diagram, color)
    marks = {1: "black", -1: "white"}
    stones = {divmod(p, board.size): marks[int(c)] for p, c in enumerate(board.stones) if c}
    before = checker.Position(board.size, stones, marks[color])
    last = [None if point is None else divmod(point, board.size) for point in board.recent_points[:2]]
    point = divmod(move, board.size)
    ledger = checker.Ledger()
    checker.check_facts(facts, checker.Move(before, before.play(point), point, *last), ledger, "")
    return ledger.false


@pytest.mark.parametrize(("sentence", "diagram"), [block for block in BLOCKS if "1" in block[1]])
def test_another_board_finds_the_same(sentence, diagram):
    color = WHITE if sentence.startswith("White") else BLACK
    _, _, facts = sentence.removesuffix(".").split(" ", 2)
    assert check(diagram, color, facts) == []


ATARI = ". . . . .\n. . X . .\n. X O 1 .\n. . . . .\n. . . . O"


@pytest.mark.parametrize(
    "facts",
    [
        "puts C2 in atari",
        "puts C3 and E1 in atari",
        "puts two stones at C3 in atari",
        "captures C3",
        "catches C3 in a ladder",
        "leaves C3 no way out",
        "saves C3 from atari",
        "leaves B3 in atari",
        "puts itself in atari",
        "cuts C3 from E1",
        "connects C4 and B3",
        "makes a ponnuki",
        "makes an empty triangle",
        "is a peek",
        "is a hane and makes a bamboo joint",
        "wins the game",
    ],
)
def test_a_false_sentence_is_found(facts):
    assert len(check(ATARI, BLACK, facts)) == 1
    assert check(ATARI, BLACK, "puts C3 in atari and is a hane") == []


@pytest.mark.parametrize(
    ("sentence", "is_true"),
    [
        ("Black gains about 9 points in the upper left.", True),
        ("Black gains about 9 points.", True),
        ("Black gains about 12 points in the upper left.", False),
        ("Black gains about 9 points in the upper right.", False),
        ("White gains about 9 points in the upper left.", False),
        ("Black gains about 9 points in the upper left and 3 elsewhere.", False),
    ],
)
def test_territory_is_summed_again(sentence, is_true):
    before = {"ownership": [0.0] * 81}
    now = {"ownership": [1.0 if n // 9 < 3 and n % 9 < 3 else 0.0 for n in range(81)]}
    assert checker.check_territory(checker.TERRITORY.fullmatch(sentence), before, now, 9) is is_true


def test_a_whole_analysis_is_checked(tmp_path, record, judges):
    for node in record.root.walk():
        for name in ("C", "LB", "TR", "TB", "TW"):
            node.properties.pop(name, None)
    analysis = analyze_game(record, judges)
    named = analysis.game.model_copy(update={"game": "game"})
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "game.sgf").write_text(analysis.to_sgf(), encoding="utf-8")
    lines = analysis.to_json_lines().replace(analysis.game.model_dump_json(), named.model_dump_json())
    (folder / "analysis.jsonl").write_text(lines, encoding="utf-8")

    def false() -> list[str]:
        ledger = checker.Ledger()
        (game,) = checker.read_games(folder)
        checker.check_game(game, ledger, checker.Shares())
        assert sum(ledger.kinds.values()) > 20
        return ledger.false

    assert false() == []
    text = (folder / "game.sgf").read_text(encoding="utf-8")
    wrong = re.sub(r"Black wins (\d)", lambda found: f"Black wins {(int(found[1]) + 1) % 10}", text)
    (folder / "game.sgf").write_text(wrong, encoding="utf-8")
    assert len(false()) >= 10


# The catalogue


def test_everything_has_a_text():
    texts = tomllib.loads(ENGLISH.read_text(encoding="utf-8"))
    assert set(texts["tactic"]) == {tactic.value for tactic in Tactic}
    assert set(texts["shape"]) == {shape.value for shape in ShapeName}


def translate(texts: Any) -> Any:
    """Another language: every letter outside of braces is a Greek one."""
    if isinstance(texts, dict):
        return {key: text if key == "plural" else translate(text) for key, text in texts.items()}
    if isinstance(texts, list):
        return [translate(text) for text in texts]
    return re.sub(r"(\{[^}]*\})|[a-zA-Z]", lambda found: found[1] or "λ", texts)


def test_no_english_is_left_in_another_language(record, judges):
    analysis = analyze_game(record, judges)
    with speaking(Catalogue(translate(tomllib.loads(ENGLISH.read_text(encoding="utf-8"))))):
        sgf, page = analysis.to_sgf(), analysis.to_html()
    comments = "".join(re.findall(r"=== katachi ===\n(.*?)=== end of katachi ===", sgf, re.DOTALL))
    shown = re.sub(r"<(?!title)[^>]*>", " ", page)
    parts = [part for position in analysis.positions if position.move for part in position.move.shapes]
    drawn = re.findall(r"[a-zA-Z]{2,}", " ".join(shape.shape for part in parts for shape in part.shapes))
    for text in (comments, shown):
        assert "λλλ" in text
        words = set(re.findall(r"[a-zA-Z]{2,}", re.sub(r"&\w+;", " ", text)))
        assert words <= {"strong", "search", "threads", "shapes", "Anna", "Ben", "title", "pass", *drawn}


def test_numbers_take_their_forms():
    assert say("game.count", color="Black", count=1, moves=30) == "Black: 1 mistake in 30 moves"
    assert say("game.count", color="Black", count=0, moves=30) == "Black: 0 mistakes in 30 moves"
    slavic = {"plural": "one, few, other", "a": {"b": {"one": "one", "few": "few", "other": "other"}}}
    said = [Catalogue(slavic).say("a.b", count=count) for count in (1, 3, 5, 11, 21, 112)]
    assert said == ["one", "few", "other", "other", "one", "other"]
    with pytest.raises(ValueError, match="'dual' is none of"):
        Catalogue({"plural": "dual"})


def test_stones_are_listed_or_counted():
    assert list_stones(["A1"]) == "A1"
    assert list_stones(["A1", "B1", "C1"]) == "A1, B1 and C1"
    assert list_stones(["A1"] * 14) == "14 stones at A1"


# What is within the error is not said


@pytest.mark.parametrize(
    ("loss", "points", "words"),
    [
        (0.12, 4.5, "Black D4 lost 12.0 % and 4.5 points; E7 was better."),
        (0.12, 1.0, "Black D4 lost 12.0 %; E7 was better."),
        (0.12, -3.0, "Black D4 lost 12.0 %; E7 was better."),
        (0.01, 6.0, "Black D4 lost 6.0 points; E7 was better."),
        (0.01, 4.0, ""),
        (None, None, ""),
    ],
)
def test_points_stand_beside_chances(loss, points, words):
    move = MoveRecord(number=1, color="black", move="D4", loss=loss, points_lost=points, best="E7")
    assert describe_loss(move) == words
    assert describe_loss(move.model_copy(update={"in_full": False})) == ""


def test_a_lead_within_the_error_is_unclear():
    assert describe_value(0.5, 1.4) == "Black wins 50.0 %, who leads is unclear."
    assert describe_value(0.5, -1.6) == "Black wins 50.0 %, White leads by 1.6."
    assert describe_value(None, None) == ""


def test_what_was_better_and_the_answer_are_explained():
    captures = (TacticRecord(what="captures", stones=("A1",)),)
    best = CandidateRecord(move="C3", tactics=captures)
    answer = CandidateRecord(move="B2", tactics=(TacticRecord(what="cuts", stones=("D4",), others=("C5",)),))
    before = PositionRecord(game="", turn=0, node=0, to_play="black", black_wins=0.6, candidates=(best,))
    after = PositionRecord(
        game="",
        turn=1,
        node=1,
        to_play="white",
        black_wins=0.3,
        candidates=(answer,),
        move=MoveRecord(number=1, color="black", move="D4"),
    )
    move = link_turns(before, after).move
    assert describe_loss(move) == "Black D4 lost 30.0 %; C3 was better: it captures A1."
    assert describe_answer(move) == "White answers at B2: it cuts D4 from C5."
    vain = (TacticRecord(what="leaves in atari", stones=("A1",)),)
    silent = move.model_copy(update={"best_tactics": vain, "answer_tactics": vain})
    assert describe_loss(silent) == "Black D4 lost 30.0 %; C3 was better."
    assert describe_answer(silent) == ""
