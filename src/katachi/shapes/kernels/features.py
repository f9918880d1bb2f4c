"""The compiled part of ``shapes/features.py`` and ``shapes/liberty.py``: the local and the liberty shapes on a board.

A *window* is a rectangle on the board, read in the frame of its nearest corner (``features/windows.py``). One up to
3×3 has a *code* in base 3, a larger one a Zobrist *key* for each symmetry of its rectangle. Both are kept for two
*views*: in view 0 Black is the mover, in view 1 White. A *placement* is a window as one set of shapes sees it.

A tracker compares its stones with the board's and changes the windows of the points that differ; play, captures, undo
and set-up are all the same to it. The keys are an array beside its record, [2, keyed windows, 8], as long as the sets
need it: most sets have none.

Liberty shapes have stones that know how many liberties they have outside, and are read anew from every board. A window
is read into one *state* for each cell: 0 empty, 1 to 3 the mover's stone with 0, 1 or more external liberties, 4 to 6
the opponent's. Its code is a number in base 7, the first cell counting 1, the next 7. The least code over the
symmetries that leave the window's place as it is stands for all of them. Kernels trust their arguments.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from katachi.features.windows import MAX_WINDOWS
from katachi.go.kernels import kernel
from katachi.go.kernels.board import NEIGHBORS, count_liberties, record_dtype
from katachi.go.points import BLACK, EMPTY, MAX_POINTS

MAX_CONTACTS: Final = 30 * MAX_POINTS
MAX_KEYED: Final = 1505
MAX_KEYED_CONTACTS: Final = 105 * MAX_POINTS
KEY_SIZES: Final = 4
MAX_CELLS: Final = 25

SIZES: Final = 5  # of liberty shapes: 1×1 … 3×3
CELLS: Final = 9  # of the largest
STATES: Final = 7

SHAPES: Final = record_dtype(
    [
        ("placements", np.uint32),
        ("window", np.uint16, 2 * MAX_WINDOWS),  # of each placement
        ("base", np.uint32, 2 * MAX_WINDOWS),  # its weight is number canonical[base + code]
        ("starts", np.uint16, MAX_POINTS + 1),  # where a point's contacts begin
        ("contact", np.uint16, MAX_CONTACTS),  # the windows around a point …
        ("power", np.uint16, MAX_CONTACTS),  # … and the power of three at which it counts there
        ("keyed_placements", np.uint32),
        ("bins", np.uint64),
        ("keyed_window", np.uint16, 2 * MAX_KEYED),
        ("keyed_base", np.uint32, 2 * MAX_KEYED),
        ("keyed_symmetries", np.uint8, 2 * MAX_KEYED),  # a bit for each that leaves the place as it is
        ("keyed_place", np.uint64, 2 * MAX_KEYED),  # the key of the place, 0 where place does not matter
        ("keyed_starts", np.uint16, MAX_POINTS + 1),
        ("keyed_contact", np.uint16, MAX_KEYED_CONTACTS),
        ("keyed_cell", np.uint8, MAX_KEYED_CONTACTS),  # the row of ``words``
        ("symmetries", np.uint8, KEY_SIZES * MAX_CELLS),  # how many keys a row has: 4 or 8
        ("words", np.uint64, (KEY_SIZES * MAX_CELLS, 8, 2)),  # by cell, symmetry, and mover's or opponent's stone
    ]
)

TRACKER: Final = record_dtype(
    [
        ("stone", np.int8, MAX_POINTS),
        ("code", np.uint16, (2, MAX_WINDOWS)),  # by view
    ]
)


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
def _digit(color, view):
    """0 for an empty point, 1 for the mover's stone, 2 for the opponent's."""
    if color == EMPTY:
        return np.uint16(0)
    return np.uint16(1) if (color == BLACK) == (view == 0) else np.uint16(2)


@kernel
def change_stone(shapes, tracker, keys, p, color):
    """Make a point's stone ``color`` in all windows that contain the point."""
    old = tracker.stone[p]
    tracker.stone[p] = color
    for view in range(np.uint8(2)):
        before = _digit(old, view)
        after = _digit(color, view)
        change = np.uint16(after - before)  # arithmetic is modulo 2¹⁶, so that it may go down
        for i in range(shapes.starts[p], shapes.starts[p + np.uint16(1)]):
            tracker.code[view, shapes.contact[i]] += np.uint16(change * shapes.power[i])
        for i in range(shapes.keyed_starts[p], shapes.keyed_starts[p + np.uint16(1)]):
            w = shapes.keyed_contact[i]
            row = shapes.keyed_cell[i]
            for g in range(shapes.symmetries[row]):
                word = np.uint64(0)
                if before > 0:
                    word ^= shapes.words[row, g, before - np.uint16(1)]
                if after > 0:
                    word ^= shapes.words[row, g, after - np.uint16(1)]
                keys[view, w, g] ^= word


