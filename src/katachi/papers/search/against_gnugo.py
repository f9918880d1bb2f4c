"""The shipped strong players against GNU Go: for a time a move on all cores, and held to some simulations on one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import chain, zip_longest
from pathlib import Path
from typing import Final

from katachi.arena.ratings import Anchor
from katachi.arena.records import GameRecord
from katachi.arena.settings import OpeningSettings, TournamentSettings
from katachi.core.contracts import Limit
from katachi.papers.documents import format_estimate, format_value, table
from katachi.papers.experiment import Budget, Json, Row, Scope, Table
from katachi.papers.gnugo import gnugo, gnugo_name, require_gnugo
from katachi.papers.player_files import read_player, write_players
from katachi.papers.tournaments import Pair, describe_games, play_rounds, rate_games, rounds

NAME: Final = "gnugo"
RUN: Final = f"search/{NAME}"
_ROUNDS: Final = 10  # so that all matches are played side by side
_SMOKE_LIMIT: Final = Limit(seconds=0.05)


@dataclass(frozen=True, slots=True)
class Match:
    """A player against a level of GNU Go, and what we want it to win.

    Held to simulations it plays on one thread, and a busy machine slows the match; only priors that come later than
    they would elsewhere weaken the player.
    """

    player: str
    size: int
    level: int
    limit: Limit  # of a move
    games: dict[Budget, int]
    bar: str | None = None  # percent won

    @property
    def name(self) -> str:
        held = f"-{self.limit.simulations}" if self.limit.simulations else ""
        return f"{self.player}{held}-level-{self.level}"

    @property
    def limit_in_words(self) -> str:
        return f"{self.limit.simulations:,} simulations" if self.limit.simulations else f"{self.limit.seconds:g} s"


_SOME: Final = {Budget.SMOKE: 0, Budget.HOUR: 20, Budget.FULL: 20}
_FEW: Final = {Budget.SMOKE: 0, Budget.HOUR: 0, Budget.FULL: 20}
MATCHES: Final = (
    Match("strong-9", 9, 10, Limit(seconds=2.0), {Budget.SMOKE: 2, Budget.HOUR: 20, Budget.FULL: 200}, "≥ 90"),
    Match("strong-19", 19, 0, Limit(simulations=2000), _SOME, "> 50"),
    Match("strong-19", 19, 10, Limit(simulations=2000), _SOME),
    Match("strong-19", 19, 0, Limit(seconds=10.0), _FEW, "> 50"),
    Match("strong-19", 19, 10, Limit(seconds=10.0), _FEW),
)


def measure(scope: Scope) -> Json:
    """Play one game at a time, whatever ``--jobs`` says, all matches side by side.

    ``--runs`` is the number of games of those matches that the budget has.
    """
    require_gnugo()
    chosen = [match for match in MATCHES if match.games[scope.budget]]
    parts = (_rounds(match, scope).items() for match in chosen)
    tournaments = dict(part for part in chain.from_iterable(zip_longest(*parts)) if part)
    sizes = {match.name: match for match in chosen}

    def count(records: Sequence[GameRecord]) -> Json:
        return {"matches": {name: _count(match, records) for name, match in sizes.items()}}

    return play_rounds(tournaments, scope, count)


def _rounds(match: Match, scope: Scope) -> dict[str, TournamentSettings]:
    games = scope.runs or match.games[scope.budget]
    limit = _SMOKE_LIMIT if scope.budget is Budget.SMOKE else match.limit
    template = TournamentSettings(
        players=write_players({match.name: _limited(match.player, limit)}, scope.folder / "players")
        | {gnugo_name(match.level): gnugo(match.level)},
        size=match.size,
        openings=OpeningSettings(random_plies=0),
    )
    found = rounds(template, {match.name: games}, max(2, games // _ROUNDS))
    return {f"{match.name}-{folder}": settings for folder, settings in found.items()}


def _limited(player: str, limit: Limit) -> Json:
    """Our player as it ships but for the limit; GNU Go thinks as long as it likes."""
    values = read_player(player)
    threads = {"threads": 1} if limit.simulations else {}
    limits = {name: value for name, value in asdict(limit).items() if value is not None}
    return values | {"search": values["search"] | threads, "limit": limits}


def _count(match: Match, records: Sequence[GameRecord]) -> Json:
    """The score of one match; nothing if it has no games yet."""
    own = [record for record in records if match.name in (record.black.name, record.white.name)]
    opponent = gnugo_name(match.level)
    if not own:
        return {"games": 0}
    return describe_games(own) | rate_games([match.name, opponent], own, Anchor(opponent))


def rows(results: Json) -> list[Row]:
    """The win rate of every match; None for those that were not played."""
    return [_row(match, results) for match in MATCHES]


def _row(match: Match, results: Json) -> Row:
    pair = _pair(match, results)
    what = f"{match.player} at {match.limit_in_words} a move against {gnugo_name(match.level)}: won, %"
    won, interval = (None, None) if pair is None else (round(pair.percent, 1), pair.percent_interval)
    return Row(f"{NAME}/{match.name}", what, match.bar, won, interval, RUN)


def _pair(match: Match, results: Json) -> Pair | None:
    found = results["matches"].get(match.name, {"games": 0})
    return Pair(**found["pairs"][0]) if found["games"] else None


def section(results: Json, pictures: Path) -> str:  # noqa: ARG001 — the table says it all
    """How it was played, and the scores."""
    return f"""
One game at a time, from the empty board, komi 7.5, area rules, colors alternating. Only our players are limited: by
time on all cores, or held to simulations on one thread, as a lower bound: far less than they have otherwise. Priors of
a network come while the search goes on, on a busy machine later, so that such games are not the same everywhere.

{_table(results)}
"""


def _table(results: Json) -> str:
    header = ("match", "board", "limit", "s a move", "games", "different", "won, %", "Elo above GNU Go")
    lines = []
    for match in MATCHES:
        pair = _pair(match, results)
        if pair is not None:
            found = results["matches"][match.name]
            rating, *interval = found["ratings"][match.name]
            lines.append(
                (
                    f"{match.player} – {gnugo_name(match.level)}",
                    f"{match.size}×{match.size}",
                    match.limit_in_words,
                    format_value(round(found["seconds"][match.name], 2)),
                    str(pair.games),
                    str(found["distinct"]),
                    format_estimate(round(pair.percent, 1), [round(bound, 1) for bound in pair.percent_interval]),
                    format_estimate(rating, interval),
                )
            )
    return table(header, lines)


TABLE: Final = Table(NAME, "Against GNU Go", measure, rows, section)
