"""The report of a tournament: one set of tables, shown as text, Markdown or (``arena/html.py``) a page."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rich.console import Console
from rich.markup import escape as escape_markup
from rich.table import Table

from katachi.arena.progress import format_rate
from katachi.arena.ratings import Outcome, PairResult, Rating, Score, Standings
from katachi.arena.settings import LimitSettings, SprtSettings


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
    ]
    if settings.sprt is not None:
        conditions.append(("sequential test", _format_sprt(settings.sprt, standings.sprt)))
    if settings.check_referee:
        checked = f"{standings.checks.games} games checked, {len(standings.checks.disagreements)} disagreements"
        conditions.append(("second referee", f"{settings.check_referee}: {checked}"))
    return conditions


def _format_limit(limit: LimitSettings) -> str:
    spent = [f"{limit.seconds:g} s a move"] if limit.seconds else []
    spent += [f"{limit.simulations} simulations a move"] if limit.simulations else []
    return " or ".join(spent) or "the players' own"


def _format_sprt(test: SprtSettings, outcome: Outcome | None) -> str:
    asked = f"{test.elo0:g} or {test.elo1:g} Elo, errors {100 * test.alpha:g} % and {100 * test.beta:g} %"
    if outcome is None:
        return f"{asked}: not decided"
    return f"{asked}: {outcome.accepted:g} after {outcome.games} games, log ratio {outcome.log_ratio:.2f}"


def _ratings_table(standings: Standings) -> ReportTable:
    rows = tuple(_rating_rows(standings))
    return ReportTable("Ratings", ("", "player", "Elo", "95 % interval", "score", "games", "above next"), rows, 2)


def _rating_rows(standings: Standings) -> Iterator[tuple[str, ...]]:
    ratings = standings.ratings.ratings
    for rank, rating in enumerate(ratings):
        total = standings.total(rating.player)
        ahead = standings.ratings.superiority[rank][rank + 1] if rank + 1 < len(ratings) else None
        yield (
            str(rank + 1),
            rating.player,
            _elo(rating.rating),
            format_interval(rating, total),
            _percent(total.rate),
            str(total.games),
            "" if ahead is None else f"{100 * ahead:.1f} %",
        )


def format_interval(rating: Rating, total: Score) -> str:
    """``−35 … 41``; one-sided for who won or lost everything, because there the other end is the prior's alone."""
    if rating.low == rating.high:
        return "anchor"
    if total.points == total.games:
        return f"above {_elo(rating.low)}"
    if total.points == 0:
        return f"below {_elo(rating.high)}"
    return f"{_elo(rating.low)} … {_elo(rating.high)}"


def _elo(value: float) -> str:
    return f"{round(value)}".replace("-", "−")


def _crosstable(standings: Standings) -> ReportTable:
    players = [rating.player for rating in standings.ratings.ratings]
    rows = tuple(
        (player, *(_cell(standings.pair(player, other)) if player != other else "" for other in players))
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
    rows = tuple(
        (player, str(found.illegal_moves), str(found.failures), str(found.time_losses), str(found.overruns))
        for player, found in standings.incidents.items()
        if found
    )
    return ReportTable("Incidents", header, rows)


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
    parts.append("## How it was played\n\n" + "\n".join(_markdown_conditions(standings)) + "\n")
    return "\n".join(parts)


def _markdown_conditions(standings: Standings) -> Iterator[str]:
    for word, value in report_conditions(standings):
        yield f"- {word}: {_markdown_text(value)}"
    for name, text in standings.settings.players.items():
        yield f"- {_markdown_text(name)} is `{text.replace('`', '')}`"


def _markdown_text(text: str) -> str:
    plain = " ".join(text.split())
    return plain.replace("&", "&amp;").replace("<", "&lt;").replace("|", "\\|").replace("`", "\\`")
