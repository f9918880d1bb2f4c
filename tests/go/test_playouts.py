"""Playouts against the slow twin: every move they make, every pass, and the count at the end."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from scipy import stats

from helpers import naive
from katachi.go.board import Board
from katachi.go.game import Game
from katachi.go.kernels.board import OFF
from katachi.go.kernels.playouts import PLAYOUT, play_out, random_state
from katachi.go.playouts import run_playouts
from katachi.go.points import BLACK, PASS


def middle_game(size: int, plies: int, seed: int) -> Board:
    rng = np.random.default_rng(seed)
    game = Game(size)
    for _ in range(plies):
        moves = np.flatnonzero(game.legal_moves()[:-1])
        game.play(int(rng.choice(moves)) if moves.size else PASS)
    return game.board


def one_playout(board: Board, seed: int) -> tuple[Board, list[int]]:
    after = board.copy()
    playout = np.zeros(1, dtype=PLAYOUT)
    playout["random"] = random_state(seed)
    play_out(after.record[0], playout[0])
    moves = playout["moves"][0, : playout["plies"][0]].tolist()
    return after, [PASS if move == OFF else move for move in moves]


@pytest.mark.parametrize("size", [2, 3, 5, 7, 9, 13])
def test_a_playout_plays_what_it_says_and_only_sensible_moves(size: int) -> None:
    for seed in range(6):
        board = middle_game(size, seed * size * size // 6, seed)
        after, moves = one_playout(board, seed)
        for move in moves:
            sensible = [
                point
                for point in range(size * size)
                if board.is_legal(point) and not naive.is_own_eye(board.stones.tolist(), size, point, board.to_play)
            ]
            assert move in sensible if move != PASS else not sensible
            board.play(move)
        assert board == after
        assert moves[-2:] == [PASS, PASS] or len(moves) == 3 * size * size


def test_the_count_and_the_ownership_are_those_of_the_final_boards() -> None:
    board = middle_game(7, 20, seed=3)
    statistics = run_playouts(board, 1, seed=11, komi=0.5, first_plays=True)
    kernel_seed = np.random.SeedSequence(11).generate_state(1, np.uint64)[0]
    after, moves = one_playout(board, int(kernel_seed))
    owners = statistics.ownership.astype(int)
    assert set(owners.tolist()) <= {-1, 0, 1}
    assert statistics.black_lead == owners.sum() - 0.5
    assert statistics.black_wins == float(owners.sum() > 0.5)
    assert owners.tolist() == naive.area(after.stones.tolist(), 7)
    first: dict[int, int] = {}
    for turn, move in enumerate(moves):
        first.setdefault(move, turn % 2 if board.to_play == BLACK else 1 - turn % 2)
    first.pop(PASS)
    for side in (0, 1):
        played = sorted(move for move, by in first.items() if by == side)
        assert np.flatnonzero(statistics.first_plays[side]).tolist() == played
        assert (statistics.first_play_wins[side][played] == statistics.black_wins).all()


def test_each_sensible_move_is_equally_likely() -> None:
    board = Board.parse(". X . . / X . X . / . X . O / . . O .")  # B3 is Black's eye
    count = 3000
    moves = Counter(one_playout(board, seed)[1][0] for seed in range(count))
    sensible = [p for p in range(16) if board.is_legal(p) and not board.is_own_eye(p, BLACK)]
    assert sorted(moves) == sensible
    assert stats.chisquare([moves[p] for p in sensible]).pvalue > 0.001


def test_the_same_seed_gives_the_same_answer_and_another_does_not() -> None:
    first, again, other = (run_playouts(Board(9), 200, seed=seed, threads=2) for seed in (5, 5, 6))
    assert first.black_lead == again.black_lead
    assert (first.ownership == again.ownership).all()
    assert (first.ownership != other.ownership).any()
    assert first.playouts == 200


@pytest.mark.parametrize(("count", "threads"), [(0, 1), (10, 0)])
def test_nothing_to_do_is_an_error(count: int, threads: int) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        run_playouts(Board(9), count, seed=1, threads=threads)
