"""Compiled games between a player of local and liberty shapes and the average liberty player.

Liberty shapes up to 2×2 play with fused tables; larger ones play as online learning does.
"""

from __future__ import annotations

import numpy as np

from katachi.go.kernels import kernel
from katachi.go.points import BLACK
from katachi.shapes.kernels.alp import ALWAYS, NEVER, choose_by_liberties, color_of
from katachi.shapes.kernels.liberty_online_td import choose_online_with_liberties
from katachi.shapes.kernels.liberty_player import choose_with_liberties
from katachi.shapes.kernels.online_td import go_to_start, play_move
from katachi.shapes.kernels.player import PASS_MOVE, PLIES_PER_POINT, begin_game, final_win, play


@kernel
def _play_fused(r, lib, position, alp, boards, own, random_plies, komi):
    """One game on ``boards[0]``, with a spare board behind; returns what Black gets."""
    begin_game(r)
    color = np.int8(BLACK)
    passes = 0
    while passes < 2 and r.plies < r.points * PLIES_PER_POINT:
        if r.plies < random_plies or color == own:
            explore = ALWAYS if r.plies < random_plies else NEVER
            move = choose_with_liberties(r, lib, position, boards, color, explore)
        else:
            move = choose_by_liberties(alp, boards, boards[1:], color)
        play(r, boards[0], move, color)
        passes = passes + 1 if move == PASS_MOVE else 0
        color = np.int8(-color)
    return final_win(r, boards[0], passes, komi)


@kernel
def _play_unfused(shapes, workspace, weights, game, alp, boards, own, random_plies, komi):
    """The same without fused tables."""
    go_to_start(shapes, game)
    color = np.int8(BLACK)
    passes = 0
    while passes < 2 and game.plies < game.points * PLIES_PER_POINT:
        if game.plies < random_plies or color == own:
            explore = ALWAYS if game.plies < random_plies else NEVER
            move = choose_online_with_liberties(shapes, workspace, weights, game, boards, color, explore)
        else:
            move = choose_by_liberties(alp, boards, boards[1:], color)
        play_move(shapes, game, boards[0], move, color)
        passes = passes + 1 if move == PASS_MOVE else 0
        color = np.int8(-color)
    return final_win(game, boards[0], passes, komi)


@kernel
def count_fused_liberty_wins(players, liberties, positions, alps, boards, games, random_plies, komi):
    """How many of ``games`` the shape player wins as Black and as White, [2].

    ``boards`` are an empty one, one to play on and a spare one.
    """
    wins = np.zeros(2)
    for game in range(games):
        boards[1] = boards[0]
        own = color_of(game)
        workspace = (positions[0], alps[0], boards[1:])
        black_wins = _play_fused(players[0], liberties[0], *workspace, own, random_plies, komi)
        wins[game % 2] += black_wins if own == BLACK else 1.0 - black_wins
    return wins


@kernel
def count_unfused_liberty_wins(shapes, workspace, weights, games_played, alps, boards, games, random_plies, komi):
    """The same without fused tables."""
    wins = np.zeros(2)
    for game in range(games):
        boards[1] = boards[0]
        own = color_of(game)
        players = (games_played[0], alps[0], boards[1:])
        black_wins = _play_unfused(shapes, workspace, weights, *players, own, random_plies, komi)
        wins[game % 2] += black_wins if own == BLACK else 1.0 - black_wins
    return wins
