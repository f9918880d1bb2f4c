"""Expert iteration by generation: how strong its networks are without search, and what more hours promise."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import numpy as np

from katachi.arena.ratings import Anchor
from katachi.arena.records import GameRecord
from katachi.arena.settings import OpeningSettings, TournamentSettings
from katachi.core.training import METRICS, read_values
from katachi.papers.documents import COLORS, format_estimate, format_value, label_axes, plot, table, with_errors
from katachi.papers.experiment import Budget, ExperimentError, Json, Row, Scope, Table
from katachi.papers.tournaments import describe_games, play_rounds, rate_games, rounds, write_players

GAMES: Final = {Budget.SMOKE: 2, Budget.HOUR: 40, Budget.FULL: 200}
FIRST: Final = Anchor("generation 0", 0.0)
_LEAST: Final = 3  # generations that a curve needs


def read_run(folder: Path) -> list[Json]:
    """What a run of ``katachi train expert`` measured by generation; raises ExperimentError if it is not one."""
    try:
        lines = [json.loads(line) for line in (folder / METRICS).read_text(encoding="utf-8").splitlines()]
    except OSError:
        raise ExperimentError(f"{folder} is not a run of katachi train expert: give one by --model") from None
    if not lines or "generation" not in lines[0]:
        raise ExperimentError(f"{folder} has no generation yet")
    return lines


def promise_of_doubling(hours: Sequence[float], elo: Sequence[float]) -> float | None:
    """The gradient of Elo by the binary logarithm of hours over the later half of them; None of too few."""
    chosen = [(np.log2(hour), value) for hour, value in zip(hours, elo, strict=True) if hour > 0]
    chosen = chosen[len(chosen) // 2 :]
    if len(chosen) < _LEAST:
        return None
    doublings, ratings = np.array(chosen, dtype=np.float64).T
    return float(np.polyfit(doublings, ratings, 1)[0])


class Generations(Table):
    name = "generations"
    title = "Expert iteration by generation"
    only_by_name = True

    def measure(self, scope: Scope) -> Json:
        """Let the networks that were better than all before them play each other; ``--model`` is the run."""
        if len(scope.models) != 1:
            raise ExperimentError("this table is about a run of katachi train expert: give it by --model")
        folder = Path(scope.models[0])
        lines, settings = read_run(folder), read_values(folder / "config.toml")
        kept = [0, *(line["generation"] for line in lines if line["is_better"])]
        files = write_players(
            {f"generation {number}": self._player(folder, number, settings) for number in kept},
            scope.folder / "players",
        )
        template = TournamentSettings(
            players=files,
            scheme="ladder",
            size=settings["size"],
            jobs=scope.workers.jobs,
            openings=OpeningSettings(random_plies=4),
        )
        hours = {f"generation {line['generation']}": line["seconds"] / 3600 for line in lines}

        def count(records: Sequence[GameRecord]) -> Json:
            counted = describe_games(records) | rate_games(list(files), records, FIRST)
            return counted | {"size": settings["size"], "hours": {FIRST.player: 0.0, **hours}, "lines": lines}

        return play_rounds(rounds(template, dict.fromkeys(files, scope.runs or GAMES[scope.budget])), scope, count)

    def _player(self, folder: Path, number: int, settings: Json) -> Json:
        place = f"generation-{number:03d}/{'learning/' if number else ''}model"
        rank = {"rank": settings["first_rank"]} if number == 0 and settings.get("first_rank") else {}
        evaluator = {"model": str((folder / place).resolve()), **rank}
        return {"kind": "search", "evaluator": evaluator, "search": {"kind": "policy"}}

    def _curve(self, results: Json) -> list[tuple[str, float, list[float]]]:
        """Each network in the order of its making: name, hours, rating with bounds."""
        order = sorted(results["ratings"], key=lambda name: int(name.split()[1]))
        return [(name, results["hours"][name], results["ratings"][name]) for name in order]

    def rows(self, results: Json) -> Iterator[Row]:
        """The rating of each network."""
        for name, hours, (rating, low, high) in self._curve(results):
            what = f"{name}, after {hours:.1f} hours: Elo without search"
            yield Row(f"{self.name}/{name.split()[1]}", what, None, rating, (low, high))

    def section(self, results: Json) -> str:
        """How it was played, the curve, and its points."""
        curve = self._curve(results)
        gain = promise_of_doubling([hours for _, hours, _ in curve], [rating for *_, (rating, *_) in curve])
        promise = "" if gain is None else f" By the later half of the curve, twice the hours promise {gain:+.0f} Elo."
        won = {f"generation {line['generation']}": line for line in results["lines"]}
        lines = [
            (
                name,
                f"{hours:.2f}",
                format_estimate(rating[0], rating[1:]),
                f"{100 * won[name]['score']:.0f} of {won[name]['match_games']}" if name in won else "",
            )
            for name, hours, rating in curve
        ]
        last = results["lines"][-1]
        wrong = sum(line["wrong_to_resign"] for line in results["lines"])
        checked = sum(line["checked_to_resign"] for line in results["lines"])
        header = ("network", "hours", "Elo without search (95 %)", "won in its match, %")
        return f"""
The networks of a run of `katachi train expert` that were better than the best before them: {last["generation"]}
generations, {format_value(last["games"])} games and {last["seconds"] / 3600:.1f} hours in all. Here they play without
search on {results["size"]}×{results["size"]}, each against the two that are nearest, {results["games"]:,} games from
four random moves, each opening with both colors; {results["distinct"]:,} games differ. The last column is the match by
search that let a network take the place of the one before. Of {checked} games that one side would have given up and
that were played on, {wrong} were won by that side.{promise}

![Elo by hours](search/{self.name}.svg)

{table(header, lines)}
"""

    def draw(self, results: Json, pictures: Path) -> None:
        """Draw the curve."""
        curve = self._curve(results)
        values, errors = with_errors(rating for *_, rating in curve)
        with plot(pictures / f"{self.name}.svg") as (axes,):
            hours = [hours for _, hours, _ in curve]
            axes.errorbar(hours, values, errors, color=COLORS[4], marker="o", capsize=3, label="95 % interval")
            label_axes(axes, "Elo of the network without search", "hours", "Elo above the first network")
