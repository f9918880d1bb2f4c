"""Groups of chains, and influence: how far the stones of each color make themselves felt, by four rules.

- ``exact`` and ``stringent`` (after Chen 2002, as Wu and Baldi 2006 use it): every stone emits an amount, which spreads
  over neighboring points and decays at every step; amounts add up. In the first any opponent stone blocks; in the
  second an opponent stone blocks only what comes from weaker groups than its own (``find_groups`` says what
  is weaker).
- ``bouzy`` (Bouzy 2003): dilations let every color grow where the other is not, erosions then take away what nothing
  surrounds.
- ``zobrist`` (Zobrist 1970): every point adds the signs of its neighbors to its own number, again and again.

Chen's paper gives no numbers that could be found; the constants here are ours. Black's map and White's are both from
0 to 1: divided by what a point reaches in practice, and cut there.

>>> board = Board(5)
>>> board.play(12)
>>> black, white = map_influence(board, ChenInfluence(decay=0.5, steps=2))
>>> (4 * black).reshape(5, 5).round(2)
array([[0.  , 0.  , 0.25, 0.  , 0.  ],
       [0.  , 0.25, 0.5 , 0.25, 0.  ],
       [0.25, 0.5 , 1.  , 0.5 , 0.25],
       [0.  , 0.25, 0.5 , 0.25, 0.  ],
       [0.  , 0.  , 0.25, 0.  , 0.  ]], dtype=float32)

Groups of a board: chains, or chains that are loosely connected, with their eyes, liberties and weakest opponents.

- A *loose group* joins chains that no single opponent stone can keep apart: they have two liberties in common, or one
  on which an opponent stone would stand alone with one liberty or none.
- A *true eye* is an empty region of at most seven points with one color around it: a single point whose diagonals are
  held (a simple eye), or a larger region whose chains belong to one loose group. It is an eye of every group around it.
- Liberties of order 1 are the usual ones; those of order *k* are the empty points that touch one of order *k* − 1 and
  are of no lower order.
- The weaker of two groups has fewer eyes or, with as many, fewer liberties.

Wu and Baldi, *A scalable machine learning approach to Go*, NIPS 2006; what they leave open is defined above.

>>> board = Board.parse('''
... . X . X O
... X X X X O
... O O O O O
... . . . . .
... . . . . .''')
>>> black, white = find_groups(board)
>>> black.eyes, black.liberties, white.eyes, white.liberties
(2, (2, 0, 0, 0), 0, (5, 5, 0, 0))
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from pydantic import BeforeValidator, Field

from katachi.core.cards import Strict
from katachi.core.contracts import Doubles, Floats
from katachi.features.kernels import influence as kernels
from katachi.features.kernels.influence import GROUPS, fill_groups
from katachi.go.board import Board
from katachi.go.kernels.board import OFF

# Groups of chains.

GroupKind: TypeAlias = Literal["chain", "loose"]


@dataclass(frozen=True)
class Group:
    """Stones of a color that belong together."""

    points: tuple[int, ...]  # of its stones, in order
    color: int
    eyes: int
    liberties: tuple[int, ...]  # of order 1 to 4
    weakest_opponents: tuple[int, ...]  # the first points of the weakest adjacent opponent group, and of the next


def find_groups(board: Board, kind: GroupKind = "chain") -> list[Group]:
    """All groups of both colors, by their first points."""
    work = _read(board, kind)
    names: list[int] = work["group"][: board.size**2].tolist()
    members: dict[int, list[int]] = {}
    for point, name in enumerate(names):
        if name != OFF:
            members.setdefault(name, []).append(point)
    first = {name: points[0] for name, points in members.items()}
    return list(_describe(board, work, members, first))


def _describe(
    board: Board, work: NDArray[Any], members: dict[int, list[int]], first: dict[int, int]
) -> Iterator[Group]:
    for name, points in members.items():
        opponents = tuple(first[opponent] for opponent in work["weakest"][name].tolist() if opponent != OFF)
        liberties = tuple(work["liberties"][name].tolist())
        yield Group(tuple(points), board[points[0]], int(work["eyes"][name]), liberties, opponents)


def true_eyes(board: Board) -> NDArray[np.int8]:
    """Whose true eye each point is part of, [n²]."""
    eyes: NDArray[np.int8] = _read(board, "chain")["eye"][: board.size**2]
    return eyes


def _read(board: Board, kind: GroupKind) -> NDArray[Any]:
    """The record of a board's groups."""
    work = np.empty(1, dtype=GROUPS)
    fill_groups(board.record, work, kind == "loose")
    record: NDArray[Any] = work[0]
    return record


