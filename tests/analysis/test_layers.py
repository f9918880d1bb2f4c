"""Layers say what those who were asked said, point by point."""

from __future__ import annotations

import numpy as np
import pytest

from katachi.analysis.layers import LAYERS, LayerKind, layers_of
from katachi.core.contracts import Analysis, Candidate
from katachi.core.drawing import Layer
from katachi.core.evaluators import ValueEvaluator, WrongBoardSize
from katachi.go.game import Game
from katachi.go.points import PASS

WINS, VISITS = LAYERS["wins"], LAYERS["visits"]
ANALYSIS = Analysis(
    (Candidate(12, 0.75, 0.5, 30), Candidate(7, 0.25, 0.25, 10), Candidate(PASS, 0.1, 0.05, 5)),
    black_wins=0.7,
    ownership=np.linspace(-1, 1, 25, dtype=np.float32),
)


@pytest.fixture
def game() -> Game:
    game = Game(5)
    for move in (6, 8, 16):
        game.play(move)
    return game


def by_name(layers: list[Layer]) -> dict[str, Layer]:
    return {layer.name: layer for layer in layers}


def test_every_kind_once_and_in_order(game, shapes):
    names = [layer.name for layer in layers_of(game, ANALYSIS, {"shapes": shapes})]
    assert names == list(LAYERS) == ["wins", "policy", "visits", "territory", "influence", "shapes"]


def test_chances_are_those_of_the_player_to_move(game):
    assert game.to_play == -1
    layer = WINS.of_analysis(game, ANALYSIS)
    assert (layer.values[12], layer.values[7]) == (25.0, 75.0)
    assert np.isnan(np.delete(layer.values, [7, 12])).all()
    assert (layer.low, layer.high, layer.labels[7], layer.labels[0]) == (25.0, 75.0, "75", "")
    assert (layer.describe(7), layer.describe(0), layer.shade(7), layer.shade(0)) == ("75 %", "", 1.0, None)
    game.play(0)
    assert WINS.of_analysis(game, ANALYSIS).values[12] == 75.0


def test_what_a_tree_hardly_looked_at_has_no_win_rate(game):
    glanced = Analysis((Candidate(12, 0.5, visits=100), Candidate(7, 0.9, visits=9), Candidate(3, 0.4, visits=10)))
    assert np.flatnonzero(~np.isnan(WINS.of_analysis(game, glanced).values)).tolist() == [3, 12]
    assert VISITS.of_analysis(game, glanced).values[7] == 9


def test_an_evaluator_that_sweeps_values_every_legal_move(game, shapes):
    layer = WINS.of_evaluator(game, "shapes", shapes)
    legal = game.legal_moves()[:-1]
    assert np.array_equal(np.isnan(layer.values), ~legal)
    sweep = 100 * (1 - shapes.evaluate_afterstates(game.board)[:-1])
    assert layer.values[legal] == pytest.approx(sweep[legal])


def test_what_superko_forbids_has_no_number(shapes, game, monkeypatch):
    allowed = game.legal_moves()
    allowed[3] = False
    monkeypatch.setattr(game, "legal_moves", lambda: allowed)
    assert np.isnan(WINS.of_evaluator(game, "shapes", shapes).values[3])


def test_the_analysis_is_asked_first_and_then_the_evaluators(game, shapes):
    layers = by_name(layers_of(game, ANALYSIS, {"shapes": shapes}))
    assert layers["wins"].values[12] == 25.0
    assert layers["policy"].values[12] == 50.0
    assert layers["visits"].values[12] == 30
    assert layers["territory"].values.tolist() == ANALYSIS.ownership.astype(float).tolist()
    alone = by_name(layers_of(game, None, {"shapes": shapes}))
    assert "visits" not in alone
    policy = 100 * shapes.evaluate([game.board]).policy[0, :-1]
    shown = policy >= 0.5
    assert alone["policy"].values[shown] == pytest.approx(policy[shown])
    assert np.isnan(alone["policy"].values[~shown]).all()
    assert alone["territory"].legend.count("playouts") == 1


def test_the_shapes_sum_to_the_logit_of_black(game, shapes):
    layer = by_name(layers_of(game, None, {"shapes": shapes}))["shapes"]
    assert layer.values.sum() == pytest.approx(-game.to_play * shapes.logit(game.board), abs=1e-3)
    assert layer.is_diverging
    assert layer.high == -layer.low == np.abs(layer.values).max()


def test_influence_is_not_shown_on_stones(game):
    layer = by_name(layers_of(game))["influence"]
    assert np.array_equal(np.isnan(layer.values), game.board.stones != 0)


def test_nothing_to_tell_is_no_layer(game):
    silent = Analysis((Candidate(12),))
    assert [layer.name for layer in layers_of(game, silent)] == ["territory", "influence"]
    assert VISITS.of_analysis(game, silent) is None
    flat = ValueEvaluator(lambda boards: np.full(len(boards), 0.5, dtype=np.float32))
    wins = WINS.of_evaluator(game, "flat", flat)
    assert wins.low < wins.high == 50.0  # a scale has two ends even where all is the same


def test_a_new_kind_is_one_class(game, monkeypatch):
    before = list(LAYERS)

    class Distance(LayerKind):
        name = "center"
        title = button = "Distance from the center"
        legend = "How many lines away the center is."

        def of_game(self, game):
            row, col = np.divmod(np.arange(game.size**2), game.size)
            return self._tints(np.hypot(row - game.size // 2, col - game.size // 2))

    monkeypatch.setitem(LAYERS, "center", LAYERS.pop("center"))  # it goes with the test
    assert list(LAYERS) == [*before, "center"]
    *_, last = layers_of(game)
    assert (last.name, last.legend, last.values[12]) == ("center", "How many lines away the center is.", 0.0)


def test_a_model_for_another_size_is_an_error(shapes):
    with pytest.raises(WrongBoardSize, match="5×5 boards, not 7×7"):
        layers_of(Game(7), None, {"shapes": shapes})


@pytest.mark.parametrize(("value", "shade"), [(-2.0, 0.0), (0.0, 0.5), (0.5, 0.75), (9.0, 1.0)])
def test_values_beyond_the_scale_are_at_its_end(value, shade):
    layer = Layer("shapes", "", np.array([value]), "", -1.0, 1.0, None, "")
    assert layer.shade(0) == shade
    assert layer.describe(0) == f"{value:+.2f}"
