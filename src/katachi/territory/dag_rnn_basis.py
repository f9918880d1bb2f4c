"""The basis in which flips of the board are signs: what they do to the inputs of a point, by their four characters.

The flips are a group of four that commute, so numbers that they permute have a basis of vectors that each flip leaves
alone or negates; which flips negate it is the vector's *character*. Inputs that flips exchange with each other, one,
two or four of them, are replaced by their sums and differences.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np

from katachi.core.contracts import Doubles, Ints
from katachi.go.points import Symmetry
from katachi.territory.kernels.network import BLOCK, FLIPS

# Flip f mirrors columns if bit 0 is set, and rows if bit 1 is. They are all their own inverses.
FLIP_SYMMETRIES: Final = (Symmetry.IDENTITY, Symmetry.MIRROR, Symmetry.MIRROR_TURN_180, Symmetry.TURN_180)
CHARACTERS: Final = np.array([[1, 1, 1, 1], [1, -1, 1, -1], [1, 1, -1, -1], [1, -1, -1, 1]])  # [character, flip]


class InputShares(NamedTuple):
    """The vectors of the basis, number by number: so much of an input is in a place."""

    places: Ints
    inputs: Ints
    shares: Doubles


class InputBasis(NamedTuple):
    """The inputs of a point by characters: where each vector of the basis has its place."""

    counts: Ints  # [4]: how many places each character has, filled up to a multiple of ``BLOCK``
    shares: InputShares

    def shift(self, places: Ints, by: int) -> Ints:
        """Places in a row that has so many more numbers after those of each character."""
        starts = np.cumsum(self.counts) - self.counts
        return np.asarray(places + (np.searchsorted(starts, places, side="right") - 1) * by)

    def groups(self, length: int) -> Ints:
        """Inputs that flips exchange, so many at a time, and after them the places of their vectors; [., 2 · length].

        The first is exchanged with the second by mirroring columns where there are four, and by any flip where there
        are two. Places are in the order of the characters.
        """
        members: dict[int, list[int]] = {}
        for place, number in zip(self.shares.places.tolist(), self.shares.inputs.tolist(), strict=True):
            members.setdefault(place, []).append(number)
        places: dict[tuple[int, ...], list[int]] = {}
        for place, group in members.items():
            places.setdefault(tuple(group), []).append(place)
        rows = [[*group, *there] for group, there in places.items() if len(group) == length]
        return np.array(rows, dtype=np.int64).reshape(-1, 2 * length)


def make_basis(orders: Ints) -> InputBasis:
    """The basis for inputs of which flip f makes ``inputs[orders[f]]``; orders are [4, d]."""
    vectors: list[list[dict[int, float]]] = [[] for _ in range(FLIPS)]
    for first in np.flatnonzero(orders.min(axis=0) == orders[0]):
        orbit = orders[:, first].tolist()
        for character, signs in enumerate(CHARACTERS):
            vector = {number: float(signs[np.equal(orbit, number)].sum()) for number in orbit}
            length = math.hypot(*vector.values())
            if length > 0:
                vectors[character].append({number: value / length for number, value in vector.items()})
    counts = np.array([-(-len(found) // BLOCK) * BLOCK for found in vectors])
    shares = [
        (int(start) + place, number, value)
        for start, found in zip(np.cumsum(counts) - counts, vectors, strict=True)
        for place, vector in enumerate(found)
        for number, value in vector.items()
    ]
    places, inputs, values = zip(*shares, strict=True)
    return InputBasis(counts, InputShares(np.array(places), np.array(inputs), np.array(values)))
