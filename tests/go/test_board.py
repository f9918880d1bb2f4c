"""The rules on one board, as pictures: captures, ko, suicide, set-up, text."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from katachi.go.board import Board, Illegality, IllegalMove, NothingToUndo, legal_moves_of, stack_records
from katachi.go.kernels.board import ZOBRIST
from katachi.go.points import BLACK, PASS, WHITE, Symmetry, parse_vertex


def vertex(text: str, board: Board) -> int:
    return parse_vertex(text, board.size)


def test_a_capture_takes_the_whole_chain_and_counts_it() -> None:
    board = Board.parse("""
        . X X .
        X O O .
        . X X .
        . . . .""")
    board.play(vertex("D3", board))
    assert str(board) == str(
        Board.parse("""
        . X X .
        X . . X
        . X X .
        . . . .
        White to play""")
    )
    assert (board.captured(WHITE), board.captured(BLACK)) == (2, 0)


def test_one_stone_captures_several_chains() -> None:
    board = Board.parse("""
        . . X . .
        . X O X .
        X O . O X
        . X O X .
        . . X . .""")
    board.play(vertex("C3", board))
    assert board.captured(WHITE) == 4
    assert board.liberty_count(vertex("C3", board)) == 4
    assert board.ko_point is None


KO = """
    . X O .
    X . X O
    . X O .
    . . . .
    White to play"""


def test_simple_ko_forbids_to_take_back_at_once() -> None:
    board = Board.parse(KO)
    board.play(vertex("B3", board))
    assert board.ko_point == vertex("C3", board)
    assert board.why_illegal(vertex("C3", board)) is Illegality.KO
    with pytest.raises(IllegalMove, match="C3: ko") as caught:
        board.play(vertex("C3", board))
    assert (caught.value.move, caught.value.reason) == (vertex("C3", board), Illegality.KO)


@pytest.mark.parametrize("elsewhere", ["pass", "A1"])
def test_a_move_elsewhere_or_a_pass_lifts_the_ko(elsewhere: str) -> None:
    board = Board.parse(KO)
    board.play(vertex("B3", board))
    board.play(vertex(elsewhere, board))
    assert board.ko_point is None
    board.play(PASS)
    assert board.is_legal(vertex("C3", board))


def test_ko_binds_only_the_player_to_move() -> None:
    board = Board.parse(KO)
    board.play(vertex("B3", board))
    assert board.is_legal(vertex("C3", board), WHITE)


def test_taking_two_stones_back_is_no_ko() -> None:
    board = Board.parse("""
        X . O X .
        O O X X .
        . . . . .
        . . . . .
        . . . . .
        White to play""")
    board.play(vertex("B5", board))
    assert board.captured(BLACK) == 1
    assert board.ko_point is None, "the stone that captured is part of a chain"


def test_a_snapback_is_no_ko() -> None:
    board = Board.parse("""
        . . . . .
        . . . . .
        O O O O .
        X X X O .
        . O X O .""")
    board.play(vertex("A1", board))
    assert board.captured(WHITE) == 1
    assert board.ko_point is None
    board.play(vertex("B1", board))
    assert board.captured(BLACK) == 5


def test_suicide_of_one_stone_is_always_illegal() -> None:
    board = Board.parse(". O . / O O . / . . .")
    for suicide in (False, True):
        assert board.why_illegal(0, BLACK, suicide=suicide) is Illegality.SUICIDE
    assert board.is_legal(0, WHITE)


def test_suicide_of_two_stones_is_up_to_the_rules() -> None:
    board = Board.parse(". X O / O O O / . . .")
    assert board.why_illegal(0, BLACK) is Illegality.SUICIDE
    assert board.why_illegal(0, BLACK, suicide=True) is None
    board.play(0, BLACK, suicide=True)
    assert board.stones[:2].tolist() == [0, 0]
    assert board.captured(BLACK) == 2
    assert board.to_play == WHITE
    assert board.ko_point is None


def test_filling_the_last_liberty_is_no_suicide_if_it_captures() -> None:
    board = Board.parse(". O X / O X X / X X . / Black to play")
    assert board.is_legal(0)
    board.play(0)
    assert board.captured(WHITE) == 2


@pytest.mark.parametrize(
    ("move", "reason"), [(9, Illegality.OFF_BOARD), (-2, Illegality.OFF_BOARD), (0, Illegality.OCCUPIED)]
)
def test_moves_that_are_no_moves(move: int, reason: Illegality) -> None:
    board = Board.parse("X . . / . . . / . . .")
    assert board.why_illegal(move) is reason
    with pytest.raises(IllegalMove):
        board.play(move)


def test_an_illegal_move_changes_nothing() -> None:
    board = Board.parse(". O . / O O . / . . .")
    before = board.copy()
    with pytest.raises(IllegalMove, match="A3: suicide"):
        board.play(0)
    assert board == before
    with pytest.raises(NothingToUndo):
        board.undo()


def test_undo_goes_back_through_plays_and_set_ups() -> None:
    board = Board(5)
    board.play(12)
    board.place(white=[0, 1], to_play=BLACK)
    board.play(PASS)
    board.undo()
    board.undo()
    assert (board.stones.nonzero()[0].tolist(), board.to_play) == ([12], WHITE)
    board.undo()
    assert board == Board(5)


def test_stones_cannot_be_written_to() -> None:
    with pytest.raises(ValueError, match="read-only"):
        Board(5).stones[0] = BLACK


def test_sizes_live_side_by_side() -> None:
    boards = [Board(size) for size in range(1, 20)]
    for board in boards[1:]:
        board.play(board.size**2 - 1)
    assert [board.liberty_count(board.size**2 - 1) for board in boards[1:]] == [2] * 18
    with pytest.raises(ValueError, match="20"):
        Board(20)


@pytest.mark.parametrize("use", [lambda b: b.chain(0), lambda b: b.liberties(0), lambda b: b.pseudo_liberties(0)])
def test_an_empty_point_has_no_chain(use: object) -> None:
    with pytest.raises(ValueError, match="no stone on A3"):
        use(Board(3))  # type: ignore[operator]


def test_eyes_and_false_eyes() -> None:
    board = Board.parse("""
        . X . X .
        X X X X X
        . X . X O
        X O X . .
        X . X . .""")
    eyes = {point for point in range(25) if board.is_own_eye(point, BLACK)}
    assert eyes == {vertex(text, board) for text in ("A5", "C5", "E5", "C3")}, "A3 is false: White holds B2 at the edge"
    assert not any(board.is_own_eye(point, WHITE) for point in range(25))
    assert not board.is_own_eye(vertex("B5", board), BLACK), "a stone is no eye"


def test_the_last_eight_moves_are_remembered() -> None:
    board = Board(5)
    played = [0, 7, PASS, 3, 4, 12, 13, 14, 20]
    for move in played:
        board.play(move)
    assert board.recent_points == [20, 14, 13, 12, 4, 3, None, 7]
    board.undo()
    assert board.recent_points == [14, 13, 12, 4, 3, None, 7, 0]
    board.place(black=[24])
    assert board.recent_points == [None] * 8


@pytest.mark.parametrize("symmetry", list(Symmetry))
def test_a_transformed_board_is_the_one_on_which_the_transformed_moves_were_played(symmetry: Symmetry) -> None:
    board, twin = Board(4), Board(4)
    for move in (1, 2, 4, 7, 9, 10, 6, 5, PASS, 12):  # White takes a ko on the way
        board.play(move)
        twin.play(symmetry.apply(move, 4))
        turned = board.transformed(symmetry)
        assert turned == twin
        assert turned.recent_points == twin.recent_points
        assert (turned.captured(BLACK), turned.hash) == (twin.captured(BLACK), twin.hash)
    assert board.captured(BLACK) == 1


def test_many_boards_at_once_have_the_moves_that_each_has_alone() -> None:
    rng = np.random.default_rng(1)
    boards = [Board(5) for _ in range(20)]
    for turns, board in enumerate(boards):
        for _ in range(3 * turns):
            points = np.flatnonzero(board.legal_moves()[:-1])
            board.play(int(rng.choice(points)) if points.size else PASS)
    expected = np.stack([board.legal_moves() for board in boards])
    np.testing.assert_array_equal(legal_moves_of(boards), expected)
    assert [Board.wrap(record[None]) for record in stack_records(boards)] == boards


def test_hashes_mean_the_same_on_every_disk() -> None:
    digest = hashlib.sha256(ZOBRIST.astype("<u8").tobytes()).hexdigest()
    assert digest == "322c9f9d8e91cb8f63d8f7014620d69250691144de3ec623d95bc00765c3d5b1"
