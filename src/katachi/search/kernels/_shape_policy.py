"""The value of shapes in playouts: of a few random moves the one after which the shapes promise most.

Each 3×3 window of the board has an *entry* in the table for either view: its code in base 3, 1 for the viewer's
stones and 2 for the enemy's, behind the first entry of its class. A move is worth what its stone changes in the
windows that hold its point, for the one who makes it; what it takes is left out of account, as captures are another
part's affair.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from katachi.go.points import BLACK, EMPTY


@njit(cache=True, nogil=True)
def change_entries(playout, p, color, sign):
    """Let a stone of a color come to a point, or go if ``sign`` is −1."""
    black, white = (sign, 2 * sign) if color == BLACK else (2 * sign, sign)
    for k in range(playout.holders[p]):
        w, power = playout.holder[p, k], np.int32(playout.power[p, k])
        playout.entry[0, w] += black * power
        playout.entry[1, w] += white * power


@njit(cache=True, nogil=True)
def fill_entries(b, playout):
    """Find the entries of all windows of a board."""
    playout.entry[0] = playout.first_entry
    playout.entry[1] = playout.first_entry
    for p in range(np.uint16(b.lines * b.lines)):
        if b.stone[p] != EMPTY:
            change_entries(playout, p, b.stone[p], np.int32(1))


@njit(cache=True, nogil=True)
def shape_gain(playout, p, color):
    """What a stone adds to the value of the shapes."""
    view = np.uint8(0) if color == BLACK else np.uint8(1)
    gain = np.int32(0)
    for k in range(playout.holders[p]):
        old = np.uint32(playout.entry[view, playout.holder[p, k]])
        gain += np.int32(playout.shape_value[old + playout.power[p, k]]) - np.int32(playout.shape_value[old])
    return gain
