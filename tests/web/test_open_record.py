"""Records that are open: going about, variations, marks, and the editor."""

from __future__ import annotations

import numpy as np
import pytest

from katachi.go.points import BLACK, WHITE, parse_vertex
from katachi.sgf import format_sgf, parse_sgf
from katachi.web import table as editing
from katachi.web.table import OpenRecord, TableError, Tool

TREE = "(;SZ[9]KM[5.5]PB[A]C[root];B[ee](;W[cc];B[gg])(;W[gc]C[other]TR[aa]LB[bb:long label];B[cg](;W[cc])(;W[dd])))"


def opened(text: str = TREE) -> OpenRecord:
    return OpenRecord(parse_sgf(text)[0])


def stones(record: OpenRecord) -> dict[int, int]:
    board = record.game.board.stones
    return {int(point): int(board[point]) for point in np.flatnonzero(board)}


def test_one_walks_the_main_line_and_back():
    record = opened()
    record.step(2)
    assert stones(record) == {40: BLACK, 20: WHITE}
    record.step(-1)
    assert stones(record) == {40: BLACK}
    record.step(100)
    assert record.game.last_move == parse_vertex("G3", 9)
    record.step(-100)
    assert record.node is record.record.root


def test_variations_are_found_and_followed():
    record = opened()
    record.step(1)
    first, second = record.variations()
    assert (first.move, second.move) == (20, 24)
    record.go_to(second.node)
    assert record.siblings() == [first, second]
    assert record.node.text("C") == "other"
    assert record.place == [0, 1]
    assert [record.move_of(node) for node in record.line()] == [None, 40, 24, 56, 20]


def test_a_place_is_found_again():
    record = opened()
    record.follow([0, 1, 0, 1])
    assert record.move_of(record.node) == 30
    record.follow([0, 5])
    assert record.place == [0]


def test_a_new_move_begins_a_variation_and_an_old_one_is_followed():
    record = opened()
    record.step(1)
    record.play(24)
    assert record.place == [0, 1]
    record.step(-1)
    record.play(0)
    assert record.place == [0, 2]
    record.remove()
    assert [variation.move for variation in record.variations()] == [20, 24]


def test_marks_labels_and_numbers():
    record = opened()
    record.follow([0, 1])
    assert record.marks() == {0: "triangle"}
    assert record.labels() == {10: "lon"}
    assert record.move_numbers() == {40: 1, 24: 2}


def test_a_captured_stone_has_no_number():
    record = opened("(;SZ[3];B[aa];W[ba];B[cc];W[ab])")
    record.step(4)
    assert record.move_numbers() == {1: 2, 8: 3, 3: 4}


# The editor


def test_stones_before_the_first_move_are_set_up_in_the_root():
    record = opened("(;SZ[9])")
    editing.put(record, 0, BLACK)
    editing.put(record, 1, WHITE)
    editing.put(record, 0, BLACK)  # the same again takes it off
    assert record.node is record.record.root
    assert stones(record) == {1: WHITE}
    assert "AB" not in record.node.properties


def test_after_a_move_the_change_has_a_node_of_its_own():
    record = opened("(;SZ[9];B[ee];W[cc])")
    record.step(1)
    editing.put(record, 40, WHITE)
    editing.put(record, 0, BLACK)
    editing.set_turn(record, WHITE)
    assert record.node.properties == {"AW": ["ee"], "AB": ["aa"], "PL": ["W"]}
    assert stones(record) == {40: WHITE, 0: BLACK}
    again = parse_sgf(format_sgf(record.record))[0]
    assert again.replay(until=again.root.children[0].children[1]).to_play == WHITE
    assert len(record.node.parent.children) == 2


def test_erasing_a_played_stone():
    record = opened("(;SZ[9];B[ee])")
    record.step(1)
    editing.use_tool(record, Tool.ERASE, 40)
    assert stones(record) == {}
    assert record.node.properties == {"AE": ["ee"]}


def test_stones_without_liberties_are_refused():
    record = opened("(;SZ[2]AB[ab][ba])")
    with pytest.raises(TableError, match="no liberties"):
        editing.put(record, 0, WHITE)
    editing.put(record, 0, BLACK)
    with pytest.raises(TableError, match="no liberties"):
        editing.put(record, 3, BLACK)
    assert stones(record) == {0: BLACK, 1: BLACK, 2: BLACK}


def test_marks_replace_each_other_and_letters_count_on():
    record = opened("(;SZ[9])")
    for tool in (Tool.TRIANGLE, Tool.SQUARE):
        editing.use_tool(record, tool, 3)
    for point in (1, 2):
        editing.use_tool(record, Tool.LABEL, point)
    assert record.marks() == {3: "square"}
    assert record.labels() == {1: "A", 2: "B"}
    editing.use_tool(record, Tool.SQUARE, 3)
    editing.use_tool(record, Tool.LABEL, 1)
    assert (record.marks(), record.labels()) == ({}, {2: "B"})


def test_comments_are_escaped_and_read_back():
    record = opened("(;SZ[9])")
    editing.set_comment(record, "a ] bracket \\ and\na line")
    assert parse_sgf(format_sgf(record.record))[0].root.text("C") == "a ] bracket \\ and\na line"
    editing.set_comment(record, "  ")
    assert "C" not in record.node.properties
