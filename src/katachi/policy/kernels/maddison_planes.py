"""The compiled planes of Maddison, Huang, Sutskever and Silver (2014): all 36, and the nine of their reduced set.

Planes are bytes, 0 or 1. What they mean, ``policy/planes.py`` says in words; here is where those of each kind begin.
Kernels trust their arguments: boards [B] of one size n, planes [B, count, n²].
"""

from __future__ import annotations

from typing import Final

import numpy as np

from katachi.features.kernels.lookahead import CHAINS, list_chain_liberties, look_ahead
from katachi.go.kernels import kernel
from katachi.go.kernels.board import LEGAL, OFF, illegality, recent_move
from katachi.go.kernels.ladders import new_stack
from katachi.go.points import BLACK, EMPTY
from katachi.policy.kernels.ladder_moves import mark_catches

_BLACK_STONES: Final = 0
_WHITE_STONES: Final = 1
_EMPTY: Final = 2
_LIBERTIES: Final = 3
_LIBERTIES_AFTER: Final = 7
_LEGAL: Final = 13
_AGES: Final = 14
_CAPTURES: Final = 19
_CATCHES: Final = 26
_RANKS: Final = 27

_REDUCED_LEGAL: Final = 7
_REDUCED_LAST_MOVE: Final = 8

LIBERTY_BINS: Final = 4
LIBERTY_AFTER_BINS: Final = 6
AGE_BINS: Final = 5
CAPTURE_BINS: Final = 7


@kernel
def mark_bin(planes, first, bins, count, p):
    """Mark the plane of a count of 1 or more; the last one takes all that are more."""
    if count > 0:
        planes[np.uint16(first + min(np.int64(count), bins) - 1), p] = 1


@kernel
def played_at(b, ago):
    """The point of the stone that was played so many turns ago; OFF if that was a pass or it stands no more."""
    p = recent_move(b, ago)
    if p == OFF or b.stone[p] == EMPTY:
        return OFF
    for later in range(1, ago):
        if recent_move(b, later) == p:
            return OFF
    return p


@kernel
def _mark_stones(b, chains, planes):
    """Mark colors and liberties."""
    for p in range(np.uint16(b.lines * b.lines)):
        if b.stone[p] == EMPTY:
            planes[_EMPTY, p] = 1
        else:
            planes[_BLACK_STONES if b.stone[p] == BLACK else _WHITE_STONES, p] = 1
            mark_bin(planes, _LIBERTIES, LIBERTY_BINS, chains.counts[b.head[p]], p)


@kernel
def _mark_ages(b, planes):
    """Mark how many turns ago each stone was played, in the last plane whatever is older than a board remembers."""
    oldest = _AGES + AGE_BINS - 1
    for p in range(np.uint16(b.lines * b.lines)):
        planes[oldest, p] = b.stone[p] != EMPTY
    for ago in range(1, AGE_BINS):
        p = played_at(b, ago)
        if p != OFF:
            planes[oldest, p] = 0
            planes[_AGES + ago - 1, p] = 1


@kernel
def _mark_moves(b, chains, capture_zero_bin, planes):
    """Mark the legal moves, and what they do."""
    for i in range(b.empty_count):
        p = b.empties[i]
        if illegality(b, p, b.to_play, False) == LEGAL:
            liberties, _, taken = look_ahead(b, chains, p, b.to_play)
            planes[_LEGAL, p] = 1
            mark_bin(planes, _LIBERTIES_AFTER, LIBERTY_AFTER_BINS, liberties, p)
            mark_bin(planes, _CAPTURES, CAPTURE_BINS, taken + capture_zero_bin, p)


@kernel
def fill_full(records, ranks, capture_zero_bin, out):
    """The 36 planes; ``capture_zero_bin`` is 1 if the captures are counted from none instead of one."""
    work = np.empty(1, dtype=CHAINS)
    boards, frames = new_stack()
    for i in range(records.size):
        b, chains, planes = records[i], work[0], out[i]
        planes[:] = 0
        list_chain_liberties(b, chains)
        _mark_stones(b, chains, planes)
        _mark_ages(b, planes)
        _mark_moves(b, chains, capture_zero_bin, planes)
        mark_catches(b, chains, boards, frames, b.to_play, planes[_CATCHES])
        if ranks[i] > 0:
            planes[_RANKS + ranks[i] - 1] = 1


@kernel
def fill_reduced(records, out):
    """The 9 planes: colors, liberties, legality and the last move."""
    work = np.empty(1, dtype=CHAINS)
    for i in range(records.size):
        b, chains, planes = records[i], work[0], out[i]
        planes[:] = 0
        list_chain_liberties(b, chains)
        _mark_stones(b, chains, planes)
        for j in range(b.empty_count):
            p = b.empties[j]
            planes[_REDUCED_LEGAL, p] = illegality(b, p, b.to_play, False) == LEGAL
        last = played_at(b, 1)
        if last != OFF:
            planes[_REDUCED_LAST_MOVE, last] = 1
