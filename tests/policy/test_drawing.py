"""Sheets of planes: well formed, a board for each plane, and marks where the plane has points."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import pytest

from katachi.core.drawing import CORNER_CELL, MARGIN
from katachi.go.board import Board
from katachi.policy.planes import PLANES, draw_planes

SVG = "{http://www.w3.org/2000/svg}"
BOARD = Board.parse(". X O / X O . / . . .")


@pytest.mark.parametrize("planes", PLANES.values(), ids=lambda planes: planes.name)
def test_every_plane_is_drawn_with_its_points(planes):
    sheet = ElementTree.fromstring(draw_planes(planes, BOARD))
    encoded = planes.encode([BOARD])[0]
    marks = [path.get("d") for path in sheet.iter(f"{SVG}path") if path.get("class") == "marks"]
    assert [path.count("M") for path in marks] == encoded.sum(axis=(1, 2)).tolist()
    names = [text.text for text in sheet.iter(f"{SVG}text")][1:]
    assert names == [f"{plane} {name}" for plane, name in enumerate(planes.names)]


def test_the_board_is_drawn_once_and_used_by_all():
    sheet = ElementTree.fromstring(draw_planes(PLANES["maddison-36"], BOARD))
    assert len(list(sheet.iter(f"{SVG}circle"))) == 4
    _stones, board = sheet.iter(f"{SVG}defs")
    assert {use.get("href") for use in sheet.iter(f"{SVG}use")} == {f"#{board[0].get('id')}"}
    assert len(list(sheet.iter(f"{SVG}use"))) == 36


def test_a_mark_lies_around_its_point():
    """The two stones in atari stand side by side at the top; a mark begins 0.3 cells left of its point and above."""
    planes = PLANES["maddison-9"]
    sheet = ElementTree.fromstring(draw_planes(planes, BOARD))
    marks = [path.get("d") for path in sheet.iter(f"{SVG}path") if path.get("class") == "marks"]
    first, second, top = (CORNER_CELL * (MARGIN + line - 0.3) for line in (1, 2, 0))
    drawn = marks[planes.names.index("liberties: 1")]
    assert drawn.startswith(f"M{first:g} {top:g}h")
    assert f"zM{second:g} {top:g}h" in drawn
