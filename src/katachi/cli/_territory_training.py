"""What ``katachi train territory`` needs: its settings, and a display of what is learned."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from katachi.cli._training import check_settings, collect_values, read_learning, values_of_run
from katachi.cli._training_progress import LearningProgress
from katachi.core.training import TrainingError
from katachi.territory.learner import PHASES, Losses, TerritoryRecipe, TerritoryTraining
from katachi.territory.train import BootstrapTraining, Machine, train_bootstrap, train_territory

_SHOWN_POSITIONS = 5000  # over which the loss in the display is a mean


def read_territory_training(file: Path | None, options: Mapping[str, Any], changes: Sequence[str]) -> TerritoryTraining:
    """Settings from a file, then from options, then from ``key=value``; raises TrainingError with one sentence."""
    return read_learning(TerritoryTraining, file, options, changes, "katachi data label")


def read_bootstrap(
    size: int, file: Path | None, options: Mapping[str, Any], changes: Sequence[str]
) -> BootstrapTraining:
    """The same for learning by self-play on a board size."""
    for option in ("data", "first_model"):
        if options.get(option) is not None:
            raise TrainingError("--self-play begins with nothing: give neither --data nor --from")
    return check_settings(BootstrapTraining, collect_values(file, {**options, "size": size}, changes))


def read_run(run: Path, given: Sequence[object]) -> TerritoryTraining | BootstrapTraining:
    """The settings of a run; raises TrainingError if there is none, or other settings were given."""
    values = values_of_run(run, given)
    if "data" in values:
        return check_settings(TerritoryTraining, values)
    return check_settings(BootstrapTraining, values)


class TerritoryProgress(LearningProgress):
    """One line: positions, time left, positions a second, and what is known of the last ones and of held-out ones."""

    def __init__(self, settings: TerritoryRecipe) -> None:
        super().__init__("positions", settings.steps * settings.batch)
        self._recent: deque[Losses] = deque(maxlen=max(1, _SHOWN_POSITIONS // settings.batch))

    def counted(self, games: int) -> None:
        """Show how many games were counted for propensities."""
        self.describe(f"counting propensities: {games:,} games")

    def learned(self, positions: int, losses: Losses) -> None:
        """Show a batch."""
        self._recent.append(losses)
        loss = sum(losses.ownership for losses in self._recent) / sum(losses.positions for losses in self._recent)
        self.show(positions, f"loss {loss:.2f}; {self.validation()}")

    def validation(self) -> str:
        """What was last known of held-out positions, or how the last games against itself went."""
        if self.last is None:
            return ""
        values = self.last.values
        if "games" in values:
            length = f"{values['moves_a_game']:.0f} moves a game, Black ahead by {values['black_lead']:.1f} points"
            return f"{values['games']:,} games: loss {values['loss']:.2f}, {length}"
        phases = [values.get(f"validation_right_{phase}") for phase in range(len(PHASES) + 1)]
        by_phase = " → ".join(f"{right:.1%}" for right in phases if right is not None)
        known = f"points known {values['validation_right']:.1%}, from empty to full boards {by_phase}"
        return f"held-out positions: {known}; loss {values['validation_loss']:.2f}"


def train_and_show(
    settings: TerritoryTraining | BootstrapTraining,
    folder: Path,
    machine: Machine,
    command: str,
    *,
    tensorboard: bool,
) -> str:
    """Train with a display, and return what was reached."""
    progress = TerritoryProgress(settings)
    with progress.watching(folder, tensorboard=tensorboard) as watch:
        if isinstance(settings, TerritoryTraining):
            train_territory(settings, folder, watch, command, machine, progress.learned, progress.counted)
        else:
            train_bootstrap(settings, folder, watch, command, progress.learned)
    return progress.validation()
