"""The compiled part of scoring: regions, and whose points they are.

Kernels trust their arguments. ``stones`` is the ``stone`` field of a board's record, with the point OFF at its end. A
region is a connected set of points; a label is the number of its region, counted from 0, and −1 outside of all.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numba import njit

from katachi.go.kernels.board import NEIGHBORS, OFF_COLOR
from katachi.go.points import BLACK, EMPTY, MAX_POINTS, WHITE

_TOUCHES_BLACK: Final = np.uint8(1)
_TOUCHES_WHITE: Final = np.uint8(2)
_TOUCHES_SEKI: Final = np.uint8(4)


@njit(cache=True, nogil=True)
def label_regions(stones, size, color, label):
    """Number the regions of points that are empty or of a color (EMPTY: empty alone); returns how many there are."""
    near = NEIGHBORS[size]
    waiting = np.empty(MAX_POINTS, dtype=np.uint16)
    points = np.uint16(size * size)
    count = 0
    label[:points] = -1
    for first in range(points):
        start = np.uint16(first)
        if label[start] >= 0 or (stones[start] != EMPTY and stones[start] != color):
            continue
        label[start] = count
        waiting[0] = start
        left = np.uint16(1)
        while left > 0:
            left -= np.uint16(1)
            p = waiting[left]
            for k in range(4):
                q = near[p, k]
                if (stones[q] == EMPTY or stones[q] == color) and label[q] < 0:
                    label[q] = count
                    waiting[left] = q
                    left += np.uint16(1)
        count += 1
    return count


@njit(cache=True, nogil=True)
def _touched_by_regions(stones, size, seki, label, count):
    """What every empty region touches, as a set of the bits above."""
    near = NEIGHBORS[size]
    touches = np.zeros(count, dtype=np.uint8)
    for first in range(size * size):
        p = np.uint16(first)
        if stones[p] != EMPTY:
            continue
        for k in range(4):
            q = near[p, k]
            if stones[q] == EMPTY or stones[q] == OFF_COLOR:
                continue
            touches[label[p]] |= _TOUCHES_BLACK if stones[q] == BLACK else _TOUCHES_WHITE
            if seki[q]:
                touches[label[p]] |= _TOUCHES_SEKI
    return touches


@njit(cache=True, nogil=True)
def fill_owner(stones, size, seki, owner):
    """Who owns each point: its stone, or the only color around its empty region, unless a stone there is in seki."""
    label = np.empty(MAX_POINTS, dtype=np.int16)
    count = label_regions(stones, size, EMPTY, label)
    touches = _touched_by_regions(stones, size, seki, label, count)
    for p in range(size * size):
        owner[p] = stones[p]
        if stones[p] == EMPTY:
            around = touches[label[p]]
            if around == _TOUCHES_BLACK:
                owner[p] = BLACK
            elif around == _TOUCHES_WHITE:
                owner[p] = WHITE
