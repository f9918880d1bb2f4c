"""The compiled part of ``crbm/features.py``: what stands on every point, as the player who has just moved sees it."""

from __future__ import annotations

from typing import Final

import numpy as np

from katachi.go.kernels import kernel
from katachi.go.kernels.board import count_liberties
from katachi.go.kernels.values import logistic
from katachi.go.points import EMPTY, MAX_POINTS

OWN: Final = 0
OPPONENT: Final = 1
FREE: Final = 2
STONE_STATES: Final = 3
LIBERTY_BINS: Final = 3  # one, two, three or more
LIBERTY_STATES: Final = 2 * LIBERTY_BINS + 1


@kernel
def _fill_liberties(b, mover, states):
    """Own stones by their liberties, then the opponent's, then free points; each chain is counted once."""
    counts = np.zeros(MAX_POINTS, np.uint8)
    for p in range(np.uint16(b.lines * b.lines)):
        if b.stone[p] == EMPTY:
            states[p] = 2 * LIBERTY_BINS
            continue
        head = b.head[p]
        if counts[head] == 0:
            counts[head] = min(count_liberties(b, head), LIBERTY_BINS)
        states[p] = counts[head] - 1 + (0 if b.stone[p] == mover else LIBERTY_BINS)


@kernel
def fill_states(b, mover, with_liberties, states):
    """Set ``states[p]`` of every point of a board, as ``mover`` sees it."""
    if with_liberties:
        _fill_liberties(b, mover, states)
        return
    for p in range(np.uint16(b.lines * b.lines)):
        stone = b.stone[p]
        states[p] = FREE if stone == EMPTY else OWN if stone == mover else OPPONENT


@kernel
def fill_state_planes(boards, with_liberties, planes):
    """Write a plane of zeros and ones for each state, [B, states, n²], as the player who has just moved sees it."""
    states = np.empty(MAX_POINTS, np.uint8)
    planes[:] = 0
    for i in range(boards.size):
        fill_states(boards[i], -boards[i].to_play, with_liberties, states)
        for p in range(planes.shape[2]):
            planes[i, states[p], p] = 1


# The compiled part of ``crbm/value.py``: a linear value learns from the chains of afterstates of one game.

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
