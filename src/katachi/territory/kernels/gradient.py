"""The compiled gradient of a DAG-RNN: back through all that ``territory/kernels/network.py`` makes of a board.

Gradients are those of the loss: with respect to logits, hidden units, states, what is seen of points, and weights.
"""

from __future__ import annotations

import numpy as np

from katachi.features.kernels.simd import load, spread, store
from katachi.go.kernels import kernel
from katachi.go.kernels.board import LEGAL, illegality, play_pass, play_stone
from katachi.go.kernels.replay import PASS_CODE, POINT_MASK, WHITE_BIT, color_of, set_up
from katachi.territory.kernels.network import (
    BLOCK,
    CORNER,
    FLIPS,
    INTERIOR,
    LANES,
    OUTPUT,
    SIDE,
    add,
    add_outer,
    add_products,
    add_rows,
    copy,
    forward,
    hidden_bias,
    output_matrix,
    times_logistic_gradient,
    times_rectified_gradient,
    transform,
)

_HALF = np.float32(0.5)
_QUARTER = np.float32(0.25)
_ONE = np.float32(1)
_TWO = np.float32(2)


@kernel
def _turn(weights, first, rows, columns, turned):
    for i in range(rows):
        for j in range(columns):
            turned[first + j * rows + i] = weights[first + i * columns + j]


@kernel
def _turn_weights(net, weights, turned):
    """Transpose, each in its place, the matrices through which gradients go back."""
    for network in range(3 * net.sweeps + 1):
        sweep, kind = network // 3, network % 3 if network < 3 * net.sweeps else OUTPUT
        first = net.networks[network]
        for character in range(FLIPS):
            first += net.own[character] * net.hidden
            _turn(weights, first, sweep * net.channels, net.hidden, turned)
            first += sweep * net.channels * net.hidden
        if kind != OUTPUT:
            _turn(weights, first + net.hidden, 2 * net.channels, net.hidden, turned)
            _turn(weights, output_matrix(net, sweep, kind), net.hidden, net.ends, turned)


@kernel
def _gradient_units(net, gradients, at, units, first, count):
    if net.gated:
        times_rectified_gradient(gradients, at, units, first, count)
    else:
        times_logistic_gradient(gradients, at, units, first, count)


@kernel
def _output_back(net, grid, weights, logit_gradients, memory, gradient):
    """From the gradients of the logits to those of the output network's hidden units."""
    hidden, gradients = net.hidden, memory.unit_gradients
    first = net.sweeps * grid.points * FLIPS * hidden
    matrix = output_matrix(net, net.sweeps, OUTPUT)
    for p in range(grid.points):
        at = p * FLIPS * hidden
        gradients[at : at + hidden] = 0
        for o in range(net.outputs):
            delta = logit_gradients[p * net.outputs + o]
            gradient[matrix + net.outputs * hidden + o] += delta
            for c in range(0, hidden, LANES):
                w = matrix + o * hidden + c
                store(gradient, w, load(gradient, w) + delta * load(memory.means, p * hidden + c))
                store(gradients, at + c, load(gradients, at + c) + (delta * _QUARTER) * load(weights, w))
        for flip in range(1, FLIPS):
            copy(gradients, at, gradients, at + flip * hidden, hidden)
    _gradient_units(net, gradients, 0, memory.units, first, grid.points * FLIPS * hidden)


@kernel
def _see_back(net, grid, sweep, kind, memory, gradient):
    """From the gradients of a network's hidden units to those of its weights, and of what it sees of earlier sweeps."""
    hidden, spectrum = net.hidden, memory.spectrum
    part_size = (grid.points + 1) * hidden
    points = grid.seen[grid.seen_first[kind] : grid.seen_first[kind] + grid.seen_count[kind]]
    for p in points:
        x0, x1 = grid.places[kind, 0, p] * hidden, grid.places[kind, 1, p] * hidden
        x2, x3 = grid.places[kind, 2, p] * hidden, grid.places[kind, 3, p] * hidden
        o = p * hidden
        o1, o2, o3 = o + part_size, o + 2 * part_size, o + 3 * part_size
        transform(memory.unit_gradients, x0, x1, x2, x3, spectrum, o, o1, o2, o3, hidden, _ONE)
    first = net.networks[3 * sweep + kind % OUTPUT]
    for character in range(FLIPS):
        length, shift = net.own[character] + sweep * net.channels, character * part_size
        part = net.parts[character]
        add_outer(memory.seen, points, net.width, part, length, spectrum, points, shift, hidden, gradient, first)
        if sweep > 0:
            _see_states_back(net, grid, sweep, kind, first + net.own[character] * hidden, character, memory)
        first += length * hidden


