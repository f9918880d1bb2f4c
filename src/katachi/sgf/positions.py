"""What stones stand after a move that the rules forbid, and which set-up stones cannot stand at all.

Slow and obvious: only records that are wrong come here.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from katachi.go.kernels.board import NEIGHBORS, OFF
from katachi.go.points import EMPTY

Stones = NDArray[np.int8]


def neighbors(point: int, size: int) -> list[int]:
    """The points beside a point."""
    return [int(near) for near in NEIGHBORS[size, point] if near != OFF]


def dead_chain(stones: Stones, point: int, size: int) -> set[int]:
    """The chain at a point if it has no liberty, else nothing."""
    color = stones[point]
    chain, waiting = {point}, [point]
    while waiting:
        for near in neighbors(waiting.pop(), size):
            if stones[near] == EMPTY:
                return set()
            if stones[near] == color and near not in chain:
                chain.add(near)
                waiting.append(near)
    return chain


def after_any_move(stones: Stones, move: int, color: int, size: int) -> Stones:
    """The stones after a move as SGF executes it: put the stone, take the enemy's dead chains, then one's own."""
    after = stones.copy()
    after[move] = color
    for near in neighbors(move, size):
        if after[near] == -color:
            after[list(dead_chain(after, near, size))] = EMPTY
    after[list(dead_chain(after, move, size))] = EMPTY
    return after


def dead_points(stones: Stones, size: int) -> list[int]:
    """The points of all chains without liberties."""
    dead: set[int] = set()
    seen: set[int] = set()
    for point in np.flatnonzero(stones).tolist():
        if point not in seen:
            chain = dead_chain(stones, point, size)
            seen |= chain
            dead |= chain
    return sorted(dead)
