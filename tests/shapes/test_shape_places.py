"""Every shape on a board is placed where it is, and what all of them add is spread over the points."""

from __future__ import annotations

import numpy as np
import pytest

from katachi.core.contracts import PlacedFeatures
from katachi.go.board import Board
from katachi.go.kernels.board import OFF
from katachi.go.points import BLACK, WHITE
from katachi.shapes.features import LocalShapes
from katachi.shapes.liberty import CombinedShapes, LibertyShapes
from katachi.shapes.sets import ShapeSet

BOARD = Board.parse(". X . . O / X X . O O / . . X O . / . O . . . / . X . . X\nWhite to play")
SETS = [ShapeSet.parse(name) for name in ("LI 2x1", "LD 2x2", "LD 1x1")]
LOCAL = LocalShapes(5, [*SETS, ShapeSet.parse("LI 4x3")], bins=50)
LIBERTY = LibertyShapes(5, SETS, tabled=True)
FEATURES = {"local": LOCAL, "liberty": LIBERTY, "combined": CombinedShapes(LOCAL, LIBERTY)}


@pytest.mark.parametrize("kind", FEATURES)
def test_as_many_places_as_occurrences(kind):
    features = FEATURES[kind]
    placed = features.place(BOARD)
    for index, count in zip(*features.active(BOARD), strict=True):
        assert len(placed.places_of(int(index))) == count


@pytest.mark.parametrize("kind", FEATURES)
def test_what_is_spread_is_the_whole_logit(kind):
    features = FEATURES[kind]
    weights = np.random.default_rng(1).normal(size=features.size).astype(np.float32)
    indices, occurrences = features.active(BOARD)
    spread = features.place(BOARD).spread(weights, 5)
    assert spread.sum() == pytest.approx(float(weights[indices].astype(np.float64) @ occurrences))


def test_single_points_are_where_they_are():
    features = LocalShapes(5, [ShapeSet.parse("LI 1x1")])
    placed = features.place(BOARD)
    assert placed.places_of(1) == [(point,) for point in np.flatnonzero(BOARD.stones == 1)]  # Black has just moved
    assert placed.places_of(2) == [(point,) for point in np.flatnonzero(BOARD.stones == -1)]
    weights = np.array([0, 1, -2], dtype=np.float32)
    expected = np.where(BOARD.stones == 1, 1.0, 0.0) - np.where(BOARD.stones == -1, 2.0, 0.0)
    assert placed.spread(weights, 5).tolist() == expected.tolist()


def test_a_liberty_shape_has_as_many_points_as_its_set():
    placed = LIBERTY.place(BOARD)
    areas = {len([point for point in row if point != OFF]) for row in placed.cells.tolist()}
    assert areas == {1, 2, 4}
    starts = LIBERTY.offsets
    for j, shape_set in enumerate(LIBERTY.sets):
        rows = (placed.indices >= starts[j]) & (placed.indices < starts[j + 1])
        assert ((placed.cells[rows] != OFF).sum(axis=1) == shape_set.area).all()


@pytest.mark.parametrize("kind", FEATURES)
def test_whose_stones_a_shape_has(kind):
    features = FEATURES[kind]
    assert isinstance(features, PlacedFeatures)
    for index in features.active(BOARD)[0].tolist():
        stones, words = features.stones_of(index), features.describe(index)
        drawn = words.partition("\n")[2]
        assert stones == ({BLACK if letter == "X" else WHITE for letter in drawn if letter in "XO"} if drawn else None)
