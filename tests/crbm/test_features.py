from __future__ import annotations

import numpy as np
import pytest

from helpers.positions import random_board
from helpers.random_crbms import KINDS, random_weights
from katachi.core.conformance import (
    check_afterstate_evaluator,
    check_evaluator,
    check_feature_set,
    check_log_odds_evaluator,
    sample_games,
)
from katachi.core.evaluators import WrongBoardSize, after, moves_of
from katachi.core.linear import LinearModel
from katachi.crbm.config import CrbmConfig
from katachi.crbm.evaluator import CrbmFeatures
from katachi.crbm.network import Crbm
from katachi.go.board import Board
from katachi.go.points import BLACK, WHITE

each_kind = pytest.mark.parametrize("config", KINDS.values(), ids=KINDS.keys())
BOARDS = [random_board(5, plies, seed=plies) for plies in (0, 1, 6, 13, 20, 29, 40)]


def records(boards):
    return np.concatenate([board.record for board in boards])


@each_kind
def test_compiled_features_are_those_of_torch(config):
    weights = random_weights(config)
    wanted = Crbm(config, weights).features(config.planes.encode(BOARDS)).permute(0, 2, 3, 1).flatten(1).numpy()
    found = CrbmFeatures(config, weights).encode(records(BOARDS))
    assert found == pytest.approx(wanted, abs=1e-5)
    assert found.std(axis=0).max() > 0.01  # boards differ


@each_kind
def test_a_sweep_is_the_sum_after_every_move(config):
    features = CrbmFeatures(config, random_weights(config))
    values = np.random.default_rng(1).normal(size=features.size).astype(np.float32)
    captures = 0
    for board in BOARDS:
        found = features.sum_afterstates(board, values)
        legal = board.legal_moves()
        assert (np.isnan(found) == ~legal).all()
        for move in moves_of(legal):
            played = after(board, move)
            captures += played.captured(-board.to_play) > board.captured(-board.to_play)
            wanted = features.encode(played.record)[0].astype(np.float64) @ values
            assert found[move] == pytest.approx(wanted, abs=1e-6)
    assert captures >= 2


@each_kind
def test_centered_features_are_less_their_center(config):
    weights = random_weights(config)
    maps = config.layer_shapes()[-1].maps
    center = np.linspace(0.1, 0.4, maps, dtype=np.float32)
    plain, centered = CrbmFeatures(config, weights), CrbmFeatures(config, weights, center)
    difference = (plain.encode(records(BOARDS)) - centered.encode(records(BOARDS))).reshape(-1, maps)
    assert difference == pytest.approx(np.broadcast_to(center, difference.shape), abs=1e-6)
    assert plain.digest != centered.digest
    with pytest.raises(ValueError, match="the center of"):
        CrbmFeatures(config, weights, center[1:])


def test_he_who_has_just_moved_sees_his_own_stones():
    config = KINDS["binary"]
    features = CrbmFeatures(config, random_weights(config))
    board = random_board(5, 9, seed=1)
    inverse = Board(5)
    inverse.place(
        black=np.flatnonzero(board.stones == WHITE).tolist(),
        white=np.flatnonzero(board.stones == BLACK).tolist(),
        to_play=-board.to_play,
    )
    assert (features.encode(board.record) == features.encode(inverse.record)).all()


@each_kind
def test_conformance(config):
    features = CrbmFeatures(config, random_weights(config))
    check_feature_set(features, games=sample_games(sizes=[5]))
    values = np.random.default_rng(0).normal(size=features.size, scale=0.1)
    model = LinearModel(features, values.astype(np.float32))
    check_evaluator(model, games=sample_games(sizes=[5]))
    check_afterstate_evaluator(model, games=sample_games(sizes=[5]))
    check_log_odds_evaluator(model, games=sample_games(sizes=[5]))


def test_the_model_values_boards_and_afterstates_alike():
    config = KINDS["liberties"]
    features = CrbmFeatures(config, random_weights(config))
    model = LinearModel(features, np.random.default_rng(0).normal(size=features.size).astype(np.float32))
    for board in BOARDS[2:4]:
        for move in moves_of(board.legal_moves()):
            logit = model.logit(after(board, move))
            assert model.afterstate_log_odds(board)[move] == pytest.approx(board.to_play * logit, abs=1e-5)


def test_describe():
    config = CrbmConfig(size=5, kernels=2, kernel_size=2, units="oriented")
    weights = random_weights(config)
    weights["first.kernels"][1] = [[[9, 0], [0, 0]], [[0, 9], [0, 0]], [[0, 0], [9, 9]]]  # own, opponent / free, free
    features = CrbmFeatures(config, weights)
    assert features.describe(features.config.kernels * 8 * 5 + 8) == "kernel 2, its upper left at B4\nX O\n. ."
    turned = features.describe(8 + 1)
    assert turned == "kernel 2, turn 90, its upper left at A5\n. X\n. O"
    stacked = CrbmFeatures(KINDS["stacked"], random_weights(KINDS["stacked"]))
    assert stacked.describe(6) == "second layer: kernel 2, its upper left at B5"
    with pytest.raises(ValueError, match="not a feature"):
        features.describe(features.size)


def test_other_boards_and_weights_are_refused():
    config = KINDS["binary"]
    features = CrbmFeatures(config, random_weights(config))
    with pytest.raises(WrongBoardSize, match="5×5 boards, not 9×9"):
        features.active(Board(9))
    with pytest.raises(WrongBoardSize):
        features.sum_afterstates(Board(9), np.zeros(features.size, dtype=np.float32))
    with pytest.raises(ValueError, match="not those of this CRBM"):
        CrbmFeatures(KINDS["real"].model_copy(update={"kernels": 2}), random_weights(config))


def test_digest_tells_weights_apart():
    config = KINDS["binary"]
    weights = random_weights(config)
    first = CrbmFeatures(config, weights).digest
    assert CrbmFeatures(config, weights).digest == first
    weights["first.hidden_bias"] = weights["first.hidden_bias"] + 1
    assert CrbmFeatures(config, weights).digest != first
