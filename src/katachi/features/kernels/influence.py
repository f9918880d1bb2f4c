"""The compiled part of ``features/influence.py``: how far stones make themselves felt, by four rules.

Chen's two rules spread sets: every point knows the stones of a color that have reached it, a bit for each, so that
one step for all stones together is a union over neighbors. Bouzy's and Zobrist's spread numbers, positive where they
are Black's. Kernels trust their arguments.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numba import njit

from katachi.features.kernels._chains import GROUPS, read_groups, strength
from katachi.features.kernels.lookahead import count_bits
from katachi.go.kernels.board import NEIGHBORS, OFF, record_dtype
from katachi.go.points import BLACK, MAX_POINTS, WHITE

EXACT: Final = 0
STRINGENT: Final = 1
BOUZY: Final = 2
ZOBRIST: Final = 3

_WORDS: Final = (MAX_POINTS + 63) // 64
_ALL: Final = np.uint64(0xFFFFFFFFFFFFFFFF)

INFLUENCE: Final = record_dtype(
    [
        ("maps", np.float64, (2, MAX_POINTS)),  # Black's and White's, both positive
        ("levels", np.int32, (2, MAX_POINTS + 1)),  # numbers that spread, written in turn; 0 at OFF
        ("felt", np.uint64, (2, MAX_POINTS + 1, _WORDS)),  # the stones that reached a point, in turn; none at OFF
        ("passing", np.uint64, (MAX_POINTS, _WORDS)),  # the stones that a point lets in
    ]
)


@njit(cache=True, nogil=True)
def new_influence():
    """A record to spread influence in."""
    return np.zeros(1, dtype=INFLUENCE)


# Chen's rules


@njit(cache=True, nogil=True)
def _number_stones(b, f, color):
    """Let every stone of a color be felt on its own point; returns how many words their set takes."""
    points = np.uint16(b.lines * b.lines)
    stones = 0
    for p in range(points):
        stones += b.stone[p] == color
    words = np.uint16((stones + 63) // 64)
    number = np.uint16(0)
    for p in range(points):
        for w in range(words):
            f.felt[0, p, w] = np.uint64(0)
            f.passing[p, w] = np.uint64(0) if b.stone[p] == -color else _ALL
        if b.stone[p] == color:
            f.felt[0, p, number >> np.uint16(6)] = np.uint64(1) << np.uint64(number & np.uint16(63))
            number += np.uint16(1)
    return words


@njit(cache=True, nogil=True)
def _admit_stronger(b, g, f, color):
    """Let enemy stones be passed by those stones of a color that are at least as strong."""
    points = np.uint16(b.lines * b.lines)
    for p in range(points):
        if b.stone[p] != -color:
            continue
        held = strength(g, g.group[p])
        number = np.uint16(0)
        for q in range(points):
            if b.stone[q] == color:
                if strength(g, g.group[q]) >= held:
                    f.passing[p, number >> np.uint16(6)] |= np.uint64(1) << np.uint64(number & np.uint16(63))
                number += np.uint16(1)


@njit(cache=True, nogil=True)
def _take_step(b, f, words, now, gain, out):
    """Let every stone be felt one step farther, and add ``gain`` for each that is new to a point."""
    near = NEIGHBORS[b.lines]
    then = np.uint8(1 - now)
    for p in range(np.uint16(b.lines * b.lines)):
        north, west, east, south = near[p, 0], near[p, 1], near[p, 2], near[p, 3]
        arrived = 0
        for w in range(words):
            known = f.felt[now, p, w]
            around = f.felt[now, north, w] | f.felt[now, west, w] | f.felt[now, east, w] | f.felt[now, south, w]
            new = around & f.passing[p, w] & ~known
            f.felt[then, p, w] = known | new
            if new != 0:
                arrived += count_bits(new)
        out[p] += gain * arrived


@njit(cache=True, nogil=True)
def _radiate(b, g, f, stringent, constants):
    """Chen's influence: each stone gives its point an amount, and each step farther a fraction of that before."""
    for side in range(np.uint8(2)):
        color = np.int8(BLACK) if side == 0 else np.int8(WHITE)
        amount = constants[0]
        for p in range(np.uint16(b.lines * b.lines)):
            f.maps[side, p] = amount if b.stone[p] == color else 0.0
        words = _number_stones(b, f, color)
        if stringent:
            _admit_stronger(b, g, f, color)
        for step in range(np.int64(constants[2])):
            amount *= constants[1]
            _take_step(b, f, words, np.uint8(step & 1), amount, f.maps[side])


