"""TD learning after each game, with moves chosen by fused tables: a form of self-play (``shapes/kernels/games.py``).

The tables are made again after every batch of games. Learning uses the weights as they are: when a game is over it is
followed once more, window by window. A window that stood unchanged from one own move to another gets the sum of the TD
errors between, which is a difference of two prefix sums; so only windows that change cost time. (If the errors too
came from tables that are up to a hundred games old, learning would swing and fail.)

Local shapes learn by windows of their own size. Liberty shapes up to 2×2, where there are any, learn by 2×2 windows,
each of which hands its shapes the share that they have in it; over all windows the shares of a shape add up to 1.

Within a game the weights stay as they are. Legend, after Sutton and Barto: a *target* is the value of a side's next
afterstate, or the reward; ``trace_decay`` is λ, and γ is 1.
"""

from __future__ import annotations

import math
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from katachi.features.windows import MAX_WINDOWS
from katachi.go.kernels import kernel
from katachi.go.kernels.board import record_dtype
from katachi.go.points import BLACK
from katachi.shapes.kernels import liberty_windows
from katachi.shapes.kernels.liberty_windows import WINDOW_BASE
from katachi.shapes.kernels.player import (
    LIBERTY_TABLE,
    MAX_CHANGES,
    TABLE,
    begin_game,
    choose,
    fuse,
    fuse_liberties,
    play,
    value_window,
    write_windows,
)
from katachi.shapes.kernels.run import MAX_PLIES, agent_of, step_size_at

__all__ = ["LEARNER", "TableShapes", "begin", "choose", "learn_from_game", "learn_from_move", "play", "renew"]

_MAX_OWN_MOVES: Final = MAX_PLIES // 2 + 3
_MAX_SPANS: Final = 30 * MAX_CHANGES + MAX_WINDOWS  # a point lies in 30 windows up to 3×3
_MAX_LIBERTY_SPANS: Final = liberty_windows.MAX_WINDOWS * _MAX_OWN_MOVES

# Both records follow one side through a game, whose own moves are counted from 1. A span is what a window shows between
# two changes: from which own move, until which, and what it is.
LIBERTY_LEARNER: Final = record_dtype(
    [
        ("lines", np.uint16),
        ("windows", np.uint16),
        ("entry", np.uint32, liberty_windows.MAX_WINDOWS),
        ("value", np.float64, liberty_windows.MAX_WINDOWS),
        ("since", np.uint16, liberty_windows.MAX_WINDOWS),  # the own move at which it last changed
        ("spans", np.uint32, 2),  # by side
        ("span", np.uint32, (2, _MAX_LIBERTY_SPANS, 3)),  # of an entry
    ]
)

LEARNER: Final = record_dtype(
    [
        ("liberties", LIBERTY_LEARNER),  # records come first: numpy does not align them
        # windows of all sizes: the sets that see one, where their weights for it begin, and its step 1 / (m n)
        ("windows", np.uint32),
        ("sets", np.uint8, MAX_WINDOWS),
        ("base", np.uint32, (MAX_WINDOWS, 2)),
        ("step", np.float64, MAX_WINDOWS),
        ("code", np.uint32, MAX_WINDOWS),
        ("weight", np.uint32, (MAX_WINDOWS, 2)),  # which are in use
        ("value", np.float64, MAX_WINDOWS),  # their sum
        ("since", np.uint16, MAX_WINDOWS),  # the own move at which it last changed
        ("touched", np.uint16, MAX_WINDOWS),  # the windows that changed since the last own move
        ("spans", np.uint32, 2),  # by side
        ("span", np.uint32, (2, _MAX_SPANS, 5)),  # of a window, and its weights
        # by side and own move
        ("logit", np.float64, (2, _MAX_OWN_MOVES)),  # of what it thought of its chances after it
        ("sums", np.float64, (2, _MAX_OWN_MOVES)),  # of the errors of the afterstates before it
    ]
)


class TableShapes(NamedTuple):
    """What learning from a game takes besides the game and the weights."""

    learner: NDArray[Any]  # [1] of LEARNER
    record: NDArray[Any]  # [1] of SHAPES
    canonical: NDArray[np.uint32]
    inverse: NDArray[np.uint32]  # the weight of the inverse of each shape; empty unless they are tied
    windows: Any  # the LibertyWindows; empty if there are no liberty shapes
    steps: NDArray[np.float64]  # [classes, parts] of liberty shapes


