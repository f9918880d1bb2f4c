"""What a move takes, saves and risks, against the slow twin that makes the move and looks."""

from __future__ import annotations

import numpy as np
import pytest

from helpers import naive
from helpers.positions import random_board
from katachi.go.board import Board
from katachi.go.kernels.board import OFF, captures, count_liberties, rescue, self_atari_stones
from katachi.go.points import EMPTY


@pytest.mark.parametrize("seed", range(8))
def test_captures_and_self_atari(seed: int) -> None:
    board = random_board(7, 15 + 6 * seed, seed)
    stones, color = board.stones.tolist(), board.to_play
    for point in np.flatnonzero(board.legal_moves()[:-1]).tolist():
        outcome = naive.put_stone(stones, 7, point, color)
        assert bool(captures(board.record[0], np.uint16(point), color)) == bool(outcome.captures)
        chain = naive.chain_at(outcome.stones, 7, point)
        in_atari = len(naive.liberties_of(outcome.stones, 7, chain)) == 1 and not outcome.captures
        assert self_atari_stones(board.record[0], np.uint16(point), color) == (len(chain) if in_atari else 0)


def test_a_rescue_ends_the_atari_and_none_is_missed() -> None:
    found = missed = 0
    for seed in range(40):
        board = random_board(7, 20 + seed % 20, seed)
        stones, color = board.stones.tolist(), board.to_play
        for stone in np.flatnonzero(board.stones == color).tolist():
            if count_liberties(board.record[0], np.uint16(stone)) != 1:
                continue
            move = int(rescue(board.record[0], np.uint16(stone), color))
            saving = [point for point in range(49) if _saves(board, stones, point, stone)]
            if move == OFF:
                missed += 1
                assert not saving
            else:
                found += 1
                taken = naive.put_stone(stones, 7, move, color).captures
                assert move in saving or taken & _attackers(stones, stone)
    assert found > 20
    assert missed > 20


def _attackers(stones: list[int], stone: int) -> set[int]:
    chain = naive.chain_at(stones, 7, stone)
    return naive.border(stones, 7, chain, -stones[stone])


def _saves(board: Board, stones: list[int], point: int, stone: int) -> bool:
    if stones[point] != EMPTY or not board.is_legal(point):
        return False
    after = naive.put_stone(stones, 7, point, stones[stone]).stones
    return len(naive.liberties_of(after, 7, naive.chain_at(after, 7, stone))) > 1
