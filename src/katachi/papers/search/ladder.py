"""The bundled levels on one scale with GNU Go, on 9×9, 13×13 and 19×19, and the ranks of people that they are like.

Each plays the two that follow it in the order of their strength. The scale is that of the old Computer Go Server,
where GNU Go stood at 1,800. A rank is an estimate in two steps: GNU Go at level 10 is taken as 9 kyu, as it was on KGS
on 19×19, and a difference in Elo as OGS turns ratings into ranks, rank = 23.15 ln(rating / 525), 0 being 30 kyu.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import exp, log
from pathlib import Path
from typing import ClassVar, Final

from katachi.arena.ratings import Anchor
from katachi.arena.records import GameRecord
from katachi.arena.settings import LimitSettings, OpeningSettings, TournamentSettings
from katachi.papers.documents import COLORS, format_estimate, label_axes, plot, table, with_errors
from katachi.papers.experiment import Budget, ExperimentError, Json, Row, Scope, Table
from katachi.papers.tournaments import (
    Pair,
    describe_games,
    gnugo,
    gnugo_name,
    play_rounds,
    rate_games,
    require_gnugo,
    rounds,
    write_rating,
)
from katachi.players.specs import RatingTable
from katachi.sgf.record import MOST_KYU, format_grade, parse_grade

ANCHOR: Final = Anchor(gnugo_name(10), 1800)
LEVELS: Final = tuple(f"level-{number}" for number in range(1, 11))
GAMES: Final = {Budget.SMOKE: 2, Budget.HOUR: 20, Budget.FULL: 100}  # of each pair of levels
_GNUGO_SHARE: Final = 0.2  # of these games: GNU Go takes its time
EVIDENCE: Final = (
    f"estimates: {ANCHOR.player} is taken as 9 kyu, as on KGS, and Elo differences as OGS turns them into ranks"
)
_SMOKE_SIMULATIONS: Final = 10
_OGS_POINTS, _OGS_RANKS = 525.0, 23.15  # https://forums.online-go.com/t/53944
_WEAKEST: Final = 1 - MOST_KYU  # the grade that OGS counts ranks from
_ANCHOR_POINTS: Final = _OGS_POINTS * exp((parse_grade("9k") - _WEAKEST) / _OGS_RANKS)


def estimate_rank(elo: float) -> str:
    """The rank of people who would be about as strong, 30k if they are weaker.

    >>> [estimate_rank(elo) for elo in (900, 1310, 1800, 2420)]
    ['30k', '20k', '9k', '1d']
    """
    points = max(_OGS_POINTS, _ANCHOR_POINTS + elo - ANCHOR.rating)
    return format_grade(_WEAKEST + round(_OGS_RANKS * log(points / _OGS_POINTS)))


class Ladder(Table):
    name = "ladder"
    title = "A ladder of levels"
    size: ClassVar[int] = 9
    # how many levels GNU Go's levels 0 and 10 stand above, or nearly: neighbors in this order meet
    gnugo_above: ClassVar[Mapping[int, int]] = {0: 5, 10: 6}

    @property
    def scale(self) -> str:
        return f"on {self.size}x{self.size}, where {ANCHOR.player} is {ANCHOR.rating:,.0f}"

    @property
    def rungs(self) -> dict[str, str]:
        """Everybody in the order of their strength, or nearly."""
        found: dict[str, str] = {}
        for number, level in enumerate(LEVELS, start=1):
            found[level] = level
            found |= {gnugo_name(other): gnugo(other) for other, at in self.gnugo_above.items() if at == number}
        return found

    def measure(self, scope: Scope) -> Json:
        """Play and rate; ``--runs`` is the number of games of a pair of levels, ``--model`` a level instead of all."""
        require_gnugo()
        games = scope.runs or GAMES[scope.budget]
        some = max(2, round(_GNUGO_SHARE * games))
        rungs = {
            name: player
            for name, player in self.rungs.items()
            if not scope.models or name not in LEVELS or name in scope.models
        }
        template = TournamentSettings(
            players=rungs,
            scheme="ladder",
            size=self.size,
            jobs=scope.workers.jobs,
            openings=OpeningSettings(random_plies=0),
            limit=LimitSettings(simulations=_SMOKE_SIMULATIONS if scope.budget is Budget.SMOKE else None),
        )

        def count(records: Sequence[GameRecord]) -> Json:
            return describe_games(records) | rate_games(list(rungs), records, ANCHOR)

        return play_rounds(rounds(template, {name: games if name in LEVELS else some for name in rungs}), scope, count)

    def rate_levels(self, results: Json) -> dict[str, RatingTable]:
        """The ratings of those levels that were measured."""
        return {
            level: RatingTable(
                value=value, low=low, high=high, scale=self.scale, rank=estimate_rank(value), evidence=EVIDENCE
            )
            for level, (value, low, high) in results["ratings"].items()
            if level in LEVELS
        }

    def rows(self, results: Json) -> Iterator[Row]:
        """The rating of every player."""
        for name, (rating, low, high) in results["ratings"].items():
            yield Row(f"{self.name}/{name.replace(' ', '-')}", f"{name}: Elo", None, rating, (low, high))

    def section(self, results: Json) -> str:
        """How it was played, the ratings as a picture, and as a table."""
        return f"""
{results["games"]:,} games {self.scale}, colors alternating; {results["distinct"]:,} of them differ. Each player met the
two that stand nearest above and below. Ratings are Bradley–Terry's. The cards of the levels have them from here:
`katachi players`. Ranks are {EVIDENCE} ([formula](https://forums.online-go.com/t/53944)).

![The levels and GNU Go on one scale](search/{self.name}.svg)

{self._table(results)}
"""

    def _table(self, results: Json) -> str:
        order = list(results["ratings"])
        above = {(pair.second, pair.first): pair for pair in (Pair(**pair) for pair in results["pairs"])}
        lines = []
        for name, other in zip(order, [*order[1:], ""], strict=True):
            rating, *interval = results["ratings"][name]
            seconds = f"{1000 * results['seconds'][name]:,.0f}"
            won = self._won(above, name, other)
            lines.append((name, format_estimate(rating, interval), estimate_rank(rating), won, seconds))
        return table(("player", "Elo (95 %)", "about", "won against the next below, %", "ms per move"), lines)

    def _won(self, above: Mapping[tuple[str, str], Pair], name: str, other: str) -> str:
        """What a player won against another, if they met."""
        if pair := above.get((name, other)):
            return f"{100 - pair.won.mean:.1f} of {pair.games}"
        if pair := above.get((other, name)):
            return f"{pair.won.mean:.1f} of {pair.games}"
        return ""

    def draw(self, results: Json, pictures: Path) -> None:
        """Draw the picture."""
        found = dict(reversed(results["ratings"].items()))
        values, errors = with_errors(found.values())
        with plot(pictures / f"{self.name}.svg", columns=2, height=1.2 + 0.25 * len(found)) as (axes, rest):
            rest.set_axis_off()
            axes.errorbar(
                values, range(len(found)), xerr=errors, color=COLORS[4], fmt="o", capsize=3, label="95 % interval"
            )
            label_axes(axes, f"Ratings {self.scale}", "Elo", "")
            axes.set_yticks(range(len(found)), list(found))


class Ladder13(Ladder):
    name = "ladder-13"
    title = "The levels on 13×13"
    size = 13


class Ladder19(Ladder):
    name = "ladder-19"
    title = "The levels on 19×19"
    size = 19


LADDERS: Final = (Ladder(), Ladder13(), Ladder19())


def write_cards(results: Mapping[str, Json], folder: Path) -> list[str]:
    """Put the ratings of the levels into their files in a folder; returns whose.

    Raises ExperimentError if they were not measured, or are not there.
    """
    measured = [ladder for ladder in LADDERS if ladder.name in results]
    if not measured:
        raise ExperimentError(f"the table {Ladder.name} has not been measured")
    rated: dict[str, None] = {}
    for ladder in measured:
        for level, rating in ladder.rate_levels(results[ladder.name]).items():
            path = folder / f"{level}.toml"
            if not path.is_file():
                raise ExperimentError(f"there is no {path} to write a rating into")
            write_rating(path, rating, f"boards.{ladder.size}.rating")
            rated[level] = None
    return list(rated)
