"""The playout kernel: uniformly random games to the end in which nobody fills his own simple eyes."""

from __future__ import annotations

from typing import Final

import numpy as np
from numba import njit

from katachi.go.kernels.board import NEIGHBORS, OFF, exchange_empties, is_sensible, play_pass, play_stone, record_dtype
from katachi.go.points import BLACK, EMPTY, MAX_POINTS

# Playouts on n² points end after about 1.3 n² plies; the cap stops the rare endless ko fight.
PLIES_PER_POINT: Final = 3

PLAYOUT: Final = record_dtype(
    [
        ("random", np.uint64),  # the state of the xorshift generator, never 0
        ("plies", np.uint32),
        ("moves", np.uint16, PLIES_PER_POINT * MAX_POINTS),  # OFF is a pass
    ]
)

STATISTICS: Final = record_dtype(
    [
        ("playouts", np.int64),
        ("black_wins", np.float64),  # a draw counts half
        ("score", np.int64),  # the sum of Black's area less White's
        ("ownership", np.int32, MAX_POINTS),  # how often Black's less how often White's
        ("first_plays", np.int32, (2, MAX_POINTS)),  # playouts in which Black, White was the first to play here
        ("first_play_wins", np.float64, (2, MAX_POINTS)),  # and those of them that Black won
    ]
)


@njit(cache=True, nogil=True)
def random_state(seed):
    """A generator state from any seed (splitmix64)."""
    z = np.uint64(seed) + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (z ^ (z >> np.uint64(31))) | np.uint64(1)


@njit(cache=True, nogil=True)
def next_random(state):
    """The state after this one (xorshift64, Marsaglia 2003)."""
    state ^= state << np.uint64(13)
    state ^= state >> np.uint64(7)
    state ^= state << np.uint64(17)
    return state


@njit(cache=True, nogil=True)
def random_below(state, bound):
    """A number below ``bound`` < 2³² from the upper half of a state."""
    return ((state >> np.uint64(32)) * np.uint64(bound)) >> np.uint64(32)


@njit(cache=True, nogil=True)
def play_out(b, playout):
    """Play a board to its end: two passes, or the cap on plies.

    Each move is uniform over the sensible ones: an empty point is drawn, and one that fails is moved to the end of
    the list, out of reach of the next draw.
    """
    state = playout.random
    color = b.to_play
    passes = 0
    ply = np.uint64(0)
    cap = np.uint64(b.lines) * np.uint64(b.lines) * np.uint64(PLIES_PER_POINT)
    while passes < 2 and ply < cap:
        move = OFF
        left = b.empty_count
        while left > 0:
            state = next_random(state)
            i = np.uint16(random_below(state, left))
            p = b.empties[i]
            if is_sensible(b, p, color):
                move = p
                break
            left -= np.uint16(1)
            exchange_empties(b, i, left)
        if move == OFF:
            play_pass(b, color)
            passes += 1
        else:
            play_stone(b, move, color)
            passes = 0
        playout.moves[ply] = move
        ply += np.uint64(1)
        color = -color
    playout.random = state
    playout.plies = ply


@njit(cache=True, nogil=True)
def count_area(b, ownership):
    """Black's area less White's at the end of a playout, where an empty point is an eye; adds to ``ownership``."""
    near = NEIGHBORS[b.lines]
    total = np.int64(0)
    for p in range(np.uint16(b.lines * b.lines)):
        owner = b.stone[p]
        if owner == EMPTY:
            black = white = False
            for k in range(4):
                s = b.stone[near[p, k]]
                black |= s == BLACK
                white |= s == -BLACK
            owner = np.int8(black) - np.int8(white)
        ownership[p] += owner
        total += owner
    return total


@njit(cache=True, nogil=True)
def count_first_plays(playout, color, win, statistics):
    """Add a playout, whose first move was by ``color``, to the all-moves-as-first statistics."""
    seen = np.zeros(MAX_POINTS, np.bool_)
    side = 0 if color == BLACK else 1
    for i in range(playout.plies):
        p = playout.moves[i]
        if p != OFF and not seen[p]:
            seen[p] = True
            statistics.first_plays[side, p] += 1
            statistics.first_play_wins[side, p] += win
        side = 1 - side


@njit(cache=True, nogil=True)
def add_playouts(boards, work, playouts, statistics, count, komi, first_plays):
    """Play ``count`` playouts from ``boards[0]`` and add them up in ``statistics[0]``. ``work`` is a spare record."""
    total = statistics[0]
    for _ in range(count):
        work[0] = boards[0]
        play_out(work[0], playouts[0])
        score = count_area(work[0], total.ownership)
        win = 1.0 if score > komi else 0.5 if score == komi else 0.0
        total.playouts += 1
        total.score += score
        total.black_wins += win
        if first_plays:
            count_first_plays(playouts[0], boards[0].to_play, win, total)
