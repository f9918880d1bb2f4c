"""Point inputs: what a network sees of each point of a board and of its neighborhood (Wu and Baldi 2006).

Of the point and of those around it: its stone, the influence of both colors, its propensity. Of the group that the
point's stone belongs to: eyes, liberties of order 1 to 4, and the weakest and the second weakest adjacent opponent
group. All numbers are from 0 to 1, the propensity from −1 to 1. Neighbors off the board are all zeros, and so is what
is given for groups where no stone is; of an opponent group that is not there, ``none`` is 1. Whose turn it is, is not
given; but ``exchange`` makes of a board's inputs those of the board with its colors exchanged, and whoever shows all
boards as one of the players sees them gives it.

The order is that of ``names``: each thing for the point itself and then for its neighbors by rows. When a board is
turned its neighborhoods turn too: ``flip`` makes of its inputs those of the turned board, to the last bit.

>>> inputs = PointInputs()
>>> inputs.d, inputs.names[0], inputs.names[1]
(69, 'black', 'white')
>>> board = Board.parse(". X . / X O . / . . .")
>>> encoded = inputs.encode([board])[0]
>>> dict(zip(inputs.names, encoded[4].tolist()))["liberties of order 1"]
0.25

Propensity: whose a point usually becomes, by what stands in the 3×3 windows around it (Wu and Baldi 2006).

A window belongs to one of ten classes by its distances 0, 1, 2 or 3 and more from the two nearest edges; in the
middle between two edges it is far from both. Content that a symmetry of the class turns into another, or an exchange
of the colors, is the same content. With the number of times N that a point of it ended as Black's and as White's,

    S = (N_black − N_white) / (N_black + N_white + C),   C = 1,

and the propensity of a point is the mean of S over the windows that contain it. It is learned from the games that a
model is trained on, and is 0 where nothing was learned. Values are rounded to 11 binary places, so that their sums
are exact and turn with the board to the last bit, and 16-bit numbers can hold them.

>>> propensity = Propensity()
>>> board = Board.parse(". X . / . . . / O . .")
>>> owned = np.array([1, 1, 1, 1, 1, 0, -1, -1, -1], dtype=np.int8)
>>> propensity.count([board] * 3, owned[None].repeat(3, axis=0))
>>> propensity_of(board, propensity.table()).reshape(3, 3)
array([[ 0.75,  0.75,  0.75],
       [ 0.75,  0.75,  0.  ],
       [-0.75, -0.75, -0.75]], dtype=float32)
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Sequence
from functools import cache, cached_property
from typing import Any, Final, Literal, NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from katachi.core.cards import Strict
from katachi.core.contracts import Floats, Ints
from katachi.features.influence import INFLUENCES, GroupKind, Influence
from katachi.features.kernels.influence import ORDERS
from katachi.features.windows import find_windows
from katachi.go.board import Board, stack_records
from katachi.go.points import BLACK, PASS, WHITE, Symmetry
from katachi.territory.kernels.inputs import (
    ALL_LEGAL,
    CELLS,
    GROUP,
    LOCAL,
    MARGIN,
    count_game,
    count_positions,
    fill_inputs,
    fill_propensity,
)

# Propensity

CODES: Final = 3**CELLS
FAR: Final = 3  # and farther from an edge
CLASSES: Final = (FAR + 1) * (FAR + 2) // 2
TABLE_SHAPE: Final = (CLASSES, CODES, CELLS)
_FRACTION: Final = 1 << 11
_POWERS: Final = 3 ** np.arange(CELLS - 1, -1, -1)

Ownership: TypeAlias = NDArray[np.int8]
_Number = TypeVar("_Number", bound=np.generic)


class WindowClasses(NamedTuple):
    """The 3×3 windows of a board in their frames."""

    cells: NDArray[np.uint16]  # [W, 9]
    classes: NDArray[np.uint8]  # [W]


@cache
def classify_windows(size: int) -> WindowClasses:
    """The windows of a board by rows, with their classes; there are none on boards smaller than 3×3."""
    if size < 3:
        return WindowClasses(np.empty((0, CELLS), dtype=np.uint16), np.empty(0, dtype=np.uint8))
    windows = find_windows(size, 3, 3)
    x, y = (np.where(2 * offset == size - 3, FAR, np.minimum(offset, FAR)) for offset in (windows.x, windows.y))
    return WindowClasses(windows.cells, _class_at(x, y).astype(np.uint8))


def _class_at(x: Any, y: Any) -> Any:
    """The number of the class at distances x ≥ y."""
    return x * (x + 1) // 2 + y


def symmetries_of(window_class: int) -> list[Symmetry]:
    """The symmetries that leave a window of a class as far from the edges as it was, each on its side."""
    x, y = next((x, y) for x in range(FAR + 1) for y in range(x + 1) if _class_at(x, y) == window_class)
    distances = np.array([[0, y, 0], [x, 0, FAR], [0, FAR, 0]])
    return [symmetry for symmetry in Symmetry if np.array_equal(symmetry.transform(distances), distances)]


class Propensity:
    """Counts of window contents with the owners of their cells, and the table of what they tell."""

    def __init__(self) -> None:
        self._counts = np.zeros((*TABLE_SHAPE, 2), dtype=np.uint64)  # Black's, White's

    def count(self, boards: Sequence[Board], ownership: Ownership) -> None:
        """Count boards of one size with who owned their points in the end, [B, n²]: +1 Black, −1 White, 0 nobody."""
        if not boards:
            return
        owners = _check_ownership(ownership, (len(boards), boards[0].size ** 2))
        if any(board.size != boards[0].size for board in boards):
            raise ValueError(f"not all of these boards are {boards[0].size}×{boards[0].size}")
        records = stack_records(boards)
        count_positions(records, owners, *classify_windows(boards[0].size), self._counts)

    def count_game(self, start: Board, moves: Ints, colors: NDArray[np.int8], ownership: Ownership) -> None:
        """Count all positions of a game from its start to its end, with who owned the points then, [n²].

        Raises ValueError and counts nothing if a move is illegal.
        """
        points = start.size**2
        owners = _check_ownership(ownership, (points,))
        if moves.shape != colors.shape or ((moves < PASS) | (moves >= points)).any():
            raise ValueError(f"a game needs a color for each of its moves, and these on a board of {points} points")
        windows = classify_windows(start.size)
        ply = count_game(start.record, moves, colors, owners, *windows, self._counts)
        if ply != ALL_LEGAL:
            raise ValueError(f"move {ply + 1} of the game is illegal")

    def table(self, damping: float = 1.0) -> Floats:
        """S for every class, content and cell, [10, 19683, 9]; ``damping`` is C."""
        table = np.empty(TABLE_SHAPE, dtype=np.float32)
        for window_class, counts in enumerate(self._counts):
            black, white = _fold(counts, symmetries_of(window_class))
            propensity = (black - white) / (black + white + damping)
            table[window_class] = np.round(propensity * _FRACTION) / _FRACTION
        return table


def propensity_of(board: Board, table: Floats) -> Floats:
    """The propensity of every point, [n²], from −1, White's, to +1, Black's."""
    out = np.empty(board.size**2, dtype=np.float32)
    fill_propensity(board.record, *classify_windows(board.size), check_table(table), out)
    return out


def check_table(table: Floats) -> Floats:
    """A table as kernels take it; raises ValueError if it has not the shape and the type of one."""
    if table.shape != TABLE_SHAPE or table.dtype != np.float32 or not table.flags.c_contiguous:
        raise ValueError(f"a table of propensities is a contiguous array {list(TABLE_SHAPE)} of float32")
    return _read_only(table)


def _check_ownership(ownership: Ownership, shape: tuple[int, ...]) -> Ownership:
    if ownership.shape != shape or ownership.dtype != np.int8 or ((ownership < WHITE) | (ownership > BLACK)).any():
        raise ValueError(f"ownership must be {list(shape)} of int8, each +1, −1 or 0")
    return _read_only(np.ascontiguousarray(ownership))


def _read_only(array: NDArray[_Number]) -> NDArray[_Number]:
    """A view that cannot be written to. Arrays from files are so: kernels are compiled once, for this kind of array."""
    view = array.view()
    view.flags.writeable = False
    return view


# Folding


def _fold(counts: NDArray[np.uint64], symmetries: list[Symmetry]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The counts of both colors, [19683, 9], with equal content counted together.

    A content that some of these symmetries leave as it is would be counted once for each of them: it is divided by
    their number, so that n occurrences count n.
    """
    grids = counts.reshape(CODES, 3, 3, 2).transpose(3, 0, 1, 2).astype(np.float64)
    folded = np.zeros_like(grids)
    kept = np.zeros(CODES)
    for symmetry in symmetries:
        for seen, exchange in ((grids, False), (grids[::-1], True)):
            becomes = _turned_codes(symmetry, exchange)
            folded[:, becomes] += symmetry.transform(seen)
            kept += becomes == np.arange(CODES)
    black, white = (folded / kept[:, None, None]).reshape(2, CODES, CELLS)
    return black, white


