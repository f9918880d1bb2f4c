"""The compiled part of ``crbm/value.py``: a linear value learns from the chains of afterstates of one game."""

from __future__ import annotations

from typing import Final

import numpy as np

from katachi.features.kernels.logistic import logistic
from katachi.go.kernels import kernel

LAST: Final = -1  # in place of a successor


@kernel
def _value(weights, starts, indices, occurrences, t):
    """P(the player whose afterstate it is wins)."""
    total = 0.0
    for i in range(starts[t], starts[t + 1]):
        total += weights[indices[i]] * occurrences[i]
    return logistic(total)


@kernel
def _change(weights, starts, indices, occurrences, t, change):
    """Add ``change`` to the logit of an afterstate, by steps along its features: ``change / ‖φ‖²`` times each."""
    square = 0.0
    for i in range(starts[t], starts[t + 1]):
        square += np.float64(occurrences[i]) * np.float64(occurrences[i])
    if square > 0:
        for i in range(starts[t], starts[t + 1]):
            weights[indices[i]] += change / square * occurrences[i]


@kernel
def learn_game(weights, starts, indices, occurrences, order, successors, rewards, step_size, squared):
    """TD(0) over a game; returns the sum of squared errors, and how many updates there were.

    The features of afterstate t are those from ``starts[t]`` to ``starts[t + 1]``. ``order`` names the afterstates that
    learn, each from its ``successors[t]``, or where that is LAST from ``rewards[t]``, unless that is NaN.
    """
    errors = 0.0
    updates = 0
    for t in order:
        value = _value(weights, starts, indices, occurrences, t)
        after = successors[t]
        target = rewards[t] if after == LAST else _value(weights, starts, indices, occurrences, after)
        if np.isnan(target):
            continue
        error = target - value
        gradient = value * (1 - value) if squared else 1.0
        _change(weights, starts, indices, occurrences, t, step_size * error * gradient)
        errors += error * error
        updates += 1
    return errors, updates
