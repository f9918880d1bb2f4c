"""The compiled part of ``search/patterns.py``: the 3×3 pattern around an empty point as a number of 20 bits.

Two bits for each of the eight neighbors, first the four that touch the point, then the diagonal ones, in the order of
the tables in ``go/kernels/board.py``: 0 empty, 1 the viewer's stone, 2 the opponent's, 3 outside. Then a bit for each
of the four that touch it: its chain is in atari. ``view`` keeps the first sixteen bits as Black sees them for all
points.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from katachi.go.kernels import kernel
from katachi.go.kernels.board import DIAGONALS, NEIGHBORS, OFF_COLOR, is_atari
from katachi.go.points import BLACK, EMPTY

COLOR_BITS: Final = np.uint32(16)
PATTERN_CODES: Final = 1 << 20
_BLACK_BITS: Final = np.uint32(0x5555)
_TOUCHING_BITS: Final = np.uint16(0x55)
_DIAGONAL_BITS: Final = np.uint16(8)


@kernel
def _digit(stone):
    if stone == EMPTY:
        return np.uint16(0)
    if stone == OFF_COLOR:
        return np.uint16(3)
    return np.uint16(1) if stone == BLACK else np.uint16(2)


@kernel
def fill_views(b, record):
    """Set ``view`` of all points of a board."""
    near, corners = NEIGHBORS[b.lines], DIAGONALS[b.lines]
    for p in range(np.uint16(b.lines * b.lines)):
        code = np.uint16(0)
        for k in range(np.uint16(4)):
            shift = np.uint16(2) * k
            code |= _digit(b.stone[near[p, k]]) << shift
            code |= _digit(b.stone[corners[p, k]]) << (shift + _DIAGONAL_BITS)
        record.seen[p] = code


@kernel
def change_views(lines, record, p, color):
    """Tell the eight neighbors that a stone of a color has come to ``p``, or gone; ``view[OFF]`` takes what is lost."""
    digit = np.uint16(1) if color == BLACK else np.uint16(2)
    near, corners = NEIGHBORS[lines], DIAGONALS[lines]
    for k in range(np.uint16(4)):
        shift = np.uint16(6) - np.uint16(2) * k  # I am my neighbor's opposite neighbor
        record.seen[near[p, k]] ^= digit << shift
        record.seen[corners[p, k]] ^= digit << (shift + _DIAGONAL_BITS)


@kernel
def _empty_bits(view):
    """The lower one of each two bits if they are 0."""
    return ~(view | (view >> np.uint16(1))) & np.uint16(_BLACK_BITS)


@kernel
def touching_empty(view):
    """A bit for each empty one of the four points that touch a point."""
    return _empty_bits(view) & _TOUCHING_BITS


@kernel
def touching_stones(view, color):
    """A bit for each stone of a color among the four points that touch a point."""
    high = view >> np.uint16(1)
    return (view & ~high if color == BLACK else high & ~view) & _TOUCHING_BITS


@kernel
def count_empty(view):
    """How many of the eight neighbors are empty."""
    pairs = _empty_bits(view)
    pairs = (pairs & np.uint16(0x3333)) + ((pairs >> np.uint16(2)) & np.uint16(0x3333))
    pairs = (pairs + (pairs >> np.uint16(4))) & np.uint16(0x0F0F)
    return (pairs + (pairs >> np.uint16(8))) & np.uint16(0x1F)


@kernel
def pattern_code(b, record, p, color):
    """The pattern around an empty point as ``color`` sees it, with the chains in atari."""
    code = np.uint32(record.seen[p])
    if color != BLACK:
        code = ((code & _BLACK_BITS) << np.uint32(1)) | ((code >> np.uint32(1)) & _BLACK_BITS)
    for k in range(np.uint32(4)):
        q = NEIGHBORS[b.lines, p, k]
        s = b.stone[q]
        if s != EMPTY and s != OFF_COLOR and is_atari(b.liberties[b.head[q]]):
            code |= np.uint32(1) << (COLOR_BITS + k)
    return code
