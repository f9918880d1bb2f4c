"""The simulations of TD search: play on by what the memory says, then by a playout, and learn from how it went.

Silver, Sutton and Müller 2012. A simulation begins at the root. For so many plies both sides play ε-greedily by the
memory; a playout ends the game. Then the memory learns from its plies. Symbols: s_t is the
board after a side's own move number t, V the chance of the player who has just moved, r their result in the end.

    δ_t = V(s_t+1) − V(s_t), of the last one r − V(s_t)
    Δθ = α δ_t / n   for the n weights that are in use in s_t

That is TD(0) by the logistic gradient. Within a simulation the weights stay as they are. So a weight that was in use
from one afterstate of a side to another, a *span*, gets the sum of the errors between, which is a difference of two
prefix sums; only windows that change cost time. Kernels trust their arguments.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from katachi.features.windows import MAX_WINDOWS
from katachi.go.kernels import kernel
from katachi.go.kernels.board import (
    BOARD,
    LEGAL,
    OFF,
    captures,
    illegality,
    is_sensible,
    play_pass,
    play_stone,
    record_dtype,
)
from katachi.go.kernels.playouts import next_random, random_below
from katachi.go.kernels.values import logistic, make_shares
from katachi.go.points import BLACK, EMPTY, MAX_POINTS
from katachi.search.kernels.mcts_nodes import fill_area
from katachi.search.kernels.playouts import learn_replies, play_out

# What the weights of the windows say of a board, and of every move on it.
#
# All parameters come in the pair that compiled evaluators have. The integers hold a header, the first weight of each
# window, where the contacts of each point begin, and the contacts: a window and the power of three at which the point
# counts there. The numbers are the weights. The *entry* of a window is the weight in use: its first weight plus its
# code in base 3, with digits 0 for an empty point, 1 for a stone of the player who has just moved, 2 for an opponent's.
# Entries are kept for two views, [2, windows]: in view 0 Black has just moved, in view 1 White.

# The header: how many windows there are, and where each part begins.
WINDOWS: Final = 0
BASES_AT: Final = 1
STARTS_AT: Final = 2
CONTACTS_AT: Final = 3
HEADER: Final = 4


@kernel
def view_of(color):
    """The view of the player who has just moved."""
    return np.uint8(0) if color == BLACK else np.uint8(1)


@kernel
def _change_memory_point(ints, entries, p, color, sign):
    """Let a stone of a color come to a point, or go if ``sign`` is −1, in all windows that hold it."""
    black, white = (sign, 2 * sign) if color == BLACK else (2 * sign, sign)
    contacts = np.uint64(ints[CONTACTS_AT])
    starts = np.uint64(ints[STARTS_AT]) + np.uint64(p)
    for i in range(np.uint64(ints[starts]), np.uint64(ints[starts + np.uint64(1)])):
        at = contacts + np.uint64(2) * i
        w, power = np.uint64(ints[at]), ints[at + np.uint64(1)]
        entries[0, w] += black * power
        entries[1, w] += white * power


@kernel
def find_entries(b, ints, entries):
    """Set the entries of all windows of a board."""
    bases = np.uint64(ints[BASES_AT])
    for w in range(np.uint64(ints[WINDOWS])):
        entries[0, w] = entries[1, w] = ints[bases + w]
    for p in range(np.uint16(b.lines * b.lines)):
        if b.stone[p] != EMPTY:
            _change_memory_point(ints, entries, p, b.stone[p], np.int32(1))


@kernel
def play_and_follow(b, ints, entries, p, color):
    """Play a stone, and keep the entries up to date."""
    before = b.empty_count - np.uint16(1)
    play_stone(b, p, color)
    _change_memory_point(ints, entries, p, color, np.int32(1))
    for i in range(before, b.empty_count):  # what was taken stands at the end of the list
        _change_memory_point(ints, entries, b.empties[i], -color, np.int32(-1))


@kernel
def sum_entries(ints, weights, entries, view):
    """The logit of the player who has just moved."""
    total = 0.0
    for w in range(np.uint64(ints[WINDOWS])):
        total += np.float64(weights[np.uint64(entries[view, w])])
    return total


@kernel
def gain_of_stone(ints, weights, entries, view, p):
    """What a stone of the mover adds to their logit if it takes nothing."""
    gain = 0.0
    contacts = np.uint64(ints[CONTACTS_AT])
    starts = np.uint64(ints[STARTS_AT]) + np.uint64(p)
    for i in range(np.uint64(ints[starts]), np.uint64(ints[starts + np.uint64(1)])):
        at = contacts + np.uint64(2) * i
        old = np.uint64(entries[view, np.uint64(ints[at])])
        gain += np.float64(weights[old + np.uint64(ints[at + np.uint64(1)])]) - np.float64(weights[old])
    return gain


@kernel
def logit_after(boards, spare, parameters, entries, work, total, p):
    """The mover's logit after a move on ``boards[0]``, where all windows sum to ``total`` for the mover."""
    ints, weights = parameters
    color = boards[0].to_play
    if not captures(boards[0], p, color):
        return total + gain_of_stone(ints, weights, entries, view_of(color), p)
    spare[0] = boards[0]
    work[:] = entries
    play_and_follow(spare[0], ints, work, p, color)
    return sum_entries(ints, weights, work, view_of(color))


