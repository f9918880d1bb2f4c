"""Planes: a position as a stack of boards of zeros and ones, one for each thing that a network is to see.

- ``maddison-36``: those of Maddison, Huang, Sutskever and Silver (2014): absolute colors, and the rank of the player to
  move. ``maddison-36-zero-bin`` counts the captures of a move from none, not from one.
- ``maddison-9``: the reduced set of the paper's study of symmetric weights.
- ``mover``: everything as the player to move sees it, without the rank.

Legal is what simple ko and the ban on suicide allow. Planes about moves are 0 where the move is illegal; a
move of the opponent is valued as if it were the opponent's turn. "3" means exactly 3, "4 or more" is the last bin of
its kind.

>>> board = Board.parse(". X O / X O . / . . .")
>>> planes = PLANES["maddison-9"]
>>> planes.encode([board])[0, planes.names.index("liberties: 1")]
array([[0, 1, 1],
       [0, 0, 0],
       [0, 0, 0]], dtype=uint8)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from katachi.core.drawing import Picture, draw_sheet
from katachi.features.planes import HIGHEST_RANK, PlaneKind, PlaneSet
from katachi.go.board import Board
from katachi.policy.kernels.planes import fill_full, fill_mover, fill_reduced


def _up_to(last: int, first: int = 1) -> tuple[str, ...]:
    return (*(str(count) for count in range(first, last)), f"{last} or more")


def _full_kinds(first_capture: int) -> Iterator[PlaneKind]:
    yield from _reduced_kinds()[:4]
    yield PlaneKind("liberties after", "a move here leaves its chain this many liberties", _up_to(6))
    yield _LEGAL
    yield PlaneKind("turns since", "the stone here was played so many turns ago", _up_to(5))
    captures = _up_to(6 + first_capture, first_capture)
    yield PlaneKind("captures", "a move here takes this many stones", captures)
    yield _CATCHES
    ranks = tuple(f"{dan}d" for dan in range(1, HIGHEST_RANK + 1))
    yield PlaneKind("rank", "the player to move is of this rank; all points are alike", ranks)


def _reduced_kinds() -> tuple[PlaneKind, ...]:
    return (
        PlaneKind("black", "a black stone is here"),
        PlaneKind("white", "a white stone is here"),
        PlaneKind("empty", "no stone is here"),
        PlaneKind("liberties", "the chain here has this many liberties", _up_to(4)),
        _LEGAL,
        PlaneKind("last move", "the stone here was played in the last turn"),
    )


def _mover_kinds() -> Iterator[PlaneKind]:
    yield PlaneKind("ones", "the board is here; convolutions see its edge")
    yield PlaneKind("own", "a stone of the player to move is here")
    yield PlaneKind("enemy", "a stone of the opponent is here")
    yield PlaneKind("own liberties", "the own chain here has this many liberties", _up_to(4))
    yield PlaneKind("enemy liberties", "the opponent's chain here has this many liberties", _up_to(4))
    turns = tuple(str(ago) for ago in range(1, 9))
    yield PlaneKind("turns since", "the stone here was played so many turns ago", turns)
    yield PlaneKind("ko", "simple ko forbids a move here")
    yield _LEGAL
    yield PlaneKind("own eye", "a legal move here fills a simple eye of one's own")
    yield PlaneKind("liberties after", "a move here leaves its chain this many liberties", _up_to(6))
    yield PlaneKind("captures", "a move here takes this many stones", _up_to(4))
    yield PlaneKind("self-atari", "a move here leaves its chain of this many stones in atari", _up_to(4))
    yield PlaneKind("enemy liberties after", "a move of the opponent leaves its chain this many liberties", _up_to(4))
    yield PlaneKind("enemy captures", "a move of the opponent takes this many stones", _up_to(4))
    yield _CATCHES
    yield PlaneKind("ladder escape", "a move here saves a chain in atari, and no ladder catches it")
    yield PlaneKind("ladder in vain", "a move here extends a chain in atari, and it is caught all the same")
    yield PlaneKind("enemy ladder capture", "a move of the opponent catches a chain of two liberties in a ladder")


_LEGAL: Final = PlaneKind("legal", "the player to move may play here")
_CATCHES: Final = PlaneKind("ladder capture", "a move here catches a chain of two liberties in a ladder")

_ALL: Final = (
    PlaneSet("maddison-36", tuple(_full_kinds(1)), lambda records, ranks, out: fill_full(records, ranks, 0, out)),
    PlaneSet(
        "maddison-36-zero-bin", tuple(_full_kinds(0)), lambda records, ranks, out: fill_full(records, ranks, 1, out)
    ),
    PlaneSet("maddison-9", _reduced_kinds(), lambda records, _, out: fill_reduced(records, out)),
    PlaneSet("mover", tuple(_mover_kinds()), lambda records, _, out: fill_mover(records, out)),
)
PLANES: Final = {planes.name: planes for planes in _ALL}


def warmup() -> None:
    """Compile all planes."""
    for planes in PLANES.values():
        planes.encode([Board(5)])


def draw_planes(planes: PlaneSet, board: Board, rank: int = HIGHEST_RANK) -> str:
    """All planes of a position as one SVG, each with its name below, and what it means for those who point at it."""
    (encoded,) = planes.encode([board], rank)
    pictures = [
        Picture(f"{plane} {planes.names[plane]}", planes.describe(plane), encoded[plane])
        for plane in range(planes.count)
    ]
    return draw_sheet(f"{planes.name}: {planes.count} planes", board, pictures)
