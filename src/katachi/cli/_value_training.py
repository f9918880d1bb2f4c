"""What ``katachi train value`` needs: its settings, and a display of what is learned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from katachi.cli._training import check_settings, collect_values
from katachi.learning.tensorboard import TensorBoard
from katachi.learning.training_runs import MetricLine
from katachi.learning.value_learning import ValueTraining
from katachi.learning.value_training import train_value


def read_value_training(file: Path | None, options: Mapping[str, Any], changes: Sequence[str]) -> ValueTraining:
    """Settings from a file, then from options, then from ``key=value``; raises TrainingError with one sentence."""
    return check_settings(ValueTraining, collect_values(file, options, changes))


class ValueProgress(Progress):
    """One line: games, time left, and what was last measured."""

    def __init__(self) -> None:
        console = Console(stderr=True)
        columns = (MofNCompleteColumn(), BarColumn(bar_width=24), TimeRemainingColumn())
        text = TextColumn("{task.description}")
        super().__init__(*columns, text, console=console, transient=True, disable=not console.is_terminal)
        self._last: MetricLine | None = None
        self._bar = self.add_task("", total=None)

    def learned(self, games: int, total: int) -> None:
        """Show a game."""
        self.update(self._bar, completed=games, total=total, description=self.summary())

    def measured(self, line: MetricLine) -> None:
        self._last = line

    def summary(self) -> str:
        """What was last measured."""
        if self._last is None:
            return ""
        values = self._last.values
        parts = [f"TD error {values['td_error']:.3f}"]
        if "validation_winners" in values:
            parts.append(f"winners of held-out games known {values['validation_winners']:.1%}")
        if "win_rate" in values:
            parts.append(f"{values['win_rate']:.1%} won against its former self")
        return ", ".join(parts)


def train_value_and_show(settings: ValueTraining, folder: Path, command: str, *, tensorboard: bool) -> str:
    """Train with a display, and return what was reached."""
    with ExitStack() as stack:
        board = stack.enter_context(closing(TensorBoard(folder / "tensorboard"))) if tensorboard else None
        progress = stack.enter_context(ValueProgress())

        def watch(line: MetricLine) -> None:
            progress.measured(line)
            if board is not None:
                board.write(line.values, line.values["games"])

        train_value(settings, folder, watch, command, progress.learned)
    return progress.summary()
