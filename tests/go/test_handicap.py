from __future__ import annotations

import pytest

from katachi.go.points import fixed_handicap_points, format_vertex, free_handicap_points, max_fixed_handicap

# The table in section 4.1.1 of the GTP 2 specification.
GTP_19 = {
    2: "D4 Q16",
    3: "D4 Q16 D16",
    4: "D4 Q16 D16 Q4",
    5: "D4 Q16 D16 Q4 K10",
    6: "D4 Q16 D16 Q4 D10 Q10",
    7: "D4 Q16 D16 Q4 D10 Q10 K10",
    8: "D4 Q16 D16 Q4 D10 Q10 K4 K16",
    9: "D4 Q16 D16 Q4 D10 Q10 K4 K16 K10",
}


@pytest.mark.parametrize("stones", GTP_19)
def test_fixed_places_are_gtps(stones: int) -> None:
    vertices = {format_vertex(point, 19) for point in fixed_handicap_points(19, stones)}
    assert vertices == set(GTP_19[stones].split())


@pytest.mark.parametrize(("size", "corner"), [(9, "C3"), (13, "D4"), (8, "C3")])
def test_the_distance_from_the_edge_depends_on_the_size(size: int, corner: str) -> None:
    assert corner in {format_vertex(point, size) for point in fixed_handicap_points(size, 2)}


@pytest.mark.parametrize(("size", "most"), [(6, 0), (7, 4), (8, 4), (9, 9), (18, 4), (19, 9)])
def test_how_many_stones_have_places(size: int, most: int) -> None:
    assert max_fixed_handicap(size) == most
    for stones in (1, most + 1):
        with pytest.raises(ValueError, match="handicap stones"):
            fixed_handicap_points(size, stones)


@pytest.mark.parametrize(("size", "stones"), [(2, 2), (5, 4), (7, 6), (9, 13), (19, 25), (3, 8)])
def test_free_places_are_as_many_points_as_asked(size: int, stones: int) -> None:
    assert len(set(free_handicap_points(size, stones))) == stones


@pytest.mark.parametrize("stones", [0, 1, 81])
def test_too_few_or_too_many_free_stones(stones: int) -> None:
    with pytest.raises(ValueError, match="do not fit"):
        free_handicap_points(9, stones)
