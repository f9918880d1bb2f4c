from __future__ import annotations

import numpy as np
import pytest

from helpers.positions import random_board
from katachi.core.conformance import check_feature_set, sample_games
from katachi.crbm.features import Templates
from katachi.go.board import Board


def test_counts():
    assert Templates(9).size == 81 * 64 == 5184
    assert Templates(5, side=1).size == 3 * 25
    assert Templates(9, side=3).size == 19683 * 49


@pytest.mark.parametrize("side", [1, 2, 3])
def test_every_place_has_the_template_that_is_there(side):
    templates = Templates(5, side)
    for plies in (0, 7, 20):
        board = random_board(5, plies, seed=plies)
        indices, occurrences = templates.active(board)
        assert (occurrences == 1).all()
        wanted = []
        for row in range(5 - side + 1):
            for col in range(5 - side + 1):
                code = 0
                cells = [(row + down) * 5 + col + right for down in range(side) for right in range(side)]
                for place, cell in enumerate(cells):
                    stone = board[cell]
                    code += 3**place * (0 if stone == 0 else 2 if stone == board.to_play else 1)
                wanted.append((row * (5 - side + 1) + col) * 3 ** (side * side) + code)
        assert indices.tolist() == wanted


def test_describe():
    templates = Templates(5)
    board = Board(5)
    board.play(6)
    board.play(7)  # White has just moved: his stone is X
    indices, _ = templates.active(board)
    assert templates.describe(int(indices[1])) == "template, its upper left at B5\n. .\nO X"
    with pytest.raises(ValueError, match="not a template"):
        templates.describe(templates.size)


def test_conformance():
    check_feature_set(Templates(5), games=sample_games(sizes=[5]))


def test_impossible_templates():
    for size, side in ((9, 4), (9, 0), (2, 3)):
        with pytest.raises(ValueError, match=f"1 to 3 points a side, not {side}"):
            Templates(size, side)
    with pytest.raises(ValueError, match="5×5 boards, not of 9×9"):
        Templates(5).active(Board(9))
    assert np.unique([Templates(5).digest, Templates(9).digest, Templates(5, 1).digest]).size == 3


def test_centered_templates_are_less_how_often_each_is_on():
    boards = [random_board(5, plies, seed=plies) for plies in range(12)]
    templates = Templates(5).centered(boards)
    plain = Templates(5)
    counts = np.zeros(81)
    for board in boards:
        for index in plain.active(board)[0].tolist():
            counts[index % 81] += 1
    assert templates.use == pytest.approx(counts / counts.sum())
    indices, occurrences = templates.active(boards[-1])
    expected = np.tile(-counts / counts.sum(), 16)
    expected[plain.active(boards[-1])[0]] += 1
    assert indices.tolist() == list(range(plain.size))
    assert occurrences == pytest.approx(expected, abs=1e-6)
    assert templates.digest != plain.digest
    again = templates.card().build(5)
    assert again.digest == templates.digest
    with pytest.raises(ValueError, match="81 templates are centered by as many numbers, not 3"):
        Templates(5, use=[0.1] * 3)
