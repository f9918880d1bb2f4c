"""What the kernels of a DAG-RNN need for boards of one size: which step of which flip is where, and room to work
in.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from katachi.core.contracts import Floats, Ints
from katachi.territory.dag_rnn_basis import FLIP_SYMMETRIES
from katachi.territory.kernels.network import BLOCK, CORNER, FLIPS, INTERIOR, SIDE, Grid, Layout, Memory


@cache
def make_grid(size: int) -> Grid:
    """The tables of a board size."""
    points = size * size
    row, column = np.divmod(np.arange(points), size)
    missing = (row == 0).astype(np.int64) + (column == 0)
    kinds = np.array([INTERIOR, SIDE, CORNER])[missing]
    frame_width = size + 1
    frames = (row + 1) * frame_width + column + 1
    steps = np.stack([symmetry.points(size) for symmetry in FLIP_SYMMETRIES])
    places = _places(steps, kinds)
    at_work = [np.flatnonzero((rows < FLIPS * points).any(axis=0)) for rows in places]
    seen = [_fill_up(found, points) for found in at_work]
    order = np.argsort(kinds, kind="stable")
    return Grid(
        points=points,
        frame_width=frame_width,
        steps=steps,
        kinds=kinds,
        frames=frames,
        places=places,
        seen=np.concatenate(seen),
        seen_first=_starts([found.size for found in seen]),
        seen_count=np.array([found.size for found in at_work]),
        rows=_rows(order),
        above=_rows(frames[order] - frame_width),
        left=_rows(frames[order] - 1),
        rows_first=_starts([FLIPS * int((kinds == kind).sum()) for kind in (INTERIOR, SIDE, CORNER)]),
    )


def _places(steps: Ints, kinds: Ints) -> Ints:
    """Step and flip of each point in each flip, for every network, [4, 4, n²]; those of the output network by point."""
    flips, points = steps.shape
    rows = steps * flips + np.arange(flips)[:, None]
    places = [np.where(kinds[steps] == kind, rows, flips * points) for kind in (INTERIOR, SIDE, CORNER)]
    return np.stack([*places, np.arange(points) * flips + np.arange(flips)[:, None]])


def _fill_up(found: Ints, filler: int) -> Ints:
    return np.concatenate([found, np.full(-found.size % BLOCK, filler)])


def _rows(places: Ints) -> Ints:
    """Place and flip, as one number."""
    return np.asarray((places[:, None] * FLIPS + np.arange(FLIPS)).ravel())


def _starts(counts: list[int]) -> Ints:
    return np.cumsum([0, *counts])


def make_memory(net: Layout, grid: Grid, weights: int) -> Memory:
    """Room for one board, for a network whose kernels take so many weights."""
    points, frame, sweeps = grid.points, grid.frame_width**2, net.sweeps
    return Memory(
        seen=_zeros((points + 1) * net.width),
        units=_zeros((sweeps + 1) * points * FLIPS * net.hidden),
        ends=_zeros(sweeps * points * FLIPS * net.ends if net.gated else 0),
        states=_zeros(sweeps * frame * FLIPS * net.channels),
        means=_zeros(points * net.hidden),
        logits=_zeros(points * net.outputs),
        scratch=_zeros(2 * FLIPS * max(BLOCK * net.hidden, net.channels)),
        turned=_zeros(weights),
        unit_slopes=_zeros((points * FLIPS + 1) * net.hidden),
        end_slopes=_zeros(points * FLIPS * net.ends),
        state_slopes=_zeros(frame * FLIPS * net.channels),
        spectrum=_zeros(FLIPS * (points + 1) * net.hidden),
        seen_slopes=_zeros((points + 1) * FLIPS * sweeps * net.channels),
    )


def _zeros(count: int) -> Floats:
    return np.zeros(count, dtype=np.float32)
