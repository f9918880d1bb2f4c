"""The compiled part of ``shapes/features.py``: the shapes on a board, followed from position to position.

A *window* is a rectangle on the board, read in the frame of its nearest corner (``features/windows.py``). One up to
3×3 has a *code* in base 3, a larger one a Zobrist *key* for each symmetry of its rectangle. Both are kept for two
*views*: in view 0 Black is the mover, in view 1 White. A *placement* is a window as one set of shapes sees it.

A tracker compares its stones with the board's and changes the windows of the points that differ; play, captures, undo
and set-up are all the same to it. The keys are an array beside its record, [2, keyed windows, 8], as long as the sets
need it: most sets have none. Kernels trust their arguments.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from katachi.features.windows import MAX_WINDOWS
from katachi.go.kernels import kernel
from katachi.go.kernels.board import record_dtype
from katachi.go.points import BLACK, EMPTY, MAX_POINTS

MAX_CONTACTS: Final = 30 * MAX_POINTS
MAX_KEYED: Final = 1505
MAX_KEYED_CONTACTS: Final = 105 * MAX_POINTS
KEY_SIZES: Final = 4
MAX_CELLS: Final = 25

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


# What Python calls: record arrays of one.


@kernel
def follow_board(shapes, trackers, keys, boards):
    return follow(shapes[0], trackers[0], keys, boards[0])


@kernel
def active_placements(shapes, trackers, keys, view, canonical, signs, tied, out, out_signs):
    return list_active(shapes[0], trackers[0], keys, np.uint8(view), canonical, signs, tied, out, out_signs)
