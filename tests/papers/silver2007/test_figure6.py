from __future__ import annotations

import json

import numpy as np
import pytest

from katachi.core.cards import Training
from katachi.core.drawing import Cell, Shape
from katachi.core.linear import LinearModel, describe_linear, save_linear
from katachi.go.rules import Rules
from katachi.papers.documents import format_section
from katachi.papers.silver2007 import figures as figure6
from katachi.papers.silver2007.figure4 import UP_TO_3X3, cuts, makes_two_eyes, matches
from katachi.shapes.features import LocalShapes
from katachi.shapes.sets import ShapeSet


def shape(*lines: str, place: tuple[int, int] | None = (0, 0)) -> Shape:
    cells = tuple(Cell({".": 0, "X": 1, "O": -1}[mark]) for line in lines for mark in line)
    return Shape(len(lines[0]), len(lines), cells, 9, place)


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (("OX.", "XO."), True),
        (("O.O", ".X."), False),
        (("OXO", "..."), True),
        (("OXO", "OOO"), False),
        (("XOX", "..."), True),
        (("XX.", "OO."), False),
    ],
)
def test_cutting_shapes(lines, expected):
    assert cuts(shape(*lines)) is expected


@pytest.mark.parametrize(
    ("lines", "place", "expected"),
    [
        ((".X.", "XX.", "..."), (0, 0), False),  # one eye
        ((".X.", "X.X", ".X."), (0, 0), True),
        ((".O.", "O.O", ".O."), (0, 0), True),
        ((".X.", "X.O", ".X."), (0, 0), False),
        ((".X.", "X.X", ".X."), (1, 0), False),
        ((".X.", "XXX", ".X."), (0, 0), False),  # what lies below the last line is not known
    ],
)
def test_two_eyes_in_the_corner(lines, place, expected):
    assert makes_two_eyes(shape(*lines, place=place)) is expected


def test_matching_shapes_lie_in_the_corner_or_anywhere():
    assert matches(shape("X."), (1, 0))
    assert matches(shape("X.", place=None), (1, 0))
    assert not matches(shape("X.", place=(1, 0)), (1, 0))
    assert not matches(shape(".X"), (1, 0))


@pytest.fixture
def model(tmp_path, monkeypatch):
    """A model with weights that can be told apart, in the place of the shipped one."""
    features = LocalShapes(9, [ShapeSet.parse(name) for name in UP_TO_3X3])
    weights = np.random.default_rng(1).normal(size=features.size).astype(np.float32)
    linear = LinearModel(features, weights)
    save_linear(tmp_path / "model", linear, describe_linear(linear, Rules(komi=7.5), Training(games=1234), {}))
    monkeypatch.setattr(figure6, "MODEL", str(tmp_path / "model"))
    return linear


def test_the_largest_weights_and_those_spoken_of(model, tmp_path):
    results = json.loads(json.dumps(figure6.Figure6().measure(None)))
    assert [found["name"] for found in results["sets"]] == [name.replace("x", "×") for name in UP_TO_3X3]
    assert [len(found["shapes"]) for found in results["sets"]] == [3, 6, 10, 10, 10, *[10] * 5]
    for found in results["sets"]:
        sizes = [abs(one["weight"]) for one in found["shapes"]]
        assert sizes == sorted(sizes, reverse=True)
    start = int(model.features.offsets[UP_TO_3X3.index("LI 2x1")])
    both = start + 1 + 3  # two stones of who has just moved, in base 3
    assert results["spoken of"]["two connected stones anywhere"] == pytest.approx(model.weights[both], abs=1e-4)
    text = format_section(figure6.Figure6(), results, tmp_path / "pictures")
    assert "1,234 games" in text
    assert (tmp_path / "pictures" / "figure6.svg").read_text().startswith("<svg")
    by_id = {row.id: row for row in figure6.Figure6().rows(results)}
    assert by_id["figure6/connected"].ours == results["spoken of"]["two connected stones anywhere"]
    assert by_id["figure6/eyes"].published == 3
