"""What ``katachi train territory`` needs: its settings, and a display of what is learned."""

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
from katachi.learning.tensorboard import TensorBoard
from katachi.learning.territory import PHASES, Losses, TerritoryRecipe, TerritoryTraining
from katachi.learning.territory_bootstrap import BootstrapTraining, train_bootstrap
from katachi.learning.territory_training import Machine, train_territory
from katachi.learning.training_runs import MetricLine, TrainingError

_SHOWN_POSITIONS = 5000  # over which the loss in the display is a mean


def read_territory_training(file: Path | None, options: Mapping[str, Any], changes: Sequence[str]) -> TerritoryTraining:
    """Settings from a file, then from options, then from ``key=value``; raises TrainingError with one sentence."""
    values = collect_values(file, options, changes)
    if "data" not in values:
        raise TrainingError("there is nothing to learn from: give --data SET (see: katachi data label --help)")
    if "evaluate_every" not in values and isinstance(positions := values.get("positions"), int):
        most = TerritoryTraining.model_fields["evaluate_every"].default
        values["evaluate_every"] = min(most, max(1, positions // 20))
    return check_settings(TerritoryTraining, values)


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
    if any(value not in (None, []) for value in given):
        raise TrainingError("--resume takes all settings from the run: give no others")
    config = run / "config.toml"
    if not config.exists():
        raise TrainingError(f"{run} is no run that could go on")
    values = collect_values(config, {}, [])
    if "data" in values:
        return check_settings(TerritoryTraining, values)
    return check_settings(BootstrapTraining, values)


class TerritoryProgress(Progress):
    """One line: positions, time left, positions a second, and what is known of the last ones and of held-out ones."""

    def __init__(self, settings: TerritoryRecipe) -> None:
        console = Console(stderr=True)
        columns = (MofNCompleteColumn(), BarColumn(bar_width=24), TimeRemainingColumn(), Speed("positions"))
        text = TextColumn("{task.description}")
        super().__init__(*columns, text, console=console, transient=True, disable=not console.is_terminal)
        self.last: MetricLine | None = None
        self._recent: deque[Losses] = deque(maxlen=max(1, _SHOWN_POSITIONS // settings.batch))
        self._bar = self.add_task("", total=settings.steps * settings.batch)

    def counted(self, games: int) -> None:
        """Show how many games were counted for propensities."""
        self.update(self._bar, description=f"counting propensities: {games:,} games")

    def learned(self, positions: int, losses: Losses) -> None:
        """Show a batch; the first one begins the clock."""
        if not self._recent:
            self.reset(self._bar, completed=positions)
        self._recent.append(losses)
        loss = sum(losses.ownership for losses in self._recent) / sum(losses.positions for losses in self._recent)
        self.update(self._bar, completed=positions, description=f"loss {loss:.2f}; {self.validation()}")

    def measured(self, line: MetricLine) -> None:
        self.last = line

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
    with ExitStack() as stack:
        board = stack.enter_context(closing(TensorBoard(folder / "tensorboard"))) if tensorboard else None
        progress = stack.enter_context(TerritoryProgress(settings))

        def watch(line: MetricLine) -> None:
            progress.measured(line)
            if board is not None:
                board.write(line.values, line.values["positions"])

        if isinstance(settings, TerritoryTraining):
            train_territory(settings, folder, watch, command, machine, progress.learned, progress.counted)
        else:
            train_bootstrap(settings, folder, watch, command, progress.learned)
    return progress.validation()
