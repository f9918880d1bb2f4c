"""3×3 patterns against what the board shows, and their classes."""

from __future__ import annotations

import numpy as np
import pytest

from helpers import naive
from helpers.positions import random_board
from katachi.go.board import Board
from katachi.go.kernels.board import play_stone, record_dtype
from katachi.go.points import BLACK, EMPTY, WHITE, Symmetry
from katachi.search.kernels.patterns import (
    change_views,
    count_empty,
    fill_views,
    pattern_code,
    touching_empty,
    touching_stones,
)
from katachi.search.playouts import NO_CLASS, count_patterns, number_patterns

VIEWS = record_dtype([("seen", np.uint16, 362)])
STEPS = ((-1, 0), (0, -1), (0, 1), (1, 0), (-1, -1), (-1, 1), (1, -1), (1, 1))


def naive_code(board: Board, point: int, color: int) -> int:
    """The digits of the eight neighbors, and a bit for each of the first four whose chain has one liberty."""
    size, stones = board.size, board.stones.tolist()
    row, col = divmod(point, size)
    code = 0
    for k, (down, right) in enumerate(STEPS):
        r, c = row + down, col + right
        if not (0 <= r < size and 0 <= c < size):
            code |= 3 << 2 * k
            continue
        near = r * size + c
        code |= {EMPTY: 0, color: 1, -color: 2}[stones[near]] << 2 * k
        chain = naive.chain_at(stones, size, near)
        if k < 4 and stones[near] != EMPTY and len(naive.liberties_of(stones, size, chain)) == 1:
            code |= 1 << 16 + k
    return code


def views_of(board: Board) -> np.ndarray:
    views = np.zeros(1, dtype=VIEWS)
    fill_views(board.record[0], views[0])
    return views


@pytest.mark.parametrize("size", [2, 5, 9, 13])
def test_codes_say_what_surrounds_a_point(size: int) -> None:
    for seed in range(6):
        board = random_board(size, seed * size * size // 5, seed)
        views = views_of(board)
        for point in np.flatnonzero(board.stones == EMPTY).tolist():
            for color in (BLACK, WHITE):
                code = pattern_code(board.record[0], views[0], np.uint16(point), np.int8(color))
                assert code == naive_code(board, point, color)


def test_views_follow_stones_that_come_and_go() -> None:
    board = Board(7)
    views = views_of(board)
    rng = np.random.default_rng(1)
    taken = 0
    for _ in range(200):
        moves = [p for p in np.flatnonzero(board.legal_moves()[:-1]).tolist() if not board.is_own_eye(p, board.to_play)]
        if not moves:
            board.to_play = -board.to_play
            continue
        move, color, before = int(rng.choice(moves)), board.to_play, board.stones.copy()
        play_stone(board.record[0], np.uint16(move), np.int8(color))
        change_views(board.record[0].lines, views[0], np.uint16(move), np.int8(color))
        for point in np.flatnonzero((before == -color) & (board.stones == EMPTY)).tolist():
            change_views(board.record[0].lines, views[0], np.uint16(point), np.int8(-color))
            taken += 1
        assert (views["seen"][0, :49] == views_of(board)["seen"][0, :49]).all()
    assert taken > 10


def test_quick_looks_at_a_view() -> None:
    board = random_board(9, 40, seed=3)
    views = views_of(board)
    for point in range(81):
        view = views["seen"][0, point]
        near = [board.stones[p] for p in naive.neighbors(9, point)]
        around = near + [board.stones[p] for p in naive.diagonals(9, point)]
        assert int(touching_empty(view)).bit_count() == near.count(EMPTY)
        assert count_empty(view) == around.count(EMPTY)
        for color in (BLACK, WHITE):
            assert int(touching_stones(view, color)).bit_count() == near.count(color)


def test_classes_are_the_same_for_mirrored_boards_and_swapped_colors() -> None:
    classes = number_patterns()
    for seed in range(4):
        board = random_board(9, 30 + 10 * seed, seed)
        codes = {p: naive_code(board, p, BLACK) for p in np.flatnonzero(board.stones == EMPTY).tolist()}
        swapped = Board(9)
        swapped.place(black=np.flatnonzero(board.stones == WHITE), white=np.flatnonzero(board.stones == BLACK))
        for symmetry in Symmetry:
            turned = Board(9)
            places = symmetry.points(9).tolist()
            turned.place(
                black=[places[p] for p in np.flatnonzero(board.stones == BLACK).tolist()],
                white=[places[p] for p in np.flatnonzero(board.stones == WHITE).tolist()],
            )
            for point, code in codes.items():
                assert classes[naive_code(turned, places[point], BLACK)] == classes[code] != NO_CLASS
        for point, code in codes.items():
            assert naive_code(swapped, point, WHITE) == code


def test_classes_are_counted_by_burnside() -> None:
    """In the middle 5 states touch and 3 are diagonal; the fixed points of the eight symmetries, divided by eight."""
    middle = (5**4 * 3**4 + 2 * 5 * 3 + 5**2 * 3**2 + 2 * 5**3 * 3**2 + 2 * 5**2 * 3**3) // 8
    edge = (5**3 * 3**2 + 5**2 * 3) // 2
    corner = (5**2 * 3 + 5 * 3) // 2
    assert count_patterns() == middle + edge + corner