@kernel
def renew(r, weights, first, windows, small, middle, large):
    """Fuse the weights of each agent into its tables; those of liberty shapes begin at ``first``."""
    entries = large.table.size
    for agent in range(weights.shape[0]):
        fuse(weights[agent], small, middle, large, r.fused[agent * TABLE : agent * TABLE + entries])
        if r.has_liberties:
            fuse_liberties(weights[agent, first:], windows, r.liberties.fused[agent * LIBERTY_TABLE :])


@kernel
def begin(r, black, white):
    """Go to the empty board; the sides play by the tables of these agents."""
    r.table_base[0] = black * TABLE
    r.table_base[1] = white * TABLE
    r.liberties.table_base[0] = black * LIBERTY_TABLE
    r.liberties.table_base[1] = white * LIBERTY_TABLE
    begin_game(r)


@kernel
def learn_from_move(run, r, b, color):
    """Nothing: learning waits for the end of the game."""


@kernel
def _own_moves(r, side):
    """How many of the plies were a side's."""
    return (np.int64(r.plies) + 1 - side) // 2


@kernel
def _write_span(follower, side, w, t, what):
    """Write down what a window has shown until own move t; returns the number of the span."""
    i = follower.spans[side]
    follower.span[side, i, 0] = follower.since[w]
    follower.span[side, i, 1] = t
    follower.span[side, i, 2] = what
    follower.spans[side] = i + np.uint32(1)
    follower.since[w] = t
    return i


@kernel
def _write_weights(learner, side, w, t):
    """Write down which weights a window has used until own move t."""
    i = _write_span(learner, side, w, t, w)
    learner.span[side, i, 3] = learner.weight[w, 0]
    learner.span[side, i, 4] = learner.weight[w, 1]


@kernel
def _follow_shapes(learner, shapes, r, canonical, weights, side):
    """Value every afterstate of a side with the weights as they are, and write down what stood between changes.

    One loop over the game on purpose: arrays handed to a function at every stone would cost more than its work.
    """
    learner.spans[side] = 0
    logit = 0.0
    for w in range(learner.windows):
        learner.code[w] = 0
        learner.since[w] = 0
        value = 0.0
        for j in range(learner.sets[w]):
            i = canonical[learner.base[w, j]]
            learner.weight[w, j] = i
            value += weights[i]
        learner.value[w] = value
        logit += value
    change = np.uint32(0)
    for t in range(np.uint16(1), np.uint16(_own_moves(r, side) + 1)):
        ply = np.uint32(2 * t - 2 + side)
        touched = np.uint32(0)
        while change < r.changes and r.change_ply[change] <= ply:  # the opponent's move and the own one
            p = r.change_point[change]
            digit = np.int32(r.change_digit[change, side])
            change += np.uint32(1)
            for c in range(shapes.starts[p], shapes.starts[p + np.uint16(1)]):
                w = shapes.contact[c]
                if learner.since[w] != t:
                    _write_weights(learner, side, w, np.uint16(t))
                    learner.touched[touched] = w
                    touched += np.uint32(1)
                learner.code[w] += np.uint32(digit * np.int32(shapes.power[c]))
        for k in range(touched):
            w = learner.touched[k]
            value = 0.0
            for j in range(learner.sets[w]):
                i = canonical[np.uint32(learner.base[w, j] + learner.code[w])]
                learner.weight[w, j] = i
                value += weights[i]
            logit += value - learner.value[w]
            learner.value[w] = value
        learner.logit[side, t] = logit
    for w in range(np.uint16(learner.windows)):
        _write_weights(learner, side, w, np.uint16(_own_moves(r, side) + 1))


