"""Liberty shapes: local shapes whose stones also carry their external liberties (Silver et al. 2007, section 9).

Each stone of a shape knows how many liberties its chain has *outside* the rectangle: none, one, or two and more. So a
shape can tell a stone in atari from one that is safe. As in ``shapes/features.py`` the mover is the player who has just
moved, and weights are shared over symmetries (LD) or over the whole board (LI). Shapes are hashed into bins, each set
into its own; ``tabled`` gives every shape up to 2×2 a weight of its own instead.

>>> shapes = LibertyShapes(5, [ShapeSet.parse("LI 2x1")], tabled=True)
>>> board = Board(5)
>>> board.play(0)  # a stone in the corner has two liberties, one of them in each 2×1 rectangle around it
>>> indices, occurrences = shapes.active(board)
>>> dict(zip(indices.tolist(), occurrences.tolist(), strict=True))
{0: 38.0, 2: 2.0}
>>> print(shapes.describe(2))
LI 2x1 with liberties: anywhere
X1 .

Combined shapes: local shapes and liberty shapes as one feature set (Silver et al. 2007, section 9).

The weights are those of the local shapes, then those of the liberty shapes.

>>> sets = [ShapeSet.parse("LI 1x1")]
>>> shapes = CombinedShapes(LocalShapes(5, sets), LibertyShapes(5, sets, tabled=True))
>>> board = Board(5)
>>> board.play(0)  # the stone has two liberties
>>> indices, occurrences = shapes.active(board)
>>> dict(zip(indices.tolist(), occurrences.tolist(), strict=True))
{0: 24.0, 1: 1.0, 3: 24.0, 6: 1.0}
>>> print(shapes.describe(6))
LI 1x1 with liberties: anywhere
X2
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import Any, Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from katachi.core.cards import Hex
from katachi.core.contracts import Floats, Ints, Placements
from katachi.core.linear import FeatureCard, LinearModel
from katachi.features.windows import TABLE_SIZES, Windows, check_board_size, find_windows
from katachi.go.board import Board
from katachi.go.kernels.board import OFF
from katachi.shapes.features import LocalShapes, LocalShapesCard, ShapeFeatures, ShapesCard, stack_cells
from katachi.shapes.kernels import features as kernels
from katachi.shapes.kernels import liberty_windows as window_kernels
from katachi.shapes.sets import ShapeSet, draw_shape, rectangle_orders, share_weights

_LARGEST_TABLED: Final = 4  # cells
_STATES: Final = (". ", "X0", "X1", "X2", "O0", "O1", "O2")  # 2 is two or more


class LibertyShapes(ShapeFeatures):
    """The liberty shapes of some sets, 1×1 to 3×3, on boards of one size."""

    kind = "liberty shapes"
    states = kernels.STATES

    def __init__(self, board_size: int, sets: Sequence[ShapeSet], *, bins: int = 100_000, tabled: bool = False) -> None:
        super().__init__(board_size, sets, bins)
        self.tabled = tabled
        too_large = [s.name for s in self.sets if (s.width, s.height) not in TABLE_SIZES]
        if too_large:
            raise ValueError(f"{too_large[0]} is too large for liberty shapes, which go up to 3x3")

    def options(self) -> dict[str, bool]:
        return {"tabled up to 2x2": self.tabled}

    def is_tabled(self, shape_set: ShapeSet) -> bool:
        return self.tabled and shape_set.area <= _LARGEST_TABLED

    @cached_property
    def sharing(self) -> tuple[NDArray[np.uint32], NDArray[np.int8]]:
        """The weight in use for each weight, and its sign, which is always 1; bins stand for themselves."""
        starts = [(s, int(o)) for s, o in zip(self.sets, self.offsets[:-1], strict=True) if self.is_tabled(s)]
        return share_weights(self.board_size, starts, self.size, states=self.states)

    def active(self, board: Board) -> tuple[Ints, Floats]:
        """The weights of the shapes on a board, in order, and how often each occurs."""
        indices, occurrences = np.unique(self.placements(board), return_counts=True)
        return indices, occurrences.astype(np.float32)

    def placements(self, board: Board) -> Ints:
        """The weight of every placement: size by size, window by window, LI before LD."""
        check_board_size(board.size, self.board_size)
        entries = np.empty(int(self.active_counts.sum()), dtype=np.int64)
        readings = np.zeros(1, dtype=kernels.READING)
        kernels.active_liberty_placements(board.record, self.record, readings, -board.to_play, entries)
        return entries

    def place(self, board: Board) -> Placements:
        """The shapes on a board and where they are."""
        indices = self.placements(board)
        count = int(self.record["windows"][0])
        cells = self.record["cell"][0, :count].astype(np.int64)
        areas = self.record["area"][0][self.record["shape"][0, :count]]
        cells[np.arange(cells.shape[1]) >= areas[:, None]] = OFF
        windows = np.nonzero(self.record["mask"][0, :count])[0]  # a window is there once for each set that has it
        return Placements(indices, np.ones(indices.size, dtype=np.int8), cells[windows])

    @cached_property
    def record(self) -> NDArray[Any]:
        """One ``_liberty_shapes.LIBERTY_SHAPES`` record, as compiled code takes it; do not write to it."""
        record = np.zeros(1, dtype=kernels.LIBERTY_SHAPES)
        record["bins"] = self.bins
        count = 0
        for i, (width, height) in enumerate(TABLE_SIZES):
            users = [j for j, s in enumerate(self.sets) if (s.width, s.height) == (width, height)]
            if users:
                windows = find_windows(self.board_size, width, height)
                rows = slice(count, count + len(windows.cells))
                self._fill_size(record, i, self.sets[users[0]], rows, windows)
                for j in users:
                    self._fill_placements(record, j, rows, windows)
                count = rows.stop
        record["windows"] = count
        record.setflags(write=False)
        return record

    def _fill_size(self, record: NDArray[Any], i: int, one: ShapeSet, rows: slice, windows: Windows) -> None:
        orders = rectangle_orders(one.width, one.height)
        record["cell"][0, rows, : one.area] = windows.cells
        record["shape"][0, rows] = i
        record["area"][0, i] = one.area
        record["tabled"][0, i] = self.is_tabled(one)
        record["symmetries"][0, i] = len(orders)
        record["order"][0, i, : len(orders), : one.area] = orders

    def _fill_placements(self, record: NDArray[Any], j: int, rows: slice, windows: Windows) -> None:
        shape_set = self.sets[j]
        slot = int(shape_set.is_dependent)
        places = zip(windows.x.tolist(), windows.y.tolist(), strict=True)
        record["mask"][0, rows, slot] = [shape_set.symmetry_mask(self.board_size, x, y) for x, y in places]
        record["base"][0, rows, slot] = self.offsets[j]
        if not shape_set.is_dependent:
            return
        if self.is_tabled(shape_set):
            classes = shape_set.class_numbers(self.board_size, windows.x, windows.y)
            record["base"][0, rows, slot] += (classes * self.states**shape_set.area).astype(np.uint32)
        # By distance from the corner, so that bins mean the same on boards of all sizes; codes stay below 2³².
        record["place"][0, rows, slot] = (1 + windows.x + (windows.y << 8)).astype(np.uint64) << np.uint64(32)

    def describe_shape(self, shape_set: ShapeSet, digits: list[int], x: int, y: int) -> str:
        where, drawn = draw_shape(shape_set, [_STATES[digit] for digit in digits], x, y)
        return f"{shape_set.name} with liberties: {where}\n{drawn}"

    def card(self) -> LibertyShapesCard:
        """What is needed to make the same features again."""
        return LibertyShapesCard(digest=self.digest, sets=self.set_names, bins=self.bins, tabled=self.tabled)


class LibertyShapesCard(ShapesCard):
    """The card of ``LibertyShapes``."""

    kind: Literal["liberty shapes"] = "liberty shapes"
    tabled: bool

    def build(self, board_size: int) -> LibertyShapes:
        """The features on boards of a size; raises ValueError if there are none such."""
        return LibertyShapes(board_size, self.parse_sets(), bins=self.bins, tabled=self.tabled)


# Combined shapes


class CombinedShapes:
    """The shapes of ``basic`` and of ``liberty``, for boards of one size."""

    def __init__(self, basic: LocalShapes, liberty: LibertyShapes) -> None:
        if basic.board_size != liberty.board_size:
            sizes = f"{basic.board_size}×{basic.board_size} and {liberty.board_size}×{liberty.board_size}"
            raise ValueError(f"shapes of {sizes} cannot be combined")
        self.basic = basic
        self.liberty = liberty

    @property
    def board_size(self) -> int:
        return self.basic.board_size

    @property
    def name(self) -> str:
        return f"{self.basic.name}; {self.liberty.name}"

    @property
    def size(self) -> int:
        """How many weights there are."""
        return self.basic.size + self.liberty.size

    @property
    def sets(self) -> tuple[ShapeSet, ...]:
        """All sets, basic ones first; the same set may be there of both kinds."""
        return self.basic.sets + self.liberty.sets

    @cached_property
    def offsets(self) -> Ints:
        """Where the weights of each set begin, and behind the last the number of all, [m+1]."""
        return np.concatenate([self.basic.offsets, self.basic.size + self.liberty.offsets[1:]])

    @cached_property
    def active_counts(self) -> Ints:
        """How many shapes of each set are on any board, [m]."""
        return np.concatenate([self.basic.active_counts, self.liberty.active_counts])

    @cached_property
    def sharing(self) -> tuple[NDArray[np.uint32], NDArray[np.int8]]:
        """The weight in use for each weight, and its sign, [size] both."""
        (first, first_signs), (second, second_signs) = self.basic.sharing, self.liberty.sharing
        weights = np.concatenate([first, second + np.uint32(self.basic.size)])
        return weights, np.concatenate([first_signs, second_signs])

    @property
    def digest(self) -> str:
        """A short text that changes with anything that fixes the meaning of an index."""
        return hashlib.sha256(f"{self.basic.digest} {self.liberty.digest}".encode()).hexdigest()[:16]

    def active(self, board: Board) -> tuple[Ints, Floats]:
        """The weights of the shapes on a board, in order, and how often each occurs."""
        (first, first_times), (second, second_times) = self.basic.active(board), self.liberty.active(board)
        return np.concatenate([first, second + self.basic.size]), np.concatenate([first_times, second_times])

    def place(self, board: Board) -> Placements:
        """The shapes on a board and where they are."""
        first, second = self.basic.place(board), self.liberty.place(board)
        return Placements(
            np.concatenate([first.indices, second.indices + self.basic.size]),
            np.concatenate([first.signs, second.signs]),
            stack_cells(first.cells, second.cells),
        )

    def _find(self, index: int) -> tuple[ShapeFeatures, int]:
        """The kind that a feature is of, and its number there."""
        if not 0 <= index < self.size:
            raise ValueError(f"{index} is not a feature: there are {self.size}")
        return (self.basic, index) if index < self.basic.size else (self.liberty, index - self.basic.size)

    def describe(self, index: int) -> str:
        """A feature in words and drawn from the upper left corner; one not in use as the one that stands for it."""
        features, own = self._find(index)
        return features.describe(own)

    def stones_of(self, index: int) -> frozenset[int] | None:
        """The colors of the stones of a shape, BLACK is the mover; None where many shapes share a bin."""
        features, own = self._find(index)
        return features.stones_of(own)

    def grow_from(self, smaller: CombinedShapes, weights: Floats) -> Floats:
        """Weights for this board from those of a smaller one, [..., size] to [..., size], as both kinds grow."""
        if weights.shape[-1:] != (smaller.size,):
            raise ValueError(f"{smaller.name} have {smaller.size} weights, not {weights.shape[-1]}")
        first, second = weights[..., : smaller.basic.size], weights[..., smaller.basic.size :]
        grown = self.basic.grow_from(smaller.basic, first), self.liberty.grow_from(smaller.liberty, second)
        return np.concatenate(grown, axis=-1)

    def card(self) -> CombinedShapesCard:
        """What is needed to make the same features again."""
        return CombinedShapesCard(digest=self.digest, basic=self.basic.card(), liberty=self.liberty.card())

    def compiled_model(self) -> type[LinearModel] | None:
        """The fused model, if all shapes lie in 3×3 windows and those with liberties in 2×2 windows."""
        from katachi.shapes.model import FusedLinearModel, can_fuse  # which imports this module

        return FusedLinearModel if can_fuse(self) else None


class CombinedShapesCard(FeatureCard):
    """The card of ``CombinedShapes``."""

    kind: Literal["combined shapes"] = "combined shapes"
    digest: Hex
    basic: LocalShapesCard
    liberty: LibertyShapesCard

    def build(self, board_size: int) -> CombinedShapes:
        """The features on boards of a size; raises ValueError if there are none such."""
        return CombinedShapes(self.basic.build(board_size), self.liberty.build(board_size))


Shapes = LocalShapes | LibertyShapes | CombinedShapes


# Liberty windows: all liberty shapes up to 2×2 as weights of 2×2 windows, so that a board is one look-up a window.
#
# A 1×1 or 2×1 shape lies in several 2×2 windows; each of them gets an equal share of its weight. Windows that a
# symmetry of the board makes equal are one class. ``shapes/kernels/liberty_windows.py`` says what the digits of a
# window are.

_ADJACENT = ((1, 2), (0, 3), (0, 3), (1, 2))  # the cells of a 2×2 window that touch each
_OPPOSITE = (3, 2, 1, 0)
_MOST = 2  # liberties that are distinguished


class LibertyWindows(NamedTuple):
    """Which weights a window stands for, by entry (class · CODES + code), and which part of each."""

    weight: NDArray[np.uint32]  # [classes · CODES, parts] the weight in use
    share: NDArray[np.float64]  # [classes, parts]
    part_set: NDArray[np.int64]  # [parts] the set of each part


NO_LIBERTY_WINDOWS: Final = LibertyWindows(
    np.empty((0, 0), dtype=np.uint32), np.empty((0, 0)), np.empty(0, dtype=np.int64)
)


def can_fuse_liberties(features: LibertyShapes) -> bool:
    """Whether these are shapes up to 2×2, each with a weight of its own."""
    return all(features.is_tabled(shape_set) for shape_set in features.sets)


def build_liberty_windows(features: LibertyShapes) -> LibertyWindows:
    """The weights behind the windows of a board; raises ValueError where shapes are hashed."""
    if not can_fuse_liberties(features):
        raise ValueError("liberty windows hold liberty shapes up to 2×2 alone, each with a weight of its own")
    return _build(features.board_size, features.sets)


@lru_cache(maxsize=4)
def _build(board_size: int, sets: tuple[ShapeSet, ...]) -> LibertyWindows:
    features = LibertyShapes(board_size, sets, tabled=True)
    windows = find_windows(board_size, window_kernels.SIDE, window_kernels.SIDE)
    firsts = np.unique(windows.y * board_size + windows.x, return_index=True)[1]
    weights, shares = [], []
    for window in windows.cells[firsts].tolist():
        parts = [part for j in range(len(sets)) for part in _parts(features, j, window)]
        weights.append(np.stack([entries for entries, _ in parts], axis=1))
        shares.append([share for _, share in parts])
    weight = features.sharing[0][np.concatenate(weights)]
    counts = [sum(1 for _ in _parts(features, j, windows.cells[0].tolist())) for j in range(len(sets))]
    return LibertyWindows(weight, np.array(shares), np.repeat(np.arange(len(sets)), counts))


def _parts(features: LibertyShapes, j: int, window: list[int]) -> list[tuple[NDArray[np.int64], float]]:
    """The placements of a set in a window: the weight of each by the window's code, [CODES], and its share."""
    shape_set = features.sets[j]
    placements = find_windows(features.board_size, shape_set.width, shape_set.height)
    classes = shape_set.class_numbers(features.board_size, placements.x, placements.y)
    codes = features.states**shape_set.area
    parts = []
    for cells, number in zip(placements.cells.tolist(), classes.tolist(), strict=True):
        if set(cells) <= set(window):
            states = _states([window.index(p) for p in cells])
            entries = features.offsets[j] + number * codes + states @ features.states ** np.arange(len(cells))
            parts.append((entries, 1 / _windows_around(cells, features.board_size)))
    return parts


