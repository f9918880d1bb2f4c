"""The compiled part of ``shapes/liberty.py``: shapes whose stones know how many liberties they have outside.

A window is read into one *state* for each cell: 0 empty, 1 to 3 the mover's stone with 0, 1 or more external
liberties, 4 to 6 the opponent's. Its code is a number in base 7, the first cell counting 1, the next 7. The least code
over the symmetries that leave the window's place as it is stands for all of them. Kernels trust their arguments.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from katachi.features.windows import MAX_WINDOWS
from katachi.go.kernels import kernel
from katachi.go.kernels.board import NEIGHBORS, count_liberties, record_dtype
from katachi.go.points import EMPTY, MAX_POINTS

SIZES: Final = 5  # 1×1 … 3×3
CELLS: Final = 9
STATES: Final = 7

# A window has two placements: one in the LI set of its size, one in the LD set.
LIBERTY_SHAPES: Final = record_dtype(
    [
        ("windows", np.uint16),
        ("bins", np.uint64),
        ("cell", np.uint16, (MAX_WINDOWS, CELLS)),
        ("shape", np.uint8, MAX_WINDOWS),  # which size
        ("area", np.uint8, SIZES),
        ("tabled", np.uint8, SIZES),  # 1 if every shape has a weight of its own
        ("symmetries", np.uint8, SIZES),
        ("order", np.uint8, (SIZES, 8, CELLS)),  # the cells as each symmetry reads them
        ("mask", np.uint8, (MAX_WINDOWS, 2)),  # the symmetries of a placement; 0 if no set has it
        ("base", np.uint32, (MAX_WINDOWS, 2)),  # its first weight
        ("place", np.uint64, (MAX_WINDOWS, 2)),  # what tells its class apart from others in the bins
    ]
)

READING: Final = record_dtype(
    [
        ("liberties", np.uint16, MAX_POINTS),  # of chains, at their heads
        ("state", np.uint8, CELLS),
    ]
)


@kernel
def fill_liberties(b, reading):
    """Count the liberties of every chain."""
    for p in range(np.uint16(b.lines * b.lines)):
        if b.stone[p] != EMPTY and b.head[p] == p:
            reading.liberties[p] = count_liberties(b, p)


@kernel
def _touches(b, p, head):
    """Whether an empty point is a liberty of a chain."""
    color = b.stone[head]
    for k in range(np.uint8(4)):
        q = NEIGHBORS[b.lines, p, k]
        if b.stone[q] == color and b.head[q] == head:
            return True
    return False


@kernel
def _external_liberties(b, shapes, reading, w, empty, head):
    """How many liberties of a chain lie outside a window with so many empty points: 0, 1 or 2 for more."""
    outside = reading.liberties[head]
    if outside >= empty + 2:  # even if every empty point of the window is one of them
        return np.uint8(2)
    for i in range(shapes.area[shapes.shape[w]]):
        p = shapes.cell[w, i]
        if b.stone[p] == EMPTY and _touches(b, p, head):
            outside -= np.uint16(1)
    return np.uint8(min(outside, np.uint16(2)))


@kernel
def read_window(b, shapes, reading, w, mover):
    """Leave the state of every cell in ``reading.state``."""
    empty = 0
    for i in range(shapes.area[shapes.shape[w]]):
        empty += b.stone[shapes.cell[w, i]] == EMPTY
    for i in range(shapes.area[shapes.shape[w]]):
        p = shapes.cell[w, i]
        color = b.stone[p]
        if color == EMPTY:
            reading.state[i] = np.uint8(0)
        else:
            first = np.uint8(1) if color == mover else np.uint8(4)
            reading.state[i] = first + _external_liberties(b, shapes, reading, w, empty, b.head[p])


@kernel
def least_code(shapes, reading, size, mask):
    """The least code of the window that was read, over the symmetries in ``mask``."""
    least = np.uint64(0xFFFFFFFFFFFFFFFF)
    for g in range(shapes.symmetries[size]):
        if (mask >> g) & np.uint8(1):
            code = np.uint64(0)
            for i in range(shapes.area[size], np.uint8(0), -1):
                code = code * np.uint64(STATES) + np.uint64(reading.state[shapes.order[size, g, i - 1]])
            least = min(least, code)
    return least


@kernel
def mix(z):
    """Spread a number over 64 bits (the last steps of splitmix64)."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@kernel
def list_active(b, shapes, reading, mover, out):
    """Write the weight of every placement to ``out``, window by window; returns how many there are."""
    fill_liberties(b, reading)
    count = np.uint32(0)
    for w in range(shapes.windows):
        read_window(b, shapes, reading, w, mover)
        size = shapes.shape[w]
        for slot in range(np.uint8(2)):
            if shapes.mask[w, slot] > 0:
                place = least_code(shapes, reading, size, shapes.mask[w, slot])
                if shapes.tabled[size] == 0:
                    place = mix(place ^ shapes.place[w, slot]) % shapes.bins
                out[count] = np.int64(shapes.base[w, slot]) + np.int64(place)
                count += np.uint32(1)
    return count


@kernel
def active_placements(boards, shapes, readings, mover, out):
    """``list_active`` on record arrays of one, as Python calls it."""
    return list_active(boards[0], shapes[0], readings[0], mover, out)
