"""What a move changes in a linear value: every part is right, and they sum to the change of the logit."""

from __future__ import annotations

import numpy as np
import pytest

from katachi.analysis.explaining import SHAPES_LISTED, explain_change, explain_shapes, sum_by_side, whose
from katachi.core.evaluators import after, moves_of
from katachi.core.linear import LinearModel
from katachi.go.board import Board
from katachi.go.points import PASS
from katachi.shapes.features import LocalShapes
from katachi.shapes.liberty import CombinedShapes, LibertyShapes
from katachi.shapes.sets import ShapeSet


def sets(*names: str) -> list[ShapeSet]:
    return [ShapeSet.parse(name) for name in names]


FEATURES = {
    "local": LocalShapes(5, sets("LI 1x1", "LI 2x1", "LD 2x2", "LD 3x3")),
    "tied": LocalShapes(5, sets("LI 2x1", "LD 2x2"), tied=True),
    "hashed": LocalShapes(5, sets("LI 2x1", "LI 4x3"), bins=100),
    "liberty": LibertyShapes(5, sets("LI 2x1", "LD 2x2"), tabled=True),
    "combined": CombinedShapes(LocalShapes(5, sets("LI 2x2")), LibertyShapes(5, sets("LD 2x1"), tabled=True)),
}


class CountedFeatures:
    """Features of another kind, which have no places: stones of the mover, and of the opponent."""

    name = "counted"
    size = 2

    def active(self, board):
        mover = -board.to_play
        counts = np.array([(board.stones == mover).sum(), (board.stones == -mover).sum()])
        return np.flatnonzero(counts), counts[counts != 0].astype(np.float32)

    def describe(self, index):
        return ("stones of the mover", "stones of the enemy")[index]


def model_of(features) -> LinearModel:
    weights = np.random.default_rng(1).normal(size=features.size).astype(np.float32)
    return LinearModel(features, weights)


def walk(steps: int = 40):
    """A random game on 5×5, in which stones are captured: each board with a move that can be played there."""
    rng = np.random.default_rng(3)
    board = Board(5)
    for _ in range(steps):
        move = int(rng.choice(moves_of(board.legal_moves())))
        yield board, move
        board = after(board, move)


@pytest.mark.parametrize("kind", [*FEATURES, "counted"])
def test_the_parts_sum_to_the_change_of_the_logit(kind):
    model = model_of(FEATURES.get(kind) or CountedFeatures())
    captures = 0
    for board, move in walk():
        changes = explain_change(model, board, move)
        assert changes.total == pytest.approx(changes.logit_after - changes.logit_before, abs=1e-9)
        assert changes.logit_before == pytest.approx(-model.logit(board), abs=1e-3)  # fused tables are single precision
        assert changes.logit_after == pytest.approx(model.logit(after(board, move)), abs=1e-3)
        captures += (after(board, move).stones != board.stones).sum() > 1
    assert captures > 2


@pytest.mark.parametrize("kind", FEATURES)
def test_each_part_is_what_the_feature_adds(kind):
    features = FEATURES[kind]
    model = model_of(features)
    for board, move in walk():
        before, now = (_added(model, features, after(board, step)) for step in (PASS, move))
        changed = np.flatnonzero(before != now)
        listed = {change.index: (change.before, change.after) for change in explain_change(model, board, move).changes}
        assert listed == {index: (before[index], now[index]) for index in changed.tolist()}


def _added(model: LinearModel, features, board: Board) -> np.ndarray:
    """What every feature adds, on the board or not."""
    counts = np.zeros(features.size)
    indices, occurrences = features.active(board)
    counts[indices] = occurrences
    return model.weights.astype(np.float64) * counts


def test_the_largest_part_comes_first():
    changes = explain_change(model_of(FEATURES["local"]), Board(5), 12).changes
    sizes = [abs(change.change) for change in changes]
    assert sizes == sorted(sizes, reverse=True)
    assert len(sizes) > SHAPES_LISTED


def test_the_turn_is_what_a_pass_changes():
    model = model_of(FEATURES["local"])
    board = after(Board(5), 12)
    changes = explain_change(model, board, PASS)
    assert changes.changes == ()
    assert explain_change(model, board, 3).turn == changes.turn == changes.total


def test_a_shape_that_came_is_where_the_stone_is():
    features = LocalShapes(5, sets("LI 1x1"))
    came = {change.index: change for change in explain_change(model_of(features), Board(5), 7).changes}
    assert came[1].places == ((7,),)  # the mover's stone
    assert came[0].places == ((7,),)  # the empty point that went


def test_whose_shapes_changed():
    features = LocalShapes(5, sets("LI 2x1"))
    board = after(Board(5), 12)
    changes = explain_change(model_of(features), board, 13)  # beside the opponent's stone
    sides = sum_by_side(features, changes)
    assert sides.keys() == {"ours", "theirs", "both", "nobody's"}
    assert sum(sides.values()) == pytest.approx(changes.total - changes.turn, abs=1e-12)
    assert whose(CountedFeatures(), 0) == "unknown"
    assert whose(FEATURES["hashed"], FEATURES["hashed"].size - 1) == "unknown"


def test_a_record_tells_the_rest_as_one_number(shapes):
    board, move = list(walk())[12]
    told = explain_shapes("shapes", shapes, board, move)
    listed = sum(shape.after - shape.before for shape in told.shapes)
    assert len(told.shapes) == SHAPES_LISTED
    assert told.turn + listed + told.others == pytest.approx(told.logit_after - told.logit_before, abs=1e-9)
    assert told.shapes[0].shape == shapes.features.describe(explain_change(shapes, board, move).changes[0].index)
