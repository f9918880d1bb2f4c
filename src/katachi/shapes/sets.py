"""Sets of local shapes: which rectangles, shared how, and how many shapes there are.

A *local shape* fixes every point of a rectangle as empty, the mover's or the enemy's. A *set* is all shapes of one
size, wherever the rectangle lies on the board: an oblong one lies both ways. Location independent sets (LI) share a
weight over the whole board and its eight symmetries, location dependent ones (LD) over the symmetries alone
(Silver, Sutton and Müller 2007, section 4).

>>> small = ShapeSet.parse("LI 2x1")
>>> small.active_count(5), small.allocated(5), small.distinct(5)
(40, 9, 6)
>>> small.is_as_general_as(ShapeSet.parse("LD 3x3"))
True
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from katachi.features.windows import PAPER_SIZES

HASHED_SIZES: Final = PAPER_SIZES[5:]  # too many shapes: they share bins


class Location(Enum):
    """Whether a shape means the same everywhere."""

    INDEPENDENT = "LI"
    DEPENDENT = "LD"


def is_hashed(width: int, height: int) -> bool:
    """Whether the shapes of this size are hashed into bins: from 4×3 on."""
    return (width, height) in HASHED_SIZES


@dataclass(frozen=True)
class ShapeSet:
    """All local shapes of one size, ``width`` ≥ ``height``, under one way of sharing weights."""

    width: int
    height: int
    location: Location

    def __post_init__(self) -> None:
        if (self.width, self.height) not in PAPER_SIZES:
            known = ", ".join(f"{width}x{height}" for width, height in PAPER_SIZES)
            raise ValueError(f"there are no shapes of {self.width}x{self.height}; known are {known}")

    @classmethod
    def parse(cls, text: str) -> ShapeSet:
        """Read a name such as ``LI 3x2``; raises ValueError."""
        try:
            location, size = text.split()
            width, height = size.split("x")
            return cls(int(width), int(height), Location(location.upper()))
        except ValueError as error:
            reason = error if "there are no shapes" in str(error) else "say LI or LD and a size, as in LI 3x2"
            raise ValueError(f"{text!r} is no set of shapes: {reason}") from None

    @property
    def name(self) -> str:
        return f"{self.location.value} {self.width}x{self.height}"

    @property
    def area(self) -> int:
        return self.width * self.height

    @property
    def is_square(self) -> bool:
        return self.width == self.height

    @property
    def is_hashed(self) -> bool:
        return is_hashed(self.width, self.height)

    @property
    def is_dependent(self) -> bool:
        return self.location is Location.DEPENDENT

    def is_as_general_as(self, other: ShapeSet) -> bool:
        """The partial order of the online cascade: smaller shapes are more general, and LI than LD."""
        fits = self.width <= other.width and self.height <= other.height
        return fits and (not self.is_dependent or other.is_dependent)

    # Counts

    def active_count(self, board_size: int) -> int:
        """How many shapes of the set are on any board: one for each place and way to lie (the paper's n)."""
        places = (board_size - self.width + 1) * (board_size - self.height + 1)
        return places if self.is_square else 2 * places

    def offsets(self, board_size: int) -> tuple[int, int]:
        """How many distances from the nearest corner there are, across and down."""
        return (board_size - self.width + 2) // 2, (board_size - self.height + 2) // 2

    def class_count(self, board_size: int) -> int:
        """The places that are left when the board is folded by its two mirror axes; one if place does not matter."""
        across, down = self.offsets(board_size)
        return across * down if self.is_dependent else 1

    def class_numbers(self, board_size: int, x: NDArray[np.int64], y: NDArray[np.int64]) -> NDArray[np.int64]:
        """The classes of places at these distances from the corner."""
        across, _ = self.offsets(board_size)
        return (y * across + x) * int(self.is_dependent)

    def place_of_class(self, board_size: int, number: int) -> tuple[int, int]:
        """The distances (x, y) from the corner that a class stands for."""
        across, _ = self.offsets(board_size)
        return number % across, number // across

    def allocated(self, board_size: int, bins: int = 100_000) -> int:
        """The weights kept for the set (Figure 3's N)."""
        return bins if self.is_hashed else 3**self.area * self.class_count(board_size)

    def distinct(self, board_size: int, *, tied: bool = False) -> int:
        """How many shapes differ once sharing is applied; ``tied`` counts a shape and its color inverse once."""
        return sum(self._orbits(mask, tied) for mask in self._folded_masks(board_size))

    def _folded_masks(self, board_size: int) -> Iterator[int]:
        """The symmetries of each class that is left when the diagonals are folded too."""
        across, down = self.offsets(board_size) if self.is_dependent else (1, 1)
        for y in range(down):
            for x in range(y if self.is_square else 0, across):
                yield self.symmetry_mask(board_size, x, y)

    def _orbits(self, mask: int, tied: bool) -> int:
        """Burnside's lemma: the mean number of colorings that a symmetry leaves as they are."""
        symmetries = [order for g, order in enumerate(rectangle_orders(self.width, self.height)) if mask >> g & 1]
        fixed: int = sum(3 ** len(_cycles(order)) for order in symmetries)
        if not tied:
            return fixed // len(symmetries)
        # With the colors inverted too, a cycle alternates, or else it is empty; an odd one cannot alternate.
        fixed += sum(3 ** len([length for length in _cycles(order) if length % 2 == 0]) for order in symmetries)
        return fixed // (2 * len(symmetries))

    # Symmetries

    def symmetry_mask(self, board_size: int, x: int, y: int) -> int:
        """Which of ``rectangle_orders`` leave the place at these distances from the corner as it is, as bits."""
        full = 0xFF if self.is_square else 0xF
        if not self.is_dependent:
            return full
        mirrored = 0b0011 if 2 * x == board_size - self.width else 0b0001
        if 2 * y == board_size - self.height:
            mirrored |= mirrored << 2
        return mirrored | mirrored << 4 if self.is_square and x == y else mirrored


@cache
def rectangle_orders(width: int, height: int) -> NDArray[np.int64]:
    """The cells in the order in which each symmetry of a rectangle reads them, [4 or 8, area].

    Number ``4 · transposed + 2 · upside down + left to right``; cells row by row, the long side across.
    """
    cells = np.arange(width * height).reshape(height, width)
    turned = (cells, cells.T) if width == height else (cells,)
    orders = np.array([image[::down, ::across].ravel() for image in turned for down in (1, -1) for across in (1, -1)])
    orders.setflags(write=False)
    return orders


def _cycles(order: NDArray[np.int64]) -> list[int]:
    """The lengths of a permutation's cycles."""
    unseen = set(range(order.size))
    lengths = []
    while unseen:
        length, cell = 0, next(iter(unseen))
        while cell in unseen:
            unseen.remove(cell)
            length, cell = length + 1, int(order[cell])
        lengths.append(length)
    return lengths
