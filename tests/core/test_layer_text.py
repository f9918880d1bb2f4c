"""Layers in the terminal: colored where they have values, and in words for those who see no colors."""

from __future__ import annotations

import numpy as np

from katachi.core.drawing import Layer, describe_layer, format_board
from katachi.go.board import Board


def layer(values: dict[int, float]) -> Layer:
    filled = np.full(9, np.nan)
    for point, value in values.items():
        filled[point] = value
    return Layer("territory", "Territory", filled, "", -1.0, 1.0, None, "Whose.")


def test_points_are_colored_with_the_gap_before_them():
    text = format_board(Board(3), None, layer({0: 1.0, 5: -1.0, 8: 0.05}))
    colored = [(text.plain[span.start : span.end], span.start) for span in text.spans if " on #" in str(span.style)]
    lines = text.plain.splitlines(keepends=True)
    first, last = sum(map(len, lines[:1])) + 1, sum(map(len, lines[:2])) + 5
    assert colored == [(" .", first), (" .", last)]  # what is near the middle is left as it is


def test_colors_say_whose_it_is():
    text = format_board(Board(3), None, layer({0: 1.0, 1: -1.0}))
    styles = [str(span.style) for span in text.spans if " on #" in str(span.style)]
    assert [style.split()[0] for style in styles] == ["white", "black"]  # the ink on dark blue, and on pale yellow


def test_without_a_layer_it_is_the_board():
    board = Board.parse(". X . / . O . / . . .")
    assert format_board(board, 1).plain.startswith("  A B C\n3 .(X). 3\n")


def test_numbers_farthest_from_nothing_come_first():
    assert describe_layer(layer({0: 0.25, 4: -1.0}), 3) == "Territory: B2 -1.00, A3 +0.25\nWhose."
    assert describe_layer(layer({}), 3) == "Territory: nothing\nWhose."
