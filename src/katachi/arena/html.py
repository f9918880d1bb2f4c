"""The report of a tournament as one page that needs nothing else: styles inline, ratings as SVG, names escaped."""

from __future__ import annotations

from html import escape
from typing import Final

from katachi.arena.ratings import Rating, Standings
from katachi.arena.report import ReportTable, report_conditions, report_tables
from katachi.core.html import frame_page

_WIDTH: Final = 640
_LABELS: Final = 170  # what the names of the players take of the width
_ROW: Final = 26
_AXIS: Final = 24
_SHOWN_NAME: Final = 24  # characters of a name that fit beside the drawing

_STYLE: Final = """
:root { color-scheme: light dark; --ink: #222; --paper: #fff; --line: #ccc; --mark: #1f6f8b; }
@media (prefers-color-scheme: dark) { :root { --ink: #ddd; --paper: #181818; --line: #444; --mark: #6fc3df; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); margin: 2rem auto;
       max-width: 60rem; padding: 0 1rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .7rem; border-bottom: 1px solid var(--line); text-align: right; }
.label { text-align: left; }
svg { max-width: 100%; height: auto; }
svg text { fill: var(--ink); font-size: 12px; }
svg .axis { stroke: var(--line); }
svg .bar { stroke: var(--mark); stroke-width: 2; }
svg .dot { fill: var(--mark); }
"""


def format_html(standings: Standings, title: str) -> str:
    """The whole page."""
    tables = "\n".join(_table(table) for table in report_tables(standings))
    conditions = "".join(f"<li>{escape(word)}: {escape(value)}</li>" for word, value in report_conditions(standings))
    players = "".join(
        f"<li>{escape(name)}: <code>{escape(text)}</code></li>" for name, text in standings.settings.players.items()
    )
    body = f"""{draw_ratings(standings.ratings.ratings)}
{tables}
<h2>How it was played</h2>
<ul>{conditions}</ul>
<h2>Players</h2>
<ul>{players}</ul>"""
    return frame_page(title, _STYLE, body)


def _table(table: ReportTable) -> str:
    def row(cells: tuple[str, ...], tag: str) -> str:
        kinds = (' class="label"' if number < table.labels else "" for number in range(len(cells)))
        tagged = (f"<{tag}{kind}>{escape(cell)}</{tag}>" for cell, kind in zip(cells, kinds, strict=True))
        return f"<tr>{''.join(tagged)}</tr>"

    body = "".join(row(cells, "td") for cells in table.rows)
    head = row(table.header, "th")
    whole = f"<table><thead>{head}</thead><tbody>{body}</tbody></table>"
    return f'<h2>{escape(table.title)}</h2>\n<div class="wide">{whole}</div>'


def draw_ratings(ratings: tuple[Rating, ...]) -> str:
    """Ratings as points with their intervals as bars, best at the top."""
    low = min(rating.low for rating in ratings)
    high = max(rating.high for rating in ratings)
    margin = max(10.0, (high - low) * 0.05)
    low, high = low - margin, high + margin
    height = _ROW * len(ratings) + _AXIS

    def x(elo: float) -> float:
        return _LABELS + (_WIDTH - _LABELS) * (elo - low) / (high - low)

    ticks = "".join(_tick(x(elo), elo, height) for elo in _tick_values(low, high))
    rows = "".join(_row(rating, x(rating.low), x(rating.rating), x(rating.high), i) for i, rating in enumerate(ratings))
    label = "Elo ratings with 95 percent intervals"
    return f'<svg viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" role="img" aria-label="{label}">{ticks}{rows}</svg>'


def _row(rating: Rating, low: float, middle: float, high: float, number: int) -> str:
    y = _ROW * number + _ROW / 2
    name = rating.player if len(rating.player) <= _SHOWN_NAME else rating.player[: _SHOWN_NAME - 1] + "…"
    return (
        f'<text x="0" y="{y + 4:g}">{escape(name)}</text>'
        f'<line class="bar" x1="{low:.1f}" x2="{high:.1f}" y1="{y:g}" y2="{y:g}"/>'
        f'<circle class="dot" cx="{middle:.1f}" cy="{y:g}" r="4"><title>{rating.rating:.0f}</title></circle>'
    )


def _tick(x: float, elo: float, height: int) -> str:
    return (
        f'<line class="axis" x1="{x:.1f}" x2="{x:.1f}" y1="0" y2="{height - _AXIS}"/>'
        f'<text x="{x:.1f}" y="{height - 6}" text-anchor="middle">{elo:g}</text>'
    )


def _tick_values(low: float, high: float) -> list[float]:
    """Round numbers, about five of them."""
    step = next(step for step in (10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10**6) if (high - low) / step <= 6)
    first = int(low // step) + 1
    return [float(step * k) for k in range(first, int(high // step) + 1)]
