"""The compiled planes of ``policy/planes.py``, which says what they mean; here is where those of each kind begin.

Planes are bytes, 0 or 1. Kernels trust their arguments: boards [B] of one size n, planes [B, count, n²]; ``chains``
holds the liberties of the board ``b``, and ladders are read on the ``boards`` and ``frames`` of ``new_stack``.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from katachi.features.kernels.lookahead import (
    CHAINS,
    count_joined,
    join_chains,
    list_chain_liberties,
    look_ahead,
    remove_liberty,
)
from katachi.go.kernels import kernel
from katachi.go.kernels.board import (
    LEGAL,
    OFF,
    RECENT,
    atari_point,
    captures,
    illegality,
    is_own_eye,
    list_liberties,
    play_stone,
    recent_move,
)
from katachi.go.kernels.ladders import CAPTURED, ESCAPED, expand_defense, new_stack, read
from katachi.go.points import BLACK, EMPTY

# The moves that ladders turn on. Most readings are spared: a chain that has three liberties after its first extension
# has got away.

_MOST_NODES: Final = 1000  # of a reading


@kernel
def _read_after(b, boards, frames, move, color, stone):
    """What becomes of the chain at ``stone`` after a move; the first frame is the caller's."""
    boards[0] = b
    play_stone(boards[0], move, color)
    return read(boards, frames[1:], stone, b.stone[stone] == color, _MOST_NODES)


@kernel
def _catches(b, chains, boards, frames, move, other, stone):
    """Whether an attack on a chain with two liberties, at one of them, catches it; it runs to the other."""
    attacker = -b.stone[stone]
    if illegality(b, move, attacker, False) != LEGAL:
        return False
    if not captures(b, move, attacker):
        join_chains(b, chains, other, b.stone[stone])
        remove_liberty(chains, move)
        if count_joined(chains) > 2:
            return False
    return _read_after(b, boards, frames, move, attacker, stone) == CAPTURED


@kernel
def mark_catches(b, chains, boards, frames, attacker, caught):
    """Mark the moves of a color that catch a chain of two liberties in a ladder."""
    moves = frames[0].moves
    for p in range(np.uint16(b.lines * b.lines)):
        if b.stone[p] == -attacker and b.head[p] == p and chains.counts[p] == 2:
            list_liberties(b, p, moves)
            for move, other in ((moves[0], moves[1]), (moves[1], moves[0])):
                if caught[move] == 0 and _catches(b, chains, boards, frames, move, other, p):
                    caught[move] = 1


@kernel
def _outcome(b, chains, boards, frames, move, stone):
    """What becomes of the chain in atari at ``stone`` after an extension, or after the capture of an attacker."""
    color = b.stone[stone]
    if not captures(b, move, color):
        join_chains(b, chains, move, color)
        liberties = count_joined(chains)
        if liberties != 2:
            return ESCAPED if liberties > 2 else CAPTURED
    return _read_after(b, boards, frames, move, color, stone)


@kernel
def mark_flights(b, chains, boards, frames, saved, lost):
    """Mark the moves of the player to move that save a chain in atari from ladders, and extensions that do not."""
    tries = frames[0]
    for p in range(np.uint16(b.lines * b.lines)):
        if b.stone[p] == b.to_play and b.head[p] == p and chains.counts[p] == 1:
            expand_defense(b, tries, p)
            for i in range(tries.count):
                move = tries.moves[i]
                outcome = _outcome(b, chains, boards, frames, move, p)
                if outcome == ESCAPED:
                    saved[move] = 1
                elif outcome == CAPTURED and move == atari_point(b.liberties[p]):
                    lost[move] = 1


# The planes of Maddison, Huang, Sutskever and Silver (2014): all 36, and the nine of their reduced set.

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

_LIBERTY_BINS: Final = 4
_LIBERTY_AFTER_BINS: Final = 6
_AGE_BINS: Final = 5
_CAPTURE_BINS: Final = 7


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
            mark_bin(planes, _LIBERTIES, _LIBERTY_BINS, chains.counts[b.head[p]], p)