@kernel
def sweep_log_odds(boards, parameters, values):
    """The log-odds of Black after each move on ``boards[0]``, [n²+1], the pass last; NaN where it is illegal."""
    ints, weights = parameters
    spare = np.empty(1, BOARD)
    color = boards[0].to_play
    points = np.uint16(boards[0].lines * boards[0].lines)
    entries = np.empty((2, MAX_WINDOWS), np.int32)
    work = np.empty((2, MAX_WINDOWS), np.int32)
    find_entries(boards[0], ints, entries)
    total = sum_entries(ints, weights, entries, view_of(color))
    for p in range(points):
        values[p] = np.nan
        if illegality(boards[0], p, color, False) == LEGAL:
            values[p] = color * logit_after(boards, spare, parameters, entries, work, total, p)
    values[points] = color * total


@kernel
def sweep(boards, parameters, values):
    """P(Black wins) after each move on ``boards[0]``, as ``sweep_log_odds``."""
    sweep_log_odds(boards, parameters, values)
    make_shares(values, boards[0].lines * boards[0].lines + 1)


@kernel
def value(boards, parameters):
    """P(Black wins) on ``boards[0]``."""
    ints, weights = parameters
    color = -boards[0].to_play
    entries = np.empty((2, MAX_WINDOWS), np.int32)
    find_entries(boards[0], ints, entries)
    return logistic(color * sum_entries(ints, weights, entries, view_of(color)))


# Simulations

MAX_OWN_PLIES: Final = 2 * MAX_POINTS

SIMULATOR: Final = record_dtype(
    [
        # settings
        ("explore", np.uint64),  # ε · 2³²
        ("guided_plies", np.uint32),
        ("learned_plies", np.uint32),
        ("step", np.float64),  # α / n
        ("learned_windows", np.uint32),  # n; those behind them stay as they are
        # the root
        ("komi", np.float64),
        ("passes", np.uint8),  # that led to it
        ("considered", np.uint8, MAX_POINTS),  # which moves the game allows and are sensible
        # sums over all simulations
        ("simulations", np.int64),
        ("black_area", np.float64),  # less White's
        ("ownership", np.int32, MAX_POINTS),
        ("visits", np.int64, MAX_POINTS + 1),  # how often each move was the first; the pass is OFF
        # the simulation, by view: the board as it stands …
        ("random", np.uint64),
        ("root_entries", np.int32, (2, MAX_WINDOWS)),
        ("entries", np.int32, (2, MAX_WINDOWS)),
        ("since", np.uint32, (2, MAX_WINDOWS)),  # the first afterstate of the entry's span
        ("logit", np.float64, 2),
        # … and its afterstates so far
        ("afterstates", np.uint32, 2),
        ("logits", np.float64, (2, MAX_OWN_PLIES)),
        ("sums", np.float64, (2, MAX_OWN_PLIES + 1)),  # of the changes by the afterstates before each
        ("spans", np.uint32),
        # work space
        ("work", np.int32, (2, MAX_WINDOWS)),
        ("best", np.uint16, MAX_POINTS),
        ("owner", np.int8, MAX_POINTS),
    ]
)


@kernel
def _begin(s, parameters):
    """Go to the root."""
    s.entries[:] = s.root_entries
    for view in range(np.uint8(2)):
        s.logit[view] = sum_entries(parameters[0], parameters[1], s.entries, view)
        for w in range(s.learned_windows):
            s.since[view, w] = 0
    s.afterstates[:] = 0
    s.spans = 0


@kernel
def _end_span(s, spans, view, w):
    """Write down which weight was in use in a window, and in which afterstates, if there were any."""
    if s.since[view, w] < s.afterstates[view]:
        spans[s.spans, 0] = s.entries[view, w]
        spans[s.spans, 1] = view
        spans[s.spans, 2] = s.since[view, w]
        spans[s.spans, 3] = s.afterstates[view]
        s.spans += np.uint32(1)
        s.since[view, w] = s.afterstates[view]


@kernel
def _change_point(s, parameters, spans, p, color, sign):
    """Let a stone of a color come to a point, or go if ``sign`` is −1, in all windows that hold it."""
    ints, weights = parameters
    contacts = np.uint64(ints[CONTACTS_AT])
    starts = np.uint64(ints[STARTS_AT]) + np.uint64(p)
    for i in range(np.uint64(ints[starts]), np.uint64(ints[starts + np.uint64(1)])):
        at = contacts + np.uint64(2) * i
        w, power = np.uint64(ints[at]), sign * ints[at + np.uint64(1)]
        for view in range(np.uint8(2)):
            if w < s.learned_windows:
                _end_span(s, spans, view, w)
            old = s.entries[view, w]
            new = old + (power if view == view_of(color) else 2 * power)
            s.entries[view, w] = new
            s.logit[view] += np.float64(weights[np.uint64(new)]) - np.float64(weights[np.uint64(old)])


