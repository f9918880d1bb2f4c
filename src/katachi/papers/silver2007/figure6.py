"""Figure 6: the ten shapes of largest weight in each set of the basic agent, and what the paper reads in them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

from katachi.core.disk import write_atomically
from katachi.core.drawing import Cell, LearnedSet, LearnedShape, Shape, draw_figure
from katachi.core.models import find_model, load_linear
from katachi.papers.experiment import Json, Row, Scope, Table
from katachi.papers.silver2007.figure4 import UP_TO_3X3, cuts, makes_two_eyes, matches
from katachi.shapes.drawing import largest_shapes
from katachi.shapes.model import LinearModel

NAME: Final = "figure6"
RUN: Final = f"silver2007/{NAME}"
MODEL: Final = "shapes-9"
PER_SET: Final = 10


# Weights that the paper speaks of: the set, and the stones with those of the corner first. 1 is who has just moved.
_SPOKEN_OF: Final = {
    "a stone in the corner": ("LD 2x1", (1, 0)),
    "a stone beside the empty corner": ("LD 2x1", (0, 1)),
    "two connected stones anywhere": ("LI 2x1", (1, 1)),
    "one stone in the corner, 1×1": ("LD 1x1", (1,)),
    "two connected stones in the corner": ("LD 2x1", (1, 1)),
}


def measure(scope: Scope) -> Json:  # noqa: ARG001 — reading weights takes no budget
    """The largest weights of the shipped model, and those that the paper speaks of."""
    model, card = load_linear(find_model(MODEL))
    largest = largest_shapes(model.features, model.weights, PER_SET, only=UP_TO_3X3)
    return {
        "model": MODEL,
        "trained on": card.training.games,
        "sets": [_to_json(learned) for learned in largest],
        "spoken of": {words: _weight(model, name, stones) for words, (name, stones) in _SPOKEN_OF.items()},
    }


def _weight(model: LinearModel, name: str, stones: Sequence[int]) -> float:
    """The weight of a shape; a shape that never occurred has 0."""
    (learned,) = largest_shapes(model.features, model.weights, model.weights.size, only=(name,))
    found = (one.weight for one in learned.shapes if one.shape is not None and matches(one.shape, stones))
    return round(next(found, 0.0), 5)


def _to_json(learned: LearnedSet) -> Json:
    shapes = [_shape_to_json(one, one.shape) for one in learned.shapes if one.shape is not None]
    return {"name": learned.name, "shapes": shapes}


def _shape_to_json(learned: LearnedShape, shape: Shape) -> Json:
    return {
        "index": learned.index,
        "weight": round(learned.weight, 5),
        "words": learned.words,
        "width": shape.width,
        "stones": [cell.stone for cell in shape.cells],
        "place": shape.place,
        "board_size": shape.board_size,
    }


def _from_json(learned: Json) -> LearnedSet:
    return LearnedSet(learned["name"], tuple(_shape_from_json(one) for one in learned["shapes"]))


def _shape_from_json(one: Json) -> LearnedShape:
    cells = tuple(Cell(stone) for stone in one["stones"])
    place = None if one["place"] is None else (one["place"][0], one["place"][1])
    shape = Shape(one["width"], len(cells) // one["width"], cells, one["board_size"], place)
    return LearnedShape(one["index"], one["weight"], one["words"], shape)


def rows(results: Json) -> list[Row]:
    """What the paper reads in its figure, asked of ours."""
    return [
        Row(f"{NAME}/{slug}", what, published, ours, None, RUN) for slug, what, published, ours in _readings(results)
    ]


def _readings(results: Json) -> Iterator[tuple[str, str, str | float, float]]:
    weights, sets = results["spoken of"], {one.name: one for one in map(_from_json, results["sets"])}
    yield "corner", "weight of a stone in the corner, LD 2×1", "bad", weights["a stone in the corner"]
    yield (
        "around",
        "weight of a stone beside the empty corner, LD 2×1",
        "good",
        weights["a stone beside the empty corner"],
    )
    yield "connected", "weight of two connected stones, LI 2×1", "powerful", weights["two connected stones anywhere"]
    one, two = weights["one stone in the corner, 1×1"], weights["two connected stones in the corner"]
    yield "one", "weight of one stone in the corner, LD 1×1", "bad", one
    yield "two", "weight of two connected stones in the corner, LD 2×1", "twice as bad as one", two
    yield "cuts", f"shapes that cut among the {PER_SET} of LI 3×2", "shown", _count(sets["LI 3×2"], cuts)
    yield (
        "eyes",
        f"shapes with two eyes in the corner among the {PER_SET} of LD 3×3",
        3,
        _count(sets["LD 3×3"], makes_two_eyes),
    )


def _count(learned: LearnedSet, question: Callable[[Shape], bool]) -> int:
    return sum(one.shape is not None and question(one.shape) for one in learned.shapes)


def section(results: Json, pictures: Path) -> str:
    """The picture, and how to read it."""
    sets = [_from_json(learned) for learned in results["sets"]]
    pictures.mkdir(parents=True, exist_ok=True)
    title = f"The {PER_SET} largest weights of each set of {results['model']}"
    write_atomically(pictures / "figure6.svg", draw_figure(sets, title) + "\n")
    return f"""
The {PER_SET} shapes with the largest weight of either sign in each set of `{results["model"]}`, which learned from
{results["trained on"]:,} games. Black is who has just moved; a weight is what one occurrence adds to the logit of
his chance to win. The sets are redundant, since a large shape contains the small ones, so a weight says what its
shape adds to theirs and not what the shape is worth; the paper settles that with its cascade, and our model learned
without. `katachi show {results["model"]}` draws the same.

![The largest weights of each set](silver2007/figure6.svg)
"""


TABLE: Final = Table(NAME, "Figure 6: the largest weights", measure, rows, section)
