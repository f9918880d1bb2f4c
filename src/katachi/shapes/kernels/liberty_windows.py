"""The compiled part of ``shapes/liberty_windows.py``: the liberty shapes up to 2×2 of a board, read by 2×2 windows.

A window has one *digit* for each cell: 0 empty; 1 to 5 the mover's stone, whose chain has outside the window no
liberty (1), one (2), two or more (3); 4 and 5 are 1 and 2 for a chain of which the opposite cell is a liberty too. 6
to 10 are the enemy's. The opposite cell matters because the 1×1 and 2×1 shapes in the window have it outside: the
other two cells touch the stone, so that they are liberties whenever they are empty. Hence 11 digits, not 7, tell all
shapes. The code of a window is the number of these digits in base 11, and its *entry* that code behind those of other
classes.

A position holds the liberties of every chain as bits, and what ``shapes/kernels/_liberty_gains.py`` needs to value
moves.

Kernels trust their arguments. Their values are whole numbers: sums are exact in any order.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numba import njit
from numpy.typing import NDArray

from katachi.features.windows import find_windows
from katachi.go.kernels.board import NEIGHBORS, record_dtype
from katachi.go.points import EMPTY, MAX_POINTS, MAX_SIZE

DIGITS: Final = 11
ENEMY: Final = 5  # what the enemy's digits are behind the mover's
SIDE: Final = 2
CELLS: Final = SIDE * SIDE
CODES: Final = DIGITS**CELLS
MAX_WINDOWS: Final = (MAX_SIZE - 1) ** 2
MAX_CLASSES: Final = 45  # on 19×19
WORDS: Final = (MAX_POINTS + 63) // 64
NOWHERE: Final = np.uint16(0xFFFF)
SAFE: Final = 5  # liberties: at most three are inside a window
POWERS: Final = DIGITS ** np.arange(CELLS, dtype=np.int32)


def _geometry() -> tuple[NDArray[np.uint16], NDArray[np.uint32], NDArray[np.uint16], NDArray[np.uint8]]:
    """By board size: the cells of every window in its frame, its first entry, and the windows around every point."""
    cells = np.zeros((MAX_SIZE + 1, MAX_WINDOWS, CELLS), dtype=np.uint16)
    base = np.zeros((MAX_SIZE + 1, MAX_WINDOWS), dtype=np.uint32)
    around = np.full((MAX_SIZE + 1, MAX_POINTS, CELLS), NOWHERE, dtype=np.uint16)
    place = np.zeros((MAX_SIZE + 1, MAX_POINTS, CELLS), dtype=np.uint8)
    for size in range(SIDE, MAX_SIZE + 1):
        windows = find_windows(size, SIDE, SIDE)
        count = len(windows.cells)
        cells[size, :count] = windows.cells
        base[size, :count] = np.unique(windows.y * size + windows.x, return_inverse=True)[1] * CODES
        order = np.argsort(windows.cells.ravel(), kind="stable")
        point = windows.cells.ravel()[order]
        rank = np.arange(order.size) - np.searchsorted(point, point)
        around[size, point, rank] = order // CELLS
        place[size, point, rank] = order % CELLS
    return cells, base, around, place


WINDOW_CELLS, WINDOW_BASE, AROUND, PLACE = _geometry()


def _inverses() -> NDArray[np.uint16]:
    """For every code the one that the other side sees."""
    digits = np.arange(CODES)[:, None] // DIGITS ** np.arange(CELLS) % DIGITS
    inverse = np.where(digits == 0, 0, (digits - 1 + ENEMY) % (2 * ENEMY) + 1)
    return (inverse @ DIGITS ** np.arange(CELLS)).astype(np.uint16)


INVERSE: Final = _inverses()

POSITION: Final = record_dtype(
    [
        ("liberties", np.uint64, (MAX_POINTS, WORDS)),  # of chains as bits, at their heads
        ("count", np.uint16, MAX_POINTS),
        ("weak", np.uint8, MAX_POINTS),  # 1 if a chain of the mover has less than two liberties outside some window
        ("code", np.uint16, MAX_WINDOWS),
        ("digit", np.uint8, (MAX_WINDOWS, CELLS)),
        ("value", np.int32, MAX_WINDOWS),
        # fragile stones, by chain: a stone in a window is number 4 · window + cell
        ("first", np.uint16, MAX_POINTS),
        ("following", np.uint16, CELLS * MAX_WINDOWS),
        ("drop", np.int16, CELLS * MAX_WINDOWS),  # what losing a liberty outside adds to the code
        # work space
        ("candidates", np.uint32),  # how many were valued
        ("seen", np.uint32, MAX_WINDOWS),
        ("listed", np.uint32, MAX_WINDOWS),
        ("shift", np.int32, MAX_WINDOWS),  # of the codes of listed windows
        ("shifted", np.uint16, MAX_WINDOWS),
        ("joined", np.uint16, 4),  # the own chains beside a candidate
        ("joined_count", np.uint8),
        ("merged", np.uint64, WORDS),  # the liberties of the chain that a candidate makes
        ("merged_count", np.uint16),
        ("taken", np.uint16, MAX_POINTS),
        ("saved_chains", np.uint16),  # what chains had before a capture
        ("saved_at", np.uint32, MAX_POINTS),
        ("saved", np.uint16, MAX_POINTS),
        ("saved_count", np.uint16, MAX_POINTS),
        ("saved_liberties", np.uint64, (MAX_POINTS, WORDS)),
    ]
)


@njit(cache=True, nogil=True)
def window_count(b):
    return np.uint16((b.lines - 1) * (b.lines - 1))


@njit(cache=True, nogil=True)
def has_bit(bits, p):
    return np.int32((bits[np.uint64(p) >> np.uint64(6)] >> (np.uint64(p) & np.uint64(63))) & np.uint64(1))


@njit(cache=True, nogil=True)
def set_bit(bits, p):
    bits[np.uint64(p) >> np.uint64(6)] |= np.uint64(1) << (np.uint64(p) & np.uint64(63))


@njit(cache=True, nogil=True)
def clear_bit(bits, p):
    bits[np.uint64(p) >> np.uint64(6)] &= ~(np.uint64(1) << (np.uint64(p) & np.uint64(63)))


@njit(cache=True, nogil=True)
def _fill_liberties(s, b):
    """Set the liberties of every chain."""
    near = NEIGHBORS[b.lines]
    words = (np.uint64(b.lines) * np.uint64(b.lines) + np.uint64(63)) >> np.uint64(6)
    for p in range(np.uint16(b.lines * b.lines)):
        if b.stone[p] != EMPTY and b.head[p] == p:
            s.count[p] = 0
            s.weak[p] = 0
            s.first[p] = NOWHERE
            s.saved_at[p] = 0
            for i in range(words):
                s.liberties[p, i] = 0
    for i in range(b.empty_count):
        p = b.empties[i]
        word = np.uint64(p) >> np.uint64(6)
        bit = np.uint64(1) << (np.uint64(p) & np.uint64(63))
        for k in range(np.uint8(4)):
            q = near[p, k]
            if b.stone[q] == 1 or b.stone[q] == -1:
                head = b.head[q]
                if s.liberties[head, word] & bit == 0:
                    s.liberties[head, word] |= bit
                    s.count[head] += np.uint16(1)


@njit(cache=True, nogil=True)
def own_digit(outside, opposite):
    """The digit of a mover's stone; ``opposite`` is 1 if the opposite cell is a liberty."""
    return np.uint8(1 + outside + 3 * opposite) if outside < 2 else np.uint8(3)


