"""The compiled part of ``shapes/liberty.py``: the liberty shapes up to 2×2 of a board, read by 2×2 windows.

A window has one *digit* for each cell: 0 empty; 1 to 5 the mover's stone, whose chain has outside the window no
liberty (1), one (2), two or more (3); 4 and 5 are 1 and 2 for a chain of which the opposite cell is a liberty too. 6
to 10 are the opponent's. The opposite cell matters because the 1×1 and 2×1 shapes in the window have it outside: the
other two cells touch the stone, so that they are liberties whenever they are empty. Hence 11 digits, not 7, tell all
shapes. The code of a window is the number of these digits in base 11, and its *entry* that code behind those of other
classes.

A position holds the liberties of every chain as bits, and what ``shapes/kernels/liberty_windows.py`` needs to value
moves.

Kernels trust their arguments. Their values are whole numbers: sums are exact in any order.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from katachi.features.windows import find_windows
from katachi.go.kernels import kernel
from katachi.go.kernels.board import NEIGHBORS, is_atari, record_dtype
from katachi.go.points import EMPTY, MAX_POINTS, MAX_SIZE

DIGITS: Final = 11
OPPONENT: Final = 5  # what the opponent's digits are behind the mover's
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
    inverse = np.where(digits == 0, 0, (digits - 1 + OPPONENT) % (2 * OPPONENT) + 1)
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


@kernel
def window_count(b):
    return np.uint16((b.lines - 1) * (b.lines - 1))


@kernel
def has_bit(bits, p):
    return np.int32((bits[np.uint64(p) >> np.uint64(6)] >> (np.uint64(p) & np.uint64(63))) & np.uint64(1))


@kernel
def set_bit(bits, p):
    bits[np.uint64(p) >> np.uint64(6)] |= np.uint64(1) << (np.uint64(p) & np.uint64(63))


@kernel
def clear_bit(bits, p):
    bits[np.uint64(p) >> np.uint64(6)] &= ~(np.uint64(1) << (np.uint64(p) & np.uint64(63)))


@kernel
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


@kernel
def own_digit(outside, opposite):
    """The digit of a mover's stone; ``opposite`` is 1 if the opposite cell is a liberty."""
    return np.uint8(1 + outside + 3 * opposite) if outside < 2 else np.uint8(3)


@kernel
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


@kernel
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
                digit += np.uint8(OPPONENT)
        s.digit[w, i] = digit
        code += digit * POWERS[i]
    s.code[w] = code


@kernel
def code_now(s, b, w, mover):
    """The code of a window as stones and liberties are now, in the middle of a capture."""
    cells = WINDOW_CELLS[b.lines, w]
    code = np.int32(0)
    for i in range(np.uint8(CELLS)):
        color = b.stone[cells[i]]
        if color != EMPTY:
            outside, opposite = _outside(s, b, cells, i)
            digit = np.int32(own_digit(outside, opposite))
            code += (digit if color == mover else digit + OPPONENT) * POWERS[i]
    return code


@kernel
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


# The compiled part of ``shapes/liberty.py``: what a move changes in the windows of
# ``shapes/kernels/liberty_windows.py``.
#
# A stone that captures nothing changes the windows around it, those of the own chains that it joins, and those in which
# a stone of an opponent chain beside it has just one or two liberties outside: such a *fragile* stone is listed with
# its chain, and with what its digit becomes. Chains with five liberties or more look the same in every window, so that
# most moves change few. A capture also changes the windows of the stones that it takes, and those of the own chains
# that gain liberties by it.
#
# Kernels trust their arguments. Their values are whole numbers: sums are exact in any order.


