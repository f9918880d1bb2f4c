from __future__ import annotations

import numpy as np
import pytest

from helpers import naive_td
from katachi.go.board import Board
from katachi.go.kernels.board import new_boards
from katachi.go.points import BLACK, MAX_POINTS, PASS
from katachi.shapes.kernels.player import CODES, NO_MOVE, UNIT, begin_game, choose, fuse, play
from katachi.shapes.learner import TdLearner, TdSettings
from katachi.shapes.model import build_fused_tables, levels_of
from katachi.shapes.self_play import tie

ALL = tuple(f"{location} {size}" for location in ("LI", "LD") for size in ("1x1", "2x1", "2x2", "3x2", "3x3"))


def settings(**changes):
    return TdSettings(**{"size": 5, "sets": ALL, "agents": 2, "seed": 3, **changes})


def random_weights(features, rng):
    in_use = features.tables.canonical == np.arange(features.size)
    return rng.normal(size=features.size) * in_use


def fused_value(fused, tables, board):
    """The sum over the 3×3 windows, as the one who has just moved sees them."""
    own = board.stones.astype(np.int64) * -board.to_play
    codes = np.where(own < 0, 2, own)[tables.cells] @ 3 ** np.arange(9)
    return fused[tables.classes * CODES + codes].sum() / UNIT


@pytest.mark.parametrize(("size", "sets"), [(3, ALL), (5, ALL), (6, ("LD 1x1", "LI 3x2")), (9, ALL), (13, ("LI 2x1",))])
def test_fused_value_is_the_sum_of_weights(size, sets):
    features = settings(size=size, sets=sets).features
    rng = np.random.default_rng(size)
    weights = random_weights(features, rng)
    tables = build_fused_tables(features)
    fused = np.zeros(tables.large.table.size, dtype=np.int32)
    fuse(weights, *levels_of(tables), fused)
    board = Board(size)
    for _ in range(2 * size * size):
        legal = np.flatnonzero(board.legal_moves()[:-1])
        board.play(int(rng.choice(legal)) if legal.size else PASS)
        indices, occurrences = features.active(board)
        want = weights[indices] @ occurrences
        assert fused_value(fused, tables, board) == pytest.approx(want, abs=size * size / UNIT)


@pytest.mark.parametrize(("size", "eye_rule"), [(3, "simple"), (5, "simple"), (9, "simple"), (5, "single-point")])
def test_gains_are_always_up_to_date(size, eye_rule):
    """At every ply of random games, captures and kos included, what each move adds is what it adds to the board."""
    learner = TdLearner(settings(size=size, agents=1, eye_rule=eye_rule), 1)
    rng = np.random.default_rng(size)
    weights = random_weights(learner.features, rng)
    learner.self_play.weights[0] = weights
    learner.train(1)  # fuses these weights
    tables = learner.self_play.fused
    player, board, captures = learner.self_play.game[0], Board(size), 0
    fused = player["fused"][: tables.large.table.size].astype(np.int64)
    kernel_board = new_boards(1, size)[0]
    begin_game(player)
    for ply in range(min(4 * size * size, 120)):
        color = board.to_play
        move = choose(player, kernel_board, np.int8(color), np.uint64(1 << 31))
        gains = player["gain"][0 if color == BLACK else 1, : size * size].copy()
        now = Board.parse(str(board))
        now.to_play = -color  # seen by the one about to move
        base = fused_value(fused, tables, now)
        for point in range(size * size):
            sensible = board.is_legal(point) and not naive_td.is_kept_eye(board, point, color, eye_rule)
            assert sensible == (gains[point] != NO_MOVE), (ply, point)
            if sensible:
                after = board.copy()
                after.play(point)
                assert gains[point] / UNIT == pytest.approx(fused_value(fused, tables, after) - base, abs=1e-9)
        if not player["explored"][ply] and move != MAX_POINTS:
            assert gains[move] == gains.max()
        play(player, kernel_board, move, np.int8(color))
        stones = np.count_nonzero(board.stones)
        board.play(PASS if move == MAX_POINTS else int(move))
        captures += np.count_nonzero(board.stones) <= stones and move != MAX_POINTS
        if move == MAX_POINTS and not (gains != NO_MOVE).any() and ply > size * size:
            break
    assert captures > 0


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"agents": 1, "gradient": "logistic", "step_size": 0.5},
        {"trace_decay": 0.7, "sets": ("LI 2x2", "LD 3x2")},
        {"trace_decay": 0.7, "update_after_exploring": False, "epsilon": 0.4, "sets": ("LI 1x1", "LI 3x3")},
        {"komi": 3.0, "final_step_size": 0.01, "sets": ("LD 2x1",)},
        {"move_cap": 21, "sets": ("LD 2x1",)},
        {"tied": True},
        {"tied": True, "agents": 1, "trace_decay": 0.7, "sets": ("LI 2x2", "LD 3x2")},
    ],
)
def test_a_game_is_learned_from_after_it_by_the_book(changes):
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
    book.learn_after_game(naive_td.afterstates(learner.features, moves, explored), rewards)
    after = tie(learner.features, learner.self_play.weights)
    assert np.abs(after - before).max() > 1e-6
    np.testing.assert_allclose(after, book.weights, rtol=1e-9, atol=1e-12)


def test_games_are_legal():
    learner = TdLearner(settings(epsilon=0.5, move_cap=90), 50)
    for _ in range(50):
        learner.train(1)
        game = naive_td.replay(5, learner.self_play.moves)
        assert game.is_over or len(game.moves) == 90


def test_without_exploring_the_best_move_is_played():
    learner = TdLearner(settings(epsilon=0.0, agents=1), 30)
    learner.train(30)
    assert not learner.self_play.explored.any()
