"""The learned players that ship, one of each paper, against each other without search, and simple ones for scale."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from katachi.arena.ratings import Anchor
from katachi.arena.records import GameRecord
from katachi.arena.settings import TournamentSettings
from katachi.papers.documents import Estimate, format_estimate, format_rounded, table
from katachi.papers.experiment import Budget, Json, Row, Scope, Table
from katachi.papers.tournaments import Pair, describe_games, distinct_games, play_rounds, rate_games, rounds
from katachi.players.specs import shipped_players

NAME: Final = "tournament"
RUN: Final = f"largman2010/{NAME}"
SIZE: Final = 9
LEARNED: Final = ("crbm-9", "shapes-9", "territory-9", "policy-9")
SIMPLE: Final = ("alp", "random")
ANCHOR: Final = Anchor("alp")
GAMES: Final = {Budget.SMOKE: 2, Budget.HOUR: 20, Budget.FULL: 200}  # of each pair


def measure(scope: Scope) -> Json:
    """Play all against all; ``--runs`` is the number of games of each pair."""
    ships = {player.name for player in shipped_players()}
    names = [name for name in (*LEARNED, *SIMPLE) if name in ships]
    template = TournamentSettings(players={name: name for name in names}, size=SIZE, jobs=scope.workers.jobs)

    def count(records: Sequence[GameRecord]) -> Json:
        return describe_games(records) | rate_games(names, distinct_games(records), ANCHOR)

    return play_rounds(rounds(template, dict.fromkeys(names, scope.runs or GAMES[scope.budget])), scope, count)


def rows(results: Json) -> list[Row]:
    """The rating of every player, and the score of every pair."""
    ratings = [
        Row(f"{NAME}/{name}", f"{name}: Elo above {ANCHOR.player}", None, rating, (low, high), RUN)
        for name, (rating, low, high) in results["ratings"].items()
    ]
    return ratings + [_row(Pair(**pair)) for pair in results["pairs"]]


def _row(pair: Pair) -> Row:
    what = f"{pair.first} against {pair.second}: won, %"
    return Row(f"{NAME}/{pair.first}/{pair.second}", what, None, round(pair.percent, 1), pair.percent_interval, RUN)


def section(results: Json, pictures: Path) -> str:  # noqa: ARG001 — the tables say it all
    """Ratings, and who won how much against whom."""
    ratings = [(name, format_estimate(rating, bounds)) for name, (rating, *bounds) in results["ratings"].items()]
    pairs = [Pair(**pair) for pair in results["pairs"]]
    lines = [
        (pair.first, pair.second, f"{format_rounded(Estimate(pair.percent, pair.percent_interval))} of {pair.games}")
        for pair in pairs
    ]
    return f"""
The players that ship for {SIZE}×{SIZE} and learned by the four papers, as many of them as there are, with the average
liberty player and the random one. Nobody searches. {results["games"]:,} games, of which {results["distinct"]:,} differ
and count, each opening of two random moves played with both colors. Ratings are Bradley–Terry's, above
`{ANCHOR.player}`.

{table(("player", "Elo (95 %)"), ratings)}

{table(("player", "against", "won, %"), lines)}
"""


TABLE: Final = Table(NAME, "The four papers against each other", measure, rows, section)
