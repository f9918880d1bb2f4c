"""What a move does at once, on small boards."""

from __future__ import annotations

import pytest

from katachi.analysis.tactics import find_tactics
from katachi.go.board import Board
from katachi.go.points import format_vertex, parse_vertex

CAUGHT = ". . . . . / . . X . . / . X O X . / . . . . . / . . . . . White to play"
LADDER = ". . . . . . / . . X . . . / . X O . . . / . X . . . . / . . . . . . / . . . . . ."
CASES = {
    "takes a stone": (". X . . / X O X . / . . . . / . . . O", "B2", {"captures": "B3"}),
    "atari": (". . . . . / . . X . . / . X O . . / . . . . . / . . . . O", "D3", {"puts in atari": "C3"}),
    "ladder": (LADDER, "D4", {"catches in a ladder": "C4"}),
    "runs in vain": (
        ". . . . . . / . . X . . . / . X O X . . / . X . . . . / . . . . . . / . . . . . . White to play",
        "C3",
        {"runs in vain with": "C4"},
    ),
    "saves": (
        ". . . . . / . . X . . / . X O X . / . . . . . / . . . . . White to play",
        "C2",
        {"saves from atari": "C3"},
    ),
    "puts itself in atari": (
        ". . . . . / . . . . . / . . . . . / . X . . . / . . X . . White to play",
        "B1",
        {"puts into atari itself": "B1"},
    ),
    "a ko is no self-atari": (
        ". X O . / X . X O / . X O . / . . . . White to play",
        "B3",
        {"takes the ko": "C3", "catches": "B4", "saves from atari": "C4"},
    ),
    "a pass": (LADDER, "pass", {}),
    "nothing": (LADDER, "A1", {}),
}


@pytest.mark.parametrize("name", CASES)
def test_tactics(name):
    diagram, vertex, expected = CASES[name]
    board = Board.parse(diagram)
    facts = find_tactics(board, parse_vertex(vertex, board.size))
    found = {fact.tactic.value: " ".join(format_vertex(s, board.size) for s in fact.stones) for fact in facts}
    assert found == expected
