"""The compiled part of ``shapes/liberty_windows.py``: what a move changes in the windows of
``shapes/kernels/liberty_windows.py``.

A stone that captures nothing changes the windows around it, those of the own chains that it joins, and those in which
a stone of an enemy chain beside it has just one or two liberties outside: such a *fragile* stone is listed with its
chain, and with what its digit becomes. Chains with five liberties or more look the same in every window, so that most
moves change few. A capture also changes the windows of the stones that it takes, and those of the own chains that
gain liberties by it.

Kernels trust their arguments. Their values are whole numbers: sums are exact in any order.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from katachi.go.kernels.board import NEIGHBORS, is_atari
from katachi.go.points import EMPTY
from katachi.shapes.kernels.liberty_windows import (
    AROUND,
    CELLS,
    ENEMY,
    NOWHERE,
    PLACE,
    POWERS,
    SAFE,
    WINDOW_BASE,
    WINDOW_CELLS,
    WORDS,
    clear_bit,
    code_now,
    has_bit,
    own_digit,
    set_bit,
)


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def _is_joined(s, head):
    found = False
    for i in range(s.joined_count):
        found |= s.joined[i] == head
    return found


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def _shift_alone(b, w, i, liberties):
    """What the code of a window gains by a stone in cell i that joins no other and has so many liberties."""
    cells = WINDOW_CELLS[b.lines, w]
    outside = liberties - np.int32(b.stone[cells[i ^ np.uint8(1)]] == EMPTY)
    outside -= np.int32(b.stone[cells[i ^ np.uint8(2)]] == EMPTY)
    return np.int32(own_digit(outside, np.int32(0))) * POWERS[i]


@njit(cache=True, nogil=True)
def _list_shift(s, w, shift, count):
    """Add to the shift of a window, and list it once; returns how many are listed."""
    if s.listed[w] != s.candidates:
        s.listed[w] = s.candidates
        s.shift[w] = 0
        s.shifted[count] = w
        count += np.uint16(1)
    s.shift[w] += shift
    return count


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def _list_fragile(s, b, p, color, count):
    """List the windows of enemy stones beside a point that lose a liberty outside; around it they lose none."""
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


@njit(cache=True, nogil=True)
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
        if s.digit[w, far] > ENEMY + 3:  # an enemy stone of whose liberties the point was one
            code -= 3 * POWERS[far]
        gain += table[np.uint64(first + WINDOW_BASE[b.lines, w]) + np.uint64(code)] - s.value[w]
    count = _list_joined(s, b, color, np.uint16(0))
    count = _list_fragile(s, b, p, color, count)
    for i in range(count):
        w = s.shifted[i]
        code = np.int32(s.code[w]) + s.shift[w]
        gain += table[np.uint64(first + WINDOW_BASE[b.lines, w]) + np.uint64(code)] - s.value[w]
    return gain


@njit(cache=True, nogil=True)
def captures(b, p, color):
    """Whether a stone takes any other."""
    for k in range(np.uint8(4)):
        q = NEIGHBORS[b.lines, p, k]
        if b.stone[q] == -color and is_atari(b.liberties[b.head[q]]):
            return True
    return False


# What a capture changes: stones and liberties are changed, looked at and changed back


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def _put_stone(s, b, p, color):
    """Put down the stone: enemy chains beside it lose a liberty, own ones become one chain."""
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


@njit(cache=True, nogil=True)
def _list_around(s, b, p, count):
    """List the windows around a point."""
    for k in range(np.uint8(CELLS)):
        w = AROUND[b.lines, p, k]
        if w == NOWHERE:
            break
        count = _list_shift(s, w, np.int32(0), count)
    return count


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
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
