"""The informed playout: a game to its end by the policy of ``search/kernels/playouts.py``, and what its replies
teach.

With everything off a playout is one of ``go/kernels/playouts.py``.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from katachi.go.kernels.board import OFF, play_pass, play_stone
from katachi.go.kernels.playouts import PLIES_PER_POINT, count_area
from katachi.go.kernels.playouts import play_out as play_uniformly
from katachi.go.points import BLACK
from katachi.search.kernels._playout_record import PLAYOUT
from katachi.search.kernels._shape_policy import change_entries, fill_entries
from katachi.search.kernels.patterns import change_views, fill_views
from katachi.search.kernels.playouts import choose_move

__all__ = ["PLAYOUT", "add_informed_playouts", "learn_replies", "play_out"]


@njit(cache=True, nogil=True)
def _play(b, playout, move, color):
    """Play a stone, and keep the views and windows up to date."""
    before = b.empty_count - np.uint16(1)
    play_stone(b, move, color)
    change_views(b.lines, playout, move, color)
    for i in range(before, b.empty_count):  # what was taken stands at the end of the list
        change_views(b.lines, playout, b.empties[i], -color)
    if playout.shapes:
        change_entries(playout, move, color, np.int32(1))
        for i in range(before, b.empty_count):
            change_entries(playout, b.empties[i], -color, np.int32(-1))


@njit(cache=True, nogil=True)
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
        color = -color
    playout.random = state
    playout.plies = np.uint32(ply)


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
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
