"""The compiled part of `policy/convolutions.py`: normalization, and Winograd's transforms with their adjoints.

For the transforms boards are flat arrays of [board, row, column, channel]; what is transformed is [36, stride], where
tile t has its channels c at t · channels + c, as float32 or as bfloat16 in uint16. Channels come in multiples of eight.
A board is first copied into a frame in ``scratch`` whose edge stays zero, so that no tile needs to know where the board
ends.

With d a tile of 6×6 points of the input and y the 4×4 points of the output inside it (Lavin and Gray 2016):
y = Aᵀ[(G g Gᵀ) ⊙ (Bᵀ d B)]A, and the sum over channels takes place between the two transforms.
"""

from __future__ import annotations

import numpy as np

from katachi.features.kernels.simd import LANES, load, spread, store, where_positive
from katachi.go.kernels import kernel

# Normalization: sums over a batch for every channel, and what is made of each number by them.
#
# Boards are flat arrays of [row, channel], with as many rows as all boards have points; channels come in multiples of
# eight. Tables of numbers for each channel are [kind · channels + channel].

_ROWS = 64  # at a time: they stay in the cache while channel after channel is summed, and few enough for float32
_ZERO = np.float32(0)


@kernel
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


@kernel
def scale_and_rectify(boards, table, added, out):
    """Of every number x of a channel max(0, scale · x + offset + what is added); ``added`` is empty or like boards."""
    channels = table.size // 2
    for at in range(0, boards.size, channels):
        for channel in range(0, channels, LANES):
            y = load(table, channel) * load(boards, at + channel) + load(table, channels + channel)
            if added.size:
                y = y + load(added, at + channel)
            store(out, at + channel, where_positive(y, y))


@kernel
def sum_gradients(gradients, results, boards, channels, totals):
    """Add the sums of g and g · x to ``totals``, float64 [2 · channels]; g is the gradient where the result is > 0."""
    part = np.empty(2 * LANES, dtype=np.float32)
    rows = boards.size // channels
    for first in range(0, rows, _ROWS):
        last = min(first + _ROWS, rows)
        for channel in range(0, channels, LANES):
            total = products = spread(_ZERO)
            for row in range(first, last):
                at = row * channels + channel
                g = where_positive(load(results, at), load(gradients, at))
                total = total + g
                products = products + g * load(boards, at)
            store(part, 0, total)
            store(part, LANES, products)
            for lane in range(LANES):
                totals[channel + lane] += part[lane]
                totals[channels + channel + lane] += part[LANES + lane]


@kernel
def spread_gradients(gradients, results, boards, table, out, out_added):
    """Of every g and x of a channel a · g + b · x + c, the three in ``table``; g itself to ``out_added``, if any."""
    channels = table.size // 3
    for at in range(0, boards.size, channels):
        for channel in range(0, channels, LANES):
            g = where_positive(load(results, at + channel), load(gradients, at + channel))
            if out_added.size:
                store(out_added, at + channel, g)
            x = load(table, channels + channel) * load(boards, at + channel)
            store(out, at + channel, load(table, channel) * g + x + load(table, 2 * channels + channel))


# Winograd

TILE = 4
WINDOW = 6
_TWO = np.float32(2)
_FOUR = np.float32(4)
_FIVE = np.float32(5)
_EIGHT = np.float32(8)


@kernel
def _apply_bt(source, at, step, target, to, stride):
    """Bᵀ on six vectors of ``source``, ``step`` apart: six vectors of ``target``, ``stride`` apart."""
    d1 = load(source, at + step)
    d2 = load(source, at + 2 * step)
    d3 = load(source, at + 3 * step)
    d4 = load(source, at + 4 * step)
    store(target, to, _FOUR * load(source, at) - _FIVE * d2 + d4)
    even, odd = d4 - _FOUR * d2, d3 - _FOUR * d1
    store(target, to + stride, even + odd)
    store(target, to + 2 * stride, even - odd)
    even, odd = d4 - d2, _TWO * (d3 - d1)
    store(target, to + 3 * stride, even + odd)
    store(target, to + 4 * stride, even - odd)
    store(target, to + 5 * stride, _FOUR * d1 - _FIVE * d3 + load(source, at + 5 * step))


