"""The learning curve as it grows, on standard error; nothing where that is no terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.text import Text

from katachi.core.statistics import wilson_interval
from katachi.core.training import MetricLine, TensorBoard
from katachi.shapes.learner import sizes_not_mastered
from katachi.shapes.train import ShapeTraining

_BLOCKS = "▁▂▃▄▅▆▇█"
_CURVE_LENGTH = 30


class Speed(ProgressColumn):
    """How many of something are done in a second."""

    def __init__(self, what: str) -> None:
        super().__init__()
        self._what = what

    def render(self, task: Task) -> Text:
        return Text("" if task.speed is None else f"{task.speed:,.0f} {self._what}/s")


class LineProgress(Progress):
    """How many games or positions are through, the time left, and a text, on a line."""

    def __init__(self, unit: str) -> None:
        console = Console(stderr=True)
        columns = (MofNCompleteColumn(), BarColumn(bar_width=24), TimeRemainingColumn(), Speed(unit))
        text = TextColumn("{task.description}")
        super().__init__(*columns, text, console=console, transient=True, disable=not console.is_terminal)


class LearningProgress(LineProgress):
    """The line of a run, and what was last measured in it."""

    def __init__(self, unit: str, total: int | None = None) -> None:
        super().__init__(unit)
        self._unit = unit
        self.last: MetricLine | None = None
        self._has_begun = False
        self._bar = self.add_task("", total=total)

    def describe(self, text: str) -> None:
        """Show what goes on before the clock begins."""
        self.update(self._bar, description=text)

    def show(self, done: int, text: str, total: int | None = None) -> None:
        """Show how much is through; the first call begins the clock, for a run may go on from an earlier one."""
        if not self._has_begun:
            self.reset(self._bar, completed=done)
            self._has_begun = True
        self.update(self._bar, completed=done, total=total, description=text)

    @contextmanager
    def watching(self, folder: Path, *, tensorboard: bool) -> Iterator[Callable[[MetricLine], None]]:
        """Show the line; what is measured is to be given to the result, which writes it for TensorBoard too."""
        with ExitStack() as stack:
            board = stack.enter_context(closing(TensorBoard(folder / "tensorboard"))) if tensorboard else None
            stack.enter_context(self)

            def watch(line: MetricLine) -> None:
                self.last = line
                if board is not None:
                    board.write(line.values, line.values[self._unit])

            yield watch


class TrainingProgress(LineProgress):
    """A line for every run: games on the size at hand, time left, the learning curve and the last win rate."""

    def __init__(self) -> None:
        super().__init__("games")

    def add_run(self, settings: ShapeTraining) -> RunProgress:
        return RunProgress(self, settings)


class RunProgress:
    """The line of one run, and what was measured in it."""

    def __init__(self, progress: TrainingProgress, settings: ShapeTraining) -> None:
        self.lines: list[MetricLine] = []
        self._progress = progress
        self._settings = settings
        self._games = {stage.settings.size: stage.games for stage in settings.stages()}
        self._size = 0
        self._bar = progress.add_task("", total=None)

    def tick(self, size: int, games: int) -> None:
        """Show how many games are played; a new size, or what an earlier run played, begins the clock anew."""
        if size == self._size:
            self._progress.update(self._bar, completed=games)
        else:
            self._size = size
            self._progress.reset(self._bar, total=self._games[size], completed=games)

    def add(self, line: MetricLine) -> None:
        """Show an evaluation."""
        self.lines.append(line)
        self._progress.update(self._bar, description=self.summary())

    def summary(self) -> str:
        """The curve on the last size, and the last win rates with their intervals."""
        if not self.lines:
            return "nothing was learned"
        last = self.lines[-1]
        rates = [sum(line.win_rates) / len(line.win_rates) for line in self.lines if line.size == last.size]
        curve = "".join(_BLOCKS[min(int(rate * len(_BLOCKS)), len(_BLOCKS) - 1)] for rate in rates[-_CURVE_LENGTH:])
        size = f" on {last.size}×{last.size}" if len(self._games) > 1 else ""
        return f"{curve} against alp{size}: {', '.join(map(self._rate, last.win_rates))}"

    def warnings(self) -> list[str]:
        """A sentence for every size that was left before it was mastered."""
        settings = self._settings
        smaller = [size for size in sizes_not_mastered(self.lines, settings.grow_at) if size < settings.size]
        return [
            f"{size}×{size} was left after {self._games[size]:,} games without {settings.grow_at:.0%} against alp"
            for size in smaller
        ]

    def _rate(self, rate: float) -> str:
        games = self._settings.test_games
        low, high = wilson_interval(rate * games, games)
        return f"{rate:.1%} ({low:.0%}–{high:.0%})"
