"""Small questions about a move before it is made: what it takes, what it saves, how many liberties it leaves."""

from __future__ import annotations

import numpy as np
from numba import njit

from katachi.go.kernels.board import LEGAL, NEIGHBORS, OFF, atari_point, illegality, is_atari, liberty_word
from katachi.go.points import EMPTY


@njit(cache=True, nogil=True)
def captures(b, p, color):
    """Whether a stone on an empty point would take something."""
    for k in range(4):
        q = NEIGHBORS[b.lines, p, k]
        if b.stone[q] == -color and is_atari(b.liberties[b.head[q]]):
            return True
    return False


@njit(cache=True, nogil=True)
def liberties_after(b, p, color):
    """The liberty word and the stones of the chain that a stone at ``p`` would make if it captured nothing."""
    word = np.uint64(0)
    stones = 1
    near = NEIGHBORS[b.lines, p]
    for k in range(4):
        s = b.stone[near[k]]
        if s == EMPTY:
            word += liberty_word(near[k])
        elif s == color:
            word -= liberty_word(p)
            head = b.head[near[k]]
            seen = False
            for j in range(k):
                seen |= b.stone[near[j]] == color and b.head[near[j]] == head
            if not seen:
                word += b.liberties[head]
                stones += b.stones[head]
    return word, stones


@njit(cache=True, nogil=True)
def rescue(b, stone, color):
    """A move that gets the chain at ``stone`` out of atari, or OFF: take an attacker, or extend to two liberties."""
    p = stone
    while True:
        for k in range(4):
            q = NEIGHBORS[b.lines, p, k]
            if b.stone[q] == -color and is_atari(b.liberties[b.head[q]]):
                point = atari_point(b.liberties[b.head[q]])
                if illegality(b, point, color, False) == LEGAL:
                    return point
        p = b.link[p]
        if p == stone:
            break
    point = atari_point(b.liberties[b.head[stone]])
    word, _ = liberties_after(b, point, color)
    return OFF if is_atari(word) else point


@njit(cache=True, nogil=True)
def self_atari_stones(b, p, color):
    """How many stones a move that takes nothing would put in atari with itself; 0 if it leaves two liberties."""
    empties = 0
    for k in range(4):
        q = NEIGHBORS[b.lines, p, k]
        empties += b.stone[q] == EMPTY
    if empties > 1 or captures(b, p, color):
        return 0
    word, stones = liberties_after(b, p, color)
    return stones if is_atari(word) else 0
