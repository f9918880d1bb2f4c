"""The compiled part of ``shapes/model.py`` for local shapes and liberty shapes together: the same value, sweep and
types.

The parameters are those of ``shapes/kernels/model.py``, with the tables of the 2×2 liberty windows behind
(``shapes/kernels/liberty_windows.py``), in the same unit. All sums are of integers: a sweep agrees with a whole-board
pass to the last bit, and so do a board and its mirror images. Kernels trust their arguments.
"""

from __future__ import annotations

import numpy as np

from katachi.go.kernels import kernel
from katachi.go.kernels.board import BOARD, LEGAL, illegality
from katachi.go.kernels.values import logistic, make_shares
from katachi.go.points import MAX_POINTS
from katachi.shapes.kernels.liberty_windows import POSITION, gain_of_capture, gain_of_stone, read_position
from katachi.shapes.kernels.model import (
    LIBERTIES_AT,
    MAX_WINDOWS,
    captured_heads,
    fill_gains,
    gain_with_captures,
    index_windows,
)


@kernel
def board_logit(boards, parameters):
    """The logit of the player who has just moved on ``boards[0]``."""
    ints, floats = parameters
    b = boards[0]
    index = np.empty(MAX_WINDOWS, np.int32)
    positions = np.empty(1, POSITION)
    total = index_windows(b, -b.to_play, ints, index)
    total += read_position(positions[0], b, -b.to_play, ints, np.uint32(ints[LIBERTIES_AT]))
    return total * np.float64(floats[0])


@kernel
def value(boards, parameters):
    """P(Black wins) on ``boards[0]``."""
    logit = board_logit(boards, parameters)
    return logistic(-boards[0].to_play * logit)


@kernel
def sweep_log_odds(boards, parameters, values):
    """The log-odds of Black after each move on ``boards[0]``, [n²+1], the pass last; NaN where it is illegal."""
    ints, floats = parameters
    b = boards[0]
    color = b.to_play
    unit = color * np.float64(floats[0])
    first = np.uint32(ints[LIBERTIES_AT])
    points = np.uint16(b.lines * b.lines)
    index = np.empty(MAX_WINDOWS, np.int32)
    heads = np.empty(4, np.uint16)
    gains = np.empty(MAX_POINTS, np.int64)
    positions = np.empty(1, POSITION)
    spare = np.empty(1, BOARD)  # what a capture changes and changes back; copied when there is one
    is_copied = False
    total = index_windows(b, color, ints, index)
    fill_gains(b, ints, index, gains)
    total += read_position(positions[0], b, color, ints, first)
    for p in range(points):
        if illegality(b, p, color, False) != LEGAL:
            values[p] = np.nan
            continue
        taken = captured_heads(b, p, color, heads)
        if taken:
            if not is_copied:
                spare[0] = b
                is_copied = True
            gain = gain_with_captures(b, p, heads, taken, ints, index)
            gain += gain_of_capture(positions[0], spare[0], p, color, ints, first)
        else:
            gain = gains[p] + gain_of_stone(positions[0], b, p, color, ints, first)
        values[p] = unit * (total + gain)
    values[points] = unit * total


@kernel
def sweep(boards, parameters, values):
    """P(Black wins) after each move on ``boards[0]``, as ``sweep_log_odds``."""
    sweep_log_odds(boards, parameters, values)
    make_shares(values, boards[0].lines * boards[0].lines + 1)
