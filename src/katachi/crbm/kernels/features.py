"""The compiled part of ``crbm/features.py``: what stands on every point, as the player who has just moved sees it."""

from __future__ import annotations

from typing import Final

import numpy as np

from katachi.go.kernels import kernel
from katachi.go.kernels.board import count_liberties
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
    """Write a plane of zeros and ones for each state, [B, states, n²], as he sees it who has just moved."""
    states = np.empty(MAX_POINTS, np.uint8)
    planes[:] = 0
    for i in range(boards.size):
        fill_states(boards[i], -boards[i].to_play, with_liberties, states)
        for p in range(planes.shape[2]):
            planes[i, states[p], p] = 1
