"""3×3 patterns against what the board shows, and their classes."""

from __future__ import annotations

import numpy as np
import pytest

from helpers import naive
from helpers.positions import random_board
from katachi.go.board import Board
from katachi.go.kernels.board import play_stone
from katachi.go.points import BLACK, EMPTY, WHITE, Symmetry
from katachi.search.kernels.patterns import (
    LARGE_MOST,
    LARGE_SIZES,
    VIEWS,
    change_views,
    count_empty,
    fill_views,
    large_pattern,
    pattern_code,
    touching_empty,
    touching_stones,
    write_large_keys,
)
from katachi.search.playouts import NO_CLASS, LargePatterns, count_patterns, number_patterns

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


def naive_large(board: Board, point: int, color: int, size: int) -> tuple[tuple[int, ...], ...]:
    """What a window shows within a distance, 9×9, in the least of its eight forms; −1 is farther away."""
    grid = np.full((9, 9), -1)
    row, col = divmod(point, board.size)
    for down in range(-4, 5):
        for right in range(-4, 5):
            if abs(down) + abs(right) + max(abs(down), abs(right)) > size:
                continue
            y, x = row + down, col + right
            inside = 0 <= y < board.size and 0 <= x < board.size
            stone = int(board.stones[y * board.size + x]) if inside else None
            grid[down + 4, right + 4] = 3 if stone is None else {EMPTY: 0, color: 1, -color: 2}[stone]
    return min(tuple(map(tuple, symmetry.transform(grid).tolist())) for symmetry in Symmetry)


def large_keys(board: Board, point: int, color: int) -> list[int]:
    """The keys of all sizes around a point, by the kernel that writes those of a game of one move."""
    keys = np.zeros((1, len(LARGE_SIZES)), dtype=np.uint64)
    moves, colors = np.array([point]), np.array([color], dtype=np.int8)
    return keys[0].tolist() if write_large_keys(board.record.copy(), moves, colors, keys) else []


@pytest.mark.parametrize("size", [3, 5, 9, 19])
def test_keys_are_equal_where_large_patterns_are(size: int) -> None:
    shown: dict[int, object] = {}
    for seed in range(4):
        board = random_board(size, seed * size * size // 5, seed)
        for point in np.flatnonzero(board.stones == EMPTY).tolist():
            for color in (BLACK, WHITE):
                for distance, key in zip(LARGE_SIZES, large_keys(board, point, color), strict=False):
                    pattern = distance, naive_large(board, point, color, distance)
                    assert shown.setdefault(key, pattern) == pattern
    assert len(set(shown.values())) == len(shown) > 9


def test_large_patterns_are_the_same_for_mirrored_boards_and_swapped_colors() -> None:
    board = random_board(9, 30, seed=5)
    black, white = (np.flatnonzero(board.stones == color) for color in (BLACK, WHITE))
    compared = 0
    for symmetry in Symmetry:
        places = symmetry.points(9)
        turned, swapped = Board(9), Board(9)
        turned.place(black=places[black].tolist(), white=places[white].tolist())
        swapped.place(black=places[white].tolist(), white=places[black].tolist())
        for point in np.flatnonzero(board.stones == EMPTY).tolist():
            keys = large_keys(board, point, BLACK)
            assert keys == large_keys(turned, places[point], BLACK) == large_keys(swapped, places[point], WHITE)
            compared += len(keys)
    assert compared > 1000


def test_the_largest_known_pattern_is_the_last_of_a_chain() -> None:
    board = random_board(9, 30, seed=6)
    point = next(p for p in np.flatnonzero(board.stones == EMPTY).tolist() if large_keys(board, p, BLACK))
    keys = large_keys(board, point, BLACK)
    rest = np.random.default_rng(1).integers(1 << 63, size=LARGE_MOST - 5, dtype=np.uint64)
    for known, largest in (([], 0), ([0], 1), ([0, 1, 2], 3), ([1, 2], 0), ([0, 1, 3], 2), ([0, 1, 2, 3, 4], 5)):
        some = np.sort(np.append(rest, np.array(keys, dtype=np.uint64)[known]))
        views = np.zeros(2, VIEWS)
        LargePatterns(some, np.ones(some.size + 1, dtype=np.float32)).enter(views)
        for record in views:
            number = large_pattern(board.record[0], record, np.uint16(point), np.int8(BLACK))
            assert number == (np.searchsorted(some, keys[largest - 1]) + 1 if largest else 0)
