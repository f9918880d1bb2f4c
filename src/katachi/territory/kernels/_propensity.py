"""The compiled part of ``territory/inputs.py``: 3×3 windows read in their frames, counted over games, and averaged.

A window's code has a digit to the base 3 for each of its cells: 0 empty, 1 Black, 2 White. While a game is replayed
only windows that change are looked at: each counts its old content for as many positions as it had it. Kernels trust
their arguments: ``cells`` [W, 9] and ``classes`` [W] are those of ``territory/inputs.py`` for the size of the boards.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numba import njit

from katachi.go.kernels.board import play_moves, try_play
from katachi.go.points import BLACK, EMPTY, PASS

CELLS: Final = 9
ALL_LEGAL: Final = -1


@njit(cache=True, nogil=True)
def _read_window(b, cells, w):
    """The code of what stands in a window."""
    code = np.uint16(0)
    for k in range(np.uint16(CELLS)):
        s = b.stone[cells[w, k]]
        digit = np.uint16(0) if s == EMPTY else (np.uint16(1) if s == BLACK else np.uint16(2))
        code = np.uint16(np.uint16(3) * code + digit)
    return code


@njit(cache=True, nogil=True)
def _add(counts, cells, classes, ownership, w, code, positions):
    """Count the content of a window for each cell that ended as somebody's."""
    row = counts[classes[w], code]
    for k in range(np.uint16(CELLS)):
        owner = ownership[cells[w, k]]
        if owner != EMPTY:
            row[k, np.uint8(0) if owner == BLACK else np.uint8(1)] += np.uint64(positions)


@njit(cache=True, nogil=True)
def count_positions(records, ownership, cells, classes, counts):
    """Count the windows of boards [B] with their final ownership [B, n²]."""
    for i in range(records.size):
        for w in range(np.uint16(classes.size)):
            _add(counts, cells, classes, ownership[i], w, _read_window(records[i], cells, w), 1)


@njit(cache=True, nogil=True)
def _follow(b, cells, classes, ownership, counts, codes, since, w, now):
    """If a window has changed, count what it was until now."""
    code = _read_window(b, cells, w)
    if code != codes[w]:
        _add(counts, cells, classes, ownership, w, codes[w], now - since[w])
        codes[w] = code
        since[w] = now


@njit(cache=True, nogil=True)
def _follow_around(b, cells, classes, ownership, counts, codes, since, p, now):
    """Follow the windows that contain a point."""
    across = np.int64(b.lines) - 2
    row, column = p // np.int64(b.lines), p % np.int64(b.lines)
    for y in range(max(row - 2, 0), min(row, across - 1) + 1):
        for x in range(max(column - 2, 0), min(column, across - 1) + 1):
            _follow(b, cells, classes, ownership, counts, codes, since, np.uint16(y * across + x), now)


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def _windows_at(line, size):
    """How many places of a window along one edge take in a line."""
    return min(line + 1, size - line, 3, size - 2)


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def fill_propensity(boards, cells, classes, table, out):
    """The propensity of the points of one board, [n²], for Python to read."""
    average_propensity(boards[0], cells, classes, table, out)
