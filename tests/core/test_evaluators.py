"""Partial models become evaluators that keep the contract."""

from __future__ import annotations

import numpy as np
import pytest

from katachi.core.conformance import (
    check_afterstate_evaluator,
    check_evaluator,
    check_ownership_evaluator,
    sample_games,
)
from katachi.core.evaluators import (
    OwnershipValueEvaluator,
    PlayoutValue,
    PolicyEvaluator,
    ValueEvaluator,
    after,
    moves_of,
    softmax_policy,
    sweep_afterstates,
)
from katachi.go.board import Board
from katachi.go.points import BLACK, PASS, WHITE

SIZES = (2, 3, 5, 9)


def stones_value(boards):
    return np.array([0.5 + board.stones.sum() / 1000 for board in boards], dtype=np.float32)


def stones_owned(boards):
    return np.stack([board.stones for board in boards]).astype(np.float32)


def loud_policy(boards):
    """Gives every move something, legal or not, and does not sum to one."""
    return np.stack([np.arange(1, board.size**2 + 2) for board in boards]).astype(np.float32)


@pytest.mark.parametrize("evaluator", [ValueEvaluator(stones_value), OwnershipValueEvaluator(stones_owned)])
def test_values_keep_the_contract(evaluator):
    check_evaluator(evaluator, games=sample_games(sizes=SIZES))
    check_afterstate_evaluator(evaluator, games=sample_games(sizes=SIZES))


@pytest.mark.parametrize("values", [None, PlayoutValue(playouts=5, seed=3), stones_value])
def test_policies_keep_the_contract(values):
    check_evaluator(PolicyEvaluator(loud_policy, values), games=sample_games(sizes=SIZES))


def test_ownership_keeps_the_contract():
    check_ownership_evaluator(OwnershipValueEvaluator(stones_owned), games=sample_games(sizes=SIZES))


@pytest.mark.parametrize("to_play", [BLACK, WHITE])
def test_softmax_prefers_what_wins_for_the_mover(to_play):
    sweep = np.array([0.2, np.nan, 0.6, 0.4], dtype=np.float32)
    policy = softmax_policy(sweep, to_play, temperature=0.2)
    assert policy[1] == 0
    assert policy.sum() == pytest.approx(1)
    assert policy[2] / policy[3] == pytest.approx(np.exp(to_play * 0.2 / 0.2), rel=1e-5)


def test_softmax_of_tiny_temperature_does_not_overflow():
    policy = softmax_policy(np.array([0.0, 1.0], dtype=np.float32), BLACK, temperature=1e-30)
    assert policy.tolist() == [0, 1]


def test_sweep_values_each_afterstate():
    board = Board.parse(". X O / X O . / . . . / White to play")
    sweep = sweep_afterstates(PolicyEvaluator(loud_policy, stones_value), board)
    for move in moves_of(board.legal_moves()):
        assert sweep[move] == stones_value([after(board, move)])[0]
    assert np.isnan(sweep[1])
    assert sweep[PASS] == np.float32(0.5)
    assert sweep[0] == np.float32(0.498)  # one white stone more, and a black one is taken


def test_policy_is_masked_and_normalized():
    board = Board.parse("X . / . . / White to play")
    policy = PolicyEvaluator(loud_policy).evaluate([board]).policy[0]
    assert policy == pytest.approx(np.array([0, 2, 3, 4, 5]) / 14)


def test_policy_without_a_legal_move_becomes_uniform():
    board = Board(2)
    nothing = PolicyEvaluator(lambda boards: np.zeros((len(boards), 5), dtype=np.float32))
    assert nothing.evaluate([board]).policy[0] == pytest.approx(np.full(5, 0.2))
    assert nothing.evaluate([board]).black_wins[0] == 0.5


def test_playouts_know_a_won_board():
    board = Board.parse("X X X . X / X . X X X / X X X X X / X X X X X / . . . . . / White to play")
    white = Board.parse("O O O . O / O . O O O / O O O O O / O O O O O / . . . . . / Black to play")
    value = PlayoutValue(playouts=50, komi=0.5)
    assert value([board])[0] > 0.9
    assert value([white])[0] < 0.1
    assert value([board, white])[1] == value([white])[0]


def test_ownership_becomes_a_logistic_of_the_lead():
    board = Board(3)
    evaluator = OwnershipValueEvaluator(lambda boards: np.full((len(boards), 9), 0.5, np.float32), komi=2.5, points=2)
    assert evaluator.evaluate([board]).black_wins[0] == pytest.approx(1 / (1 + np.exp(-(4.5 - 2.5) / 2)))


@pytest.mark.parametrize("temperature", [0, -1, float("nan"), float("inf")])
def test_impossible_temperatures(temperature):
    with pytest.raises(ValueError, match="temperature"):
        ValueEvaluator(stones_value, temperature)
