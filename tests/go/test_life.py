"""Benson's unconditional life: classic shapes, and random positions against the definition."""

from __future__ import annotations

import random

import numpy as np
import pytest

from helpers import naive
from helpers.boardfiles import BoardFile, read_boards
from katachi.go.board import Board
from katachi.go.points import BLACK, PASS, WHITE
from katachi.go.reading import unconditional_life, unconditionally_alive

FILES = read_boards("life")


def compare(board: Board) -> int:
    """Compare both colors with the definition; returns how many stones are alive."""
    found = 0
    for color in (BLACK, WHITE):
        stones, regions = naive.unconditionally_alive(board.stones.tolist(), board.size, color)
        alive = unconditional_life(board, color)
        assert set(np.flatnonzero(alive.stones).tolist()) == stones
        assert set(np.flatnonzero(alive.regions).tolist()) == regions
        assert set(np.flatnonzero(unconditionally_alive(board, color)).tolist()) == stones | regions
        found += len(stones)
    return found


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_pictures(file: BoardFile) -> None:
    for word, color in (("black", BLACK), ("white", WHITE)):
        alive = unconditional_life(file.board, color)
        assert np.flatnonzero(alive.stones).tolist() == file.points[word]
        assert np.flatnonzero(alive.regions).tolist() == file.points[f"{word} regions"]
    compare(file.board)


def fill_without_own_eyes(board: Board, rng: random.Random, moves: int) -> None:
    """Play random moves but no own eyes, as playouts do, so that living shapes come about."""
    for _ in range(moves):
        legal = np.flatnonzero(board.legal_moves()[:-1]).tolist()
        sensible = [point for point in legal if not board.is_own_eye(point, board.to_play)]
        board.play(rng.choice(sensible or [PASS]))


@pytest.mark.parametrize("size", [2, 3, 5, 7, 9])
def test_random_positions_agree_with_the_definition(size: int) -> None:
    rng = random.Random(size)
    alive = 0
    for _ in range(40):
        board = Board(size)
        fill_without_own_eyes(board, rng, rng.randint(0, 3 * size**2))
        alive += compare(board)
    assert alive > 0


def test_alive_stones_survive_any_attack() -> None:
    """The owner passes, the opponent plays at random: no stone that is unconditionally alive is ever taken."""
    rng = random.Random(5)
    checked = 0
    for _ in range(60):
        board = Board(6)
        fill_without_own_eyes(board, rng, 100)
        alive = np.flatnonzero(unconditional_life(board, BLACK).stones)
        for _ in range(40):
            legal = np.flatnonzero(board.legal_moves(WHITE)[:-1]).tolist()
            board.play(rng.choice(legal or [PASS]), WHITE)
            assert (board.stones[alive] == BLACK).all()
        checked += alive.size
    assert checked > 0
