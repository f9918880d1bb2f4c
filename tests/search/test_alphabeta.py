"""Alpha-beta equals plain minimax, compiled and in Python, and keeps its limits."""

from __future__ import annotations

import time
from threading import Event

import numpy as np
import pytest

from helpers.doubles import CompiledHashEvaluator, HashEvaluator, Minimax
from katachi.core.conformance import check_search, sample_games
from katachi.core.contracts import Limit
from katachi.core.linear import LinearModel
from katachi.go.board import Board
from katachi.go.game import Game
from katachi.go.points import BLACK, PASS, WHITE
from katachi.go.rules import KoRule, Rules
from katachi.search.alphabeta import AlphaBetaSearch, CompiledTree
from katachi.search.kernels import alphabeta as kernels
from katachi.search.one_ply import root_moves
from katachi.search.settings import AlphaBetaSettings
from katachi.shapes.features import LocalShapes
from katachi.shapes.sets import ShapeSet

EVALUATORS = [HashEvaluator, CompiledHashEvaluator]


def random_game(size: int, plies: int, rng: np.random.Generator, ko: KoRule = KoRule.POSITIONAL) -> Game:
    game = Game(size, Rules(ko, komi=0.5))
    for _ in range(plies):
        legal = np.flatnonzero(game.legal_moves())[: -1 if rng.random() < 0.9 else None]
        game.play(int(rng.choice(legal)) if legal.size and legal[-1] < size * size else PASS)
    return game


def search(evaluator, game, depth, **settings):
    return AlphaBetaSearch(evaluator, AlphaBetaSettings(**settings)).search(
        game, Limit(depth=depth), np.random.default_rng(0)
    )


@pytest.mark.parametrize("evaluator_class", EVALUATORS)
@pytest.mark.parametrize("steps", [1 << 20, 5])
@pytest.mark.parametrize("quiescence", [0, 1, 3])
def test_equals_minimax(evaluator_class, steps, quiescence):
    rng = np.random.default_rng((steps, quiescence))
    for i in range(12):
        size = (2, 3, 4)[i % 3]
        depth = (4, 3, 2)[i % 3]
        evaluator = evaluator_class(steps, salt=i)
        game = random_game(size, int(rng.integers(2 * size * size)), rng)
        values = Minimax(evaluator, game, quiescence).root_values(game, depth)
        best = (max if game.to_play == BLACK else min)(values.values())
        result = search(evaluator, game, depth, quiescence=quiescence)
        assert result.black_wins == pytest.approx(best, abs=1e-6)
        assert values[result.move] == pytest.approx(best, abs=1e-6)


def test_small_table_changes_nothing():
    rng = np.random.default_rng(5)
    for salt in range(5):
        evaluator = CompiledHashEvaluator(salt=salt)
        game = random_game(4, 6, rng)
        small, large = (search(evaluator, game, 4, table_bits=bits) for bits in (1, 18))
        assert small.black_wins == large.black_wins


def test_many_nodes_equal_in_both_trees():
    game = random_game(5, 10, np.random.default_rng(2))
    compiled = search(CompiledHashEvaluator(), game, 4, quiescence=2)
    plain = search(HashEvaluator(), game, 4, quiescence=2)
    assert compiled.black_wins == pytest.approx(plain.black_wins, abs=1e-6)
    assert compiled.move == plain.move
    assert compiled.variation[:2] == plain.variation[:2]


class StoneCounter(HashEvaluator):
    """Black wins the more, the more stones he has; for the best line by hand."""

    def value(self, board):
        return float(0.5 + board.stones.sum() / 100)


def test_takes_what_it_can():
    game = Game(5, Rules(komi=0.5))
    board = Board.parse(
        """
        . . O X .
        . . X . .
        . . . . .
        . . . . .
        . . . . .
        Black to play"""
    )
    game.setup(*(np.flatnonzero(board.stones == color).tolist() for color in (BLACK, WHITE)), to_play=BLACK)
    result = search(StoneCounter(), game, 1)
    assert result.move == 1  # B5 takes C5
    assert result.black_wins == pytest.approx(0.5 + 3 / 100)


