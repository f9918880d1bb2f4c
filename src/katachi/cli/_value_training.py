"""What ``katachi train value`` needs: its settings, and a display of what is learned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from katachi.cli._training import check_settings, collect_values
from katachi.cli._training_progress import LearningProgress
from katachi.crbm.value import ValueTraining, train_value


def read_value_training(file: Path | None, options: Mapping[str, Any], changes: Sequence[str]) -> ValueTraining:
    """Settings from a file, then from options, then from ``key=value``; raises TrainingError with one sentence."""
    return check_settings(ValueTraining, collect_values(file, options, changes))


class ValueProgress(LearningProgress):
    """One line: games, time left, and what was last measured."""

    def __init__(self) -> None:
        super().__init__("games")

    def learned(self, games: int, total: int) -> None:
        """Show a game."""
        self.show(games, self.summary(), total)

    def summary(self) -> str:
        """What was last measured."""
        if self.last is None:
            return ""
        values = self.last.values
        parts = [f"TD error {values['td_error']:.3f}"]
        if "validation_winners" in values:
            parts.append(f"winners of held-out games known {values['validation_winners']:.1%}")
        if "win_rate" in values:
            parts.append(f"{values['win_rate']:.1%} won against its former self")
        return ", ".join(parts)


def train_value_and_show(settings: ValueTraining, folder: Path, command: str, *, tensorboard: bool) -> str:
    """Train with a display, and return what was reached."""
    progress = ValueProgress()
    with progress.watching(folder, tensorboard=tensorboard) as watch:
        train_value(settings, folder, watch, command, progress.learned)
    return progress.summary()