@kernel
def _play(s, b, parameters, spans, move):
    """Play a move, or a pass if it is OFF, and remember the board after it if it is to be learned from."""
    color = b.to_play
    if move == OFF:
        play_pass(b, color)
    else:
        before = b.empty_count - np.uint16(1)
        play_stone(b, move, color)
        _change_point(s, parameters, spans, move, color, np.int32(1))
        for i in range(before, b.empty_count):  # what was taken stands at the end of the list
            _change_point(s, parameters, spans, b.empties[i], -color, np.int32(-1))
    if s.afterstates[0] + s.afterstates[1] < s.learned_plies:
        view = view_of(color)
        s.logits[view, s.afterstates[view]] = s.logit[view]
        s.afterstates[view] += np.uint32(1)


@kernel
def _choose(s, boards, spare, parameters, at_root):
    """An ε-greedy move of the player to move on ``boards[0]``, at random among equals; OFF where there is none."""
    b = boards[0]
    color = b.to_play
    s.random = next_random(s.random)
    exploring = (s.random >> np.uint64(32)) < s.explore
    total = s.logit[view_of(color)]
    best = -np.inf
    count = np.uint16(0)
    for i in range(b.empty_count):
        p = b.empties[i]
        if not (s.considered[p] if at_root else is_sensible(b, p, color)):
            continue
        logit = 0.0 if exploring else logit_after(boards, spare, parameters, s.entries, s.work, total, p)
        if logit > best:
            best = logit
            count = np.uint16(0)
        if logit == best:
            s.best[count] = p
            count += np.uint16(1)
    if count == 0:
        return OFF
    s.random = next_random(s.random)
    return s.best[random_below(s.random, count)]


@kernel
def _simulate(s, boards, spare, playout, parameters, spans):
    """Play from ``boards[0]``, which is the root, to the end; returns Black's area less White's."""
    _begin(s, parameters)
    passes = s.passes
    move = OFF
    for ply in range(s.guided_plies):
        move = _choose(s, boards, spare, parameters, ply == 0)
        _play(s, boards[0], parameters, spans, move)
        passes = passes + np.uint8(1) if move == OFF else np.uint8(0)
        if ply == 0:
            s.visits[move] += 1
        if passes == 2:
            return fill_area(boards[0], s.owner)
    spare[0] = boards[0]
    playout.last = move
    area = play_out(boards[0], playout)
    if playout.replies and area != s.komi:
        learn_replies(playout, np.int8(1) if area > s.komi else np.int8(-1))
    learned = s.afterstates[0] + s.afterstates[1]
    for i in range(min(playout.plies, s.learned_plies - learned)):
        _play(s, spare[0], parameters, spans, playout.moves[i])
    s.owner[:] = playout.owner
    return area


@kernel
def _sum_changes(s, view, reward):
    """What the afterstates of a side change, summed up: what those before each change together."""
    count = s.afterstates[view]
    s.sums[view, 0] = 0.0
    for t in range(count):
        following = t + np.uint32(1)
        target = logistic(s.logits[view, following]) if following < count else reward
        s.sums[view, following] = s.sums[view, t] + s.step * (target - logistic(s.logits[view, t]))


@kernel
def _learn(s, weights, spans, black_wins):
    """Learn from the afterstates of a simulation."""
    _sum_changes(s, np.uint8(0), black_wins)
    _sum_changes(s, np.uint8(1), 1.0 - black_wins)
    for view in range(np.uint8(2)):
        for w in range(np.uint64(s.learned_windows)):
            _end_span(s, spans, view, w)
    for i in range(s.spans):
        sums = s.sums[np.uint8(spans[i, 1])]
        change = sums[np.uint32(spans[i, 3])] - sums[np.uint32(spans[i, 2])]
        weights[np.uint64(spans[i, 0])] += np.float32(change)


@kernel
def run_simulations(simulators, roots, boards, spare, playouts, parameters, spans, count):
    """Run so many simulations from ``roots[0]`` and learn from each; ``boards`` and ``spare`` are to play on.

    ``spans`` has room for those of a simulation, [·, 4]: a weight, the view, its first afterstate, and one too many.
    """
    s = simulators[0]
    find_entries(roots[0], parameters[0], s.root_entries)
    for _ in range(count):
        boards[0] = roots[0]
        area = _simulate(s, boards, spare, playouts[0], parameters, spans)
        _learn(s, parameters[1], spans, 1.0 if area > s.komi else 0.5 if area == s.komi else 0.0)
        s.simulations += 1
        s.black_area += area
        for p in range(np.uint16(roots[0].lines * roots[0].lines)):
            s.ownership[p] += np.int32(s.owner[p])