@kernel
def _mark_ages(b, planes):
    """Mark how many turns ago each stone was played, in the last plane whatever is older than a board remembers."""
    oldest = _AGES + _AGE_BINS - 1
    for p in range(np.uint16(b.lines * b.lines)):
        planes[oldest, p] = b.stone[p] != EMPTY
    for ago in range(1, _AGE_BINS):
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
            mark_bin(planes, _LIBERTIES_AFTER, _LIBERTY_AFTER_BINS, liberties, p)
            mark_bin(planes, _CAPTURES, _CAPTURE_BINS, taken + capture_zero_bin, p)


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


# The planes as the player to move sees them.

_ONES: Final = 0
_OWN: Final = 1
_OPPONENT: Final = 2
_OWN_LIBERTIES: Final = 3
_OPPONENT_LIBERTIES: Final = 7
_MOVER_AGES: Final = 11
_KO: Final = 19
_MOVER_LEGAL: Final = 20
_OWN_EYE: Final = 21
_MOVER_LIBERTIES_AFTER: Final = 22
_MOVER_CAPTURES: Final = 28
_SELF_ATARI: Final = 32
_OPPONENT_LIBERTIES_AFTER: Final = 36
_OPPONENT_CAPTURES: Final = 40
_MOVER_CATCHES: Final = 44
_SAVES: Final = 45
_RUNS_IN_VAIN: Final = 46
_OPPONENT_CATCHES: Final = 47

_BINS: Final = 4  # of counts


@kernel
def _mark_both_sides(b, chains, planes):
    """Mark the stones of both sides with their liberties, and how many turns ago the last of them were played."""
    for p in range(np.uint16(b.lines * b.lines)):
        if b.stone[p] == b.to_play:
            planes[_OWN, p] = 1
            mark_bin(planes, _OWN_LIBERTIES, _BINS, chains.counts[b.head[p]], p)
        elif b.stone[p] != EMPTY:
            planes[_OPPONENT, p] = 1
            mark_bin(planes, _OPPONENT_LIBERTIES, _BINS, chains.counts[b.head[p]], p)
    for ago in range(1, RECENT + 1):
        p = played_at(b, ago)
        if p != OFF:
            planes[_MOVER_AGES + ago - 1, p] = 1
    if b.ko != OFF:
        planes[_KO, b.ko] = 1


@kernel
def _mark_own_move(b, chains, p, planes):
    liberties, stones, taken = look_ahead(b, chains, p, b.to_play)
    planes[_MOVER_LEGAL, p] = 1
    planes[_OWN_EYE, p] = is_own_eye(b, p, b.to_play)
    mark_bin(planes, _MOVER_LIBERTIES_AFTER, _LIBERTY_AFTER_BINS, liberties, p)
    mark_bin(planes, _MOVER_CAPTURES, _BINS, taken, p)
    if liberties == 1:
        mark_bin(planes, _SELF_ATARI, _BINS, stones, p)


@kernel
def _mark_moves_of_both(b, chains, planes):
    """Mark the legal moves of both sides, and what they do."""
    for i in range(b.empty_count):
        p = b.empties[i]
        if illegality(b, p, b.to_play, False) == LEGAL:
            _mark_own_move(b, chains, p, planes)
        if illegality(b, p, -b.to_play, False) == LEGAL:
            liberties, _, taken = look_ahead(b, chains, p, -b.to_play)
            mark_bin(planes, _OPPONENT_LIBERTIES_AFTER, _BINS, liberties, p)
            mark_bin(planes, _OPPONENT_CAPTURES, _BINS, taken, p)


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
        _mark_both_sides(b, chains, planes)
        _mark_moves_of_both(b, chains, planes)
        mark_catches(b, chains, boards, frames, b.to_play, planes[_MOVER_CATCHES])
        mark_flights(b, chains, boards, frames, planes[_SAVES], planes[_RUNS_IN_VAIN])
        mark_catches(b, chains, boards, frames, -b.to_play, planes[_OPPONENT_CATCHES])
