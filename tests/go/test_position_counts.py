"""Legal positions counted through our own legality: 1, 57 and 12,675 (Tromp and Farnebäck)."""

from __future__ import annotations

import itertools

import pytest

from katachi.go.board import Board
from katachi.go.points import BLACK, EMPTY, WHITE


@pytest.mark.parametrize(("size", "legal"), [(1, 1), (2, 57), (3, 12_675)])
def test_number_of_legal_positions(size: int, legal: int) -> None:
    assert sum(can_stand(size, colors) for colors in itertools.product((EMPTY, BLACK, WHITE), repeat=size**2)) == legal


def can_stand(size: int, colors: tuple[int, ...]) -> bool:
    board = Board(size)
    black, white = ([point for point, stone in enumerate(colors) if stone == color] for color in (BLACK, WHITE))
    try:
        board.place(black, white)
    except ValueError:
        return False
    return True
