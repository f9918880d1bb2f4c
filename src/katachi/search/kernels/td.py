"""The simulations of TD search: play on by what the memory says, then by a playout, and learn from how it went.

Silver, Sutton and Müller 2012. A simulation begins at the root. For so many plies both sides play ε-greedily by the
memory (``search/kernels/_td_memory.py``); a playout ends the game. Then the memory learns from its plies. Symbols:
s_t is the board after a side's own move number t, V the chance of the player who has just moved, r what he got in the
end.

    δ_t = V(s_t+1) − V(s_t), of the last one r − V(s_t)
    Δθ = α δ_t / n   for the n weights that are in use in s_t

That is TD(0) by the logistic gradient. Within a simulation the weights stay as they are. So a weight that was in use
from one afterstate of a side to another, a *stand*, gets the sum of the errors between, which is a difference of two
prefix sums; only windows that change cost time. Kernels trust their arguments.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numba import njit

from katachi.features.kernels.logistic import logistic
from katachi.features.windows import MAX_WINDOWS
from katachi.go.kernels.board import OFF, is_sensible, play_pass, play_stone, record_dtype
from katachi.go.kernels.playouts import next_random, random_below
from katachi.go.kernels.scoring import fill_owner
from katachi.go.points import MAX_POINTS
from katachi.search.kernels._td_memory import CONTACTS_AT, STARTS_AT, find_entries, logit_after, sum_entries, view_of
from katachi.search.kernels.playouts import learn_replies, play_out

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
        ("since", np.uint32, (2, MAX_WINDOWS)),  # the first afterstate of the entry's stand
        ("logit", np.float64, 2),
        # … and its afterstates so far
        ("afterstates", np.uint32, 2),
        ("logits", np.float64, (2, MAX_OWN_PLIES)),
        ("sums", np.float64, (2, MAX_OWN_PLIES + 1)),  # of the changes by the afterstates before each
        ("stands", np.uint32),
        # work space
        ("work", np.int32, (2, MAX_WINDOWS)),
        ("best", np.uint16, MAX_POINTS),
        ("owner", np.int8, MAX_POINTS),
    ]
)


@njit(cache=True, nogil=True)
def _begin(s, parameters):
    """Go to the root."""
    s.entries[:] = s.root_entries
    for view in range(np.uint8(2)):
        s.logit[view] = sum_entries(parameters[0], parameters[1], s.entries, view)
        for w in range(s.learned_windows):
            s.since[view, w] = 0
    s.afterstates[:] = 0
    s.stands = 0


@njit(cache=True, nogil=True)
def _end_stand(s, stands, view, w):
    """Write down which weight was in use in a window, and in which afterstates, if there were any."""
    if s.since[view, w] < s.afterstates[view]:
        stands[s.stands, 0] = s.entries[view, w]
        stands[s.stands, 1] = view
        stands[s.stands, 2] = s.since[view, w]
        stands[s.stands, 3] = s.afterstates[view]
        s.stands += np.uint32(1)
        s.since[view, w] = s.afterstates[view]


@njit(cache=True, nogil=True)
def _change_point(s, parameters, stands, p, color, sign):
    """Let a stone of a color come to a point, or go if ``sign`` is −1, in all windows that hold it."""
    ints, weights = parameters
    contacts = np.uint64(ints[CONTACTS_AT])
    starts = np.uint64(ints[STARTS_AT]) + np.uint64(p)
    for i in range(np.uint64(ints[starts]), np.uint64(ints[starts + np.uint64(1)])):
        at = contacts + np.uint64(2) * i
        w, power = np.uint64(ints[at]), sign * ints[at + np.uint64(1)]
        for view in range(np.uint8(2)):
            if w < s.learned_windows:
                _end_stand(s, stands, view, w)
            old = s.entries[view, w]
            new = old + (power if view == view_of(color) else 2 * power)
            s.entries[view, w] = new
            s.logit[view] += np.float64(weights[np.uint64(new)]) - np.float64(weights[np.uint64(old)])


@njit(cache=True, nogil=True)
def _play(s, b, parameters, stands, move):
    """Play a move, or a pass if it is OFF, and remember the board after it if it is to be learned from."""
    color = b.to_play
    if move == OFF:
        play_pass(b, color)
    else:
        before = b.empty_count - np.uint16(1)
        play_stone(b, move, color)
        _change_point(s, parameters, stands, move, color, np.int32(1))
        for i in range(before, b.empty_count):  # what was taken stands at the end of the list
            _change_point(s, parameters, stands, b.empties[i], -color, np.int32(-1))
    if s.afterstates[0] + s.afterstates[1] < s.learned_plies:
        view = view_of(color)
        s.logits[view, s.afterstates[view]] = s.logit[view]
        s.afterstates[view] += np.uint32(1)


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def _count_area(s, b):
    """Black's area less White's after two passes, all stones alive."""
    fill_owner(b.stone, np.int64(b.lines), np.zeros(MAX_POINTS + 1, np.bool_), s.owner)
    area = 0
    for p in range(np.uint16(b.lines * b.lines)):
        area += s.owner[p]
    return area


@njit(cache=True, nogil=True)
def _simulate(s, boards, spare, playout, parameters, stands):
    """Play from ``boards[0]``, which is the root, to the end; returns Black's area less White's."""
    _begin(s, parameters)
    passes = s.passes
    move = OFF
    for ply in range(s.guided_plies):
        move = _choose(s, boards, spare, parameters, ply == 0)
        _play(s, boards[0], parameters, stands, move)
        passes = passes + np.uint8(1) if move == OFF else np.uint8(0)
        if ply == 0:
            s.visits[move] += 1
        if passes == 2:
            return _count_area(s, boards[0])
    spare[0] = boards[0]
    playout.last = move
    area = play_out(boards[0], playout)
    if playout.replies and area != s.komi:
        learn_replies(playout, np.int8(1) if area > s.komi else np.int8(-1))
    learned = s.afterstates[0] + s.afterstates[1]
    for i in range(min(playout.plies, s.learned_plies - learned)):
        _play(s, spare[0], parameters, stands, playout.moves[i])
    s.owner[:] = playout.owner
    return area


@njit(cache=True, nogil=True)
def _sum_changes(s, view, reward):
    """What the afterstates of a side change, summed up: what those before each change together."""
    count = s.afterstates[view]
    s.sums[view, 0] = 0.0
    for t in range(count):
        following = t + np.uint32(1)
        target = logistic(s.logits[view, following]) if following < count else reward
        s.sums[view, following] = s.sums[view, t] + s.step * (target - logistic(s.logits[view, t]))


@njit(cache=True, nogil=True)
def _learn(s, weights, stands, black_wins):
    """Learn from the afterstates of a simulation."""
    _sum_changes(s, np.uint8(0), black_wins)
    _sum_changes(s, np.uint8(1), 1.0 - black_wins)
    for view in range(np.uint8(2)):
        for w in range(np.uint64(s.learned_windows)):
            _end_stand(s, stands, view, w)
    for i in range(s.stands):
        sums = s.sums[np.uint8(stands[i, 1])]
        change = sums[np.uint32(stands[i, 3])] - sums[np.uint32(stands[i, 2])]
        weights[np.uint64(stands[i, 0])] += np.float32(change)


@njit(cache=True, nogil=True)
def run_simulations(simulators, roots, boards, spare, playouts, parameters, stands, count):
    """Run so many simulations from ``roots[0]`` and learn from each; ``boards`` and ``spare`` are to play on.

    ``stands`` has room for those of a simulation, [·, 4]: a weight, the view, its first afterstate, and one too many.
    """
    s = simulators[0]
    find_entries(roots[0], parameters[0], s.root_entries)
    for _ in range(count):
        boards[0] = roots[0]
        area = _simulate(s, boards, spare, playouts[0], parameters, stands)
        _learn(s, parameters[1], stands, 1.0 if area > s.komi else 0.5 if area == s.komi else 0.0)
        s.simulations += 1
        s.black_area += area
        for p in range(np.uint16(roots[0].lines * roots[0].lines)):
            s.ownership[p] += np.int32(s.owner[p])
