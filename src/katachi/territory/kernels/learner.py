"""The compiled part of ``territory/learner.py``: positions of games, who will own their points, and what is next."""

from __future__ import annotations

import numpy as np

from katachi.go.kernels import kernel
from katachi.go.kernels.board import LEGAL, illegality, play_pass, play_stone
from katachi.go.kernels.replay import PASS_CODE, POINT_MASK, WHITE_BIT, color_of, set_up


@kernel
def _play(b, codes, turned):
    """Play moves; returns whether all of them are legal: what comes from a file is not trusted."""
    points = np.int64(b.lines) * np.int64(b.lines)
    for code in codes:
        p = code & POINT_MASK
        color = color_of(code)
        if p == PASS_CODE:
            play_pass(b, color)
        elif p < points and illegality(b, turned[p], color, False) == LEGAL:
            play_stone(b, turned[p], color)
        else:
            return False
    return True


@kernel
def fill_examples(boards, later, rows, moves, stones, labels, draw, tables, target, examples):
    """Make of ``boards``, which are empty, the positions that were drawn, and write what is to be learned of them.

    ``rows`` and ``labels`` are those of the games drawn; ``tables[draw.turns[i]]`` turns one, and where it is
    ``exchanged`` its colors change places. ``later`` is room for a board. Returns how many could be made before a game
    that cannot be played.
    """
    for i in range(rows.size):
        g = rows[i]
        turned = tables[draw.turns[i]]
        sign = np.int8(-1 if draw.exchanged[i] else 1)
        other = np.uint16(WHITE_BIT if draw.exchanged[i] else 0)
        first = np.int64(g.first_stone)
        if not set_up(boards[i], stones[first : first + g.stones] ^ other, turned, np.int8(sign * g.to_play)):
            return i
        first = np.int64(g.first_move)
        codes = moves[first : first + g.moves] ^ other
        ply = draw.plies[i]
        if not _play(boards[i], codes[:ply], turned):
            return i
        later[0] = boards[i]
        ends = ply + target.ahead >= codes.size
        if not ends and not _play(later[0], codes[ply : ply + target.ahead], turned):
            return i
        points = np.int64(g.lines) * np.int64(g.lines)
        for p in range(points):
            q = turned[p]
            owner = sign * labels[i, p]
            soon = owner if ends else later[0].stone[q]
            examples.owned[i, q] = owner
            examples.targets[i, q] = (1 - target.share) * (owner + 1) / 2 + target.share * (soon + 1) / 2
        examples.played[i] = -1
        if ply < codes.size and codes[ply] & POINT_MASK != PASS_CODE:
            color = points if codes[ply] & WHITE_BIT else 0
            examples.played[i] = np.int64(turned[codes[ply] & POINT_MASK]) + color
    return rows.size
