"""The paper's update after every move: the form of self-play that is the reference for the fast one.

Silver, Sutton and Müller 2007, sections 5 and 8. Symbols: θ weights, φ shapes, V value, r reward, δ TD error, α step
size, m sets, n_j shapes of set j on any board; s_t is the board after a side's own move number t, seen with the
colors inverted if the side is White.

    V(s) = σ(Σ_j Σ_k φ_jk(s) θ_jk)                                        (1)
    δ = r + V(s_t+1) − V(s_t)                                             (2)
    Δθ_jk = α / (m n_j) · δ · φ_jk(s_t) · V(s_t) (1 − V(s_t))             (3)

In the online cascade each set i has a value of its own, over the sets j that are as general (``general[j, i]`` is 1),
and learns from its own error (4–6); without it ``general`` is 1 everywhere and all errors are the same. With the
logistic gradient the factor V (1 − V) is left out. With traces the afterstates before s_t learn from δ too, each of
them with its own gradient, decayed by λ a move.

The code is plain on purpose: a move is valued by putting its stones into the tracker, summing the weights around, and
taking them out again. Both kinds of shapes, those with a weight each and those that are hashed, work. Liberty shapes,
of any size, are further sets, whose placements come behind the others; what they say of a move is read from the whole
of a board on which it is played.
"""

from __future__ import annotations

import math
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from katachi.features.windows import MAX_WINDOWS
from katachi.go.kernels import kernel
from katachi.go.kernels.board import BOARD, LEGAL, illegality, is_kept_eye, play_pass, play_stone, record_dtype
from katachi.go.kernels.playouts import next_random, random_below
from katachi.go.points import BLACK, EMPTY, MAX_POINTS
from katachi.shapes.kernels.features import (
    LIBERTY_SHAPES,
    MAX_CONTACTS,
    MAX_KEYED,
    MAX_KEYED_CONTACTS,
    READING,
    change_stone,
    keyed_entry,
    list_liberty_shapes,
)
from katachi.shapes.kernels.run import MAX_PLIES, PASS_MOVE, draw_exploring, list_taken, step_size_at

_EQUAL: Final = 1e-9  # sums in another order may differ by so much and count as equal

MAX_SETS: Final = 28  # nine sizes of local shapes and five of liberty shapes, each LI and LD
MAX_PLACEMENTS: Final = 2 * (MAX_WINDOWS + MAX_KEYED) + 2 * MAX_WINDOWS

GAME: Final = record_dtype(
    [
        # liberty shapes, none if there are no windows; records come first, because numpy does not align them
        ("spare", BOARD),  # to play candidates on
        ("liberty", LIBERTY_SHAPES),
        ("reading", READING),
        ("entries", np.int64, 2 * MAX_WINDOWS),
        ("liberty_first", np.int64),  # the weights of local shapes before theirs
        # the shapes; a *placement* is a window as one set sees it, table placements first, then keyed ones
        ("points", np.uint16),
        ("eye_rule", np.uint8),
        ("sets", np.uint8),
        ("placements", np.uint32),
        ("set_of", np.uint8, MAX_PLACEMENTS),
        ("starts", np.uint32, MAX_POINTS + 1),  # where the placements around a point begin
        ("around", np.uint16, 2 * (MAX_CONTACTS + MAX_KEYED_CONTACTS)),
        ("step", np.float64, MAX_SETS),  # 1 / (m n_j)
        ("general", np.float64, (MAX_SETS, MAX_SETS)),
        ("sums", np.uint64),  # how many sums were made, and the last one that counted each placement
        ("counted", np.uint64, MAX_PLACEMENTS),
        # the game so far
        ("agent", np.uint8, 2),  # which weights each side plays by
        ("random", np.uint64),
        ("taken", np.uint16, MAX_POINTS),
        ("ownership", np.int32, MAX_POINTS),
        ("best", np.uint16, MAX_POINTS),
        ("plies", np.uint32),
        ("moves", np.uint16, MAX_PLIES),
        ("explored", np.uint8, MAX_PLIES),
        ("afterstates", np.uint32, 2),  # of each side so far
        ("trace_from", np.uint32, 2),  # the first of them that traces reach
    ]
)


