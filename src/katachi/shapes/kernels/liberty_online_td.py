"""Compiled self-play over local shapes and liberty shapes of any size, with the update after every move.

The update is that of ``shapes/kernels/online_td.py``: liberty shapes are further sets, whose placements come behind
the others. The code is plain on purpose: what liberty shapes say of a move is read from the whole of a board on which
it is played.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from katachi.go.kernels import kernel
from katachi.go.kernels.board import LEGAL, illegality, is_kept_eye, play_stone
from katachi.go.kernels.playouts import next_random, random_below
from katachi.go.points import BLACK
from katachi.shapes.kernels.liberty import list_active
from katachi.shapes.kernels.online_td import (
    gain_of_move,
    go_to_start,
    learn_from_end,
    learn_from_move,
    play_move,
    write_afterstate,
)
from katachi.shapes.kernels.player import PASS_MOVE, final_win
from katachi.shapes.kernels.self_play import begin_batch, black_agent, end_game

_EQUAL: Final = 1e-9  # sums in another order may differ by so much and count as equal


class LibertyWorkspace(NamedTuple):
    """The liberty shapes, and room to read them."""

    record: NDArray[Any]  # [1] of LIBERTY_SHAPES
    reading: NDArray[Any]  # [1] of READING
    entries: NDArray[np.int64]  # [placements]
    first: int  # the weights of local shapes before them


@kernel
def _sum_liberties(workspace, weights, b, mover):
    """The weights of all liberty shapes on a board."""
    total = 0.0
    for i in range(list_active(b, workspace.record[0], workspace.reading[0], mover, workspace.entries)):
        total += weights[workspace.first + workspace.entries[i]]
    return total


@kernel
def choose_online_with_liberties(shapes, workspace, weights, game, boards, color, explore):
    """What ``_td_online.choose_move`` does, on ``boards[0]``; the second board is a spare one."""
    b = boards[0]
    game.random = next_random(game.random)
    exploring = (game.random >> np.uint64(32)) < explore
    game.explored[game.plies] = exploring
    tables = (shapes.record[0], shapes.tracker[0], shapes.keys, shapes.canonical, weights)
    count = np.uint16(0)
    best = 0.0
    for i in range(b.empty_count):
        p = b.empties[i]
        if illegality(b, p, color, False) != LEGAL or is_kept_eye(b, p, color, game.eye_rule):
            continue
        gain = 0.0
        if not exploring:
            boards[1] = b
            play_stone(boards[1], p, color)
            gain = gain_of_move(*tables, game, b, p, color) + _sum_liberties(workspace, weights, boards[1], color)
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
def _write_liberties(shapes, workspace, game, b, side, color):
    """Keep the weights of liberty shapes that are in use in the position after a side's move, behind the others."""
    active = shapes.active[side, game.afterstates[side]]
    count = list_active(b, workspace.record[0], workspace.reading[0], color, workspace.entries)
    behind = np.int64(game.placements) - np.int64(count)
    for i in range(count):
        active[behind + i] = workspace.first + workspace.entries[i]


@kernel
def _play_game(run, shapes, workspace, weights, game, boards):
    """One game of self-play with learning; returns what Black gets."""
    b = boards[0]
    go_to_start(shapes, game)
    black = black_agent(run)
    color = np.int8(BLACK)
    passes = 0
    while passes < 2 and game.plies < run.move_cap:
        side = np.uint8(0) if color == BLACK else np.uint8(1)
        own = weights[black if side == 0 else run.agents - 1 - black]
        move = choose_online_with_liberties(shapes, workspace, own, game, boards, color, run.explore)
        play_move(shapes, game, b, move, color)
        _write_liberties(shapes, workspace, game, b, side, color)
        write_afterstate(shapes, game, side)
        learn_from_move(run, shapes, own, game, side)
        passes = passes + 1 if move == PASS_MOVE else 0
        color = np.int8(-color)
    black_wins = final_win(game, b, passes, run.komi)
    learn_from_end(run, shapes, weights[black], game, np.uint8(0), black_wins)
    learn_from_end(run, shapes, weights[run.agents - 1 - black], game, np.uint8(1), 1.0 - black_wins)
    return black_wins


@kernel
def train_liberties_online(runs, shapes, workspace, weights, averages, games_played, boards, games):
    """Play and learn from ``games`` games; ``boards`` is an empty board, one to play on and a spare one."""
    run = runs[0]
    game = games_played[0]
    for _ in range(games):
        if run.batch_left == 0:
            begin_batch(run, weights, averages)
        boards[1] = boards[0]
        black_wins = _play_game(run, shapes, workspace, weights, game, boards[1:])
        end_game(run, game.plies, black_wins)
