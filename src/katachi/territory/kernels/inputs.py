"""The compiled part of ``territory/inputs.py``: the inputs of all points of many boards in one call.

What a point and its neighbors are is first written to a board with a margin of zeros, so that a neighborhood is read
without asking where the board ends. Kernels trust their arguments.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from katachi.features.kernels.influence import GROUPS, ORDERS, new_influence, read_groups, spread
from katachi.go.kernels import kernel
from katachi.go.kernels.board import OFF, play_moves, record_dtype, try_play
from katachi.go.points import BLACK, EMPTY, MAX_POINTS, MAX_SIZE, PASS

# The compiled part of ``territory/inputs.py``: 3×3 windows read in their frames, counted over games, and averaged.
#
# A window's code has a digit to the base 3 for each of its cells: 0 empty, 1 Black, 2 White. While a game is replayed
# only windows that change are looked at: each counts its old content for as many positions as it had it. Kernels trust
# their arguments: ``cells`` [W, 9] and ``classes`` [W] are those of ``territory/inputs.py`` for the size of the boards.

CELLS: Final = 9
ALL_LEGAL: Final = -1


@kernel
def _read_window(b, cells, w):
    """The code of what stands in a window."""
    code = np.uint16(0)
    for k in range(np.uint16(CELLS)):
        s = b.stone[cells[w, k]]
        digit = np.uint16(0) if s == EMPTY else (np.uint16(1) if s == BLACK else np.uint16(2))
        code = np.uint16(np.uint16(3) * code + digit)
    return code


@kernel
def _add(counts, cells, classes, ownership, w, code, positions):
    """Count the content of a window for each cell that ended as somebody's."""
    row = counts[classes[w], code]
    for k in range(np.uint16(CELLS)):
        owner = ownership[cells[w, k]]
        if owner != EMPTY:
            row[k, np.uint8(0) if owner == BLACK else np.uint8(1)] += np.uint64(positions)


@kernel
def count_positions(records, ownership, cells, classes, counts):
    """Count the windows of boards [B] with their final ownership [B, n²]."""
    for i in range(records.size):
        for w in range(np.uint16(classes.size)):
            _add(counts, cells, classes, ownership[i], w, _read_window(records[i], cells, w), 1)


@kernel
def _follow(b, cells, classes, ownership, counts, codes, since, w, now):
    """If a window has changed, count what it was until now."""
    code = _read_window(b, cells, w)
    if code != codes[w]:
        _add(counts, cells, classes, ownership, w, codes[w], now - since[w])
        codes[w] = code
        since[w] = now


@kernel
def _follow_around(b, cells, classes, ownership, counts, codes, since, p, now):
    """Follow the windows that contain a point."""
    across = np.int64(b.lines) - 2
    row, column = p // np.int64(b.lines), p % np.int64(b.lines)
    for y in range(max(row - 2, 0), min(row, across - 1) + 1):
        for x in range(max(column - 2, 0), min(column, across - 1) + 1):
            _follow(b, cells, classes, ownership, counts, codes, since, np.uint16(y * across + x), now)


@kernel
def count_game(start, moves, colors, ownership, cells, classes, counts):
    """Count the windows of all positions of a game, the first and the last among them.

    Returns ``ALL_LEGAL``, or which move is illegal; then nothing was counted.
    """
    boards = start.copy()
    legal = play_moves(boards, moves, colors, False)
    if legal < moves.size:
        return legal
    boards[0] = start[0]
    b = boards[0]
    windows = np.uint16(classes.size)
    codes = np.empty(classes.size, dtype=np.uint16)
    since = np.zeros(classes.size, dtype=np.int64)
    for w in range(windows):
        codes[w] = _read_window(b, cells, w)
    for ply in range(moves.size):
        empty = np.int64(b.empty_count)
        try_play(boards, moves[ply], colors[ply], False)
        if moves[ply] == PASS:
            continue
        if np.int64(b.empty_count) == empty - 1:
            _follow_around(b, cells, classes, ownership, counts, codes, since, moves[ply], ply + 1)
        else:  # stones were taken
            for w in range(windows):
                _follow(b, cells, classes, ownership, counts, codes, since, w, ply + 1)
    for w in range(windows):
        _add(counts, cells, classes, ownership, w, codes[w], moves.size + 1 - since[w])
    return ALL_LEGAL


@kernel
def _windows_at(line, size):
    """How many places of a window along one edge take in a line."""
    return min(line + 1, size - line, 3, size - 2)


@kernel
def average_propensity(b, cells, classes, table, out):
    """Set ``out[point]`` to the mean over the windows that contain it; 0 where the board has none."""
    size = np.int64(b.lines)
    for p in range(size * size):
        out[p] = np.float32(0)
    for w in range(np.uint16(classes.size)):
        values = table[classes[w], _read_window(b, cells, w)]
        for k in range(np.uint16(CELLS)):
            out[cells[w, k]] += values[k]
    point = np.uint16(0)
    for row in range(size):
        for column in range(size):
            out[point] /= np.float32(max(_windows_at(row, size) * _windows_at(column, size), 1))
            point += np.uint16(1)


