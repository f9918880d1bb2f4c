"""The compiled ladder reader: a depth-first search on a stack of boards.

Iterative, because numba cannot load mutually recursive functions from its cache. Each ply has a board (its position)
and a frame (the moves to try there and the line found); the even plies belong to the side that moves first.
Kernels trust their arguments: the chain at ``stone`` exists, and it is in atari when the defender is to move.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from katachi.go.kernels import kernel
from katachi.go.kernels.board import (
    BOARD,
    LEGAL,
    NEIGHBORS,
    atari_point,
    count_liberties,
    illegality,
    is_atari,
    list_liberties,
    play_stone,
    record_dtype,
)
from katachi.go.points import MAX_POINTS

MAX_PLIES: Final = 200  # a ladder across the 19×19 board takes about 60
MAX_NODES: Final = 4000  # most ladders need fewer than 300

UNDECIDED: Final = 0
CAPTURED: Final = 1
ESCAPED: Final = 2

FRAME: Final = record_dtype(
    [
        ("count", np.uint16),  # moves to try at this ply
        ("next", np.uint16),  # the next of them
        ("length", np.uint16),  # of the line
        ("moves", np.uint16, MAX_POINTS),
        ("line", np.uint16, MAX_PLIES + 1),  # the best play found from here, or the longest resistance
    ]
)


@kernel
def _keep_legal(b, frame, count, color):
    """Keep the legal ones of the first ``count`` moves of a frame; returns how many there are."""
    kept = np.uint16(0)
    for i in range(count):
        if illegality(b, frame.moves[i], color, False) == LEGAL:
            frame.moves[kept] = frame.moves[i]
            kept += np.uint16(1)
    frame.count = kept
    return kept


@kernel
def _expand_attack(b, frame, stone):
    """List the attacker's moves: the two liberties. Decided if there are more, or one."""
    liberties = list_liberties(b, stone, frame.moves)
    if liberties > 2 or _keep_legal(b, frame, liberties, np.int8(-b.stone[stone])) == 0:
        return ESCAPED
    if liberties == 1:
        frame.line[0] = frame.moves[0]
        frame.length = np.uint16(1)
        return CAPTURED
    return UNDECIDED


@kernel
def expand_defense(b, frame, stone):
    """List the defender's moves: extend, or take a chain in atari beside its own. Decided if none is legal."""
    color = b.stone[stone]
    frame.moves[0] = atari_point(b.liberties[b.head[stone]])
    count = 1
    p = stone
    while True:
        for k in range(4):
            q = NEIGHBORS[b.lines, p, k]
            if b.stone[q] == -color and is_atari(b.liberties[b.head[q]]):
                point = atari_point(b.liberties[b.head[q]])
                if not (frame.moves[:count] == point).any():
                    frame.moves[count] = point
                    count += 1
        p = b.link[p]
        if p == stone:
            break
    return CAPTURED if _keep_legal(b, frame, count, color) == 0 else UNDECIDED


@kernel
def _expand(b, frame, stone, attacks):
    frame.next = np.uint16(0)
    frame.count = np.uint16(0)
    frame.length = np.uint16(0)
    return _expand_attack(b, frame, stone) if attacks else expand_defense(b, frame, stone)


@kernel
def _keep_line(frame, below):
    """Make the line of a frame the move that was just tried and what followed."""
    frame.line[0] = frame.moves[frame.next - np.uint16(1)]
    for i in range(below.length):
        frame.line[i + 1] = below.line[i]
    frame.length = below.length + np.uint16(1)


@kernel
def read(boards, frames, stone, attacker_first, most_nodes):
    """Read the ladder on the chain at ``stone`` from ``boards[0]``; UNDECIDED if it is too deep or too wide."""
    color = boards[0].stone[stone]
    ply = np.uint16(0)
    nodes = 1
    verdict = _expand(boards[0], frames[0], stone, attacker_first)
    while True:
        frame = frames[ply]
        attacks = attacker_first == (ply % 2 == 0)
        if verdict == UNDECIDED and frame.next < frame.count:
            if ply == MAX_PLIES or nodes == most_nodes:
                return UNDECIDED
            boards[ply + 1] = boards[ply]
            play_stone(boards[ply + 1], frame.moves[frame.next], np.int8(-color) if attacks else color)
            frame.next += np.uint16(1)
            ply += np.uint16(1)
            nodes += 1
            verdict = _expand(boards[ply], frames[ply], stone, not attacks)
        elif verdict == UNDECIDED:
            verdict = ESCAPED if attacks else CAPTURED  # nothing that was tried did it
        elif ply == 0:
            return verdict
        else:
            ply -= np.uint16(1)
            above = frames[ply]
            succeeds = verdict == (ESCAPED if attacks else CAPTURED)  # for the side to move above, not here
            if succeeds or frame.length >= above.length:
                _keep_line(above, frame)
            if not succeeds:
                verdict = UNDECIDED


@kernel
def captures(position, boards, frames, move, color):
    """Whether a legal move fills one of two liberties of a chain and captures it in a ladder."""
    for k in range(4):
        q = NEIGHBORS[position.lines, move, k]
        if position.stone[q] == -color and count_liberties(position, q) == 2:
            boards[0] = position
            play_stone(boards[0], move, color)
            if read(boards, frames, q, False, MAX_NODES) == CAPTURED:
                return True
    return False


@kernel
def escapes(position, boards, frames, move, color):
    """Whether a legal move saves a chain in atari, so that no ladder catches it."""
    for first in range(position.lines * position.lines):
        p = np.uint16(first)
        if position.stone[p] == color and position.head[p] == p and is_atari(position.liberties[p]):
            boards[0] = position
            play_stone(boards[0], move, color)
            if read(boards, frames, p, True, MAX_NODES) == ESCAPED:
                return True
    return False


@kernel
def new_stack():
    """The boards and the frames on which ladders are read, one more of each than that takes."""
    return np.empty(MAX_PLIES + 2, dtype=BOARD), np.empty(MAX_PLIES + 2, dtype=FRAME)


# What Python calls: record arrays of one board.


@kernel
def read_at(positions, stone, attacker_first, line):
    """Read one ladder; returns the verdict and the length of its line, which is written to ``line``."""
    boards, frames = new_stack()
    boards[0] = positions[0]
    verdict = read(boards, frames, np.uint16(stone), attacker_first, MAX_NODES)
    return verdict, _copy_line(frames, line)


@kernel
def _copy_line(frames, line):
    """Write the line of the first frame; returns its length. The caller keeps the frames: a record alone does not."""
    for i in range(frames[0].length):
        line[i] = frames[0].line[i]
    return int(frames[0].length)


@kernel
def captures_by(positions, move, color):
    boards, frames = new_stack()
    return captures(positions[0], boards, frames, np.uint16(move), color)


@kernel
def escapes_by(positions, move, color):
    boards, frames = new_stack()
    return escapes(positions[0], boards, frames, np.uint16(move), color)


@kernel
def fill_captures(positions, color, out):
    """Set ``out[point]`` for every legal move that captures in a ladder."""
    boards, frames = new_stack()
    b = positions[0]
    for first in range(b.lines * b.lines):
        p = np.uint16(first)
        out[p] = illegality(b, p, color, False) == LEGAL and captures(b, boards, frames, p, color)