@kernel
def _see_states_back(net, grid, sweep, kind, first, character, memory):
    """Add to the gradients of what is seen, of one character, what comes through the matrix that begins at
    ``first``.
    """
    hidden, columns = net.hidden, sweep * net.channels
    wide = net.sweeps * net.channels
    x = character * (grid.points + 1) * hidden
    o = character * wide
    for i in range(grid.seen_first[kind], grid.seen_first[kind + 1], BLOCK):
        p0, p1, p2, p3 = grid.seen[i], grid.seen[i + 1], grid.seen[i + 2], grid.seen[i + 3]
        x0, x1, x2, x3 = x + p0 * hidden, x + p1 * hidden, x + p2 * hidden, x + p3 * hidden
        row = FLIPS * wide
        o0, o1, o2, o3 = o + p0 * row, o + p1 * row, o + p2 * row, o + p3 * row
        add_products(
            memory.spectrum,
            x0,
            x1,
            x2,
            x3,
            hidden,
            memory.turned,
            first,
            columns,
            memory.seen_gradients,
            o0,
            o1,
            o2,
            o3,
        )


@kernel
def _begin_state_gradients(net, grid, sweep, memory):
    """Set the gradients of a sweep's states to what comes from those who saw them."""
    channels, wide = net.channels, net.sweeps * net.channels
    memory.state_gradients[:] = 0
    for p in range(grid.points):
        x = p * FLIPS * wide + sweep * channels
        o0 = grid.frames[grid.steps[0, p]] * FLIPS * channels
        o1 = grid.frames[grid.steps[1, p]] * FLIPS * channels + channels
        o2 = grid.frames[grid.steps[2, p]] * FLIPS * channels + 2 * channels
        o3 = grid.frames[grid.steps[3, p]] * FLIPS * channels + 3 * channels
        x1, x2, x3 = x + wide, x + 2 * wide, x + 3 * wide
        transform(memory.seen_gradients, x, x1, x2, x3, memory.state_gradients, o0, o1, o2, o3, channels, _HALF)


@kernel
def _sweep_back(net, grid, sweep, memory):
    """Go back from step to step, from the gradients of the states to those of all units of a sweep."""
    hidden, channels, ends = net.hidden, net.channels, net.ends
    scratch, unit_gradients, end_gradients = memory.scratch, memory.unit_gradients, memory.end_gradients
    plane = FLIPS * channels
    base = sweep * grid.frame_width * grid.frame_width
    for t in range(grid.points - 1, -1, -1):
        kind = grid.kinds[t]
        before = hidden_bias(net, sweep, kind) + hidden
        matrix = before + 2 * channels * hidden
        own = grid.frames[t] * plane
        above, left = own - grid.frame_width * plane, own - plane
        e, u = t * FLIPS * ends, t * FLIPS * hidden
        if net.gated:
            share = _HALF if kind == INTERIOR else _ONE
            _pass_gates_back(net, grid, sweep, t, base * plane, own, above, left, share, memory)
        else:
            copy(memory.state_gradients, own, end_gradients, e, plane)
            times_logistic_gradient(end_gradients, e, memory.states, base * plane + own, plane)
        unit_gradients[u : u + FLIPS * hidden] = 0
        e1, e2, e3 = e + ends, e + 2 * ends, e + 3 * ends
        u1, u2, u3 = u + hidden, u + 2 * hidden, u + 3 * hidden
        add_products(end_gradients, e, e1, e2, e3, ends, memory.turned, matrix, hidden, unit_gradients, u, u1, u2, u3)
        _gradient_units(net, unit_gradients, u, memory.units, sweep * grid.points * FLIPS * hidden + u, FLIPS * hidden)
        two = 2 * channels
        scratch[: FLIPS * two] = 0
        add_products(
            unit_gradients, u, u1, u2, u3, hidden, memory.turned, before, two, scratch, 0, two, 2 * two, 3 * two
        )
        for flip in range(FLIPS):
            add(scratch, flip * two, memory.state_gradients, above + flip * channels, channels)
            add(scratch, flip * two + channels, memory.state_gradients, left + flip * channels, channels)


@kernel
def _pass_gates_back(net, grid, sweep, t, base, own, above, left, share, memory):
    """From the gradients of gated states to those of gates, proposals and predecessors."""
    channels = net.channels
    states, gradients, ends = memory.states, memory.state_gradients, memory.ends
    one = spread(_ONE)
    for flip in range(FLIPS):
        e = (t * FLIPS + flip) * net.ends
        y = sweep * grid.points * FLIPS * net.ends + e
        for s in range(flip * channels, (flip + 1) * channels, LANES):
            c = s - flip * channels
            gradient = load(gradients, own + s)
            gate, proposal = load(ends, y + c), _TWO * load(ends, y + channels + c) - one
            mean = share * (load(states, base + above + s) + load(states, base + left + s))
            store(memory.end_gradients, e + c, gradient * (mean - proposal) * (gate * (one - gate)))
            store(memory.end_gradients, e + channels + c, gradient * (one - gate) * (one - proposal * proposal))
            passed = share * (gradient * gate)
            store(gradients, above + s, load(gradients, above + s) + passed)
            store(gradients, left + s, load(gradients, left + s) + passed)


