"""What a CRBM sees of a board, and the plain features that it is compared with; all as the player who has just moved.

*Point states*: each point is in exactly one of three states (own stone, opponent stone, free), or of seven, where
stones also say whether their chain has one liberty, two, or more. As planes they are what unsupervised learning sees.

>>> from katachi.go.board import Board
>>> board = Board.parse("X O . / . . . / . . .")
>>> STONES.encode([board])[0, :, 0].tolist()  # Black is to play: White has just moved, whose stones are its own
[[0, 1, 0], [1, 0, 0], [0, 0, 1]]

*Templates*: every small rectangle of stones at every place of the board, each a feature of its own. No weights are
shared over symmetries or places: this is the baseline of Largman and Pham, all 2×2 templates at all places of a 9×9
board. Feature ``place · 3^cells + code``; the digits of the code, the first cell's the lowest, are 0 for a free point,
1 for an own stone, 2 for an opponent's.

>>> Templates(9).size
5184

*Window filters*: what each of some filters answers at each place, as real features: random filters, principal
components, centers of clusters (``crbm/winners.py`` finds them). A window is read as three planes of zeros and ones.
Feature ``place · filters + filter``, places from the upper left.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from katachi.core.cards import Hex
from katachi.core.contracts import Floats, Ints
from katachi.core.linear import FeatureCard
from katachi.crbm.kernels.features import fill_state_planes
from katachi.features.planes import PlaneKind, Planes, PlaneSet, Ranks
from katachi.features.windows import check_board_size
from katachi.go.board import Board
from katachi.go.points import check_size, format_vertex

# Point states

_BINS: Final = ("1", "2", "3 or more")
_OWN: Final = "a stone of the player who has just moved is here"
_OPPONENT: Final = "a stone of the player to move is here"


def _fill_stones(records: NDArray[Any], ranks: Ranks, out: Planes) -> None:  # noqa: ARG001
    fill_state_planes(records, False, out)


def _fill_liberties(records: NDArray[Any], ranks: Ranks, out: Planes) -> None:  # noqa: ARG001
    fill_state_planes(records, True, out)


_FREE: Final = PlaneKind("free", "no stone is here")
STONES: Final = PlaneSet("stones", (PlaneKind("own", _OWN), PlaneKind("enemy", _OPPONENT), _FREE), _fill_stones)
STONES_WITH_LIBERTIES: Final = PlaneSet(
    "stones with liberties",
    (
        PlaneKind("own liberties", f"{_OWN}, and its chain has this many liberties", _BINS),
        PlaneKind("enemy liberties", f"{_OPPONENT}, and its chain has this many liberties", _BINS),
        _FREE,
    ),
    _fill_liberties,
)


def point_states(*, liberties: bool) -> PlaneSet:
    """The three states, or the seven."""
    return STONES_WITH_LIBERTIES if liberties else STONES


# Templates

MAX_SIDE: Final = 3
_STATES: Final = 3
_STATE_LETTERS: Final = ".XO"


class Templates:
    """All templates of one square size on boards of one size. Meets ``FeatureSet``.

    Centered by ``use``, how often each of them is on [3^cells], every feature is less that, and none is 0.
    """

    def __init__(self, board_size: int, side: int = 2, use: Sequence[float] | None = None) -> None:
        if not 1 <= side <= min(MAX_SIDE, check_size(board_size)):
            raise ValueError(f"templates on {board_size}×{board_size} have 1 to {MAX_SIDE} points a side, not {side}")
        self.board_size = board_size
        self.side = side
        self._codes: int = _STATES ** (side * side)
        self._powers = (_STATES ** np.arange(side * side)).reshape(side, side)
        self.use = use
        if use is not None and len(use) != self._codes:
            raise ValueError(f"{self._codes} templates are centered by as many numbers, not {len(use)}")

    @property
    def name(self) -> str:
        return f"all {self.side}×{self.side} templates{', centered' if self.use else ''}"

    @property
    def places(self) -> int:
        """How many places there are in one direction."""
        return self.board_size - self.side + 1

    @property
    def size(self) -> int:
        return self.places**2 * self._codes

    @property
    def digest(self) -> str:
        """A short text that changes with anything that fixes the meaning of a feature."""
        fixed = ("templates", self.board_size, self.side, *([] if self.use is None else [list(self.use)]))
        return hashlib.sha256(repr(fixed).encode()).hexdigest()[:16]

    def active(self, board: Board) -> tuple[Ints, Floats]:
        """The template at each place, or all of them if they are centered."""
        on = self._on(board)
        if self.use is None:
            return on, np.ones(on.size, dtype=np.float32)
        occurrences = np.tile(-np.array(self.use, dtype=np.float32), self.places**2)
        occurrences[on] += 1
        return np.arange(self.size), occurrences

    def _on(self, board: Board) -> Ints:
        check_board_size(board.size, self.board_size)
        digits = (-board.to_play * board.stones.astype(np.int64)) % _STATES  # −1, the opponent's, becomes 2
        grid = digits.reshape(board.size, board.size)
        windows = np.lib.stride_tricks.sliding_window_view(grid, (self.side, self.side))
        codes = np.tensordot(windows, self._powers, axes=2).ravel()
        return np.asarray(np.arange(codes.size) * self._codes + codes)

    def centered(self, boards: Iterable[Board]) -> Templates:
        """The same, less how often each of them is on anywhere on some boards."""
        counts = np.zeros(self._codes)
        for board in boards:
            counts += np.bincount(self._on(board) % self._codes, minlength=self._codes)
        return Templates(self.board_size, self.side, (counts / max(1, counts.sum())).tolist())

    def describe(self, index: int) -> str:
        """A template in words and as a small diagram."""
        if not 0 <= index < self.size:
            raise ValueError(f"{index} is not a template: there are {self.size}")
        place, code = divmod(index, self._codes)
        row, col = divmod(place, self.places)
        corner = format_vertex(row * self.board_size + col, self.board_size)
        digits = code // self._powers % _STATES
        rows = [" ".join(_STATE_LETTERS[digit] for digit in line) for line in digits.tolist()]
        return "\n".join([f"template, its upper left at {corner}", *rows])

    def card(self) -> TemplatesCard:
        """What is needed to make the same features again."""
        return TemplatesCard(digest=self.digest, side=self.side, use=None if self.use is None else list(self.use))


class TemplatesCard(FeatureCard):
    """The card of ``Templates``."""

    kind: Literal["templates"] = "templates"
    digest: Hex
    side: int = Field(ge=1, le=MAX_SIDE)
    use: list[float] | None = None

    def build(self, board_size: int) -> Templates:
        """The features on boards of a size; raises ValueError if there are none such."""
        return Templates(board_size, self.side, self.use)


# Window filters

PLANES: Final = 3
_LETTERS: Final = np.array(list("XO."))


class Response(StrEnum):
    """What a filter makes of a window."""

    LINEAR = "linear"  # filter · window + bias
    RECTIFIED = "rectified"  # the same, 0 where it is negative
    NEARNESS = "nearness"  # how much nearer the filter is than all on average, 0 if it is not (Coates et al. 2011)


class WindowFilters:
    """Filters of one square size on boards of one size. Meets ``FeatureSet``."""

    def __init__(
        self, board_size: int, filters: Floats, name: str, response: Response, bias: Floats | None = None
    ) -> None:
        """Take filters [K, 3, side, side] and a bias [K], 0 without one; raises ValueError for other shapes."""
        count, planes, *sides = filters.shape if filters.ndim == PLANES + 1 else (0, 0, 0, 0)
        if not count or planes != PLANES or sides[0] != sides[1] or not 1 <= sides[0] <= check_size(board_size):
            raise ValueError(f"filters of shape {list(filters.shape)} do not fit a {board_size}×{board_size} board")
        self.board_size = board_size
        self.filters = filters.astype(np.float32)
        self.bias = np.zeros(count, dtype=np.float32) if bias is None else bias.astype(np.float32)
        self._name = name
        self._response = response
        if self.bias.shape != (count,):
            raise ValueError(f"{count} filters need as many biases, not {list(self.bias.shape)}")

    @property
    def name(self) -> str:
        return self._name

    @property
    def side(self) -> int:
        return int(self.filters.shape[2])

    @property
    def places(self) -> int:
        """How many places there are in one direction."""
        return self.board_size - self.side + 1

    @property
    def size(self) -> int:
        return self.places**2 * len(self.filters)

    def active(self, board: Board) -> tuple[Ints, Floats]:
        """The answers that are not zero."""
        check_board_size(board.size, self.board_size)
        answers = self._respond(windows_of(board, self.side)).ravel()
        indices = np.flatnonzero(answers)
        return indices, answers[indices]

    def _respond(self, windows: Floats) -> Floats:
        """What the filters answer to windows, [W, K]."""
        rows = self.filters.reshape(len(self.filters), -1)
        answers: Floats = windows @ rows.T
        if self._response is Response.NEARNESS:
            squares = (windows**2).sum(1)[:, None] - 2 * answers + (rows**2).sum(1)
            distances = np.sqrt(np.maximum(squares, 0))
            answers = distances.mean(1, keepdims=True) - distances
        else:
            answers = answers + self.bias
        return answers if self._response is Response.LINEAR else np.maximum(answers, 0)

    def describe(self, index: int) -> str:
        """A filter at its place, and below it the state that it looks for at each point above all."""
        if not 0 <= index < self.size:
            raise ValueError(f"{index} is not a feature: there are {self.size}")
        place, number = divmod(index, len(self.filters))
        row, col = divmod(place, self.places)
        corner = format_vertex(row * self.board_size + col, self.board_size)
        rows = [" ".join(line) for line in _LETTERS[self.filters[number].argmax(0)].tolist()]
        return "\n".join([f"filter {number + 1}, its upper left at {corner}", *rows])


def windows_of(board: Board, side: int) -> Floats:
    """All windows of a board as zeros and ones, [places², 3 · side²], as the player who has just moved sees them."""
    seen = -board.to_play * board.stones.reshape(board.size, board.size)
    planes = np.stack([seen == 1, seen == -1, seen == 0]).astype(np.float32)
    windows = np.lib.stride_tricks.sliding_window_view(planes, (side, side), axis=(1, 2))
    return windows.transpose(1, 2, 0, 3, 4).reshape(-1, PLANES * side * side)
