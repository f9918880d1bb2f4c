"""Point states: each point is in exactly one of a few states, as the player who has just moved sees it.

Three of them (own stone, enemy stone, free), or seven, where stones also tell whether their chain has one liberty,
two, or more. As planes they are what unsupervised learning sees of a board: one for each state, and on every point
one alone of them is 1.

>>> from katachi.go.board import Board
>>> board = Board.parse("X O . / . . . / . . .")
>>> STONES.encode([board])[0, :, 0].tolist()  # Black is to play: White has just moved, and his stones are his own
[[0, 1, 0], [1, 0, 0], [0, 0, 1]]
"""

from __future__ import annotations

from typing import Any, Final

from numpy.typing import NDArray

from katachi.crbm.kernels.features import fill_state_planes
from katachi.features.planes import PlaneKind, Planes, PlaneSet, Ranks

_BINS: Final = ("1", "2", "3 or more")
_OWN: Final = "a stone of the player who has just moved is here"
_ENEMY: Final = "a stone of the player to move is here"


def _fill_stones(records: NDArray[Any], ranks: Ranks, out: Planes) -> None:  # noqa: ARG001
    fill_state_planes(records, False, out)


def _fill_liberties(records: NDArray[Any], ranks: Ranks, out: Planes) -> None:  # noqa: ARG001
    fill_state_planes(records, True, out)


_FREE: Final = PlaneKind("free", "no stone is here")
STONES: Final = PlaneSet("stones", (PlaneKind("own", _OWN), PlaneKind("enemy", _ENEMY), _FREE), _fill_stones)
STONES_WITH_LIBERTIES: Final = PlaneSet(
    "stones with liberties",
    (
        PlaneKind("own liberties", f"{_OWN}, and its chain has this many liberties", _BINS),
        PlaneKind("enemy liberties", f"{_ENEMY}, and its chain has this many liberties", _BINS),
        _FREE,
    ),
    _fill_liberties,
)


def point_states(*, liberties: bool) -> PlaneSet:
    """The three states, or the seven."""
    return STONES_WITH_LIBERTIES if liberties else STONES