@cache
def _turned_codes(symmetry: Symmetry, exchange: bool) -> Ints:
    """The code that every code becomes when its window is turned, and perhaps the colors are exchanged, [19683]."""
    digits = np.arange(CODES)[:, None] // _POWERS % 3
    if exchange:
        digits = -digits % 3
    turned = symmetry.transform(digits.reshape(CODES, 3, 3)).reshape(CODES, CELLS)
    codes: Ints = turned @ _POWERS
    return codes


# Point inputs

_LAYOUT: Final = 1  # raise it when an input changes its meaning but not its name


class InputPart(NamedTuple):
    """Inputs that tell one thing: of the point alone, or of every place of its neighborhood."""

    title: str
    meaning: str
    values: tuple[str, ...]
    of_places: bool = False


_OTHER: Final = {"black": "white", "white": "black", "Black": "White", "White": "Black"}
_OPPONENT: Final = ("black", "white", "none", "liberties", "eyes")
_PARTS: Final = (
    InputPart("stone", "which stone is there", ("black", "white", "empty"), of_places=True),
    InputPart(
        "influence", "how much it feels of the color", ("influence of Black", "influence of White"), of_places=True
    ),
    InputPart("propensity", "whose it usually becomes, +1 Black, −1 White", ("propensity",), of_places=True),
    InputPart("eyes", "true eyes of the group, 1 for two", ("eyes",)),
    InputPart(
        "liberties",
        "of the group: 1 for 8 of order 1, for 16 of a higher one",
        tuple(f"liberties of order {order}" for order in range(1, ORDERS + 1)),
    ),
    InputPart(
        "weakest enemy", "the weakest opponent group beside it", tuple(f"weakest enemy: {of}" for of in _OPPONENT)
    ),
    InputPart("second weakest enemy", "the next", tuple(f"second weakest enemy: {of}" for of in _OPPONENT)),
)


