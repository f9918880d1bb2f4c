"""The compiled one-ply player over local shapes and liberty shapes: what each adds to the value of a move.

What the local shapes add is kept from ply to ply (``shapes/kernels/player.py``), and says which moves are possible.
What the liberty shapes up to 2×2 add is worked out at every ply (``shapes/kernels/liberty_windows.py``), because a
stone changes the liberties of chains far away. Both are in units of 1/``UNIT``. The windows after every ply are
written down: that is all that learning after the game needs.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from katachi.go.kernels import kernel
from katachi.go.kernels.board import record_dtype
from katachi.go.kernels.playouts import next_random, random_below
from katachi.go.points import BLACK, MAX_POINTS
from katachi.shapes.kernels.liberty_windows import (
    CODES,
    INVERSE,
    MAX_CLASSES,
    MAX_WINDOWS,
    captures,
    gain_of_capture,
    gain_of_stone,
    read_position,
    window_count,
)
from katachi.shapes.kernels.player import MAX_PLIES, NO_MOVE, PASS_MOVE, UNIT, refresh

LIBERTY_TABLE: Final = MAX_CLASSES * CODES
NO_GAIN: Final = np.int64(-(2**62))
_LARGEST: Final = 60.0 * UNIT

LIBERTIES: Final = record_dtype(
    [
        ("table_base", np.uint32, 2),  # where each side's tables begin
        ("gain", np.int64, MAX_POINTS),  # what a move adds, local shapes included
        ("after", np.uint16, (MAX_PLIES, MAX_WINDOWS)),  # the codes after every ply, as the one who made it sees them
        ("fused", np.int32, 2 * LIBERTY_TABLE),
    ]
)


@kernel
def fuse_liberties(weights, windows, fused):
    """Write the tables of these weights to ``fused``; ``windows`` is a ``LibertyWindows``."""
    for entry in range(windows.weight.shape[0]):
        share = windows.share[entry // CODES]
        total = 0.0
        for part in range(windows.weight.shape[1]):
            total += share[part] * weights[windows.weight[entry, part]]
        fused[entry] = np.int32(np.rint(min(max(total * UNIT, -_LARGEST), _LARGEST)))


@kernel
def write_windows(r, lib, position, b, color):
    """Read the windows as the side to move sees them, and write down what the move before this led to."""
    side = np.uint8(0) if color == BLACK else np.uint8(1)
    read_position(position, b, color, lib.fused, lib.table_base[side])
    if r.plies > 0:
        for w in range(window_count(b)):
            lib.after[r.plies - np.uint32(1), w] = INVERSE[position.code[w]]


@kernel
def _fill_gains(r, lib, position, boards, color):
    """Set ``lib.gain`` of every move that is possible; returns the best."""
    b = boards[0]
    side = np.uint8(0) if color == BLACK else np.uint8(1)
    first = lib.table_base[side]
    best = NO_GAIN
    for p in range(r.points):
        lib.gain[p] = NO_GAIN
        if r.gain[side, p] == NO_MOVE:
            continue
        if captures(b, p, color):
            boards[1] = b
            gain = gain_of_capture(position, boards[1], p, color, lib.fused, first)
        else:
            gain = gain_of_stone(position, b, p, color, lib.fused, first)
        lib.gain[p] = r.gain[side, p] + gain
        best = max(best, lib.gain[p])
    return best


@kernel
def _fill_possible(r, lib, side):
    """Make all possible moves equal; returns their gain, or NO_GAIN if there is none."""
    best = NO_GAIN
    for p in range(r.points):
        lib.gain[p] = NO_GAIN if r.gain[side, p] == NO_MOVE else np.int64(0)
        best = max(best, lib.gain[p])
    return best


@kernel
def _pick(r, lib, best):
    """A random one of the best moves."""
    count = np.uint16(0)
    for p in range(r.points):
        count += np.uint16(lib.gain[p] == best)
    r.random = next_random(r.random)
    left = random_below(r.random, count)
    for p in range(r.points):
        if lib.gain[p] == best:
            if left == 0:
                return np.uint16(p)
            left -= np.uint64(1)
    return PASS_MOVE


@kernel
def choose_with_liberties(r, lib, position, boards, color, explore):
    """What ``_shape_player.choose`` does, on ``boards[0]``; the second board is for captures."""
    refresh(r, boards[0], color)
    write_windows(r, lib, position, boards[0], color)
    side = np.uint8(0) if color == BLACK else np.uint8(1)
    r.random = next_random(r.random)
    exploring = (r.random >> np.uint64(32)) < explore
    r.explored[r.plies] = exploring
    best = _fill_possible(r, lib, side) if exploring else _fill_gains(r, lib, position, boards, color)
    return PASS_MOVE if best == NO_GAIN else _pick(r, lib, best)
