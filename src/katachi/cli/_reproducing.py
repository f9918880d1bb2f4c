"""What ``katachi reproduce`` needs: where results go, a display of how far the runs are, and the rows."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table

from katachi.cli._arena import RUNS, print_json
from katachi.papers.documents import format_estimate, format_value
from katachi.papers.experiment import Budget, Experiment, ExperimentError, read_results
from katachi.papers.experiment import Progress as RunsDone

_SECONDS_BETWEEN_LINES: Final = 30  # where standard error is no terminal


def default_folder(experiment: Experiment, budget: Budget) -> Path:
    """Where results go if nobody says; the runs of an hour are also the first of all runs."""
    return RUNS / (f"{experiment.name}-smoke" if budget is Budget.SMOKE else experiment.name)


class RunProgress:
    """Runs, games/s and the time left on standard error: a bar in a terminal, else a line now and then."""

    def __init__(self) -> None:
        console = Console(stderr=True)
        self._is_terminal = console.is_terminal
        columns = (
            TextColumn("{task.fields[name]}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.description}"),
        )
        self._progress = Progress(*columns, console=console, disable=not self._is_terminal, transient=True)
        self._task = self._progress.add_task("", total=None, name="")
        self._last_line = 0.0

    def show(self, done: RunsDone) -> None:
        """Show how far the runs of a table are."""
        if self._is_terminal:
            self._progress.update(
                self._task, total=done.all_runs, completed=done.runs, name=done.name, description=_describe(done)
            )
        elif done.runs == done.all_runs or time.monotonic() > self._last_line + _SECONDS_BETWEEN_LINES:
            self._last_line = time.monotonic()
            typer.echo(f"katachi: {done.name}: {done.runs} of {done.all_runs}, {_describe(done)}", err=True)

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()


def _describe(done: RunsDone) -> str:
    """``5,210 games/s, 12 min left``; slow games are counted by the hour."""
    rate = done.games_per_second
    shown = f"{rate:,.0f} {done.unit}/s" if rate >= 1 else f"{3600 * rate:,.0f} {done.unit}/h"
    left = "" if done.seconds_left is None else f", {_format_seconds(done.seconds_left)} left"
    return shown + left


def _format_seconds(seconds: float) -> str:
    return (
        f"{seconds:.0f} s"
        if seconds < 100
        else f"{seconds / 60:.0f} min"
        if seconds < 6000
        else f"{seconds / 3600:.1f} h"
    )


def write_ratings(experiment: Experiment, run: Path, folder: Path) -> list[str]:
    """Put what a run found into the files that it is about; returns whose. Raises ExperimentError."""
    if experiment.write_cards is None:
        raise ExperimentError(f"{experiment.name} rates no players")
    return experiment.write_cards(read_results(run), folder)


def show_rows(experiment: Experiment, results: Mapping[str, Any], *, as_json: bool) -> None:
    """The rows of what was measured, as a table or as one JSON object."""
    rows = experiment.rows(results)
    if as_json:
        print_json({"paper": experiment.name, "rows": [row.to_json() for row in rows]})
        return
    shown = Table("what", experiment.baseline, "ours (95 %)", title=experiment.title)
    for row in rows:
        shown.add_row(row.what, format_value(row.published), format_estimate(row.ours, row.interval))
    console = Console()
    (console if console.is_terminal else Console(width=140)).print(shown)
