"""Compiled self-play over local shapes and liberty shapes up to 2×2, with learning after each game.

As in ``shapes/kernels/table_td.py``, moves are chosen with fused tables that are made again after every batch of
games, and learning uses the weights as they are. The local shapes learn as there. The liberty shapes learn by 2×2
windows: a window that stood unchanged from one own move to another gets the sum of the TD errors between, and hands
each of its shapes the share that it has in it; over all windows the shares of a shape add up to 1.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from katachi.go.kernels import kernel
from katachi.go.kernels.board import record_dtype
from katachi.go.points import BLACK
from katachi.shapes.kernels.liberty_player import LIBERTY_TABLE, choose_with_liberties, fuse_liberties, write_windows
from katachi.shapes.kernels.liberty_windows import CODES, MAX_WINDOWS, WINDOW_BASE
from katachi.shapes.kernels.player import PASS_MOVE, TABLE, begin_game, final_win, play
from katachi.shapes.kernels.self_play import begin_batch, black_agent, end_game
from katachi.shapes.kernels.table_td import (
    MAX_OWN_MOVES,
    follow_game,
    fuse_agents,
    own_moves,
    sum_errors,
    update_weights,
)

MAX_SPANS: Final = MAX_WINDOWS * MAX_OWN_MOVES

LIBERTY_LEARNER: Final = record_dtype(
    [
        ("lines", np.uint16),
        ("windows", np.uint16),
        # one side's way through a game
        ("entry", np.uint32, MAX_WINDOWS),
        ("value", np.float64, MAX_WINDOWS),
        ("since", np.uint16, MAX_WINDOWS),  # the own move at which it last changed
        # what stood there between changes, by side
        ("spans", np.uint32, 2),
        ("span", np.uint32, (2, MAX_SPANS, 3)),  # the entry, from which own move until which
    ]
)


@kernel
def _window_value(windows, weights, entry):
    """The sum of a window's shapes, each by its share."""
    share = windows.share[entry // CODES]
    value = 0.0
    for part in range(windows.weight.shape[1]):
        value += share[part] * weights[windows.weight[entry, part]]
    return value


@kernel
def _write_span(f, side, w, t):
    """Write down what a window has shown until own move t."""
    i = f.spans[side]
    f.span[side, i, 0] = f.entry[w]
    f.span[side, i, 1] = f.since[w]
    f.span[side, i, 2] = t
    f.spans[side] = i + np.uint32(1)
    f.since[w] = t


@kernel
def _follow_liberties(f, learner, r, lib, windows, weights, side):
    """Add the liberty shapes to the logit of every afterstate of a side, and write down what stood between changes."""
    f.spans[side] = 0
    logit = 0.0
    for w in range(f.windows):
        f.entry[w] = WINDOW_BASE[f.lines, w]
        f.since[w] = 0
        f.value[w] = _window_value(windows, weights, f.entry[w])
        logit += f.value[w]
    for t in range(np.uint16(1), np.uint16(own_moves(r, side) + 1)):
        ply = np.uint32(2 * t - 2 + side)
        for w in range(f.windows):
            entry = np.uint32(WINDOW_BASE[f.lines, w] + lib.after[ply, w])
            if entry != f.entry[w]:
                _write_span(f, side, w, np.uint16(t))
                value = _window_value(windows, weights, entry)
                logit += value - f.value[w]
                f.entry[w] = entry
                f.value[w] = value
        learner.logit[side, t] += logit
    for w in range(f.windows):
        _write_span(f, side, w, np.uint16(own_moves(r, side) + 1))


@kernel
def _update_liberties(f, learner, windows, step, weights, side):
    """Add to every shape that a side saw its step times the errors of the afterstates in which it stood."""
    for i in range(f.spans[side]):
        errors = learner.sums[side, f.span[side, i, 2]] - learner.sums[side, f.span[side, i, 1]]
        if errors != 0.0:
            entry = f.span[side, i, 0]
            parts = step[entry // CODES]
            for part in range(windows.weight.shape[1]):
                weights[windows.weight[entry, part]] += parts[part] * errors


@kernel
def play_game(run, r, lib, position, boards):
    """Self-play to two passes or the cap on moves; returns what Black gets."""
    begin_game(r)
    color = np.int8(BLACK)
    passes = 0
    while passes < 2 and r.plies < run.move_cap:
        move = choose_with_liberties(r, lib, position, boards, color, run.explore)
        play(r, boards[0], move, color)
        passes = passes + 1 if move == PASS_MOVE else 0
        color = np.int8(-color)
    write_windows(r, lib, position, boards[0], color)
    return final_win(r, boards[0], passes, run.komi)


@kernel
def _learn_from_game(run, learner, f, shapes, r, lib, canonical, windows, step, weights, black_wins):
    """Learn from the game that was just played; the weights of liberty shapes are behind those of local shapes."""
    basic = canonical.size
    black = weights[black_agent(run)]
    white = weights[run.agents - 1 - black_agent(run)]
    follow_game(learner, shapes, r, canonical, black, np.uint8(0))
    follow_game(learner, shapes, r, canonical, white, np.uint8(1))
    _follow_liberties(f, learner, r, lib, windows, black[basic:], np.uint8(0))
    _follow_liberties(f, learner, r, lib, windows, white[basic:], np.uint8(1))
    sum_errors(run, learner, r, np.uint8(0), black_wins)
    sum_errors(run, learner, r, np.uint8(1), 1.0 - black_wins)
    update_weights(learner, black, np.uint8(0))
    update_weights(learner, white, np.uint8(1))
    _update_liberties(f, learner, windows, step, black[basic:], np.uint8(0))
    _update_liberties(f, learner, windows, step, white[basic:], np.uint8(1))


@kernel
def _fuse_agents(r, lib, weights, levels, canonical, windows):
    """Fuse the weights of each agent into its tables of both kinds."""
    fuse_agents(r, weights, *levels)
    entries = windows.weight.shape[0]
    for agent in range(weights.shape[0]):
        first = agent * LIBERTY_TABLE
        fuse_liberties(weights[agent, canonical.size :], windows, lib.fused[first : first + entries])


@kernel
def train_with_liberties(
    runs, learners, followers, players, liberties, positions, boards, basic, weights, averages, games
):
    """Play and learn from ``games`` games.

    ``boards`` is an empty board, one to play on and a spare one; ``basic`` is what the features are made of: the
    record, weights in use and levels of the local shapes, then the windows and steps of the liberty shapes.
    """
    shapes, canonical, levels, windows, step = basic
    run = runs[0]
    r = players[0]
    lib = liberties[0]
    for _ in range(games):
        if run.batch_left == 0:
            begin_batch(run, weights, averages)
            _fuse_agents(r, lib, weights, levels, canonical, windows)
        for side in range(np.uint8(2)):
            agent = black_agent(run) if side == 0 else run.agents - 1 - black_agent(run)
            r.table_base[side] = agent * TABLE
            lib.table_base[side] = agent * LIBERTY_TABLE
        boards[1] = boards[0]
        black_wins = play_game(run, r, lib, positions[0], boards[1:])
        game = (learners[0], followers[0], shapes[0], r, lib, canonical, windows, step, weights)
        _learn_from_game(run, *game, black_wins)
        end_game(run, r.plies, black_wins)
