from __future__ import annotations

import numpy as np
import pytest

from katachi.core.conformance import (
    check_afterstate_evaluator,
    check_evaluator,
    check_outcome_evaluator,
    check_search,
    sample_games,
)
from katachi.core.contracts import Limit
from katachi.core.evaluators import after
from katachi.go.board import Board
from katachi.go.game import Game
from katachi.go.points import BLACK, PASS, WHITE
from katachi.search.alphabeta import AlphaBetaSearch
from katachi.search.one_ply import GreedySearch
from katachi.search.settings import GreedySettings
from katachi.territory.evaluator import Territory, TerritoryEvaluator
from katachi.territory.inputs import TABLE_SHAPE, PointInputs
from katachi.territory.network import DagRnn, DagRnnConfig

SIZES = [2, 3, 5, 9]


def territory(**config: object) -> Territory:
    net = DagRnn.new(DagRnnConfig(**config), PointInputs(), seed=1)
    return Territory(net, np.zeros(TABLE_SHAPE, dtype=np.float32))


@pytest.fixture(scope="module")
def plain() -> TerritoryEvaluator:
    return TerritoryEvaluator(territory(), komi=1.5, points=4.0, temperature=0.7)


@pytest.mark.parametrize("policy", [False, True])
def test_it_keeps_its_contracts(policy: bool) -> None:
    evaluator = TerritoryEvaluator(territory(policy=policy))
    check_evaluator(evaluator, games=sample_games(sizes=SIZES))
    check_afterstate_evaluator(evaluator, games=sample_games(sizes=SIZES))
    check_outcome_evaluator(evaluator, games=sample_games(sizes=SIZES))


def test_searches_over_it_keep_theirs(plain: TerritoryEvaluator) -> None:
    for search in (GreedySearch(plain), GreedySearch(plain, GreedySettings(temperature=0.1))):
        check_search(search, games=sample_games(sizes=[5]))
    check_search(AlphaBetaSearch(plain), games=sample_games(sizes=[3]), limit=Limit(depth=2))


def slow_area(evaluator: TerritoryEvaluator, board: Board) -> float:
    """The area that Black can expect, point by point."""
    return sum((1 + float(owned)) / 2 for owned in evaluator.ownership([board])[0])


@pytest.mark.parametrize("color", [BLACK, WHITE])
def test_wins_and_policy_follow_from_areas(plain: TerritoryEvaluator, color: int) -> None:
    board = Board.parse(". X . . / X O . . / . O . . / . . . .")
    board.to_play = color
    legal = board.legal_moves()
    slow = [slow_area(plain, after(board, PASS if i == 16 else i)) if legal[i] else np.nan for i in range(17)]
    assert plain.sweep_areas(board) == pytest.approx(np.array(slow), abs=1e-4, nan_ok=True)
    weights = np.exp(color * np.nan_to_num(slow, nan=-color * np.inf) / 0.7)
    evaluation = plain.evaluate([board])
    assert evaluation.policy[0] == pytest.approx(weights / weights.sum(), abs=1e-4)
    lead = 2 * slow_area(plain, board) - 16 - 1.5
    assert evaluation.black_wins[0] == pytest.approx(1 / (1 + np.exp(-lead / 4)), abs=1e-5)
    wins = [1 / (1 + np.exp(-(2 * area - 16 - 1.5) / 4)) for area in slow]
    assert plain.evaluate_afterstates(board) == pytest.approx(np.array(wins), abs=1e-5, nan_ok=True)


@pytest.mark.parametrize("policy", [False, True])
def test_by_mover_exchanged_colors_exchange_what_is_said(policy: bool) -> None:
    rng = np.random.default_rng(0)
    net = DagRnn.new(DagRnnConfig(by_mover=True, policy=policy), PointInputs(), seed=1)
    judge = Territory(net, rng.uniform(-1, 1, TABLE_SHAPE).astype(np.float32))
    board = Board.parse(". X . . / X O . . / . O . . / . . . .")
    board.to_play = WHITE  # Black has just moved: it is shown as it is
    as_it_is = judge.logits([board])
    assert np.array_equal(as_it_is, net.logits(net.inputs.encode([board], judge.propensity), 4))
    board.to_play = BLACK
    assert not np.allclose(judge.logits([board]), as_it_is)  # it matters whose turn it is
    check_evaluator(TerritoryEvaluator(judge), games=sample_games(sizes=SIZES))
    swapped = Board(4)
    black, white = (np.flatnonzero(board.stones == color).tolist() for color in (BLACK, WHITE))
    swapped.place(black=white, white=black, to_play=WHITE)
    inputs = net.inputs.encode([swapped], judge.propensity)
    exchanged = net.inputs.exchange(net.inputs.encode([board], judge.propensity))
    neutral = [i for i, name in enumerate(net.inputs.names) if not name.startswith("propensity")]
    assert np.array_equal(inputs[..., neutral], exchanged[..., neutral])
    told = net.logits(exchanged, 4)
    expected = [-told[..., :1]] + ([told[..., 2:], told[..., 1:2]] if policy else [])
    assert np.array_equal(judge.logits([board]), np.concatenate(expected, axis=2))


def test_many_boards_are_judged_as_one_alone(plain: TerritoryEvaluator) -> None:
    boards = [after(Board(9), point) for point in range(80)]  # more than there are in a batch
    assert plain.ownership(boards)[79] == pytest.approx(plain.ownership(boards[79:])[0], abs=1e-6)


def test_a_network_with_policies_is_asked_for_those_of_the_mover() -> None:
    evaluator = TerritoryEvaluator(territory(policy=True))
    board = Board.parse("X . . / . O . / . . .")
    for color, column in ((BLACK, 1), (WHITE, 2)):
        board.to_play = color
        logits = evaluator.territory.logits([board])[0, :, column]
        weights = np.where(board.legal_moves()[:-1], np.exp(logits), 0)
        assert evaluator.evaluate([board]).policy[0] == pytest.approx([*(weights / weights.sum()), 0], abs=1e-5)


def test_two_plies_take_the_best_of_the_worst(plain: TerritoryEvaluator) -> None:
    game = Game(3)
    game.play(4)
    game.play(0)
    found = AlphaBetaSearch(plain).search(game, Limit(depth=2), np.random.default_rng(0))

    def worst(move: int) -> float:
        replied = after(game.board, move)
        sweep = plain.evaluate_afterstates(replied)
        considered = [value for value in sweep[:-1] if not np.isnan(value)]
        return min(considered)

    moves = [move for move in range(9) if game.is_legal(move)]
    assert found.move == max(moves, key=worst)
