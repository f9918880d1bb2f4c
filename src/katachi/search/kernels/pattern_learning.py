"""The compiled part of ``search/pattern_learning.py``: the choices in a game as lists of features, and passes over
them.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from katachi.go.kernels import kernel
from katachi.go.kernels.board import LEGAL, OFF, illegality, is_sensible, play_pass, play_stone, record_dtype
from katachi.go.points import EMPTY, MAX_POINTS, PASS
from katachi.search.kernels.patterns import fill_views, pattern_code
from katachi.search.kernels.playouts import move_distance, move_tactic

GROUPS: Final = 4  # pattern, tactic, distance to the last move, to the one before

VIEWS: Final = record_dtype([("seen", np.uint16, MAX_POINTS + 1)])


@kernel
def _write_candidates(b, views, color, move, recent, classes, out):
    """Write the features of all sensible moves, the one that was played first; returns how many."""
    count = 1
    for i in range(np.uint16(b.lines * b.lines)):
        p = np.uint16(i)
        if b.stone[p] != EMPTY or not is_sensible(b, p, color):
            continue
        row = 0 if p == move else count
        out[row, 0] = classes[pattern_code(b, views, p, color)]
        out[row, 1] = move_tactic(b, p, color, recent[0])
        out[row, 2] = move_distance(b.lines, p, recent[0])
        out[row, 3] = move_distance(b.lines, p, recent[1])
        count += p != move
    return count


@kernel
def write_choices(boards, moves, colors, first, step, classes, out, counts):
    """Play a game on ``boards[0]`` and write every ``step``-th choice from ply ``first`` on.

    Choices follow each other in ``out`` [candidates, GROUPS], and ``counts``, all 0 before, says how long each is. A
    pass and a move that fills an eye are not choices; an illegal move ends the game.
    """
    b = boards[0]
    views = np.zeros(1, VIEWS)[0]
    recent = np.full(2, OFF, np.uint16)
    choices = 0
    used = 0
    for ply in range(moves.size):
        color = colors[ply]
        move = OFF if moves[ply] == PASS else np.uint16(moves[ply])
        if move == OFF:
            play_pass(b, color)
        else:
            if illegality(b, move, color, False) != LEGAL:
                break
            if ply % step == first and is_sensible(b, move, color):
                fill_views(b, views)
                counts[choices] = _write_candidates(b, views, color, move, recent, classes, out[used:])
                used += counts[choices]
                choices += 1
            play_stone(b, move, color)
        recent[1] = recent[0]
        recent[0] = move


@kernel
def _strength(features, gammas, offsets, i):
    product = 1.0
    for g in range(GROUPS):
        product *= gammas[offsets[g] + features[i, g]]
    return product


@kernel
def count_wins(features, starts, group, wins):
    """Count how often each feature of a group was chosen."""
    for choice in range(starts.size - 1):
        wins[features[starts[choice], group]] += 1


@kernel
def add_shares(features, starts, gammas, offsets, group, shares):
    """Add up for each feature of a group what stands beside its gamma in the likelihood (Coulom 2007, eq. 5)."""
    for choice in range(starts.size - 1):
        total = 0.0
        for i in range(starts[choice], starts[choice + 1]):
            total += _strength(features, gammas, offsets, i)
        for i in range(starts[choice], starts[choice + 1]):
            feature = features[i, group]
            shares[feature] += _strength(features, gammas, offsets, i) / (gammas[offsets[group] + feature] * total)


@kernel
def measure_fit(features, starts, gammas, offsets):
    """The mean log probability of what was chosen, and how often nothing was more probable (a tie counts its share)."""
    logs = 0.0
    hits = 0.0
    for choice in range(starts.size - 1):
        chosen = _strength(features, gammas, offsets, starts[choice])
        total = 0.0
        better = 0
        equal = 0
        for i in range(starts[choice], starts[choice + 1]):
            strength = _strength(features, gammas, offsets, i)
            total += strength
            better += strength > chosen
            equal += strength == chosen
        logs += np.log(chosen / total)
        hits += 1.0 / equal if better == 0 else 0.0
    return logs / (starts.size - 1), hits / (starts.size - 1)
