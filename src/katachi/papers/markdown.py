"""Numbers and tables as Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from textwrap import fill
from typing import Final

from katachi.papers.estimates import Estimate
from katachi.papers.rows import Row, Value

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


def format_interval(interval: Sequence[float] | None) -> str:
    """``79.1 … 83.0``, or nothing."""
    return "" if interval is None else " … ".join(format_value(bound) for bound in interval)


def format_estimate(value: Value, interval: Sequence[float] | None) -> str:
    """``81.2 (79.1 … 83.0)``."""
    shown = format_value(value)
    return f"{shown} ({format_interval(interval)})" if interval is not None and value is not None else shown


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


def row_table(rows: Iterable[Row], yardstick: str) -> str:
    """Rows as ``what | yardstick | ours (interval) | run``."""
    cells = (
        (row.what, format_value(row.published), format_estimate(row.ours, row.interval), f"`{row.run}`") for row in rows
    )
    return table(("what", yardstick, "ours (95 %)", "run"), cells)


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
