"""Fused tables: all shapes up to 3×3 as one table for each kind of 3×3 window.

The value of a board is a sum over its shapes. A shape that lies in several windows gives each an equal share of its
weight, so that the sum over the 3×3 windows alone is the value of the board. Sharing goes by levels, which makes it
cheap: 1×1, 2×1 and 2×2 shapes go into 2×2 windows, these and the 3×2 shapes into 3×2 windows, these and the 3×3
shapes into 3×3 windows. Windows that a symmetry of the board makes equal are one *class* and share a table.

Fused values are whole numbers of 1/``UNIT``: sums are exact in any order, so that equal moves stay exactly equal.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

UNIT: Final = 1 << 20
CODES: Final = 3**9  # of a 3×3 window
MAX_CLASSES: Final = 45  # of 3×3 windows, on 19×19
_LARGEST: Final = 60.0 * UNIT  # weights that diverge must not make the change of nine windows wrap around


class Level(NamedTuple):
    """How the tables of one size of window are made: from those of the level below, and from weights.

    ``child`` and ``weight`` are entries by class, part and code.
    """

    child: NDArray[np.uint32]  # [classes, children, codes]
    child_share: NDArray[np.float64]  # [classes, children]
    weight: NDArray[np.uint32]  # [classes, shapes, codes]
    weight_share: NDArray[np.float64]  # [classes, shapes]
    table: NDArray[np.float64]  # [classes · codes], room for the values


@njit(cache=True, nogil=True)
def _fuse_level(weights, below, level):
    """Fill ``level.table`` with the values of its windows; ``below`` is the table of the level below."""
    classes, children, codes = level.child.shape
    for c in range(classes):
        row = level.table[c * codes : (c + 1) * codes]
        row[:] = 0.0
        for i in range(children):
            share = level.child_share[c, i]
            entry = level.child[c, i]
            for code in range(codes):
                row[code] += share * below[entry[code]]
        for i in range(level.weight.shape[1]):
            share = level.weight_share[c, i]
            entry = level.weight[c, i]
            for code in range(codes):
                row[code] += share * weights[entry[code]]


@njit(cache=True, nogil=True)
def fuse(weights, small, middle, large, fused):
    """Write the 3×3 tables of these weights, [classes · CODES], to ``fused``."""
    _fuse_level(weights, small.table, small)  # the smallest windows have no level below
    _fuse_level(weights, small.table, middle)
    _fuse_level(weights, middle.table, large)
    for i in range(large.table.size):
        fused[i] = np.int32(np.rint(min(max(large.table[i] * UNIT, -_LARGEST), _LARGEST)))