@kernel
def follow(shapes, tracker, keys, b):
    """Bring a tracker to the position of a board, from whatever position it was at; returns how many points changed."""
    changed = 0
    for p in range(np.uint16(b.lines * b.lines)):
        if b.stone[p] != tracker.stone[p]:
            change_stone(shapes, tracker, keys, p, b.stone[p])
            changed += 1
    return changed


@kernel
def canonical_key(shapes, keys, view, i):
    """The least key of a keyed placement over the symmetries that leave its place as it is."""
    w = shapes.keyed_window[i]
    symmetries = shapes.keyed_symmetries[i]
    least = keys[view, w, 0]
    for g in range(np.uint8(1), np.uint8(8)):
        if (symmetries >> g) & np.uint8(1):
            least = min(least, keys[view, w, g])
    return least


@kernel
def keyed_entry(shapes, keys, view, i, tied):
    """The weight of a keyed placement and its sign, 0 if the shape is its own inverse and inverses are tied."""
    key = canonical_key(shapes, keys, view, i)
    sign = np.int8(1)
    if tied:
        inverse = canonical_key(shapes, keys, np.uint8(1) - view, i)
        if inverse == key:
            sign = np.int8(0)
        elif inverse < key:
            key = inverse
            sign = np.int8(-1)
    place = (key ^ shapes.keyed_place[i]) % shapes.bins
    return np.uint32(shapes.keyed_base[i] + np.uint32(place)), sign


@kernel
def list_active(shapes, tracker, keys, view, canonical, signs, tied, out, out_signs):
    """Write the weight and the sign of every placement, table sets first; returns how many there are."""
    count = np.uint32(0)
    for i in range(shapes.placements):
        entry = shapes.base[i] + tracker.code[view, shapes.window[i]]
        out[count] = canonical[entry]
        out_signs[count] = signs[entry]
        count += np.uint32(1)
    for i in range(shapes.keyed_placements):
        entry, sign = keyed_entry(shapes, keys, view, i, tied)
        out[count] = entry
        out_signs[count] = sign
        count += np.uint32(1)
    return count


@kernel
def fill_liberties(b, reading):
    """Count the liberties of every chain."""
    for p in range(np.uint16(b.lines * b.lines)):
        if b.stone[p] != EMPTY and b.head[p] == p:
            reading.liberties[p] = count_liberties(b, p)


@kernel
def touches(b, p, head):
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
        if b.stone[p] == EMPTY and touches(b, p, head):
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
def list_liberty_shapes(b, shapes, reading, mover, out):
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


# What Python calls: record arrays of one.


@kernel
def follow_board(shapes, trackers, keys, boards):
    return follow(shapes[0], trackers[0], keys, boards[0])


@kernel
def active_placements(shapes, trackers, keys, view, canonical, signs, tied, out, out_signs):
    return list_active(shapes[0], trackers[0], keys, np.uint8(view), canonical, signs, tied, out, out_signs)


@kernel
def active_liberty_placements(boards, shapes, readings, mover, out):
    return list_liberty_shapes(boards[0], shapes[0], readings[0], mover, out)