@kernel
def _apply_b(source, at, step, target, to, stride):
    """B on six vectors: the adjoint of Bᵀ."""
    v0 = load(source, at)
    v1 = load(source, at + step)
    v2 = load(source, at + 2 * step)
    v3 = load(source, at + 3 * step)
    v4 = load(source, at + 4 * step)
    v5 = load(source, at + 5 * step)
    near, far = v1 - v2, v3 - v4
    store(target, to, _FOUR * v0)
    store(target, to + stride, _FOUR * (v5 - near) - _TWO * far)
    store(target, to + 3 * stride, near + _TWO * far - _FIVE * v5)
    near, far = v1 + v2, v3 + v4
    store(target, to + 2 * stride, -_FIVE * v0 - _FOUR * near - far)
    store(target, to + 4 * stride, v0 + near + far)
    store(target, to + 5 * stride, v5)


@kernel
def _apply_at(source, at, step, target, to, stride):
    """Aᵀ on six vectors: four."""
    m1 = load(source, at + step)
    m2 = load(source, at + 2 * step)
    m3 = load(source, at + 3 * step)
    m4 = load(source, at + 4 * step)
    near, far = m1 + m2, m3 + m4
    store(target, to, load(source, at) + near + far)
    store(target, to + 2 * stride, near + _FOUR * far)
    near, far = m1 - m2, m3 - m4
    store(target, to + stride, near + _TWO * far)
    store(target, to + 3 * stride, near + _EIGHT * far + load(source, at + 5 * step))


@kernel
def _apply_a(source, at, step, target, to, stride):
    """A on four vectors: six, the adjoint of Aᵀ."""
    y0 = load(source, at)
    y1 = load(source, at + step)
    y2 = load(source, at + 2 * step)
    y3 = load(source, at + 3 * step)
    store(target, to, y0)
    even, odd = y0 + y2, y1 + y3
    store(target, to + stride, even + odd)
    store(target, to + 2 * stride, even - odd)
    even, odd = y0 + _FOUR * y2, _TWO * y1 + _EIGHT * y3
    store(target, to + 3 * stride, even + odd)
    store(target, to + 4 * stride, even - odd)
    store(target, to + 5 * stride, y3)


@kernel
def _copy_rows(source, at, step, target, to, stride, rows, length):
    """Rows of a length from one array to another, ``step`` and ``stride`` apart."""
    for row in range(rows):
        for place in range(0, length, LANES):
            store(target, to + row * stride + place, load(source, at + row * step + place))


@kernel
def transform_inputs(boards, first, count, n, channels, transformed, stride, scratch):
    """Bᵀ d B of all tiles of ``count`` boards from ``first`` on."""
    tiles = (n + TILE - 1) // TILE
    width = (TILE * tiles + 2) * channels
    columns = (TILE * tiles + 2) * width  # in scratch, behind the frame
    for board in range(count):
        at = (first + board) * n * n * channels
        _copy_rows(boards, at, n * channels, scratch, width + channels, width, n, n * channels)
        for row in range(tiles):
            for column in range(tiles):
                corner = TILE * (row * width + column * channels)
                target = ((board * tiles + row) * tiles + column) * channels
                for channel in range(0, channels, LANES):
                    for j in range(WINDOW):
                        at = corner + j * channels + channel
                        _apply_bt(scratch, at, width, scratch, columns + j * LANES, WINDOW * LANES)
                    for i in range(WINDOW):
                        to = i * WINDOW * stride + target + channel
                        _apply_bt(scratch, columns + i * WINDOW * LANES, LANES, transformed, to, stride)


