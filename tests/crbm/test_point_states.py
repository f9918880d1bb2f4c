from __future__ import annotations

import pytest

from helpers.naive import liberties_by_point
from helpers.positions import random_board
from katachi.crbm.features import STONES, STONES_WITH_LIBERTIES, point_states

BOARDS = [random_board(size, plies, seed=plies) for size, plies in ((5, 0), (5, 12), (9, 50), (9, 120))]


@pytest.mark.parametrize("board", BOARDS, ids=lambda board: f"{board.size}")
def test_states_are_what_they_say(board):
    (stones,) = STONES.encode([board])
    (liberties,) = STONES_WITH_LIBERTIES.encode([board])
    counts = liberties_by_point(board.stones.tolist(), board.size)
    for point in range(board.size**2):
        row, col = divmod(point, board.size)
        own = board[point] == -board.to_play
        wanted = 2 if not board[point] else 0 if own else 1
        assert stones[:, row, col].tolist() == [int(state == wanted) for state in range(3)]
        wanted = min(len(counts[point][1]), 3) - 1 + (0 if own else 3) if board[point] else 6
        assert liberties[:, row, col].tolist() == [int(state == wanted) for state in range(7)]


def test_words():
    assert STONES.names == ("own", "enemy", "free")
    assert STONES_WITH_LIBERTIES.names[3] == "enemy liberties: 1"
    assert point_states(liberties=True) is STONES_WITH_LIBERTIES
    assert STONES.digest != STONES_WITH_LIBERTIES.digest
