"""The compiled part of `policy/convolutions.py`: sums over a batch for every channel, and what is made of each number
by them.

Boards are flat arrays of [row, channel], with as many rows as all boards have points; channels come in multiples of
eight. Tables of numbers for each channel are [kind · channels + channel].
"""

from __future__ import annotations

import numpy as np
from numba import njit

from katachi.features.kernels.simd import LANES, load, spread, store, where_positive

_ROWS = 64  # at a time: they stay in the cache while channel after channel is summed, and few enough for float32
_ZERO = np.float32(0)


@njit(cache=True, nogil=True)
def sum_squares(boards, channels, totals):
    """Add the sum and the sum of squares of every channel to ``totals``, float64 [2 · channels]."""
    part = np.empty(2 * LANES, dtype=np.float32)
    rows = boards.size // channels
    for first in range(0, rows, _ROWS):
        last = min(first + _ROWS, rows)
        for channel in range(0, channels, LANES):
            total = squares = spread(_ZERO)
            for row in range(first, last):
                x = load(boards, row * channels + channel)
                total = total + x
                squares = squares + x * x
            store(part, 0, total)
            store(part, LANES, squares)
            for lane in range(LANES):
                totals[channel + lane] += part[lane]
                totals[channels + channel + lane] += part[LANES + lane]


@njit(cache=True, nogil=True)
def scale_and_rectify(boards, table, added, out):
    """Of every number x of a channel max(0, scale · x + offset + what is added); ``added`` is empty or like boards."""
    channels = table.size // 2
    for at in range(0, boards.size, channels):
        for channel in range(0, channels, LANES):
            y = load(table, channel) * load(boards, at + channel) + load(table, channels + channel)
            if added.size:
                y = y + load(added, at + channel)
            store(out, at + channel, where_positive(y, y))


@njit(cache=True, nogil=True)
def sum_slopes(slopes, results, boards, channels, totals):
    """Add the sums of g and g · x to ``totals``, float64 [2 · channels]; g is the slope where the result is not 0."""
    part = np.empty(2 * LANES, dtype=np.float32)
    rows = boards.size // channels
    for first in range(0, rows, _ROWS):
        last = min(first + _ROWS, rows)
        for channel in range(0, channels, LANES):
            total = products = spread(_ZERO)
            for row in range(first, last):
                at = row * channels + channel
                g = where_positive(load(results, at), load(slopes, at))
                total = total + g
                products = products + g * load(boards, at)
            store(part, 0, total)
            store(part, LANES, products)
            for lane in range(LANES):
                totals[channel + lane] += part[lane]
                totals[channels + channel + lane] += part[LANES + lane]


@njit(cache=True, nogil=True)
def spread_slopes(slopes, results, boards, table, out, out_added):
    """Of every g and x of a channel a · g + b · x + c, the three in ``table``; g itself to ``out_added``, if any."""
    channels = table.size // 3
    for at in range(0, boards.size, channels):
        for channel in range(0, channels, LANES):
            g = where_positive(load(results, at + channel), load(slopes, at + channel))
            if out_added.size:
                store(out_added, at + channel, g)
            x = load(table, channels + channel) * load(boards, at + channel)
            store(out, at + channel, load(table, channel) * g + x + load(table, 2 * channels + channel))