@kernel
def transform_input_gradients(transformed, stride, gradients, first, count, n, channels, scratch):
    """Of Bᵀ d B to those of the boards: B v Bᵀ of every tile, summed where tiles overlap."""
    tiles = (n + TILE - 1) // TILE
    width = (TILE * tiles + 2) * channels
    rows = (TILE * tiles + 2) * width  # in scratch, behind the frame
    sums = rows + WINDOW * WINDOW * LANES
    for board in range(count):
        for place in range(0, rows, LANES):
            store(scratch, place, spread(_ZERO))
        for row in range(tiles):
            for column in range(tiles):
                corner = TILE * (row * width + column * channels)
                source = ((board * tiles + row) * tiles + column) * channels
                for channel in range(0, channels, LANES):
                    for i in range(WINDOW):
                        at = i * WINDOW * stride + source + channel
                        _apply_b(transformed, at, stride, scratch, rows + i * WINDOW * LANES, LANES)
                    for j in range(WINDOW):
                        _apply_b(scratch, rows + j * LANES, WINDOW * LANES, scratch, sums, LANES)
                        for i in range(WINDOW):
                            point = corner + i * width + j * channels + channel
                            store(scratch, point, load(scratch, point) + load(scratch, sums + i * LANES))
        to = (first + board) * n * n * channels
        _copy_rows(scratch, width + channels, width, gradients, to, n * channels, n, n * channels)


@kernel
def transform_outputs(transformed, stride, boards, first, count, n, channels, scratch):
    """Aᵀ m A of all tiles of ``count`` boards from ``first`` on."""
    tiles = (n + TILE - 1) // TILE
    width = TILE * tiles * channels
    rows = TILE * tiles * width  # in scratch, behind the frame
    for board in range(count):
        for row in range(tiles):
            for column in range(tiles):
                corner = TILE * (row * width + column * channels)
                source = ((board * tiles + row) * tiles + column) * channels
                for channel in range(0, channels, LANES):
                    for i in range(WINDOW):
                        at = i * WINDOW * stride + source + channel
                        _apply_at(transformed, at, stride, scratch, rows + i * TILE * LANES, LANES)
                    for j in range(TILE):
                        to = corner + j * channels + channel
                        _apply_at(scratch, rows + j * LANES, TILE * LANES, scratch, to, width)
        _copy_rows(scratch, 0, width, boards, (first + board) * n * n * channels, n * channels, n, n * channels)


@kernel
def transform_output_gradients(gradients, first, count, n, channels, transformed, stride, scratch):
    """Of the boards to those of m: A y Aᵀ of every tile."""
    tiles = (n + TILE - 1) // TILE
    width = TILE * tiles * channels
    columns = TILE * tiles * width  # in scratch, behind the frame
    for board in range(count):
        _copy_rows(gradients, (first + board) * n * n * channels, n * channels, scratch, 0, width, n, n * channels)
        for row in range(tiles):
            for column in range(tiles):
                corner = TILE * (row * width + column * channels)
                target = ((board * tiles + row) * tiles + column) * channels
                for channel in range(0, channels, LANES):
                    for j in range(TILE):
                        at = corner + j * channels + channel
                        _apply_a(scratch, at, width, scratch, columns + j * LANES, TILE * LANES)
                    for i in range(WINDOW):
                        to = i * WINDOW * stride + target + channel
                        _apply_a(scratch, columns + i * TILE * LANES, LANES, transformed, to, stride)


def warmup() -> None:
    """Compile all of it; here, because who calls it imports torch."""
    boards, scratch = (np.zeros(length, dtype=np.float32) for length in (128, 864))  # one 4×4, 8 channels
    for kind in (np.float32, np.uint16):  # uint16 is bfloat16
        tiles = np.zeros(288, dtype=kind)
        transform_inputs(boards, 0, 1, 4, 8, tiles, 8, scratch)
        transform_outputs(tiles, 8, boards, 0, 1, 4, 8, scratch)
        transform_output_gradients(boards, 0, 1, 4, 8, tiles, 8, scratch)
        transform_input_gradients(tiles, 8, boards, 0, 1, 4, 8, scratch)
    sum_squares(boards, 8, np.zeros(16))
    scale_and_rectify(boards, np.zeros(16, dtype=np.float32), boards, boards)
    sum_gradients(boards, boards, boards, 8, np.zeros(16))
    spread_gradients(boards, boards, boards, np.zeros(24, dtype=np.float32), boards, boards)
