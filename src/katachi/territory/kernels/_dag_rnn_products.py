"""Products of four rows with a matrix, sums of outer products and units, for the kernels of
``territory/kernels/network.py``.

All arrays are flat and of float32; matrices are [length, columns] from ``first`` on, their columns a multiple of
eight. Blocks of 4 × 16 sums stay in registers.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from katachi.features.kernels.simd import load, spread_from, store

BLOCK = 4  # rows of a product, and rows of a sum of outer products that are made at once
_WIDE = 16
_ONE = np.float32(1)
_HALF = np.float32(0.5)
_EIGHTH = np.float32(0.125)
_MOST = np.float32(18)  # beyond it the logistic function is 0 or 1 in float32


@njit(cache=True, nogil=True)
def add_products(x, x0, x1, x2, x3, length, weights, first, columns, out, o0, o1, o2, o3):
    """Add to four rows of ``out`` the products of four rows of ``x`` with a matrix.

    Rows are given by where they begin. Columns are taken sixteen at a time, and the last eight alone.
    """
    c = 0
    while c + _WIDE <= columns:
        a0, b0 = load(out, o0 + c), load(out, o0 + c + 8)
        a1, b1 = load(out, o1 + c), load(out, o1 + c + 8)
        a2, b2 = load(out, o2 + c), load(out, o2 + c + 8)
        a3, b3 = load(out, o3 + c), load(out, o3 + c + 8)
        at = first + c
        for k in range(length):
            u, v = load(weights, at), load(weights, at + 8)
            s = spread_from(x, x0 + k)
            a0, b0 = a0 + s * u, b0 + s * v
            s = spread_from(x, x1 + k)
            a1, b1 = a1 + s * u, b1 + s * v
            s = spread_from(x, x2 + k)
            a2, b2 = a2 + s * u, b2 + s * v
            s = spread_from(x, x3 + k)
            a3, b3 = a3 + s * u, b3 + s * v
            at += columns
        store(out, o0 + c, a0)
        store(out, o0 + c + 8, b0)
        store(out, o1 + c, a1)
        store(out, o1 + c + 8, b1)
        store(out, o2 + c, a2)
        store(out, o2 + c + 8, b2)
        store(out, o3 + c, a3)
        store(out, o3 + c + 8, b3)
        c += _WIDE
    if c < columns:
        a0, a1, a2, a3 = load(out, o0 + c), load(out, o1 + c), load(out, o2 + c), load(out, o3 + c)
        at = first + c
        for k in range(length):
            u = load(weights, at)
            a0 = a0 + spread_from(x, x0 + k) * u
            a1 = a1 + spread_from(x, x1 + k) * u
            a2 = a2 + spread_from(x, x2 + k) * u
            a3 = a3 + spread_from(x, x3 + k) * u
            at += columns
        store(out, o0 + c, a0)
        store(out, o1 + c, a1)
        store(out, o2 + c, a2)
        store(out, o3 + c, a3)


@njit(cache=True, nogil=True)
def add_outer(x, x_rows, x_width, x_shift, length, d, d_rows, d_shift, columns, gradient, first):
    """Add to a matrix of ``gradient`` the sum over pairs of rows of their outer products.

    Row r of the pair begins at ``x_rows[r] * x_width + x_shift`` and ``d_rows[r] * columns + d_shift``; ``length``
    is a multiple of four.
    """
    for k in range(0, length, BLOCK):
        c = 0
        while c < columns:
            at = first + k * columns + c
            wide = c + _WIDE <= columns
            next_eight = 8 if wide else 0  # otherwise the second half does the same again, and is not kept
            a0, a1 = load(gradient, at), load(gradient, at + columns)
            a2, a3 = load(gradient, at + 2 * columns), load(gradient, at + 3 * columns)
            b0, b1 = load(gradient, at + next_eight), load(gradient, at + columns + next_eight)
            b2, b3 = load(gradient, at + 2 * columns + next_eight), load(gradient, at + 3 * columns + next_eight)
            for r in range(x_rows.size):
                i = x_rows[r] * x_width + x_shift + k
                j = d_rows[r] * columns + d_shift + c
                u, v = load(d, j), load(d, j + next_eight)
                s = spread_from(x, i)
                a0, b0 = a0 + s * u, b0 + s * v
                s = spread_from(x, i + 1)
                a1, b1 = a1 + s * u, b1 + s * v
                s = spread_from(x, i + 2)
                a2, b2 = a2 + s * u, b2 + s * v
                s = spread_from(x, i + 3)
                a3, b3 = a3 + s * u, b3 + s * v
            store(gradient, at + next_eight, b0)
            store(gradient, at + columns + next_eight, b1)
            store(gradient, at + 2 * columns + next_eight, b2)
            store(gradient, at + 3 * columns + next_eight, b3)
            store(gradient, at, a0)
            store(gradient, at + columns, a1)
            store(gradient, at + 2 * columns, a2)
            store(gradient, at + 3 * columns, a3)
            c += _WIDE if wide else 8


@njit(cache=True, nogil=True)
def add_rows(d, rows, columns, gradient, first):
    """Add rows to the row of ``gradient`` that begins at ``first``."""
    for c in range(0, columns, 8):
        total = load(gradient, first + c)
        for r in rows:
            total = total + load(d, r * columns + c)
        store(gradient, first + c, total)


@njit(cache=True, nogil=True, fastmath=True)
def make_logistic(x, first, count):
    """Put the logistic function of numbers in their place, to the accuracy of float32.

    Lambert's continued fraction gives tanh(x/8) as a quotient N/D, and tanh(2y) = 2 tanh y / (1 + tanh² y) twice makes
    tanh(x/2) of it; only then there is a division. No branches, no bits: a compiler makes vectors of it.
    """
    part = x[first : first + count]  # from 0 on, lest every index is asked whether it is negative
    for i in range(part.size):
        y = _EIGHTH * min(max(part[i], -_MOST), _MOST)
        q = y * y
        n = y * (np.float32(135135) + q * (np.float32(17325) + q * (np.float32(378) + q)))
        d = np.float32(135135) + q * (np.float32(62370) + q * (np.float32(3150) + q * np.float32(28)))
        n, d = np.float32(2) * n * d, n * n + d * d
        s = n + d
        part[i] = _HALF * s * s / (n * n + d * d)


@njit(cache=True, nogil=True, fastmath=True)
def make_rectified(x, first, count):
    """Put 0 in the place of negative numbers."""
    part = x[first : first + count]
    for i in range(part.size):
        part[i] = max(part[i], np.float32(0))


@njit(cache=True, nogil=True, fastmath=True)
def times_logistic_slope(d, at, y, first, count):
    """Multiply numbers by the slope of the logistic function where it is y."""
    slopes, values = d[at : at + count], y[first : first + count]
    for i in range(slopes.size):
        slopes[i] *= values[i] * (_ONE - values[i])


@njit(cache=True, nogil=True, fastmath=True)
def times_rectified_slope(d, at, y, first, count):
    """Multiply numbers by the slope of a rectified unit that is y."""
    slopes, values = d[at : at + count], y[first : first + count]
    for i in range(slopes.size):
        slopes[i] = slopes[i] if values[i] > 0 else np.float32(0)


@njit(cache=True, nogil=True, fastmath=True)
def dot(x, at, y, first, count):
    """The scalar product of two rows."""
    left, right = x[at : at + count], y[first : first + count]
    total = np.float32(0)
    for i in range(left.size):
        total += left[i] * right[i]
    return total


@njit(cache=True, nogil=True)
def copy(x, at, out, to, count):
    """Copy a row, a multiple of eight long."""
    for c in range(0, count, 8):
        store(out, to + c, load(x, at + c))


@njit(cache=True, nogil=True)
def add(x, at, out, to, count):
    """Add a row, a multiple of eight long, to another."""
    for c in range(0, count, 8):
        store(out, to + c, load(out, to + c) + load(x, at + c))


@njit(cache=True, nogil=True)
def transform(x, x0, x1, x2, x3, out, o0, o1, o2, o3, count, factor):
    """From four rows by flips to four rows by characters, or back: the same sums, times a factor."""
    for c in range(0, count, 8):
        a, b, d, e = load(x, x0 + c), load(x, x1 + c), load(x, x2 + c), load(x, x3 + c)
        store(out, o0 + c, factor * ((a + b) + (d + e)))
        store(out, o1 + c, factor * ((a - b) + (d - e)))
        store(out, o2 + c, factor * ((a + b) - (d + e)))
        store(out, o3 + c, factor * ((a - b) - (d - e)))


@njit(cache=True, nogil=True)
def mix(out, to, source, come_from, shares):
    """Add shares of numbers to others: ``out[to[e]] += shares[e] * source[come_from[e]]``."""
    for e in range(to.size):
        out[to[e]] += shares[e] * source[come_from[e]]
