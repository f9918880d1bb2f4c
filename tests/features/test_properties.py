"""What must hold of feature sets and of what learns with them, on any position."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.positions import random_board, random_move
from helpers.random_crbms import KINDS, random_weights
from katachi.core.linear import LinearModel
from katachi.crbm.evaluator import CrbmFeatures
from katachi.crbm.features import Templates
from katachi.crbm.value import LinearTdLearner, LinearTdSettings, link_afterstates
from katachi.go.board import Board
from katachi.go.points import BLACK, EMPTY, WHITE, Symmetry
from katachi.shapes.features import LocalShapes
from katachi.shapes.learner import TdLearner, TdSettings
from katachi.shapes.liberty import CombinedShapes, LibertyShapes
from katachi.shapes.sets import ShapeSet

SIZE = 5
SETS = [ShapeSet.parse(name) for name in ("LI 1x1", "LD 2x2", "LI 3x2", "LD 3x3")]
SHAPES = {
    "local": LocalShapes(SIZE, SETS),
    "tied": LocalShapes(SIZE, SETS, tied=True),
    "liberty": LibertyShapes(SIZE, SETS[:2], bins=5000),
    "combined": CombinedShapes(LocalShapes(SIZE, SETS[:2]), LibertyShapes(SIZE, SETS[:2], bins=5000)),
}
FEATURES = SHAPES | {
    "templates": Templates(SIZE),
    "crbm": CrbmFeatures(KINDS["binary"], random_weights(KINDS["binary"])),
}
boards = st.builds(random_board, st.just(SIZE), st.integers(0, 60), st.integers(0, 2**32))
seeds = st.integers(0, 2**32)


def vector(features, board: Board) -> np.ndarray:
    dense = np.zeros(features.size)
    indices, occurrences = features.active(board)
    dense[indices] = occurrences
    return dense


def changed(board: Board, stones: np.ndarray, to_play: int) -> Board:
    other = Board(board.size)
    other.place(np.flatnonzero(stones == BLACK), np.flatnonzero(stones == WHITE), to_play=to_play)
    return other


def turned(board: Board, symmetry: Symmetry) -> Board:
    stones = np.empty_like(board.stones)
    stones[symmetry.points(board.size)] = board.stones
    return changed(board, stones, board.to_play)


@pytest.mark.parametrize("name", SHAPES)
@settings(max_examples=60, deadline=None)
@given(board=boards, symmetry=st.sampled_from(list(Symmetry)))
def test_shapes_are_the_same_however_a_board_is_turned(name, board, symmetry):
    assert np.array_equal(vector(SHAPES[name], board), vector(SHAPES[name], turned(board, symmetry)))


@pytest.mark.parametrize("name", FEATURES)
@settings(max_examples=60, deadline=None)
@given(board=boards)
def test_a_board_in_the_other_colors_looks_the_same_to_its_mover(name, board):
    inverse = changed(board, -board.stones, -board.to_play)
    assert np.allclose(vector(FEATURES[name], board), vector(FEATURES[name], inverse), atol=1e-6)


@settings(max_examples=60, deadline=None)
@given(board=boards, seed=seeds)
def test_tied_shapes_of_the_inverse_are_negative(board, seed):
    features = SHAPES["tied"]
    inverse = changed(board, -board.stones, board.to_play)
    assert np.array_equal(vector(features, inverse), -vector(features, board))
    weights = np.random.default_rng(seed).normal(size=features.size).astype(np.float32)
    model = LinearModel(features, weights)
    assert model.logit(inverse) == pytest.approx(-model.logit(board), abs=1e-4)


@pytest.mark.parametrize("name", ["local", "tied"])
@settings(max_examples=40, deadline=None)
@given(seed=seeds, plies=st.integers(1, 60))
def test_following_a_game_is_the_same_as_looking_once(name, seed, plies):
    features, rng = SHAPES[name], np.random.default_rng(seed)
    tracker, board = features.tracker(), Board(SIZE)
    for _ in range(plies):
        board.play(random_move(board, rng))
        tracker.follow(board)
    for found, wanted in zip(tracker.active(-board.to_play), features.active(board), strict=True):
        assert np.array_equal(found, wanted)


@pytest.mark.parametrize("name", ["local", "tied", "combined"])
@settings(max_examples=30, deadline=None)
@given(board=boards, seed=seeds)
def test_afterstates_at_once_are_those_one_by_one(name, board, seed):
    features = SHAPES[name]
    weights = np.random.default_rng(seed).normal(scale=0.1, size=features.size).astype(np.float32)
    model = LinearModel(features, weights)
    swept = model.evaluate_afterstates(board)
    for move in np.flatnonzero(board.legal_moves()[:-1]).tolist():
        after = board.copy()
        after.play(move)
        black_wins = 1 / (1 + np.exp(-board.to_play * model.logit(after)))
        assert swept[move] == pytest.approx(black_wins, abs=1e-4)


@pytest.mark.parametrize("name", FEATURES)
@pytest.mark.parametrize("gradient", ["squared", "logistic"])
@settings(max_examples=30, deadline=None)
@given(board=boards, seed=seeds, step=st.floats(0.001, 1), winner=st.sampled_from([BLACK, EMPTY, WHITE]))
def test_an_update_brings_the_value_nearer_to_its_target(name, gradient, board, seed, step, winner):
    features = FEATURES[name]
    first = np.random.default_rng(seed).normal(scale=0.1, size=features.size).astype(np.float32)
    learner = LinearTdLearner(features, LinearTdSettings(step_size=step, gradient=gradient), first)
    target = {BLACK: 1.0, EMPTY: 0.5, WHITE: 0.0}[winner]
    target = target if -board.to_play == BLACK else 1 - target

    def error() -> float:
        return abs(target - 1 / (1 + np.exp(-LinearModel(features, learner.weights).logit(board))))

    before = error()
    learner.update(link_afterstates(features, [board], winner=winner))
    assert error() <= before + 1e-6
    assert np.isfinite(learner.weights).all()


@pytest.mark.parametrize("mode", ["fast", "online"])
@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 2**31), step=st.sampled_from([0.01, 1.0, 1000.0]), games=st.integers(1, 20))
def test_weights_stay_finite(mode, seed, step, games):
    learner = TdLearner(TdSettings(size=SIZE, sets=("LI 2x2", "LD 2x1"), seed=seed, step_size=step, mode=mode), games)
    first = learner.weights.copy()
    learner.train(games)
    assert np.isfinite(learner.weights).all()
    assert not np.array_equal(learner.weights, first)
