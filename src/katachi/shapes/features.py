"""Local shapes: every rectangle of the board as a feature (Silver, Sutton and Müller 2007, section 4).

Shapes are seen by the player who has **just moved**: their stones are ``X`` and code 1, the opponent's ``O`` and code
2; so a board that White has just moved on is looked at with the colors inverted. Shapes up to 3×3 have a weight each,
larger ones are hashed into bins. ``shapes/sets.py`` says what the sets are.

Compiled code finds shapes by arrays (``ShapeTables``): windows, their contacts with points, and shared weights.
``canonical`` leads from each weight to the one in use. Hence a weight is ``signs[base + code] *
weights[canonical[base + code]]``, or ``expanded[base + code]`` after ``expanded = signs * weights[canonical]``.

>>> shapes = LocalShapes(5, [ShapeSet.parse("LI 1x1"), ShapeSet.parse("LI 2x1")])
>>> board = Board(5)
>>> board.play(0)
>>> indices, occurrences = shapes.active(board)
>>> dict(zip(indices.tolist(), occurrences.tolist(), strict=True))
{0: 24.0, 1: 1.0, 3: 38.0, 4: 2.0}
>>> print(shapes.describe(4))
LI 2x1: one stone of the mover, anywhere
X .
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cache, cached_property, lru_cache
from typing import Annotated, Any, ClassVar, Final, Literal, NamedTuple, Self, TypeGuard

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, StringConstraints

from katachi.core.cards import Hex
from katachi.core.contracts import Floats, Ints, Placements
from katachi.core.linear import FeatureCard, LinearModel
from katachi.features.windows import CODES, PAPER_SIZES, SIDE, TABLE_SIZES, Windows, check_board_size, find_windows
from katachi.go.board import Board
from katachi.go.kernels.board import OFF
from katachi.go.points import BLACK, WHITE, check_size
from katachi.shapes.kernels import features as kernels
from katachi.shapes.sets import (
    HASHED_SIZES,
    Location,
    ShapeSet,
    count_stones,
    draw_shape,
    is_hashed,
    key_words,
    rectangle_orders,
    share_weights,
)

# What local shapes and liberty shapes have in common: sets one after another, shared weights, and growing boards.

MAX_BINS: Final = 10_000_000
_LAYOUT: Final = 1  # changes whenever the meaning of an index does


class ShapeFeatures(ABC):
    """The shapes of some sets on boards of one size, each set with its own weights, one for every shape or in bins."""

    kind: ClassVar[str]
    states: ClassVar[int]  # that a cell of a shape can be in

    def __init__(self, board_size: int, sets: Sequence[ShapeSet], bins: int) -> None:
        self.board_size = check_size(board_size)
        self.sets = tuple(sets)
        self.bins = bins
        self._check_sets()

    def _check_sets(self) -> None:
        if not self.sets or len(set(self.sets)) != len(self.sets):
            raise ValueError(f"{self.kind} need at least one set, and none of them twice")
        if not 1 <= self.bins <= MAX_BINS:
            raise ValueError(f"{self.bins} bins: there must be at least one and at most {MAX_BINS:,}")
        for shape_set in self.sets:
            if shape_set.width > self.board_size:
                raise ValueError(f"{shape_set.name} does not fit on a {self.board_size}×{self.board_size} board")

    @property
    def name(self) -> str:
        sets = ", ".join(self.set_names)
        options = "".join(f", {option}" for option, chosen in self.options().items() if chosen)
        return f"{self.kind} {self.board_size}×{self.board_size}: {sets}{options}"

    @property
    def set_names(self) -> tuple[str, ...]:
        return tuple(shape_set.name for shape_set in self.sets)

    @abstractmethod
    def options(self) -> dict[str, bool]:
        """The choices beside sets and bins that fix the meaning of an index."""

    @abstractmethod
    def is_tabled(self, shape_set: ShapeSet) -> bool:
        """Whether every shape of a set has a weight of its own, rather than a bin."""

    @property
    @abstractmethod
    def sharing(self) -> tuple[NDArray[np.uint32], NDArray[np.int8]]:
        """The weight in use for each weight, and its sign, [size] both."""

    # Counts

    @cached_property
    def offsets(self) -> Ints:
        """Where the weights of each set begin, and behind the last the number of all, [m+1]."""
        return np.cumsum([0, *(self.allocated(s) for s in self.sets)])

    @property
    def size(self) -> int:
        """How many weights there are, all sets one after another."""
        return int(self.offsets[-1])

    @cached_property
    def active_counts(self) -> Ints:
        """How many shapes of each set are on any board, [m]."""
        return np.array([s.active_count(self.board_size) for s in self.sets])

    def allocated(self, shape_set: ShapeSet) -> int:
        """The weights kept for a set, used or not."""
        if not self.is_tabled(shape_set):
            return self.bins
        return int(self.states**shape_set.area * shape_set.class_count(self.board_size))

    @property
    def digest(self) -> str:
        """A short text that changes with anything that fixes the meaning of an index."""
        bins = None if all(self.is_tabled(s) for s in self.sets) else self.bins
        meaning = (self.kind, _LAYOUT, self.board_size, [s.name for s in self.sets], bins, self.options())
        return hashlib.sha256(repr(meaning).encode()).hexdigest()[:16]

    # Growing

    def grow_from(self, smaller: Self, weights: Floats) -> Floats:
        """Weights for this board from those of a smaller one, [..., size] to [..., size].

        Shapes keep their place relative to the nearest corner, and shapes at new places get 0. Where a place was its
        own mirror image, the two shapes that shared a weight both inherit it; but shapes in bins keep their bins, so
        that of two such shapes one inherits.
        """
        self._check_growth(smaller, weights)
        canonical, signs = smaller.sharing
        old = np.split(weights[..., canonical] * signs, smaller.offsets[1:-1], axis=-1)
        grown = np.concatenate([self._grow_set(s, smaller, w) for s, w in zip(self.sets, old, strict=True)], axis=-1)
        grown[..., self.sharing[0] != np.arange(self.size)] = 0
        return grown

    def _grow_set(self, shape_set: ShapeSet, smaller: Self, weights: Floats) -> Floats:
        """The weights of a set: bins as they are, a table with zeros at the places that are new."""
        if not (self.is_tabled(shape_set) and shape_set.is_dependent):
            return weights
        across, down = shape_set.offsets(smaller.board_size)
        new_across, new_down = shape_set.offsets(self.board_size)
        by_place = weights.reshape(*weights.shape[:-1], down, across, -1)
        wider = [(0, 0)] * (by_place.ndim - 3) + [(0, new_down - down), (0, new_across - across), (0, 0)]
        return np.pad(by_place, wider).reshape(*weights.shape[:-1], -1)

    def _check_growth(self, smaller: Self, weights: Floats) -> None:
        ours, theirs = ((features.sets, features.bins, features.options()) for features in (self, smaller))
        if ours != theirs or smaller.board_size > self.board_size:
            raise ValueError(f"{self.name} cannot grow from {smaller.name}")
        if weights.shape[-1:] != (smaller.size,):
            raise ValueError(f"{smaller.name} have {smaller.size} weights, not {weights.shape[-1]}")

    # Words

    def describe(self, index: int) -> str:
        """A feature in words and drawn from the upper left corner; one not in use as the one that stands for it."""
        shape_set, entry = self.find_entry(index)
        if not self.is_tabled(shape_set):
            return f"{shape_set.name}: the shapes in bin {entry} of {self.bins}"
        return self.describe_shape(shape_set, *self.decode(shape_set, entry))

    def find_entry(self, index: int) -> tuple[ShapeSet, int]:
        """The set of a feature, and its number in the set: that of the one that stands for it."""
        if not 0 <= index < self.size:
            raise ValueError(f"{index} is not a feature: there are {self.size}")
        in_use = int(self.sharing[0][index])
        j = int(np.searchsorted(self.offsets, in_use, side="right")) - 1
        return self.sets[j], in_use - int(self.offsets[j])

    def decode(self, shape_set: ShapeSet, entry: int) -> tuple[list[int], int, int]:
        """The states of a shape's cells, row by row, and its distances from the left and the top; of tabled sets."""
        number, code = divmod(entry, self.states**shape_set.area)
        digits = [code // self.states**cell % self.states for cell in range(shape_set.area)]
        return digits, *shape_set.place_of_class(self.board_size, number)

    def stones_of(self, index: int) -> frozenset[int] | None:
        """The colors of the stones of a shape, BLACK is the mover; None where many shapes share a bin."""
        shape_set, entry = self.find_entry(index)
        if not self.is_tabled(shape_set):
            return None
        digits, *_ = self.decode(shape_set, entry)
        return frozenset((BLACK, WHITE)[(digit - 1) // self.states_per_color] for digit in digits if digit)

    @property
    def states_per_color(self) -> int:
        """States are empty, then the mover's stones, then as many of the opponent's."""
        return (self.states - 1) // 2

    @abstractmethod
    def place(self, board: Board) -> Placements:
        """The shapes on a board and where they are."""

    @abstractmethod
    def describe_shape(self, shape_set: ShapeSet, digits: list[int], x: int, y: int) -> str:
        """A shape by the states of its cells, at a distance from the left and the top."""


class ShapesCard(FeatureCard):
    """What fixes a feature set of shapes, beside the size of the board and what its kind adds."""

    digest: Hex
    sets: Annotated[tuple[Annotated[str, StringConstraints(max_length=10)], ...], Field(min_length=1, max_length=64)]
    bins: int = Field(ge=1, le=MAX_BINS)

    def parse_sets(self) -> list[ShapeSet]:
        """The sets; raises ValueError if there are none such."""
        return [ShapeSet.parse(name) for name in self.sets]


# Shape tables


class ShapeTables(NamedTuple):
    """What compiled users of local shapes need; plain arrays, none of them to be written to.

    There are W windows up to 3×3, size by size, which LI and LD share; P placements, set by set, each a window as one
    set sees it; and C contacts, each a point in a window. The hashed sizes have windows and placements of their own,
    called keyed. M is the number of weights.
    """

    cells: NDArray[np.uint16]  # [W, 9] points in the window's frame, OFF behind the last; cell i counts 3^i
    placement_set: NDArray[np.uint8]  # [P]
    placement_window: NDArray[np.uint16]  # [P]
    placement_class: NDArray[np.uint16]  # [P] 0 in LI sets
    placement_base: NDArray[np.uint32]  # [P] the first weight of its class
    contact_starts: NDArray[np.uint16]  # [n²+1] contacts of point p are [starts[p], starts[p+1])
    contact_window: NDArray[np.uint16]  # [C]
    contact_power: NDArray[np.uint16]  # [C] 3^i if the point is cell i
    canonical: NDArray[np.uint32]  # [M] the weight in use for each; bins stand for themselves
    signs: NDArray[np.int8]  # [M] 1; if inverses are tied −1 for the inverse of the one in use, 0 for its own inverse
    keyed_cells: NDArray[np.uint16]  # [keyed W, 25]
    keyed_set: NDArray[np.uint8]  # [keyed P]
    keyed_window: NDArray[np.uint16]  # [keyed P]
    record: NDArray[Any]  # the same and the keys in one ``_local_shapes.SHAPES`` record, as trackers take it


@lru_cache(maxsize=16)
def build_tables(board_size: int, sets: tuple[ShapeSet, ...], bins: int, tied: bool) -> ShapeTables:
    """The tables of these sets one after another; the same arguments give the same arrays."""
    offsets = np.cumsum([0, *(s.allocated(board_size, bins) for s in sets)])
    starts = [(s, int(start)) for s, start in zip(sets, offsets[:-1], strict=True) if not s.is_hashed]
    canonical, signs = share_weights(board_size, starts, int(offsets[-1]), tied=tied)
    small, large = (_Family(board_size, sets, sizes) for sizes in (TABLE_SIZES, HASHED_SIZES))
    record = np.zeros(1, dtype=kernels.SHAPES)
    record["bins"] = bins
    _fill_codes(record, small, offsets)
    _fill_keys(record, large, offsets)
    _fill_words(record)
    placements, contacts = small.owner.size, record["starts"][0, board_size**2]
    tables = ShapeTables(
        cells=small.cells,
        placement_set=small.owner,
        placement_window=record["window"][0, :placements],
        placement_class=small.class_number.astype(np.uint16),
        placement_base=record["base"][0, :placements],
        contact_starts=record["starts"][0, : board_size**2 + 1],
        contact_window=record["contact"][0, :contacts],
        contact_power=record["power"][0, :contacts],
        canonical=canonical,
        signs=signs,
        keyed_cells=large.cells,
        keyed_set=large.owner,
        keyed_window=record["keyed_window"][0, : large.owner.size],
        record=record,
    )
    for array in tables:
        array.setflags(write=False)
    return tables


class _Family:
    """The windows of those sizes that some sets use, and the placements of these sets, set by set."""

    def __init__(self, board_size: int, sets: Sequence[ShapeSet], sizes: Sequence[tuple[int, int]]) -> None:
        self.board_size = board_size
        self.members = [(j, s) for j, s in enumerate(sets) if (s.width, s.height) in sizes]
        used = [size for size in sizes if size in {(s.width, s.height) for _, s in self.members}]
        self.windows = {size: find_windows(board_size, *size) for size in used}
        most = sizes[-1][0] * sizes[-1][1]
        self.cells = np.concatenate([np.empty((0, most), np.uint16), *(_pad(w, most) for w in self.windows.values())])
        self.window_size = self._concatenate([np.full(len(self.windows[s].x), sizes.index(s)) for s in used])
        first = {size: int(np.argmax(self.window_size == sizes.index(size))) for size in used}
        seen = [(j, s, self.windows[s.width, s.height]) for j, s in self.members]
        self.owner = self._concatenate([np.full(len(w.x), j) for j, _, w in seen]).astype(np.uint8)
        self.window = self._concatenate([first[s.width, s.height] + np.arange(len(w.x)) for _, s, w in seen])
        self.class_number = self._concatenate([s.class_numbers(board_size, w.x, w.y) for _, s, w in seen])

    @staticmethod
    def _concatenate(rows: list[NDArray[np.int64]]) -> NDArray[np.int64]:
        return np.concatenate([np.empty(0, dtype=np.int64), *rows])

    def contacts(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Where each point's contacts begin, [n²+1], and the window and the cell of every contact, point by point."""
        window, cell = np.nonzero(self.cells != OFF)
        point = self.cells[window, cell]
        order = np.argsort(point, kind="stable")
        starts = np.searchsorted(point[order], np.arange(self.board_size**2 + 1))
        return starts, window[order], cell[order]


def _pad(windows: Windows, most: int) -> NDArray[np.uint16]:
    return np.pad(windows.cells, ((0, 0), (0, most - windows.cells.shape[1])), constant_values=int(OFF))


def _fill_codes(record: NDArray[Any], family: _Family, offsets: NDArray[np.int64]) -> None:
    """The placements and contacts of the table sizes."""
    count = family.owner.size
    codes = 3 ** np.array([s.area for _, s in family.members], dtype=np.int64)
    rank = np.searchsorted([j for j, _ in family.members], family.owner)
    record["placements"] = count
    record["window"][0, :count] = family.window
    record["base"][0, :count] = offsets[family.owner] + family.class_number * codes[rank]
    starts, window, cell = family.contacts()
    record["starts"][0, : starts.size] = starts
    record["contact"][0, : window.size] = window
    record["power"][0, : window.size] = 3**cell


def _fill_keys(record: NDArray[Any], family: _Family, offsets: NDArray[np.int64]) -> None:
    """The placements and contacts of the hashed sizes."""
    count = family.owner.size
    record["keyed_placements"] = count
    record["keyed_window"][0, :count] = family.window
    record["keyed_base"][0, :count] = offsets[family.owner]
    for j, s in family.members:
        windows = family.windows[s.width, s.height]
        rows = np.flatnonzero(family.owner == j)
        places = zip(windows.x.tolist(), windows.y.tolist(), strict=True)
        record["keyed_symmetries"][0, rows] = [s.symmetry_mask(family.board_size, x, y) for x, y in places]
        if s.is_dependent:
            record["keyed_place"][0, rows] = key_words(s.width, s.height)[1][windows.y, windows.x]
    starts, window, cell = family.contacts()
    record["keyed_starts"][0, : starts.size] = starts
    record["keyed_contact"][0, : window.size] = window
    record["keyed_cell"][0, : window.size] = family.window_size[window] * kernels.MAX_CELLS + cell


def _fill_words(record: NDArray[Any]) -> None:
    """The Zobrist words of every cell of the hashed sizes as each symmetry of the rectangle reads it."""
    words = record["words"][0].reshape(kernels.KEY_SIZES, kernels.MAX_CELLS, 8, 2)
    counts = record["symmetries"][0].reshape(kernels.KEY_SIZES, kernels.MAX_CELLS)
    for i, (width, height) in enumerate(HASHED_SIZES):
        orders = rectangle_orders(width, height)
        counts[i] = len(orders)
        for g, order in enumerate(orders):
            words[i, : width * height, g] = key_words(width, height)[0][order]


# A tracker: the local shapes of a board that changes, at the cost of the stones that changed.


class ShapeTracker:
    """Follows boards of one size through play, captures, undo and set-up; ``record`` is what compiled code takes."""

    def __init__(self, board_size: int, tables: ShapeTables, tied: bool) -> None:
        self.board_size = board_size
        self.tables = tables
        self.tied = tied
        self.record = np.zeros(1, dtype=kernels.TRACKER)  # the empty board: every code and key is 0
        self.keys = np.zeros((2, len(tables.keyed_cells), 8), dtype=np.uint64)

    def follow(self, board: Board) -> int:
        """Go to the position on a board from whatever position was seen last; returns how many points changed."""
        check_board_size(board.size, self.board_size)
        return int(kernels.follow_board(self.tables.record, self.record, self.keys, board.record))

    def placements(self, mover: int) -> tuple[Ints, NDArray[np.int8]]:
        """The weight and the sign of every placement as ``mover`` sees it, table sets first."""
        tables = self.tables
        count = tables.placement_set.size + tables.keyed_set.size
        entries = np.empty(count, dtype=np.int64)
        signs = np.empty(count, dtype=np.int8)
        view = 0 if mover == BLACK else 1
        shared = (tables.canonical, tables.signs, self.tied)
        kernels.active_placements(tables.record, self.record, self.keys, view, *shared, entries, signs)
        return entries, signs

    def active(self, mover: int) -> tuple[Ints, Floats]:
        """The weights of the shapes that ``mover`` sees, in order, and how often each occurs."""
        entries, signs = self.placements(mover)
        indices, inverse = np.unique(entries, return_inverse=True)
        occurrences = np.bincount(inverse, weights=signs).astype(np.float32)
        present = occurrences != 0
        return indices[present], occurrences[present]


# Local shapes

__all__ = ["PAPER_SIZES", "LocalShapes", "Location", "ShapeSet", "is_hashed"]


class LocalShapes(ShapeFeatures):
    """The local shapes of some sets on boards of one size.

    ``tied`` makes a shape and its color inverse share one weight with opposite signs: one of them then occurs
    negatively, and shapes that are their own inverse are not features.
    """

    kind = "local shapes"
    states = 3  # empty, the mover's, the opponent's

    def __init__(self, board_size: int, sets: Sequence[ShapeSet], *, bins: int = 100_000, tied: bool = False) -> None:
        super().__init__(board_size, sets, bins)
        self.tied = tied

    def options(self) -> dict[str, bool]:
        return {"inverses tied": self.tied}

    def is_tabled(self, shape_set: ShapeSet) -> bool:
        return not shape_set.is_hashed

    def distinct(self, shape_set: ShapeSet) -> int:
        """How many shapes of a set differ once symmetry, and inversion if tied, is applied."""
        return shape_set.distinct(self.board_size, tied=self.tied)

    @cached_property
    def tables(self) -> ShapeTables:
        """The arrays that compiled code takes; built once for each choice of size and sets."""
        return build_tables(self.board_size, self.sets, self.bins, self.tied)

    @property
    def sharing(self) -> tuple[NDArray[np.uint32], NDArray[np.int8]]:
        return self.tables.canonical, self.tables.signs

    def active(self, board: Board) -> tuple[Ints, Floats]:
        """The weights of the shapes on a board, in order, and how often each occurs."""
        tracker = self.tracker()
        tracker.follow(board)
        return tracker.active(-board.to_play)

    def place(self, board: Board) -> Placements:
        """The shapes on a board and where they are."""
        tracker, tables = self.tracker(), self.tables
        tracker.follow(board)
        small, large = tables.cells[tables.placement_window], tables.keyed_cells[tables.keyed_window]
        return Placements(*tracker.placements(-board.to_play), stack_cells(small, large))

    def tracker(self) -> ShapeTracker:
        """What follows a changing board and knows its shapes at every moment; it begins at the empty board."""
        return ShapeTracker(self.board_size, self.tables, self.tied)

    def describe_shape(self, shape_set: ShapeSet, digits: list[int], x: int, y: int) -> str:
        where, drawn = draw_shape(shape_set, [".XO"[digit] for digit in digits], x, y)
        return f"{shape_set.name}: {count_stones(digits)}, {where}\n{drawn}"

    def card(self) -> LocalShapesCard:
        """What is needed to make the same features again."""
        return LocalShapesCard(digest=self.digest, sets=self.set_names, bins=self.bins, tied=self.tied)

    def compiled_model(self) -> type[LinearModel] | None:
        """The fused model, if all shapes lie in 3×3 windows."""
        from katachi.shapes.model import FusedLinearModel, can_fuse  # which imports this module

        return FusedLinearModel if can_fuse(self) else None


class LocalShapesCard(ShapesCard):
    """The card of ``LocalShapes``."""

    kind: Literal["local shapes"] = "local shapes"
    tied: bool

    def build(self, board_size: int) -> LocalShapes:
        """The features on boards of a size; raises ValueError if there are none such."""
        return LocalShapes(board_size, self.parse_sets(), bins=self.bins, tied=self.tied)


def stack_cells(first: NDArray[np.integer], second: NDArray[np.integer]) -> Ints:
    """Rows of cells below each other, the narrower ones with OFF behind them."""
    width = max(first.shape[1], second.shape[1])
    padded = [
        np.pad(rows.astype(np.int64), ((0, 0), (0, width - rows.shape[1])), constant_values=int(OFF))
        for rows in (first, second)
    ]
    return np.concatenate(padded)


# Window parts: all local shapes up to 3×3 as parts of the 3×3 windows that hold them.
#
# A smaller shape lies in several 3×3 windows of the board; each of them gets an equal part of its weight, so that the
# sum over windows is the sum over shapes. A position then costs one look-up a window (49 on 9×9), and a move at most
# nine. Windows that a symmetry of the board makes equal are one class.


class Part(NamedTuple):
    """A shape inside a 3×3 window: where its cells are among the window's, and the part of its weights there."""

    cells: list[int]
    weights: NDArray[np.float64]  # [3^area]

    def codes(self) -> NDArray[np.int64]:
        """What the shape is for every code of the window, [3^9]."""
        codes: NDArray[np.int64] = _digits()[:, self.cells] @ 3 ** np.arange(len(self.cells))
        return codes


@cache
def _digits() -> NDArray[np.int64]:
    """The digits of all codes, [3^9, 9]."""
    return np.arange(CODES)[:, None] // 3 ** np.arange(SIDE * SIDE) % 3


class WindowParts(NamedTuple):
    """The 3×3 windows of a board, and what lies in those of each class."""

    cells: NDArray[np.uint16]  # [W, 9] cell i counts 3^i
    class_of: NDArray[np.int64]  # [W]
    parts: list[list[Part]]  # by class


def has_parts(features: object) -> TypeGuard[LocalShapes]:
    """Whether these are local shapes that all lie in 3×3 windows."""
    if not isinstance(features, LocalShapes) or features.board_size < SIDE:
        return False
    return all(features.is_tabled(shape_set) for shape_set in features.sets)


def part_windows(features: LocalShapes, weights: Floats) -> WindowParts:
    """The windows of a board with the parts of these weights; the features must be such that ``has_parts``."""
    windows = find_windows(features.board_size, SIDE, SIDE)
    places = list(zip(windows.x.tolist(), windows.y.tolist(), strict=True))
    classes = sorted(set(places))
    expanded = weights[features.tables.canonical].astype(np.float64) * features.tables.signs
    parts = [_parts(features, expanded, windows.cells[places.index(place)].tolist()) for place in classes]
    return WindowParts(windows.cells, np.array([classes.index(place) for place in places]), parts)


def sum_parts(windows: WindowParts) -> NDArray[np.float64]:
    """The value of a window of each class by its code, [classes, 3^9]."""
    tables = np.zeros((len(windows.parts), CODES))
    for table, parts in zip(tables, windows.parts, strict=True):
        for part in parts:
            table += part.weights[part.codes()]
    return tables


def _parts(features: LocalShapes, expanded: NDArray[np.float64], window: list[int]) -> list[Part]:
    """All placements that lie in a window."""
    tables = features.tables
    inside: NDArray[np.bool_] = np.all(np.isin(tables.cells, [*window, int(OFF)]), axis=1)
    parts = []
    for placement in np.flatnonzero(inside[tables.placement_window]).tolist():
        cells = [p for p in tables.cells[tables.placement_window[placement]].tolist() if p != OFF]
        base = int(tables.placement_base[placement])
        shared = expanded[base : base + 3 ** len(cells)] / _windows_around(cells, features.board_size)
        parts.append(Part([window.index(p) for p in cells], shared))
    return parts


def _windows_around(cells: list[int], size: int) -> int:
    """How many 3×3 windows contain all of these cells."""
    count = 1
    for lines in ([p // size for p in cells], [p % size for p in cells]):
        count *= min(min(lines), size - SIDE) - max(max(lines) - SIDE + 1, 0) + 1
    return count
