"""Sheets of point inputs and of influence: a picture for each, and marks as large as the numbers."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from katachi.features.influence import INFLUENCES, map_influence
from katachi.go.board import Board
from katachi.go.points import BLACK
from katachi.territory.evaluator import draw_influence, draw_point_inputs
from katachi.territory.inputs import PointInputs, Propensity

SVG = "{http://www.w3.org/2000/svg}"
BOARD = Board.parse(". X . / X O . / . . .")
INPUTS = PointInputs(neighborhood=5)


def read_sheet(svg: str) -> dict[str, dict[str, str]]:
    """The pictures of a sheet by their captions: their paths by class."""
    pictures = {}
    for group in ElementTree.fromstring(svg).iter(f"{SVG}g"):
        captions = group.findall(f"{SVG}text")
        if captions and captions[0].get("class") is None:
            paths = group.iter(f"{SVG}path")
            pictures[str(captions[0].text)] = {str(path.get("class")): str(path.get("d")) for path in paths}
    return pictures


def test_everything_that_is_told_of_a_point_is_drawn_once():
    sheet = read_sheet(draw_point_inputs(INPUTS, BOARD))
    (encoded,) = INPUTS.encode([BOARD])
    assert len(sheet) == 21
    assert "black: above" not in sheet
    for name, paths in sheet.items():
        marked = np.count_nonzero(encoded[:, INPUTS.names.index(name)])
        assert paths["marks"].count("M") == marked, name


def test_white_points_are_drawn_as_negative():
    propensity = Propensity()
    propensity.count([BOARD], np.array([[-1, *[BLACK] * 8]], dtype=np.int8))
    drawn = read_sheet(draw_point_inputs(INPUTS, BOARD, propensity.table()))["propensity"]
    assert (drawn["marks"].count("M"), drawn["negative"].count("M")) == (8, 1)


def test_marks_are_as_large_as_numbers():
    """All three stones have two of eight liberties, a quarter: half the side of what stands for 1."""
    drawn = read_sheet(draw_point_inputs(INPUTS, BOARD))
    (one,) = sides(drawn["white"]["marks"])
    assert sides(drawn["liberties of order 1"]["marks"]) == pytest.approx([one / 2] * 3)


def sides(path: str) -> list[float]:
    return [float(mark.split("h")[1].split("v")[0]) for mark in path.split("z")[:-1]]


def test_influence_by_every_rule():
    sheet = read_sheet(draw_influence(BOARD))
    assert list(sheet) == list(INFLUENCES)
    for name, paths in sheet.items():
        black, white = map_influence(BOARD, INFLUENCES[name])
        assert paths["marks"].count("M") == np.count_nonzero(black > white)
        assert paths.get("negative", "").count("M") == np.count_nonzero(black < white)
