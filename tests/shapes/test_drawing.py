from __future__ import annotations

import numpy as np
import pytest

from katachi.core.drawing import Cell, DrawingError, DrawRequest, Shape
from katachi.core.models import find_model, open_model
from katachi.go.points import BLACK, WHITE
from katachi.shapes.drawing import draw, largest_shapes
from katachi.shapes.features import LocalShapes
from katachi.shapes.liberty import CombinedShapes, LibertyShapes
from katachi.shapes.sets import ShapeSet


def sets(*names):
    return [ShapeSet.parse(name) for name in names]


LOCAL = LocalShapes(5, sets("LI 2x1", "LD 1x1", "LI 4x3"), bins=50)
LIBERTY = LibertyShapes(5, sets("LI 1x1", "LD 2x1"), tabled=True)


def test_largest_of_either_sign_come_first():
    weights = np.zeros(LOCAL.size, dtype=np.float32)
    weights[[1, 2, 4, 8]] = 0.1, -0.5, 0.3, 0.5  # X ., O ., X X, O O
    (found,) = largest_shapes(LOCAL, weights, per_set=3, only=["li 2x1"])
    assert found.name == "LI 2×1"
    assert [(shape.index, round(shape.weight, 3)) for shape in found.shapes] == [(2, -0.5), (8, 0.5), (4, 0.3)]
    assert found.shapes[1].shape == Shape(2, 1, (Cell(WHITE), Cell(WHITE)), 5)
    assert found.shapes[1].words == "two stones of the opponent, anywhere"


def test_what_symmetry_makes_equal_is_there_once():
    """A weight that another stands for is passed over, and so is one of 0."""
    weights = np.ones(LOCAL.size, dtype=np.float32)
    weights[0] = 0
    (found,) = largest_shapes(LOCAL, weights, per_set=100, only=["LI 2x1"])
    assert [shape.index for shape in found.shapes] == [1, 2, 4, 5, 8]  # of XO and OX, of X. and .X one each


def test_places_are_distances_from_the_corner():
    weights = np.zeros(LOCAL.size, dtype=np.float32)
    start = int(LOCAL.offsets[1])
    weights[start + 3 * 5 + 1] = 2.0  # class 5 of 3 × 3: x = 2, y = 1
    used = int(LOCAL.sharing[0][start + 3 * 5 + 1])
    weights[used] = 2.0
    shape = largest_shapes(LOCAL, weights, only=["LD 1x1"])[0].shapes[0].shape
    assert shape == Shape(1, 1, (Cell(BLACK),), 5, place=(2, 1))


def test_bins_have_no_shape():
    (found,) = largest_shapes(LOCAL, np.ones(LOCAL.size, dtype=np.float32), 1, ["LI 4x3"])
    assert found.shapes[0].shape is None
    assert found.shapes[0].words == "the shapes in bin 0 of 50"


def test_liberty_shapes_carry_liberties():
    weights = np.zeros(LIBERTY.size, dtype=np.float32)
    weights[[1, 6]] = 1, -2
    one, _ = largest_shapes(LIBERTY, weights)
    assert one.name == "LI 1×1 with liberties"
    assert [shape.shape.cells for shape in one.shapes] == [(Cell(WHITE, 2),), (Cell(BLACK, 0),)]


def test_combined_shapes_have_the_sets_of_both():
    features = CombinedShapes(LocalShapes(5, sets("LI 1x1")), LIBERTY)
    weights = np.zeros(features.size, dtype=np.float32)
    weights[[1, 3 + 2]] = 1, 3
    found = largest_shapes(features, weights)
    assert [row.name for row in found] == ["LI 1×1", "LI 1×1 with liberties", "LD 2×1 with liberties"]
    assert found[0].shapes[0].shape.cells == (Cell(BLACK),)
    assert (found[1].shapes[0].index, found[1].shapes[0].shape.cells) == (5, (Cell(BLACK, 1),))
    assert found[2].shapes == ()


@pytest.mark.parametrize(("name", "has_liberties"), [("shapes-5", False), ("shapes-liberties-9", True)])
def test_numbers_on_stones_are_explained_where_there_are_any(name, has_liberties):
    drawing = draw(open_model(find_model(name)), DrawRequest(name, per_set=3))
    assert drawing.title == f"What {name} has learned"
    assert ("liberties" in drawing.lead) == has_liberties
    assert all(len(section.figures) == 3 for section in drawing.sections)


def test_what_cannot_be_drawn():
    weights = np.ones(LOCAL.size, dtype=np.float32)
    for only, reason in ((["LI 3x3"], "has no set LI 3x3"), (["big"], "not a set of shapes")):
        with pytest.raises(DrawingError, match=reason):
            largest_shapes(LOCAL, weights, only=only)
    with pytest.raises(DrawingError, match="at least one"):
        largest_shapes(LOCAL, weights, 0)

    class Other:
        name = "other features"

    with pytest.raises(DrawingError, match="other features: these are not shapes"):
        largest_shapes(Other(), weights)
