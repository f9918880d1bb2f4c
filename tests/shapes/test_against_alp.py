from __future__ import annotations

import numpy as np
import pytest

from helpers import naive_td
from katachi.go.board import Board
from katachi.go.game import Game
from katachi.go.points import MAX_POINTS, PASS
from katachi.players.simple import AlpPlayer
from katachi.shapes.features import LocalShapes
from katachi.shapes.kernels.games import ALP, choose_by_liberties
from katachi.shapes.learner import TdLearner, TdSettings
from katachi.shapes.self_play import EYE_RULES, play_against_alp
from katachi.shapes.sets import ShapeSet


@pytest.mark.parametrize("size", [3, 5, 9])
def test_chooses_what_the_alp_player_values_most(size):
    rng = np.random.default_rng(size)
    alp = np.zeros(1, dtype=ALP)
    alp["random"] = 1
    player = AlpPlayer(seed=1)
    for _ in range(6):
        game = Game(size)
        for _ in range(2 * size * size):
            move = int(choose_by_liberties(alp[0], game.board.record, Board(size).record, np.int8(game.to_play)))
            values = game.to_play * player.sweep(game)
            if move == MAX_POINTS:
                assert np.isnan(values).all()
            else:
                assert values[move] == np.nanmax(values)
            legal = np.flatnonzero(game.legal_moves()[:-1])
            game.play(int(rng.choice(legal)) if legal.size else PASS)


def test_equal_moves_are_drawn_alike():
    alp = np.zeros(1, dtype=ALP)
    alp["random"] = 1
    drawn = {int(choose_by_liberties(alp[0], Board(3).record, Board(3).record, np.int8(1))) for _ in range(50)}
    assert drawn == {4}
    board = Board(3)
    board.play(4)
    drawn = {int(choose_by_liberties(alp[0], board.record, Board(3).record, np.int8(-1))) for _ in range(200)}
    assert drawn == {1, 3, 5, 7}


def features(*sets, size=5, **options):
    return LocalShapes(size, [ShapeSet.parse(name) for name in sets], **options)


def test_the_same_seed_plays_the_same_games():
    shapes = features("LI 1x1", size=3)
    wins = [play_against_alp(shapes, np.zeros(3, dtype=np.float32), 500, seed, komi=0.5) for seed in (1, 1, 2)]
    assert wins[0] == wins[1]
    assert wins[0] != wins[2]


@pytest.mark.parametrize("sets", [("LI 2x1",), ("LI 2x1", "LI 4x3")])
def test_colors_alternate(sets):
    """With a komi that one color always wins by, the shape player wins when it has that color."""
    shapes = features(*sets)
    nothing = np.zeros(shapes.size, dtype=np.float32)
    assert [play_against_alp(shapes, nothing, games, 1, komi=-99.0) for games in (1, 2, 5)] == [1, 1, 3]
    assert [play_against_alp(shapes, nothing, games, 1, komi=99.0) for games in (1, 2, 5)] == [0, 1, 2]


def test_random_plies_are_nobodys_choice():
    shapes = features("LI 1x1")
    weights = np.random.default_rng(1).normal(size=(3, 3)).astype(np.float32)
    wins = {play_against_alp(shapes, theta, 300, 1, komi=0.5, random_plies=1000) for theta in weights}
    assert len(wins) == 1
    assert 100 < wins.pop() < 200


def test_with_and_without_fused_tables_it_is_the_same_player():
    """A hashed set whose weights are 0 makes the games be played without fused tables, and changes nothing else."""
    learner = TdLearner(TdSettings(size=5, sets=("LI 2x2",), agents=1, gradient="logistic", step_size=0.3), 4000)
    learner.train(4000)
    larger = features("LI 2x2", "LI 4x3")
    weights = np.concatenate([learner.weights[0], np.zeros(larger.size - learner.features.size, dtype=np.float32)])
    fused = play_against_alp(learner.features, learner.weights[0], 1000, seed=1) / 1000
    unfused = play_against_alp(larger, weights, 1000, seed=1) / 1000
    assert fused > 0.2
    assert abs(fused - unfused) < 4 * np.sqrt(0.5 / 1000)  # more than four standard errors of their difference


def test_draws_count_half():
    shapes = features("LI 1x1", size=3)
    games = [play_against_alp(shapes, np.zeros(3, dtype=np.float32), 1, seed, komi=9.0) for seed in range(60)]
    assert set(games) == {0.0, 0.5}  # Black has the whole board or less


def test_what_cannot_be_played():
    with pytest.raises(ValueError, match=r"not \[81\]"):
        play_against_alp(features("LI 2x2"), np.zeros(80, dtype=np.float32), 1, seed=1)
    tied = features("LI 2x2", "LI 4x3", tied=True)
    with pytest.raises(ValueError, match="only shapes up to 3x3 can be tied: LI 4x3 cannot"):
        play_against_alp(tied, np.zeros(tied.size, dtype=np.float32), 1, seed=1)


def test_tied_weights_play_as_what_they_stand_for():
    tied, untied = features("LI 2x2", "LD 2x1", tied=True), features("LI 2x2", "LD 2x1")
    weights = np.random.default_rng(1).normal(size=tied.size).astype(np.float32)
    spread = weights[tied.tables.canonical] * tied.tables.signs
    players = ((tied, weights), (untied, spread), (untied, weights))
    wins = [play_against_alp(shapes, theta, 300, 1, komi=0.5, random_plies=10) for shapes, theta in players]
    assert wins[0] == wins[1] != wins[2]


@pytest.mark.parametrize("eye_rule", ["simple", "single-point"])
def test_alp_keeps_the_eyes_of_the_rule(eye_rule):
    """It fills none, and passes when nothing else is left; what only looks like an eye it fills by one of the rules."""
    alp = np.zeros(1, dtype=ALP)
    alp["random"], alp["eye_rule"] = 1, EYE_RULES[eye_rule]
    looks_filled = passes = 0
    for _ in range(20):
        board = Board(5)
        for _ in range(100):
            color = board.to_play
            move = int(choose_by_liberties(alp[0], board.record, Board(5).record, np.int8(color)))
            if move == MAX_POINTS:
                passes += 1
                legal = np.flatnonzero(board.legal_moves()[:-1]).tolist()
                assert all(naive_td.is_kept_eye(board, point, color, eye_rule) for point in legal)
            else:
                assert not naive_td.is_kept_eye(board, move, color, eye_rule)
                looks_filled += naive_td.is_kept_eye(board, move, color, "single-point")
            board.play(PASS if move == MAX_POINTS else move)
    assert passes
    assert bool(looks_filled) is (eye_rule == "simple")


@pytest.mark.parametrize("sets", [("LI 1x1",), ("LI 1x1", "LI 4x3")])
def test_the_shape_player_keeps_the_eyes_of_the_rule(sets):
    shapes = features(*sets)
    nothing = np.zeros(shapes.size, dtype=np.float32)
    wins = {rule: play_against_alp(shapes, nothing, 300, 1, random_plies=9, eye_rule=rule) for rule in EYE_RULES}
    assert wins["simple"] != wins["single-point"]
