"""The document of an experiment: text, tables and pictures made from results; nobody types a number.

```
DOCS/EXPERIMENT.md             the document
DOCS/EXPERIMENT/results.json   what it is made from
DOCS/EXPERIMENT/*.svg          its pictures
```
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import NormalDist
from textwrap import fill
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from katachi.core.cards import CONFIDENCE, format_program, mean_interval, wilson_interval
from katachi.core.disk import write_atomically
from katachi.papers.experiment import (
    VERDICTS,
    Bounds,
    Experiment,
    ExperimentError,
    Json,
    Row,
    Table,
    Value,
    keep_results,
    read_results,
)

# Means over independent runs, with Student's intervals, medians, with bootstrap ones, and shares, with Wilson's.

_SAMPLES: Final = 10_000
LEAST_RUNS: Final = 3  # for an interval


class Estimate(NamedTuple):
    """A mean (or median, or percentage) of n runs, games or positions; fewer than three runs have no interval."""

    mean: float
    interval: tuple[float, float] | None
    n: int | None = None


def estimate(values: Sequence[float], middle: Callable[..., Any] = np.mean) -> Estimate:
    """The mean of one value a run with Student's interval, which does not leave 0 to 100 if no value does.

    ``middle`` can be ``np.median`` instead, where something else may have disturbed a run; then the interval is from
    drawing runs with replacement: the same values, the same one.

    >>> estimate([3.0, 4.0, 5.0])  # doctest: +ELLIPSIS
    Estimate(mean=4.0, interval=(1.5..., 6.4...), n=3)
    >>> estimate([3.0, 4.0])
    Estimate(mean=3.5, interval=None, n=2)
    """
    found, n = np.asarray(values, dtype=np.float64), len(values)
    center = float(middle(found))
    if n < LEAST_RUNS:
        return Estimate(center, None, n)
    if middle is not np.mean:
        drawn = np.random.default_rng(n).integers(n, size=(_SAMPLES, n))
        low, high = np.quantile(middle(found[drawn], axis=1), [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
        return Estimate(center, (float(low), float(high)), n)
    half = _student_quantile(n - 1) * float(found.std(ddof=1)) / math.sqrt(n)
    least = 0.0 if found.min() >= 0 else -math.inf
    most = 100.0 if found.max() <= 100 and least == 0 else math.inf
    return Estimate(center, (max(least, center - half), min(most, center + half)), n)


def _student_quantile(freedom: int) -> float:
    """How many standard errors an interval reaches, by Cornish and Fisher's expansion: 3 % too few for 2 degrees.

    >>> [round(_student_quantile(freedom), 2) for freedom in (2, 3, 9, 1000)]
    [4.17, 3.16, 2.26, 1.96]
    """
    z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
    )
    return z + sum(term / float(freedom) ** power for power, term in enumerate(terms, start=1))


def mean_of_many(values: Sequence[float] | NDArray[Any], groups: NDArray[Any] | None = None) -> Estimate:
    """The mean of so many independent values that it is normally distributed, for which a bootstrap would be a waste.

    Where values belong to ``groups``, such as games, only these are independent.

    >>> mean_of_many([1.0, 3.0] * 50).interval  # doctest: +ELLIPSIS
    (1.804..., 2.195...)
    """
    mean, low, high = mean_interval(values, groups=groups)
    return Estimate(mean, (low, high), len(values))


def share(hits: float, count: float) -> Estimate:
    """So many out of so many in percent, with Wilson's interval.

    >>> share(8, 10).mean, [round(bound) for bound in share(8, 10).interval]
    (80.0, [49, 94])
    """
    low, high = wilson_interval(hits, count)
    return Estimate(100 * hits / count, (100 * low, 100 * high), round(count))


# Numbers and tables as Markdown.

NOTHING: Final = "–"
WIDTH: Final = 120


def format_value(value: Value) -> str:
    """A number short enough to read, with commas and a true minus; a text as it is; a dash for nothing.

    >>> [format_value(value) for value in (78732, 81.234, -0.5, "over 80", None)]
    ['78,732', '81.2', '−0.50', 'over 80', '–']
    """
    if value is None or isinstance(value, str):
        return value or NOTHING
    decimals = 0 if float(value).is_integer() or abs(value) >= 1000 else 1 if abs(value) >= 10 else 2
    return f"{value:,.{decimals}f}".replace("-", "−")


def format_interval(interval: Bounds | None) -> str:
    """``79.1 … 83.0``; ``≥ 79.1`` or ``≤ 83.0`` where only that end is known; nothing where it has no width."""
    low, high = interval or (None, None)
    if low is None or high is None or low == high:
        return "" if low == high else f"≥ {format_value(low)}" if high is None else f"≤ {format_value(high)}"
    return f"{format_value(low)} … {format_value(high)}"


def format_estimate(value: Value, interval: Bounds | None) -> str:
    """``81.2 (79.1 … 83.0)``, or a mere bound where there is no value."""
    shown = format_interval(interval)
    if value is None:
        return shown or NOTHING
    return f"{format_value(value)} ({shown})" if shown else format_value(value)


def format_mean(found: Estimate, decimals: int = 1) -> str:
    """``81.2 ± 2.0``: half of the interval's width, which is nearly symmetric for the means of runs."""
    mean = f"{found.mean:,.{decimals}f}"
    return mean if found.interval is None else f"{mean} ± {(found.interval[1] - found.interval[0]) / 2:,.{decimals}f}"


