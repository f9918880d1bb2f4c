"""Figure 3: how many shapes are active and how many weights there are, for each set on 5×5."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from katachi.features.windows import PAPER_SIZES
from katachi.papers.documents import format_value, table
from katachi.papers.experiment import Json, Row, Scope, Table
from katachi.shapes.sets import Location, ShapeSet

NAME: Final = "figure3"
RUN: Final = f"silver2007/{NAME}"
_SIZE: Final = 5
_LARGER: Final = 9  # the board of the final agents
_BINS: Final = "h"

# The paper's figures: the size, n, and N for location independent and dependent sets; h is a number of bins.
PUBLISHED: Final[dict[tuple[int, int], tuple[int, int | str, int | str]]] = {
    (1, 1): (25, 3, 27),
    (2, 1): (40, 9, 54),
    (2, 2): (16, 81, 324),
    (3, 2): (24, 729, 2_916),
    (3, 3): (9, 19_683, 78_732),
    (4, 3): (12, _BINS, _BINS),
    (4, 4): (4, _BINS, _BINS),
    (5, 4): (4, _BINS, _BINS),
    (5, 5): (1, _BINS, _BINS),
}


def measure(scope: Scope) -> Json:  # noqa: ARG001 — counting takes no budget
    """Count everything."""
    return {"sets": {s.name: _count(s) for location in Location for s in _sets(location)}}


def _sets(location: Location) -> Iterator[ShapeSet]:
    return (ShapeSet(*size, location) for size in PAPER_SIZES)


def _count(shape_set: ShapeSet) -> Json:
    return {
        "active": shape_set.active_count(_SIZE),
        "allocated": _BINS if shape_set.is_hashed else shape_set.allocated(_SIZE),
        "distinct": {str(size): shape_set.distinct(size) for size in (_SIZE, _LARGER)},
        "distinct up to inversion": {str(size): shape_set.distinct(size, tied=True) for size in (_SIZE, _LARGER)},
    }


def rows(results: Json) -> list[Row]:
    """The paper's numbers first, then the weights that are left when all symmetries are used."""
    return [*_published_rows(results), *_distinct_rows(results)]


def _published_rows(results: Json) -> Iterator[Row]:
    for (width, height), (active, *allocated) in PUBLISHED.items():
        size = f"{width}x{height}"
        words = size.replace("x", "×")
        found = results["sets"][f"LI {size}"]["active"]
        yield Row(f"{NAME}/{size}/n", f"{words}: active shapes n", active, found, None, RUN)
        for location, published in zip(Location, allocated, strict=True):
            own = results["sets"][f"{location.value} {size}"]["allocated"]
            name = f"{location.value} {words}"
            yield Row(f"{NAME}/{location.value}-{size}/N", f"{name}: weights N", published, own, None, RUN)


def _distinct_rows(results: Json) -> Iterator[Row]:
    for name, counts in results["sets"].items():
        for size, found in counts["distinct"].items():
            words = f"{name.replace('x', '×')}: distinct weights on {size}×{size}"
            yield Row(f"{NAME}/{name.replace(' ', '-')}/distinct-{size}", words, None, found, None, RUN)


def _agreement(results: Json) -> str:
    published = list(_published_rows(results))
    equal = sum(row.published == row.ours for row in published)
    return f"Of the paper's {len(published)} counts {equal} are ours."


def section(results: Json, pictures: Path) -> str:  # noqa: ARG001 — there is nothing to draw
    """The table, with the distinct weights beside it."""
    header = ("set", "n", "N", "distinct, 5×5", "distinct, 9×9", "and inverses tied, 9×9")
    lines = [
        (
            name.replace("x", "×"),
            format_value(counts["active"]),
            format_value(counts["allocated"]),
            *(format_value(count) for count in counts["distinct"].values()),
            format_value(counts["distinct up to inversion"][str(_LARGER)]),
        )
        for name, counts in results["sets"].items()
    ]
    return f"""
{_agreement(results)} N counts the entries of the tables, where a set of shapes is folded by the two mirror axes of
the board; h is a number of bins, 100,000. Fewer weights are *distinct*: the diagonals fold the board once more, and
many shapes are their own mirror images. The last column is how many there would be if a shape and its color inverse
shared one.

{table(header, lines)}
"""


TABLE: Final = Table(NAME, "Figure 3: the number of shapes on 5×5", measure, rows, section)
