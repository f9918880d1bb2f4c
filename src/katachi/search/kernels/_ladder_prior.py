"""Ladders in a prior: moves that catch a chain in one are stronger, moves that run in vain are weaker.

Playouts do not see ladders, and a tree needs some visits for each of their plies; a reading tells at once how they
end. It is bounded, and where it is given up the prior stays as it is.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numba import njit

from katachi.go.kernels.board import COUNT_MASK, atari_point, is_atari, list_liberties, play_stone
from katachi.go.kernels.ladders import CAPTURED, read
from katachi.go.points import EMPTY

CATCHES: Final = np.float32(6)  # times as strong
RUNS_IN_VAIN: Final = np.float32(0.1)

_MOST_NODES: Final = 200
_MOST_CONTACTS: Final = 8  # of a chain with two liberties


@njit(cache=True, nogil=True)
def _is_caught_after(b, boards, frames, move, stone):
    """Whether a legal move of the player to move leaves the chain at ``stone``, of either color, caught in a ladder."""
    boards[0] = b
    play_stone(boards[0], move, b.to_play)
    return read(boards, frames, stone, b.stone[stone] == b.to_play, _MOST_NODES) == CAPTURED


@njit(cache=True, nogil=True)
def _weigh_attack(b, boards, frames, stone, strengths):
    """Strengthen the moves that catch an enemy chain of two liberties."""
    if list_liberties(b, stone, frames[0].moves) != 2:
        return
    first, second = frames[0].moves[0], frames[0].moves[1]  # a reading writes over them
    for move in (first, second):
        if strengths[move] > 0 and _is_caught_after(b, boards, frames, move, stone):
            strengths[move] *= CATCHES


@njit(cache=True, nogil=True)
def _weigh_flight(b, boards, frames, stone, strengths):
    """Weaken the extension of an own chain in atari that is caught all the same."""
    move = atari_point(b.liberties[stone])
    if strengths[move] > 0 and _is_caught_after(b, boards, frames, move, stone):
        strengths[move] *= RUNS_IN_VAIN


@njit(cache=True, nogil=True)
def weigh_ladders(b, boards, frames, strengths):
    """Weigh the moves of the player to move, [n²], by all ladders; a strength of 0 marks what is no move.

    ``boards`` and ``frames`` are those of ``go._ladders.new_stack``.
    """
    for i in range(b.lines * b.lines):
        p = np.uint16(i)
        if b.stone[p] == EMPTY or b.head[p] != p:
            continue
        if is_atari(b.liberties[p]):
            if b.stone[p] == b.to_play:
                _weigh_flight(b, boards, frames, p, strengths)
        elif b.stone[p] != b.to_play and (b.liberties[p] & COUNT_MASK) <= _MOST_CONTACTS:
            _weigh_attack(b, boards, frames, p, strengths)
