"""What ``katachi train cnn`` needs: its settings, and a display of what is learned."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from katachi.cli._training import check_settings, read_learning, values_of_run
from katachi.cli._training_progress import LearningProgress
from katachi.policy.train import TOP, Losses, Machine, PolicyTraining, train_policy

_SHOWN_BATCHES = 200  # over which the loss and the hits in the display are means


def read_policy_training(file: Path | None, options: Mapping[str, Any], changes: Sequence[str]) -> PolicyTraining:
    """Settings from a file, then from options, then from ``key=value``; raises TrainingError with one sentence."""
    return read_learning(PolicyTraining, file, options, changes, "katachi data import")


def read_run(run: Path, given: Sequence[object]) -> PolicyTraining:
    """The settings of a run; raises TrainingError if there is none, or other settings were given."""
    return check_settings(PolicyTraining, values_of_run(run, given))


class PolicyProgress(LearningProgress):
    """One line: positions, time left, positions a second, and what is known of the last ones and of held-out ones."""

    def __init__(self, settings: PolicyTraining) -> None:
        super().__init__("positions", settings.steps * settings.batch)
        self._recent: deque[Losses] = deque(maxlen=_SHOWN_BATCHES)

    def learned(self, positions: int, losses: Losses) -> None:
        """Show a batch."""
        self._recent.append(losses)
        self.show(positions, f"{self._recently()}{self.validation()}")

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
    settings: PolicyTraining, folder: Path, threads: int, workers: int, command: str, *, tensorboard: bool
) -> str:
    """Train with a display, and return what was reached."""
    progress = PolicyProgress(settings)
    with progress.watching(folder, tensorboard=tensorboard) as watch:
        train_policy(settings, folder, watch, command, Machine(threads, workers), progress.learned)
    return progress.validation()