def format_rounded(found: Estimate, decimals: int = 1) -> str:
    """``81.2 (79.1 … 83.0)``, rounded."""
    interval = None if found.interval is None else [round(bound, decimals) for bound in found.interval]
    return format_estimate(round(found.mean, decimals), interval)


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table; the first column is text, the others are numbers."""
    rule = ["---", *["---:"] * (len(header) - 1)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (header, rule, *rows)) + "\n"


def numbered(items: Iterable[str]) -> str:
    """A numbered list."""
    return "\n".join(f"{number}. {text}" for number, text in enumerate(items, start=1))


def format_count(row: Row) -> str:
    """``60``, or ``34 of 200`` where it was stopped early."""
    had = format_value(row.n)
    return had if row.n is None or (row.planned or 0) <= row.n else f"{had} of {format_value(row.planned)}"


def row_table(rows: Sequence[Row], baseline: str) -> str:
    """Rows as ``what | baseline | ours (interval) | n | verdict``; values from elsewhere have a column of their own."""
    others = [row for row in rows if row.source]
    lines = []
    for row in rows:
        published = format_value(row.published)
        beside = (NOTHING, f"{published} ({row.source})") if row.source else (published, NOTHING)
        ours = format_estimate(row.ours, row.interval)
        lines.append((row.what, *beside[: 2 if others else 1], ours, format_count(row), row.verdict or NOTHING))
    return table(("what", baseline, *["elsewhere"] * bool(others), "ours (95 %)", "n", "verdict"), lines)


def wrap(text: str) -> str:
    """Paragraphs and numbered items filled to lines of one width; tables, pictures, headings and code as they are."""
    return "\n\n".join(_wrap_block(block) for block in re.split(r"\n{2,}", text.strip()))


def _wrap_block(block: str) -> str:
    if block.startswith(("|", "!", "#", "```")):
        return block
    if re.match(r"\d+\. ", block):
        return "\n".join(_fill(item, " " * (item.index(".") + 2)) for item in block.splitlines())
    return _fill(block, "")


def _fill(text: str, indent: str) -> str:
    return fill(text, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


# The document as a whole.


def write_document(experiment: Experiment, run: Path | None, docs: Path) -> Path:
    """Make the document from the results that it was last made from, and from those of a run where it has some.

    Raises ExperimentError if there are no results at all.
    """
    folder = docs / experiment.name
    known = read_results(folder) | (read_results(run) if run else {})
    results = {table.name: known[table.name] for table in experiment.tables if table.name in known}
    if not results:
        raise ExperimentError(f"there are no results of {experiment.name} in {run or folder}: measure something first")
    keep_results(folder, results)
    path = docs / f"{experiment.name}.md"
    write_atomically(path, format_document(experiment, results, folder))
    return path


def format_document(experiment: Experiment, results: Mapping[str, Json], pictures: Path) -> str:
    """The document as Markdown; its pictures are drawn into a folder."""
    tables = [_section(table, results[table.name], pictures) for table in experiment.tables if table.name in results]
    parts = [
        f"# {experiment.title}",
        _comparison(experiment.rows(results), experiment.baseline),
        experiment.head.format(measured=", ".join(table.name for table in experiment.tables if table.name in results)),
        *tables,
        f"*This page is made by `katachi reproduce {experiment.name} --write-docs docs`.*",
    ]
    return wrap("\n\n".join(part.strip() for part in parts)) + "\n"


def _comparison(rows: Sequence[Row], baseline: str) -> str:
    """Every figure that the baseline gives, but for those that are counted and come out the same."""
    published = [row for row in rows if row.published is not None]
    differing = [row for row in published if row.interval or row.n is not None or row.ours != row.published]
    same = len(published) - len(differing)
    note = f" Beside these, counts of the {baseline} that are the same here: {same}." if same else ""
    return f"{row_table(differing, baseline)}\n\n{VERDICTS}{note}"


def _section(table: Table, results: Json, pictures: Path) -> str:
    made_by = format_program(results["program"])
    early = " It was stopped before it was through." if results.get("under way") else ""
    note = f"*Measured with the budget `{results['budget']}` by {made_by}.{early}*"
    return f"## {table.title}\n\n{format_section(table, results, pictures)}\n\n{note}"


def format_section(table: Table, results: Json, pictures: Path) -> str:
    """What a document says of a table, with the differences from the paper; its pictures are drawn into a folder."""
    table.draw(results, pictures)
    text, differences = table.section(results).strip(), numbered(table.differences(results))
    return f"{text}\n\nDifferences from the paper:\n\n{differences}" if differences else text


# Plots for documents: small SVG files with colors that color-blind readers can tell apart; same data, same bytes.

# Okabe and Ito's palette: black, orange, sky blue, green, blue, vermilion, purple.
COLORS: Final = ("#000000", "#e69f00", "#56b4e9", "#009e73", "#0072b2", "#d55e00", "#cc79a7")

_STYLE: Final[dict[Any, Any]] = {
    "svg.fonttype": "none",  # text stays text
    "svg.hashsalt": "katachi",
    "path.simplify_threshold": 0.5,
    "font.family": "sans-serif",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#dddddd",
    "axes.axisbelow": True,
    "legend.frameon": False,
    "figure.constrained_layout.use": True,
}


@contextmanager
def plot(path: Path, columns: int = 1, height: float = 3.2) -> Iterator[list[Any]]:
    """Axes side by side to draw on, written to an SVG file at the end."""
    from matplotlib import rc_context  # takes longer to load than most commands to run
    from matplotlib.figure import Figure

    with rc_context(_STYLE):
        figure = Figure(figsize=(4.2 * columns + 0.6, height))
        yield list(figure.subplots(1, columns, squeeze=False)[0])
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, format="svg", metadata={"Date": None, "Creator": None})


def with_errors(found: Iterable[Sequence[float | None]]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Values, and how far their bounds lie below and above them, [2, n]; of each (value, low, high).

    What has no value is not a number, and is not drawn.
    """
    values, low, high = np.array(list(found), dtype=np.float64).reshape(-1, 3).T
    return values, np.stack([values - low, high - values])


def label_axes(axes: Any, title: str, x: str, y: str) -> None:
    """Say what a plot shows; the legend stands below it, where it hides nothing."""
    axes.set_title(title, loc="left")
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.yaxis.set_major_formatter("{x:,.0f}")
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=2)
