"""Chosen positions of recorded games: each is replayed from the start of its game, and their order can be random."""

from __future__ import annotations

from typing import Final

import numpy as np

from katachi.go.kernels import kernel
from katachi.go.kernels.board import LEGAL, OFF, illegality, play_pass, play_stone
from katachi.go.points import BLACK, WHITE

PASS_CODE: Final = int(OFF)
POINT_MASK: Final = (1 << 9) - 1
WHITE_BIT: Final = 1 << 9


@kernel
def color_of(code):
    return np.int8(WHITE) if code & WHITE_BIT else np.int8(BLACK)


@kernel
def set_up(b, codes, turned, to_play):
    """Put the stones up that stand before the first move; returns whether they can stand."""
    points = np.int64(b.empty_count)
    for code in codes:
        p = code & POINT_MASK
        if p >= points or illegality(b, turned[p], color_of(code), False) != LEGAL:
            return False
        play_stone(b, turned[p], color_of(code))
    b.ko = OFF
    b.recent[:] = OFF
    b.to_play = to_play
    return np.int64(b.empty_count) + codes.size == points


@kernel
def _replay(b, codes, plays, turned):
    """Play until so many moves other than passes have been made and another is next; returns its ply.

    Returns −1 if there is no such move, or one on the way is illegal: what comes from a file is not trusted.
    """
    points = np.int64(b.lines) * np.int64(b.lines)
    played = 0
    for ply in range(codes.size):
        p = codes[ply] & POINT_MASK
        color = color_of(codes[ply])
        if p == PASS_CODE:
            play_pass(b, color)
            continue
        if p >= points or illegality(b, turned[p], color, False) != LEGAL:
            return -1
        if played == plays:
            if color != b.to_play:
                b.to_play = color
                b.ko = OFF  # it binds whoever lost the stone, at once or not at all
            return ply
        play_stone(b, turned[p], color)
        played += 1
    return -1


@kernel
def _reply(codes, ply, turned):
    if ply + 1 >= codes.size or (codes[ply] ^ codes[ply + 1]) & WHITE_BIT == 0:
        return np.int64(-1)
    point = codes[ply + 1] & POINT_MASK
    return np.int64(-1) if point == PASS_CODE else np.int64(turned[point])


@kernel
def fill_positions(boards, games, moves, stones, plays, symmetries, tables, targets, replies, plies):
    """Make of ``boards``, which are empty, the positions before chosen moves, and write these moves and their plies.

    A reply is the point of the move that followed, −1 if the opponent made none or passed.

    ``plays[i]`` counts the moves of ``games[i]`` without passes; ``tables[symmetries[i]]`` turns the whole game.
    A move's code is written with its point turned. Returns how many could be made before one that cannot be.
    """
    for i in range(games.size):
        g = games[i]
        turned = tables[symmetries[i]]
        first = np.int64(g.first_stone)
        if not set_up(boards[i], stones[first : first + g.stones], turned, g.to_play):
            return i
        first = np.int64(g.first_move)
        codes = moves[first : first + g.moves]
        ply = _replay(boards[i], codes, plays[i], turned)
        if ply < 0:
            return i
        targets[i] = turned[codes[ply] & POINT_MASK] | (codes[ply] & WHITE_BIT)
        replies[i] = _reply(codes, ply, turned)
        plies[i] = ply
    return games.size


# A random order that is computed: a Feistel network over the numbers below a power of four.

_FIRST: Final = np.uint64(0xBF58476D1CE4E5B9)  # the mixing constants of splitmix64
_SECOND: Final = np.uint64(0x94D049BB133111EB)


@kernel
def _mix(word):
    word = (word ^ (word >> np.uint64(30))) * _FIRST
    word = (word ^ (word >> np.uint64(27))) * _SECOND
    return word ^ (word >> np.uint64(31))


@kernel
def permute(numbers, length, half, keys):
    """Replace numbers below ``length``, which has at most twice ``half`` bits, by where they go."""
    mask = (np.uint64(1) << half) - np.uint64(1)
    for i in range(numbers.size):
        number = numbers[i]
        while True:
            left, right = number >> half, number & mask
            for key in keys:
                left, right = right, left ^ (_mix(right ^ key) & mask)
            number = (left << half) | right
            if number < length:  # one that landed outside is permuted again until it is inside: still a permutation
                break
        numbers[i] = number
