"""Compiled self-play with learning after each game.

Moves are chosen with fused tables, which are made again after every batch of games. Learning uses the weights as they
are: when a game is over it is followed once more, shape by shape. A shape that stood unchanged from one ply to
another gets the sum of the TD errors between, which is a difference of two prefix sums; so only shapes that change
cost time. (If the errors too came from tables that are up to a hundred games old, learning would swing and fail.)

Within a game the weights stay as they are. Legend, after Sutton and Barto: a *target* is the value of a side's next
afterstate, or the reward; ``trace_decay`` is λ, and γ is 1.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from katachi.features.windows import MAX_WINDOWS
from katachi.go.kernels import kernel
from katachi.go.kernels.board import record_dtype
from katachi.go.points import BLACK
from katachi.shapes.kernels.player import (
    MAX_CHANGES,
    MAX_PLIES,
    PASS_MOVE,
    TABLE,
    begin_game,
    choose,
    final_win,
    fuse,
    play,
)
from katachi.shapes.kernels.self_play import begin_batch, black_agent, end_game, step_size_at

MAX_OWN_MOVES: Final = MAX_PLIES // 2 + 3
MAX_SPANS: Final = 30 * MAX_CHANGES + MAX_WINDOWS  # a point lies in 30 windows up to 3×3

LEARNER: Final = record_dtype(
    [
        # windows of all sizes: the sets that see one, where their weights for it begin, and its step 1 / (m n)
        ("windows", np.uint32),
        ("sets", np.uint8, MAX_WINDOWS),
        ("base", np.uint32, (MAX_WINDOWS, 2)),
        ("step", np.float64, MAX_WINDOWS),
        # one side's way through a game; a side's own moves are counted from 1
        ("code", np.uint32, MAX_WINDOWS),
        ("weight", np.uint32, (MAX_WINDOWS, 2)),  # which are in use
        ("value", np.float64, MAX_WINDOWS),  # their sum
        ("since", np.uint16, MAX_WINDOWS),  # the own move at which it last changed
        ("touched", np.uint16, MAX_WINDOWS),  # the windows that changed since the last own move
        # what stood there between changes, by side
        ("spans", np.uint32, 2),
        ("span", np.uint32, (2, MAX_SPANS, 5)),  # its weights, the window, from which own move until which
        # by side and own move
        ("logit", np.float64, (2, MAX_OWN_MOVES)),  # of what it thought of its chances after it
        ("sums", np.float64, (2, MAX_OWN_MOVES)),  # of the errors of the afterstates before it
    ]
)


@kernel
def play_game(run, r, b):
    """Self-play to two passes or the cap on moves; returns what Black gets."""
    begin_game(r)
    color = np.int8(BLACK)
    passes = 0
    while passes < 2 and r.plies < run.move_cap:
        move = choose(r, b, color, run.explore)
        play(r, b, move, color)
        passes = passes + 1 if move == PASS_MOVE else 0
        color = np.int8(-color)
    return final_win(r, b, passes, run.komi)


@kernel
def own_moves(r, side):
    """How many of the plies were a side's."""
    return (np.int64(r.plies) + 1 - side) // 2


@kernel
def _write_span(learner, side, w, t):
    """Write down what a window has shown until own move t."""
    i = learner.spans[side]
    learner.span[side, i, 0] = learner.weight[w, 0]
    learner.span[side, i, 1] = learner.weight[w, 1]
    learner.span[side, i, 2] = w
    learner.span[side, i, 3] = learner.since[w]
    learner.span[side, i, 4] = t
    learner.spans[side] = i + np.uint32(1)
    learner.since[w] = t


