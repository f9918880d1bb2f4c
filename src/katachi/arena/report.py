"""The report of a tournament: one set of tables, shown while it runs, as text, as Markdown or as a page."""

from __future__ import annotations

from dataclasses import astuple, dataclass
from html import escape
from typing import Final

from rich.console import Console
from rich.markup import escape as escape_markup
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from rich.table import Table

from katachi.arena.ratings import PairResult, Rating, Score, Standings
from katachi.arena.records import GameRecord, pairings
from katachi.arena.settings import LimitSettings, SprtSettings, TournamentSettings
from katachi.core.cards import Decided
from katachi.core.drawing import frame_page

# The running score of a tournament on standard error; nothing where that is not a terminal.


class TournamentProgress(Progress):
    """A bar for every pair, with the score of its first player and the 95 % interval of its win rate."""

    def __init__(self, settings: TournamentSettings, console: Console | None = None) -> None:
        console = Console(stderr=True) if console is None else console
        self._pairings = pairings(settings)
        self._scores = [Score() for _ in self._pairings]
        super().__init__(
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TextColumn("{task.fields[score]}"),
            TimeRemainingColumn(),
            console=console,
            disable=not console.is_terminal,
        )
        self._bars: list[TaskID] = [
            self.add_task(escape_markup(f"{pair.first} – {pair.second}"), total=settings.games, score="")
            for pair in self._pairings
        ]

    def add(self, record: GameRecord) -> None:
        """Count one more game."""
        score = self._scores[record.pairing]
        score.add(record.score_of(self._pairings[record.pairing].first))
        self.update(self._bars[record.pairing], advance=1, score=format_score(score))


def format_score(score: Score) -> str:
    """``12–7 with 1 draw, 62.5 % (41–80)``."""
    draws = f" with {score.draws} draw{'s' if score.draws > 1 else ''}" if score.draws else ""
    return f"{score.wins}–{score.losses}{draws}, {format_rate(score)}"


def format_rate(score: Score) -> str:
    """``62.5 % (41–80)``, a dash before the first game."""
    if score.rate is None:
        return "–"
    low, high = score.interval
    return f"{100 * score.rate:.1f} % ({100 * low:.0f}–{100 * high:.0f})"


# The tables as text and Markdown.