@pytest.mark.parametrize("evaluator_class", EVALUATORS)
def test_passes_only_when_nothing_sensible_is_left(evaluator_class):
    game = Game(3, Rules(komi=0.5))
    game.setup(black=[1, 3, 4, 5, 7], white=[], to_play=BLACK)
    assert search(evaluator_class(), game, 2).move == PASS
    game.play(PASS)
    game.play(PASS)
    assert game.is_over
    assert search(evaluator_class(), game, 3).move == PASS


@pytest.mark.parametrize("evaluator_class", EVALUATORS)
@pytest.mark.parametrize(("komi", "expected"), [(8.5, 1.0), (9.0, 0.5), (9.5, 0.0)])
def test_two_passes_end_by_the_score(evaluator_class, komi, expected):
    game = Game(3, Rules(komi=komi))
    game.setup(black=[1, 3, 4, 5, 7], to_play=WHITE)
    game.play(PASS)
    result = search(evaluator_class(), game, 2)
    assert (result.move, result.black_wins) == (PASS, expected)


@pytest.mark.parametrize("evaluator_class", EVALUATORS)
def test_superko_at_the_root(evaluator_class):
    found = 0
    for game in sample_games(sizes=(3, 4, 5)):
        forbidden = game.board.legal_moves() & ~game.legal_moves()
        if forbidden.any():
            found += 1
            result = search(evaluator_class(), game, 2)
            assert not result.visits[forbidden].any()
            assert root_moves(game)[result.move]
    assert found


@pytest.mark.parametrize("evaluator_class", EVALUATORS)
def test_keeps_the_contract(evaluator_class):
    search = AlphaBetaSearch(evaluator_class(), AlphaBetaSettings(quiescence=2))
    sizes = (2, 3, 5, 9, 19) if evaluator_class is CompiledHashEvaluator else (2, 3, 5)
    check_search(search, games=sample_games(sizes=sizes), limit=Limit(simulations=100, depth=2))


def test_equal_moves_are_chosen_at_random():
    search = AlphaBetaSearch(CompiledHashEvaluator(steps=2**20))
    flat = AlphaBetaSearch(FlatEvaluator())
    game = Game(5)
    moves = {search.search(game, Limit(depth=1), np.random.default_rng(seed)).move for seed in range(8)}
    flat_moves = {flat.search(game, Limit(depth=1), np.random.default_rng(seed)).move for seed in range(8)}
    assert len(moves) == 1
    assert len(flat_moves) > 4


class FlatEvaluator(HashEvaluator):
    def value(self, board):
        return 0.5


@pytest.mark.parametrize("evaluator_class", EVALUATORS)
def test_the_clock_ends_an_endless_search(evaluator_class):
    """Depth 40 of 9×9 would take years."""
    result = AlphaBetaSearch(evaluator_class()).search(Game(9), Limit(seconds=0.2), np.random.default_rng(1))
    assert result.visits.sum() >= 81


def test_a_stop_ends_it_between_slices():
    stop = Event()
    results = []
    for result in AlphaBetaSearch(CompiledHashEvaluator()).deepen(
        Game(9), Limit(seconds=60), np.random.default_rng(1), stop
    ):
        results.append(result)
        if len(results) == 2:
            stop.set()
    assert len(results) == 2


def test_no_time_at_all_still_gives_a_move():
    for evaluator_class in EVALUATORS:
        result = AlphaBetaSearch(evaluator_class()).search(Game(9), Limit(seconds=0), np.random.default_rng(1))
        assert 0 <= result.move < 81


def test_boards_that_the_evaluator_cannot_judge():
    features = LocalShapes(5, [ShapeSet.parse("LI 2x2")])
    model = LinearModel(features, np.zeros(features.size, dtype=np.float32))
    with pytest.raises(ValueError, match="5×5 boards, not 9×9"):
        search(model, Game(9), 1)


