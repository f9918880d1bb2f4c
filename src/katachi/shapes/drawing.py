"""The shapes that a model cares most about: the largest weights of each of its sets, each with a shape to draw.

Shapes that stand for each other by symmetry are there once, drawn in the upper left corner of the board. Black is the
player who has just moved, and a weight is what one occurrence of the shape adds to the logit of Black's chance to win.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from katachi.core import drawing
from katachi.core.contracts import FeatureSet, Floats, Ints, LinearEvaluator
from katachi.go.points import BLACK, EMPTY, WHITE
from katachi.shapes.features import ShapeFeatures
from katachi.shapes.liberty import CombinedShapes
from katachi.shapes.sets import ShapeSet

if TYPE_CHECKING:
    from katachi.core.models import SavedModel

PER_SET: Final = 12
_LEAD: Final = (
    "Each picture is a shape that the model looks for, and below it what one occurrence adds to the log-odds of a win "
    "of Black, who has just moved. Where a shape has a place on the board, the corner is drawn with it, and the pale "
    "points may hold anything. LI: the shape counts the same wherever it lies. LD: at each place it has a weight of "
    "its own."
)
_LIBERTIES: Final = " A number on a stone says how many liberties its chain has outside of the shape."


def draw(saved: SavedModel[Any], request: drawing.DrawRequest) -> drawing.Drawing:
    """The largest weights of every set; in a game what the model would play."""
    if request.game is not None:
        return drawing.draw_moves(saved, request)
    model = saved.load()
    if not isinstance(model, LinearEvaluator):
        raise drawing.DrawingError(f"{request.name} has no weights of shapes")
    sets = largest_shapes(model.features, model.weights, request.per_set or PER_SET, request.only)
    title = f"What {request.name} has learned"
    return drawing.Drawing(
        title,
        _LEAD + _LIBERTIES * any(_has_liberties(learned) for row in sets for learned in row.shapes),
        tuple(drawing.Section(row.name, drawing.list_figures(row.shapes)) for row in sets),
        drawing.draw_figure(sets, title),
        drawing.show_sets(sets),
    )


def _has_liberties(learned: drawing.LearnedShape) -> bool:
    return learned.shape is not None and any(cell.liberties is not None for cell in learned.shape.cells)


def shape_parts(features: FeatureSet) -> list[tuple[ShapeFeatures, int]]:
    """The shapes that features consist of, each with its first weight; raises DrawingError if they are not shapes."""
    if isinstance(features, CombinedShapes):
        return [(features.basic, 0), (features.liberty, features.basic.size)]
    if isinstance(features, ShapeFeatures):
        return [(features, 0)]
    raise drawing.DrawingError(f"{features.name}: these are not shapes that could be drawn")


def largest_shapes(
    features: FeatureSet,
    weights: Floats,
    per_set: int = PER_SET,
    only: Sequence[str] = (),
) -> list[drawing.LearnedSet]:
    """The largest weights of every set, or of those named as in ``LI 2x2``; weights of 0 are left out.

    Raises DrawingError if there is no such set, or if the features are not shapes.
    """
    if per_set < 1:
        raise drawing.DrawingError(f"{per_set} shapes a set: there must be at least one")
    wanted = {_parse(name) for name in only}
    parts = shape_parts(features)
    missing = wanted - {shape_set for part, _ in parts for shape_set in part.sets}
    if missing:
        raise drawing.DrawingError(f"the model has no set {min(s.name for s in missing)}: it has {features.name}")
    found = []
    for part, start in parts:
        for j, shape_set in enumerate(part.sets):
            if not wanted or shape_set in wanted:
                indices = _largest(part, weights[start : start + part.size], j, per_set)
                shapes = [_learned(part, start, i, weights) for i in indices.tolist()]
                found.append(drawing.LearnedSet(set_name(part, shape_set), tuple(shapes)))
    return found


def _parse(name: str) -> ShapeSet:
    try:
        return ShapeSet.parse(name)
    except ValueError as error:
        raise drawing.DrawingError(str(error)) from None


def set_name(part: ShapeFeatures, shape_set: ShapeSet) -> str:
    """The name of a set for people: ``LI 2×2``, and what is special about its shapes."""
    name = shape_set.name.replace("x", "×")
    return name if part.states == len((EMPTY, BLACK, WHITE)) else f"{name} with liberties"


def _largest(part: ShapeFeatures, weights: Floats, j: int, count: int) -> Ints:
    """The weights of a set that are in use, the largest of either sign first; equal ones in their order."""
    start, stop = (int(offset) for offset in part.offsets[j : j + 2])
    in_use = part.sharing[0][start:stop] == np.arange(start, stop)
    candidates = start + np.flatnonzero(in_use & (weights[start:stop] != 0))
    order = np.argsort(-np.abs(weights[candidates]), kind="stable")
    return candidates[order[:count]]


def _learned(part: ShapeFeatures, start: int, index: int, weights: Floats) -> drawing.LearnedShape:
    words = part.describe(index).splitlines()[0].partition(": ")[2]
    return drawing.LearnedShape(start + index, float(weights[start + index]), words, _find_shape(part, index))


def _find_shape(part: ShapeFeatures, index: int) -> drawing.Shape | None:
    shape_set, entry = part.find_entry(index)
    return _make_shape(part, shape_set, entry) if part.is_tabled(shape_set) else None


def _make_shape(part: ShapeFeatures, shape_set: ShapeSet, entry: int) -> drawing.Shape:
    digits, x, y = part.decode(shape_set, entry)
    cells = tuple(_cell(digit, part.states_per_color) for digit in digits)
    place = (x, y) if shape_set.is_dependent else None
    return drawing.Shape(shape_set.width, shape_set.height, cells, part.board_size, place)


def _cell(digit: int, per_color: int) -> drawing.Cell:
    """The state of a cell: a stone by its color and then, where there are several states of a color, its liberties."""
    if digit == 0:
        return drawing.Cell(EMPTY)
    color, liberties = divmod(digit - 1, per_color)
    return drawing.Cell((BLACK, WHITE)[color], liberties if per_color > 1 else None)
