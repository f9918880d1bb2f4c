"""The compiled part of ``shapes/model.py``: a board's logit as a sum over its windows, and a sweep over all moves.

All parameters come in one tuple (int32 array, float32 array), so that every compiled evaluator has one type. The
integers hold, one after another, what ``shapes/model.py`` lays out: a header, the windows' cells, where each window's
table begins, the windows that touch each point, and the tables, in fixed point; first those of 3×3 windows, then, if
there are liberty shapes, those of 2×2 liberty windows (``shapes/kernels/liberty_windows.py``). Integer sums have no
rounding: a sweep agrees with a whole-board pass to the last bit, and so do a board and its mirror images.

Digits of a window's code: 0 empty, 1 a stone of the player who has just moved, 2 an opponent's. Kernels trust their
arguments.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from katachi.go.kernels import kernel
from katachi.go.kernels.board import BOARD, LEGAL, NEIGHBORS, illegality, is_atari
from katachi.go.kernels.values import logistic, make_shares
from katachi.go.points import EMPTY, MAX_POINTS, MAX_SIZE
from katachi.shapes.kernels.liberty_windows import POSITION, captures, gain_of_capture, gain_of_stone, read_position

CELLS: Final = 9  # of a window
LAST_POWER: Final = 3 ** (CELLS - 1)
MAX_WINDOWS: Final = (MAX_SIZE - 2) ** 2

# The header: how many windows there are, and where each part begins.
WINDOWS: Final = 0
CELLS_AT: Final = 1
BASES_AT: Final = 2
STARTS_AT: Final = 3
CONTACTS_AT: Final = 4
LIBERTIES_AT: Final = 5  # the tables of liberty windows, empty if there are no liberty shapes
HEADER: Final = 6


@kernel
def _digit(stone, mover):
    return 0 if stone == EMPTY else 1 if stone == mover else 2


@kernel
def _index_windows(b, mover, ints, index):
    """Set ``index[window]`` to its table entry; returns the sum of all of them."""
    cell = np.uint64(ints[CELLS_AT])
    bases = np.uint64(ints[BASES_AT])
    total = np.int64(0)
    for w in range(np.uint64(ints[WINDOWS])):
        code = 0
        for _ in range(CELLS):  # the last cell first: Horner's rule
            code = 3 * code + _digit(b.stone[np.uint64(ints[cell])], mover)
            cell += np.uint64(1)
        index[w] = ints[bases + w] + code
        total += ints[np.uint64(index[w])]
    return total


@kernel
def _fill_gains(b, ints, index, gains):
    """Set ``gains[p]`` to what the sum gains by a stone of the mover on an empty point when nothing else changes.

    Window by window, not point by point: the entries that one window needs lie close together.
    """
    for p in range(np.uint16(b.lines * b.lines)):
        gains[p] = 0
    cell = np.uint64(ints[CELLS_AT])
    for w in range(np.uint64(ints[WINDOWS])):
        old = np.uint64(index[w])
        power = np.uint64(LAST_POWER)
        while power > 0:
            point = np.uint64(ints[cell])
            if b.stone[point] == EMPTY:
                gains[point] += ints[old + power] - ints[old]
            cell += np.uint64(1)
            power //= np.uint64(3)


@kernel
def _change(p, digits, ints, index):
    """Change the codes of the windows at a point by so many digits there; returns what the sum gains."""
    gain = np.int64(0)
    contacts = np.uint64(ints[CONTACTS_AT])
    starts = np.uint64(ints[STARTS_AT]) + np.uint64(p)
    for i in range(np.uint64(ints[starts]), np.uint64(ints[starts + np.uint64(1)])):
        at = contacts + np.uint64(2) * i
        w = np.uint64(ints[at])
        old = index[w]
        index[w] = old + digits * ints[at + np.uint64(1)]
        gain += ints[np.uint64(index[w])] - ints[np.uint64(old)]
    return gain


@kernel
def _change_chain(b, head, digits, ints, index):
    """``_change`` for every stone of a chain."""
    gain = np.int64(0)
    q = head
    while True:
        gain += _change(q, digits, ints, index)
        q = b.link[q]
        if q == head:
            return gain


@kernel
def _captured_heads(b, p, color, heads):
    """Write the heads of the chains that a stone would take, each once; returns how many."""
    count = 0
    for k in range(4):
        q = NEIGHBORS[b.lines, p, k]
        if b.stone[q] == -color and is_atari(b.liberties[b.head[q]]):
            head = b.head[q]
            seen = False
            for i in range(count):
                seen |= heads[i] == head
            if not seen:
                heads[count] = head
                count += 1
    return count


@kernel
def _gain_with_captures(b, p, heads, count, ints, index):
    """What the sum gains by a stone that takes chains; the codes are changed and changed back."""
    gain = _change(p, 1, ints, index)
    for i in range(count):
        gain += _change_chain(b, heads[i], -2, ints, index)
    for i in range(count):
        _change_chain(b, heads[i], 2, ints, index)
    _change(p, -1, ints, index)
    return gain


@kernel
def _value_liberties(b, mover, ints):
    """The sum of all liberty windows."""
    positions = np.empty(1, POSITION)
    return read_position(positions[0], b, mover, ints, np.uint32(ints[LIBERTIES_AT]))


@kernel
def _add_liberties(b, color, ints, values, gains):
    """Add to ``gains`` what every legal move gains in liberty windows; returns the sum of all of them now."""
    first = np.uint32(ints[LIBERTIES_AT])
    positions = np.empty(1, POSITION)
    spare = np.empty(1, BOARD)  # what a capture changes and changes back; copied when there is one
    is_copied = False
    total = read_position(positions[0], b, color, ints, first)
    for p in range(np.uint16(b.lines * b.lines)):
        if np.isnan(values[p]):
            continue
        if captures(b, p, color):
            if not is_copied:
                spare[0] = b
                is_copied = True
            gains[p] += gain_of_capture(positions[0], spare[0], p, color, ints, first)
        else:
            gains[p] += gain_of_stone(positions[0], b, p, color, ints, first)
    return total


@kernel
def board_logit(boards, parameters):
    """The logit of the player who has just moved on ``boards[0]``."""
    ints, floats = parameters
    b = boards[0]
    index = np.empty(MAX_WINDOWS, np.int32)
    total = _index_windows(b, -b.to_play, ints, index)
    if ints[LIBERTIES_AT] < ints.size:
        total += _value_liberties(b, -b.to_play, ints)
    return total * np.float64(floats[0])


@kernel
def value(boards, parameters):
    """P(Black wins) on ``boards[0]``."""
    logit = board_logit(boards, parameters)
    return logistic(-boards[0].to_play * logit)


@kernel
def sweep_log_odds(boards, parameters, values):
    """The log-odds of Black after each move on ``boards[0]``, [n²+1], the pass last; NaN where it is illegal."""
    ints, floats = parameters
    b = boards[0]
    color = b.to_play
    unit = color * np.float64(floats[0])
    points = np.uint16(b.lines * b.lines)
    index = np.empty(MAX_WINDOWS, np.int32)
    heads = np.empty(4, np.uint16)
    gains = np.empty(MAX_POINTS, np.int64)
    total = _index_windows(b, color, ints, index)
    _fill_gains(b, ints, index, gains)
    for p in range(points):
        values[p] = 0.0
        if illegality(b, p, color, False) != LEGAL:
            values[p] = np.nan
            continue
        taken = _captured_heads(b, p, color, heads)
        if taken:
            gains[p] = _gain_with_captures(b, p, heads, taken, ints, index)
    if ints[LIBERTIES_AT] < ints.size:
        total += _add_liberties(b, color, ints, values, gains)
    for p in range(points):
        values[p] = np.nan if np.isnan(values[p]) else unit * (total + gains[p])
    values[points] = unit * total


@kernel
def sweep(boards, parameters, values):
    """P(Black wins) after each move on ``boards[0]``, as ``sweep_log_odds``."""
    sweep_log_odds(boards, parameters, values)
    make_shares(values, boards[0].lines * boards[0].lines + 1)
