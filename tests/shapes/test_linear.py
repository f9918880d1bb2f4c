"""The linear model: fused against plain sums over features, sweeps against whole boards, symmetry to the last bit."""

from __future__ import annotations

import numpy as np
import pytest

from katachi.core.contracts import CompiledEvaluator, Evaluator, LogOddsEvaluator
from katachi.core.evaluators import after, moves_of
from katachi.core.linear import LinearModel
from katachi.go.board import Board
from katachi.go.points import BLACK, PASS, WHITE, Symmetry
from katachi.shapes.features import LocalShapes
from katachi.shapes.model import FusedLinearModel, can_fuse
from katachi.shapes.sets import ShapeSet

SHAPES = ("1x1", "2x1", "2x2", "3x2", "3x3")


def shapes(size: int, names=SHAPES, locations=("LI", "LD"), **options) -> LocalShapes:
    return LocalShapes(size, [ShapeSet.parse(f"{where} {name}") for where in locations for name in names], **options)


def random_model(features, scale=0.1, seed=0):
    return LinearModel(features, np.random.default_rng(seed).normal(scale=scale, size=features.size).astype(np.float32))


def random_boards(size: int, count: int, seed: int = 0):
    """Boards of random games, with many captures and kos; each is seen by both colors."""
    rng = np.random.default_rng(seed)
    board = Board(size)
    for _ in range(count):
        moves = moves_of(board.legal_moves())
        if len(moves) == 1 or rng.random() < 1 / (3 * size * size):
            board = Board(size)
            moves = moves_of(board.legal_moves())
        board.play(int(rng.choice(moves[:-1] if rng.random() < 0.95 else moves)))
        yield board


def plain_logit(model, board) -> float:
    indices, occurrences = model.features.active(board)
    return float(model.weights[indices].astype(np.float64) @ occurrences)


@pytest.mark.parametrize("size", [3, 4, 5, 9, 13])
@pytest.mark.parametrize("tied", [False, True])
def test_fused_equals_the_sum_over_features(size, tied):
    model = random_model(shapes(size, tied=tied))
    assert isinstance(model, FusedLinearModel)
    for board in random_boards(size, 60):
        assert model.logit(board) == pytest.approx(plain_logit(model, board), abs=2e-5)


@pytest.mark.parametrize("names", [("1x1",), ("2x1",), ("3x2",), ("2x2", "3x3")])
@pytest.mark.parametrize("location", ["LI", "LD"])
def test_any_choice_of_sets_fuses(names, location):
    model = random_model(shapes(6, names, (location,)), scale=3)
    for board in random_boards(6, 30):
        assert model.logit(board) == pytest.approx(plain_logit(model, board), abs=1e-4)


@pytest.mark.parametrize(("size", "count"), [(3, 4000), (5, 4000), (9, 2000)])
def test_sweep_equals_whole_boards_to_the_last_bit(size, count):
    """10,000 positions with captures; on each, some moves are looked at one by one."""
    model = random_model(shapes(size))
    rng = np.random.default_rng(1)
    captures = 0
    for board in random_boards(size, count):
        sweep = model.evaluate_afterstates(board)
        moves = moves_of(board.legal_moves())
        assert np.isnan(sweep).sum() == size * size + 1 - len(moves)
        for move in {PASS, *rng.choice(moves, size=4).tolist()}:
            child = after(board, move)
            captures += child.captured(-board.to_play) - board.captured(-board.to_play)
            assert sweep[move] == model.kernel(child.record, model.parameters)
    assert captures > 100


def turned(board: Board, symmetry: Symmetry, invert: bool) -> Board:
    twin = Board(board.size)
    sign = -1 if invert else 1
    points = symmetry.points(board.size)
    colors = {c: points[np.flatnonzero(sign * board.stones == c)].tolist() for c in (BLACK, WHITE)}
    twin.place(black=colors[BLACK], white=colors[WHITE], to_play=sign * board.to_play)
    return twin


@pytest.mark.parametrize("size", [5, 8, 9])
def test_symmetry_and_inversion_to_the_last_bit(size):
    model = random_model(shapes(size))
    for board in random_boards(size, 40):
        logit = model.logit(board)
        for symmetry in Symmetry:
            assert model.logit(turned(board, symmetry, invert=False)) == logit
            assert model.logit(turned(board, symmetry, invert=True)) == logit