@kernel
def _follow_liberties(learner, r, windows, weights, side):
    """Add the liberty shapes to the logit of every afterstate of a side, and write down what stood between changes."""
    f = learner.liberties
    after = r.liberties.after
    f.spans[side] = 0
    logit = 0.0
    for w in range(f.windows):
        f.entry[w] = WINDOW_BASE[f.lines, w]
        f.since[w] = 0
        f.value[w] = value_window(weights, windows, f.entry[w])
        logit += f.value[w]
    for t in range(np.uint16(1), np.uint16(_own_moves(r, side) + 1)):
        ply = np.uint32(2 * t - 2 + side)
        for w in range(f.windows):
            entry = np.uint32(WINDOW_BASE[f.lines, w] + after[ply, w])
            if entry != f.entry[w]:
                _write_span(f, side, w, np.uint16(t), f.entry[w])
                value = value_window(weights, windows, entry)
                logit += value - f.value[w]
                f.entry[w] = entry
                f.value[w] = value
        learner.logit[side, t] += logit
    for w in range(f.windows):
        _write_span(f, side, w, np.uint16(_own_moves(r, side) + 1), f.entry[w])


@kernel
def _sum_errors(run, learner, r, side, reward):
    """Fill ``learner.sums`` of a side from the TD errors of its afterstates, the last one first.

    With traces an afterstate also gets the errors after it, decayed once more at each (Silver et al. 2007, eq. 2, 3).
    """
    step_size = step_size_at(run)
    sums = learner.sums[side]
    moves = _own_moves(r, side)
    target = reward
    trace = 0.0
    cut = False
    for t in range(moves, 0, -1):
        value = 1.0 / (1.0 + math.exp(-learner.logit[side, t]))
        error = target - value
        run.squared_errors += error * error
        trace = 0.0 if cut else error + run.trace_decay * trace
        gradient = 1.0 if run.logistic else value * (1.0 - value)
        sums[t + 1] = step_size * trace * gradient
        cut = r.explored[2 * t - 2 + side] and not run.update_after_exploring
        target = value
    run.updates += moves
    sums[0] = sums[1] = 0.0
    for t in range(1, moves + 1):
        sums[t + 1] += sums[t]


@kernel
def _errors_in(learner, follower, side, i):
    """The sum of the errors of the afterstates in which a span stood."""
    return learner.sums[side, follower.span[side, i, 1]] - learner.sums[side, follower.span[side, i, 0]]


@kernel
def _update_shapes(learner, weights, inverse, side):
    """Add to every shape that a side saw its step times the errors of the afterstates in which it stood.

    With tied inverses the inverse of each shape gets the opposite.
    """
    is_tied = inverse.size > 0
    for i in range(learner.spans[side]):
        errors = _errors_in(learner, learner, side, i)
        if errors != 0.0:
            w = learner.span[side, i, 2]
            change = learner.step[w] * errors
            end = np.uint32(3 + learner.sets[w])
            for j in range(np.uint32(3), end):
                weights[learner.span[side, i, j]] += change
            if is_tied:
                for j in range(np.uint32(3), end):
                    weights[inverse[learner.span[side, i, j]]] -= change


@kernel
def _update_liberties(learner, weights, windows, steps, side):
    """The same for liberty shapes, each by its share in a window."""
    f = learner.liberties
    for i in range(f.spans[side]):
        errors = _errors_in(learner, f, side, i)
        if errors != 0.0:
            entry = f.span[side, i, 2]
            step = steps[entry // liberty_windows.CODES]
            for part in range(windows.weight.shape[1]):
                weights[windows.weight[entry, part]] += step[part] * errors


@kernel
def learn_from_game(run, r, b, black_wins, shapes, weights):
    """Learn from the game that was just played; the weights of liberty shapes are behind those of local shapes."""
    learner = shapes.learner[0]
    first = shapes.canonical.size
    if r.has_liberties:
        write_windows(r, b, np.int8(BLACK if r.plies % 2 == 0 else -BLACK))
    for side in range(np.uint8(2)):
        own = weights[agent_of(run, side)]
        _follow_shapes(learner, shapes.record[0], r, shapes.canonical, own, side)
        if r.has_liberties:
            _follow_liberties(learner, r, shapes.windows, own[first:], side)
    _sum_errors(run, learner, r, np.uint8(0), black_wins)
    _sum_errors(run, learner, r, np.uint8(1), 1.0 - black_wins)
    for side in range(np.uint8(2)):
        own = weights[agent_of(run, side)]
        _update_shapes(learner, own, shapes.inverse, side)
        if r.has_liberties:
            _update_liberties(learner, own[first:], shapes.windows, shapes.steps, side)
