"""The moves that ladders turn on: those that catch a chain in one, that get out of one, and that run in vain.

Most readings are spared: a chain that has three liberties after its first extension has got away.
Kernels trust their arguments: ``chains`` holds the liberties of the board ``b``, ``boards`` and ``frames`` are those of
``go._ladders.new_stack``, and what they mark, [n²], is 0.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from katachi.features.kernels.lookahead import count_joined, join_chains, remove_liberty
from katachi.go.kernels import kernel
from katachi.go.kernels.board import LEGAL, atari_point, captures, illegality, list_liberties, play_stone
from katachi.go.kernels.ladders import CAPTURED, ESCAPED, expand_defense, read

MOST_NODES: Final = 1000  # of a reading


@kernel
def _read_after(b, boards, frames, move, color, stone):
    """What becomes of the chain at ``stone`` after a move; the first frame is the caller's."""
    boards[0] = b
    play_stone(boards[0], move, color)
    return read(boards, frames[1:], stone, b.stone[stone] == color, MOST_NODES)


@kernel
def _catches(b, chains, boards, frames, move, other, stone):
    """Whether an attack on a chain with two liberties, at one of them, catches it; it runs to the other."""
    attacker = -b.stone[stone]
    if illegality(b, move, attacker, False) != LEGAL:
        return False
    if not captures(b, move, attacker):
        join_chains(b, chains, other, b.stone[stone])
        remove_liberty(chains, move)
        if count_joined(chains) > 2:
            return False
    return _read_after(b, boards, frames, move, attacker, stone) == CAPTURED


@kernel
def mark_catches(b, chains, boards, frames, attacker, caught):
    """Mark the moves of a color that catch a chain of two liberties in a ladder."""
    moves = frames[0].moves
    for p in range(np.uint16(b.lines * b.lines)):
        if b.stone[p] == -attacker and b.head[p] == p and chains.counts[p] == 2:
            list_liberties(b, p, moves)
            for move, other in ((moves[0], moves[1]), (moves[1], moves[0])):
                if caught[move] == 0 and _catches(b, chains, boards, frames, move, other, p):
                    caught[move] = 1


@kernel
def _outcome(b, chains, boards, frames, move, stone):
    """What becomes of the chain in atari at ``stone`` after an extension, or after the capture of an attacker."""
    color = b.stone[stone]
    if not captures(b, move, color):
        join_chains(b, chains, move, color)
        liberties = count_joined(chains)
        if liberties != 2:
            return ESCAPED if liberties > 2 else CAPTURED
    return _read_after(b, boards, frames, move, color, stone)


@kernel
def mark_flights(b, chains, boards, frames, saved, lost):
    """Mark the moves of the player to move that save a chain in atari from ladders, and extensions that do not."""
    tries = frames[0]
    for p in range(np.uint16(b.lines * b.lines)):
        if b.stone[p] == b.to_play and b.head[p] == p and chains.counts[p] == 1:
            expand_defense(b, tries, p)
            for i in range(tries.count):
                move = tries.moves[i]
                outcome = _outcome(b, chains, boards, frames, move, p)
                if outcome == ESCAPED:
                    saved[move] = 1
                elif outcome == CAPTURED and move == atari_point(b.liberties[p]):
                    lost[move] = 1
