from __future__ import annotations

import numpy as np
import pytest

from katachi.papers.silver2007.figure4 import Protocol, games_until, learn, mean_curve, percent_won
from katachi.shapes.learner import TdLearner, TdSettings

TINY = Protocol(games=50, test_every=20, test_games=4, final_games=6)


def learn_tiny(**changes):
    arguments = {"sets": ["LI 2x1"], "size": 5, "komi": 7.5, "seed": 3, "protocol": TINY.arguments, "mode": "fast"}
    return learn(**(arguments | changes))


def test_a_run_is_tested_as_often_as_it_should_be():
    assert TINY.tests == [20, 40, 50]
    result = learn_tiny()
    assert len(result["curve"]) == 3
    assert all(0 <= wins <= 4 for test in result["curve"] for wins in test)
    assert np.shape(result["final"]) == np.shape(result["averaged"]) == (2, 2)  # agents, colors
    assert np.max(result["final"]) <= 3  # half of the games with each color


def test_the_same_seed_gives_the_same_result():
    assert learn_tiny() == learn_tiny()
    assert learn_tiny() != learn_tiny(seed=4)


def test_averaging_does_not_touch_the_learning():
    weights = []
    for average_from in (0.5, 1.0):
        learner = TdLearner(TdSettings(size=5, sets=("LI 2x2",), seed=1, average_from=average_from), 300)
        learner.train(300)
        weights.append(learner.weights)
    assert np.array_equal(*weights)
    assert weights[0].any()


def test_games_until_both_exceed():
    curve = [[6, 6], [5, 9], [9, 5], [6, 6], [7, 8]]
    tests = [10, 20, 30, 40, 50]
    assert games_until(curve, tests, 5) == 10
    assert games_until(curve[1:], tests[1:], 5) == 40  # exceed: a win rate of 5 in 10 is not above it
    assert games_until(curve[1:], tests[1:], 5, in_a_row=2) == 30
    assert games_until(curve, tests, 9) is None
    assert games_until(curve, tests, 5, in_a_row=6) is None


def test_win_rates():
    final = [(5, 1), (2, 4)]  # wins as Black and as White of two agents in ten games
    assert percent_won(final, 10) == pytest.approx(60)
    assert percent_won(final, 10, color=0) == pytest.approx(70)
    assert percent_won(final, 10, color=1) == pytest.approx(50)
    assert percent_won([(5, 1), (0, 0)], 10, best=True) == pytest.approx(60)
    assert mean_curve([[[1, 3], [4, 4]], [[0, 0], [4, 4]]], 4) == [25.0, 100.0]
