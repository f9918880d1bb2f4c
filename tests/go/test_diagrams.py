from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from katachi.go.board import Board
from katachi.go.diagrams import STONE_FILLS, Diagram, draw_svg, format_diagram, parse_diagram, star_points
from katachi.go.points import BLACK, WHITE, format_vertex, parse_vertex


@given(st.integers(1, 19), st.randoms(use_true_random=False), st.sampled_from([BLACK, WHITE]))
def test_text_parses_back(size: int, random, to_play: int) -> None:
    stones = parse_diagram("/".join("".join(random.choices(".XO", k=size)) for _ in range(size))).stones
    ko = random.choice([None, *range(size * size)])
    back = parse_diagram(format_diagram(Diagram(size, stones, to_play, ko), last_move=random.randrange(size * size)))
    assert (back.size, back.to_play, back.ko_point) == (size, to_play, ko)
    assert back.stones.tolist() == stones.tolist()


def test_a_board_prints_as_something_to_paste() -> None:
    board = Board.parse(". X O / X O O / . X .")
    assert eval(repr(board), {"Board": Board}) == board


@pytest.mark.parametrize("text", ["", ". X / O", "..X / ... / ..", ". Y / . .", "X" * 20])
def test_what_is_no_board(text: str) -> None:
    with pytest.raises(ValueError, match="board"):
        parse_diagram(text)


@pytest.mark.parametrize(
    ("size", "vertices"),
    [(9, "C3 C7 E5 G3 G7"), (13, "D4 D10 G7 K4 K10"), (8, "C3 C6 F3 F6"), (5, "C3"), (4, "")],
)
def test_star_points(size: int, vertices: str) -> None:
    assert {format_vertex(point, size) for point in star_points(size)} == set(vertices.split())


def test_nineteen_lines_have_nine_star_points() -> None:
    assert len(star_points(19)) == 9


def test_the_picture_shows_each_stone_label_and_the_last_move() -> None:
    diagram = parse_diagram(". X O / X . O / . X .")
    svg = draw_svg(diagram, last_move=parse_vertex("B3", 3), labels={4: "<&>"})
    root = ElementTree.fromstring(svg)
    circles = root.findall("{*}circle")
    assert [circle.get("fill") for circle in circles].count(STONE_FILLS[BLACK]) == 3
    assert [circle.get("fill") for circle in circles].count(STONE_FILLS[WHITE]) == 2
    small = ElementTree.fromstring(draw_svg(diagram, cell=10, coordinates=False))
    assert (len(small.findall("{*}circle")), small.findall("{*}text")) == (6, [])
    assert circles[-1].get("stroke") == "#fafafa"
    assert "<&>" in [text.text for text in root.findall("{*}text")]
