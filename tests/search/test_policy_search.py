"""Play by a policy alone: the most probable sensible move, drawing, ties, superko and the answer to a pass."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.doubles import HashEvaluator
from katachi.core.conformance import check_player, check_search, sample_games
from katachi.core.contracts import Limit
from katachi.core.evaluators import PolicyEvaluator
from katachi.go.board import Board
from katachi.go.game import Game
from katachi.go.points import BLACK, PASS, WHITE
from katachi.go.rules import Rules
from katachi.players.search_player import SearchPlayer, describe_result
from katachi.search.one_ply import PolicySearch, is_won_without_dead_stones
from katachi.search.settings import PolicySettings


def fixed(*likings: float) -> PolicyEvaluator:
    """Likes the first points so much, and the others not at all."""

    def policies(boards):
        row = np.zeros(boards[0].size ** 2 + 1, dtype=np.float32)
        row[: len(likings)] = likings
        return np.repeat(row[None], len(boards), axis=0)

    return PolicyEvaluator(policies)


def choose(evaluator, game, seed=0, **settings):
    return PolicySearch(evaluator, PolicySettings(**settings)).search(game, Limit(), np.random.default_rng(seed))


def test_takes_the_most_probable_move():
    result = choose(fixed(0.1, 0.5, 0.4), Game(5))
    assert (result.move, result.variation, result.black_wins) == (1, (1,), 0.5)
    assert result.priors[:4] == pytest.approx([0.1, 0.5, 0.4, 0])
    assert result.visits.sum() == 25  # all that it considered, but not the pass
    candidates = describe_result(result, BLACK).candidates
    assert [(candidate.move, candidate.prior) for candidate in candidates[:3]] == [
        (1, pytest.approx(0.5)),
        (2, pytest.approx(0.4)),
        (0, pytest.approx(0.1)),
    ]


@pytest.mark.parametrize("temperature", [0.0, 0.3, 1.0])
def test_keeps_the_contract_with_any_evaluator(temperature):
    search = PolicySearch(HashEvaluator(), PolicySettings(temperature=temperature))
    check_search(search, games=sample_games(sizes=(2, 3, 5, 9)))
    players = [SearchPlayer("policy", search, rng=np.random.default_rng(1)) for _ in range(2)]
    check_player(*players, games=sample_games(sizes=(3, 5)))


def test_ties_are_broken_at_random():
    moves = [choose(fixed(0.3, 0.3, 0.1, 0.3), Game(5), seed).move for seed in range(300)]
    counts = np.bincount(moves, minlength=4)
    assert counts[2] == 0
    assert counts[[0, 1, 3]].min() > 60


def test_temperature_draws_in_proportion_to_powers():
    evaluator = fixed(0.1, 0.2, 0.4)
    for temperature, expected in ((1.0, [1, 2, 4]), (0.5, [1, 4, 16])):
        moves = [choose(evaluator, Game(5), seed, temperature=temperature).move for seed in range(1500)]
        shares = np.bincount(moves, minlength=3) / 1500
        assert np.abs(shares - np.array(expected) / sum(expected)).max() < 0.05


def test_each_move_is_overlooked_as_often_as_asked_for():
    evaluator = fixed(0.9, 0.09, 0.01)
    moves = [choose(evaluator, Game(5), seed, overlooks=0.4).move for seed in range(1500)]
    shares = np.bincount(moves, minlength=3) / 1500
    expected = [0.6 + 0.4**3, 0.4 * 0.6, 0.4**2 * 0.6]  # if all three are overlooked, none is
    assert np.abs(shares - expected).max() < 0.05
    assert choose(evaluator, Game(5), overlooks=0.4).priors[0] == pytest.approx(0.9), "what it thinks stays the same"


def test_the_only_move_is_not_overlooked():
    game = Game(3, Rules(komi=0.5))
    game.setup(black=[1, 3, 4, 5, 7], to_play=BLACK)
    assert {choose(fixed(0.9), game, seed, overlooks=0.9).move for seed in range(20)} == {PASS}


def test_fills_no_eye_and_passes_when_nothing_is_left():
    game = Game(3, Rules(komi=0.5))
    game.setup(black=[1, 3, 4, 5, 7], to_play=BLACK)
    result = choose(fixed(0.9), game)
    assert (result.move, result.visits.sum(), result.priors[-1]) == (PASS, 1, 1)


def test_a_policy_that_likes_nothing_sensible_leaves_all_alike():
    game = Game(5)
    game.play(0)
    moves = {choose(fixed(1.0), game, seed).move for seed in range(200)}
    assert moves == set(range(1, 25))


def test_superko_is_respected():
    found = 0
    for game in sample_games(sizes=(3, 4)):
        for point in np.flatnonzero((game.board.legal_moves() & ~game.legal_moves())[:-1]).tolist():
            found += 1
            assert choose(fixed(*[0.0] * point, 1.0), game).move != point
    assert found


# Black owns the left, with a dead white stone in it, White the right with more or less of it.
FINISHED = """
    . X . X O . O
    X X X X O O .
    . X . X O . O
    X X . X O O O
    . O . X O . .
    . . X X O O O
    . . . X O O .
"""


def finished(komi: float, to_play: int = BLACK) -> Game:
    game = Game(7, Rules(komi=komi, friendly_pass_ok=True))
    board = Board.parse(FINISHED)
    black, white = (np.flatnonzero(board.stones == color).tolist() for color in (BLACK, WHITE))
    game.setup(black=black, white=white, to_play=-to_play)
    game.play(PASS)
    return game


@pytest.mark.parametrize(("komi", "to_play", "wins"), [(5.5, BLACK, True), (9.5, BLACK, False), (9.5, WHITE, True)])
def test_counts_without_dead_stones_where_the_rules_take_them_off(komi, to_play, wins):
    game = finished(komi, to_play)
    assert is_won_without_dead_stones(game) is wins
    game.rules = Rules(komi=komi)
    assert is_won_without_dead_stones(game) is (to_play == WHITE)


def test_plays_on_where_much_is_open():
    opening = Game(9, Rules(komi=-100.5))
    opening.play(40)
    opening.play(PASS)
    assert not is_won_without_dead_stones(Game(9, Rules(komi=-5.5)))
    assert choose(HashEvaluator(), opening).move == PASS, "won whatever becomes of it"


@pytest.mark.parametrize("temperature", [-1, float("nan"), float("inf")])
def test_impossible_settings(temperature):
    with pytest.raises(ValueError, match=r"should be greater than or equal to|finite"):
        PolicySettings(temperature=temperature)
