"""3×3 patterns: what surrounds an empty point, and which of the chains that touch it are in atari.

Seen by the player to move, so that colors need no patterns of their own; patterns that a turn or a mirror makes equal
are one *class*. The codes are those of ``search/kernels/patterns.py``; 7,455 classes cover the middle, the edge and
the corner.

>>> int(number_patterns().max()) + 1
7455
"""

from __future__ import annotations

from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from katachi.go.points import Symmetry
from katachi.search.kernels.patterns import PATTERN_CODES

NO_CLASS: Final = -1  # of codes that no board shows
_OFF: Final = 3
_TOUCHING: Final = 4

_CELLS: Final = (1, 3, 5, 7, 0, 2, 6, 8)  # the eight neighbors in their order, as points of a 3×3 board


@cache
def number_patterns() -> NDArray[np.int32]:
    """The class of every code, [2²⁰]: counted from 0 in the order of the least code of each; NO_CLASS for others."""
    codes = np.arange(PATTERN_CODES, dtype=np.int32)
    codes = codes[_is_possible(codes)]
    least = np.min([_transform(codes, order) for order in _symmetries()], axis=0)
    classes = np.full(PATTERN_CODES, NO_CLASS, dtype=np.int32)
    _, classes[codes] = np.unique(least, return_inverse=True)
    return classes


def count_patterns() -> int:
    """How many classes there are."""
    return int(number_patterns().max()) + 1


def _digits(codes: NDArray[np.int32]) -> NDArray[np.int32]:
    """[8, codes]"""
    return np.stack([codes >> 2 * k & 3 for k in range(8)])


def _is_possible(codes: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Whether what is outside is so by a straight edge or a corner, and only stones are in atari."""
    outside = _digits(codes) == _OFF
    up, left, right, down = outside[:_TOUCHING]
    edges = [up | left, up | right, down | left, down | right]
    possible: NDArray[np.bool_] = ~(up & down) & ~(left & right)
    for diagonal, edge in zip(outside[_TOUCHING:], edges, strict=True):
        possible &= diagonal == edge
    for k, digit in enumerate(_digits(codes)[:_TOUCHING]):
        possible &= (codes >> 16 + k & 1 == 0) | (digit == 1) | (digit == 2)
    return possible


def _symmetries() -> list[list[int]]:
    """For each of the eight, which neighbor comes to the place of each."""
    tables = [symmetry.points(3).tolist() for symmetry in Symmetry]
    return [[_CELLS.index(table[cell]) for cell in _CELLS] for table in tables]


def _transform(codes: NDArray[np.int32], order: list[int]) -> NDArray[np.int32]:
    result = np.zeros_like(codes)
    for place, source in enumerate(order):
        result |= (codes >> 2 * source & 3) << 2 * place
        if place < _TOUCHING:
            result |= (codes >> 16 + source & 1) << 16 + place
    return result
