"""The shapes that a model cares most about: the largest weights of each of its sets, each with a shape to draw.

Shapes that stand for each other by symmetry are there once, drawn in the upper left corner of the board. Black is he
who has just moved, and a weight is what one occurrence of the shape adds to the logit of his chance to win.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from katachi.core.contracts import FeatureSet, Floats, Ints
from katachi.core.drawing import Cell, DrawingError, LearnedSet, LearnedShape, Shape
from katachi.go.points import BLACK, EMPTY, WHITE
from katachi.shapes.features import ShapeFeatures
from katachi.shapes.liberty import CombinedShapes
from katachi.shapes.sets import ShapeSet

PER_SET: Final = 10


def shape_parts(features: FeatureSet) -> list[tuple[ShapeFeatures, int]]:
    """The shapes that features consist of, each with its first weight; raises DrawingError if they are no shapes."""
    if isinstance(features, CombinedShapes):
        return [(features.basic, 0), (features.liberty, features.basic.size)]
    if isinstance(features, ShapeFeatures):
        return [(features, 0)]
    raise DrawingError(f"{features.name}: these are no shapes that could be drawn")


def largest_shapes(
    features: FeatureSet,
    weights: Floats,
    per_set: int = PER_SET,
    only: Sequence[str] = (),
) -> list[LearnedSet]:
    """The largest weights of every set, or of those named as in ``LI 2x2``; weights of 0 are left out.

    Raises DrawingError if there is no such set, or if the features are no shapes.
    """
    if per_set < 1:
        raise DrawingError(f"{per_set} shapes a set: there must be at least one")
    wanted = {_parse(name) for name in only}
    parts = shape_parts(features)
    missing = wanted - {shape_set for part, _ in parts for shape_set in part.sets}
    if missing:
        raise DrawingError(f"the model has no set {min(s.name for s in missing)}: it has {features.name}")
    found = []
    for part, start in parts:
        for j, shape_set in enumerate(part.sets):
            if not wanted or shape_set in wanted:
                indices = _largest(part, weights[start : start + part.size], j, per_set)
                shapes = [_learned(part, start, i, weights) for i in indices.tolist()]
                found.append(LearnedSet(set_name(part, shape_set), tuple(shapes)))
    return found


def _parse(name: str) -> ShapeSet:
    try:
        return ShapeSet.parse(name)
    except ValueError as error:
        raise DrawingError(str(error)) from None


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


def _learned(part: ShapeFeatures, start: int, index: int, weights: Floats) -> LearnedShape:
    words = part.describe(index).splitlines()[0].partition(": ")[2]
    return LearnedShape(start + index, float(weights[start + index]), words, _find_shape(part, index))


def shape_of(features: FeatureSet, index: int) -> Shape | None:
    """The shape of a feature, None where many share a bin; raises DrawingError if the features are no shapes."""
    part, start = next(found for found in reversed(shape_parts(features)) if found[1] <= index)
    return _find_shape(part, index - start)


def _find_shape(part: ShapeFeatures, index: int) -> Shape | None:
    shape_set, entry = part.find_entry(index)
    return _make_shape(part, shape_set, entry) if part.is_tabled(shape_set) else None


def _make_shape(part: ShapeFeatures, shape_set: ShapeSet, entry: int) -> Shape:
    digits, x, y = part.decode(shape_set, entry)
    cells = tuple(_cell(digit, part.states) for digit in digits)
    place = (x, y) if shape_set.is_dependent else None
    return Shape(shape_set.width, shape_set.height, cells, part.board_size, place)


def _cell(digit: int, states: int) -> Cell:
    """States are empty, then the mover's stones, then as many of the opponent's, each by its liberties."""
    if digit == 0:
        return Cell(EMPTY)
    per_color = (states - 1) // 2
    color, liberties = divmod(digit - 1, per_color)
    return Cell((BLACK, WHITE)[color], liberties if per_color > 1 else None)
