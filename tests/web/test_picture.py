"""What is drawn: a table as a picture, layers as spots, curves as a chart. Nothing from a file becomes markup."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from katachi.core.drawing import Layer
from katachi.go.points import BLACK, EMPTY, WHITE
from katachi.go.scoring import estimate_status
from katachi.sgf import parse_sgf
from katachi.web.game_page import draw_layer, gradient_of
from katachi.web.table import Look, Seats, Table, TableSettings, Tool, draw_table
from katachi.web.widgets import Curve, draw_chart


def table(text: str, place: list[int]) -> Table:
    made = Table(TableSettings(size=5), parse_sgf(text)[0])
    made.opened.follow(place)
    return made


def test_a_position_with_its_last_move_and_whose_turn_it_is():
    picture = draw_table(table("(;SZ[5];B[cc];W[dd])", [0, 0]), Look())
    assert np.flatnonzero(picture.stones).tolist() == [12, 18]
    assert (picture.last, picture.ghost) == (18, BLACK)
    assert picture.description == "5×5 board, move 2: White D2"


def test_numbers_take_the_place_of_the_last_move():
    picture = draw_table(table("(;SZ[5];B[cc];W[dd])", [0, 0]), Look(numbers=True))
    assert picture.labels == {12: "1", 18: "2"}
    assert picture.last is None


def test_variations_have_letters_and_labels_of_the_record_win():
    picture = draw_table(table("(;SZ[5]LB[bb:x](;B[cc])(;B[bb])(;B[]))", []), Look())
    assert picture.labels == {12: "a", 6: "x"}


def test_the_ghost_is_what_a_click_would_put_there():
    made = table("(;SZ[5];B[cc])", [0])
    assert draw_table(made, Look(tool=Tool.BLACK)).ghost == BLACK
    assert draw_table(made, Look(tool=Tool.ERASE)).ghost == EMPTY
    against = Table(TableSettings(player="alp", seats=Seats.WHITE, size=5))
    assert draw_table(against, Look()).ghost == EMPTY
    against.play(12)
    assert draw_table(against, Look()).ghost == WHITE


def test_the_count_marks_empty_points_and_dead_stones():
    made = table("(;SZ[3]AB[ba][bb][bc]AW[ca];B[];W[])", [0])
    made.play(-1)
    made.mark_dead(estimate_status(made.opened.game.board))
    picture = draw_table(made, Look())
    assert picture.dead == [2]
    assert picture.marks == dict.fromkeys((0, 2, 3, 5, 6, 8), "black")


# Layers


def layer(values: list[float], low: float, high: float, style: str = "disc", labels=None) -> Layer:
    return Layer("name", "title", np.array(values), "%", low, high, labels, "legend", style)


def test_what_has_no_middle_is_discs_that_get_darker():
    under, over = draw_layer(layer([0, 50, 100, math.nan], 0, 100, labels=("0", "50", "100", "")))
    assert under == []
    assert [(spot.point, spot.text) for spot in over] == [(0, "0"), (1, "50"), (2, "100")]
    light = [sum(int(spot.color[i : i + 2], 16) for i in (1, 3, 5)) for spot in over]
    assert light == sorted(light, reverse=True)


def test_territory_is_squares_in_the_colors_of_the_stones():
    _, over = draw_layer(layer([1, -1, 0.25, 0.01], -1, 1, style="square"))
    assert [spot.point for spot in over] == [0, 1, 2]
    assert over[0].color != over[1].color
    assert over[0].half == over[1].half > over[2].half


def test_what_else_has_a_middle_is_a_tint_below_the_stones():
    under, over = draw_layer(layer([1, -1, 0.5, math.nan], -1, 1, style="tint"))
    assert over == []
    assert [spot.opacity for spot in under] == [0.75, 0.75, 0.375]
    assert under[0].color == under[2].color != under[1].color


@pytest.mark.parametrize(("low", "high", "style"), [(0, 1, "disc"), (-1, 1, "square"), (-1, 1, "tint")])
def test_the_legend_shows_the_colors_of_the_scale(low, high, style):
    made = layer([low, high], low, high, style)
    under, over = draw_layer(made)
    for spot in (*under, *over):
        assert spot.color in gradient_of(made)


def test_a_chart_escapes_what_it_names():
    svg = draw_chart([Curve("<script>", ((0.0, 0.0), (10.0, 1.0)))])
    assert "<script>" not in svg
    assert re.search(r'd="M54\.0 238\.0L480\.0 38\.0"', svg)
    assert "&lt;script&gt; 100 %" in svg
