"""A prior for a tree search: the probability of each move by its learned weights, at the cost of part of a
playout.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from katachi.go.kernels.board import is_sensible
from katachi.search.kernels._move_features import move_distance, move_tactic
from katachi.search.kernels.patterns import fill_views, pattern_code


@njit(cache=True, nogil=True)
def move_strength(b, playout, p, color):
    """The product of the gammas of a legal move; ``seen``, ``last`` and ``before`` of the playout must be right."""
    strength = np.float64(playout.gamma[pattern_code(b, playout, p, color)])
    strength *= playout.tactic_gamma[move_tactic(b, p, color, playout.last)]
    strength *= playout.last_gamma[move_distance(b.lines, p, playout.last)]
    return strength * playout.before_gamma[move_distance(b.lines, p, playout.before)]


@njit(cache=True, nogil=True)
def pattern_prior(b, playout, out):
    """Write the probability of every point for the player to move, [n²]: 0 where no move is sensible.

    ``playout.last`` and ``playout.before`` are the last two moves, OFF where they are not known or a pass. Returns
    whether there is a sensible move; without one all is 0.
    """
    fill_views(b, playout)
    points = np.uint16(b.lines * b.lines)
    total = 0.0
    for p in range(points):
        strength = 0.0
        if is_sensible(b, np.uint16(p), b.to_play):
            strength = move_strength(b, playout, np.uint16(p), b.to_play)
        out[p] = strength
        total += strength
    if total == 0.0:
        return False
    for p in range(points):
        out[p] /= total
    return True


@njit(cache=True, nogil=True)
def fill_pattern_prior(boards, playouts, out):
    """``pattern_prior`` for Python: record arrays of one board and one playout."""
    return pattern_prior(boards[0], playouts[0], out)