@kernel
def fill_propensity(boards, cells, classes, table, out):
    """The propensity of the points of one board, [n²], for Python to read."""
    average_propensity(boards[0], cells, classes, table, out)


# Point inputs

MARGIN: Final = 2  # the farthest line of a neighborhood
LOCAL: Final = 6  # black, white, empty, Black's and White's influence, propensity
GROUP: Final = 15  # eyes, four orders of liberties, twice black, white, none, liberties, eyes

# Counts are divided by these, and are 1 from there on.
MANY_EYES: Final = 2
MANY_LIBERTIES: Final = 8
MANY_FAR_LIBERTIES: Final = 16

_PADDED: Final = (MAX_SIZE + 2 * MARGIN) ** 2

INPUTS: Final = record_dtype(
    [
        ("local", np.float32, (_PADDED, LOCAL)),  # of each point of the board with its margin
        ("propensity", np.float32, MAX_POINTS),
        ("group", np.float32, (MAX_POINTS, GROUP)),  # of each group
    ]
)


@kernel
def _share(count, many):
    """A count as a number from 0 to 1."""
    return np.float32(min(np.int64(count), many)) / np.float32(many)


@kernel
def _describe_opponent(b, g, opponent, out, first):
    """Tell of an adjacent opponent group, or that there is none."""
    for j in range(np.uint16(5)):
        out[first + j] = np.float32(0)
    if opponent == OFF:
        out[first + 2] = np.float32(1)
        return
    out[first + (0 if b.stone[opponent] == BLACK else 1)] = np.float32(1)
    out[first + 3] = _share(g.liberties[opponent, 0], MANY_LIBERTIES)
    out[first + 4] = _share(g.eyes[opponent], MANY_EYES)


@kernel
def _describe_groups(b, g, work):
    """Write the inputs of each group."""
    for i in range(g.group_count):
        group = g.groups[i]
        out = work.group[group]
        out[0] = _share(g.eyes[group], MANY_EYES)
        out[1] = _share(g.liberties[group, 0], MANY_LIBERTIES)
        for order in range(1, ORDERS):
            out[1 + order] = _share(g.liberties[group, order], MANY_FAR_LIBERTIES)
        _describe_opponent(b, g, g.weakest[group, 0], out, 1 + ORDERS)
        _describe_opponent(b, g, g.weakest[group, 1], out, 6 + ORDERS)


@kernel
def _describe_points(b, f, work, maximum):
    """Write the inputs of each point to the board with the margin."""
    width = np.uint16(b.lines) + np.uint16(2 * MARGIN)
    p = np.uint16(0)
    for row in range(np.uint16(b.lines)):
        q = np.uint16((row + np.uint16(MARGIN)) * width + np.uint16(MARGIN))
        for _ in range(b.lines):
            s = b.stone[p]
            point = work.local[q]
            point[0] = np.float32(s == BLACK)
            point[1] = np.float32(s == -BLACK)
            point[2] = np.float32(s == EMPTY)
            point[3] = np.float32(min(f.maps[0, p] / maximum, 1.0))
            point[4] = np.float32(min(f.maps[1, p] / maximum, 1.0))
            point[5] = work.propensity[p]
            p += np.uint16(1)
            q += np.uint16(1)


@kernel
def _assemble(b, g, work, shifts, out):
    """Put the inputs of each point together, [n², d]."""
    width = np.int64(b.lines) + 2 * MARGIN
    places = shifts.size
    p = np.uint16(0)
    for row in range(np.int64(b.lines)):
        center = (row + MARGIN) * width + MARGIN
        for _ in range(b.lines):
            inputs = out[p]
            for k in range(places):
                near = work.local[np.uint16(center + shifts[k])]
                for j in range(np.uint16(3)):
                    inputs[3 * k + j] = near[j]
                inputs[3 * places + 2 * k] = near[3]
                inputs[3 * places + 2 * k + 1] = near[4]
                inputs[5 * places + k] = near[5]
            for j in range(GROUP):
                inputs[LOCAL * places + j] = work.group[g.group[p], j] if b.stone[p] != EMPTY else np.float32(0)
            p += np.uint16(1)
            center += 1


@kernel
def fill_inputs(records, loose, method, constants, maximum, shifts, cells, classes, table, out):
    """The inputs of boards [B] of one size, [B, n², d].

    ``shifts`` lead from a point to the places of its neighborhood on the board with its margin; the rest is what
    ``features/kernels/influence.py``, ``features/kernels/influence.py`` and ``territory/kernels/inputs.py`` want.
    """
    groups = np.empty(1, dtype=GROUPS)
    influence = new_influence()
    work = np.zeros(1, dtype=INPUTS)
    for i in range(records.size):
        b, g, f = records[i], groups[0], influence[0]
        read_groups(b, g, loose)
        spread(b, g, f, method, constants)
        average_propensity(b, cells, classes, table, work[0].propensity)
        _describe_groups(b, g, work[0])
        _describe_points(b, f, work[0], maximum)
        _assemble(b, g, work[0], shifts, out[i])
