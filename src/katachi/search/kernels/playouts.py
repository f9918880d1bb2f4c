"""The policy of informed playouts: an answer to the last move if there is one, else a random good move.

An answer is, in this order, the reply that was good the last time, the vital point of an eye, the capture of the
stone just played, the rescue of a chain that it put in atari, and a neighbor of it by its 3×3 pattern. Each part is
skipped when it is off, and now and then when it is on: a policy that always answers repeats its mistakes in every
playout.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numba import njit

from katachi.go.kernels.board import (
    DIAGONALS,
    LEGAL,
    NEIGHBORS,
    OFF,
    atari_point,
    exchange_empties,
    illegality,
    is_atari,
    is_own_eye,
    is_sensible,
    rescue,
    self_atari_stones,
)
from katachi.go.kernels.playouts import is_nakade, next_random, random_below, vital_point
from katachi.go.points import BLACK, EMPTY
from katachi.search.kernels._shape_policy import shape_gain
from katachi.search.kernels.patterns import count_empty, pattern_code, touching_empty, touching_stones

_ANSWER_SHARE: Final = np.uint64(230)  # of 256
_ELSEWHERE: Final = 0.06  # the strength of an empty point that is not beside the last move
_MOST_AROUND: Final = 5  # empty points around a point of the largest nakade

_AROUND: Final = np.concatenate([NEIGHBORS, DIAGONALS], axis=2)
_BYTE: Final = np.uint64(255)


@njit(cache=True, nogil=True)
def is_good(b, playout, p, color):
    """Whether a move is sensible, and no self-atari except for a throw-in or a nakade."""
    empty = touching_empty(playout.seen[p])
    if empty & (empty - np.uint16(1)):  # two liberties of its own
        return True
    if not is_sensible(b, p, color):
        return False
    if not playout.self_atari:
        return True
    stones = self_atari_stones(b, p, color)
    return stones == 0 or is_nakade(b, p, color, stones)


@njit(cache=True, nogil=True)
def _reply(b, playout, last, color):
    p = playout.reply[0 if color == BLACK else 1, last]
    return p if p != OFF and b.stone[p] == EMPTY and is_good(b, playout, p, color) else OFF


@njit(cache=True, nogil=True)
def _may_be_eye(view, color):
    """Whether an empty point may lie in a small empty region that the enemy surrounds: a quick look before a search."""
    return touching_empty(view) and not touching_stones(view, color) and count_empty(view) <= _MOST_AROUND


@njit(cache=True, nogil=True)
def _vital_move(b, playout, last, color):
    """The vital point of a small empty region beside the last move, or OFF."""
    for k in range(np.uint64(4)):
        q = NEIGHBORS[b.lines, last, k]
        if b.stone[q] == EMPTY and _may_be_eye(playout.seen[q], color):
            p = vital_point(b, q, color, playout.region)
            if p != OFF and illegality(b, p, color, False) == LEGAL:
                return p
    return OFF


@njit(cache=True, nogil=True)
def _capture(b, last, color):
    """The move that takes the stone just played, or OFF."""
    word = b.liberties[b.head[last]]
    if is_atari(word):
        p = atari_point(word)
        if illegality(b, p, color, False) == LEGAL:
            return p
    return OFF


@njit(cache=True, nogil=True)
def _escape(b, last, color):
    """A move that saves a chain which the last move put in atari, or OFF."""
    for k in range(np.uint64(4)):
        q = NEIGHBORS[b.lines, last, k]
        if b.stone[q] == color and is_atari(b.liberties[b.head[q]]):
            p = rescue(b, q, color)
            if p != OFF and not is_own_eye(b, p, color):
                return p
    return OFF


@njit(cache=True, nogil=True)
def _pattern_move(b, playout, last, color, state):
    """A neighbor of the last move in proportion to the gamma of its pattern, or OFF in proportion to all the rest."""
    near = 0.0
    for k in range(np.uint64(8)):
        p = _AROUND[b.lines, last, k]
        if b.stone[p] == EMPTY:
            near += playout.gamma[pattern_code(b, playout, p, color)]
        playout.sums[k] = near
    drawn = np.float64(state >> np.uint64(32)) * 2.0**-32 * (near + _ELSEWHERE * b.empty_count)
    if drawn < near:
        for k in range(np.uint64(8)):
            if drawn < playout.sums[k]:
                p = _AROUND[b.lines, last, k]
                return p if is_good(b, playout, p, color) else OFF
    return OFF


@njit(cache=True, nogil=True)
def _answer(b, playout, last, color, state):
    """A move that answers the last one, or OFF, and the next state; each part has its own eight bits as a coin."""
    state = next_random(state)
    coins = state >> np.uint64(24)
    move = OFF
    if playout.replies and (coins & _BYTE) < _ANSWER_SHARE:
        move = _reply(b, playout, last, color)
    if move == OFF and playout.nakade and ((coins >> np.uint64(8)) & _BYTE) < _ANSWER_SHARE:
        move = _vital_move(b, playout, last, color)
    if move == OFF and playout.captures and ((coins >> np.uint64(16)) & _BYTE) < _ANSWER_SHARE:
        move = _capture(b, last, color)
    if move == OFF and playout.escapes and ((coins >> np.uint64(24)) & _BYTE) < _ANSWER_SHARE:
        move = _escape(b, last, color)
    if move == OFF and playout.patterns:
        state = next_random(state)
        move = _pattern_move(b, playout, last, color, state)
    return move, state


@njit(cache=True, nogil=True)
def _random_move(b, playout, color, state):
    """A random good move, or OFF, and the next state; draws as ``go._playouts.play_out`` does."""
    left = b.empty_count
    while left > 0:
        state = next_random(state)
        i = np.uint16(random_below(state, left))
        p = b.empties[i]
        if is_good(b, playout, p, color):
            return p, state
        left -= np.uint16(1)
        exchange_empties(b, i, left)
    return OFF, state


@njit(cache=True, nogil=True)
def _shape_move(b, playout, color, state):
    """Of so many random good moves the best by its shapes, or OFF, and the next state."""
    best, state = _random_move(b, playout, color, state)
    if best == OFF:
        return OFF, state
    top = shape_gain(playout, best, color)
    for _ in range(playout.shapes - 1):
        p, state = _random_move(b, playout, color, state)
        gain = shape_gain(playout, p, color)
        if gain > top:
            best, top = p, gain
    return best, state


@njit(cache=True, nogil=True)
def choose_move(b, playout, last, color, state):
    """The next move of a playout, OFF for a pass, and the next state of the generator."""
    if last != OFF:
        move, state = _answer(b, playout, last, color, state)
        if move != OFF:
            return move, state
    if playout.shapes:
        return _shape_move(b, playout, color, state)
    return _random_move(b, playout, color, state)
