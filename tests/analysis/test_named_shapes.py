"""Diagrams of named shapes: X moves at 1, and what that makes is named."""

from __future__ import annotations

import re

import pytest

from katachi.analysis.tactics import ShapeName, find_shapes
from katachi.go.board import Board
from katachi.go.points import PASS, WHITE, Symmetry


def nine(first: str, row: int, column: int, second: str, other_row: int, other_column: int) -> str:
    """A diagram of 9×9 with two marks."""
    points = [["."] * 9 for _ in range(9)]
    points[row][column], points[other_row][other_column] = first, second
    return " / ".join(" ".join(line) for line in points)


DIAGRAMS: list[tuple[str, str]] = [
    ("empty triangle", ". . . . . / . X . . . / . X 1 . . / . . . . . / . . . . ."),
    ("empty triangle", ". . . . . / . X . . . / . 1 X . . / . . . . . / . . . . ."),
    ("", ". . . . . / . X O . . / . X 1 . . / . . . . . / . . . . ."),
    ("", ". . . . . / . X . X . / . 1 X . . / . . . . . / . . . . ."),
    ("dumpling", ". . . . . / . X X X . / . X X 1 . / . . . . . / . . . . ."),
    ("ponnuki", ". . . . . / . . X . . / . X O X . / . . 1 . . / . . . . ."),
    ("diagonal move", ". . . . . / . . X . . / . X . X . / . . 1 . . / . . . . ."),
    ("", ". X X X . / . X O X . / . X 1 X . / . . . . . / . . . . ."),
    ("tortoise shell", ". . X X . / . X O O X / . . 1 X . / . . . . . / . . . . ."),
    ("tiger's mouth", ". . . . . / . . X . . / . X . 1 . / . . . . . / . . . . ."),
    ("tiger's mouth", ". . . . . / . O X . . / . X . 1 . / . . . . . / . . . . ."),
    ("diagonal move", ". . . . . / . . X . . / . X . 1 . / . . O . . / . . . . ."),
    ("bamboo joint", ". . . . . / . X 1 . . / . . . . . / . X X . . / . . . . ."),
    ("", ". . . . . / . X 1 . . / . . O . . / . X X . . / . . . . ."),
    ("table shape", ". . . . . / . X 1 . . / . . . . . / . X . X . / . . . . ."),
    ("table shape", ". . . . . / . X X . . / . . . . . / . X . 1 . / . . . . ."),
    ("", ". . . . . / . X 1 . . / . . O . . / . X . X . / . . . . ."),
    ("wedge", ". . . . . / . . . . . / . O 1 O . / . . . . . / . . . . ."),
    ("", ". . . . . / . . O . . / . O 1 O . / . . . . . / . . . . ."),
    ("stretch", ". . . . . / . . . . . / . X 1 . . / . O . . . / . . . . ."),
    ("monkey jump", ". . . . . . / . . . . . . / . . . . . . / . . O O . . / . X . . . . / . . . . 1 ."),
    ("large knight's move", ". . . . . . / . . . . . . / . . . . . . / . . . . . . / . X . . . . / . . . . 1 ."),
    ("cap", nine("O", 6, 4, "1", 4, 4)),
    ("", nine("O", 7, 4, "1", 5, 4)),
    ("hane at the head of two", ". . . . . . / . O O 1 . . / . X X . . . / . . . . . . / . . . . . . / . . . . . ."),
    ("hane at the head of three", ". . . . . . / . O O O 1 . / . X X X . . / . . . . . . / . . . . . . / . . . . . ."),
    ("hane", ". . . . . / . O 1 . . / . X . . . / . . . . . / . . . . ."),
    ("", ". . . . . / . O 1 X . / . X . . . / . . . . . / . . . . ."),
    ("double hane", ". . . . . / . . . 1 . / . . M L . / . X O . . / . . . . ."),
    ("crosscut", ". . . . . / . O 1 . . / . X O . . / . . . . . / . . . . ."),
    ("", ". . . . . / . O 1 O . / . X O . . / . . . . . / . . . . ."),
    ("cut", ". . . . . / O O 1 . . / X X O . . / . . . . . / . . . . ."),
    ("", ". O O O O . / . O 1 . O . / . X O O O . / . . . . . . / . . . . . . / . . . . . ."),
    ("solid connection", ". . . . . / . X 1 . . / . O X . . / . . . . . / . . . . ."),
    ("peek", ". . . . . / . . 1 . . / . O . O . / . . . . . / . . . . ."),
    ("", ". . . . . / . . 1 . . / . O . O . / . . O . . / . . . . ."),
    ("", ". O O O . / . O 1 O . / . O . O . / . . . . . / . . . . ."),
    ("attachment", ". . . . . / . . . . . / . O 1 . . / . . . . . / . . . . ."),
    ("shoulder hit", nine("O", 6, 2, "1", 5, 3)),
    ("shoulder hit", nine("O", 5, 2, "1", 4, 3)),
    ("", nine("O", 6, 4, "1", 7, 5)),
    ("", nine("O", 7, 4, "1", 6, 5)),
    ("", nine("O", 4, 4, "1", 3, 5)),
    ("one-space jump", ". . . . . / . . . . . / . X . 1 . / . . . . . / . . . . ."),
    ("", ". . . . . / . . O . . / . X . 1 . / . . . . . / . . . . ."),
    ("two-space jump", ". . . . . / . . . . . / X . . 1 . / . . . . . / . . . . ."),
    ("knight's move", ". . . . . / . . . . . / . X . . . / . . . 1 . / . . . . ."),
    ("large knight's move", ". . . . . / . . . . . / X . . . . / . . . 1 . / . . . . ."),
    ("diagonal move", ". . . . . / . . . . . / . X . . . / . . 1 . . / . . . . ."),
    ("", ". . . . . / . . . . . / . X 1 . . / . . . . . / . . . . ."),
]


