from __future__ import annotations

import numpy as np
import pytest

from helpers.random_crbms import KINDS, random_weights
from katachi.core.conformance import check_learner
from katachi.core.linear import LinearModel
from katachi.crbm.evaluator import CrbmFeatures
from katachi.crbm.features import Templates
from katachi.crbm.value import Chains, LinearTdLearner, LinearTdSettings, link_afterstates
from katachi.go.board import Board
from katachi.go.points import BLACK, EMPTY, PASS, WHITE

SETS = {
    "templates": Templates(5),
    "crbm": CrbmFeatures(KINDS["binary"], random_weights(KINDS["binary"])),
    "stacked": CrbmFeatures(KINDS["stacked"], random_weights(KINDS["stacked"])),
}
each_set = pytest.mark.parametrize("features", SETS.values(), ids=SETS.keys())


def played(*moves: int) -> list[Board]:
    board = Board(5)
    boards = []
    for move in moves:
        board.play(move)
        boards.append(board.copy())
    return boards


def logit(learner: LinearTdLearner, board: Board) -> float:
    return LinearModel(learner.features, learner.weights).logit(board)


@each_set
def test_a_step_moves_the_logit_alike_whatever_the_features_are(features):
    (board,) = played(12)
    learner = LinearTdLearner(features, LinearTdSettings(step_size=0.4))
    metrics = learner.update(link_afterstates(features, [board], winner=BLACK))
    assert metrics.values == {"td_error": 0.5, "updates": 1.0}
    assert logit(learner, board) == pytest.approx(0.4 * 0.5 * 0.25, rel=1e-4)  # δ = 1 − ½, V(1 − V) = ¼
    logistic = LinearTdLearner(features, LinearTdSettings(step_size=0.4, gradient="logistic"))
    logistic.update(link_afterstates(features, [board], winner=WHITE))
    assert logit(logistic, board) == pytest.approx(-0.4 * 0.5, rel=1e-4)


def test_chains_are_of_one_color_each_and_end_with_the_result():
    features = SETS["templates"]
    chains = link_afterstates(features, played(12, 6, 18, PASS, 8), winner=WHITE)
    assert chains.successors.tolist() == [2, 3, 4, -1, -1]
    assert chains.order.tolist() == [0, 1, 2, 3, 4]
    assert chains.rewards.tolist() == [0, 1, 0, 1, 0]
    assert np.diff(chains.starts).tolist() == [16] * 5
    assert link_afterstates(features, played(12, 6), winner=EMPTY).rewards.tolist() == [0.5, 0.5]
    assert np.isnan(link_afterstates(features, played(12, 6), winner=None).rewards).all()


def test_one_board_that_is_played_on_serves_as_well():
    def replay():
        board = Board(5)
        for move in (12, 6, 18):
            board.play(move)
            yield board

    features = SETS["crbm"]
    for found, wanted in zip(
        link_afterstates(features, replay(), BLACK), link_afterstates(features, played(12, 6, 18), BLACK), strict=True
    ):
        assert (found == wanted).all()


@each_set
def test_a_game_teaches_what_the_definition_says(features):
    """TD(0) by hand, dense vectors and all: the order of the updates matters."""
    boards = played(12, 6, 18, 7, 16, 8)
    rng = np.random.default_rng(1)
    first = rng.normal(scale=0.3, size=features.size).astype(np.float32)
    learner = LinearTdLearner(features, LinearTdSettings(step_size=0.5), first)
    learner.update(link_afterstates(features, boards, winner=WHITE))

    vectors = np.zeros((len(boards), features.size))
    for row, board in zip(vectors, boards, strict=True):
        indices, occurrences = features.active(board)
        row[indices] = occurrences
    weights = first.astype(np.float64)
    for t, vector in enumerate(vectors):
        value = 1 / (1 + np.exp(-weights @ vector))
        if t + 2 < len(boards):
            target = 1 / (1 + np.exp(-weights @ vectors[t + 2]))
        else:
            target = float(boards[t].to_play == BLACK)  # White, who won, has just moved
        weights += 0.5 * (target - value) * value * (1 - value) * vector / (vector @ vector)
    assert learner.weights == pytest.approx(weights, abs=1e-6)


def test_without_a_winner_only_boards_teach_boards():
    features = SETS["templates"]
    learner = LinearTdLearner(features, LinearTdSettings())
    metrics = learner.update(link_afterstates(features, played(12, 6, 18, 7), winner=None))
    assert metrics.values["updates"] == 2
    assert not learner.weights.any()  # all values were one half


@each_set
def test_conformance(features):
    chains = link_afterstates(features, played(12, 6, 18), winner=BLACK)
    assert isinstance(chains, Chains)
    check_learner(LinearTdLearner(features, LinearTdSettings()), chains)


def test_states_and_first_weights():
    features = SETS["crbm"]
    chains = link_afterstates(features, played(12, 6, 18), winner=BLACK)
    learner = LinearTdLearner(features, LinearTdSettings())
    learner.update(chains)
    again = LinearTdLearner(features, LinearTdSettings())
    again.load_state_dict(learner.state_dict())
    assert (again.weights == learner.weights).all()
    with pytest.raises(ValueError, match="not a state of"):
        again.load_state_dict({"weights": np.zeros(3)})
    with pytest.raises(ValueError, match="finite weights are needed"):
        LinearTdLearner(features, LinearTdSettings(), np.zeros(3, dtype=np.float32))
