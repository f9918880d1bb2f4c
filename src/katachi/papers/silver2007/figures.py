"""Figure 5: the final agents rated on 9×9, the paper's on CGOS, ours in tournaments of the same kinds of players.

Ratings need a player whose rating is known on both sides: the average liberty player, 850 on CGOS. The random player,
at −170, would be a poor one: whoever loses all games has a rating of which only an upper bound is known.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from katachi.arena.ratings import Anchor
from katachi.arena.settings import LimitSettings, Scheme, TournamentSettings
from katachi.papers.documents import format_value, table
from katachi.papers.experiment import Budget, Json, Row, Scope, Table
from katachi.papers.gnugo import gnugo, gnugo_name, has_gnugo
from katachi.papers.tournaments import Pair, play_tournaments, rate_games

NAME: Final = "figure5"
RUN: Final = f"silver2007/{NAME}"
SIZE: Final = 9
ANCHOR: Final = Anchor("ALP", 850)
_SMOKE_SECONDS: Final = 0.02  # a move


@dataclass(frozen=True, slots=True)
class Contestant:
    """A player, what the paper calls it, and what it was rated on CGOS; GNU Go is ours."""

    spec: str
    published: int | None = None


CONTESTANTS: Final = {
    "random": Contestant("random", -170),
    "influence": Contestant("influence", 700),
    ANCHOR.player: Contestant("alp", 850),
    "Linear-B": Contestant("shapes-9", 1070),
    "Linear-L": Contestant("shapes-liberties-9", 1140),
    "Linear-S": Contestant("shapes-alphabeta-9", 1210),
    gnugo_name(0): Contestant(gnugo(0)),
    gnugo_name(10): Contestant(gnugo(10)),
}


@dataclass(frozen=True, slots=True)
class Group:
    """A tournament and how many games of each pair a budget allows; in a gauntlet the first plays all others."""

    scheme: Scheme
    players: tuple[str, ...]
    games: dict[Budget, int]


GROUPS: Final = {
    "fast": Group(
        "round-robin",
        ("random", "influence", ANCHOR.player, "Linear-B", "Linear-L", "GNU Go level 0"),
        {Budget.SMOKE: 2, Budget.HOUR: 60, Budget.FULL: 400},
    ),
    "gnugo-10": Group(
        "gauntlet",
        ("GNU Go level 10", ANCHOR.player, "Linear-B", "Linear-L", "GNU Go level 0"),
        {Budget.SMOKE: 0, Budget.HOUR: 10, Budget.FULL: 40},
    ),
    "alphabeta": Group(
        "gauntlet",
        ("Linear-S", "Linear-B", "GNU Go level 0"),  # a game takes minutes: the two that say most
        {Budget.SMOKE: 2, Budget.HOUR: 6, Budget.FULL: 50},
    ),
}


def measure(scope: Scope) -> Json:
    """Play the tournaments, or what is left of them, and rate all players by all games.

    Without GNU Go the others play all the same. ``--runs`` is the number of games of each pair with alpha-beta.
    """
    tournaments = dict(_tournaments(scope))
    records = play_tournaments(tournaments, scope.folder, scope.watch)
    return {"games": len(records)} | rate_games(list(CONTESTANTS), records, ANCHOR)


def _tournaments(scope: Scope) -> Iterator[tuple[str, TournamentSettings]]:
    for name, group in GROUPS.items():
        games = scope.runs if scope.runs and name == "alphabeta" else group.games[scope.budget]
        players = {player: CONTESTANTS[player].spec for player in group.players if _is_here(player, scope.budget)}
        if games and group.players[0] in players:
            yield f"{name}-{games}", _settings(players, group.scheme, games, scope)


def _is_here(player: str, budget: Budget) -> bool:
    """GNU Go may not be installed, and its level 10 takes longer than a smoke test may."""
    if not player.startswith("GNU Go"):
        return True
    return has_gnugo() and not (budget is Budget.SMOKE and player.endswith("10"))


def _settings(players: dict[str, str], scheme: Scheme, games: int, scope: Scope) -> TournamentSettings:
    seconds = _SMOKE_SECONDS if scope.budget is Budget.SMOKE else None
    return TournamentSettings(
        players=players,
        scheme=scheme,
        games=games,
        size=SIZE,
        jobs=scope.workers.jobs,
        limit=LimitSettings(seconds=seconds),
    )


def rows(results: Json) -> list[Row]:
    """The rating of every player; None for those who did not play."""
    return [_row(name, contestant, results) for name, contestant in CONTESTANTS.items()]


def _row(name: str, contestant: Contestant, results: Json) -> Row:
    rating, *interval = results["ratings"].get(name, [None])
    bounds = (interval[0], interval[1]) if interval else None
    return Row(f"{NAME}/{name.replace(' ', '-')}", f"{name}: Elo", contestant.published, rating, bounds, RUN)


def section(results: Json, pictures: Path) -> str:  # noqa: ARG001 — the tables say it all
    """How it was played, the ratings, and the score of every pair."""
    return f"""
{results["games"]:,} games on {SIZE}×{SIZE}, each opening of two random moves played with both colors. Linear-B is
our `{CONTESTANTS["Linear-B"].spec}`, Linear-L `{CONTESTANTS["Linear-L"].spec}`, Linear-S
`{CONTESTANTS["Linear-S"].spec}`. Ratings are Bradley–Terry's with {ANCHOR.player} at {ANCHOR.rating:g}, where it
stood on CGOS; the interval is that of 95 % from resampling games. Who lost or won nearly everything has a wide one,
and those far from {ANCHOR.player} rest on how Elo's curve runs there.

{_rating_table(results)}

{_pair_table(results)}
"""


def _rating_table(results: Json) -> str:
    found = sorted(results["ratings"].items(), key=lambda item: -item[1][0])
    lines = [
        (
            name,
            format_value(CONTESTANTS[name].published),
            format_value(rating),
            f"{format_value(low)} … {format_value(high)}",
        )
        for name, (rating, low, high) in found
    ]
    return table(("player", "CGOS, 2006", "ours", "95 %"), lines)


def _pair_table(results: Json) -> str:
    return table(("pair", "games", "the first won, %", "95 %"), (_pair_line(Pair(**pair)) for pair in results["pairs"]))


def _pair_line(pair: Pair) -> tuple[str, ...]:
    low, high = pair.percent_interval
    return f"{pair.first} – {pair.second}", str(pair.games), f"{pair.percent:.1f}", f"{low:.0f} … {high:.0f}"


TABLE: Final = Table(NAME, "Figure 5: ratings on 9×9", measure, rows, section)
