"""Which territory a move moved: the points that became more Black's or more White's, and by how much together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

Ownership = NDArray[np.floating]

MOVED: Final = 0.5  # of the way from one color to the other is 2: so much is told of a single point


@dataclass(frozen=True, slots=True)
class TerritoryChange:
    """What became of the points: ``black_gain`` is their sum, all of them counted."""

    black_gain: float
    to_black: tuple[int, ...]  # points that moved far, the farthest first
    to_white: tuple[int, ...]


def compare_ownership(before: Ownership, now: Ownership) -> TerritoryChange:
    """What changed between two judgments of who will own each point, [n²] in [−1, 1]."""
    change = now.astype(np.float64) - before
    order = np.argsort(-np.abs(change), kind="stable").tolist()
    moved = [point for point in order if abs(change[point]) >= MOVED]
    return TerritoryChange(
        float(change.sum()),
        tuple(point for point in moved if change[point] > 0),
        tuple(point for point in moved if change[point] < 0),
    )
