"""One-ply search: the best move, exploration, ties and superko."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.doubles import HashEvaluator
from katachi.core.conformance import check_search, sample_games
from katachi.core.contracts import Limit
from katachi.core.evaluators import ValueEvaluator, after, moves_of, sweep_afterstates
from katachi.core.linear import LinearModel
from katachi.go.game import Game
from katachi.go.points import BLACK, PASS
from katachi.go.rules import Rules
from katachi.search.one_ply import GreedySearch, root_moves
from katachi.search.settings import GreedySettings
from katachi.shapes.features import LocalShapes
from katachi.shapes.sets import ShapeSet


def choose(evaluator, game, seed=0, **settings):
    return GreedySearch(evaluator, GreedySettings(**settings)).search(game, Limit(), np.random.default_rng(seed))


def test_takes_the_best_for_either_color():
    evaluator = HashEvaluator()
    for game in sample_games(sizes=(3, 5, 9)):
        result = choose(evaluator, game)
        values = {move: evaluator.value(after(game.board, move)) for move in moves_of(root_moves(game))}
        best = (max if game.to_play == BLACK else min)(values.values())
        assert values[result.move] == best
        assert result.black_wins == pytest.approx(best, abs=1e-6)


@pytest.mark.parametrize("settings", [{}, {"epsilon": 0.5}, {"temperature": 0.1}])
def test_keeps_the_contract(settings):
    check_search(GreedySearch(HashEvaluator(), GreedySettings(**settings)), games=sample_games(sizes=(2, 3, 5, 9)))


def test_eyes_are_filled_only_where_that_is_allowed():
    game = Game(3)
    game.setup(black=range(1, 8))  # both corners are eyes, and nothing else is empty
    assert choose(HashEvaluator(), game).move == PASS
    assert choose(HashEvaluator(), game, fills_eyes=True).move in (0, 8)


def flat(boards):
    return np.full(len(boards), 0.5, dtype=np.float32)


def test_ties_are_broken_at_random():
    moves = [choose(ValueEvaluator(flat), Game(3), seed).move for seed in range(400)]
    counts = np.bincount(moves, minlength=9)
    assert counts.min() > 20  # 44 expected of each, never a pass


def test_it_passes_before_it_must_only_where_that_is_allowed():
    moves = [choose(ValueEvaluator(flat), Game(3), seed, may_pass=True).move for seed in range(400)]
    assert 20 < moves.count(PASS) < 70  # 40 expected


def test_the_best_move_is_found_even_when_all_of_them_win_for_certain():
    features = LocalShapes(5, [ShapeSet.parse("LD 1x1")])
    weights = np.random.default_rng(1).normal(1000, 100, features.size).astype(np.float32)
    model = LinearModel(features, weights)
    game = Game(5)
    assert (model.evaluate_afterstates(game.board) == 1).all()
    best = max(moves_of(root_moves(game)), key=lambda move: model.logit(after(game.board, move)))
    value = model.logit(after(game.board, best))
    for seed in range(30):
        assert model.logit(after(game.board, choose(model, game, seed).move)) == value


def test_epsilon_explores_uniformly():
    game = Game(3)
    best = choose(HashEvaluator(), game).move
    moves = [choose(HashEvaluator(), game, seed, epsilon=0.5).move for seed in range(600)]
    counts = np.bincount(moves, minlength=9)
    assert 270 < counts[best] < 390  # 1/2 + 1/18 of 600 is 333
    assert np.delete(counts, best).min() > 10


def test_temperature_is_gibbs():
    game = Game(2)
    evaluator = HashEvaluator(salt=3)
    wins = sweep_afterstates(evaluator, game.board)[:4].astype(float)
    expected = np.exp(wins / 0.3) / np.exp(wins / 0.3).sum()
    moves = [choose(evaluator, game, seed, temperature=0.3).move for seed in range(2000)]
    shares = np.bincount(moves, minlength=4) / 2000
    assert np.abs(shares - expected).max() < 0.05


def test_fills_no_eye_and_passes_when_nothing_is_left():
    game = Game(3, Rules(komi=0.5))
    game.setup(black=[1, 3, 4, 5, 7], to_play=BLACK)
    result = choose(HashEvaluator(), game, epsilon=1.0)
    assert result.move == PASS
    assert result.visits.sum() == 1


def test_superko_is_respected():
    found = 0
    for game in sample_games(sizes=(3, 4)):
        forbidden = np.flatnonzero(game.board.legal_moves() & ~game.legal_moves())
        for seed in range(5 * min(forbidden.size, 1)):
            found += 1
            assert choose(HashEvaluator(), game, seed, epsilon=1.0).move not in forbidden
    assert found


@pytest.mark.parametrize(
    "settings", [{"epsilon": 1.1}, {"epsilon": float("nan")}, {"temperature": -1}, {"temperature": float("nan")}]
)
def test_impossible_settings(settings):
    with pytest.raises(ValueError, match=r"should be (greater|less) than or equal to|finite"):
        GreedySettings(**settings)
