"""What ``katachi train`` and ``katachi models make`` share: settings from the command line, and runs with a display."""

from __future__ import annotations

import hashlib
import json
import math
import time
import tomllib
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel
from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.text import Text

from katachi.cli._commands import NowAndThen, format_seconds, show_progress
from katachi.core import training as core
from katachi.core.disk import parse_toml
from katachi.core.execution import cluster_in_use
from katachi.go.compiling import compiling

_SHOWN_UPDATES: Final = 200  # whose sums the display shows


# Settings


def collect_values(file: Path | None, options: Mapping[str, Any], changes: Sequence[str]) -> dict[str, Any]:
    """The values of a file, then of options that were given, then of ``key=value``, the later ones over the earlier."""
    values = core.read_values(file) if file else {}
    values |= {key: value for key, value in options.items() if value is not None}
    for change in changes:
        values |= _parse_change(change)
    return values


def values_of_run(run: Path, given: Sequence[object]) -> dict[str, Any]:
    """The settings that a run was started with; raises TrainingError if it is not one, or other settings are given."""
    if any(value not in (None, []) for value in given):
        raise core.TrainingError("--resume takes all settings from the run: give no others")
    if not (run / core.CONFIG).exists():
        raise core.TrainingError(f"{run} is not a run that could be resumed")
    return core.read_values(run / core.CONFIG)


def _parse_change(change: str) -> dict[str, Any]:
    """``key=value`` with a TOML value; a word without quotes is a text."""
    key, equals, value = change.partition("=")
    if not (equals and key.strip().isidentifier()):
        raise core.TrainingError(f"--set {change}: say KEY=VALUE")
    try:
        return {key.strip(): parse_toml(f"value = {value}")["value"]}
    except tomllib.TOMLDecodeError:
        return {key.strip(): value}


def training_folder(settings: BaseModel, title: str, name: str = "", former: Sequence[str] = ()) -> Path:
    """Where a run goes if nobody says: one folder for each set of settings, so that the same command resumes.

    A run that was started when the training ``name`` had a former name is resumed where it is.
    """
    digest = hashlib.sha256(json.dumps(settings.model_dump(mode="json"), sort_keys=True).encode()).hexdigest()[:8]
    older = (core.RUNS / f"{title.replace(name, old, 1)}-{digest}" for old in former)
    return next((path for path in older if path.exists()), core.RUNS / f"{title}-{digest}")


def run_folders(settings: BaseModel, runs: int, folder: Path) -> dict[Path, Any]:
    """One run in the folder itself; several in one below it for each seed from the first on."""
    if runs == 1:
        return {folder: settings}
    first: int = settings.model_dump()["seed"]
    seeds = range(first, first + runs)
    return {folder / f"seed-{seed}": settings.model_copy(update={"seed": seed}) for seed in seeds}


# The display, on standard error: a bar in a terminal, else a line now and then.


class Speed(ProgressColumn):
    """How many of something are done in a second."""

    def __init__(self, what: str) -> None:
        super().__init__()
        self._what = what

    def render(self, task: Task) -> Text:
        return Text("" if task.speed is None else f"{task.speed:,.0f} {self._what}/s")


class RunDisplay(core.Observer):
    """The line of one run, and what was measured in it."""

    def __init__(
        self,
        progress: Progress,
        training: core.TrainingCommand,
        settings: Any,
        board: core.TensorBoard | None = None,
        name: str = "",
    ) -> None:
        self.lines: list[core.MetricLine] = []
        self._progress, self._training, self._settings, self._board = progress, training, settings, board
        self._recent: deque[Any] = deque(maxlen=_SHOWN_UPDATES)
        self._done: int | None = None
        self._total: int | None = training.total(settings)
        self._started = 0, 0.0  # when the clock was started: how much was done, and the time
        self._bar = progress.add_task("", total=self._total)
        self._name, self._now_and_then = name, NowAndThen()

    def watch(self, line: core.MetricLine) -> None:
        self.lines.append(line)
        self.note(self.summary())
        if self._progress.disable and self._done is not None:  # else it is of an earlier part of the run
            self._now_and_then.say(self._report, at_once=True)
        if self._board is not None:
            self._board.write(self._training.scalars(line), line.values[self._training.unit])

    def tick(self, done: int, found: Any = None, total: int | None = None) -> None:
        """Show how much is done; the first call, and one on a new board, starts the clock anew."""
        if self._done is None or done < self._done:
            self._progress.reset(self._bar, total=total, completed=done)
            self._started = done, time.monotonic()
        self._done, self._total = done, total or self._total
        if found is not None:
            self._recent.append(found)
        if self._progress.disable:
            self._now_and_then.say(self._report)
        else:
            self._progress.update(self._bar, completed=done, total=total, description=self._describe())

    def note(self, text: str) -> None:
        self._progress.update(self._bar, description=text)

    def _describe(self) -> str:
        now = self._training.recent(core.add_up(self._recent)) if self._training.recent and self._recent else ""
        return "; ".join(filter(None, (now, self.summary() if self.lines else "")))

    def _report(self) -> str:
        """``12,800 of 50,000 games (26%), …, 5,210 games/s, 12 s left``."""
        first, start = self._started
        done, unit, rate = self._done or 0, self._training.unit, 0.0
        if done > first:
            rate = (done - first) / max(time.monotonic() - start, 1e-9)
        parts = [self._name + (f"{done:,} of {self._total:,} {unit} ({done / self._total:.0%})" if self._total else "")]
        parts += [self._describe()] if self._describe() else []
        parts += [f"{rate:,.0f} {unit}/s"] if rate else []
        parts += [f"{format_seconds((self._total - done) / rate)} left"] if rate and self._total else []
        return ", ".join(parts)

    def summary(self) -> str:
        """What was reached."""
        return self._training.summarize(self._settings, self.lines)


