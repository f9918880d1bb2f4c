"""Propensity: its check values, its classes, its slow twin, games against their positions, symmetry and refusals."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.naive_inputs import NaivePropensity
from helpers.positions import random_move, random_positions
from katachi.go.board import Board
from katachi.go.points import BLACK, EMPTY, PASS, WHITE, Symmetry
from katachi.territory.inputs import CLASSES, TABLE_SHAPE, Propensity, classify_windows, propensity_of, symmetries_of

CORNER = Board.parse("X . O . . . / . X . . . . / . . . . . . / . . . . . . / . . . . . . / . . . . . .")


def random_ownership(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return rng.integers(-1, 2, size=shape, dtype=np.int8)


def learn(boards: list[Board]) -> np.ndarray:
    """A table that knows some boards."""
    propensity = Propensity()
    propensity.count(boards, random_ownership(np.random.default_rng(1), len(boards), boards[0].size ** 2))
    return propensity.table()


def test_windows_and_classes_of_the_paper():
    """Wu and Baldi: ten classes on 9×9; larger boards have the same."""
    assert len(classify_windows(9).cells) == 49
    assert CLASSES == 10
    for size in range(9, 20):
        assert set(classify_windows(size).classes.tolist()) == set(range(10))
    assert [len(set(classify_windows(size).classes.tolist())) for size in (3, 4, 5, 6, 7, 8)] == [1, 1, 3, 3, 6, 6]
    assert [len(classify_windows(size).classes) for size in (1, 2, 3, 19)] == [0, 0, 1, 289]
    assert sum(8 // len(symmetries_of(window_class)) for window_class in range(10)) == 49


def test_every_class_is_seen_in_all_its_symmetric_windows():
    """On 9×9 the windows of a class are one for each way to turn it somewhere else."""
    counts = np.bincount(classify_windows(9).classes)
    assert counts.tolist() == [8 // len(symmetries_of(window_class)) for window_class in range(10)]


@pytest.mark.parametrize("times", [0, 1, 2, 9])
def test_check_values(times):
    """0 if unseen, 1/2 after one win of Black's, n/(n+1) after n; White's are negative."""
    propensity = Propensity()
    owned = np.full((times, 36), BLACK, dtype=np.int8)
    owned[:, 0] = WHITE
    propensity.count([CORNER] * times, owned)
    values = propensity_of(CORNER, propensity.table())
    assert values[0] == pytest.approx(-times / (times + 1), abs=2**-11)
    assert values[1] == pytest.approx(times / (times + 1), abs=2**-11)


def test_neutral_points_are_not_counted():
    propensity = Propensity()
    propensity.count([CORNER], np.zeros((1, 36), dtype=np.int8))
    assert not propensity.table().any()


def test_a_symmetric_content_counts_once():
    """The empty board says nothing of colors; a stone in the middle is seen in eight ways at once, and counts one."""
    board = Board(3)
    propensity = Propensity()
    propensity.count([board], np.full((1, 9), BLACK, dtype=np.int8))
    assert not propensity_of(board, propensity.table()).any()
    board.play(4)
    propensity.count([board], np.full((1, 9), BLACK, dtype=np.int8))
    assert propensity_of(board, propensity.table()).tolist() == [0.5] * 9


def test_damping():
    propensity = Propensity()
    propensity.count([CORNER], np.full((1, 36), BLACK, dtype=np.int8))
    assert propensity_of(CORNER, propensity.table(damping=3))[0] == 0.25


@pytest.mark.parametrize(("size", "count"), [(3, 40), (4, 40), (5, 40), (7, 20), (9, 10), (13, 2), (19, 1)])
def test_random_positions_agree_with_the_twin(size, count):
    rng = np.random.default_rng(size)
    boards = random_positions(size, count, seed=20 + size)
    owned = random_ownership(rng, count, size**2)
    propensity, twin = Propensity(), NaivePropensity()
    propensity.count(boards, owned)
    for board, owners in zip(boards, owned.tolist(), strict=True):
        twin.count(board.stones.tolist(), size, owners)
    table = propensity.table()
    for board in boards:
        expected = twin.values(board.stones.tolist(), size)
        assert propensity_of(board, table) == pytest.approx(expected, abs=2**-11)


@pytest.mark.parametrize("size", [1, 2, 3, 5, 9])
def test_a_game_counts_what_its_positions_count(size):
    """Random games with captures and passes; the start and the end are positions too."""
    rng = np.random.default_rng(size)
    games, positions = Propensity(), Propensity()
    for _ in range(5):
        start = Board(size)
        if size > 2:
            start.place(black=[1], white=[3])
        board, boards, moves, colors = start.copy(), [start], [], []
        for _ in range(3 * size * size):
            moves.append(random_move(board, rng) if rng.random() > 0.05 else PASS)
            colors.append(board.to_play)
            board.play(moves[-1])
            boards.append(board.copy())
        owned = random_ownership(rng, size**2)
        games.count_game(start, np.array(moves), np.array(colors, dtype=np.int8), owned)
        positions.count(boards, owned[None].repeat(len(boards), axis=0))
    assert np.array_equal(games.table(), positions.table())
    assert games.table().any() == (size > 2)


@pytest.mark.parametrize("size", [3, 4, 5, 7, 9, 10, 19])
def test_it_turns_with_the_board_and_changes_sign_with_the_stones(size):
    boards = random_positions(size, 5, seed=3)
    table = learn(boards)
    for board in boards:
        values = propensity_of(board, table)
        assert values.any()
        for symmetry in Symmetry:
            turned = propensity_of(board.transformed(symmetry), table).reshape(size, size)
            assert np.array_equal(turned, symmetry.transform(values.reshape(size, size)))
        swapped = Board(size)
        swapped.place(black=np.flatnonzero(board.stones == WHITE), white=np.flatnonzero(board.stones == BLACK))
        assert np.array_equal(propensity_of(swapped, table), -values)


def test_small_boards_have_none():
    assert propensity_of(Board(2), np.ones(TABLE_SHAPE, dtype=np.float32)).tolist() == [EMPTY] * 4


def test_an_illegal_move_counts_nothing():
    propensity = Propensity()
    moves, colors = np.array([4, 4]), np.array([BLACK, WHITE], dtype=np.int8)
    with pytest.raises(ValueError, match="move 2 of the game is illegal"):
        propensity.count_game(Board(5), moves, colors, np.ones(25, dtype=np.int8))
    assert not propensity.table().any()
    with pytest.raises(ValueError, match="on a board of 25 points"):
        propensity.count_game(Board(5), moves + 21, colors, np.ones(25, dtype=np.int8))


def test_what_does_not_fit_is_refused():
    propensity = Propensity()
    with pytest.raises(ValueError, match=r"ownership must be \[2, 25\] of int8"):
        propensity.count([Board(5)] * 2, np.zeros((1, 25), dtype=np.int8))
    with pytest.raises(ValueError, match="each \\+1, −1 or 0"):
        propensity.count([Board(5)], np.full((1, 25), -128, dtype=np.int8))
    with pytest.raises(ValueError, match="not all of these boards are 5×5"):
        propensity.count([Board(5), Board(7)], np.zeros((2, 25), dtype=np.int8))
    with pytest.raises(ValueError, match="a table of propensities is a contiguous array"):
        propensity_of(Board(5), np.zeros(TABLE_SHAPE))