def _states(cells: list[int]) -> NDArray[np.int64]:
    """The states of the cells of a shape that lies in some cells of a window, by the window's code, [CODES, area]."""
    digits = (
        np.arange(window_kernels.CODES)[:, None]
        // window_kernels.DIGITS ** np.arange(window_kernels.CELLS)
        % window_kernels.DIGITS
    )
    is_opponent = digits > window_kernels.OPPONENT
    own = np.where(is_opponent, digits - window_kernels.OPPONENT, digits)
    beyond = np.where(own > 3, own - 4, own - 1)  # liberties outside the window
    states = []
    for i in cells:
        outside = beyond[:, i] + (own[:, i] > 3) * (_OPPOSITE[i] not in cells)
        outside = outside + sum(np.int64(digits[:, k] == 0) for k in _ADJACENT[i] if k not in cells)
        state = 1 + np.minimum(outside, _MOST) + 3 * is_opponent[:, i]
        states.append(np.where(digits[:, i] == 0, 0, state))
    return np.stack(states, axis=1)


def _windows_around(cells: list[int], size: int) -> int:
    """How many 2×2 windows contain all of these cells."""
    count = 1
    for lines in ([p // size for p in cells], [p % size for p in cells]):
        count *= min(min(lines), size - window_kernels.SIDE) - max(max(lines) - window_kernels.SIDE + 1, 0) + 1
    return count
