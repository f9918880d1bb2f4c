"""The compiled part of ``crbm/evaluator.py``: the features of a board, and what they are worth after each of its
moves.

A window's inputs are sums of rows of a table: one row, a number for every hidden unit, for each cell of the window
and each state of that cell. After a move only the windows that hold a changed point are computed again, each of them
from the start: so the features of a sweep are those of a whole-board pass to the last bit. A second layer sees
numbers instead of states, and its inputs are a product with a matrix for each cell.

The integers hold what ``crbm/evaluator.py`` lays out: a header, and a block for each layer that says how large it is
and where its base and its table begin among the floats. Kernels trust their arguments.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from katachi.crbm.kernels.features import fill_states
from katachi.go.kernels import kernel
from katachi.go.kernels.board import LEGAL, illegality, play_stone
from katachi.go.points import MAX_POINTS

# The header.
WITH_LIBERTIES: Final = 0
LAYERS: Final = 1
HEADER: Final = 2

# A layer's block.
LINES: Final = 0  # of what it sees, in one direction
SIDE: Final = 1  # of its kernels
PLACES: Final = 2  # in one direction
CHANNELS: Final = 3
UNITS: Final = 4  # of a place: kernels in all orientations
ORIENTATIONS: Final = 5
POOLED: Final = 6  # whether the features do not tell which orientation is on
MAPS: Final = 7  # features of a place
BASE_AT: Final = 8  # inputs that do not depend on the board, [places², units]
TABLE_AT: Final = 9  # [k², channels, units]
CENTER_AT: Final = 10  # what is subtracted from the features of every place, [maps]
BLOCK: Final = 11
FIRST: Final = HEADER
SECOND: Final = HEADER + BLOCK


@kernel
def _add_row(floats, start, inputs, units):
    for u in range(np.uint64(units)):
        inputs[u] += floats[start + u]


@kernel
def _add_scaled_row(floats, start, factor, inputs, units):
    for u in range(np.uint64(units)):
        inputs[u] += factor * floats[start + u]


@kernel
def _begin_inputs(ints, floats, layer, place, inputs):
    units = ints[layer + UNITS]
    start = np.uint64(ints[layer + BASE_AT] + place * units)
    for u in range(np.uint64(units)):
        inputs[u] = floats[start + u]


@kernel
def _first_inputs(ints, floats, states, place, inputs):
    """What reaches the hidden units of a window of the board."""
    _begin_inputs(ints, floats, FIRST, place, inputs)
    units, side, lines = ints[FIRST + UNITS], ints[FIRST + SIDE], ints[FIRST + LINES]
    row, col = place // ints[FIRST + PLACES], place % ints[FIRST + PLACES]
    cell = 0
    for down in range(side):
        for right in range(side):
            state = np.int64(states[(row + down) * lines + col + right])
            start = ints[FIRST + TABLE_AT] + (cell * ints[FIRST + CHANNELS] + state) * units
            _add_row(floats, np.uint64(start), inputs, units)
            cell += 1


@kernel
def _second_inputs(ints, floats, below, place, inputs):
    """What reaches the hidden units of a window of the first layer's features."""
    _begin_inputs(ints, floats, SECOND, place, inputs)
    units, side, lines = ints[SECOND + UNITS], ints[SECOND + SIDE], ints[SECOND + LINES]
    channels = ints[SECOND + CHANNELS]
    row, col = place // ints[SECOND + PLACES], place % ints[SECOND + PLACES]
    start = np.uint64(ints[SECOND + TABLE_AT])
    for down in range(side):
        for right in range(side):
            at = np.uint64(((row + down) * lines + col + right) * channels)
            for channel in range(np.uint64(channels)):
                _add_scaled_row(floats, start, below[at + channel], inputs, units)
                start += np.uint64(units)


