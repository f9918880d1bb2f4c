"""The compiled part of ``search/td_memory.py``: what the weights of the windows say of a board, and of every move on
it.

All parameters come in the pair that compiled evaluators have. The integers hold a header, the first weight of each
window, where the contacts of each point begin, and the contacts: a window and the power of three at which the point
counts there. The numbers are the weights. The *entry* of a window is the weight in use: its first weight plus its
code in base 3, with digits 0 for an empty point, 1 for a stone of the player who has just moved, 2 for an enemy's.
Entries are kept for two views, [2, windows]: in view 0 Black has just moved, in view 1 White.

Kernels trust their arguments.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numba import njit

from katachi.features.kernels.logistic import logistic, make_shares
from katachi.features.windows import MAX_WINDOWS
from katachi.go.kernels.board import BOARD, LEGAL, captures, illegality, play_stone
from katachi.go.points import BLACK, EMPTY

# The header: how many windows there are, and where each part begins.
WINDOWS: Final = 0
BASES_AT: Final = 1
STARTS_AT: Final = 2
CONTACTS_AT: Final = 3
HEADER: Final = 4


@njit(cache=True, nogil=True)
def view_of(color):
    """The view of the player who has just moved."""
    return np.uint8(0) if color == BLACK else np.uint8(1)


@njit(cache=True, nogil=True)
def _change_point(ints, entries, p, color, sign):
    """Let a stone of a color come to a point, or go if ``sign`` is −1, in all windows that hold it."""
    black, white = (sign, 2 * sign) if color == BLACK else (2 * sign, sign)
    contacts = np.uint64(ints[CONTACTS_AT])
    starts = np.uint64(ints[STARTS_AT]) + np.uint64(p)
    for i in range(np.uint64(ints[starts]), np.uint64(ints[starts + np.uint64(1)])):
        at = contacts + np.uint64(2) * i
        w, power = np.uint64(ints[at]), ints[at + np.uint64(1)]
        entries[0, w] += black * power
        entries[1, w] += white * power


@njit(cache=True, nogil=True)
def find_entries(b, ints, entries):
    """Set the entries of all windows of a board."""
    bases = np.uint64(ints[BASES_AT])
    for w in range(np.uint64(ints[WINDOWS])):
        entries[0, w] = entries[1, w] = ints[bases + w]
    for p in range(np.uint16(b.lines * b.lines)):
        if b.stone[p] != EMPTY:
            _change_point(ints, entries, p, b.stone[p], np.int32(1))


@njit(cache=True, nogil=True)
def play_and_follow(b, ints, entries, p, color):
    """Play a stone, and keep the entries up to date."""
    before = b.empty_count - np.uint16(1)
    play_stone(b, p, color)
    _change_point(ints, entries, p, color, np.int32(1))
    for i in range(before, b.empty_count):  # what was taken stands at the end of the list
        _change_point(ints, entries, b.empties[i], -color, np.int32(-1))


@njit(cache=True, nogil=True)
def sum_entries(ints, weights, entries, view):
    """The logit of the player who has just moved."""
    total = 0.0
    for w in range(np.uint64(ints[WINDOWS])):
        total += np.float64(weights[np.uint64(entries[view, w])])
    return total


@njit(cache=True, nogil=True)
def gain_of_stone(ints, weights, entries, view, p):
    """What a stone of the mover adds to his logit if it takes nothing."""
    gain = 0.0
    contacts = np.uint64(ints[CONTACTS_AT])
    starts = np.uint64(ints[STARTS_AT]) + np.uint64(p)
    for i in range(np.uint64(ints[starts]), np.uint64(ints[starts + np.uint64(1)])):
        at = contacts + np.uint64(2) * i
        old = np.uint64(entries[view, np.uint64(ints[at])])
        gain += np.float64(weights[old + np.uint64(ints[at + np.uint64(1)])]) - np.float64(weights[old])
    return gain


@njit(cache=True, nogil=True)
def logit_after(boards, spare, parameters, entries, work, total, p):
    """The mover's logit after a move on ``boards[0]``, where all windows sum to ``total`` for him."""
    ints, weights = parameters
    color = boards[0].to_play
    if not captures(boards[0], p, color):
        return total + gain_of_stone(ints, weights, entries, view_of(color), p)
    spare[0] = boards[0]
    work[:] = entries
    play_and_follow(spare[0], ints, work, p, color)
    return sum_entries(ints, weights, work, view_of(color))


@njit(cache=True, nogil=True)
def sweep_log_odds(boards, parameters, values):
    """The log-odds of Black after each move on ``boards[0]``, [n²+1], the pass last; NaN where it is illegal."""
    ints, weights = parameters
    spare = np.empty(1, BOARD)
    color = boards[0].to_play
    points = np.uint16(boards[0].lines * boards[0].lines)
    entries = np.empty((2, MAX_WINDOWS), np.int32)
    work = np.empty((2, MAX_WINDOWS), np.int32)
    find_entries(boards[0], ints, entries)
    total = sum_entries(ints, weights, entries, view_of(color))
    for p in range(points):
        values[p] = np.nan
        if illegality(boards[0], p, color, False) == LEGAL:
            values[p] = color * logit_after(boards, spare, parameters, entries, work, total, p)
    values[points] = color * total


@njit(cache=True, nogil=True)
def sweep(boards, parameters, values):
    """P(Black wins) after each move on ``boards[0]``, as ``sweep_log_odds``."""
    sweep_log_odds(boards, parameters, values)
    make_shares(values, boards[0].lines * boards[0].lines + 1)


@njit(cache=True, nogil=True)
def value(boards, parameters):
    """P(Black wins) on ``boards[0]``."""
    ints, weights = parameters
    color = -boards[0].to_play
    entries = np.empty((2, MAX_WINDOWS), np.int32)
    find_entries(boards[0], ints, entries)
    return logistic(color * sum_entries(ints, weights, entries, view_of(color)))
