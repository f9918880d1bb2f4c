"""The compiled DAG-RNN: how its weights and a board lie in memory, and what it says about boards.

The four planes are the four *flips* of the board: flip f (bit 0: columns, bit 1: rows) takes the plane's corner to
the upper left, and there one recurrence serves them all, as four rows of a product. What is the same step for all
planes is at four points of the board, so states lie by step and flip, inputs by point.

**Characters.** A hidden unit with weights w sees ⟨w, P_f x⟩ in flip f, where P_f flips what is seen of a point: the
neighbors in its inputs, and the planes of earlier states. In the basis of the flips' four characters χ (signs: +,
columns odd, rows odd, both) P_f is a sign, so ⟨w, P_f x⟩ = Σ_χ χ(f) ⟨w_χ, x_χ⟩: one product of the whole length
instead of four, and then a few sums. What is seen of a point is a row of four parts, one for each character: inputs,
and then the states of sweep after sweep. Weights come in this basis (``territory/network.py``). Signs are exact, and
sums are taken in an order that flips do not change: the flips of a board give the flips of the output to the last
bit.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from katachi.features.kernels.simd import load, spread, spread_from, store
from katachi.go.kernels import kernel

# Products of four rows with a matrix, sums of outer products and units, for the kernels of
# ``territory/kernels/network.py``.
#
# All arrays are flat and of float32; matrices are [length, columns] from ``first`` on, their columns a multiple of
# eight. Blocks of 4 × 16 sums stay in registers.

BLOCK = 4  # rows of a product, and rows of a sum of outer products that are made at once
_WIDE = 16
_ONE = np.float32(1)
_HALF = np.float32(0.5)
_EIGHTH = np.float32(0.125)
_MOST = np.float32(18)  # beyond it the logistic function is 0 or 1 in float32


@kernel
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


@kernel
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


@kernel
def add_rows(d, rows, columns, gradient, first):
    """Add rows to the row of ``gradient`` that begins at ``first``."""
    for c in range(0, columns, 8):
        total = load(gradient, first + c)
        for r in rows:
            total = total + load(d, r * columns + c)
        store(gradient, first + c, total)


@kernel(fastmath=True)
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


@kernel(fastmath=True)
def make_rectified(x, first, count):
    """Put 0 in the place of negative numbers."""
    part = x[first : first + count]
    for i in range(part.size):
        part[i] = max(part[i], np.float32(0))


@kernel(fastmath=True)
def times_logistic_gradient(d, at, y, first, count):
    """Multiply numbers by the gradient of the logistic function where it is y."""
    gradients, values = d[at : at + count], y[first : first + count]
    for i in range(gradients.size):
        gradients[i] *= values[i] * (_ONE - values[i])


@kernel(fastmath=True)
def times_rectified_gradient(d, at, y, first, count):
    """Multiply numbers by the gradient of a rectified unit that is y."""
    gradients, values = d[at : at + count], y[first : first + count]
    for i in range(gradients.size):
        gradients[i] = gradients[i] if values[i] > 0 else np.float32(0)


@kernel(fastmath=True)
def dot(x, at, y, first, count):
    """The scalar product of two rows."""
    left, right = x[at : at + count], y[first : first + count]
    total = np.float32(0)
    for i in range(left.size):
        total += left[i] * right[i]
    return total


@kernel
def copy(x, at, out, to, count):
    """Copy a row, a multiple of eight long."""
    for c in range(0, count, 8):
        store(out, to + c, load(x, at + c))


@kernel
def add(x, at, out, to, count):
    """Add a row, a multiple of eight long, to another."""
    for c in range(0, count, 8):
        store(out, to + c, load(out, to + c) + load(x, at + c))


@kernel
def transform(x, x0, x1, x2, x3, out, o0, o1, o2, o3, count, factor):
    """From four rows by flips to four rows by characters, or back: the same sums, times a factor."""
    for c in range(0, count, 8):
        a, b, d, e = load(x, x0 + c), load(x, x1 + c), load(x, x2 + c), load(x, x3 + c)
        store(out, o0 + c, factor * ((a + b) + (d + e)))
        store(out, o1 + c, factor * ((a - b) + (d - e)))
        store(out, o2 + c, factor * ((a + b) - (d + e)))
        store(out, o3 + c, factor * ((a - b) - (d - e)))


@kernel
def mix(out, to, source, come_from, shares):
    """Add shares of numbers to others: ``out[to[e]] += shares[e] * source[come_from[e]]``."""
    for e in range(to.size):
        out[to[e]] += shares[e] * source[come_from[e]]


# Dag rnn

INTERIOR, SIDE, CORNER, OUTPUT = range(4)  # the networks; the output network is at work at every point
FLIPS = 4
LANES = 8
_QUARTER = np.float32(0.25)
_TWO = np.float32(2)


class Layout(NamedTuple):
    """A network as the kernels see it, whatever the size of the board."""

    inputs: int
    hidden: int
    channels: int
    ends: int  # outputs of a network that makes states
    outputs: int  # of the output network
    sweeps: int
    gated: bool
    width: int  # of what is seen of a point
    parts: Any  # int64 [4]: where the part of each character begins in it
    own: Any  # int64 [4]: how many inputs are in each part, zeros included that make it a multiple of four
    networks: Any  # int64 [3 · sweeps + 1]: where the weights of each network begin
    # Inputs that flips leave alone, [., 2], that go in pairs, [., 4], and in fours, [., 8]: which ones, and where to.
    alone: Any
    pairs: Any
    fours: Any


class Grid(NamedTuple):
    """A board size as the kernels see it. A *step* is a point as the flips see it; a *frame* has an edge before it."""

    points: int
    frame_width: int
    steps: Any  # int64 [4, points]: the step of every point in every flip, and the other way round
    kinds: Any  # int64 [points]: whether a step is INTERIOR, SIDE or CORNER
    frames: Any  # int64 [points]: the place of a step in a frame
    # int64 [4 networks, 4 flips, points]: step and flip of a point, or 4 · points where the network is not at work.
    places: Any
    # int64: the points where each network is at work, one after another, each filled up to fours by ``points``.
    seen: Any
    seen_first: Any  # int64 [5]
    seen_count: Any  # int64 [4]: without what fills up
    rows: Any  # int64: step and flip, of the steps of each kind one after another
    above: Any  # int64: frame and flip of the predecessor above
    left: Any  # int64: and of that to the left
    rows_first: Any  # int64 [4]


class Memory(NamedTuple):
    """Room for one board; all flat, float32."""

    seen: Any  # [points + 1, width]
    units: Any  # [sweeps + 1, points, 4, hidden]: hidden units by step; of the output network by point
    ends: Any  # [sweeps, points, 4, ends]: gates and proposals, if there are any
    states: Any  # [sweeps, frame, 4, channels]; the edge stays 0
    means: Any  # [points, hidden]: of the output network's hidden units over the flips
    logits: Any  # [points, outputs]
    scratch: Any
    turned: Any  # the weights, matrices transposed that gradients go back through
    unit_gradients: Any  # [points, 4, hidden], and a row that stays 0
    end_gradients: Any  # [points, 4, ends]
    state_gradients: Any  # [frame, 4, channels]
    spectrum: Any  # [4 characters, points + 1, hidden]
    seen_gradients: Any  # [points + 1, 4 characters, sweeps · channels]


# Where things are


@kernel
def _seen_count(net, sweep):
    """How long a row of the input matrix's side is that a network of a sweep sees, without predecessors."""
    return net.own.sum() + FLIPS * sweep * net.channels