# The four rules.

_MOST_STEPS: Final = 100


class ChenInfluence(Strict):
    """Stones that radiate until an opponent stone blocks them."""

    method: Literal["exact", "stringent"] = "exact"
    emission: float = Field(default=64.0, gt=0, le=1e6, allow_inf_nan=False)  # of a stone on its own point
    decay: float = Field(default=0.5, gt=0, le=1)  # at every step
    steps: int = Field(default=6, ge=0, le=_MOST_STEPS)

    @property
    def kernel(self) -> int:
        return kernels.EXACT if self.method == "exact" else kernels.STRINGENT

    @property
    def constants(self) -> Doubles:
        return np.array([self.emission, self.decay, self.steps])

    @property
    def maximum(self) -> float:
        """Four stones' worth: a point amid friends reaches it, and few have more."""
        return 4 * self.emission


class BouzyInfluence(Strict):
    """Dilations, then erosions: *n* and *n* · (*n* − 1) + 1 let a lone stone claim nothing but itself."""

    method: Literal["bouzy"] = "bouzy"
    stone: int = Field(default=128, gt=0, le=1_000_000)
    dilations: int = Field(default=5, ge=1, le=_MOST_STEPS)
    erosions: int = Field(default=21, ge=0, le=_MOST_STEPS)

    kernel: ClassVar[int] = kernels.BOUZY

    @property
    def constants(self) -> Doubles:
        return np.array([self.stone, self.dilations, self.erosions], dtype=np.float64)

    @property
    def maximum(self) -> float:
        """The most that an empty point can gain; stones are cut to it."""
        return 4.0 * self.dilations


class ZobristInfluence(Strict):
    """Signs that are added up: a stone counts one for its neighbors, however large its number is."""

    method: Literal["zobrist"] = "zobrist"
    stone: int = Field(default=50, gt=0, le=1_000_000)
    passes: int = Field(default=4, ge=1, le=_MOST_STEPS)

    kernel: ClassVar[int] = kernels.ZOBRIST

    @property
    def constants(self) -> Doubles:
        return np.array([self.stone, self.passes, 0], dtype=np.float64)

    @property
    def maximum(self) -> float:
        """The most that an empty point can gain; stones are cut to it."""
        return 4.0 * self.passes


AnyInfluence: TypeAlias = ChenInfluence | BouzyInfluence | ZobristInfluence

INFLUENCES: Final[dict[str, AnyInfluence]] = {
    "exact": ChenInfluence(),
    "stringent": ChenInfluence(method="stringent"),
    "bouzy": BouzyInfluence(),
    "zobrist": ZobristInfluence(),
}


def _by_name(value: Any) -> Any:
    return INFLUENCES.get(value, value) if isinstance(value, str) else value


# In settings: a table with a method and its constants, or the name of a method for its usual ones.
Influence: TypeAlias = Annotated[AnyInfluence, Field(discriminator="method"), BeforeValidator(_by_name)]


def map_influence(board: Board, influence: AnyInfluence, group: GroupKind = "chain") -> Floats:
    """The influence of Black and of White on every point, [2, n²], from 0 to 1; ``group`` matters if stringent."""
    raw: NDArray[np.float64] = np.empty((2, board.size**2))
    kernels.fill_influence(board.record, group == "loose", influence.kernel, influence.constants, raw)
    return np.minimum(raw / influence.maximum, 1).astype(np.float32)


def warmup() -> None:
    """Compile groups and influence."""
    find_groups(Board(5))
    map_influence(Board(5), INFLUENCES["exact"])