def train_and_show(
    training: core.TrainingCommand,
    runs: Mapping[Path, Any],
    command: str,
    machine: core.Machine = core.Machine(),  # noqa: B008
    jobs: int = 1,
    *,
    tensorboard: bool = False,
) -> list[RunDisplay]:
    """Train in all folders with their settings, ``jobs`` at a time, and return the displays.

    Several are threads: compiled games let other threads run, and one display can follow them all. With a cluster in
    use, each run that can be repeated is the work of a node, and is shown when it is through.
    """
    with ExitStack() as stack:
        boards: list[core.TensorBoard | None] = [None] * len(runs)
        if tensorboard:
            boards = [stack.enter_context(closing(core.TensorBoard(path / "tensorboard"))) for path in runs]
        columns = (MofNCompleteColumn(), BarColumn(bar_width=24), TimeRemainingColumn(), Speed(training.unit))
        progress = stack.enter_context(show_progress(*columns, TextColumn("{task.description}")))
        shown = [
            RunDisplay(progress, training, settings, board, f"{path.name}: " if len(runs) > 1 else "")
            for (path, settings), board in zip(runs.items(), boards, strict=True)
        ]
        work = [
            (settings, path, command, machine, run) for (path, settings), run in zip(runs.items(), shown, strict=True)
        ]
        if training.can_repeat and cluster_in_use() is not None:
            of_folder = dict(zip(runs, work, strict=True))
            for path in core.train_on_cluster(training.train, runs, command, jobs):
                training.train(*of_folder[path])
        elif len(work) == 1:
            training.train(*work[0])
        else:
            from joblib import Parallel, delayed

            parallel = Parallel(n_jobs=jobs, backend="threading", batch_size=1, pre_dispatch=jobs)
            parallel(delayed(training.train)(*arguments) for arguments in work)
    return shown


class LearningCurve(core.Observer):
    """How often a learner wins as it learns, drawn over a bar; what is being compiled is below it.

    Where there is no terminal, the curve is printed when it is complete.
    """

    _BLOCKS: Final = " ▁▂▃▄▅▆▇█"
    _ROWS: Final = 5

    def __init__(self, training: core.TrainingCommand, settings: Any, console: Console) -> None:
        self._training, self._settings, self._console = training, settings, console
        self._lines: list[core.MetricLine] = []
        self._compiled, self._since = "", 0.0
        done = TextColumn(f"{{task.completed:,}} {training.unit}")
        self._progress = Progress(BarColumn(24), done, Speed(training.unit), TimeRemainingColumn(), console=console)
        self._bar = self._progress.add_task("", total=training.total(settings))

    def train(self, folder: Path, command: str) -> None:
        """Train in a folder, and show it."""
        with Live(self, console=self._console, refresh_per_second=4, redirect_stdout=False):
            self._training.train(self._settings, folder, command, core.Machine(), self)

    def watch(self, line: core.MetricLine) -> None:
        self._lines.append(line)

    def tick(self, done: int, found: Any = None, total: int | None = None) -> None:  # noqa: ARG002
        self._progress.update(self._bar, completed=done, total=total)

    def __rich__(self) -> Group:
        if not self._lines:
            return Group(self._progress.get_renderable(), self._compilation())
        summary = self._training.summarize(self._settings, self._lines).partition(" ")[2]  # it has a curve of its own
        return Group(*self._curve(), summary, self._progress.get_renderable(), self._compilation())

    def _compilation(self) -> Text:
        now = compiling()
        kernel = now.kernel if now else ""
        if kernel != self._compiled:
            self._compiled, self._since = kernel, time.monotonic()
        waited = time.monotonic() - self._since
        return Text(f"compiling {kernel}, this once: {waited:.0f} s" if now else "", style="dim")

    def _curve(self) -> Iterator[str]:
        """Rows of blocks, from tens of percent below the lowest rate up to all."""
        rates = [line.win_rates[0] for line in self._lines]
        lowest = math.floor(10 * min(rates)) / 10 if min(rates) < 1 else 0.9
        step = (1 - lowest) / self._ROWS
        for row in reversed(range(self._ROWS)):
            filled = (min(max((rate - lowest) / step - row, 0), 1) for rate in rates)
            blocks = "".join(self._BLOCKS[round(8 * share)] for share in filled)
            yield f"{lowest + (row + 1) * step:5.0%} ┤{blocks}"
