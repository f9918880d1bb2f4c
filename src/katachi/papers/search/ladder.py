"""The shipped levels on one scale, with simple players and GNU Go as rungs between them.

Each plays the two that follow it in the order of their strength. The scale is that of the old Computer Go Server,
where GNU Go stood at 1,800.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from katachi.arena.ratings import Anchor
from katachi.arena.records import GameRecord
from katachi.arena.settings import LimitSettings, TournamentSettings
from katachi.papers.documents import COLORS, format_estimate, label_axes, plot, table
from katachi.papers.experiment import Budget, ExperimentError, Json, Row, Scope, Table
from katachi.papers.gnugo import gnugo, gnugo_name, require_gnugo
from katachi.papers.player_files import write_rating
from katachi.papers.tournaments import Pair, describe_games, play_rounds, rate_games, rounds
from katachi.players.specs import RatingTable

NAME: Final = "ladder"
RUN: Final = f"search/{NAME}"
SIZE: Final = 9
ANCHOR: Final = Anchor(gnugo_name(10), 1800)
SCALE: Final = f"on {SIZE}x{SIZE}, where {ANCHOR.player} is {ANCHOR.rating:,.0f}"
LEVELS: Final = tuple(f"level-{number}" for number in range(1, 11))
RUNGS: Final[Mapping[str, str]] = {  # in the order of their strength, or nearly
    "random": "random",
    **{level: level for level in LEVELS[:4]},
    "ALP": "alp",
    **{level: level for level in LEVELS[4:7]},
    gnugo_name(0): gnugo(0),
    LEVELS[7]: LEVELS[7],
    ANCHOR.player: gnugo(10),
    **{level: level for level in LEVELS[8:]},
}
GAMES: Final = {Budget.SMOKE: 2, Budget.HOUR: 10, Budget.FULL: 100}
_SMOKE_SIMULATIONS: Final = 10


def measure(scope: Scope) -> Json:
    """Play and rate; ``--runs`` is the number of games of each pair."""
    require_gnugo()
    games = scope.runs or GAMES[scope.budget]
    template = TournamentSettings(
        players=dict(RUNGS),
        scheme="ladder",
        size=SIZE,
        jobs=scope.workers.jobs,
        limit=LimitSettings(simulations=_SMOKE_SIMULATIONS if scope.budget is Budget.SMOKE else None),
    )

    def count(records: Sequence[GameRecord]) -> Json:
        return describe_games(records) | rate_games(list(RUNGS), records, ANCHOR)

    return play_rounds(rounds(template, dict.fromkeys(RUNGS, games)), scope, count)


def rows(results: Json) -> list[Row]:
    """The rating of every player."""
    return [
        Row(f"{NAME}/{name.replace(' ', '-')}", f"{name}: Elo", None, rating, (low, high), RUN)
        for name, (rating, low, high) in results["ratings"].items()
    ]


def section(results: Json, pictures: Path) -> str:
    """How it was played, the ratings as a picture, and as a table."""
    _draw(results, pictures / f"{NAME}.svg")
    return f"""
{results["games"]:,} games {SCALE}, each opening of two random moves played with both colors; {results["distinct"]:,} of
them differ. Each player met the two that stand nearest above and below. Ratings are Bradley–Terry's. The cards of the
levels have them from here: `katachi players`.

![The levels, simple players and GNU Go on one scale](search/{NAME}.svg)

{_table(results)}
"""


def _table(results: Json) -> str:
    order = list(results["ratings"])
    above = {(pair.second, pair.first): pair for pair in (Pair(**pair) for pair in results["pairs"])}
    lines = []
    for name, other in zip(order, [*order[1:], ""], strict=True):
        rating, *interval = results["ratings"][name]
        lines.append((name, format_estimate(rating, interval), _won(above, name, other)))
    return table(("player", "Elo (95 %)", "won against the next below, %"), lines)


def _won(above: Mapping[tuple[str, str], Pair], name: str, other: str) -> str:
    """What a player won against another, if they met."""
    if pair := above.get((name, other)):
        return f"{100 - pair.percent:.1f} of {pair.games}"
    if pair := above.get((other, name)):
        return f"{pair.percent:.1f} of {pair.games}"
    return ""


def _draw(results: Json, path: Path) -> None:
    found = dict(reversed(results["ratings"].items()))
    values = [rating for rating, _, _ in found.values()]
    errors = (
        [rating - low for rating, low, _ in found.values()],
        [high - rating for rating, _, high in found.values()],
    )
    with plot(path, columns=2, height=1.2 + 0.25 * len(found)) as (axes, rest):
        rest.set_axis_off()
        axes.errorbar(
            values, range(len(found)), xerr=errors, color=COLORS[4], fmt="o", capsize=3, label="95 % interval"
        )
        label_axes(axes, f"Ratings {SCALE}", "Elo", "")
        axes.set_yticks(range(len(found)), list(found))


def write_cards(results: Mapping[str, Json], folder: Path) -> list[str]:
    """Put the ratings of the levels into their files in a folder; returns whose.

    Raises ExperimentError if they were not measured, or are not there.
    """
    if NAME not in results:
        raise ExperimentError(f"the table {NAME} has not been measured")
    ratings = {level: results[NAME]["ratings"][level] for level in LEVELS if level in results[NAME]["ratings"]}
    for level, (value, low, high) in ratings.items():
        path = folder / f"{level}.toml"
        if not path.is_file():
            raise ExperimentError(f"there is no {path} to write a rating into")
        write_rating(path, RatingTable(value=value, low=low, high=high, scale=SCALE))
    return list(ratings)


TABLE: Final = Table(NAME, "A ladder of levels", measure, rows, section)
