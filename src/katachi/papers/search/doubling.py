"""Strength by simulations: the tree search with ever more of them a move, against GNU Go."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from katachi.arena.ratings import Anchor
from katachi.arena.records import GameRecord
from katachi.arena.settings import OpeningSettings, TournamentSettings
from katachi.papers.documents import COLORS, format_estimate, label_axes, plot, table
from katachi.papers.experiment import Budget, Json, Row, Scope, Table
from katachi.papers.gnugo import gnugo, gnugo_name, require_gnugo
from katachi.papers.player_files import write_players
from katachi.papers.tournaments import Pair, describe_games, play_rounds, rate_games, rounds

NAME: Final = "doubling"
RUN: Final = f"search/{NAME}"
SIZE: Final = 9
LEVEL: Final = 10
OPPONENT: Final = Anchor(gnugo_name(LEVEL))
POINTS: Final = (500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000)
BARS: Final = {10_000: 80}  # percent won
GAMES: Final[Mapping[Budget, Mapping[int, int]]] = {
    Budget.SMOKE: {500: 2, 1_000: 2},
    Budget.HOUR: dict.fromkeys(POINTS, 10),
    Budget.FULL: dict.fromkeys(POINTS, 20) | {10_000: 200},
}


def player(simulations: int) -> Json:
    """The search as it is by default, on one thread, so that games can be played side by side."""
    return {"kind": "search", "search": {"kind": "mcts", "threads": 1}, "limit": {"simulations": simulations}}


def name_of(simulations: int) -> str:
    """What a point is called."""
    return f"{simulations} simulations"


def measure(scope: Scope) -> Json:
    """Play all points side by side, from the empty board; ``--runs`` is the number of games of each."""
    require_gnugo()
    plan = dict.fromkeys(POINTS, scope.runs) if scope.runs else GAMES[scope.budget]
    games = {name_of(simulations): count for simulations, count in plan.items()}
    files = write_players({name_of(simulations): player(simulations) for simulations in plan}, scope.folder / "players")
    template = TournamentSettings(
        players={OPPONENT.player: gnugo(LEVEL), **files},
        scheme="gauntlet",
        size=SIZE,
        jobs=scope.workers.jobs,
        openings=OpeningSettings(random_plies=0),
    )

    def count(records: Sequence[GameRecord]) -> Json:
        return describe_games(records) | rate_games([*games, OPPONENT.player], records, OPPONENT)

    return play_rounds(rounds(template, games), scope, count)


def scores(results: Json) -> dict[int, Pair]:
    """What each point won against the opponent, by simulations."""
    pairs = (Pair(**pair) for pair in results["pairs"])
    return {int(pair.first.split()[0]): pair for pair in pairs}


def rows(results: Json) -> list[Row]:
    """The win rate and the Elo difference of every point."""
    return [row for simulations, pair in scores(results).items() for row in _rows(simulations, pair, results)]


def _rows(simulations: int, pair: Pair, results: Json) -> list[Row]:
    rating, low, high = results["ratings"][pair.first]
    what = f"{simulations:,} simulations against {OPPONENT.player}"
    return [
        Row(
            f"{NAME}/{simulations}/won",
            f"{what}: won, %",
            _bar(simulations),
            round(pair.percent, 1),
            pair.percent_interval,
            RUN,
        ),
        Row(f"{NAME}/{simulations}/elo", f"{what}: Elo", None, rating, (low, high), RUN),
    ]


def _bar(simulations: int) -> str | None:
    return f"≥ {BARS[simulations]}" if simulations in BARS else None


def section(results: Json, pictures: Path) -> str:
    """How it was played, the curve, and its points."""
    _draw(results, pictures / f"{NAME}.svg")
    return f"""
{results["games"]:,} games on {SIZE}×{SIZE} from the empty board against {OPPONENT.player}, komi 7.5, area rules, colors
alternating, with the default settings on one thread; {results["distinct"]:,} of them differ. The tree is kept from move
to move, and a search ends early where its move can no longer change.

![Win rate and Elo by simulations a move](search/{NAME}.svg)

{_table(results)}
"""


def _table(results: Json) -> str:
    header = ("simulations a move", "games", "won, %", f"Elo above {OPPONENT.player}", "s a move")
    lines = []
    for simulations, pair in scores(results).items():
        rating, *interval = results["ratings"][pair.first]
        won = format_estimate(round(pair.percent, 1), [round(bound, 1) for bound in pair.percent_interval])
        elo, seconds = format_estimate(rating, interval), f"{results['seconds'][pair.first]:.2f}"
        lines.append((f"{simulations:,}", str(pair.games), won, elo, seconds))
    return table(header, lines)


def _draw(results: Json, path: Path) -> None:
    found = scores(results)
    won = [(pair.percent, *pair.percent_interval) for pair in found.values()]
    elo = [results["ratings"][pair.first] for pair in found.values()]
    with plot(path, columns=2) as (left, right):
        _draw_curve(left, list(found), won)
        label_axes(left, f"Games won against {OPPONENT.player}", "simulations a move", "%")
        _draw_curve(right, list(found), elo)
        label_axes(right, f"Strength above {OPPONENT.player}", "simulations a move", "Elo")


def _draw_curve(axes: Any, simulations: Sequence[int], found: Sequence[Sequence[float]]) -> None:
    """Values with their intervals, each (value, low, high)."""
    below = [value - low for value, low, _ in found]
    above = [high - value for value, _, high in found]
    values = [value for value, _, _ in found]
    axes.errorbar(simulations, values, (below, above), color=COLORS[4], marker="o", capsize=3, label="95 % interval")
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter("{x:,.0f}")


TABLE: Final = Table(NAME, "Strength by simulations", measure, rows, section)
