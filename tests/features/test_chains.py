"""Groups against their slow twin, and on pictures: loose connections, eyes true and false, liberties, opponents."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from helpers import naive_inputs as naive
from helpers.positions import random_positions
from katachi.features.influence import find_groups, true_eyes
from katachi.go.board import Board
from katachi.go.points import BLACK, EMPTY, WHITE, parse_vertex
from katachi.go.reading import unconditional_life


def compare(board: Board, kind: str) -> Counter[str]:
    """Compare the groups of a board; returns what was met."""
    stones = board.stones.tolist()
    groups, expected = find_groups(board, kind), naive.find_groups(stones, board.size, kind)
    assert [(set(group.points), group.color) for group in groups] == [(twin.stones, twin.color) for twin in expected]
    by_point = {group.points[0]: group for group in groups}
    met: Counter[str] = Counter()
    for group, twin in zip(groups, expected, strict=True):
        assert (group.eyes, list(group.liberties)) == (twin.eyes, twin.liberties), f"{group}\n{board}"
        opponents = naive.opponents_by_weakness(expected, board.size, twin)[:2]
        found = [(by_point[point].eyes, by_point[point].liberties[0]) for point in group.weakest_opponents]
        assert found == [opponent.strength for opponent in opponents]
        assert len(set(group.weakest_opponents)) == len(opponents)
        met += Counter({f"{group.eyes} eyes": 1, f"{len(opponents)} enemies": 1})
    return met


@pytest.mark.parametrize("kind", ["chain", "loose"])
def test_random_positions_agree_with_the_twin(kind):
    met: Counter[str] = Counter()
    merged = 0
    for size, count in ((1, 1), (2, 20), (3, 40), (5, 60), (7, 30), (9, 20), (13, 2), (19, 1)):
        for board in random_positions(size, count, seed=size):
            met += compare(board, kind)
            merged += len(board.chains()) - len(find_groups(board, kind))
    assert set(met) >= {"0 eyes", "1 eyes", "2 eyes", "0 enemies", "1 enemies", "2 enemies"}
    assert (merged > 0) == (kind == "loose")


def test_eyes_agree_with_the_twin():
    sizes = Counter()
    for board in random_positions(7, 100, seed=2):
        expected = np.full(49, EMPTY)
        for region, color in naive.true_eyes(board.stones.tolist(), 7):
            expected[list(region)] = color
            sizes[len(region)] += 1
        assert np.array_equal(true_eyes(board), expected)
    assert {1, 2, 3} <= set(sizes)


def group_names(text: str) -> list[str]:
    """The groups of a picture, loosely connected, each by its stones' letters in reading order."""
    board = Board.parse(text)
    return [" ".join(format_points(group.points, board.size)) for group in find_groups(board, "loose")]


def format_points(points: tuple[int, ...], size: int) -> list[str]:
    return [f"{'ABCDE'[point % size]}{size - point // size}" for point in points]


@pytest.mark.parametrize(
    ("why", "text", "groups"),
    [
        ("a diagonal", ". . . . / . X . . / . . X . / . . . .", ["B3 C2"]),
        ("a bamboo joint", "X X . . / . . . . / X X . . / . . . .", ["A4 B4 A2 B2"]),
        ("a jump can be cut", ". . . . . / . . . . . / . X . X . / . . . . . / . . . . .", ["B3", "D3"]),
        ("a jump on the edge is not", ". . . . / . . . . / . X . . / X . X .", ["B2 A1 C1"]),
        ("a diagonal with an enemy in it", ". . . . / . X O . / . . X . / . . . .", ["B3", "C3", "C2"]),
        ("but a protected one", "O X . . / . O X . / O X . . / . . . .", ["A4 B3 A2", "B4 C3", "B2"]),
    ],
    ids=lambda value: value if isinstance(value, str) and " " in value and "/" not in value else "",
)
def test_what_belongs_together(why, text, groups):
    assert sorted(group_names(text)) == sorted(groups)


@pytest.mark.parametrize(
    ("text", "eyes"),
    [
        (". X . . . / X X . . . / . . . . . / . . . . . / . . . . .", {"A5": BLACK}),
        (". X O / X X . / . . O", {"A3": BLACK}),
        (". X . / X O . / . . .", {}),  # the diagonal in the corner is the opponent's
        (". . X . / X X X O / O O O O / . . . .", {"A4 B4": BLACK, "A1 B1 C1 D1": WHITE}),  # D4 touches both colors
        (". . X . / X O X . / O O . . / . . . .", {}),  # two chains that nothing connects
    ],
)
def test_true_eyes(text, eyes):
    board = Board.parse(text)
    found = true_eyes(board)
    expected = {parse_vertex(vertex, board.size): color for eye, color in eyes.items() for vertex in eye.split()}
    assert {point: int(found[point]) for point in np.flatnonzero(found).tolist()} == expected


def test_an_empty_board_is_no_eye_and_eight_points_are_too_many():
    assert not true_eyes(Board(2)).any()
    wall = Board.parse(". . . . X / . . . . X / X X X X X / . . . . . / . . . . .")
    assert not true_eyes(wall).any()
    wall.place(white=[0])  # now two colors are around it
    assert not true_eyes(wall).any()
    wall.place(black=[0])
    assert np.count_nonzero(true_eyes(wall) == BLACK) == 7


def test_unconditional_life_has_two_eyes():
    """Chains that Benson's theorem calls alive by two small regions without stones in them have two eyes here."""
    found = 0
    for board in random_positions(7, 150, seed=5):
        for color in (BLACK, WHITE):
            life = unconditional_life(board, color)
            if (board.stones[life.regions] != EMPTY).any():
                continue
            for group in find_groups(board, "loose"):
                if life.stones[group.points[0]] and group.color == color and group.liberties[0] <= 7:
                    assert group.eyes >= 2, f"{group}\n{board}"
                    found += 1
    assert found > 10


def test_the_weaker_enemy_has_fewer_eyes_whatever_its_liberties():
    board = Board.parse(". X O . . / X X O . . / O O O . . / X . . . . / X X . . .")
    (white,) = [group for group in find_groups(board) if group.color == WHITE]
    eyes = {group.points[0]: (group.eyes, group.liberties[0]) for group in find_groups(board)}
    assert [eyes[point] for point in white.weakest_opponents] == [(0, 2), (1, 1)]
