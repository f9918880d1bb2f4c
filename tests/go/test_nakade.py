"""The shapes that are one eye, and their vital points, as pictures."""

from __future__ import annotations

import numpy as np
import pytest

from katachi.go.board import Board
from katachi.go.kernels.board import OFF
from katachi.go.kernels.playouts import LARGEST_NAKADE, is_nakade, vital_point
from katachi.go.points import BLACK

SIZE = 7

# Rows of a shape; * is the vital point.
ONE_EYE = {
    "three in a row": "x*x",
    "bent three": "*x/x.",
    "pyramid four": "x*x/.x.",
    "bulky five": "x*x/xx.",
    "crossed five": ".x./x*x/.x.",
    "rabbity six": "xx./x*x/.x.",
}
SQUARE = "xx/xx"
TWO_EYES = {
    "straight four": "xxxx",
    "bent four": "xxx/x..",
    "zigzag four": "xx./.xx",
    "straight five": "xxxxx",
    "T of five": "xxx/.x./.x.",
    "U of five": "xxx/x.x",
    "long T of six": "xxxx/.x../.x..",
    "rectangle of six": "xxx/xxx",
    "cross with a tail": ".x../xxxx/.x..",
}


def points_of(shape: str, row: int = 1, col: int = 1) -> tuple[list[int], int | None]:
    """The points of a shape on the board, and its vital point."""
    places = {(r, c): mark for r, line in enumerate(shape.split("/")) for c, mark in enumerate(line) if mark != "."}
    points = {(row + r) * SIZE + col + c: mark for (r, c), mark in places.items()}
    return sorted(points), next((point for point, mark in points.items() if mark == "*"), None)


def completes_nakade(points: list[int], last: int) -> bool:
    board = Board(SIZE)
    board.place(black=[point for point in points if point != last])
    return bool(is_nakade(board.record[0], np.uint16(last), BLACK, len(points)))


def vital_points(points: list[int]) -> set[int]:
    """What ``vital_point`` says of an eye of White's, from each of its points."""
    board = Board(SIZE)
    board.place(white=[point for point in range(SIZE**2) if point not in points])
    work = np.empty(LARGEST_NAKADE, dtype=np.uint16)
    return {int(vital_point(board.record[0], np.uint16(start), BLACK, work)) for start in points}


@pytest.mark.parametrize("shape", [*ONE_EYE.values(), SQUARE], ids=[*ONE_EYE, "square four"])
@pytest.mark.parametrize("at", [(1, 1), (0, 0)])
def test_stones_that_leave_one_eye(shape: str, at: tuple[int, int]) -> None:
    points, _ = points_of(shape, *at)
    assert all(completes_nakade(points, last) for last in points)


@pytest.mark.parametrize("shape", TWO_EYES.values(), ids=TWO_EYES)
def test_stones_that_leave_two_eyes(shape: str) -> None:
    points, _ = points_of(shape)
    assert not any(completes_nakade(points, last) for last in points)


@pytest.mark.parametrize("shape", ONE_EYE.values(), ids=ONE_EYE)
def test_the_vital_point(shape: str) -> None:
    points, vital = points_of(shape)
    assert vital_points(points) == {vital}


@pytest.mark.parametrize("shape", ["xx", *TWO_EYES.values(), "xxx/xxx/x.."])
def test_no_vital_point(shape: str) -> None:
    assert vital_points(points_of(shape)[0]) == {int(OFF)}


def test_an_eye_that_the_enemy_shares_has_no_vital_point() -> None:
    board = Board.parse("O O O O O / O . . . O / O O O X O / O O . O O / O O O O O")
    assert vital_point(board.record[0], np.uint16(6), BLACK, np.empty(LARGEST_NAKADE, dtype=np.uint16)) == OFF
