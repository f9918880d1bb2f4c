"""Ladders in a prior, against the slow twin that reads every ladder by recursion."""

from __future__ import annotations

import numpy as np
import pytest

from helpers import naive
from helpers.positions import random_board
from katachi.go.board import Board
from katachi.go.kernels.ladders import new_stack
from katachi.go.points import parse_vertex
from katachi.search.kernels.playouts import CATCHES, RUNS_IN_VAIN, weigh_ladders


def weigh(board: Board) -> np.ndarray:
    strengths = np.where(board.legal_moves()[:-1], 1, 0).astype(np.float32)
    weigh_ladders(board.record[0], *new_stack(), strengths)
    return strengths


def expected(board: Board) -> np.ndarray:
    """One for each legal move, times a factor for each chain that it catches or that it extends in vain."""
    stones, size, color = board.stones.tolist(), board.size, board.to_play
    strengths = np.where(board.legal_moves()[:-1], 1, 0).astype(np.float32)
    for stone, *_ in board.chains():
        liberties = board.liberties(stone)
        is_own = stones[stone] == color
        for point in liberties if len(liberties) == (1 if is_own else 2) else []:
            if not strengths[point]:
                continue
            if is_own and not naive.escapes_by(stones, size, point, stone):
                strengths[point] *= RUNS_IN_VAIN
            if not is_own and naive.captures_by(stones, size, point, stone):
                strengths[point] *= CATCHES
    return strengths


@pytest.mark.parametrize("seed", range(30))
def test_against_the_twin(seed: int) -> None:
    board = random_board(7, 8 + seed, seed)
    np.testing.assert_allclose(weigh(board), expected(board), rtol=1e-6)


def test_the_boards_have_ladders_of_both_kinds() -> None:
    weights = np.concatenate([weigh(random_board(7, 8 + seed, seed)) for seed in range(30)])
    assert (weights > 1).sum() > 10
    assert ((weights > 0) & (weights < 1)).sum() > 10


def test_a_stone_in_the_way_makes_the_difference() -> None:
    for row, factor in (("......", CATCHES), ("...O..", 1)):
        board = Board.parse(f"....../..X.../.XO.../.X..../{row}/......")
        assert weigh(board)[parse_vertex("D4", 6)] == factor
