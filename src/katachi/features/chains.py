"""Groups of a board: chains, or chains that are loosely connected, with their eyes, liberties and weakest enemies.

- A *loose group* joins chains that no single enemy stone can keep apart: they have two liberties in common, or one on
  which an enemy stone would stand alone with one liberty or none.
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
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from katachi.features.kernels._chains import GROUPS, fill_groups
from katachi.go.board import Board
from katachi.go.kernels.board import OFF

GroupKind: TypeAlias = Literal["chain", "loose"]


@dataclass(frozen=True)
class Group:
    """Stones of a color that belong together."""

    points: tuple[int, ...]  # of its stones, in order
    color: int
    eyes: int
    liberties: tuple[int, ...]  # of order 1 to 4
    weakest_enemies: tuple[int, ...]  # the first points of the weakest adjacent enemy group, and of the next


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
        enemies = tuple(first[enemy] for enemy in work["weakest"][name].tolist() if enemy != OFF)
        liberties = tuple(work["liberties"][name].tolist())
        yield Group(tuple(points), board[points[0]], int(work["eyes"][name]), liberties, enemies)


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
