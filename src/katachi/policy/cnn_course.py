"""What the training of a network tells of itself: losses since the last evaluation, and the time that it took.

Both are part of a checkpoint between two evaluations, so that a run which goes on there tells the same.
"""

from __future__ import annotations

import time
from typing import Final

import numpy as np
from numpy.typing import NDArray

from katachi.core.training import TrainingRun
from katachi.policy.supervised import Learner, Losses

_CLOCKS: Final = ("seconds", "core_seconds")  # in a line of metrics
_NO_LOSSES: Final = Losses(0, 0.0, 0, 0.0, 0.0)
# Beside the learner's arrays in a checkpoint.
_SINCE: Final = "since"
_CLOCK: Final = "clock"


class Course:
    """Sums of losses, and clocks that go on over all parts of a run."""

    def __init__(self, run: TrainingRun) -> None:
        """Go on where the run was."""
        state, told = run.state or {}, run.lines[-1].values if run.lines else {}
        self._since = Losses._make(state[_SINCE].tolist()) if _SINCE in state else _NO_LOSSES
        before = state[_CLOCK].tolist() if _CLOCK in state else [told.get(name, 0.0) for name in _CLOCKS]
        self._begun = [now - seconds for now, seconds in zip(_read_clocks(), before, strict=True)]

    def add(self, losses: Losses) -> None:
        self._since = Losses._make(map(sum, zip(self._since, losses, strict=True)))

    def begin_anew(self) -> None:
        """Forget the losses, after an evaluation."""
        self._since = _NO_LOSSES

    def state_dict(self) -> dict[str, NDArray[np.float64]]:
        """What belongs to a checkpoint between two evaluations; at one, its line says it all."""
        return {_SINCE: np.array(self._since, dtype=np.float64), _CLOCK: np.array(self._elapsed())}

    def read_clock(self) -> dict[str, float]:
        """Seconds by the clock, and of the cores that learned."""
        return {name: round(seconds, 1) for name, seconds in zip(_CLOCKS, self._elapsed(), strict=True)}

    def _elapsed(self) -> list[float]:
        return [now - begun for now, begun in zip(_read_clocks(), self._begun, strict=True)]

    def summarize(self, learner: Learner) -> dict[str, float]:
        """Where the learner is, and the means of the losses."""
        since, settings = self._since, learner.settings
        means = {
            "positions": learner.positions,
            "step_size": settings.step_size_at(learner.step - 1),
            "loss": since.moves / since.positions,
            "top_1": since.hits / since.positions,
        }
        heads = {"value_loss": (settings.value, since.values), "ownership_loss": (settings.ownership, since.owners)}
        return means | {name: total / since.positions for name, (has_head, total) in heads.items() if has_head}


def _read_clocks() -> tuple[float, float]:
    return time.monotonic(), time.process_time()
