"""Candidate moves of many boards in one call, so that no call from Python is measured."""

from __future__ import annotations

import numpy as np
from numba import types

from katachi.go.kernels import kernel
from katachi.go.kernels.board import LEGAL, illegality, play_stone
from katachi.go.kernels.values import PARAMETERS, RECORDS, SWEEP, VALUE
from katachi.go.points import MAX_POINTS


@kernel(signature=types.int64(RECORDS, SWEEP, PARAMETERS, types.int64))
def sweep_boards(boards, sweep, parameters, count):
    """Sweep board after board until ``count`` candidates are valued, passes not counted; returns how many."""
    values = np.empty(MAX_POINTS + 1)
    done = 0
    i = 0
    while done < count:
        sweep(boards[i : i + 1], parameters, values)
        for p in range(boards[i].lines * boards[i].lines):
            done += not np.isnan(values[p])
        i = (i + 1) % boards.size
    return done


@kernel(signature=types.int64(RECORDS, RECORDS, VALUE, PARAMETERS, types.int64))
def value_afterstates(boards, spare, value, parameters, count):
    """The same by playing every move on ``spare[0]`` and valuing the whole board."""
    done = 0
    i = 0
    while done < count:
        b = boards[i]
        for p in range(np.uint16(b.lines * b.lines)):
            if illegality(b, p, b.to_play, False) == LEGAL:
                spare[0] = b
                play_stone(spare[0], p, b.to_play)
                value(spare, parameters)
                done += 1
        i = (i + 1) % boards.size
    return done
