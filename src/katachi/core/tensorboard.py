"""The metrics of a run for TensorBoard, which is an extra."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from katachi.core.training import MetricLine, TrainingError

_SHOWN = ("td_error", "plies", "black_wins")


class TensorBoard:
    """Writes evaluations to a folder, all of them anew when a run goes on."""

    def __init__(self, folder: Path) -> None:
        """Raises TrainingError without tensorboardX."""
        try:
            import tensorboardX  # noqa: F401
        except ImportError:
            raise TrainingError("TensorBoard is an extra: pip install 'katachi[tensorboard]'") from None
        self._folder = folder
        self._writer: Any = None

    def add(self, line: MetricLine) -> None:
        """Write what was measured of self-play; ``9x9/win_rate_1`` is that of the first agent on 9×9."""
        scalars = {name: line.values[name] for name in _SHOWN}
        scalars |= {f"win_rate_{agent}": rate for agent, rate in enumerate(line.win_rates, start=1)}
        self.write({f"{line.size}x{line.size}/{name}": value for name, value in scalars.items()}, line.games)

    def write(self, scalars: Mapping[str, float], at: int) -> None:
        """Write numbers by name, measured after so many games or positions."""
        if self._writer is None:  # not before the run has a place: it refuses folders that hold other things
            from tensorboardX import SummaryWriter

            shutil.rmtree(self._folder, ignore_errors=True)
            self._writer = SummaryWriter(str(self._folder), write_to_disk=True)
        for name, value in scalars.items():
            self._writer.add_scalar(name, value, at)
        self._writer.flush()

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()