@kernel
def _add_sweep_gradient(net, grid, sweep, kind, memory, gradient):
    """Add the gradient of a network that makes states, but for what it sees of the points."""
    hidden, channels = net.hidden, net.channels
    part = slice(grid.rows_first[kind], grid.rows_first[kind + 1])
    rows, above, left = grid.rows[part], grid.above[part], grid.left[part]
    base = sweep * grid.frame_width * grid.frame_width * FLIPS * channels
    bias = hidden_bias(net, sweep, kind)
    before, matrix = bias + hidden, output_matrix(net, sweep, kind)
    gradients, ends = memory.unit_gradients, memory.end_gradients
    add_rows(gradients, rows, hidden, gradient, bias)
    add_outer(memory.states, above, channels, base, channels, gradients, rows, 0, hidden, gradient, before)
    after = before + channels * hidden
    add_outer(memory.states, left, channels, base, channels, gradients, rows, 0, hidden, gradient, after)
    u = sweep * grid.points * FLIPS * hidden
    add_outer(memory.units, rows, hidden, u, hidden, ends, rows, 0, net.ends, gradient, matrix)
    add_rows(ends, rows, net.ends, gradient, matrix + hidden * net.ends)


@kernel
def _backward(net, grid, weights, logit_gradients, memory, gradient):
    """Add the gradient of one board, of which everything is in memory."""
    memory.seen_gradients[:] = 0
    _output_back(net, grid, weights, logit_gradients, memory, gradient)
    all_rows = np.arange(grid.points * FLIPS)
    add_rows(memory.unit_gradients, all_rows, net.hidden, gradient, hidden_bias(net, net.sweeps, OUTPUT))
    _see_back(net, grid, net.sweeps, OUTPUT, memory, gradient)
    for sweep in range(net.sweeps - 1, -1, -1):
        _begin_state_gradients(net, grid, sweep, memory)
        _sweep_back(net, grid, sweep, memory)
        for kind in (INTERIOR, SIDE, CORNER):
            _add_sweep_gradient(net, grid, sweep, kind, memory, gradient)
            _see_back(net, grid, sweep, kind, memory, gradient)


@kernel
def add_gradient(net, grid, weights, inputs, targets, moves, policy_loss, memory, gradient, losses):
    """Add the gradient of the loss over boards, and to ``losses`` what ownership and moves add to it.

    ``targets`` are probabilities that Black owns a point, [B, points]. ``moves`` are next moves, each with ``points``
    added if White makes it, or −1; they count ``policy_loss`` times, and not at all in a network without policies.
    """
    _turn_weights(net, weights, memory.turned)
    gradients = np.empty(grid.points * net.outputs, dtype=np.float32)
    for b in range(inputs.shape[0]):
        forward(net, grid, weights, inputs[b], memory)
        gradients[:] = 0
        losses[0] += _ownership_loss(net, grid, memory.logits, targets[b], gradients)
        if net.outputs > 1 and moves[b] >= 0:
            losses[1] += _move_loss(net, grid, memory.logits, moves[b], policy_loss, gradients)
        _backward(net, grid, weights, gradients, memory, gradient)


@kernel
def _ownership_loss(net, grid, logits, targets, gradients):
    """The relative entropy of targets T and outputs O, Σ T log(T/O) + (1 − T) log((1 − T)/(1 − O)), and its
    gradients.
    """
    total = 0.0
    for p in range(grid.points):
        x, target = np.float64(logits[p * net.outputs]), np.float64(targets[p])
        softplus = max(x, 0.0) + np.log1p(np.exp(-abs(x)))  # −log(1 − O)
        total += softplus - target * x
        if 0 < target < 1:
            total += target * np.log(target) + (1 - target) * np.log(1 - target)
        gradients[p * net.outputs] = 1 / (1 + np.exp(-x)) - target
    return total


@kernel
def _move_loss(net, grid, logits, move, share, gradients):
    """−log p of a move by the mover's softmax over all points, and its gradients, ``share`` times as large."""
    output = 1 + move // grid.points
    most = -np.inf
    for p in range(grid.points):
        most = max(most, logits[p * net.outputs + output])
    total = 0.0
    for p in range(grid.points):
        total += np.exp(np.float64(logits[p * net.outputs + output]) - most)
    for p in range(grid.points):
        gradients[p * net.outputs + output] = (
            share * np.exp(np.float64(logits[p * net.outputs + output]) - most) / total
        )
    played = move % grid.points * net.outputs + output
    gradients[played] -= share
    return np.log(total) + most - logits[played]


# The compiled part of ``territory/learner.py``: positions of games, who will own their points, and what is next.


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