@kernel
def _activate(ints, floats, layer, inputs, features, at):
    """Write the features of a place: the probabilities of its units, or of any orientation if they are pooled."""
    one = np.float32(1)
    center = np.uint64(ints[layer + CENTER_AT])
    units, orientations = np.uint64(ints[layer + UNITS]), np.uint64(ints[layer + ORIENTATIONS])
    if orientations == 1:
        for u in range(units):
            features[at + u] = one / (one + math.exp(-inputs[u])) - floats[center + u]
        return
    for unit in range(np.uint64(ints[layer + UNITS] // ints[layer + ORIENTATIONS])):
        first = unit * orientations
        highest = np.float32(0) if ints[layer + POOLED] else inputs[first]
        for g in range(orientations):
            highest = max(highest, inputs[first + g])
        total = np.float32(0)
        for g in range(orientations):
            inputs[first + g] = math.exp(inputs[first + g] - highest)
            total += inputs[first + g]
        if ints[layer + POOLED]:
            features[at + unit] = total / (total + math.exp(-highest)) - floats[center + unit]
        else:
            for g in range(orientations):
                features[at + first + g] = inputs[first + g] / total - floats[center + first + g]


@kernel
def _mark_windows(ints, layer, changed, marks):
    """Mark the windows of a layer that hold a changed point of what it sees; returns whether there are any."""
    lines, side, places = ints[layer + LINES], ints[layer + SIDE], ints[layer + PLACES]
    marks[: places * places] = False
    some = False
    for point in range(lines * lines):
        if changed[point]:
            some = True
            row, col = point // lines, point % lines
            for i in range(max(0, row - side + 1), min(row, places - 1) + 1):
                for j in range(max(0, col - side + 1), min(col, places - 1) + 1):
                    marks[i * places + j] = True
    return some


@kernel
def _compute_first(ints, floats, states, marks, inputs, features):
    """Compute the features of the marked windows of a board."""
    places, maps = ints[FIRST + PLACES], ints[FIRST + MAPS]
    for place in range(places * places):
        if marks[place]:
            _first_inputs(ints, floats, states, place, inputs)
            _activate(ints, floats, FIRST, inputs, features, np.uint64(place * maps))


@kernel
def _compute_second(ints, floats, below, marks, inputs, features):
    """Compute the features of the marked windows of the first layer's features."""
    places, maps = ints[SECOND + PLACES], ints[SECOND + MAPS]
    for place in range(places * places):
        if marks[place]:
            _second_inputs(ints, floats, below, place, inputs)
            _activate(ints, floats, SECOND, inputs, features, np.uint64(place * maps))


@kernel
def _new_features(ints, layer):
    return np.empty(ints[layer + PLACES] * ints[layer + PLACES] * ints[layer + MAPS], np.float32)


@kernel
def _new_inputs(ints):
    units = ints[FIRST + UNITS]
    if ints[LAYERS] > 1:
        units = max(units, ints[SECOND + UNITS])
    return np.empty(units, np.float32)


@kernel
def _sum_place(weights, features, place, maps):
    """What the features of a place are worth."""
    total = 0.0
    start = np.uint64(place * maps)
    for m in range(np.uint64(maps)):
        total += np.float64(weights[start + m]) * np.float64(features[start + m])
    return total


@kernel
def fill_features(boards, ints, floats, out):
    """Write the features of boards, [B, features], as the player who has just moved sees them."""
    states = np.empty(MAX_POINTS, np.uint8)
    marks = np.ones(MAX_POINTS, np.bool_)
    inputs = _new_inputs(ints)
    below = _new_features(ints, FIRST)
    for i in range(boards.size):
        fill_states(boards[i], -boards[i].to_play, ints[WITH_LIBERTIES], states)
        if ints[LAYERS] > 1:
            _compute_first(ints, floats, states, marks, inputs, below)
            _compute_second(ints, floats, below, marks, inputs, out[i])
        else:
            _compute_first(ints, floats, states, marks, inputs, out[i])


@kernel
def sum_afterstates(boards, spare, ints, floats, weights, values):
    """Σ weight · feature after each move on ``boards[0]``, [n²+1], the pass last; NaN where it is illegal.

    ``spare`` is one more record to play on. It is long because it is two layers with and without a move, and all of
    their memory is taken once.
    """
    b = boards[0]
    color = b.to_play
    points = np.uint16(b.lines * b.lines)
    stacked = ints[LAYERS] > 1
    last = SECOND if stacked else FIRST
    places, maps = ints[last + PLACES] * ints[last + PLACES], ints[last + MAPS]
    states, after = np.empty(MAX_POINTS, np.uint8), np.empty(MAX_POINTS, np.uint8)
    changed, marks, upper = np.empty(MAX_POINTS, np.bool_), np.ones(MAX_POINTS, np.bool_), np.ones(MAX_POINTS, np.bool_)
    inputs = _new_inputs(ints)
    first, below = _new_features(ints, FIRST), _new_features(ints, FIRST)
    second = _new_features(ints, SECOND) if stacked else first
    sums = np.empty(places)

    fill_states(b, color, ints[WITH_LIBERTIES], states)
    _compute_first(ints, floats, states, marks, inputs, first)
    if stacked:
        _compute_second(ints, floats, first, upper, inputs, second)
    total = 0.0
    for place in range(places):
        sums[place] = _sum_place(weights, second, place, maps)
        total += sums[place]
    values[points] = total
    for p in range(points):
        if illegality(b, p, color, False) != LEGAL:
            values[p] = np.nan
            continue
        spare[0] = b
        play_stone(spare[0], p, color)
        fill_states(spare[0], color, ints[WITH_LIBERTIES], after)
        for q in range(points):
            changed[q] = after[q] != states[q]
        _mark_windows(ints, FIRST, changed, marks)
        if stacked:
            below[:] = first
            _compute_first(ints, floats, after, marks, inputs, below)
            _mark_windows(ints, SECOND, marks, upper)
            _compute_second(ints, floats, below, upper, inputs, second)
        else:
            _compute_first(ints, floats, after, marks, inputs, below)
        hit = upper if stacked else marks
        found = second if stacked else below
        total = 0.0
        for place in range(places):
            total += _sum_place(weights, found, place, maps) if hit[place] else sums[place]
        values[p] = total