def test_a_single_weight_counts_where_it_occurs():
    features = shapes(5, ("1x1",), ("LI",))
    model = LinearModel(features, np.array([0.0, 0.5, -0.25], dtype=np.float32))
    board = Board.parse("X X . . . / . O . . . / . . . . . / . . . . . / . . . . . / White to play")
    assert model.logit(board) == 2 * 0.5 - 0.25  # Black has just moved
    board.to_play = BLACK
    assert model.logit(board) == 0.5 - 2 * 0.25
    assert model.evaluate([board]).black_wins[0] == pytest.approx(0.5)


def test_zero_weights_know_nothing():
    features = shapes(5)
    evaluation = LinearModel(features, np.zeros(features.size, dtype=np.float32)).evaluate([Board(5)])
    assert evaluation.black_wins[0] == 0.5
    assert evaluation.policy[0] == pytest.approx(np.full(26, 1 / 26))


def test_what_it_meets():
    fused = random_model(shapes(5))
    assert isinstance(fused, CompiledEvaluator)
    assert isinstance(fused, LogOddsEvaluator)
    hashed = random_model(shapes(5, ("2x2", "4x3"), ("LI",), bins=50))
    assert isinstance(hashed, Evaluator)
    assert isinstance(hashed, LogOddsEvaluator)
    assert not isinstance(hashed, CompiledEvaluator)
    assert not can_fuse(hashed.features)


def test_plain_path_agrees_with_the_fused_one():
    features = shapes(4)
    fused = random_model(features)
    plain = object.__new__(LinearModel)
    LinearModel.__init__(plain, features, fused.weights)
    for board in random_boards(4, 20):
        assert plain.logit(board) == pytest.approx(fused.logit(board), abs=2e-5)
        both = plain.evaluate_afterstates(board), fused.evaluate_afterstates(board)
        assert both[0] == pytest.approx(both[1], abs=1e-5, nan_ok=True)
        both = plain.afterstate_log_odds(board), fused.afterstate_log_odds(board)
        assert both[0] == pytest.approx(both[1], abs=2e-5, nan_ok=True)


@pytest.mark.parametrize("scale", [1e-30, 1e-6, 100.0, 1e6])
def test_weights_of_any_magnitude(scale):
    model = random_model(shapes(5), scale=scale)
    for board in random_boards(5, 10):
        assert model.logit(board) == pytest.approx(plain_logit(model, board), rel=1e-3, abs=scale * 1e-3)


def test_kernel_and_sweep_kernel_agree_with_evaluate():
    model = random_model(shapes(7))
    for board in random_boards(7, 10):
        assert np.float32(model.kernel(board.record, model.parameters)) == model.evaluate([board]).black_wins[0]
        values = np.empty(50)
        model.sweep_kernel(board.record, model.parameters, values)
        assert np.array_equal(values, model.evaluate_afterstates(board), equal_nan=True)


def test_refusals():
    features = shapes(5, ("1x1",), ("LI",))
    with pytest.raises(ValueError, match="3 weights are needed, not \\[4\\]"):
        LinearModel(features, np.zeros(4, dtype=np.float32))
    with pytest.raises(ValueError, match="not numbers"):
        LinearModel(features, np.array([0, np.nan, 0], dtype=np.float32))
    with pytest.raises(ValueError, match="temperature"):
        LinearModel(features, np.zeros(3, dtype=np.float32), temperature=0)
    with pytest.raises(ValueError, match="5×5 boards, not 9×9"):
        random_model(features).evaluate([Board(9)])
    with pytest.raises(ValueError, match="3×3 windows"):
        FusedLinearModel(shapes(5, ("4x3",), ("LI",), bins=9), np.zeros(9, dtype=np.float32))


def test_moves_that_are_all_but_won_are_told_apart_for_both_colors():
    features = shapes(5, ("1x1",), ("LD",))
    model = LinearModel(features, 1 + random_model(features, scale=0.05).weights)  # 25 shapes on every board
    for board in random_boards(5, 10):
        logits = [model.logit(after(board, move)) for move in moves_of(board.legal_moves())]
        wins = [board.to_play * win for win in model.evaluate_afterstates(board)[board.legal_moves()]]
        assert min(logits) > 20
        assert max(logits) < 36
        assert np.argmax(wins) == np.argmax(logits)