def test_the_sweep_of_the_evaluator_changes_no_value():
    """A model with a compiled sweep, the same without it, and in Python."""
    features = LocalShapes(4, [ShapeSet.parse("LD 2x2"), ShapeSet.parse("LI 3x3")])
    weights = np.random.default_rng(1).normal(size=features.size).astype(np.float32)
    model = LinearModel(features, weights)
    rng = np.random.default_rng(3)
    for _ in range(8):
        game = random_game(4, int(rng.integers(20)), rng)
        swept = search(model, game, 3, quiescence=2)
        played = search(WithoutSweep(model), game, 3, quiescence=2)
        plain = search(WithoutKernel(model), game, 3, quiescence=2)
        assert (swept.black_wins, swept.variation) == (played.black_wins, played.variation)
        assert plain.black_wins == pytest.approx(swept.black_wins, abs=1e-6)


def test_one_compilation_serves_all_evaluators():
    game = Game(3)
    features = LocalShapes(3, [ShapeSet.parse("LI 1x1")])
    search(LinearModel(features, np.zeros(3, dtype=np.float32)), game, 1)
    search(CompiledHashEvaluator(), game, 1)
    assert len(getattr(kernels.run_nodes, "signatures", [None])) == 1  # without the compiler there is none


class WithoutKernel:
    def __init__(self, model):
        self.evaluate = model.evaluate


class WithoutSweep(WithoutKernel):
    def __init__(self, model):
        super().__init__(model)
        self.kernel, self.parameters = model.kernel, model.parameters


def new_tree(game, **settings):
    return CompiledTree(CompiledHashEvaluator(), game, np.random.default_rng(1), AlphaBetaSettings(**settings))


def test_node_limit_is_kept_and_repeats():
    game = Game(9)
    results = [
        AlphaBetaSearch(CompiledHashEvaluator()).search(
            game, Limit(simulations=300, seconds=30), np.random.default_rng(1)
        )
        for _ in range(2)
    ]
    assert results[0].variation == results[1].variation
    tree = new_tree(game, table_bits=10)
    assert not tree.run(8, 300, lambda: False)
    assert tree.nodes == 300


def test_slices_do_not_change_the_result():
    game = random_game(5, 8, np.random.default_rng(4))
    whole = new_tree(game, quiescence=1, table_bits=12)
    assert whole.run(3, None, lambda: False)
    cut = new_tree(game, quiescence=1, table_bits=12)
    cut._slice = 1
    assert cut.run(3, None, lambda: (time.sleep(0.0001), False)[1])
    assert (cut.line, cut.black_wins, cut.nodes) == (whole.line, whole.black_wins, whole.nodes)


def test_deepening_stops_where_one_move_is_left():
    game = Game(3, Rules(komi=0.5))
    game.setup(black=[1, 3, 4, 5, 7], white=[], to_play=BLACK)
    results = list(AlphaBetaSearch(HashEvaluator()).deepen(game, Limit(seconds=60), np.random.default_rng(1)))
    assert [result.move for result in results] == [PASS]


def test_a_small_tree_can_be_searched_to_any_depth():
    """Each depth takes no time, which must not make the next slice of nodes larger and larger."""
    game = Game(5, Rules(komi=0.5))
    rows = ". X X O .", "X X O O O", ". X X O .", "X X O O O", "X . X O ."
    board = Board.parse("/".join(rows))
    game.setup(np.flatnonzero(board.stones == BLACK).tolist(), np.flatnonzero(board.stones == WHITE).tolist())
    tree = new_tree(game, table_bits=12)
    for depth in range(1, 41):
        assert tree.run(depth, None, lambda: False)
    assert tree._slice < 1 << 40


@pytest.mark.parametrize("settings", [{"depth": 0}, {"depth": 41}, {"quiescence": -1}, {"table_bits": 0}])
def test_impossible_settings(settings):
    with pytest.raises(ValueError, match=r"should be (greater|less) than or equal to"):
        AlphaBetaSettings(**settings)
