from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from katachi.go.points import (
    MAX_SIZE,
    PASS,
    Symmetry,
    check_size,
    format_sgf_point,
    format_vertex,
    parse_color,
    parse_sgf_point,
    parse_vertex,
)

sizes = st.integers(2, MAX_SIZE)
symmetries = st.sampled_from(Symmetry)


@given(sizes, st.data())
def test_texts_parse_back(size: int, data: st.DataObject) -> None:
    point = data.draw(st.integers(0, size * size - 1))
    assert parse_vertex(format_vertex(point, size), size) == point
    assert parse_sgf_point(format_sgf_point(point, size), size) == point


@pytest.mark.parametrize(
    ("vertex", "size", "point"), [("A1", 19, 342), ("T19", 19, 18), ("j9", 9, 8), ("Q16", 19, 72), ("pass", 9, PASS)]
)
def test_vertices_leave_out_the_letter_i_and_count_from_below(vertex: str, size: int, point: int) -> None:
    assert parse_vertex(vertex, size) == point


@pytest.mark.parametrize("vertex", ["", "I5", "A0", "A10", "K1", "5A", "A", "A-1", "A1 ", "Ａ1", "A١", "resign"])
def test_what_is_no_vertex_of_a_9x9_board(vertex: str) -> None:
    with pytest.raises(ValueError, match=r"vertex|off the"):
        parse_vertex(vertex, 9)


@pytest.mark.parametrize("text", ["", "a", "aaa", "ja", "aj", "tt", "AA", "a1"])
def test_what_is_no_sgf_point_of_a_9x9_board(text: str) -> None:
    with pytest.raises(ValueError, match="not a point"):
        parse_sgf_point(text, 9)


@pytest.mark.parametrize("text", ["", "bl", "x", "1"])
def test_what_is_no_color(text: str) -> None:
    with pytest.raises(ValueError, match="black or white"):
        parse_color(text)


@pytest.mark.parametrize("size", [0, -3, 20])
def test_sizes_that_do_not_exist(size: int) -> None:
    with pytest.raises(ValueError, match="not between"):
        check_size(size)


def test_a_quarter_turn_is_clockwise_and_a_mirror_swaps_left_and_right() -> None:
    assert Symmetry.TURN_90.points(2).tolist() == [1, 3, 0, 2]
    assert Symmetry.MIRROR.points(2).tolist() == [1, 0, 3, 2]


def test_the_eight_symmetries_differ() -> None:
    assert len({tuple(symmetry.points(3)) for symmetry in Symmetry}) == 8


@given(symmetries, symmetries, sizes)
def test_symmetries_compose(first: Symmetry, second: Symmetry, size: int) -> None:
    one_by_one = second.points(size)[first.points(size)]
    assert (first.then(second).points(size) == one_by_one).all()


@given(symmetries, sizes)
def test_grids_are_transformed_as_points_are(symmetry: Symmetry, size: int) -> None:
    grids = np.arange(3 * size**2).reshape(3, size, size)
    transformed = symmetry.transform(grids)
    assert (transformed.reshape(3, -1)[:, symmetry.points(size)] == grids.reshape(3, -1)).all()
    assert (symmetry.inverse.transform(transformed) == grids).all()


@given(symmetries, sizes, st.data())
def test_the_inverse_takes_every_move_back(symmetry: Symmetry, size: int, data: st.DataObject) -> None:
    move = data.draw(st.integers(PASS, size * size - 1))
    assert symmetry.inverse.apply(symmetry.apply(move, size), size) == move
    assert symmetry.then(symmetry.inverse) is Symmetry.IDENTITY
