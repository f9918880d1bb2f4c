"""How the step size goes up and down in the course of a training."""

from __future__ import annotations

import math
from typing import Final, Literal

_FULL_RATE: Final = 25 / 28  # of the steps: 25 epochs, then three at a half, a quarter and an eighth of the rate
_HALVINGS: Final = 3
_FALL: Final = 0.2  # of the steps: how long a trapezoid takes to fall to zero

Schedule = Literal["cosine", "halvings", "trapezoid", "constant"]


def step_share(schedule: Schedule, warmup: float, step: int, steps: int) -> float:
    """The share of the full step size at a step from 0 on: it rises in a warm-up, a share of all steps, and falls.

    >>> [round(step_share("cosine", 0.2, step, 10), 2) for step in range(0, 10, 3)]
    [0.33, 0.96, 0.5, 0.04]
    """
    done = step / steps
    if done < warmup:
        return (step + 1) / (warmup * steps + 1)
    if schedule == "cosine":
        return (1 + math.cos(math.pi * (done - warmup) / (1 - warmup))) / 2
    if schedule == "trapezoid":
        return min(1.0, (1 - done) / _FALL)
    if schedule == "constant":
        return 1.0
    halvings = math.ceil((done - _FULL_RATE) / (1 - _FULL_RATE) * _HALVINGS + 1e-9)
    return float(0.5 ** max(0, halvings))