@kernel
def hidden_bias(net, sweep, kind):
    """Where a network's weights after those of what it sees begin: hidden bias, predecessors, output, output bias."""
    return net.networks[3 * sweep + kind % OUTPUT] + _seen_count(net, sweep) * net.hidden


@kernel
def output_matrix(net, sweep, kind):
    before = hidden_bias(net, sweep, kind) + net.hidden
    return before if kind == OUTPUT else before + 2 * net.channels * net.hidden


# Forward


@kernel
def _see_inputs(net, grid, inputs, seen):
    """Write the inputs of all points in the basis of characters; vectors of the basis have length 1."""
    root = np.float32(np.sqrt(0.5))
    for p in range(grid.points):
        x, y = p * net.inputs, p * net.width
        for i in range(net.alone.shape[0]):
            seen[y + net.alone[i, 1]] = inputs[x + net.alone[i, 0]]
        for i in range(net.pairs.shape[0]):
            a, b = inputs[x + net.pairs[i, 0]], inputs[x + net.pairs[i, 1]]
            seen[y + net.pairs[i, 2]] = (a + b) * root
            seen[y + net.pairs[i, 3]] = (a - b) * root
        for i in range(net.fours.shape[0]):
            a, b = inputs[x + net.fours[i, 0]], inputs[x + net.fours[i, 1]]
            c, d = inputs[x + net.fours[i, 2]], inputs[x + net.fours[i, 3]]
            seen[y + net.fours[i, 4]] = ((a + b) + (c + d)) * _HALF
            seen[y + net.fours[i, 5]] = ((a - b) + (c - d)) * _HALF
            seen[y + net.fours[i, 6]] = ((a + b) - (c + d)) * _HALF
            seen[y + net.fours[i, 7]] = ((a - b) - (c - d)) * _HALF


