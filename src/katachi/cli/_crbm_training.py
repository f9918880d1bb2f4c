"""What ``katachi train crbm`` needs: its settings, and a display of what is learned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from katachi.cli._training import check_settings, collect_values
from katachi.drawing.kernels import NamedCrbm, draw_kernels
from katachi.learning.contrastive import Contrast, CrbmTraining
from katachi.learning.crbm_training import train_crbm
from katachi.learning.tensorboard import TensorBoard
from katachi.learning.training_runs import MetricLine, TrainingError
from katachi.models.crbm_cards import SavedCrbm

_EVALUATIONS = 20  # of a run, unless it is said how often


def read_crbm_training(file: Path | None, options: Mapping[str, Any], changes: Sequence[str]) -> CrbmTraining:
    """Settings from a file, then from options, then from ``key=value``; raises TrainingError with one sentence."""
    values = collect_values(file, options, changes)
    if "data" not in values:
        raise TrainingError("there is nothing to learn from: give --data SET (see: katachi data import --help)")
    if "evaluate_every" not in values and isinstance(positions := values.get("positions"), int):
        values["evaluate_every"] = max(1, positions // _EVALUATIONS)
    return check_settings(CrbmTraining, values)


def read_crbm_run(run: Path, given: Sequence[object]) -> CrbmTraining:
    """The settings of a run; raises TrainingError if there is none, or other settings were given."""
    if any(value not in (None, []) for value in given):
        raise TrainingError("--resume takes all settings from the run: give no others")
    config = run / "config.toml"
    if not config.exists():
        raise TrainingError(f"{run} is no run that could go on")
    return check_settings(CrbmTraining, collect_values(config, {}, []))


class CrbmProgress(Progress):
    """One line: positions, time left, and how well the last boards and held-out ones are reconstructed."""

    def __init__(self, settings: CrbmTraining) -> None:
        console = Console(stderr=True)
        columns = (MofNCompleteColumn(), BarColumn(bar_width=24), TimeRemainingColumn())
        text = TextColumn("{task.description}")
        super().__init__(*columns, text, console=console, transient=True, disable=not console.is_terminal)
        self._last: MetricLine | None = None
        self._bar = self.add_task("", total=settings.steps * settings.batch)

    def learned(self, positions: int, contrast: Contrast) -> None:
        """Show a batch."""
        self.update(self._bar, completed=positions, description=f"error {contrast.error:.4f}; {self.held_out()}")

    def measured(self, line: MetricLine) -> None:
        self._last = line

    def held_out(self) -> str:
        """What was last known of held-out boards."""
        if self._last is None:
            return ""
        values = self._last.values
        share = values.get("validation_points_right")
        right = "" if share is None else f", {share:.1%} of points right"
        return (
            f"held-out boards: reconstruction error {values['validation_reconstruction_error']:.4f}{right}, "
            f"free energy {values['validation_free_energy']:.1f}, activity {values['validation_activity']:.3f}"
        )


def train_crbm_and_show(settings: CrbmTraining, folder: Path, workers: int, command: str, *, tensorboard: bool) -> str:
    """Train with a display and pictures of kernels, and return what was reached."""
    with ExitStack() as stack:
        board = stack.enter_context(closing(TensorBoard(folder / "tensorboard"))) if tensorboard else None
        progress = stack.enter_context(CrbmProgress(settings))

        def watch(line: MetricLine) -> None:
            progress.measured(line)
            if board is not None:
                board.write(line.values, line.values["positions"])

        def sketch(crbm: SavedCrbm) -> str:
            return draw_kernels([NamedCrbm(folder.name, crbm)])

        train_crbm(settings, folder, watch, command, workers, progress.learned, sketch)
    return progress.held_out()
