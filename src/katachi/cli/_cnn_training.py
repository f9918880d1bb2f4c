"""What ``katachi train cnn`` needs: its settings, and a display of what is learned."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from katachi.cli._training import check_settings, collect_values
from katachi.cli._training_progress import Speed
from katachi.learning.cnn_training import Machine, train_cnn
from katachi.learning.supervised import TOP, CnnTraining, Losses
from katachi.learning.tensorboard import TensorBoard
from katachi.learning.training_runs import MetricLine, TrainingError

_SHOWN_BATCHES = 200  # over which the loss and the hits in the display are means


def read_cnn_training(file: Path | None, options: Mapping[str, Any], changes: Sequence[str]) -> CnnTraining:
    """Settings from a file, then from options, then from ``key=value``; raises TrainingError with one sentence."""
    values = collect_values(file, options, changes)
    if "data" not in values:
        raise TrainingError("there is nothing to learn from: give --data SET (see: katachi data import --help)")
    if "evaluate_every" not in values and isinstance(positions := values.get("positions"), int):
        values["evaluate_every"] = min(CnnTraining.model_fields["evaluate_every"].default, max(1, positions // 20))
    return check_settings(CnnTraining, values)


def read_run(run: Path, given: Sequence[object]) -> CnnTraining:
    """The settings of a run; raises TrainingError if there is none, or other settings were given."""
    if any(value not in (None, []) for value in given):
        raise TrainingError("--resume takes all settings from the run: give no others")
    config = run / "config.toml"
    if not config.exists():
        raise TrainingError(f"{run} is no run that could go on")
    return check_settings(CnnTraining, collect_values(config, {}, []))


class CnnProgress(Progress):
    """One line: positions, time left, positions a second, and what is known of the last ones and of held-out ones."""

    def __init__(self, settings: CnnTraining) -> None:
        console = Console(stderr=True)
        columns = (MofNCompleteColumn(), BarColumn(bar_width=24), TimeRemainingColumn(), Speed("positions"))
        text = TextColumn("{task.description}")
        super().__init__(*columns, text, console=console, transient=True, disable=not console.is_terminal)
        self.last: MetricLine | None = None
        self._recent: deque[Losses] = deque(maxlen=_SHOWN_BATCHES)
        self._bar = self.add_task("", total=settings.steps * settings.batch)

    def learned(self, positions: int, losses: Losses) -> None:
        """Show a batch; the first one begins the clock."""
        if not self._recent:
            self.reset(self._bar, completed=positions)
        self._recent.append(losses)
        self.update(self._bar, completed=positions, description=f"{self._recently()}{self.validation()}")

    def measured(self, line: MetricLine) -> None:
        self.last = line

    def _recently(self) -> str:
        positions = sum(losses.positions for losses in self._recent)
        loss = sum(losses.moves for losses in self._recent) / positions
        return f"loss {loss:.3f}, top-1 {sum(losses.hits for losses in self._recent) / positions:.1%}; "

    def validation(self) -> str:
        """What was last known of held-out positions."""
        if self.last is None:
            return ""
        values = self.last.values
        tops = ", ".join(f"top-{top} {values[f'validation_top_{top}']:.1%}" for top in TOP)
        return f"held-out positions: {tops}, loss {values['validation_loss']:.3f}"


def train_and_show(
    settings: CnnTraining, folder: Path, threads: int, workers: int, command: str, *, tensorboard: bool
) -> str:
    """Train with a display, and return what was reached."""
    with ExitStack() as stack:
        board = stack.enter_context(closing(TensorBoard(folder / "tensorboard"))) if tensorboard else None
        progress = stack.enter_context(CnnProgress(settings))

        def watch(line: MetricLine) -> None:
            progress.measured(line)
            if board is not None:
                board.write(line.values, line.values["positions"])

        train_cnn(settings, folder, watch, command, Machine(threads, workers), progress.learned)
    return progress.validation()
