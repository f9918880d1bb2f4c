"""The key of a node: one number for a position in a tree, with whose turn it is, the ko and a pass before it."""

from __future__ import annotations

import numpy as np
from numba import njit

from katachi.go.kernels.board import OFF, ZOBRIST_WHITE_TO_PLAY
from katachi.go.points import BLACK


@njit(cache=True, nogil=True)
def node_key(b, passes):
    """The key of a board that was reached by so many passes in succession, 0 or 1."""
    key = b.hash
    if b.to_play != BLACK:
        key ^= ZOBRIST_WHITE_TO_PLAY
    if b.ko != OFF:
        key ^= (np.uint64(b.ko) + np.uint64(1)) * np.uint64(0xD1342543DE82EF95)
    if passes:
        key ^= np.uint64(0x2545F4914F6CDD1D)
    return key


@njit(cache=True, nogil=True)
def key_of(boards, passes):
    """The same for Python: of ``boards[0]``."""
    return node_key(boards[0], passes)
