"""The compiled part of ``go/status.py``: playouts that settle a finished position instead of wandering off.

Uniformly random playouts fill the shared liberties of a seki and tear up what is settled. These ones do not play
where Benson's theorem has decided, answer atari and take vital points near the last move, and put a chain of their
own in atari only as a throw-in or as a *nakade*: a shape that, once captured, leaves the enemy one eye. So a seki is
still there at the end, and a big eye that is dead is not.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numba import njit

from katachi.go.kernels._nakade import LARGEST_NAKADE, is_nakade, vital_point
from katachi.go.kernels._playouts import PLIES_PER_POINT, next_random, random_below, random_state
from katachi.go.kernels._scoring import fill_owner
from katachi.go.kernels.board import (
    LEGAL,
    NEIGHBORS,
    OFF,
    atari_point,
    captures,
    exchange_empties,
    illegality,
    is_atari,
    is_own_eye,
    liberties_after,
    play_pass,
    play_stone,
    record_dtype,
    rescue,
)
from katachi.go.kernels.scoring import fill_alive
from katachi.go.points import BLACK, EMPTY, MAX_POINTS, WHITE

TALLY: Final = record_dtype(
    [
        ("owned", np.int32, MAX_POINTS),  # how often a point was Black's at the end less how often White's
        ("shared", np.int32, MAX_POINTS),  # how often the stone here stood at the end beside a point of neither side
    ]
)

_ANSWER_SHARE: Final = 230  # of 256 times an atari near the last move is answered; never always, lest fights repeat


@njit(cache=True, nogil=True)
def _is_sensible(b, p, color, settled):
    if settled[p] or illegality(b, p, color, False) != LEGAL or is_own_eye(b, p, color):
        return False
    word, stones = liberties_after(b, p, color)
    return not is_atari(word) or captures(b, p, color) or is_nakade(b, p, color, stones)


@njit(cache=True, nogil=True)
def _random_move(b, color, settled, state):
    """A uniformly random sensible move or OFF, and the next state; draws as ``_playouts.play_out`` does."""
    left = b.empty_count
    while left > 0:
        state = next_random(state)
        i = np.uint16(random_below(state, left))
        p = b.empties[i]
        if _is_sensible(b, p, color, settled):
            return p, state
        left -= np.uint16(1)
        exchange_empties(b, i, left)
    return OFF, state


@njit(cache=True, nogil=True)
def _answer(b, last, color, settled, region):
    """Capture the stone just played, or save a chain that it put in atari; OFF if there is no such move."""
    if last == OFF or b.stone[last] != -color:
        return OFF
    for k in range(4):
        q = NEIGHBORS[b.lines, last, k]
        if b.stone[q] == EMPTY:
            p = vital_point(b, q, color, region)
            if p != OFF and not settled[p] and illegality(b, p, color, False) == LEGAL:
                return p
    if is_atari(b.liberties[b.head[last]]):
        p = atari_point(b.liberties[b.head[last]])
        if not settled[p] and illegality(b, p, color, False) == LEGAL:
            return p
    for k in range(4):
        q = NEIGHBORS[b.lines, last, k]
        if b.stone[q] == color and is_atari(b.liberties[b.head[q]]):
            p = rescue(b, q, color)
            if p != OFF and not settled[p]:
                return p
    return OFF


@njit(cache=True, nogil=True)
def _settle(b, settled, state):
    """Play a board to its end; returns the generator's state."""
    color = b.to_play
    last = OFF
    passes = 0
    region = np.empty(LARGEST_NAKADE, dtype=np.uint16)
    for _ in range(int(b.lines) * int(b.lines) * PLIES_PER_POINT):
        state = next_random(state)
        move = _answer(b, last, color, settled, region) if random_below(state, 256) < _ANSWER_SHARE else OFF
        if move == OFF:
            move, state = _random_move(b, color, settled, state)
        if move == OFF:
            play_pass(b, color)
            passes += 1
            if passes == 2:
                break
        else:
            play_stone(b, move, color)
            passes = 0
        last = move
        color = -color
    return state


@njit(cache=True, nogil=True)
def _find_sharing(b, owner):
    """The chains, by their heads, beside an empty point that is neither side's."""
    shares = np.zeros(MAX_POINTS, dtype=np.bool_)
    for i in range(b.lines * b.lines):
        p = np.uint16(i)
        if b.stone[p] != EMPTY or owner[p] != EMPTY:
            continue
        for k in range(4):
            q = NEIGHBORS[b.lines, p, k]
            if b.stone[q] == BLACK or b.stone[q] == WHITE:
                shares[b.head[q]] = True
    return shares


@njit(cache=True, nogil=True)
def _count(boards, first, tally):
    """Add the end of a playout: owners of all points, and the stones of the first board that share liberties."""
    b = boards[0]
    owner = np.empty(MAX_POINTS, dtype=np.int8)
    fill_owner(b.stone, b.lines, np.zeros(MAX_POINTS, dtype=np.bool_), owner)
    shares = _find_sharing(b, owner)
    alive = np.empty((4, MAX_POINTS), dtype=np.bool_)
    fill_alive(boards, BLACK, alive[0], alive[1])
    fill_alive(boards, WHITE, alive[2], alive[3])
    for p in range(b.lines * b.lines):
        tally.owned[p] += owner[p]
        stands = b.stone[p] != EMPTY and b.stone[p] == first.stone[p]
        if stands and shares[b.head[p]] and not (alive[0, p] or alive[2, p]):
            tally.shared[p] += 1


@njit(cache=True, nogil=True)
def add_settling_playouts(boards, settled, tallies, count, seed):
    """Settle ``boards[0]`` so many times, half of them with the other color first, and add them up."""
    state = random_state(seed)
    work = boards.copy()
    for i in range(count):
        work[0] = boards[0]
        if i % 2:
            play_pass(work[0], work[0].to_play)
        state = _settle(work[0], settled, state)
        _count(work, boards[0], tallies[0])