@kernel
def _see(net, grid, weights, sweep, kind, memory):
    """Write what the hidden units of a network get from what they see of the points, wherever it is at work."""
    hidden, width, scratch = net.hidden, net.width, memory.scratch
    bias = hidden_bias(net, sweep, kind)
    units, nowhere = memory.units, grid.points * FLIPS
    for i in range(grid.seen_first[kind], grid.seen_first[kind + 1], BLOCK):
        p0, p1, p2, p3 = grid.seen[i], grid.seen[i + 1], grid.seen[i + 2], grid.seen[i + 3]
        scratch[: FLIPS * BLOCK * hidden] = 0
        first = net.networks[3 * sweep + kind % OUTPUT]
        for character in range(FLIPS):
            part = net.parts[character]
            length = net.own[character] + sweep * net.channels
            x0, x1, x2, x3 = p0 * width + part, p1 * width + part, p2 * width + part, p3 * width + part
            o = character * BLOCK * hidden
            o1, o2, o3 = o + hidden, o + 2 * hidden, o + 3 * hidden
            add_products(memory.seen, x0, x1, x2, x3, length, weights, first, hidden, scratch, o, o1, o2, o3)
            first += length * hidden
        for j in range(BLOCK):
            p = grid.seen[i + j]
            if p == grid.points:
                break
            for flip in range(FLIPS):
                row = grid.places[kind, flip, p]
                if row < nowhere:
                    to = (sweep * nowhere + row) * hidden
                    _sum_characters(scratch, j * hidden, BLOCK * hidden, flip, weights, bias, units, to, hidden)


@kernel
def _sum_characters(x, at, stride, flip, weights, bias, out, to, count):
    """Write a bias and the sum of four rows ``stride`` apart, each with the sign that its character has in a flip."""
    for c in range(at, at + count, LANES):
        even, odd = load(x, c), load(x, c + stride)
        low, high = load(x, c + 2 * stride), load(x, c + 3 * stride)
        first = even - odd if flip & 1 else even + odd
        second = low - high if flip & 1 else low + high
        total = first - second if flip & 2 else first + second
        store(out, to + c - at, load(weights, bias + c - at) + total)


@kernel
def _activate(net, x, first, count):
    if net.gated:
        make_rectified(x, first, count)
    else:
        make_logistic(x, first, count)


@kernel
def _sweep(net, grid, weights, sweep, memory):
    """Make the states of all steps, each from its predecessors; what its units see must be there."""
    hidden, channels, ends = net.hidden, net.channels, net.ends
    states, units = memory.states, memory.units
    plane = FLIPS * channels
    base = sweep * grid.frame_width * grid.frame_width
    for t in range(grid.points):
        kind = grid.kinds[t]
        before = hidden_bias(net, sweep, kind) + hidden
        matrix = before + 2 * channels * hidden
        own = (base + grid.frames[t]) * plane
        above, left = own - grid.frame_width * plane, own - plane
        u = (sweep * grid.points + t) * FLIPS * hidden
        u1, u2, u3 = u + hidden, u + 2 * hidden, u + 3 * hidden
        for a, part in ((above, before), (left, before + channels * hidden)):
            a1, a2, a3 = a + channels, a + 2 * channels, a + 3 * channels
            add_products(states, a, a1, a2, a3, channels, weights, part, hidden, units, u, u1, u2, u3)
        _activate(net, units, u, FLIPS * hidden)
        out = memory.ends if net.gated else states
        e = (sweep * grid.points + t) * FLIPS * ends if net.gated else own
        e1, e2, e3 = e + ends, e + 2 * ends, e + 3 * ends
        for flip in range(FLIPS):
            copy(weights, matrix + hidden * ends, out, e + flip * ends, ends)
        add_products(units, u, u1, u2, u3, hidden, weights, matrix, ends, out, e, e1, e2, e3)
        if net.gated:
            _pass_gates(net, out, e, states, own, above, left, _HALF if kind == INTERIOR else _ONE)
        else:
            make_logistic(states, own, plane)


