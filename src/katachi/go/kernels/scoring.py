"""The compiled part of ``go/life.py``: Benson's algorithm."""

from __future__ import annotations

import numpy as np
from numba import njit

from katachi.go.kernels._scoring import label_regions
from katachi.go.kernels.board import NEIGHBORS, OFF
from katachi.go.points import EMPTY, MAX_POINTS


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def _drop_regions(b, color, label, healthy, alive):
    """Drop the regions that have a dropped chain beside them."""
    near = NEIGHBORS[b.lines]
    for first in range(b.lines * b.lines):
        p = np.uint16(first)
        for k in range(4):
            q = near[p, k]
            if label[p] >= 0 and b.stone[q] == color and not alive[b.head[q]]:
                healthy[label[p]] = False


@njit(cache=True, nogil=True)
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
