"""An analysis goes into a record and out again: nothing of the original is lost, and twice is once."""

from __future__ import annotations

import zlib
from base64 import b64encode

import numpy as np
import pytest
from sgfmill import sgf as sgfmill

from helpers.random_records import random_record
from katachi.analysis.batches import analyze_game
from katachi.analysis.records import CandidateRecord, GameRecord, MoveRecord, PositionRecord, TerritoryRecord
from katachi.analysis.report import MARK, annotate, keep_original, read_original, strip
from katachi.sgf import SgfGame, format_sgf, parse_sgf

HEADING = GameRecord(game="g", source="", sha256="", size=5, komi=0.5, rules="", positions=2, program="katachi")


@pytest.fixture
def analysis(record, judges):
    return analyze_game(record, judges)


def reread(record: SgfGame) -> SgfGame:
    return parse_sgf(format_sgf(record))[0]


def move(loss: float, **changes) -> MoveRecord:
    return MoveRecord(**({"number": 1, "color": "black", "move": "C3", "loss": loss} | changes))


def position(turn: int, **changes) -> PositionRecord:
    given = {"game": "g", "turn": turn, "node": turn, "to_play": "white" if turn % 2 else "black"}
    return PositionRecord(**(given | changes))


def test_every_original_property_is_kept(record, analysis):
    annotated = list(analysis.annotated().root.walk())
    for node in record.root.walk():
        twin = next(other for other in annotated if _is_copy(node, other))
        for name, values in node.properties.items():
            kept = twin.properties[name]
            assert kept == values or (name == "C" and kept[0].startswith(values[0] + "\n\n=== katachi"))


def _is_copy(node, other) -> bool:
    ours = {name: values for name, values in node.properties.items() if name != "C"}
    return node.properties.keys() <= other.properties.keys() and ours.items() <= other.properties.items()


def test_strip_restores_the_record(record, analysis):
    annotated = analysis.annotated()
    assert not annotated.root.is_same_tree(record.root)
    assert strip(annotated).root.is_same_tree(record.root)
    assert strip(reread(annotated)).root.is_same_tree(record.root)
    assert strip(record).root.is_same_tree(record.root)


def test_annotating_again_replaces(record, analysis):
    once = analysis.annotated()
    assert format_sgf(annotate(reread(once), analysis.game, analysis.positions)) == format_sgf(once)


def test_the_record_itself_is_left_alone(record, analysis):
    assert not any(MARK in node.properties for node in record.root.walk())


def test_sgfmill_opens_it(analysis):
    game = sgfmill.Sgf_game.from_bytes(analysis.to_sgf().encode())
    assert len(game.get_main_sequence()) == len(list(analysis.record.main_line()))
    last = game.get_last_node()
    assert last.get("TB") == {(4, 0)}  # the players' own marks stay
    assert float(last.get_raw("SBKV")) == pytest.approx(100 * analysis.positions[-1].black_wins, abs=0.01)
    assert "to play:" in game.get_root().get("C")


def test_win_rates_are_those_of_black(record, analysis):
    nodes = list(analysis.annotated().main_line())
    for found in analysis.positions:
        assert float(nodes[found.node].get("SBKV")) == pytest.approx(100 * found.black_wins, abs=0.01)
        assert nodes[found.node].get("SBKS") == nodes[found.node].get("V") == f"{found.black_lead:.2f}"


def test_what_a_mistake_gets():
    """A bad move is marked, and what was better is a variation beside it, but no main line of its own."""
    best = CandidateRecord(move="D3", black_wins=0.8, visits=9, variation=("D3", "pass", "C3"))
    moved = TerritoryRecord(black_gain=-2.0, to_black=("A1",), to_white=("E5", "E4"))
    positions = [
        position(0, black_wins=0.8, candidates=(best,)),
        position(1, black_wins=0.5, candidates=(best,), move=move(0.3, best="D3", territory=moved)),
    ]
    annotated = annotate(parse_sgf("(;SZ[5];B[cc])")[0], HEADING, positions)
    played, better = annotated.root.children
    assert annotated.root.properties["LB"] == ["dc:A"]
    assert (played.properties["BM"], played.properties["SQ"]) == (["1"], ["ae", "ea", "eb"])
    moves = [next(iter(node.properties.items())) for node in better.main_line()]
    assert moves == [("B", ["dc"]), ("W", [""]), ("B", ["cc"])]
    assert played.children == []


@pytest.mark.parametrize(("loss", "mark"), [(0.04, None), (0.06, "DO"), (0.2, "BM")])
def test_marks_by_size(loss, mark):
    positions = [position(0, black_wins=0.5), position(1, black_wins=0.5, move=move(loss))]
    node = annotate(parse_sgf("(;SZ[5];B[cc])")[0], HEADING, positions).root.children[0]
    assert {"DO", "BM"} & node.properties.keys() == ({mark} if mark else set())


def test_territory_is_marked_at_the_end_where_no_own_stone_is():
    ownership = (1.0,) * 13 + (0.2,) * 2 + (-0.9,) * 10
    record = parse_sgf("(;SZ[5];B[aa];W[ba])")[0]
    positions = [position(0), position(1), position(2, ownership=ownership)]
    last = list(annotate(record, HEADING, positions).main_line())[-1]
    assert last.properties["TB"] == ["ba", "ca", "da", "ea", *(f"{c}b" for c in "abcde"), "ac", "bc", "cc"]
    assert len(last.properties["TW"]) == 10


@pytest.mark.parametrize("text", ["", "hello", "two\nlines", r"a \] bracket"])
def test_comments_are_continued(text):
    record = parse_sgf(f"(;SZ[5]C[{text}])")[0]
    annotated = annotate(record, HEADING, [position(0)])
    assert annotated.root.properties["C"][0].startswith(f"{text}\n\n=== katachi ===")
    assert strip(reread(annotated)).root.is_same_tree(record.root)


def test_what_somebody_adds_to_our_comment_stays():
    annotated = annotate(parse_sgf("(;SZ[5])")[0], HEADING, [position(0)])
    annotated.root.properties["C"][0] += "\nI disagree."
    assert strip(annotated).root.properties["C"] == ["\nI disagree."]


def test_generated_records_come_back_byte_by_byte():
    rng = np.random.default_rng(1)
    for number in range(200):
        text = random_record(rng, size=5, moves=int(rng.integers(30)))
        data = text.replace(";", str(rng.choice([";", "\n;", "\r\n;", " ; "]))).encode() + b"\n" * (number % 3)
        game = parse_sgf(data)[0]
        keep_original(game, data)
        positions = [position(turn, black_wins=0.5) for turn in range(len(list(game.main_line())))]
        annotated = parse_sgf(format_sgf(annotate(game, HEADING, positions)))[0]
        assert read_original(strip(annotated)) == data
        assert strip(annotated).root.is_same_tree(game.root)


@pytest.mark.parametrize("value", ["", "====", "AAAA", b64encode(zlib.compress(b"nonsense")).decode(), "é"])
def test_bytes_that_are_damaged_are_left_out(value):
    game = parse_sgf(f"(;SZ[5]KTCO[{value}];B[aa])")[0]
    assert read_original(game) is None
    keep_original(game, b"")
    assert "KTCO" not in game.root.properties