@dataclass(frozen=True, slots=True)
class ReportTable:
    """A table of text; its first ``labels`` columns are names, the others numbers."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    labels: int = 1


def report_tables(standings: Standings) -> list[ReportTable]:
    """All tables that have something to say, the ratings first."""
    tables = [_ratings_table(standings), _crosstable(standings), _pairs_table(standings)]
    if any(standings.incidents.values()):
        tables.append(_incidents_table(standings))
    if standings.checks.disagreements:
        tables.append(ReportTable("Disagreements of the referees", ("game", "what"), standings.checks.disagreements, 2))
    return tables


def report_conditions(standings: Standings) -> list[tuple[str, str]]:
    """What the games were played under, as pairs of a word and its value."""
    settings = standings.settings
    openings = settings.openings
    begin = f"book {openings.book}" if openings.book else f"{openings.random_plies} random plies, colors exchanged"
    if openings.from_line > 1:
        begin += f", none below line {openings.from_line}"
    conditions = [
        ("board", f"{settings.size}×{settings.size}"),
        ("rules", f"{settings.rules}, komi {settings.game_rules.komi:g}"),
        ("limit", _format_limit(settings.limit)),
        ("openings", begin),
        ("games", f"{standings.games} of {standings.scheduled}, {settings.games} a pair"),
        ("duplicates", f"{standings.duplicates}" + ", not counted" * settings.report.exclude_duplicates),
        ("referee", settings.referee),
        ("seed", str(settings.seed)),
        *(("played by", program) for program in standings.programs),
        *(("note", note) for note in standings.notes),
    ]
    if settings.sprt is not None:
        conditions.append(("sequential test", _format_sprt(settings.sprt, standings.sprt)))
    if settings.check_referee:
        checked = f"{standings.checks.games} games checked, {len(standings.checks.disagreements)} disagreements"
        conditions.append(("second referee", f"{settings.check_referee}: {checked}"))
    return conditions


def _format_limit(limit: LimitSettings) -> str:
    spent = [f"{limit.seconds:g} s per move"] if limit.seconds else []
    spent += [f"{limit.simulations} simulations per move"] if limit.simulations else []
    return " or ".join(spent) or "the players' own"


def _format_sprt(test: SprtSettings, outcome: Decided | None) -> str:
    asked = f"{test.elo0:g} or {test.elo1:g} Elo, errors {100 * test.alpha:g} % and {100 * test.beta:g} %"
    if outcome is None:
        return f"{asked}: not decided"
    return f"{asked}: {outcome.accepted:g} after {outcome.games} games, log ratio {outcome.log_ratio:.2f}"


def _ratings_table(standings: Standings) -> ReportTable:
    ratings, superiority = standings.ratings.ratings, standings.ratings.superiority
    rows: list[tuple[str, ...]] = []
    for rank, rating in enumerate(ratings):
        total = standings.total(rating.player)
        interval = format_interval(rating)
        below = ratings[rank + 1 : rank + 2]
        is_known = below and rating.rating is not None and below[0].rating is not None
        ahead = _percent(superiority[rank][rank + 1]) if is_known else ""
        row = (rating.player, _elo(rating.rating), interval, _percent(total.rate), str(total.games), ahead)
        rows.append((str(rank + 1), *row))
    header = ("", "player", "Elo", "95 % interval", "score", "games", "above next")
    return ReportTable("Ratings", header, tuple(rows), 2)


def format_interval(rating: Rating) -> str:
    """``−35 … 41``; ``≥ 500`` or ``≤ −500`` where the games carry but a bound, a dash where not even that."""
    if rating.low is not None and rating.high is not None:
        return "anchor" if rating.low == rating.high else f"{_elo(rating.low)} … {_elo(rating.high)}"
    if rating.low is not None:
        return f"≥ {_elo(rating.low)}"
    return "–" if rating.high is None else f"≤ {_elo(rating.high)}"


def _elo(value: float | None) -> str:
    return "–" if value is None else f"{round(value)}".replace("-", "−")


def _crosstable(standings: Standings) -> ReportTable:
    players = [rating.player for rating in standings.ratings.ratings]
    rows = tuple(
        (player, *("" if other == player else _cell(standings.pair(player, other)) for other in players))
        for player in players
    )
    return ReportTable("Score of the row against the column", ("", *players), rows)


def _cell(score: Score | None) -> str:
    return "–" if score is None else _percent(score.rate)


def _pairs_table(standings: Standings) -> ReportTable:
    header = ("pair", "wins", "draws", "losses", "win rate", "with Black", "with White", "duplicates", "moves")
    return ReportTable("Pairs, as the first player sees them", header, tuple(map(_pair_row, standings.pairs)))


def _pair_row(pair: PairResult) -> tuple[str, ...]:
    score = pair.score
    return (
        f"{pair.first} – {pair.second}",
        *(str(count) for count in (score.wins, score.draws, score.losses)),
        format_rate(score),
        _percent(pair.with_black.rate),
        _percent(pair.with_white.rate),
        str(pair.duplicates),
        "–" if pair.mean_moves is None else f"{pair.mean_moves:.0f}",
    )


def _incidents_table(standings: Standings) -> ReportTable:
    header = ("player", "illegal moves", "failures", "losses on time", "moves over time")
    rows = ((player, *map(str, astuple(found))) for player, found in standings.incidents.items() if found)
    return ReportTable("Incidents", header, tuple(rows))


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.1f} %"


def print_report(standings: Standings, console: Console) -> None:
    """Show the report as text."""
    for report_table in report_tables(standings):
        console.print(escape_markup(report_table.title), style="bold", highlight=False)
        table = Table()
        for number, name in enumerate(report_table.header):
            table.add_column(escape_markup(name), justify="left" if number < report_table.labels else "right")
        for row in report_table.rows:
            table.add_row(*map(escape_markup, row))
        console.print(table)
    for word, value in report_conditions(standings):
        console.print(escape_markup(f"{word}: {value}"), highlight=False)


def format_markdown(standings: Standings, title: str) -> str:
    """The report as a Markdown page."""
    parts = [f"# {_markdown_text(title)}\n"]
    for table in report_tables(standings):
        rule = ["---" if number < table.labels else "--:" for number in range(len(table.header))]
        lines = [table.header, tuple(rule), *table.rows]
        body = "\n".join("| " + " | ".join(map(_markdown_text, line)) + " |" for line in lines)
        parts.append(f"## {_markdown_text(table.title)}\n\n{body}\n")
    conditions = [f"- {word}: {_markdown_text(value)}" for word, value in report_conditions(standings)]
    for name, text in standings.settings.players.items():
        conditions.append(f"- {_markdown_text(name)} is `{text.replace('`', '')}`")
    parts.append("## How it was played\n\n" + "\n".join(conditions) + "\n")
    return "\n".join(parts)


def _markdown_text(text: str) -> str:
    plain = " ".join(text.split())
    return plain.replace("&", "&amp;").replace("<", "&lt;").replace("|", "\\|").replace("`", "\\`")


# The report of a tournament as one page that needs nothing else: styles inline, ratings as SVG, names escaped.

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
    """Ratings as points with their intervals as bars, best at the top; a mere bound is a bar to the side, no point."""
    known = [end for rating in ratings for end in (rating.low, rating.high) if end is not None]
    low, high = min(known), max(known)
    margin = max(10.0, (high - low) * 0.05)
    low, high = low - margin, high + margin
    height = _ROW * len(ratings) + _AXIS

    def x(elo: float | None, beyond: float) -> float:
        return _LABELS + (_WIDTH - _LABELS) * ((beyond if elo is None else elo) - low) / (high - low)

    ticks = "".join(_tick(x(elo, elo), elo, height) for elo in _tick_values(low, high))
    rows = "".join(_row(rating, x(rating.low, low), x(rating.high, high), i) for i, rating in enumerate(ratings))
    points = "".join(
        f'<circle class="dot" cx="{x(rating.rating, low):.1f}" cy="{_ROW * (i + 0.5):g}" r="4">'
        f"<title>{rating.rating:.0f}</title></circle>"
        for i, rating in enumerate(ratings)
        if rating.rating is not None
    )
    label = "Elo ratings with 95 percent intervals"
    drawn = f"{ticks}{rows}{points}"
    return f'<svg viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" role="img" aria-label="{label}">{drawn}</svg>'


def _row(rating: Rating, low: float, high: float, number: int) -> str:
    y = _ROW * number + _ROW / 2
    name = rating.player if len(rating.player) <= _SHOWN_NAME else rating.player[: _SHOWN_NAME - 1] + "…"
    bar = f'<line class="bar" x1="{low:.1f}" x2="{high:.1f}" y1="{y:g}" y2="{y:g}"/>'
    is_bounded = rating.low is not None or rating.high is not None
    return f'<text x="0" y="{y + 4:g}">{escape(name)}</text>{bar if is_bounded else ""}'


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