class Shapes(NamedTuple):
    """What the kernels take besides the game: the tables, a tracker at the position of the game, and its past."""

    record: NDArray[Any]  # [1], as trackers take it
    tracker: NDArray[Any]  # [1]
    keys: NDArray[np.uint64]
    canonical: NDArray[np.uint32]
    inverse: NDArray[np.uint32]  # the weight of the inverse of each shape; empty unless they are tied
    active: NDArray[np.uint32]  # [2, afterstates, placements] the weights in use in a side's afterstates
    gradients: NDArray[np.float64]  # [2, afterstates, m]


@kernel
def _put(shapes, tracker, keys, game, p, color, taken, opponent):
    """Make a point ``color`` and the taken points ``opponent`` in the tracker."""
    change_stone(shapes, tracker, keys, p, np.int8(color))
    for i in range(taken):
        change_stone(shapes, tracker, keys, game.taken[i], np.int8(opponent))


@kernel
def _sum_around(shapes, tracker, keys, canonical, weights, game, p, taken, view):
    """The weights of all shapes that contain a point or one of the taken ones, each counted once."""
    game.sums += np.uint64(1)
    total = 0.0
    q = p
    for i in range(np.uint16(taken + 1)):
        for k in range(game.starts[q], game.starts[q + np.uint16(1)]):
            placement = game.around[k]
            if game.counted[placement] != game.sums:
                game.counted[placement] = game.sums
                if placement < shapes.placements:
                    code = tracker.code[view, shapes.window[placement]]
                    total += weights[canonical[np.uint32(shapes.base[placement] + code)]]
                else:
                    keyed = np.uint32(placement - shapes.placements)
                    total += weights[keyed_entry(shapes, keys, view, keyed, False)[0]]
        q = game.taken[i]
    return total


@kernel
def _gain_of_move(shapes, tracker, keys, canonical, weights, game, b, p, color):
    """What a move adds to the logit, for the one who makes it."""
    view = np.uint8(0) if color == BLACK else np.uint8(1)
    taken = list_taken(game, b, p, color)
    before = _sum_around(shapes, tracker, keys, canonical, weights, game, p, taken, view)
    _put(shapes, tracker, keys, game, p, color, taken, EMPTY)
    after = _sum_around(shapes, tracker, keys, canonical, weights, game, p, taken, view)
    _put(shapes, tracker, keys, game, p, EMPTY, taken, -color)
    return after - before


@kernel
def _sum_liberties(weights, game, b, p, color):
    """The weights of all liberty shapes after a move."""
    game.spare = b
    play_stone(game.spare, p, color)
    total = 0.0
    for i in range(list_liberty_shapes(game.spare, game.liberty, game.reading, color, game.entries)):
        total += weights[game.liberty_first + game.entries[i]]
    return total


@kernel
def choose(game, b, color, explore, shapes, weights):
    """An ε-greedy move with ε = ``explore`` / 2³², ties broken at random, or PASS_MOVE."""
    exploring = draw_exploring(game, explore)
    own = weights[game.agent[0 if color == BLACK else 1]]
    tables = (shapes.record[0], shapes.tracker[0], shapes.keys, shapes.canonical, own)
    count = np.uint16(0)
    best = 0.0
    for i in range(b.empty_count):
        p = b.empties[i]
        if illegality(b, p, color, False) != LEGAL or is_kept_eye(b, p, color, game.eye_rule):
            continue
        gain = 0.0
        if not exploring:
            gain = _gain_of_move(*tables, game, b, p, color)
            if game.liberty.windows > 0:
                gain += _sum_liberties(own, game, b, p, color)
        if count == 0 or gain > best + _EQUAL:
            best = gain
            count = np.uint16(0)
        if gain >= best - _EQUAL:
            game.best[count] = p
            count += np.uint16(1)
    if count == 0:
        return PASS_MOVE
    game.random = next_random(game.random)
    return game.best[random_below(game.random, count)]


