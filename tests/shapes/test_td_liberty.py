"""Learning local and liberty shapes together: by the book, greedily, to the same bytes, and as strong in both forms."""

from __future__ import annotations

import numpy as np
import pytest

from helpers import naive_td
from katachi.core.linear import LinearModel
from katachi.go.board import Board
from katachi.go.points import MAX_POINTS
from katachi.shapes.learner import TdLearner, TdSettings
from katachi.shapes.liberty import LibertyShapes
from katachi.shapes.self_play import play_against_alp
from katachi.shapes.sets import ShapeSet

BASIC = ("LI 1x1", "LI 2x2", "LD 2x1")
LIBERTY = ("LI 1x1", "LD 2x1", "LI 2x2")


def settings(**changes):
    return TdSettings(**{"size": 5, "sets": BASIC, "liberty_sets": LIBERTY, "agents": 2, "seed": 3, **changes})


def learn_one_game(chosen):
    """A learner after 101 games, its weights before the next one, and that game learned from by the book."""
    learner = TdLearner(chosen, 200)
    learner.train(101)
    before, step_size = learner.self_play.weights.copy(), learner.step_size
    learner.train(1)
    moves, explored = learner.self_play.moves, learner.self_play.explored
    game = naive_td.replay(5, moves, chosen.komi)
    agent_of = (0, 0) if chosen.agents == 1 else (1, 0)  # the pair has exchanged colors 101 times
    book = naive_td.Learning(chosen, before, agent_of, step_size)
    rewards = [naive_td.reward(game, side) for side in (0, 1)]
    return learner, before, book, naive_td.afterstates(learner.features, moves, explored), rewards


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"agents": 1, "gradient": "logistic", "step_size": 0.5},
        {"trace_decay": 0.7, "update_after_exploring": False, "epsilon": 0.4},
        {"liberty_sets": ("LD 2x2",), "move_cap": 21},
    ],
)
def test_a_game_is_learned_from_after_it_by_the_book(changes):
    learner, before, book, states, rewards = learn_one_game(settings(**{"step_size": 1.0, **changes}))
    book.learn_after_game(states, rewards)
    changed = np.abs(learner.self_play.weights - before)
    assert changed[:, : learner.features.basic.size].max() > 1e-6
    assert changed[:, learner.features.basic.size :].max() > 1e-6
    np.testing.assert_allclose(learner.self_play.weights, book.weights, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"agents": 1, "gradient": "logistic", "trace_decay": 0.5},
        {"sets": ("LI 2x1", "LI 4x3"), "liberty_sets": ("LD 2x2", "LI 3x2", "LD 3x3")},
    ],
)
def test_a_game_is_learned_from_move_by_move_by_the_book(changes):
    learner, before, book, states, rewards = learn_one_game(settings(**{"mode": "online", "step_size": 1.0, **changes}))
    book.learn_online(states, rewards)
    assert np.abs(learner.self_play.weights - before).max() > 1e-6
    np.testing.assert_allclose(learner.self_play.weights, book.weights, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("mode", ["fast", "online"])
def test_the_cascade_lets_local_shapes_alone(mode):
    """Sets of local shapes learn as if there were no liberty shapes, but for the step that they share."""
    if mode == "fast":
        with pytest.raises(ValueError, match="needs mode online"):
            settings(mode=mode, cascade=True)
        return
    learner = TdLearner(settings(mode=mode, cascade=True), 1)
    general = learner.self_play.game["general"][0, :6, :6]
    assert not general[3:, :3].any()  # no set of liberty shapes is as general as one of local shapes
    assert general[0].tolist() == [1] * 6  # LI 1x1 is as general as all
    assert general[2].tolist() == [0, 0, 1, 0, 1, 0]  # LD 2x1
    assert general[3].tolist() == [0, 0, 0, 1, 1, 1]  # LI 1x1 with liberties


@pytest.mark.parametrize("mode", ["fast", "online"])
def test_without_exploring_the_best_move_is_played(mode):
    learner = TdLearner(settings(mode=mode, epsilon=0.0, agents=1, step_size=1.0), 30)
    learner.train(30)
    before = learner.self_play.weights[0].copy()
    if mode == "fast":
        learner.self_play.run["batch_left"] = 0  # the next game is played with these weights
    else:
        learner.self_play.run["step_size"] = 0.0
    learner.total_games += 1
    learner.train(1)
    model = LinearModel(learner.features, before.astype(np.float32))
    board = Board(5)
    for move in learner.self_play.moves.tolist():
        if move == MAX_POINTS:
            break
        values = board.to_play * model.evaluate_afterstates(board)[:-1]
        eyes = [p for p in range(25) if board.stones[p] == 0 and board.is_own_eye(p, board.to_play)]
        values[eyes] = np.nan
        assert values[move] == pytest.approx(np.nanmax(values), abs=1e-4)
        board.play(move)


@pytest.mark.parametrize("mode", ["fast", "online"])
@pytest.mark.parametrize("agents", [1, 2])
def test_a_saved_state_goes_on_to_the_same_bytes(mode, agents):
    chosen = settings(mode=mode, agents=agents, average_from=0.5)
    whole, first, second = (TdLearner(chosen, 60) for _ in range(3))
    whole.train(60)
    first.train(33)
    second.load_state_dict(first.state_dict())
    second.train(27)
    for name, array in whole.state_dict().items():
        assert array.tobytes() == second.state_dict()[name].tobytes(), name
    assert whole.averaged_weights.tobytes() == second.averaged_weights.tobytes()


def test_both_forms_become_equally_strong():
    """Local shapes of one cell know little: what is won is won by liberties."""
    rates = []
    for mode in ("fast", "online"):
        options = {"agents": 1, "gradient": "logistic", "step_size": 0.3, "average_from": 0.5}
        learner = TdLearner(settings(sets=("LI 1x1",), liberty_sets=("LI 2x2",), mode=mode, **options), 1500)
        learner.train(1500)
        rates.append(
            play_against_alp(learner.features, learner.averaged_weights[0], 1000, seed=1, random_plies=2) / 1000
        )
    assert min(rates) > 0.3
    assert abs(rates[0] - rates[1]) < 0.1


@pytest.mark.parametrize("sets", [("LI 2x1",), ("LI 3x2",)])
def test_liberty_shapes_alone_play_too(sets):
    liberty = LibertyShapes(5, [ShapeSet.parse(name) for name in sets], tabled=True, bins=100)
    weights = np.random.default_rng(0).normal(size=liberty.size)
    wins = [play_against_alp(liberty, weights, 100, seed, random_plies=2) for seed in (1, 1, 2)]
    assert wins[0] == wins[1]
    assert 0 <= wins[2] <= 100


def test_fused_and_unfused_players_are_equally_strong():
    features = settings(liberty_sets=("LI 2x2",)).features
    weights = np.random.default_rng(1).normal(scale=0.1, size=features.size)
    hashed = settings(sets=(*BASIC, "LI 4x3"), liberty_sets=("LI 2x2",), mode="online").features
    first = features.basic.size
    same = np.concatenate([weights[:first], np.zeros(100_000), weights[first:]])
    wins = [play_against_alp(f, w, 600, seed=3, random_plies=2) for f, w in ((features, weights), (hashed, same))]
    assert abs(wins[0] - wins[1]) < 80


def test_refusals():
    for changes, reason in (
        ({"liberty_sets": ("LI 3x2",)}, "up to 2x2 alone: larger ones need mode online"),
        ({"liberty_sets": ("LI 4x3",), "mode": "online"}, "too large for liberty shapes"),
        ({"liberty_sets": ("LI 2x2", "LI 2x2")}, "none of them twice"),
        ({"liberty_sets": ("LI 7x7",)}, "not a set of shapes"),
    ):
        with pytest.raises(ValueError, match=reason):
            settings(**changes)
