from __future__ import annotations

import numpy as np
import pytest

from katachi.go.board import Board
from katachi.shapes.features import LocalShapes
from katachi.shapes.learner import TdLearner, TdSettings
from katachi.shapes.self_play import inverse_weights, tie, untie
from katachi.shapes.sets import ShapeSet

SETS = [ShapeSet.parse(name) for name in ("LI 1x1", "LD 2x2", "LI 3x2")]


@pytest.fixture(scope="module")
def tied():
    return LocalShapes(5, SETS, tied=True)


def random_board(rng):
    board = Board(5)
    for point in rng.permutation(25)[:14].tolist():
        if board.is_legal(point):
            board.play(point)
    return board


def test_spread_weights_value_boards_as_tied_ones_do(tied):
    rng = np.random.default_rng(1)
    weights = rng.normal(size=(2, tied.size))
    weights[:, tied.tables.canonical != np.arange(tied.size)] = 0
    untied, spread = untie(tied, weights)
    for _ in range(20):
        board = random_board(rng)
        values = [
            w[..., indices] @ times
            for w, (indices, times) in ((weights, tied.active(board)), (spread, untied.active(board)))
        ]
        np.testing.assert_allclose(values[0], values[1], rtol=1e-6)
    own_inverse = tied.tables.signs == 0
    np.testing.assert_array_equal(tie(tied, spread), np.where(own_inverse, 0, weights))


def test_inverses_are_those_of_the_board_with_the_colors_exchanged(tied):
    untied = LocalShapes(5, SETS)
    inverse = inverse_weights(tied)
    rng = np.random.default_rng(2)
    for _ in range(20):
        board = random_board(rng)
        exchanged = board.copy()
        exchanged.to_play = -board.to_play  # seen by the other player
        indices, times = untied.active(board)
        want = dict(zip(*(array.tolist() for array in untied.active(exchanged)), strict=True))
        assert dict(zip(inverse[indices].tolist(), times.tolist(), strict=True)) == want


def test_untied_shapes_are_left_alone():
    untied = LocalShapes(5, SETS)
    weights = np.arange(untied.size)
    assert untie(untied, weights) == (untied, weights)
    assert inverse_weights(untied).size == 0


@pytest.mark.parametrize("mode", ["fast", "online"])
def test_learned_weights_stay_opposite_to_the_last_bit(mode):
    chosen = TdSettings(size=5, sets=("LI 1x1", "LI 2x2", "LD 2x1"), tied=True, mode=mode, average_from=0.0)
    learner = TdLearner(chosen, 300)
    learner.train(300)
    spread = learner.self_play.weights
    inverse = inverse_weights(learner.features)
    in_use = untie(learner.features, spread)[0].tables.canonical == np.arange(learner.features.size)
    assert np.array_equal(spread[:, inverse][:, in_use], -spread[:, in_use])
    assert np.count_nonzero(learner.weights) > 20
    assert (learner.averaged_weights != learner.weights).any()
