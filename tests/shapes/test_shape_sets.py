"""The numbers of the paper: how many local shapes there are."""

from __future__ import annotations

import pytest

from katachi.features.windows import PAPER_SIZES
from katachi.shapes.sets import Location, ShapeSet, is_hashed

H = 100_000
# Silver et al. 2007, Figure 3, on 5×5: size, active, weights of the LI set, of the LD set.
FIGURE_3 = [
    ("1x1", 25, 3, 27),
    ("2x1", 40, 9, 54),
    ("2x2", 16, 81, 324),
    ("3x2", 24, 729, 2_916),
    ("3x3", 9, 19_683, 78_732),
    ("4x3", 12, H, H),
    ("4x4", 4, H, H),
    ("5x4", 4, H, H),
    ("5x5", 1, H, H),
]
# Different shapes: LI, LD on 5×5, LD on 9×9, and with inverse shapes counted once LI and LD on 9×9.
DISTINCT = [
    ("1x1", 3, 18, 45, 2, 30),
    ("2x1", 6, 54, 180, 4, 100),
    ("2x2", 21, 189, 702, 13, 358),
    ("3x2", 216, 2_268, 10_368, 116, 5_200),
    ("3x3", 2_862, 23_274, 123_147, 1_444, 61_630),
    ("4x3", 134_865, 800_442, 5_589_972, 67_625, 2_795_052),
    ("4x4", 5_398_083, 21_552_885, 193_798_818, 2_700_373, 96_899_958),
]


def sets(size: str) -> tuple[ShapeSet, ShapeSet]:
    return ShapeSet.parse(f"LI {size}"), ShapeSet.parse(f"LD {size}")


@pytest.mark.parametrize(("size", "active", "independent", "dependent"), FIGURE_3)
def test_figure_3(size: str, active: int, independent: int, dependent: int) -> None:
    li, ld = sets(size)
    assert li.active_count(5) == ld.active_count(5) == active
    assert (li.allocated(5), ld.allocated(5)) == (independent, dependent)


@pytest.mark.parametrize(("size", "anywhere", "on_5", "on_9", "tied_anywhere", "tied_on_9"), DISTINCT)
def test_different_shapes(size: str, anywhere: int, on_5: int, on_9: int, tied_anywhere: int, tied_on_9: int) -> None:
    li, ld = sets(size)
    assert (li.distinct(5), li.distinct(9)) == (anywhere, anywhere)
    assert (ld.distinct(5), ld.distinct(9)) == (on_5, on_9)
    assert (li.distinct(9, tied=True), ld.distinct(9, tied=True)) == (tied_anywhere, tied_on_9)


def test_a_shape_as_large_as_the_board_has_one_place() -> None:
    li, ld = sets("5x5")
    assert li.distinct(5) == ld.distinct(5) == 105_918_450_471


def test_shapes_are_hashed_from_4x3_on() -> None:
    assert [size for size in PAPER_SIZES if is_hashed(*size)] == [(4, 3), (4, 4), (5, 4), (5, 5)]


def test_the_partial_order_gives_the_cumulative_sets_of_the_paper() -> None:
    everything = [ShapeSet(width, height, location) for width, height in PAPER_SIZES for location in Location]
    for rank, (width, height) in enumerate(PAPER_SIZES, start=1):
        li, ld = (ShapeSet(width, height, location) for location in Location)
        assert sum(other.is_as_general_as(li) for other in everything) == rank
        assert sum(other.is_as_general_as(ld) for other in everything) == 2 * rank
    small_but_placed, large_but_anywhere = ShapeSet.parse("LD 1x1"), ShapeSet.parse("LI 2x2")
    assert not small_but_placed.is_as_general_as(large_but_anywhere)
    assert not large_but_anywhere.is_as_general_as(small_but_placed)


def test_names_parse_back() -> None:
    for width, height in PAPER_SIZES:
        for location in Location:
            shape_set = ShapeSet(width, height, location)
            assert ShapeSet.parse(shape_set.name) == shape_set
    assert ShapeSet.parse("li 3x2").name == "LI 3x2"


@pytest.mark.parametrize("text", ["", "LI", "LI 3", "LX 3x2", "LI 2x3", "LI 6x6", "LI 0x0", "LI axb", "LI 3x2 3x2"])
def test_what_is_no_set_is_refused_in_one_sentence(text: str) -> None:
    with pytest.raises(ValueError, match="is not a set of shapes") as error:
        ShapeSet.parse(text)
    assert "\n" not in str(error.value)