def read(diagram: str) -> tuple[Board, int]:
    """The board before the move; what M and L mark are the two moves before it."""
    points = diagram.replace("/", " ").split()
    board = Board.parse("\n".join(re.sub("[1ML]", ".", line) for line in diagram.split(" / ")))
    for mark in "ML":
        if mark in points:
            board.play(points.index(mark))
    return board, points.index("1")


@pytest.mark.parametrize(("name", "diagram"), DIAGRAMS)
def test_a_shape_has_its_name(name: str, diagram: str) -> None:
    board, move = read(diagram)
    found = find_shapes(board, move)
    assert [shape.name.value for shape in found] == ([name] if name else [])
    for shape in found:
        played = board.copy()
        played.play(move)
        assert move in shape.stones
        assert (played.stones[list(shape.stones)] != 0).all()


def test_every_name_has_a_diagram() -> None:
    assert {name for name, _ in DIAGRAMS} - {""} == {name.value for name in ShapeName}


@pytest.mark.parametrize(("name", "diagram"), DIAGRAMS)
def test_names_do_not_depend_on_how_one_looks(name: str, diagram: str) -> None:
    board, move = read(diagram)
    for symmetry in Symmetry:
        where = int(symmetry.points(board.size)[move])
        found = find_shapes(board.transformed(symmetry), where)
        assert [shape.name.value for shape in found] == ([name] if name else []), symmetry


@pytest.mark.parametrize(("name", "diagram"), [each for each in DIAGRAMS if "L" not in each[1]])
def test_white_makes_the_same_shapes(name: str, diagram: str) -> None:
    board, move = read(diagram.translate(str.maketrans("XO", "OX")))
    board.to_play = WHITE
    assert [shape.name.value for shape in find_shapes(board, move)] == ([name] if name else [])


def test_a_pass_makes_no_shape() -> None:
    assert find_shapes(Board(5), PASS) == []
