"""The compiled part of ``search/move_weights.py``: what a move is like, as one number in each of four groups.

The groups are the 3×3 pattern around it (its code), its tactics, and its distances to the last move and to the one
before that. Any record with a field ``seen`` that ``search/kernels/patterns.py`` has filled will do.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numba import njit

from katachi.go.kernels.board import (
    NEIGHBORS,
    OFF,
    captures,
    is_atari,
    liberties_after,
    liberty_word,
    self_atari_stones,
)

# What a move does to chains is one of these, and ATARI is added if it leaves an enemy chain one liberty.
TAKES: Final = 1
TAKES_LAST: Final = 2  # the stone just played
SAVES: Final = 3
SELF_ATARI: Final = 4
ATARI: Final = 5
TACTICS: Final = 10

DISTANCES: Final = 18


@njit(cache=True, nogil=True)
def _saves(b, p, color):
    """Whether a move that takes nothing gives a chain in atari two liberties."""
    for k in range(np.uint64(4)):
        q = NEIGHBORS[b.lines, p, k]
        if b.stone[q] == color and is_atari(b.liberties[b.head[q]]):
            word, _ = liberties_after(b, p, color)
            return not is_atari(word)
    return False


@njit(cache=True, nogil=True)
def gives_atari(b, p, color):
    """Whether a move leaves an enemy chain that has more than one liberty with one."""
    for k in range(np.uint64(4)):
        q = NEIGHBORS[b.lines, p, k]
        if b.stone[q] != -color or is_atari(b.liberties[b.head[q]]):
            continue
        word = b.liberties[b.head[q]]
        for j in range(np.uint64(4)):
            other = NEIGHBORS[b.lines, p, j]
            if b.stone[other] == -color and b.head[other] == b.head[q]:
                word -= liberty_word(p)
        if is_atari(word):
            return True
    return False


@njit(cache=True, nogil=True)
def _takes_last(b, p, color, last):
    if last == OFF or b.stone[last] != -color or not is_atari(b.liberties[b.head[last]]):
        return False
    for k in range(np.uint64(4)):
        q = NEIGHBORS[b.lines, p, k]
        if b.stone[q] == -color and b.head[q] == b.head[last]:
            return True
    return False


@njit(cache=True, nogil=True)
def move_tactic(b, p, color, last):
    """What a legal move does to chains, below TACTICS."""
    tactic = 0
    if captures(b, p, color):
        tactic = TAKES_LAST if _takes_last(b, p, color, last) else TAKES
    elif self_atari_stones(b, p, color) > 0:
        tactic = SELF_ATARI
    elif _saves(b, p, color):
        tactic = SAVES
    return tactic + (ATARI if gives_atari(b, p, color) else 0)


@njit(cache=True, nogil=True)
def move_distance(lines, p, other):
    """The distance dx + dy + max(dx, dy) (Coulom 2007), at most DISTANCES − 1; 0 if there is no other point."""
    if other == OFF:
        return 0
    down = abs(np.int32(p // lines) - np.int32(other // lines))
    right = abs(np.int32(p % lines) - np.int32(other % lines))
    return min(down + right + max(down, right), DISTANCES - 1)
