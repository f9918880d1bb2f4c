"""Playouts: uniformly random ones, and those that settle a finished position instead of wandering off.

Uniform playouts fill the shared liberties of a seki and tear up what is settled. The others do not play
where Benson's theorem has decided, answer atari and take vital points near the last move, and put a chain of their
own in atari only as a throw-in or as a *nakade*: a shape that, once captured, leaves the opponent one eye. So a seki is
still there at the end, and a big eye that is dead is not.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from katachi.go.kernels import kernel
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
    is_sensible,
    liberties_after,
    play_pass,
    play_stone,
    record_dtype,
    rescue,
)
from katachi.go.kernels.scoring import fill_alive, fill_owner
from katachi.go.points import BLACK, EMPTY, MAX_POINTS, WHITE

# Nakade: the shapes in which big eyes are one eye, and the point on which it turns.
#
# A square of four, a T, a bulky five, a cross or a rabbity six is one eye: if stones fill it, their capture leaves one
# eye; if it is empty, the point with the most neighbors in it kills (the square needs none).

LARGEST_NAKADE: Final = 6


@kernel
def _degree(b, p, color, added):
    """How many neighbors of a stone belong to its color, counting ``added`` as one of them."""
    degree = 0
    for k in range(4):
        q = NEIGHBORS[b.lines, p, k]
        if q != OFF and (b.stone[q] == color or q == added):
            degree += 1
    return degree


@kernel
def _is_one_eye(points, largest, contacts):
    """Whether four, five or six points make one eye: the square, the T, the bulky five, the cross, the rabbity six.

    The largest number of neighbors that a point has among them, and the sum of these numbers, tell them from others.
    """
    if points == 4:
        return largest == 3 or contacts == 8
    if points == 5:
        return largest == 4 or contacts == 10
    return largest == 4 and contacts == 12


@kernel
def is_nakade(b, p, color, stones):
    """Whether a stone at ``p`` makes a chain of so many stones that leaves one eye when it is captured.

    Up to three stones always do.
    """
    if stones <= 3:
        return True
    if stones > LARGEST_NAKADE:
        return False
    largest = _degree(b, p, color, p)
    contacts = largest
    for k in range(4):
        q = NEIGHBORS[b.lines, p, k]
        if b.stone[q] != color:
            continue
        fresh = True
        for j in range(k):
            other = NEIGHBORS[b.lines, p, j]
            fresh &= not (b.stone[other] == color and b.head[other] == b.head[q])
        stone = q
        while fresh:
            degree = _degree(b, stone, color, p)
            largest = max(largest, degree)
            contacts += degree
            stone = b.link[stone]
            fresh = stone != q
    return _is_one_eye(stones, largest, contacts)


@kernel
def vital_point(b, start, color, region):
    """The point that leaves the opponent one eye in the small empty region at ``start`` that it surrounds, or OFF.

    It is the middle of three, of the T, of the cross, of the bulky five and of the rabbity six.
    """
    region[0] = start
    count = 1
    done = 0
    best = OFF
    largest = 0
    contacts = 0
    while done < count:
        p = region[done]
        done += 1
        degree = 0
        for k in range(4):
            q = NEIGHBORS[b.lines, p, k]
            if b.stone[q] == color:
                return OFF
            if b.stone[q] != EMPTY:
                continue
            degree += 1
            fresh = True
            for i in range(count):
                fresh &= region[i] != q
            if fresh:
                if count == LARGEST_NAKADE:
                    return OFF
                region[count] = q
                count += 1
        contacts += degree
        if degree > largest:
            largest = degree
            best = p
    return best if count == 3 or (count > 3 and _is_one_eye(count, largest, contacts)) else OFF


# The playout kernel: uniformly random games to the end in which nobody fills their own simple eyes.

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


@kernel
def random_state(seed):
    """A generator state from any seed (splitmix64)."""
    z = np.uint64(seed) + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (z ^ (z >> np.uint64(31))) | np.uint64(1)


@kernel
def next_random(state):
    """The state after this one (xorshift64, Marsaglia 2003)."""
    state ^= state << np.uint64(13)
    state ^= state >> np.uint64(7)
    state ^= state << np.uint64(17)
    return state


@kernel
def random_below(state, bound):
    """A number below ``bound`` < 2³² from the upper half of a state."""
    return ((state >> np.uint64(32)) * np.uint64(bound)) >> np.uint64(32)


@kernel
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
        color = np.int8(-color)
    playout.random = state
    playout.plies = ply


@kernel
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


@kernel
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


@kernel
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


# Playouts that settle a finished position.

TALLY: Final = record_dtype(
    [
        ("owned", np.int32, MAX_POINTS),  # how often a point was Black's at the end less how often White's
        ("shared", np.int32, MAX_POINTS),  # how often the stone here stood at the end beside a point of neither side
    ]
)

_ANSWER_SHARE: Final = 230  # of 256 times an atari near the last move is answered; never always, lest fights repeat


@kernel
def _is_sensible(b, p, color, settled):
    if settled[p] or illegality(b, p, color, False) != LEGAL or is_own_eye(b, p, color):
        return False
    word, stones = liberties_after(b, p, color)
    return not is_atari(word) or captures(b, p, color) or is_nakade(b, p, color, stones)


@kernel
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


@kernel
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


@kernel
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
        color = np.int8(-color)
    return state


@kernel
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


@kernel
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
        spans = b.stone[p] != EMPTY and b.stone[p] == first.stone[p]
        if spans and shares[b.head[p]] and not (alive[0, p] or alive[2, p]):
            tally.shared[p] += 1


@kernel
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
