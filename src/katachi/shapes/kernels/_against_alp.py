"""Compiled games between a shape player and the average liberty player.

Shapes up to 3×3 play with fused tables; sets with larger ones play as online learning does.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numba import njit

from katachi.go.points import BLACK
from katachi.shapes.kernels.alp import choose_by_liberties
from katachi.shapes.kernels.online_td import choose_move, go_to_start, play_move
from katachi.shapes.kernels.player import PASS_MOVE, PLIES_PER_POINT, begin_game, choose, final_win, play

ALWAYS: Final = np.uint64(1) << np.uint64(32)
NEVER: Final = np.uint64(0)


@njit(cache=True, nogil=True)
def color_of(game):
    """The shape player's color: Black and White in turn."""
    return np.int8(BLACK if game % 2 == 0 else -BLACK)


@njit(cache=True, nogil=True)
def _play_fused(r, alp, boards, spare, own, random_plies, komi):
    """One game from ``boards[0]``; returns what Black gets."""
    b = boards[0]
    begin_game(r)
    color = np.int8(BLACK)
    passes = 0
    while passes < 2 and r.plies < r.points * PLIES_PER_POINT:
        if r.plies < random_plies or color == own:
            move = choose(r, b, color, ALWAYS if r.plies < random_plies else NEVER)
        else:
            move = choose_by_liberties(alp, boards, spare, color)
        play(r, b, move, color)
        passes = passes + 1 if move == PASS_MOVE else 0
        color = np.int8(-color)
    return final_win(r, b, passes, komi)


@njit(cache=True, nogil=True)
def _play_unfused(shapes, weights, game, alp, boards, spare, own, random_plies, komi):
    """The same without fused tables."""
    b = boards[0]
    go_to_start(shapes, game)
    color = np.int8(BLACK)
    passes = 0
    while passes < 2 and game.plies < game.points * PLIES_PER_POINT:
        if game.plies < random_plies or color == own:
            move = choose_move(shapes, weights, game, b, color, ALWAYS if game.plies < random_plies else NEVER)
        else:
            move = choose_by_liberties(alp, boards, spare, color)
        play_move(shapes, game, b, move, color)
        passes = passes + 1 if move == PASS_MOVE else 0
        color = np.int8(-color)
    return final_win(game, b, passes, komi)


@njit(cache=True, nogil=True)
def count_fused_wins(players, alps, boards, games, random_plies, komi):
    """How many of ``games`` the shape player wins as Black and as White, [2].

    ``boards`` are an empty one, one to play on and a spare one.
    """
    wins = np.zeros(2)
    for game in range(games):
        boards[1] = boards[0]
        own = color_of(game)
        black_wins = _play_fused(players[0], alps[0], boards[1:2], boards[2:], own, random_plies, komi)
        wins[game % 2] += black_wins if own == BLACK else 1.0 - black_wins
    return wins


@njit(cache=True, nogil=True)
def count_unfused_wins(shapes, weights, games_played, alps, boards, games, random_plies, komi):
    """The same without fused tables."""
    wins = np.zeros(2)
    for game in range(games):
        boards[1] = boards[0]
        own = color_of(game)
        room = (alps[0], boards[1:2], boards[2:])
        black_wins = _play_unfused(shapes, weights, games_played[0], *room, own, random_plies, komi)
        wins[game % 2] += black_wins if own == BLACK else 1.0 - black_wins
    return wins