@njit(cache=True, nogil=True)
def _outside(s, b, cells, i):
    """How many liberties the chain in cell i has outside the window, and whether the opposite cell is one, as 1 or 0.

    A chain with more than enough has six.
    """
    head = b.head[cells[i]]
    outside = np.int32(s.count[head])
    if outside > SAFE:
        return np.int32(SAFE + 1), np.int32(0)
    opposite = has_bit(s.liberties[head], cells[i ^ np.uint8(3)])
    outside -= opposite
    outside -= np.int32(b.stone[cells[i ^ np.uint8(1)]] == EMPTY)
    outside -= np.int32(b.stone[cells[i ^ np.uint8(2)]] == EMPTY)
    return outside, opposite


@njit(cache=True, nogil=True)
def _read_window(s, b, w, mover):
    """Set the digits and the code of a window; list what is fragile."""
    cells = WINDOW_CELLS[b.lines, w]
    code = np.int32(0)
    for i in range(np.uint8(CELLS)):
        digit = np.uint8(0)
        color = b.stone[cells[i]]
        if color != EMPTY:
            outside, opposite = _outside(s, b, cells, i)
            digit = own_digit(outside, opposite)
            if color == mover:
                s.weak[b.head[cells[i]]] |= np.uint8(outside < 2)
            else:
                if outside == 1 or outside == 2:
                    head = b.head[cells[i]]
                    number = np.uint16(w * np.uint16(CELLS) + i)
                    s.following[number] = s.first[head]
                    s.first[head] = number
                    s.drop[number] = (own_digit(outside - 1, opposite) - np.int32(digit)) * POWERS[i]
                digit += np.uint8(ENEMY)
        s.digit[w, i] = digit
        code += digit * POWERS[i]
    s.code[w] = code


@njit(cache=True, nogil=True)
def code_now(s, b, w, mover):
    """The code of a window as stones and liberties are now, in the middle of a capture."""
    cells = WINDOW_CELLS[b.lines, w]
    code = np.int32(0)
    for i in range(np.uint8(CELLS)):
        color = b.stone[cells[i]]
        if color != EMPTY:
            outside, opposite = _outside(s, b, cells, i)
            digit = np.int32(own_digit(outside, opposite))
            code += (digit if color == mover else digit + ENEMY) * POWERS[i]
    return code


@njit(cache=True, nogil=True)
def read_position(s, b, mover, table, first):
    """Read a board as ``mover`` sees it; returns the sum of its windows in the tables that begin at ``first``."""
    _fill_liberties(s, b)
    s.candidates = 0
    total = np.int64(0)
    for w in range(window_count(b)):
        _read_window(s, b, np.uint16(w), mover)
        s.value[w] = table[np.uint64(first + WINDOW_BASE[b.lines, w]) + np.uint64(s.code[w])]
        s.seen[w] = 0
        s.listed[w] = 0
        total += s.value[w]
    return total


# What a candidate changes
