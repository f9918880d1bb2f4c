"""What ``katachi train crbm`` needs: its settings, and a display of what is learned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from katachi.cli._training import check_settings, read_learning, values_of_run
from katachi.cli._training_progress import LearningProgress
from katachi.crbm.drawing import NamedCrbm, draw_kernels
from katachi.crbm.evaluator import SavedCrbm
from katachi.crbm.train import Contrast, CrbmTraining, train_crbm


def read_crbm_training(file: Path | None, options: Mapping[str, Any], changes: Sequence[str]) -> CrbmTraining:
    """Settings from a file, then from options, then from ``key=value``; raises TrainingError with one sentence."""
    return read_learning(CrbmTraining, file, options, changes, "katachi data import")


def read_crbm_run(run: Path, given: Sequence[object]) -> CrbmTraining:
    """The settings of a run; raises TrainingError if there is none, or other settings were given."""
    return check_settings(CrbmTraining, values_of_run(run, given))


class CrbmProgress(LearningProgress):
    """One line: positions, time left, and how well the last boards and held-out ones are reconstructed."""

    def __init__(self, settings: CrbmTraining) -> None:
        super().__init__("positions", settings.steps * settings.batch)

    def learned(self, positions: int, contrast: Contrast) -> None:
        """Show a batch."""
        self.show(positions, f"error {contrast.error:.4f}; {self.held_out()}")

    def held_out(self) -> str:
        """What was last known of held-out boards."""
        if self.last is None:
            return ""
        values = self.last.values
        share = values.get("validation_points_right")
        right = "" if share is None else f", {share:.1%} of points right"
        return (
            f"held-out boards: reconstruction error {values['validation_reconstruction_error']:.4f}{right}, "
            f"free energy {values['validation_free_energy']:.1f}, activity {values['validation_activity']:.3f}"
        )


def train_crbm_and_show(settings: CrbmTraining, folder: Path, workers: int, command: str, *, tensorboard: bool) -> str:
    """Train with a display and pictures of kernels, and return what was reached."""
    progress = CrbmProgress(settings)
    with progress.watching(folder, tensorboard=tensorboard) as watch:

        def sketch(crbm: SavedCrbm) -> str:
            return draw_kernels([NamedCrbm(folder.name, crbm)])

        train_crbm(settings, folder, watch, command, workers, progress.learned, sketch)
    return progress.held_out()
