"""What a move would do, without playing it: how many stones it takes, and how many liberties its chain has then.

The liberties of every chain are kept as a set of points, a bit for each; so the liberties of a chain that a move
makes out of several are a union, and counting them a few instructions. One filling of the sets serves the moves of
both colors on all points. Kernels trust their arguments: ``p`` is empty.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from katachi.go.kernels import kernel
from katachi.go.kernels.board import NEIGHBORS, OFF_COLOR, is_atari, record_dtype
from katachi.go.points import EMPTY, MAX_POINTS

_WORDS: Final = (MAX_POINTS + 63) // 64
_WORD_BITS: Final = np.uint16(6)
_BIT_MASK: Final = np.uint16(63)

CHAINS: Final = record_dtype(
    [
        ("liberties", np.uint64, (MAX_POINTS, _WORDS)),  # of a chain, at its head: a bit for each point
        ("counts", np.uint16, MAX_POINTS),  # how many these are
        ("joined", np.uint64, _WORDS),  # the liberties of the chain that a move would make
    ]
)


@kernel
def _bit(p):
    return np.uint64(1) << np.uint64(p & _BIT_MASK)


@kernel
def count_bits(word):
    """How many bits of a word are set: the sums of pairs, of fours, and so on."""
    word -= (word >> np.uint64(1)) & np.uint64(0x5555555555555555)
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    word += word >> np.uint64(8)
    word += word >> np.uint64(16)
    word += word >> np.uint64(32)
    return np.uint16(word & np.uint64(0x7F))


@kernel
def list_chain_liberties(b, chains):
    """Set the liberties of all chains of a board, and their counts."""
    points = np.uint16(b.lines * b.lines)
    for p in range(points):
        if b.stone[p] != EMPTY and b.head[p] == p:
            for w in range(np.uint16(_WORDS)):
                chains.liberties[p, w] = np.uint64(0)
    for i in range(b.empty_count):
        p = b.empties[i]
        for k in range(np.uint16(4)):
            q = NEIGHBORS[b.lines, p, k]
            if b.stone[q] != EMPTY and b.stone[q] != OFF_COLOR:
                chains.liberties[b.head[q], p >> _WORD_BITS] |= _bit(p)
    for p in range(points):
        if b.stone[p] != EMPTY and b.head[p] == p:
            count = 0
            for w in range(np.uint16(_WORDS)):
                count += count_bits(chains.liberties[p, w])
            chains.counts[p] = count


@kernel
def _is_new_chain(b, near, k):
    """Whether the stone at the k-th neighbor belongs to none of the chains at the neighbors before."""
    known = False
    for j in range(k):
        known |= b.stone[near[j]] == b.stone[near[k]] and b.head[near[j]] == b.head[near[k]]
    return not known


@kernel
def join_chains(b, chains, p, color):
    """Set ``joined`` to the liberties after a move that captures nothing; returns the stones of its chain."""
    near = NEIGHBORS[b.lines, p]
    stones = 1
    for w in range(np.uint16(_WORDS)):
        chains.joined[w] = np.uint64(0)
    for k in range(np.uint16(4)):
        q = near[k]
        if b.stone[q] == EMPTY:
            chains.joined[q >> _WORD_BITS] |= _bit(q)
        elif b.stone[q] == color and _is_new_chain(b, near, k):
            stones += b.stones[b.head[q]]
            for w in range(np.uint16(_WORDS)):
                chains.joined[w] |= chains.liberties[b.head[q], w]
    remove_liberty(chains, p)
    return stones


@kernel
def remove_liberty(chains, p):
    """Take a point out of ``joined``, if it is there."""
    chains.joined[p >> _WORD_BITS] &= ~_bit(p)


@kernel
def count_joined(chains):
    """How many liberties there are in ``joined``."""
    count = 0
    for w in range(np.uint16(_WORDS)):
        count += count_bits(chains.joined[w])
    return count


@kernel
def _touches(b, stone, p, color):
    """Whether a point touches the chain that a move at ``p`` makes."""
    for k in range(np.uint16(4)):
        q = NEIGHBORS[b.lines, stone, k]
        if q == p:
            return True
        if b.stone[q] == color:
            for j in range(np.uint16(4)):
                own = NEIGHBORS[b.lines, p, j]
                if b.stone[own] == color and b.head[own] == b.head[q]:
                    return True
    return False


@kernel
def _take_chain(b, chains, captured, p, color):
    """Add to ``joined`` those points of a captured chain that become liberties."""
    stone = captured
    while True:
        if _touches(b, stone, p, color):
            chains.joined[stone >> _WORD_BITS] |= _bit(stone)
        stone = b.link[stone]
        if stone == captured:
            return


@kernel
def look_ahead(b, chains, p, color):
    """The liberties that a move leaves its chain, the stones of that chain, and the stones that the move takes."""
    stones = join_chains(b, chains, p, color)
    taken = 0
    near = NEIGHBORS[b.lines, p]
    for k in range(np.uint16(4)):
        q = near[k]
        if b.stone[q] == -color and is_atari(b.liberties[b.head[q]]) and _is_new_chain(b, near, k):
            taken += b.stones[b.head[q]]
            _take_chain(b, chains, q, p, color)
    return count_joined(chains), stones, taken