class PointInputs(Strict):
    """Which inputs there are, and how they are computed."""

    group: GroupKind = "chain"
    influence: Influence = INFLUENCES["exact"]
    neighborhood: Literal[1, 5, 9, 13] = 9  # places: the point, what touches it, what is around it, or two steps away

    @property
    def d(self) -> int:
        """How many inputs a point has."""
        return LOCAL * self.neighborhood + GROUP

    @cached_property
    def parts(self) -> dict[str, slice]:
        """Where the inputs of each part stand."""
        found, start = {}, 0
        for part in _PARTS:
            stop = start + len(part.values) * (self.neighborhood if part.of_places else 1)
            found[part.title] = slice(start, stop)
            start = stop
        return found

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The name of every input: ``empty`` is of the point itself, ``empty: above left`` of a neighbor."""
        places = [_name_place(place) for place in _places(self.neighborhood)]
        return tuple(
            f"{value}: {place}" if place else value
            for part in _PARTS
            for place in (places if part.of_places else [""])
            for value in part.values
        )

    @property
    def own(self) -> list[int]:
        """The inputs that tell of the point itself, not of a neighbor."""
        starts = ((self.parts[part.title].start, len(part.values)) for part in _PARTS)
        return [start + i for start, values in starts for i in range(values)]

    @property
    def digest(self) -> str:
        """A short text that changes with anything that fixes the meaning of an input."""
        described = repr((_LAYOUT, self.model_dump_json(), self.names))
        return hashlib.sha256(described.encode()).hexdigest()[:16]

    def describe(self, index: int) -> str:
        """An input in words: its name, and what its number means."""
        if not 0 <= index < self.d:
            raise ValueError(f"{index} is not an input: there are {self.d}")
        part = next(part for part in _PARTS if index < self.parts[part.title].stop)
        return f"{self.names[index]} ({part.meaning})"

    def fill(self, records: NDArray[Any], propensity: Floats, out: Floats) -> None:
        """Write the inputs of boards [B] to ``out`` [B, n², d]; ``propensity`` is a table of ``Propensity``."""
        points = out.shape[1] if out.ndim == 3 else 0
        size = math.isqrt(points)
        if out.shape != (records.size, size * size, self.d) or out.dtype != np.float32 or not out.flags.c_contiguous:
            raise ValueError(f"{records.size} boards need a contiguous array [{records.size}, n², {self.d}] of float32")
        if (records["lines"] != size).any():
            raise ValueError(f"not all of these boards are {size}×{size}")
        rows, columns = np.array(_places(self.neighborhood)).T
        shifts = rows * (size + 2 * MARGIN) + columns
        influence = self.influence
        method = (influence.kernel, influence.constants, influence.maximum)
        windows = classify_windows(size)
        fill_inputs(records, self.group == "loose", *method, shifts, *windows, check_table(propensity), out)

    def encode(self, boards: Sequence[Board], propensity: Floats | None = None) -> Floats:
        """The inputs of boards of one size, [B, n², d]; without a table all propensities are 0."""
        if not boards:
            raise ValueError("there are no boards to encode")
        table = np.zeros(TABLE_SHAPE, dtype=np.float32) if propensity is None else propensity
        out = np.empty((len(boards), boards[0].size ** 2, self.d), dtype=np.float32)
        self.fill(stack_records(boards), table, out)
        return out

    def flip(self, inputs: Floats, symmetry: Symmetry) -> Floats:
        """Of the inputs [..., n², d] of boards those of the boards that a symmetry makes of them."""
        size = math.isqrt(inputs.shape[-2])
        comes_from = symmetry.inverse.points(size)
        return inputs[..., comes_from[:, None], self.flip_order(symmetry)]

    def exchange(self, inputs: Floats) -> Floats:
        """Of the inputs [..., n², d] of boards those of the same boards with their colors exchanged."""
        exchanged = inputs[..., self._exchange_order]
        exchanged[..., self.parts["propensity"]] *= -1
        return exchanged

    @cached_property
    def _exchange_order(self) -> Ints:
        """Which input tells of Black what each one tells of White, and the other way round, [d]."""
        words = re.compile("|".join(_OTHER))
        return np.array([self.names.index(words.sub(lambda word: _OTHER[word[0]], name)) for name in self.names])

    def flip_order(self, symmetry: Symmetry) -> Ints:
        """Which input of a point becomes which when the board is turned, [d]: ``turned[d] = inputs[order[d]]``."""
        places = _places(self.neighborhood)
        sources = [places.index(_turn(place, symmetry.inverse)) for place in places]
        order = np.arange(self.d)
        for part in _PARTS:
            if part.of_places:
                inputs = order[self.parts[part.title]].reshape(len(places), len(part.values))
                order[self.parts[part.title]] = inputs[sources].ravel()
        return order


# Places of a neighborhood, as steps down and to the right


@cache
def _places(count: int) -> tuple[tuple[int, int], ...]:
    """The point itself, then the others by rows."""
    steps = [(down, right) for down in range(-MARGIN, MARGIN + 1) for right in range(-MARGIN, MARGIN + 1)]
    if count == 9:
        near = [step for step in steps if max(map(abs, step)) == 1]
    else:
        reach = {1: 0, 5: 1, 13: 2}[count]
        near = [step for step in steps if 0 < abs(step[0]) + abs(step[1]) <= reach]
    return ((0, 0), *near)


def _name_place(place: tuple[int, int]) -> str:
    down, right = place
    words = [("below" if down > 0 else "above", abs(down)), ("right" if right > 0 else "left", abs(right))]
    return " ".join(word if steps == 1 else f"{steps} {word}" for word, steps in words if steps)


def _turn(place: tuple[int, int], symmetry: Symmetry) -> tuple[int, int]:
    """Where a symmetry takes a step."""
    across = 2 * MARGIN + 1
    row, column = divmod(symmetry.apply((place[0] + MARGIN) * across + place[1] + MARGIN, across), across)
    return row - MARGIN, column - MARGIN