@kernel
def follow_game(learner, shapes, r, canonical, weights, side):
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
    for t in range(np.uint16(1), np.uint16(own_moves(r, side) + 1)):
        ply = np.uint32(2 * t - 2 + side)
        touched = np.uint32(0)
        while change < r.changes and r.change_ply[change] <= ply:  # the opponent's move and the own one
            p = r.change_point[change]
            digit = np.int32(r.change_digit[change, side])
            change += np.uint32(1)
            for c in range(shapes.starts[p], shapes.starts[p + np.uint16(1)]):
                w = shapes.contact[c]
                if learner.since[w] != t:
                    _write_span(learner, side, w, np.uint16(t))
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
        _write_span(learner, side, w, np.uint16(own_moves(r, side) + 1))


@kernel
def sum_errors(run, learner, r, side, reward):
    """Fill ``learner.sums`` of a side from the TD errors of its afterstates, the last one first.

    With traces an afterstate also gets the errors after it, decayed once more at each (Silver et al. 2007, eq. 2, 3).
    """
    step_size = step_size_at(run)
    sums = learner.sums[side]
    moves = own_moves(r, side)
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
def update_weights(learner, weights, side):
    """Add to every shape that a side saw its step times the errors of the afterstates in which it stood."""
    for i in range(learner.spans[side]):
        errors = learner.sums[side, learner.span[side, i, 4]] - learner.sums[side, learner.span[side, i, 3]]
        if errors != 0.0:
            w = learner.span[side, i, 2]
            change = learner.step[w] * errors
            for j in range(learner.sets[w]):
                weights[learner.span[side, i, j]] += change


@kernel
def _update_tied_weights(learner, weights, inverse, side):
    """The same with tied inverses: the inverse of each shape gets the opposite."""
    for i in range(learner.spans[side]):
        errors = learner.sums[side, learner.span[side, i, 4]] - learner.sums[side, learner.span[side, i, 3]]
        if errors != 0.0:
            w = learner.span[side, i, 2]
            change = learner.step[w] * errors
            for j in range(learner.sets[w]):
                weights[learner.span[side, i, j]] += change
                weights[inverse[learner.span[side, i, j]]] -= change


@kernel
def learn_from_game(run, learner, shapes, r, canonical, inverse, weights, black_wins):
    """Learn from the game that was just played; ``inverse`` is empty unless inverses are tied."""
    black = black_agent(run)
    white = run.agents - 1 - black
    follow_game(learner, shapes, r, canonical, weights[black], np.uint8(0))
    follow_game(learner, shapes, r, canonical, weights[white], np.uint8(1))
    sum_errors(run, learner, r, np.uint8(0), black_wins)
    sum_errors(run, learner, r, np.uint8(1), 1.0 - black_wins)
    if inverse.size > 0:
        _update_tied_weights(learner, weights[black], inverse, np.uint8(0))
        _update_tied_weights(learner, weights[white], inverse, np.uint8(1))
    else:
        update_weights(learner, weights[black], np.uint8(0))
        update_weights(learner, weights[white], np.uint8(1))


@kernel
def fuse_agents(r, weights, small, middle, large):
    """Fuse the weights of each agent into its tables."""
    entries = large.table.size
    for agent in range(weights.shape[0]):
        fuse(weights[agent], small, middle, large, r.fused[agent * TABLE : agent * TABLE + entries])


@kernel
def train_fast(runs, learners, players, boards, tables, weights, averages, small, middle, large, games):
    """Play and learn from ``games`` games; ``boards`` is an empty board and one to play on.

    ``tables`` are the shapes, the weight in use for each weight, and the one of the inverse shape.
    """
    shapes, canonical, inverse = tables
    run = runs[0]
    r = players[0]
    for _ in range(games):
        if run.batch_left == 0:
            begin_batch(run, weights, averages)
            fuse_agents(r, weights, small, middle, large)
        r.table_base[0] = black_agent(run) * TABLE
        r.table_base[1] = (run.agents - 1 - black_agent(run)) * TABLE
        boards[1] = boards[0]
        black_wins = play_game(run, r, boards[1])
        learn_from_game(run, learners[0], shapes[0], r, canonical, inverse, weights, black_wins)
        end_game(run, r.plies, black_wins)
