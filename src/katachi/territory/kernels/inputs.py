"""The compiled part of ``territory/inputs.py``: the inputs of all points of many boards in one call.

What a point and its neighbors are is first written to a board with a margin of zeros, so that a neighborhood is read
without asking where the board ends. Kernels trust their arguments.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numba import njit

from katachi.features.kernels.influence import GROUPS, ORDERS, new_influence, read_groups, spread
from katachi.go.kernels.board import OFF, record_dtype
from katachi.go.points import BLACK, EMPTY, MAX_POINTS, MAX_SIZE
from katachi.territory.kernels._propensity import average_propensity

MARGIN: Final = 2  # the farthest line of a neighborhood
LOCAL: Final = 6  # black, white, empty, Black's and White's influence, propensity
GROUP: Final = 15  # eyes, four orders of liberties, twice black, white, none, liberties, eyes

# Counts are divided by these, and are 1 from there on.
MANY_EYES: Final = 2
MANY_LIBERTIES: Final = 8
MANY_FAR_LIBERTIES: Final = 16

_PADDED: Final = (MAX_SIZE + 2 * MARGIN) ** 2

INPUTS: Final = record_dtype(
    [
        ("local", np.float32, (_PADDED, LOCAL)),  # of each point of the board with its margin
        ("propensity", np.float32, MAX_POINTS),
        ("group", np.float32, (MAX_POINTS, GROUP)),  # of each group
    ]
)


@njit(cache=True, nogil=True)
def _share(count, many):
    """A count as a number from 0 to 1."""
    return np.float32(min(np.int64(count), many)) / np.float32(many)


@njit(cache=True, nogil=True)
def _tell_enemy(b, g, enemy, out, first):
    """Tell of an adjacent enemy group, or that there is none."""
    for j in range(np.uint16(5)):
        out[first + j] = np.float32(0)
    if enemy == OFF:
        out[first + 2] = np.float32(1)
        return
    out[first + (0 if b.stone[enemy] == BLACK else 1)] = np.float32(1)
    out[first + 3] = _share(g.liberties[enemy, 0], MANY_LIBERTIES)
    out[first + 4] = _share(g.eyes[enemy], MANY_EYES)


@njit(cache=True, nogil=True)
def _tell_groups(b, g, work):
    """Write what is told of each group."""
    for i in range(g.group_count):
        group = g.groups[i]
        out = work.group[group]
        out[0] = _share(g.eyes[group], MANY_EYES)
        out[1] = _share(g.liberties[group, 0], MANY_LIBERTIES)
        for order in range(1, ORDERS):
            out[1 + order] = _share(g.liberties[group, order], MANY_FAR_LIBERTIES)
        _tell_enemy(b, g, g.weakest[group, 0], out, 1 + ORDERS)
        _tell_enemy(b, g, g.weakest[group, 1], out, 6 + ORDERS)


@njit(cache=True, nogil=True)
def _tell_points(b, f, work, maximum):
    """Write what is told of each point to the board with the margin."""
    width = np.uint16(b.lines) + np.uint16(2 * MARGIN)
    p = np.uint16(0)
    for row in range(np.uint16(b.lines)):
        q = np.uint16((row + np.uint16(MARGIN)) * width + np.uint16(MARGIN))
        for _ in range(b.lines):
            s = b.stone[p]
            point = work.local[q]
            point[0] = np.float32(s == BLACK)
            point[1] = np.float32(s == -BLACK)
            point[2] = np.float32(s == EMPTY)
            point[3] = np.float32(min(f.maps[0, p] / maximum, 1.0))
            point[4] = np.float32(min(f.maps[1, p] / maximum, 1.0))
            point[5] = work.propensity[p]
            p += np.uint16(1)
            q += np.uint16(1)


@njit(cache=True, nogil=True)
def _assemble(b, g, work, shifts, out):
    """Put the inputs of each point together, [n², d]."""
    width = np.int64(b.lines) + 2 * MARGIN
    places = shifts.size
    p = np.uint16(0)
    for row in range(np.int64(b.lines)):
        center = (row + MARGIN) * width + MARGIN
        for _ in range(b.lines):
            inputs = out[p]
            for k in range(places):
                near = work.local[np.uint16(center + shifts[k])]
                for j in range(np.uint16(3)):
                    inputs[3 * k + j] = near[j]
                inputs[3 * places + 2 * k] = near[3]
                inputs[3 * places + 2 * k + 1] = near[4]
                inputs[5 * places + k] = near[5]
            for j in range(GROUP):
                inputs[LOCAL * places + j] = work.group[g.group[p], j] if b.stone[p] != EMPTY else np.float32(0)
            p += np.uint16(1)
            center += 1


@njit(cache=True, nogil=True)
def fill_inputs(records, loose, method, constants, maximum, shifts, cells, classes, table, out):
    """The inputs of boards [B] of one size, [B, n², d].

    ``shifts`` lead from a point to the places of its neighborhood on the board with its margin; the rest is what
    ``features/kernels/influence.py``, ``features/kernels/influence.py`` and ``territory/kernels/_propensity.py`` want.
    """
    groups = np.empty(1, dtype=GROUPS)
    influence = new_influence()
    work = np.zeros(1, dtype=INPUTS)
    for i in range(records.size):
        b, g, f = records[i], groups[0], influence[0]
        read_groups(b, g, loose)
        spread(b, g, f, method, constants)
        average_propensity(b, cells, classes, table, work[0].propensity)
        _tell_groups(b, g, work[0])
        _tell_points(b, f, work[0], maximum)
        _assemble(b, g, work[0], shifts, out[i])
