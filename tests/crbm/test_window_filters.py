from __future__ import annotations

import numpy as np
import pytest

from katachi.core.conformance import check_feature_set
from katachi.crbm.features import Response, WindowFilters, windows_of
from katachi.go.board import Board
from katachi.go.game import Game
from katachi.go.points import BLACK, WHITE

BOARD = ". X O . / X X O O / . O . X / . . . ."


def naive_answer(filters, board: Board, place: int, number: int) -> float:
    """One filter at one place, point by point."""
    side = filters.filters.shape[2]
    row, col = divmod(place, board.size - side + 1)
    total = float(filters.bias[number])
    for y in range(side):
        for x in range(side):
            seen = -board.to_play * board[(row + y) * board.size + col + x]
            total += float(filters.filters[number, {1: 0, -1: 1, 0: 2}[seen], y, x])
    return total


def dense(filters: WindowFilters, board: Board) -> np.ndarray:
    values = np.zeros(filters.size)
    indices, occurrences = filters.active(board)
    values[indices] = occurrences
    return values


@pytest.mark.parametrize("to_play", [BLACK, WHITE])
def test_answers_are_sums_over_the_points_of_a_window(to_play: int) -> None:
    rng = np.random.default_rng(1)
    board = Board.parse(BOARD)
    board.to_play = to_play
    rows, bias = rng.standard_normal((5, 3, 3, 3)).astype(np.float32), rng.standard_normal(5).astype(np.float32)
    linear = WindowFilters(4, rows, "some", Response.LINEAR, bias)
    expected = [naive_answer(linear, board, place, number) for place in range(4) for number in range(5)]
    assert linear.size == 20
    assert dense(linear, board) == pytest.approx(expected, abs=1e-5)
    rectified = WindowFilters(4, rows, "some", Response.RECTIFIED, bias)
    assert dense(rectified, board) == pytest.approx(np.maximum(expected, 0), abs=1e-5)


def test_nearness_is_measured_against_the_mean_distance() -> None:
    board = Board.parse(BOARD)
    windows = windows_of(board, 3)
    centers = np.stack([windows[0], windows[3], np.zeros(27)]).reshape(3, 3, 3, 3)
    filters = WindowFilters(4, centers, "centers", Response.NEARNESS)
    distances = np.linalg.norm(windows[:, None] - centers.reshape(1, 3, 27), axis=2)
    expected = np.maximum(distances.mean(1, keepdims=True) - distances, 0)
    assert dense(filters, board) == pytest.approx(expected.ravel(), abs=1e-5)
    assert expected[0, 0] == distances[0].mean()


def test_meets_the_contract_and_describes_itself() -> None:
    filters = np.zeros((2, 3, 2, 2))
    filters[1, 0, 0, 0] = filters[1, 1, 0, 1] = filters[1, 2, 1] = 1
    features = WindowFilters(5, filters, "two filters", Response.LINEAR)
    game = Game(5)
    for move in (12, 7, 6):
        game.play(move)
    check_feature_set(features, games=[game])
    assert features.describe(2 * 5 + 1) == "filter 2, its upper left at B4\nX O\n. ."


@pytest.mark.parametrize("shape", [(0, 3, 3, 3), (2, 2, 3, 3), (2, 3, 3, 2), (2, 3, 6, 6), (2, 27)])
def test_filters_that_do_not_fit_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="do not fit a 5×5 board"):
        WindowFilters(5, np.zeros(shape, dtype=np.float32), "none", Response.LINEAR)
