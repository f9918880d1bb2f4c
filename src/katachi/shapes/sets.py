"""Sets of local shapes: which rectangles, shared how, and how many shapes there are.

A *local shape* fixes every point of a rectangle as empty, the mover's or the opponent's. A *set* is all shapes of one
size, wherever the rectangle lies on the board: an oblong one lies both ways. Location independent sets (LI) share a
weight over the whole board and its eight symmetries, location dependent ones (LD) over the symmetries alone
(Silver, Sutton and Müller 2007, section 4).

>>> small = ShapeSet.parse("LI 2x1")
>>> small.active_count(5), small.allocated(5), small.distinct(5)
(40, 9, 6)
>>> small.is_as_general_as(ShapeSet.parse("LD 3x3"))
True

Local shapes in words and as small diagrams: ``X`` is the mover's stone, ``O`` the opponent's, ``.`` an empty point.

>>> count_stones([1, 2])
'one stone of the mover and one of the opponent'
>>> where, drawing = draw_shape(ShapeSet.parse("LD 2x1"), ["X", "O"], x=1, y=0)
>>> print(where)
1 from the left edge and 0 from the top
>>> print(drawing)
┌──────
│   X O
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from katachi.features.windows import PAPER_SIZES
from katachi.go.points import MAX_SIZE

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
            raise ValueError(f"{text!r} is not a set of shapes: {reason}") from None

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


# Which local shapes share a weight: those that symmetry makes equal are all numbered like the least of them.
#
# The *code* of a shape is a number in base 3, cell by cell in the frame of its window: 0 empty, 1 the mover's stone, 2
# the opponent's; the first cell counts 1, the next 3. The weights of a set are numbered class by class, a *class* being
# a place as far from the corner (``y · across + x``), and within it by code. Larger shapes have Zobrist keys instead.

_KEY_SEED: Final = 2007  # fixed, so that bins mean the same in every process and on every disk


def share_weights(
    board_size: int, tables: Iterable[tuple[ShapeSet, int]], count: int, *, states: int = 3, tied: bool = False
) -> tuple[NDArray[np.uint32], NDArray[np.int8]]:
    """The weight in use for each of ``count`` weights, and its sign. ``tables`` are sets and their first weights."""
    canonical = np.arange(count, dtype=np.uint32)
    signs = np.ones(count, dtype=np.int8)
    for shape_set, start in tables:
        entries = _share(shape_set, board_size, states)
        rows = slice(start, start + entries.size)
        if tied:
            entries, signs[rows] = _tie(shape_set, entries)
        canonical[rows] = start + entries
    canonical.setflags(write=False)
    signs.setflags(write=False)
    return canonical, signs


@cache
def _digits(area: int, states: int) -> NDArray[np.int64]:
    """The digits of every code, [states^area, area]."""
    return np.arange(states**area)[:, None] // states ** np.arange(area) % states


def _reordered(order: NDArray[np.int64], states: int) -> NDArray[np.int64]:
    """For every code the one whose cells are read in another order, [states^area]."""
    codes: NDArray[np.int64] = _digits(order.size, states)[:, order] @ states ** np.arange(order.size)
    return codes


@cache
def canonical_codes(width: int, height: int, mask: int, states: int = 3) -> NDArray[np.int64]:
    """For every code the least that some symmetry in ``mask`` makes of it, [states^area]."""
    orders = rectangle_orders(width, height)
    images = [_reordered(order, states) for g, order in enumerate(orders) if mask >> g & 1]
    least: NDArray[np.int64] = np.minimum.reduce(images)
    return least


@cache
def inverse_codes(area: int) -> NDArray[np.int64]:
    """For every code in base 3 the one with the colors inverted, [3^area]."""
    inverse: NDArray[np.int64] = -_digits(area, 3) % 3 @ 3 ** np.arange(area)
    return inverse


def _share(shape_set: ShapeSet, board_size: int, states: int) -> NDArray[np.int64]:
    """The entry in use for every entry of a table set, [classes · states^area], counted from the set's first."""
    across, down = shape_set.offsets(board_size) if shape_set.is_dependent else (1, 1)
    codes = states**shape_set.area
    entries = np.empty((down, across, codes), dtype=np.int64)
    for y, x in np.ndindex(down, across):
        folded = shape_set.is_square and y > x  # at the diagonal
        row, column = (x, y) if folded else (y, x)
        mask = shape_set.symmetry_mask(board_size, column, row)
        least = canonical_codes(shape_set.width, shape_set.height, mask, states)
        if folded:
            least = least[_reordered(rectangle_orders(shape_set.width, shape_set.height)[4], states)]
        entries[y, x] = (row * across + column) * codes + least
    return entries.ravel()


def _tie(shape_set: ShapeSet, entries: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int8]]:
    """Let a shape and its inverse share the lesser entry; the sign says which is which."""
    by_class = entries.reshape(-1, 3**shape_set.area)
    inverse = by_class[:, inverse_codes(shape_set.area)].ravel()
    return np.minimum(entries, inverse), np.sign(inverse - entries).astype(np.int8)


# Keys


@cache
def key_words(width: int, height: int) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """The Zobrist words of a size: by cell and stone (mover's, opponent's), [area, 2], and by place, [y, x].

    They depend on neither the board's size nor the other sets, so that bins survive the growing of a board.
    """
    rng = np.random.Generator(np.random.PCG64([_KEY_SEED, width, height]))
    cells = rng.integers(1 << 64, size=(width * height, 2), dtype=np.uint64)
    return cells, rng.integers(1 << 64, size=(MAX_SIZE, MAX_SIZE), dtype=np.uint64)


# Shape words

_NUMBERS: Final = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


def draw_shape(shape_set: ShapeSet, cells: list[str], x: int, y: int) -> tuple[str, str]:
    """Where a shape is, in words, and a drawing of it from the text of its cells, all of them equally long."""
    rows = [" ".join(cells[row : row + shape_set.width]) for row in range(0, shape_set.area, shape_set.width)]
    if not shape_set.is_dependent:
        return "anywhere", "\n".join(row.rstrip() for row in rows)
    where = f"{x} from the left edge and {y} from the top"
    step = len(cells[0]) + 1
    lines = [""] * y + [" " * step * x + row for row in rows]
    edge = "┌" + "─" * (step * (x + shape_set.width))
    return where, "\n".join([edge, *(f"│ {line}".rstrip() for line in lines)])


def count_stones(digits: list[int]) -> str:
    """How many stones of whom, from digits as in a code."""
    own, opponent = digits.count(1), digits.count(2)
    if not own + opponent:
        return "empty"
    if not opponent:
        return f"{_stones(own)} of the mover"
    if not own:
        return f"{_stones(opponent)} of the opponent"
    return f"{_stones(own)} of the mover and {_NUMBERS[opponent]} of the opponent"


def _stones(count: int) -> str:
    return f"{_NUMBERS[count]} stone{'s' if count > 1 else ''}"
