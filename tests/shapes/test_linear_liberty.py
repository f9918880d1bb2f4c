"""The linear model over local and liberty shapes: fused against plain sums, sweeps against whole boards, symmetry."""

from __future__ import annotations

import numpy as np
import pytest

from katachi.core.conformance import check_afterstate_evaluator, check_evaluator, check_search, sample_games
from katachi.core.contracts import CompiledEvaluator, Limit
from katachi.core.evaluators import after, moves_of
from katachi.core.linear import LinearModel
from katachi.go.points import PASS, Symmetry
from katachi.search.alphabeta import AlphaBetaSearch
from katachi.shapes.features import LocalShapes
from katachi.shapes.liberty import CombinedShapes, LibertyShapes
from katachi.shapes.model import FusedLinearModel
from katachi.shapes.sets import ShapeSet
from shapes.test_linear import plain_logit, random_boards, random_model, turned

SMALL = ("1x1", "2x1", "2x2")


def both(size: int, liberty=SMALL, **options) -> CombinedShapes:
    basic, sets = (
        [ShapeSet.parse(f"{where} {name}") for where in ("LI", "LD") for name in names]
        for names in ((*SMALL, "3x2", "3x3"), liberty)
    )
    return CombinedShapes(LocalShapes(size, basic), LibertyShapes(size, sets, **{"tabled": True, **options}))


@pytest.mark.parametrize("size", [3, 4, 5, 9, 13])
def test_fused_equals_the_sum_over_features(size):
    model = random_model(both(size))
    assert isinstance(model, FusedLinearModel)
    for board in random_boards(size, 60):
        assert model.logit(board) == pytest.approx(plain_logit(model, board), abs=2e-5)


@pytest.mark.parametrize(("size", "count"), [(3, 4000), (5, 4000), (9, 2000)])
def test_sweep_equals_whole_boards_to_the_last_bit(size, count):
    """10,000 positions with captures; on each, some moves are looked at one by one."""
    model = random_model(both(size))
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


@pytest.mark.parametrize("size", [5, 8, 9])
def test_symmetry_and_inversion_to_the_last_bit(size):
    model = random_model(both(size))
    for board in random_boards(size, 40):
        logit = model.logit(board)
        for symmetry in Symmetry:
            assert model.logit(turned(board, symmetry, invert=False)) == logit
            assert model.logit(turned(board, symmetry, invert=True)) == logit


@pytest.mark.parametrize("scale", [1e-30, 1e-6, 100.0, 1e6])
def test_weights_of_any_magnitude(scale):
    model = random_model(both(5), scale=scale)
    for board in random_boards(5, 10):
        assert model.logit(board) == pytest.approx(plain_logit(model, board), rel=1e-3, abs=scale * 1e-3)


def test_one_kind_outweighs_the_other():
    """Both kinds are counted in one unit, whichever is larger."""
    features = both(5)
    for rows in (slice(None, features.basic.size), slice(features.basic.size, None)):
        weights = random_model(features).weights.copy()
        weights[rows] *= 1e4
        model = LinearModel(features, weights)
        for board in random_boards(5, 10):
            assert model.logit(board) == pytest.approx(plain_logit(model, board), abs=0.1)


@pytest.mark.parametrize("size", [5, 9])
def test_contracts(size):
    model = random_model(both(size))
    assert isinstance(model, CompiledEvaluator)
    check_evaluator(model, games=sample_games(sizes=[size]))
    check_afterstate_evaluator(model, games=sample_games(sizes=[size]))
    check_search(AlphaBetaSearch(model), games=sample_games(sizes=[size]), limit=Limit(depth=2))


def test_hashed_liberty_shapes_go_through_active():
    for features in (both(5, ("3x2",), bins=100), both(5, SMALL, tabled=False, bins=100)):
        model = random_model(features)
        assert not isinstance(model, FusedLinearModel)
        for board in random_boards(5, 5):
            assert model.logit(board) == pytest.approx(plain_logit(model, board))
        with pytest.raises(ValueError, match="2×2 windows with liberties"):
            FusedLinearModel(features, model.weights)
