"""Which local shapes share a weight: those that symmetry makes equal are all numbered like the least of them.

The *code* of a shape is a number in base 3, cell by cell in the frame of its window: 0 empty, 1 the mover's stone, 2
the enemy's; the first cell counts 1, the next 3. The weights of a set are numbered class by class, a *class* being a
place as far from the corner (``y · across + x``), and within it by code. Larger shapes have Zobrist keys instead.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from katachi.go.points import MAX_SIZE
from katachi.shapes.sets import ShapeSet, rectangle_orders

_KEY_SEED: Final = 2007  # fixed, so that bins mean the same in every process and on every disk


def share_weights(
    board_size: int, tables: Iterable[tuple[ShapeSet, int]], count: int, *, states: int = 3, tied: bool = False
) -> tuple[NDArray[np.uint32], NDArray[np.int8]]:
    """The weight in use for each of ``count`` weights, and its sign. ``tables`` are sets and their first weights."""
    canonical = np.arange(count, dtype=np.uint32)
    signs = np.ones(count, dtype=np.int8)
    for shape_set, start in tables:
        entries = _share(shape_set, board_size, states)
        rows = slice(start, start + entries.size)
        if tied:
            entries, signs[rows] = _tie(shape_set, entries)
        canonical[rows] = start + entries
    canonical.setflags(write=False)
    signs.setflags(write=False)
    return canonical, signs


@cache
def _digits(area: int, states: int) -> NDArray[np.int64]:
    """The digits of every code, [states^area, area]."""
    return np.arange(states**area)[:, None] // states ** np.arange(area) % states


def _reordered(order: NDArray[np.int64], states: int) -> NDArray[np.int64]:
    """For every code the one whose cells are read in another order, [states^area]."""
    codes: NDArray[np.int64] = _digits(order.size, states)[:, order] @ states ** np.arange(order.size)
    return codes


@cache
def canonical_codes(width: int, height: int, mask: int, states: int = 3) -> NDArray[np.int64]:
    """For every code the least that some symmetry in ``mask`` makes of it, [states^area]."""
    orders = rectangle_orders(width, height)
    images = [_reordered(order, states) for g, order in enumerate(orders) if mask >> g & 1]
    least: NDArray[np.int64] = np.minimum.reduce(images)
    return least


@cache
def inverse_codes(area: int) -> NDArray[np.int64]:
    """For every code in base 3 the one with the colors inverted, [3^area]."""
    inverse: NDArray[np.int64] = -_digits(area, 3) % 3 @ 3 ** np.arange(area)
    return inverse


def _share(shape_set: ShapeSet, board_size: int, states: int) -> NDArray[np.int64]:
    """The entry in use for every entry of a table set, [classes · states^area], counted from the set's first."""
    across, down = shape_set.offsets(board_size) if shape_set.is_dependent else (1, 1)
    codes = states**shape_set.area
    entries = np.empty((down, across, codes), dtype=np.int64)
    for y, x in np.ndindex(down, across):
        folded = shape_set.is_square and y > x  # at the diagonal
        row, column = (x, y) if folded else (y, x)
        mask = shape_set.symmetry_mask(board_size, column, row)
        least = canonical_codes(shape_set.width, shape_set.height, mask, states)
        if folded:
            least = least[_reordered(rectangle_orders(shape_set.width, shape_set.height)[4], states)]
        entries[y, x] = (row * across + column) * codes + least
    return entries.ravel()


def _tie(shape_set: ShapeSet, entries: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int8]]:
    """Let a shape and its inverse share the lesser entry; the sign says which is which."""
    by_class = entries.reshape(-1, 3**shape_set.area)
    inverse = by_class[:, inverse_codes(shape_set.area)].ravel()
    return np.minimum(entries, inverse), np.sign(inverse - entries).astype(np.int8)


# Keys


@cache
def key_words(width: int, height: int) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """The Zobrist words of a size: by cell and stone (mover's, enemy's), [area, 2], and by place, [y, x].

    They depend on neither the board's size nor the other sets, so that bins survive the growing of a board.
    """
    rng = np.random.Generator(np.random.PCG64([_KEY_SEED, width, height]))
    cells = rng.integers(1 << 64, size=(width * height, 2), dtype=np.uint64)
    return cells, rng.integers(1 << 64, size=(MAX_SIZE, MAX_SIZE), dtype=np.uint64)