# Bouzy's and Zobrist's rules


@njit(cache=True, nogil=True)
def _dilate(b, levels, now, then):
    """A point that only one color touches gains one of that color for each neighbor that has any."""
    near = NEIGHBORS[b.lines]
    for p in range(np.uint16(b.lines * b.lines)):
        black = white = 0
        for k in range(np.uint16(4)):
            value = levels[now, near[p, k]]
            black += value > 0
            white += value < 0
        value = levels[now, p]
        gain = (black if value >= 0 and white == 0 else 0) - (white if value <= 0 and black == 0 else 0)
        levels[then, p] = value + gain


@njit(cache=True, nogil=True)
def _erode(b, levels, now, then):
    """A point loses one for each neighbor that is not of its color, down to nothing."""
    near = NEIGHBORS[b.lines]
    for p in range(np.uint16(b.lines * b.lines)):
        value = levels[now, p]
        loss = 0
        if value != 0:
            for k in range(np.uint16(4)):
                q = near[p, k]
                loss += q != OFF and (levels[now, q] <= 0 if value > 0 else levels[now, q] >= 0)
        levels[then, p] = max(value - loss, 0) if value > 0 else min(value + loss, 0)


@njit(cache=True, nogil=True)
def _add_signs(b, levels, now, then):
    """A point gains one for each neighbor that is Black's and loses one for each that is White's."""
    near = NEIGHBORS[b.lines]
    for p in range(np.uint16(b.lines * b.lines)):
        total = levels[now, p]
        for k in range(np.uint16(4)):
            total += np.sign(levels[now, near[p, k]])
        levels[then, p] = total


@njit(cache=True, nogil=True)
def spread_bouzy(b, levels, stone, dilations, erosions):
    """Bouzy's map of a board; returns which of the two levels it is left in."""
    for p in range(np.uint16(b.lines * b.lines)):
        levels[0, p] = stone * b.stone[p]
    for i in range(dilations + erosions):
        now = np.uint8(i & 1)
        if i < dilations:
            _dilate(b, levels, now, np.uint8(1 - now))
        else:
            _erode(b, levels, now, np.uint8(1 - now))
    return np.uint8((dilations + erosions) & 1)


@njit(cache=True, nogil=True)
def _spread_zobrist(b, levels, stone, passes):
    """Zobrist's map of a board; returns which of the two levels it is left in."""
    for p in range(np.uint16(b.lines * b.lines)):
        levels[0, p] = stone * b.stone[p]
    for i in range(passes):
        now = np.uint8(i & 1)
        _add_signs(b, levels, now, np.uint8(1 - now))
    return np.uint8(passes & 1)


@njit(cache=True, nogil=True)
def _split(b, f, level):
    """Make two maps of one with signs."""
    for p in range(np.uint16(b.lines * b.lines)):
        value = f.levels[level, p]
        f.maps[0, p] = max(value, 0)
        f.maps[1, p] = max(-value, 0)


# All of them


@njit(cache=True, nogil=True)
def spread(b, g, f, method, constants):
    """Leave the influence of both colors in ``f.maps``; the constants [3] are those of the method, in its order.

    Only the stringent method looks at the groups.
    """
    if method <= STRINGENT:
        _radiate(b, g, f, method == STRINGENT, constants)
    elif method == BOUZY:
        stone, dilations, erosions = np.int32(constants[0]), np.int64(constants[1]), np.int64(constants[2])
        _split(b, f, spread_bouzy(b, f.levels, stone, dilations, erosions))
    else:
        _split(b, f, _spread_zobrist(b, f.levels, np.int32(constants[0]), np.int64(constants[1])))


@njit(cache=True, nogil=True)
def fill_influence(boards, loose, method, constants, out):
    """The influence of both colors on one board, [2, n²], for Python to read."""
    groups = np.empty(1, dtype=GROUPS)
    work = new_influence()
    read_groups(boards[0], groups[0], loose)
    spread(boards[0], groups[0], work[0], method, constants)
    for side in range(np.uint8(2)):
        for p in range(out.shape[1]):
            out[side, p] = work[0].maps[side, p]
