"""The compiled planes as the player to move sees them: their stones, what each move does for them and for the opponent.

The conventions are those of ``policy/kernels/maddison_planes.py``. A move of the opponent is valued as if it were the
opponent's turn now.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from katachi.features.kernels.lookahead import CHAINS, list_chain_liberties, look_ahead
from katachi.go.kernels import kernel
from katachi.go.kernels.board import LEGAL, OFF, RECENT, illegality, is_own_eye
from katachi.go.kernels.ladders import new_stack
from katachi.go.points import EMPTY
from katachi.policy.kernels.ladder_moves import mark_catches, mark_flights
from katachi.policy.kernels.maddison_planes import mark_bin, played_at

_ONES: Final = 0
_OWN: Final = 1
_OPPONENT: Final = 2
_OWN_LIBERTIES: Final = 3
_OPPONENT_LIBERTIES: Final = 7
_AGES: Final = 11
_KO: Final = 19
_LEGAL: Final = 20
_OWN_EYE: Final = 21
_LIBERTIES_AFTER: Final = 22
_CAPTURES: Final = 28
_SELF_ATARI: Final = 32
_OPPONENT_LIBERTIES_AFTER: Final = 36
_OPPONENT_CAPTURES: Final = 40
_CATCHES: Final = 44
_SAVES: Final = 45
_RUNS_IN_VAIN: Final = 46
_OPPONENT_CATCHES: Final = 47

BINS: Final = 4  # of counts
LIBERTY_AFTER_BINS: Final = 6


@kernel
def _mark_stones(b, chains, planes):
    """Mark the stones of both sides with their liberties, and how many turns ago the last of them were played."""
    for p in range(np.uint16(b.lines * b.lines)):
        if b.stone[p] == b.to_play:
            planes[_OWN, p] = 1
            mark_bin(planes, _OWN_LIBERTIES, BINS, chains.counts[b.head[p]], p)
        elif b.stone[p] != EMPTY:
            planes[_OPPONENT, p] = 1
            mark_bin(planes, _OPPONENT_LIBERTIES, BINS, chains.counts[b.head[p]], p)
    for ago in range(1, RECENT + 1):
        p = played_at(b, ago)
        if p != OFF:
            planes[_AGES + ago - 1, p] = 1
    if b.ko != OFF:
        planes[_KO, b.ko] = 1


@kernel
def _mark_own_move(b, chains, p, planes):
    liberties, stones, taken = look_ahead(b, chains, p, b.to_play)
    planes[_LEGAL, p] = 1
    planes[_OWN_EYE, p] = is_own_eye(b, p, b.to_play)
    mark_bin(planes, _LIBERTIES_AFTER, LIBERTY_AFTER_BINS, liberties, p)
    mark_bin(planes, _CAPTURES, BINS, taken, p)
    if liberties == 1:
        mark_bin(planes, _SELF_ATARI, BINS, stones, p)


@kernel
def _mark_moves(b, chains, planes):
    """Mark the legal moves of both sides, and what they do."""
    for i in range(b.empty_count):
        p = b.empties[i]
        if illegality(b, p, b.to_play, False) == LEGAL:
            _mark_own_move(b, chains, p, planes)
        if illegality(b, p, -b.to_play, False) == LEGAL:
            liberties, _, taken = look_ahead(b, chains, p, -b.to_play)
            mark_bin(planes, _OPPONENT_LIBERTIES_AFTER, BINS, liberties, p)
            mark_bin(planes, _OPPONENT_CAPTURES, BINS, taken, p)


@kernel
def fill_mover(records, out):
    """All planes as the player to move sees them."""
    work = np.empty(1, dtype=CHAINS)
    boards, frames = new_stack()
    for i in range(records.size):
        b, chains, planes = records[i], work[0], out[i]
        planes[:] = 0
        planes[_ONES] = 1
        list_chain_liberties(b, chains)
        _mark_stones(b, chains, planes)
        _mark_moves(b, chains, planes)
        mark_catches(b, chains, boards, frames, b.to_play, planes[_CATCHES])
        mark_flights(b, chains, boards, frames, planes[_SAVES], planes[_RUNS_IN_VAIN])
        mark_catches(b, chains, boards, frames, -b.to_play, planes[_OPPONENT_CATCHES])
