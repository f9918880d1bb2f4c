"""Figure 4 as rows and text."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import numpy as np

from katachi.features.windows import TABLE_SIZES
from katachi.papers.documents import NOTHING, Estimate, estimate, format_mean, format_value, table
from katachi.papers.experiment import Json, Row, Table, Value
from katachi.papers.silver2007.figure4 import (
    ALONE,
    CUMULATIVE,
    EARLY,
    KOMI,
    LEARNERS,
    NAME,
    SIZE,
    SMOOTHED,
    Learner,
    learning_time,
    measure,
    of,
    reached,
)
from katachi.papers.silver2007.figure4_plots import draw_plots
from katachi.shapes.sets import Location, ShapeSet

RUN: Final = f"silver2007/{NAME}"


def _find(name: str, how: str) -> Learner:
    return Learner(ShapeSet.parse(name), how)


def _name(learner: Learner) -> str:
    return learner.name.replace("x", "×")


# Rows


def rows(results: Json) -> list[Row]:
    """The paper's statements first, then the figures of all learners."""
    return [*_statements(results), *(row for learner in LEARNERS for row in _figures(results, learner))]


def _row(name: str, what: str, published: Value, found: Estimate | str | None) -> Row:
    if isinstance(found, Estimate):
        return Row(f"{NAME}/{name}", what, published, round(found.mean, 2), _rounded(found.interval), RUN)
    return Row(f"{NAME}/{name}", what, published, found, None, RUN)


def _rounded(interval: tuple[float, float] | None) -> tuple[float, float] | None:
    return None if interval is None else (round(interval[0], 2), round(interval[1], 2))


def _statements(results: Json) -> Iterator[Row]:
    best_alone, combined = _find("LI 2x2", ALONE), _find("LI 3x3", CUMULATIVE)
    early = of(results, best_alone, "early")
    what = f"{_name(best_alone)}: win rate against ALP after {EARLY:,} games, %"
    yield _row("LI-2x2-alone/early", what, 25, estimate(early) if early else None)
    for learner, published in ((best_alone, "over 80"), (combined, "over 90")):
        final = estimate(of(results, learner, "final"))
        yield _row(f"{_slug(learner)}/statement", f"{_name(learner)}: final win rate, %", published, final)
    best = max((e for e in LEARNERS if e.how == ALONE), key=lambda e: estimate(of(results, e, "final")).mean)
    yield _row("best-alone", "the best set alone", "2×2", _name(best).removesuffix(f" {ALONE}"))
    faster = f"{sum(_is_li_faster(results, size) for size in TABLE_SIZES)} of {len(TABLE_SIZES)}"
    yield _row("LI-faster", "sizes up to 3×3 at which LI alone learns faster than LD", "small shapes", faster)
    yield _row("linear", "learning time against number of sets: R² of a line", "about linear", _linearity(results))


def _is_li_faster(results: Json, size: tuple[int, int]) -> bool:
    times = [learning_time(results, Learner(ShapeSet(*size, location), ALONE)).mean for location in Location]
    return times[0] < times[1]


def _linearity(results: Json) -> Estimate | None:
    """How much of the learning time of cumulative sets a line over their number explains; None if too few learned."""
    sets, times = _times_by_sets(results)
    if len(times) < 3 or np.ptp(times) == 0:
        return None
    return Estimate(float(np.corrcoef(sets, times)[0, 1] ** 2), None)


def _times_by_sets(results: Json) -> tuple[list[int], list[float]]:
    """Of the cumulative learners all of whose runs learned."""
    learned = [e for e in LEARNERS if e.how == CUMULATIVE and reached(results, e) == results["runs"]]
    return [len(e.sets) for e in learned], [learning_time(results, e).mean for e in learned]


def _slug(learner: Learner) -> str:
    return learner.name.replace(" ", "-")


def _figures(results: Json, learner: Learner) -> Iterator[Row]:
    slug, name = _slug(learner), _name(learner)
    for key, words in (("final", "final win rate, %"), ("averaged", "final win rate of averaged weights, %")):
        yield _row(f"{slug}/{key}", f"{name}: {words}", None, estimate(of(results, learner, key)))
    for color in ("as Black", "as White"):
        found = estimate(of(results, learner, color))
        yield _row(f"{slug}/{color.split()[1].lower()}", f"{name}: final win rate {color}, %", None, found)
    count = reached(results, learner)
    what = f"{name}: games until both agents exceed 50 %, in {count} of {results['runs']} runs"
    yield _row(f"{slug}/learned", what, None, learning_time(results, learner) if count else None)


# Text


def section(results: Json, pictures: Path) -> str:
    """What was measured, the plots, and a table of all learners."""
    draw_plots(results, pictures)
    protocol = results["protocol"]
    return f"""
Each set of shapes alone, and together with all sets that are as or more general: {len(LEARNERS)} learners of
{results["runs"]} runs. In each run a pair of agents learns from {protocol["games"]:,} games on {SIZE}×{SIZE} with a
komi of {KOMI}. Every {protocol["test_every"]:,} games each agent plays {protocol["test_games"]:,} test games
against ALP, at the end {protocol["final_games"]:,}; half of them with each color, greedily and from the empty
board. Rates are means of both agents; ± is half the width of the 95 % bootstrap interval over runs.

![Each set alone](silver2007/figure4.svg)

![Cumulative sets](silver2007/figure4-cumulative.svg)

*Learning time* is the number of games after which both agents first exceed 50 % in one test, as in the paper. A
test has but {protocol["test_games"]} games and the agents of a pair take turns at being the stronger, so *smoothed*
asks for the mean of {SMOOTHED} tests in a row. A run in which it never happens counts as all of its games, *learned*
says in how many it did, and points with a white inside are such lower bounds.

![Learning curves](silver2007/figure4-curves.svg)

![Learning time against the number of sets](silver2007/figure4-sets.svg)

{_big_table(results)}
"""


def _big_table(results: Json) -> str:
    header = (
        "sets",
        "final, %",
        "averaged, %",
        "better agent",
        "as Black",
        "as White",
        "learned",
        "after games",
        "smoothed",
    )
    return table(header, (_table_row(results, learner) for learner in LEARNERS))


def _table_row(results: Json, learner: Learner) -> list[str]:
    rates = [estimate(of(results, learner, key)) for key in ("final", "averaged")]
    plain = [estimate(of(results, learner, key)).mean for key in ("better agent", "as Black", "as White")]
    times = [_format_time(results, learner, key) for key in ("learned after", "learned after, smoothed")]
    count = f"{reached(results, learner)} of {results['runs']}"
    return [_name(learner), *map(format_mean, rates), *(f"{rate:.0f}" for rate in plain), count, *times]


def _format_time(results: Json, learner: Learner, key: str) -> str:
    """The mean, a lower bound if some runs never learned, nothing if none did."""
    missing = [found is None for found in of(results, learner, key)]
    if all(missing):
        return NOTHING
    return ("≥ " if any(missing) else "") + format_value(round(learning_time(results, learner, key).mean))


TABLE: Final = Table(NAME, "Figure 4: shapes on 5×5, alone and together", measure, rows, section)
