from __future__ import annotations

import numpy as np
import pytest

from helpers import naive_td
from katachi.shapes.kernels.online_td import set_values, update
from katachi.shapes.learner import TdLearner, TdSettings
from katachi.shapes.self_play import tie

SMALL = ("LI 1x1", "LI 2x1", "LD 2x2")


def settings(**changes):
    return TdSettings(**{"size": 5, "sets": SMALL, "agents": 2, "seed": 3, "mode": "online", **changes})


def test_first_update_from_zeros_by_hand():
    """All values are 0.5 until the end, so each agent learns from its last afterstate alone."""
    learner = TdLearner(settings(sets=("LI 2x2",), step_size=0.1), 1)
    learner.train(1)
    self_play = learner.self_play
    states = naive_td.afterstates(learner.features, self_play.moves, self_play.explored)
    game = naive_td.replay(5, self_play.moves)
    assert game.is_over
    for agent, winner in ((0, game.score() > 0), (1, game.score() < 0)):  # agent 0 is Black in the first game
        last = [state for state in states if state.side == agent][-1]
        error = 0.5 if winner else -0.5
        want = np.zeros(learner.features.size)
        for index, occurrence in last.features.items():
            want[index] = occurrence * 0.1 * error * 0.25 / (1 * 16)  # n is 16 for 2×2 on 5×5
        np.testing.assert_allclose(self_play.weights[agent], want, rtol=1e-12)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"agents": 1},
        {"gradient": "logistic", "step_size": 0.5},
        {"trace_decay": 0.7},
        {"trace_decay": 0.7, "update_after_exploring": False, "epsilon": 0.4},
        {"cascade": True, "sets": ("LI 1x1", "LD 1x1", "LI 2x2", "LD 2x1")},
        {"sets": ("LI 2x1", "LI 4x3", "LD 5x5")},
        {"komi": 3.0, "final_step_size": 0.01},
        {"tied": True, "trace_decay": 0.7},
        {"tied": True, "cascade": True, "sets": ("LI 1x1", "LD 1x1", "LI 2x2", "LD 2x1")},
    ],
)
def test_a_game_is_learned_from_by_the_book(changes):
    chosen = settings(**{"step_size": 1.0, **changes})
    learner = TdLearner(chosen, 200)
    learner.train(101)
    before, step_size = tie(learner.features, learner.self_play.weights).copy(), learner.step_size
    learner.train(1)
    moves, explored = learner.self_play.moves, learner.self_play.explored
    game = naive_td.replay(5, moves, chosen.komi)
    agent_of = (0, 0) if chosen.agents == 1 else (1, 0)  # the pair has exchanged colors 101 times
    book = naive_td.Learning(chosen, before, agent_of, step_size)
    rewards = [naive_td.reward(game, side) for side in (0, 1)]
    book.learn_online(naive_td.afterstates(learner.features, moves, explored), rewards)
    after = tie(learner.features, learner.self_play.weights)
    assert np.abs(after - before).max() > 1e-6
    np.testing.assert_allclose(after, book.weights, rtol=1e-9, atol=1e-12)


def active_row(learner, rng):
    """The weights in use on a random board, as the kernel lists them; written as the first afterstate of Black."""
    tracker = learner.features.tracker()
    game = naive_td.replay(5, np.array([], dtype=np.uint16))
    for move in rng.permutation(25)[:9].tolist():
        if game.is_legal(move):
            game.play(move)
    tracker.follow(game.board)
    row = tracker.placements(1)[0]
    learner.self_play.shapes.active[0, 0] = row
    return row


def test_update_follows_the_gradient():
    """Δθ is the step of its set times δ times dV/dθ, which finite differences give."""
    learner = TdLearner(settings(step_size=0.2, cascade=False), 1)
    rng = np.random.default_rng(5)
    row = active_row(learner, rng)
    run, shapes, game = learner.self_play.run[0], learner.self_play.shapes, learner.self_play.game[0]
    theta = rng.normal(scale=0.1, size=learner.features.size)
    value = set_values(game, theta, shapes.active[0, 0])[0]
    changed = theta.copy()
    update(run, shapes, changed, game, np.uint8(0), 0, np.full(3, value + 0.3))
    for index in np.unique(row).tolist():
        nudge = np.zeros_like(theta)
        nudge[index] = 1e-5
        up, down = (set_values(game, theta + sign * nudge, shapes.active[0, 0])[0] for sign in (1, -1))
        j = int(np.searchsorted(learner.features.offsets, index, side="right")) - 1
        step = 0.2 / (3 * learner.features.active_counts[j])
        assert changed[index] - theta[index] == pytest.approx(step * 0.3 * (up - down) / 2e-5, rel=1e-5)


def test_cascade_step_by_hand():
    """LI 1×1 knows nothing of LI 2×1: its value and error are its own; LI 2×1 sees both."""
    learner = TdLearner(settings(sets=("LI 1x1", "LI 2x1"), step_size=0.4, cascade=True), 1)
    row = active_row(learner, np.random.default_rng(6))
    run, shapes, game = learner.self_play.run[0], learner.self_play.shapes, learner.self_play.game[0]
    theta = np.where(np.arange(learner.features.size) < 3, 0.02, -0.01)
    logits = np.array([25 * 0.02, 25 * 0.02 - 40 * 0.01])  # 25 shapes of 1×1, 40 of 2×1
    values = 1 / (1 + np.exp(-logits))
    np.testing.assert_allclose(set_values(game, theta, shapes.active[0, 0]), values, rtol=1e-12)
    changed = theta.copy()
    update(run, shapes, changed, game, np.uint8(0), 0, np.array([1.0, 1.0]))
    steps = 0.4 / (2 * np.array([25, 40])) * (1 - values) * values * (1 - values)
    counts = np.bincount(row, minlength=theta.size)
    want = theta + counts * np.where(np.arange(theta.size) < 3, steps[0], steps[1])
    np.testing.assert_allclose(changed, want, rtol=1e-12)


def test_games_are_legal():
    learner = TdLearner(settings(sets=("LI 2x2",), epsilon=0.5), 50)
    for _ in range(50):
        learner.train(1)
        game = naive_td.replay(5, learner.self_play.moves)
        assert game.is_over or len(game.moves) == 100


@pytest.mark.parametrize("eye_rule", ["simple", "single-point"])
def test_passes_only_without_a_sensible_move(eye_rule):
    learner = TdLearner(settings(sets=("LI 2x2",), eye_rule=eye_rule), 20)
    learner.train(20)
    game = naive_td.replay(5, learner.self_play.moves)
    board = game.board
    for color in (1, -1):
        legal = np.flatnonzero(board.legal_moves(color)[:-1]).tolist()
        assert all(naive_td.is_kept_eye(board, point, color, eye_rule) for point in legal)