@kernel
def _merge(s, b, p, color):
    """Find the own chains beside a point, and the liberties of the chain that a stone there makes.

    If there are none, the liberties are counted but not listed.
    """
    near = NEIGHBORS[b.lines]
    s.joined_count = 0
    count = np.uint16(0)
    for k in range(np.uint8(4)):
        q = near[p, k]
        if b.stone[q] == EMPTY:
            count += np.uint16(1)
        elif b.stone[q] == color and not _is_joined(s, b.head[q]):
            s.joined[s.joined_count] = b.head[q]
            s.joined_count += np.uint8(1)
    if s.joined_count > 0:
        count = _merge_joined(s, b, p)
    s.merged_count = count


@kernel
def _merge_joined(s, b, p):
    """List the liberties of the chain that a stone makes of those beside it; returns how many there are."""
    near = NEIGHBORS[b.lines]
    words = (np.uint64(b.lines) * np.uint64(b.lines) + np.uint64(63)) >> np.uint64(6)
    for i in range(words):
        s.merged[i] = s.liberties[s.joined[0], i]
    for k in range(np.uint8(1), s.joined_count):
        for i in range(words):
            s.merged[i] |= s.liberties[s.joined[k], i]
    for k in range(np.uint8(4)):
        if b.stone[near[p, k]] == EMPTY:
            set_bit(s.merged, near[p, k])
    count = np.uint16(0)
    clear_bit(s.merged, p)
    for i in range(words):
        bits = s.merged[i]
        while bits != 0:
            bits &= bits - np.uint64(1)
            count += np.uint16(1)
    return count


@kernel
def _is_joined(s, head):
    found = False
    for i in range(s.joined_count):
        found |= s.joined[i] == head
    return found


@kernel
def _shift_joined(s, b, w, color):
    """What the code of a window that is not around a stone gains when the chains beside the stone become one."""
    cells = WINDOW_CELLS[b.lines, w]
    shift = np.int32(0)
    outside = np.int32(s.merged_count)
    if outside < SAFE:
        for i in range(np.uint8(CELLS)):
            outside -= has_bit(s.merged, cells[i])
    for i in range(np.uint8(CELLS)):
        q = cells[i]
        if b.stone[q] == color and _is_joined(s, b.head[q]):
            opposite = has_bit(s.merged, cells[i ^ np.uint8(3)])
            shift += (np.int32(own_digit(outside, opposite)) - np.int32(s.digit[w, i])) * POWERS[i]
    return shift


@kernel
def _shift_around(s, b, w, i, color):
    """What the code of a window gains by a stone in cell i that joins chains: own stones that touch it are of them."""
    cells = WINDOW_CELLS[b.lines, w]
    across, down, far = i ^ np.uint8(1), i ^ np.uint8(2), i ^ np.uint8(3)
    free_across, free_down = has_bit(s.merged, cells[across]), has_bit(s.merged, cells[down])
    free_far = has_bit(s.merged, cells[far])
    outside = np.int32(s.merged_count) - free_across - free_down - free_far
    shift = np.int32(own_digit(outside, free_far)) * POWERS[i]
    is_own = np.int32(b.stone[cells[across]] == color)
    shift += is_own * (np.int32(own_digit(outside, free_down)) - np.int32(s.digit[w, across])) * POWERS[across]
    is_own = np.int32(b.stone[cells[down]] == color)
    shift += is_own * (np.int32(own_digit(outside, free_across)) - np.int32(s.digit[w, down])) * POWERS[down]
    if b.stone[cells[far]] == color and _is_joined(s, b.head[cells[far]]):
        shift += (np.int32(own_digit(outside, np.int32(0))) - np.int32(s.digit[w, far])) * POWERS[far]
    return shift


@kernel
def _shift_alone(b, w, i, liberties):
    """What the code of a window gains by a stone in cell i that joins no other and has so many liberties."""
    cells = WINDOW_CELLS[b.lines, w]
    outside = liberties - np.int32(b.stone[cells[i ^ np.uint8(1)]] == EMPTY)
    outside -= np.int32(b.stone[cells[i ^ np.uint8(2)]] == EMPTY)
    return np.int32(own_digit(outside, np.int32(0))) * POWERS[i]


