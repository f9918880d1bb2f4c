"""The compiled part of ``moves.py``: which moves a search considers."""

from __future__ import annotations

import numpy as np
from numba import njit

from katachi.go._kernels import NEIGHBORS, is_atari, is_sensible


@njit(cache=True, nogil=True)
def captures(b, p, color):
    """Whether a stone on an empty point would take something."""
    for k in range(4):
        q = NEIGHBORS[b.lines, p, k]
        if b.stone[q] == -color and is_atari(b.liberties[b.head[q]]):
            return True
    return False


@njit(cache=True, nogil=True)
def fill_sensible(boards, sensible):
    """Set ``sensible[point]`` for the player to move."""
    b = boards[0]
    for p in range(np.uint16(b.lines * b.lines)):
        sensible[p] = is_sensible(b, p, b.to_play)


@njit(cache=True, nogil=True)
def fill_captures(boards, taking):
    """Clear ``taking[point]`` wherever a stone of the player to move would take nothing."""
    b = boards[0]
    for p in range(np.uint16(b.lines * b.lines)):
        taking[p] = taking[p] and captures(b, p, b.to_play)