@kernel
def play(game, b, move, color, shapes, _weights):
    """Play a move on the board, and follow it."""
    if move == PASS_MOVE:
        play_pass(b, color)
    else:
        taken = list_taken(game, b, move, color)
        play_stone(b, move, color)
        _put(shapes.record[0], shapes.tracker[0], shapes.keys, game, move, color, taken, EMPTY)
    game.moves[game.plies] = move
    game.plies += np.uint32(1)


@kernel
def _write_afterstate(shapes, game, b, color, side):
    """Keep the weights that are in use in the position after a side's move."""
    record = shapes.record[0]
    tracker = shapes.tracker[0]
    active = shapes.active[side, game.afterstates[side]]
    for i in range(record.placements):
        active[i] = shapes.canonical[np.uint32(record.base[i] + tracker.code[side, record.window[i]])]
    for i in range(record.keyed_placements):
        active[record.placements + i] = keyed_entry(record, shapes.keys, side, i, False)[0]
    if game.liberty.windows > 0:
        behind = np.int64(record.placements) + np.int64(record.keyed_placements)
        for i in range(list_liberty_shapes(b, game.liberty, game.reading, color, game.entries)):
            active[behind + i] = game.liberty_first + game.entries[i]
    game.afterstates[side] += np.uint32(1)


@kernel
def set_values(game, weights, active):
    """V_i of an afterstate for every set i (eq. 1, 4), by the weights in use there."""
    sums = np.zeros(game.sets)
    for placement in range(game.placements):
        sums[game.set_of[placement]] += weights[active[placement]]
    values = np.empty(game.sets)
    for i in range(game.sets):
        logit = 0.0
        for j in range(game.sets):
            logit += game.general[j, i] * sums[j]
        values[i] = 1.0 / (1.0 + math.exp(-logit))
    return values


@kernel
def update(run, shapes, weights, game, side, t, targets):
    """Learn from afterstate t of a side (eq. 2, 3, 5, 6); ``targets`` are r + V_i(s_t+1) for every set i."""
    values = set_values(game, weights, shapes.active[side, t])
    errors = targets - values
    shapes.gradients[side, t] = values * (1.0 - values)
    if run.logistic:
        shapes.gradients[side, t] = 1.0
    run.squared_errors += errors[-1] * errors[-1]
    run.updates += 1
    decay = step_size_at(run)
    for k in range(t, np.int64(game.trace_from[side]) - 1, -1):
        steps = decay * game.step[: game.sets] * errors * shapes.gradients[side, k]
        active = shapes.active[side, k]
        for placement in range(game.placements):
            weights[active[placement]] += steps[game.set_of[placement]]
            if shapes.inverse.size > 0:
                weights[shapes.inverse[active[placement]]] -= steps[game.set_of[placement]]
        decay *= run.trace_decay
        if decay == 0.0:
            break


@kernel
def learn_from_move(run, game, b, color, shapes, weights):
    """After a side's move: update its afterstate before this one towards this one."""
    side = np.uint8(0) if color == BLACK else np.uint8(1)
    now = np.int64(game.afterstates[side])
    _write_afterstate(shapes, game, b, color, side)
    if now == 0:
        return
    if game.explored[game.plies - 1] and not run.update_after_exploring:
        game.trace_from[side] = now
        return
    own = weights[game.agent[side]]
    targets = set_values(game, own, shapes.active[side, now])
    update(run, shapes, own, game, side, now - 1, targets)


@kernel
def learn_from_game(run, game, _b, black_wins, shapes, weights):
    """Update the last afterstate of each side towards its reward."""
    for side in range(np.uint8(2)):
        reward = black_wins if side == 0 else 1.0 - black_wins
        last = np.int64(game.afterstates[side]) - 1
        if last >= 0:
            update(run, shapes, weights[game.agent[side]], game, side, last, np.full(game.sets, reward))


@kernel
def begin(game, black, white, shapes, _weights):
    """Go to the empty board; the sides play by the weights of these agents."""
    shapes.tracker[0].stone[:] = EMPTY
    shapes.tracker[0].code[:] = 0
    shapes.keys[:] = 0
    game.agent[0] = black
    game.agent[1] = white
    game.plies = 0
    game.afterstates[:] = 0
    game.trace_from[:] = 0


@kernel
def renew(game, weights):
    """Nothing: moves are chosen with the weights themselves."""