@kernel
def _list_shift(s, w, shift, count):
    """Add to the shift of a window, and list it once; returns how many are listed."""
    if s.listed[w] != s.candidates:
        s.listed[w] = s.candidates
        s.shift[w] = 0
        s.shifted[count] = w
        count += np.uint16(1)
    s.shift[w] += shift
    return count


@kernel
def _list_joined(s, b, color, count):
    """List the windows of the own chains that a stone joins, but for those around it."""
    for i in range(s.joined_count):
        if s.merged_count >= SAFE and s.weak[s.joined[i]] == 0:
            continue
        q = s.joined[i]
        while True:
            for k in range(np.uint8(CELLS)):
                w = AROUND[b.lines, q, k]
                if w == NOWHERE:
                    break
                if s.seen[w] < s.candidates:
                    s.seen[w] = s.candidates
                    count = _list_shift(s, w, _shift_joined(s, b, w, color), count)
            q = b.link[q]
            if q == s.joined[i]:
                break
    return count


@kernel
def _list_fragile(s, b, p, color, count):
    """List the windows of opponent stones beside a point that lose a liberty outside; around it they lose none."""
    near = NEIGHBORS[b.lines]
    for k in range(np.uint8(4)):
        q = near[p, k]
        if b.stone[q] != -color:
            continue
        seen = False
        for earlier in range(k):
            e = near[p, earlier]
            seen |= b.stone[e] == -color and b.head[e] == b.head[q]
        if seen:
            continue
        number = s.first[b.head[q]]
        while number != NOWHERE:
            w = number >> np.uint16(2)
            if s.seen[w] <= s.candidates:
                count = _list_shift(s, w, np.int32(s.drop[number]), count)
            number = s.following[number]
    return count


@kernel
def gain_of_stone(s, b, p, color, table, first):
    """What a stone that captures nothing adds to the sum of the position that was read for ``color``."""
    _merge(s, b, p, color)
    s.candidates += np.uint32(2)  # a window around the point is seen at an odd number, one of a chain at an even one
    gain = np.int64(0)
    for k in range(np.uint8(CELLS)):
        w = AROUND[b.lines, p, k]
        if w == NOWHERE:
            break
        s.seen[w] = s.candidates + np.uint32(1)
        cell = PLACE[b.lines, p, k]
        far = cell ^ np.uint8(3)
        code = np.int32(s.code[w])
        if s.joined_count == 0:
            code += _shift_alone(b, w, cell, np.int32(s.merged_count))
        else:
            code += _shift_around(s, b, w, cell, color)
        if s.digit[w, far] > OPPONENT + 3:  # an opponent stone of whose liberties the point was one
            code -= 3 * POWERS[far]
        gain += table[np.uint64(first + WINDOW_BASE[b.lines, w]) + np.uint64(code)] - s.value[w]
    count = _list_joined(s, b, color, np.uint16(0))
    count = _list_fragile(s, b, p, color, count)
    for i in range(count):
        w = s.shifted[i]
        code = np.int32(s.code[w]) + s.shift[w]
        gain += table[np.uint64(first + WINDOW_BASE[b.lines, w]) + np.uint64(code)] - s.value[w]
    return gain


@kernel
def captures(b, p, color):
    """Whether a stone takes any other."""
    for k in range(np.uint8(4)):
        q = NEIGHBORS[b.lines, p, k]
        if b.stone[q] == -color and is_atari(b.liberties[b.head[q]]):
            return True
    return False


# What a capture changes: stones and liberties are changed, looked at and changed back


@kernel
def _save_chain(s, head):
    """Keep the liberties of a chain that are about to change, once."""
    if s.saved_at[head] == s.candidates:
        return
    s.saved_at[head] = s.candidates
    i = s.saved_chains
    s.saved[i] = head
    s.saved_count[i] = s.count[head]
    for word in range(WORDS):
        s.saved_liberties[i, word] = s.liberties[head, word]
    s.saved_chains = i + np.uint16(1)