@kernel
def _pass_gates(net, ends, e, states, own, above, left, share):
    """Make states of gates and proposals: gate · mean of predecessors + (1 − gate) · tanh(proposal).

    Proposals are left as logistic functions y of twice their value: tanh is 2y − 1.
    """
    channels = net.channels
    for flip in range(FLIPS):
        for c in range(e + flip * net.ends + channels, e + (flip + 1) * net.ends, LANES):
            store(ends, c, _TWO * load(ends, c))
    make_logistic(ends, e, FLIPS * net.ends)
    one = spread(_ONE)
    for flip in range(FLIPS):
        at, s = e + flip * net.ends, flip * channels
        for c in range(0, channels, LANES):
            gate, proposal = load(ends, at + c), _TWO * load(ends, at + channels + c) - one
            mean = share * (load(states, above + s + c) + load(states, left + s + c))
            store(states, own + s + c, gate * mean + (one - gate) * proposal)


@kernel
def _see_states(net, grid, sweep, memory):
    """Add the states of a sweep to what is seen of the points, in the basis of characters."""
    channels = net.channels
    plane = FLIPS * channels
    base = sweep * grid.frame_width * grid.frame_width
    o0, o1 = net.parts[0] + net.own[0] + sweep * channels, net.parts[1] + net.own[1] + sweep * channels
    o2, o3 = net.parts[2] + net.own[2] + sweep * channels, net.parts[3] + net.own[3] + sweep * channels
    for p in range(grid.points):
        x0 = (base + grid.frames[grid.steps[0, p]]) * plane
        x1 = (base + grid.frames[grid.steps[1, p]]) * plane + channels
        x2 = (base + grid.frames[grid.steps[2, p]]) * plane + 2 * channels
        x3 = (base + grid.frames[grid.steps[3, p]]) * plane + 3 * channels
        y = p * net.width
        transform(memory.states, x0, x1, x2, x3, memory.seen, y + o0, y + o1, y + o2, y + o3, channels, _HALF)


@kernel
def _output(net, grid, weights, memory):
    """Write the logits of all points, which see the mean of the hidden units over the flips."""
    hidden, units = net.hidden, memory.units
    first = net.sweeps * grid.points * FLIPS * hidden
    matrix = output_matrix(net, net.sweeps, OUTPUT)
    _activate(net, units, first, grid.points * FLIPS * hidden)
    for p in range(grid.points):
        for c in range(0, hidden, LANES):
            u = first + p * FLIPS * hidden + c
            near = load(units, u) + load(units, u + hidden)
            far = load(units, u + 2 * hidden) + load(units, u + 3 * hidden)
            store(memory.means, p * hidden + c, _QUARTER * (near + far))
        for o in range(net.outputs):
            bias = weights[matrix + net.outputs * hidden + o]
            seen = dot(memory.means, p * hidden, weights, matrix + o * hidden, hidden)
            memory.logits[p * net.outputs + o] = bias + seen


@kernel
def forward(net, grid, weights, inputs, memory):
    """Fill the memory with all that the network makes of one board."""
    _see_inputs(net, grid, inputs, memory.seen)
    for sweep in range(net.sweeps):
        for kind in (INTERIOR, SIDE, CORNER):
            _see(net, grid, weights, sweep, kind, memory)
        _sweep(net, grid, weights, sweep, memory)
        _see_states(net, grid, sweep, memory)
    _see(net, grid, weights, net.sweeps, OUTPUT, memory)
    _output(net, grid, weights, memory)


@kernel
def predict(net, grid, weights, inputs, memory, logits):
    """Write the logits of boards, [B, points · outputs], from their inputs, [B, points · inputs]."""
    for b in range(inputs.shape[0]):
        forward(net, grid, weights, inputs[b], memory)
        for i in range(memory.logits.size):
            logits[b, i] = memory.logits[i]
