"""Compiled one-ply sweeps: what the board is worth after each sensible move.

A *sensible* move is legal under simple ko, no suicide, and fills no simple eye of its own side. Values are Black's:
a White player takes the smallest. Kernels trust their arguments; ``players/simple.py`` checks superko.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from katachi.features.kernels.influence import spread_bouzy
from katachi.go.kernels import kernel
from katachi.go.kernels.board import count_liberties, play_stone, record_dtype
from katachi.go.points import BLACK, EMPTY, MAX_POINTS

# Bouzy 2003, "Mathematical morphology applied to computer Go": five dilations, then 5 · 4 + 1 erosions, make a lone
# stone claim nothing but itself and a few stones claim what they surround.
DILATIONS: Final = 5
EROSIONS: Final = 21
_STONE: Final = 128  # more than dilation and erosion together can take away

# Two maps, written in turn; at OFF they stay 0. The steps are even in number, so that the first is the last written.
INFLUENCE: Final = record_dtype([("maps", np.int32, (2, MAX_POINTS + 1))])


@kernel
def liberty_balance(b):
    """The mean number of liberties of Black's chains less that of White's; a side without chains has 0."""
    black_chains = black_liberties = white_chains = white_liberties = 0
    for p in range(np.uint16(b.lines * b.lines)):
        if b.stone[p] != EMPTY and b.head[p] == p:
            if b.stone[p] == BLACK:
                black_chains += 1
                black_liberties += count_liberties(b, p)
            else:
                white_chains += 1
                white_liberties += count_liberties(b, p)
    return black_liberties / max(black_chains, 1) - white_liberties / max(white_chains, 1)


@kernel
def spread_influence(b, influence):
    """Leave Bouzy's map of the board in ``influence.maps[0]``, positive where it is Black's."""
    spread_bouzy(b, influence.maps, _STONE, DILATIONS, EROSIONS)


@kernel
def influence_balance(b, influence):
    """How many points are Black's on Bouzy's map less how many are White's."""
    spread_influence(b, influence)
    total = 0
    for p in range(np.uint16(b.lines * b.lines)):
        total += np.sign(influence.maps[0, p])
    return total


@kernel
def sweep_liberties(boards, work, color, sensible, values):
    """Set ``values[point]`` to the liberty balance after each sensible move; ``work`` is a record to play on."""
    for p in range(np.uint16(boards[0].lines * boards[0].lines)):
        if sensible[p]:
            work[0] = boards[0]
            play_stone(work[0], p, color)
            values[p] = liberty_balance(work[0])


@kernel
def sweep_influence(boards, work, influence, color, sensible, values):
    """Set ``values[point]`` to the influence balance after each sensible move."""
    for p in range(np.uint16(boards[0].lines * boards[0].lines)):
        if sensible[p]:
            work[0] = boards[0]
            play_stone(work[0], p, color)
            values[p] = influence_balance(work[0], influence[0])


@kernel
def map_influence(boards, influence):
    """Leave Bouzy's map of a board in ``influence[0].maps[0]``, for Python to read."""
    spread_influence(boards[0], influence[0])
