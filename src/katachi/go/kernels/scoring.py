"""Regions of a board, whose points they are, and unconditional life by Benson's algorithm."""

from __future__ import annotations

from typing import Final

import numpy as np

from katachi.go.kernels import kernel
from katachi.go.kernels.board import NEIGHBORS, OFF, OFF_COLOR
from katachi.go.points import BLACK, EMPTY, MAX_POINTS, WHITE

# Kernels trust their arguments. ``stones`` is the ``stone`` field of a board's record, with the point OFF at its end. A
# region is a connected set of points; a label is the number of its region, counted from 0, and −1 outside of all.

_TOUCHES_BLACK: Final = np.uint8(1)
_TOUCHES_WHITE: Final = np.uint8(2)
_TOUCHES_SEKI: Final = np.uint8(4)


@kernel
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


@kernel
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


@kernel
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


# Benson's algorithm.


@kernel
def _find_vital(b, color, label, count):
    """The chains, by their heads, to which each region is vital, [count, 4]; OFF where there are fewer than four.

    Such a chain touches every empty point of the region, so it is among the four neighbors of the first.
    """
    near = NEIGHBORS[b.lines]
    vital = np.full((count, 4), OFF, dtype=np.uint16)
    started = np.zeros(count, dtype=np.bool_)
    around = np.empty(4, dtype=np.uint16)
    for first in range(b.lines * b.lines):
        p = np.uint16(first)
        if b.stone[p] != EMPTY:
            continue
        region = label[p]
        for k in range(4):
            q = near[p, k]
            around[k] = b.head[q] if b.stone[q] == color else OFF
        for k in range(4):
            if not started[region]:
                repeated = (around[:k] == around[k]).any()
                vital[region, k] = OFF if repeated else around[k]
            elif not (around == vital[region, k]).any():
                vital[region, k] = OFF
        started[region] = True
    return vital


@kernel
def _drop_chains(b, color, vital, healthy, alive):
    """Drop the chains with fewer than two vital regions; returns whether there was one."""
    regions = np.zeros(MAX_POINTS, dtype=np.uint8)
    for region in range(len(vital)):
        for k in range(4):
            head = vital[region, k]
            if healthy[region] and head != OFF:
                regions[head] += 1
    dropped = False
    for p in range(b.lines * b.lines):
        if b.stone[p] == color and b.head[p] == p and alive[p] and regions[p] < 2:
            alive[p] = False
            dropped = True
    return dropped


@kernel
def _drop_regions(b, color, label, healthy, alive):
    """Drop the regions that have a dropped chain beside them."""
    near = NEIGHBORS[b.lines]
    for first in range(b.lines * b.lines):
        p = np.uint16(first)
        for k in range(4):
            q = near[p, k]
            if label[p] >= 0 and b.stone[q] == color and not alive[b.head[q]]:
                healthy[label[p]] = False


@kernel
def fill_alive(boards, color, stones, regions):
    """Mark the stones of a color that are unconditionally alive, and their vital regions, both [n²]."""
    b = boards[0]
    label = np.empty(MAX_POINTS, dtype=np.int16)
    count = label_regions(b.stone, b.lines, -color, label)
    vital = _find_vital(b, color, label, count)
    healthy = np.ones(count, dtype=np.bool_)
    alive = np.ones(MAX_POINTS, dtype=np.bool_)
    while _drop_chains(b, color, vital, healthy, alive):
        _drop_regions(b, color, label, healthy, alive)
    for p in range(b.lines * b.lines):
        if b.stone[p] == color:
            stones[p] = alive[b.head[p]]
            regions[p] = False
        else:
            stones[p] = False
            regions[p] = healthy[label[p]] and (vital[label[p]] != OFF).any()
