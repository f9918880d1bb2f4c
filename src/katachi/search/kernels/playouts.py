"""The policy of informed playouts: an answer to the last move if there is one, else a random good move.

An answer is, in this order, the reply that was good the last time, the vital point of an eye, the capture of the
stone just played, the rescue of a chain that it put in atari, the capture of a chain beside one of ours that it
touched, the flight or the catch of a chain of two liberties, and a neighbor of it by its 3×3 pattern. Each part is
skipped when it is off, and now and then when it is on: a policy that always answers repeats its mistakes in every
playout.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from katachi.features.windows import CODES, MAX_CLASSES, SIDE
from katachi.go.kernels import kernel
from katachi.go.kernels.board import (
    COUNT_MASK,
    DIAGONALS,
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
    is_single_point_eye,
    liberties_after,
    liberty_word,
    list_liberties,
    play_pass,
    play_stone,
    record_dtype,
    rescue,
    self_atari_stones,
)
from katachi.go.kernels.ladders import CAPTURED, read
from katachi.go.kernels.playouts import (
    LARGEST_NAKADE,
    PLIES_PER_POINT,
    count_area,
    is_nakade,
    next_random,
    random_below,
    vital_point,
)
from katachi.go.kernels.playouts import play_out as play_uniformly
from katachi.go.points import BLACK, EMPTY, MAX_POINTS, MAX_SIZE
from katachi.search.kernels.patterns import (
    DISTANCES,
    LARGE_FIELDS,
    LARGE_MOST,
    PATTERN_CODES,
    TACTICS,
    change_views,
    count_empty,
    fill_views,
    large_pattern,
    move_distance,
    move_tactic,
    pattern_code,
    touching_empty,
    touching_stones,
)

# Ladders in a prior: moves that catch a chain in one are stronger, moves that run in vain are weaker.
#
# Playouts do not see ladders, and a tree needs some visits for each of their plies; a reading tells at once how they
# end. It is bounded, and where it is given up the prior stays as it is.

CATCHES: Final = np.float32(6)  # times as strong
RUNS_IN_VAIN: Final = np.float32(0.1)

_MOST_NODES: Final = 200
_MOST_CONTACTS: Final = 8  # of a chain with two liberties


@kernel
def _is_caught_after(b, boards, frames, move, stone):
    """Whether a legal move of the player to move leaves the chain at ``stone``, of either color, caught in a ladder."""
    boards[0] = b
    play_stone(boards[0], move, b.to_play)
    return read(boards, frames, stone, b.stone[stone] == b.to_play, _MOST_NODES) == CAPTURED


@kernel
def _weigh_attack(b, boards, frames, stone, strengths):
    """Strengthen the moves that catch an opponent chain of two liberties."""
    if list_liberties(b, stone, frames[0].moves) != 2:
        return
    first, second = frames[0].moves[0], frames[0].moves[1]  # a reading writes over them
    for move in (first, second):
        if strengths[move] > 0 and _is_caught_after(b, boards, frames, move, stone):
            strengths[move] *= CATCHES


@kernel
def _weigh_flight(b, boards, frames, stone, strengths):
    """Weaken the extension of an own chain in atari that is caught all the same."""
    move = atari_point(b.liberties[stone])
    if strengths[move] > 0 and _is_caught_after(b, boards, frames, move, stone):
        strengths[move] *= RUNS_IN_VAIN


@kernel
def weigh_ladders(b, boards, frames, strengths):
    """Weigh the moves of the player to move, [n²], by all ladders; a strength of 0 marks what is not a move.

    ``boards`` and ``frames`` are those of ``go._ladders.new_stack``.
    """
    for i in range(b.lines * b.lines):
        p = np.uint16(i)
        if b.stone[p] == EMPTY or b.head[p] != p:
            continue
        if is_atari(b.liberties[p]):
            if b.stone[p] == b.to_play:
                _weigh_flight(b, boards, frames, p, strengths)
        elif b.stone[p] != b.to_play and (b.liberties[p] & COUNT_MASK) <= _MOST_CONTACTS:
            _weigh_attack(b, boards, frames, p, strengths)


# A prior for a tree search: the probability of each move by its learned weights, at the cost of part of a playout.


@kernel
def move_strength(b, playout, p, color):
    """The product of the gammas of a legal move; ``seen``, ``last`` and ``before`` of the playout must be right."""
    strength = np.float64(playout.gamma[pattern_code(b, playout, p, color)])
    strength *= playout.tactic_gamma[move_tactic(b, p, color, playout.last)]
    strength *= playout.last_gamma[move_distance(b.lines, p, playout.last)]
    if playout.large_patterns:
        strength *= playout.large_gamma[large_pattern(b, playout, p, color)]
    return strength * playout.before_gamma[move_distance(b.lines, p, playout.before)]


@kernel
def pattern_prior(b, playout, out):
    """Write the probability of every point for the player to move, [n²]: 0 where no move is sensible.

    ``playout.last`` and ``playout.before`` are the last two moves, OFF where they are not known or a pass. Returns
    whether there is a sensible move; without one all is 0.
    """
    fill_views(b, playout)
    points = np.uint16(b.lines * b.lines)
    total = 0.0
    for p in range(points):
        strength = 0.0
        if is_sensible(b, np.uint16(p), b.to_play):
            strength = move_strength(b, playout, np.uint16(p), b.to_play)
        out[p] = strength
        total += strength
    if total == 0.0:
        return False
    for p in range(points):
        out[p] /= total
    return True


@kernel
def fill_pattern_prior(boards, playouts, out):
    """``pattern_prior`` for Python: record arrays of one board and one playout."""
    return pattern_prior(boards[0], playouts[0], out)


# The value of shapes in playouts: of a few random moves the one after which the shapes promise most.
#
# Each 3×3 window of the board has an *entry* in the table for either view: its code in base 3, 1 for the viewer's
# stones and 2 for the opponent's, behind the first entry of its class. A move is worth what its stone changes in the
# windows that hold its point, for the one who makes it; what it takes is left out of account, as captures are another
# part's affair.


@kernel
def change_entries(playout, p, color, sign):
    """Let a stone of a color come to a point, or go if ``sign`` is −1."""
    black, white = (sign, 2 * sign) if color == BLACK else (2 * sign, sign)
    for k in range(playout.holders[p]):
        w, power = playout.holder[p, k], np.int32(playout.power[p, k])
        playout.entry[0, w] += black * power
        playout.entry[1, w] += white * power


@kernel
def fill_entries(b, playout):
    """Find the entries of all windows of a board."""
    for w in range(playout.first_entry.size):
        playout.entry[0, w] = playout.entry[1, w] = playout.first_entry[w]
    for p in range(np.uint16(b.lines * b.lines)):
        if b.stone[p] != EMPTY:
            change_entries(playout, np.uint16(p), b.stone[p], np.int32(1))


@kernel
def shape_gain(playout, p, color):
    """What a stone adds to the value of the shapes."""
    view = np.uint8(0) if color == BLACK else np.uint8(1)
    gain = np.int32(0)
    for k in range(playout.holders[p]):
        old = np.uint32(playout.entry[view, playout.holder[p, k]])
        gain += np.int32(playout.shape_value[old + playout.power[p, k]]) - np.int32(playout.shape_value[old])
    return gain


# Chains of two liberties, known by their liberty words: without the contacts of one liberty, the rest is that of a
# chain in atari at the other. A chain *runs* by a stone on one of them if two more remain when the other is filled.


@kernel
def _touches(b, p, stone):
    """Whether a point is beside the chain at ``stone``."""
    for k in range(np.uint64(4)):
        q = NEIGHBORS[b.lines, p, k]
        if b.stone[q] == b.stone[stone] and b.head[q] == b.head[stone]:
            return True
    return False


@kernel
def other_liberty(b, stone, p):
    """The one liberty that the chain at ``stone`` has beside its liberty ``p``; OFF if there are more, or none."""
    word = b.liberties[b.head[stone]]
    for k in range(np.uint64(4)):
        q = NEIGHBORS[b.lines, p, k]
        if b.stone[q] == b.stone[stone] and b.head[q] == b.head[stone]:
            word -= liberty_word(p)
    return atari_point(word) if word != 0 and is_atari(word) else OFF


@kernel
def _liberty_pair(b, stone):
    """Both liberties of a chain that has two; else the second is OFF."""
    word = b.liberties[b.head[stone]]
    if (word & COUNT_MASK) > _MOST_CONTACTS or is_atari(word):
        return OFF, OFF
    p = stone
    while True:
        for k in range(np.uint64(4)):
            q = NEIGHBORS[b.lines, p, k]
            if b.stone[q] == EMPTY:
                return q, other_liberty(b, stone, q)
        p = b.link[p]


@kernel
def _is_short(b, stone):
    """Whether a chain has at most two liberties."""
    return is_atari(b.liberties[b.head[stone]]) or _liberty_pair(b, stone)[1] != OFF


@kernel
def _runs(b, p, other, color):
    """Whether a stone at ``p`` takes something, or has two liberties when the empty point ``other`` is filled."""
    if captures(b, p, color):
        return True
    word, _ = liberties_after(b, p, color)
    for k in range(np.uint64(4)):
        q = NEIGHBORS[b.lines, other, k]
        if q == p or (b.stone[q] == color and _touches(b, p, q)):
            word -= liberty_word(other)
    return not is_atari(word)


@kernel
def take_neighbor(b, stone, color):
    """A move that takes an opponent chain beside the chain at ``stone``, or OFF."""
    p = stone
    while True:
        for k in range(np.uint64(4)):
            q = NEIGHBORS[b.lines, p, k]
            if b.stone[q] == -color and is_atari(b.liberties[b.head[q]]):
                point = atari_point(b.liberties[b.head[q]])
                if illegality(b, point, color, False) == LEGAL:
                    return point
        p = b.link[p]
        if p == stone:
            return OFF


@kernel
def catch(b, playout, stone, color):
    """A move that leaves an opponent chain of two liberties one, and it neither runs nor takes anything; or OFF."""
    p, q = _liberty_pair(b, stone)
    opponent = np.int8(-color)
    if q == OFF or take_neighbor(b, stone, opponent) != OFF:
        return OFF
    if touching_stones(playout.seen[p], color):
        p, q = q, p  # first a liberty that we do not share
    for _ in range(2):
        if not _runs(b, q, p, opponent) and is_sensible(b, p, color) and self_atari_stones(b, p, color) == 0:
            return p
        p, q = q, p
    return OFF


@kernel
def flee(b, stone, color):
    """What saves a chain of two liberties that could be caught: a capture, or a third liberty; or OFF."""
    p, q = _liberty_pair(b, stone)
    if q == OFF:
        return OFF
    by_first, by_second = _runs(b, p, q, color), _runs(b, q, p, color)
    if by_first and by_second:
        return OFF
    taking = take_neighbor(b, stone, color)
    if taking != OFF:
        return taking
    return p if by_first else q if by_second else OFF


@kernel
def race(b, playout, stone, color):
    """A move that catches a chain beside one of two liberties that cannot run, or OFF."""
    p, q = _liberty_pair(b, stone)
    if q == OFF or _runs(b, p, q, color) or _runs(b, q, p, color):
        return OFF
    p = stone
    while True:
        for k in range(np.uint64(4)):
            q = NEIGHBORS[b.lines, p, k]
            if b.stone[q] == -color:
                move = catch(b, playout, q, color)
                if move != OFF:
                    return move
        p = b.link[p]
        if p == stone:
            return OFF


# Guards against moves that are legal and silly.


@kernel
def _taken_stones(b, p, color):
    """How many stones a move takes; those of a chain that touches it twice count twice."""
    stones = 0
    for k in range(np.uint64(4)):
        q = NEIGHBORS[b.lines, p, k]
        if b.stone[q] == -color and is_atari(b.liberties[b.head[q]]):
            stones += b.stones[b.head[q]]
    return stones


@kernel
def is_silly(b, p, color):
    """Whether a legal move fills the eye of one chain, takes a stone in a snapback, or gives up a seki with eyes.

    That is a self-atari beside an opponent chain of two liberties, whose other one is not ours: filling a shape
    inside an eye, where both are, is not silly.
    """
    if is_single_point_eye(b, p, color):
        first = NEIGHBORS[b.lines, p, 0] if NEIGHBORS[b.lines, p, 0] != OFF else NEIGHBORS[b.lines, p, 3]
        for k in range(np.uint64(4)):
            q = NEIGHBORS[b.lines, p, k]
            if q != OFF and b.head[q] != b.head[first]:
                return False
        return True
    word, stones = liberties_after(b, p, color)
    if stones == 1 or not is_atari(word):
        return False
    if captures(b, p, color):
        return word == 0 and _taken_stones(b, p, color) == 1
    for k in range(np.uint64(4)):
        q = NEIGHBORS[b.lines, p, k]
        if b.stone[q] == -color:
            other = other_liberty(b, q, p)
            if other != OFF and other != atari_point(word):
                return True
    return False


# Playout policy

_ANSWER_SHARE: Final = np.uint64(230)  # of 256
_ELSEWHERE: Final = 0.06  # the strength of an empty point that is not beside the last move
_MOST_AROUND: Final = 5  # empty points around a point of the largest nakade

_AROUND: Final = np.concatenate([NEIGHBORS, DIAGONALS], axis=2)
_BYTE: Final = np.uint64(255)


@kernel
def is_good(b, playout, p, color):
    """Whether a move is sensible, and no self-atari except for a throw-in or a nakade."""
    empty = touching_empty(playout.seen[p])
    if empty & (empty - np.uint16(1)):  # two liberties of its own
        return True
    if not is_sensible(b, p, color) or (playout.guards and is_silly(b, p, color)):
        return False
    if not playout.self_atari:
        return True
    stones = self_atari_stones(b, p, color)
    return stones == 0 or is_nakade(b, p, color, stones)


@kernel
def redirect(b, playout, p, color):
    """The other liberty of a chain that a stone at ``p`` would put in atari, if one there would not; or OFF."""
    if illegality(b, p, color, False) != LEGAL or self_atari_stones(b, p, color) == 0:
        return OFF
    for k in range(np.uint64(4)):
        q = NEIGHBORS[b.lines, p, k]
        if b.stone[q] == color:
            other = other_liberty(b, q, p)
            if other != OFF and is_good(b, playout, other, color) and self_atari_stones(b, other, color) == 0:
                return other
    return OFF


@kernel
def _good_or_other(b, playout, p, color):
    """A move if it is good, else the one that it is redirected to, or OFF."""
    if is_good(b, playout, p, color):
        return p
    return redirect(b, playout, p, color) if playout.redirects else OFF


@kernel
def _is_answer(b, playout, p, color):
    """Whether a legal move, or OFF, is one to answer with."""
    return p != OFF and not is_own_eye(b, p, color) and not (playout.guards and is_silly(b, p, color))


@kernel
def _reply(b, playout, last, color):
    p = playout.reply[0 if color == BLACK else 1, last]
    return p if p != OFF and b.stone[p] == EMPTY and is_good(b, playout, p, color) else OFF


@kernel
def _may_be_eye(view, color):
    """Whether an empty point may lie in a small empty region of the opponent: a quick look before a search."""
    return touching_empty(view) and not touching_stones(view, color) and count_empty(view) <= _MOST_AROUND


@kernel
def _vital_move(b, playout, last, color):
    """The vital point of a small empty region beside the last move, or OFF."""
    for k in range(np.uint64(4)):
        q = NEIGHBORS[b.lines, last, k]
        if b.stone[q] == EMPTY and _may_be_eye(playout.seen[q], color):
            p = vital_point(b, q, color, playout.region)
            if p != OFF and illegality(b, p, color, False) == LEGAL:
                return p
    return OFF


@kernel
def _capture(b, playout, last, color):
    """The move that takes the stone just played, or OFF."""
    word = b.liberties[b.head[last]]
    if is_atari(word):
        p = atari_point(word)
        if illegality(b, p, color, False) == LEGAL and not (playout.guards and is_silly(b, p, color)):
            return p
    return OFF


@kernel
def _escape(b, playout, last, color):
    """A move that saves a chain which the last move put in atari, or OFF."""
    for k in range(np.uint64(4)):
        q = NEIGHBORS[b.lines, last, k]
        if b.stone[q] == color and is_atari(b.liberties[b.head[q]]):
            p = rescue(b, q, color)
            if _is_answer(b, playout, p, color):
                return p
    return OFF


@kernel
def _neighbor_move(b, playout, last, color):
    """A move that takes a chain beside a short one of ours that the last move touched, or wins their race; or OFF."""
    for k in range(np.uint64(4)):
        q = NEIGHBORS[b.lines, last, k]
        if b.stone[q] == color and _is_short(b, q):
            p = take_neighbor(b, q, color)
            if not _is_answer(b, playout, p, color):
                p = race(b, playout, q, color)
            if _is_answer(b, playout, p, color):
                return p
    return OFF


@kernel
def _two_liberty_move(b, playout, last, color):
    """A move that saves a chain of two liberties beside the last move, or catches the chain just played; or OFF."""
    for k in range(np.uint64(4)):
        q = NEIGHBORS[b.lines, last, k]
        if b.stone[q] == color:
            p = flee(b, q, color)
            if _is_answer(b, playout, p, color):
                return p
    p = catch(b, playout, last, color)
    return p if _is_answer(b, playout, p, color) else OFF


@kernel
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
                return _good_or_other(b, playout, p, color)
    return OFF


@kernel
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
        move = _capture(b, playout, last, color)
    if move == OFF and playout.escapes and ((coins >> np.uint64(24)) & _BYTE) < _ANSWER_SHARE:
        move = _escape(b, playout, last, color)
    if move == OFF and playout.neighbors and (coins >> np.uint64(32)) < _ANSWER_SHARE:
        move = _neighbor_move(b, playout, last, color)
    if move == OFF and playout.two_liberties and (state & _BYTE) < _ANSWER_SHARE:
        move = _two_liberty_move(b, playout, last, color)
    if move == OFF and playout.patterns:
        state = next_random(state)
        move = _pattern_move(b, playout, last, color, state)
    return move, state


@kernel
def _random_move(b, playout, color, state):
    """A random good move, or OFF, and the next state; draws as ``go._playouts.play_out`` does."""
    left = b.empty_count
    while left > 0:
        state = next_random(state)
        i = np.uint16(random_below(state, left))
        p = b.empties[i]
        move = _good_or_other(b, playout, p, color)
        if move != OFF:
            return move, state
        left -= np.uint16(1)
        exchange_empties(b, i, left)
    return OFF, state


@kernel
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


@kernel
def choose_move(b, playout, last, color, state):
    """The next move of a playout, OFF for a pass, and the next state of the generator."""
    if last != OFF:
        move, state = _answer(b, playout, last, color, state)
        if move != OFF:
            return move, state
    if playout.shapes:
        return _shape_move(b, playout, color, state)
    return _random_move(b, playout, color, state)


# The record of informed playouts: random numbers, the last playout, switches, tables and work space in one.

MAX_WINDOWS: Final = (MAX_SIZE - SIDE + 1) ** 2

PLAYOUT: Final = record_dtype(
    [
        ("random", np.uint64),  # the state of the xorshift generator, never 0
        # what came before the board that is played out: the last move and the one before; OFF is a pass or not known
        ("last", np.uint16),
        ("before", np.uint16),
        # the last playout
        ("plies", np.uint32),
        ("first_color", np.int8),  # who played the first of them
        ("moves", np.uint16, PLIES_PER_POINT * MAX_POINTS),  # MAX_POINTS is a pass
        ("owner", np.int8, MAX_POINTS),  # of each point at the end: +1 Black, −1 White, 0 neither
        # which parts of the policy are on
        ("informed", np.uint8),  # any of them
        ("replies", np.uint8),
        ("nakade", np.uint8),
        ("captures", np.uint8),
        ("escapes", np.uint8),
        ("self_atari", np.uint8),  # avoids it
        ("patterns", np.uint8),
        ("neighbors", np.uint8),
        ("two_liberties", np.uint8),
        ("redirects", np.uint8),
        ("guards", np.uint8),
        ("shapes", np.uint8),  # how many random moves their value chooses among
        # the gammas of search/playouts.py, patterns by their codes
        ("gamma", np.float32, PATTERN_CODES),
        ("tactic_gamma", np.float32, TACTICS),
        ("last_gamma", np.float32, DISTANCES),
        ("before_gamma", np.float32, DISTANCES),
        # patterns larger than 3×3, in priors only
        ("large_patterns", np.uint8),
        ("large_gamma", np.float32, LARGE_MOST + 1),  # by number
        *LARGE_FIELDS,
        ("reply", np.uint16, (2, MAX_POINTS)),  # Black's, White's last good reply to a move there, or OFF
        # the value of shapes
        ("holders", np.uint8, MAX_POINTS),  # how many windows hold a point …
        ("holder", np.uint16, (MAX_POINTS, 9)),  # … which …
        ("power", np.uint16, (MAX_POINTS, 9)),  # … and the power of three at which it counts there
        ("first_entry", np.int32, MAX_WINDOWS),
        ("shape_value", np.int16, MAX_CLASSES * CODES),  # in a unit that makes them fit
        # work space
        ("seen", np.uint16, MAX_POINTS + 1),  # the views of search/kernels/patterns.py
        ("region", np.uint16, LARGEST_NAKADE),
        ("sums", np.float64, 8),
        ("entry", np.int32, (2, MAX_WINDOWS)),
    ]
)


# The informed playout: a game to its end by the policy. With everything off it is one of ``go/kernels/playouts.py``.


@kernel
def _play(b, playout, move, color):
    """Play a stone, and keep the views and windows up to date."""
    before = b.empty_count - np.uint16(1)
    play_stone(b, move, color)
    change_views(b.lines, playout, move, color)
    for i in range(before, b.empty_count):  # what was taken stands at the end of the list
        change_views(b.lines, playout, b.empties[i], np.int8(-color))
    if playout.shapes:
        change_entries(playout, move, color, np.int32(1))
        for i in range(before, b.empty_count):
            change_entries(playout, b.empties[i], np.int8(-color), np.int32(-1))


@kernel
def _play_informed(b, playout):
    """What ``go._playouts.play_out`` does, by the policy; the first move answers ``playout.last``."""
    color = b.to_play
    state = playout.random
    fill_views(b, playout)
    if playout.shapes:
        fill_entries(b, playout)
    last = playout.last
    passes = 0
    ply = np.uint64(0)
    cap = np.uint64(b.lines) * np.uint64(b.lines) * np.uint64(PLIES_PER_POINT)
    while passes < 2 and ply < cap:
        move, state = choose_move(b, playout, last, color, state)
        if move == OFF:
            play_pass(b, color)
            passes += 1
        else:
            _play(b, playout, move, color)
            passes = 0
        playout.moves[ply] = move
        ply += np.uint64(1)
        last = move
        color = np.int8(-color)
    playout.random = state
    playout.plies = np.uint32(ply)


@kernel
def play_out(b, playout):
    """Play a board to its end (two passes, or the cap on plies); returns Black's area less White's, without komi.

    The first move answers ``playout.last``, which is forgotten thereafter.
    """
    playout.first_color = b.to_play
    if playout.informed:
        _play_informed(b, playout)
    else:
        play_uniformly(b, playout)
    playout.last = OFF
    playout.owner[: b.lines * b.lines] = 0
    return count_area(b, playout.owner)


@kernel
def learn_replies(playout, winner):
    """Remember the winner's replies in the last playout, and forget the loser's (Baier and Drake 2010, LGRF-1)."""
    color = -playout.first_color
    for i in range(np.uint32(1), playout.plies):
        asked, reply = playout.moves[i - np.uint32(1)], playout.moves[i]
        if asked != OFF and reply != OFF:
            side = 0 if color == BLACK else 1
            if color == winner:
                playout.reply[side, asked] = reply
            elif playout.reply[side, asked] == reply:
                playout.reply[side, asked] = OFF
        color = -color


@kernel
def add_informed_playouts(boards, work, playouts, statistics, count, komi):
    """Play ``count`` playouts from ``boards[0]`` and add them up in ``statistics[0]``. ``work`` is a spare record."""
    total, playout = statistics[0], playouts[0]
    for _ in range(count):
        work[0] = boards[0]
        score = play_out(work[0], playout)
        total.playouts += 1
        total.score += score
        total.black_wins += 1.0 if score > komi else 0.5 if score == komi else 0.0
        for p in range(np.uint16(boards[0].lines * boards[0].lines)):
            total.ownership[p] += playout.owner[p]
        if playout.replies and score != komi:
            learn_replies(playout, BLACK if score > komi else -BLACK)


# Which moves a search considers, for ``search/one_ply.py``.


@kernel
def fill_sensible(boards, sensible):
    """Set ``sensible[point]`` for the player to move."""
    b = boards[0]
    for p in range(np.uint16(b.lines * b.lines)):
        sensible[p] = is_sensible(b, p, b.to_play)


@kernel
def fill_captures(boards, taking):
    """Clear ``taking[point]`` wherever a stone of the player to move would take nothing."""
    b = boards[0]
    for p in range(np.uint16(b.lines * b.lines)):
        taking[p] = taking[p] and captures(b, p, b.to_play)
