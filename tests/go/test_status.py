"""Dead, alive or in seki: pictures with answers."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.boardfiles import BoardFile, read_boards
from katachi.go.board import Board
from katachi.go.points import BLACK, WHITE
from katachi.go.scoring import Fate, estimate_status

FILES = read_boards("status")


def swapped(board: Board) -> Board:
    """The same position with the colors exchanged."""
    twin = Board(board.size)
    twin.place(*(np.flatnonzero(board.stones == color).tolist() for color in (WHITE, BLACK)), to_play=-board.to_play)
    return twin


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_pictures(file: BoardFile) -> None:
    for board in (file.board, swapped(file.board)):
        for seed in (0, 1):
            status = estimate_status(board, seed=seed)
            assert status.dead_stones == file.points["dead"]
            assert status.seki_stones == file.points["seki"]


def test_there_are_enough_pictures() -> None:
    assert len(FILES) >= 25


def test_every_chain_has_one_fate() -> None:
    board = next(file.board for file in FILES if file.name == "game_19_2")
    status = estimate_status(board, playouts=100)
    chains = sorted(status.alive + status.dead + status.seki)
    assert [list(chain) for chain in chains] == sorted(board.chains())
    assert set(status.fates.values()) <= set(Fate)


def test_the_same_seed_gives_the_same_answer_whoever_is_to_play() -> None:
    board = next(file.board for file in FILES if file.name == "dead_in_territory")
    first = estimate_status(board, seed=3)
    other = board.copy()
    other.to_play = -board.to_play
    for again in (estimate_status(board, seed=3), estimate_status(other, seed=3)):
        assert again.fates == first.fates
        assert np.array_equal(again.ownership, first.ownership)


def test_ownership_is_signed_and_shaped_like_the_board() -> None:
    board = next(file.board for file in FILES if file.name == "dead_in_territory")
    ownership = estimate_status(board).ownership
    assert ownership.shape == (81,)
    assert np.abs(ownership).max() <= 1
    assert ownership[board.chain(3)].min() > 0.5, "Black's wall at the top left"
    assert ownership[board.chain(4)].max() < -0.5, "White's wall beside it"


def test_at_least_one_playout() -> None:
    with pytest.raises(ValueError, match="0 playouts"):
        estimate_status(Board(5), playouts=0)