@kernel
def _take_stones(s, b, p, color):
    """Take off what a stone captures; returns how many stones. Own chains around gain liberties."""
    near = NEIGHBORS[b.lines]
    taken = np.uint16(0)
    for k in range(np.uint8(4)):
        head = near[p, k]
        if b.stone[head] == -color and is_atari(b.liberties[b.head[head]]):
            q = head
            while True:
                b.stone[q] = EMPTY
                s.taken[taken] = q
                taken += np.uint16(1)
                q = b.link[q]
                if q == head:
                    break
    for i in range(taken):
        for k in range(np.uint8(4)):
            q = near[s.taken[i], k]
            if b.stone[q] == color:
                head = b.head[q]
                _save_chain(s, head)
                s.count[head] += np.uint16(1 - has_bit(s.liberties[head], s.taken[i]))
                set_bit(s.liberties[head], s.taken[i])
    return taken


@kernel
def _put_stone(s, b, p, color):
    """Put down the stone: opponent chains beside it lose a liberty, own ones become one chain."""
    near = NEIGHBORS[b.lines]
    for k in range(np.uint8(4)):
        q = near[p, k]
        if b.stone[q] == -color and has_bit(s.liberties[b.head[q]], p):
            _save_chain(s, b.head[q])
            s.count[b.head[q]] -= np.uint16(1)
            clear_bit(s.liberties[b.head[q]], p)
    _merge(s, b, p, color)
    b.stone[p] = color
    b.head[p] = s.joined[0] if s.joined_count > 0 else p
    if s.joined_count == 0:
        s.count[p] = s.merged_count
        for word in range(WORDS):
            s.liberties[p, word] = 0
        for k in range(np.uint8(4)):
            if b.stone[near[p, k]] == EMPTY:
                set_bit(s.liberties[p], near[p, k])
    for i in range(s.joined_count):
        _save_chain(s, s.joined[i])
        s.count[s.joined[i]] = s.merged_count
        for word in range(WORDS):
            s.liberties[s.joined[i], word] = s.merged[word]


@kernel
def _list_around(s, b, p, count):
    """List the windows around a point."""
    for k in range(np.uint8(CELLS)):
        w = AROUND[b.lines, p, k]
        if w == NOWHERE:
            break
        count = _list_shift(s, w, np.int32(0), count)
    return count


@kernel
def _list_changed(s, b, p, taken):
    """List the windows that a capture may have changed; returns how many."""
    count = _list_around(s, b, p, np.uint16(0))
    for i in range(taken):
        count = _list_around(s, b, s.taken[i], count)
    for i in range(s.saved_chains):
        head = s.saved[i]
        if s.saved_count[i] >= SAFE and s.count[head] >= SAFE:
            continue
        q = head
        while True:
            count = _list_around(s, b, q, count)
            q = b.link[q]
            if q == head:
                break
    return count


@kernel
def gain_of_capture(s, b, p, color, table, first):
    """What a stone that captures adds to the sum; ``b``, which is changed and changed back, is as ``s`` was read."""
    s.candidates += np.uint32(2)
    s.saved_chains = 0
    head = b.head[p]
    taken = _take_stones(s, b, p, color)
    _put_stone(s, b, p, color)
    gain = np.int64(0)
    for i in range(_list_changed(s, b, p, taken)):
        w = s.shifted[i]
        code = code_now(s, b, w, color)
        gain += table[np.uint64(first + WINDOW_BASE[b.lines, w]) + np.uint64(code)] - s.value[w]
    b.stone[p] = EMPTY
    b.head[p] = head
    for i in range(taken):
        b.stone[s.taken[i]] = -color
    for i in range(s.saved_chains):
        s.count[s.saved[i]] = s.saved_count[i]
        for word in range(WORDS):
            s.liberties[s.saved[i], word] = s.saved_liberties[i, word]
    return gain
