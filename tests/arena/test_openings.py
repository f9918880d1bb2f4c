from __future__ import annotations

from pathlib import Path

import pytest

from katachi.arena.match import Opening, RandomOpenings, read_opening_book
from katachi.arena.settings import OpeningError
from katachi.go.game import Play, Setup
from katachi.go.points import BLACK, PASS, WHITE
from katachi.go.rules import Rules


def test_an_opening_begins_a_game_to_be_played_on() -> None:
    opening = Opening("two stones", (Setup((0,), (1,), (), WHITE), Play(WHITE, 12)))
    game = opening.start(5, Rules())
    assert (game.board[0], game.board[1], game.board[12], game.to_play) == (BLACK, WHITE, WHITE, BLACK)
    assert len(Opening().start(5, Rules()).steps) == 0


def test_random_openings_are_legal_numbered_and_seeded() -> None:
    openings = RandomOpenings(9, Rules(), plies=6, seed=1)
    first = [openings.opening(number).steps for number in range(20)]
    assert len(set(first)) == 20
    assert first == [RandomOpenings(9, Rules(), plies=6, seed=1).opening(number).steps for number in range(20)]
    assert first[0] != RandomOpenings(9, Rules(), plies=6, seed=2).opening(0).steps
    for steps in first:
        assert len(Opening("", steps).start(9, Rules()).moves) == 6


def test_random_openings_keep_away_from_the_edge() -> None:
    openings = RandomOpenings(9, Rules(), plies=4, seed=1, from_line=3)
    games = [openings.opening(number).start(9, Rules()) for number in range(100)]
    moves = {play.move for game in games for play in game.moves}
    assert moves == {9 * row + col for row in range(2, 7) for col in range(2, 7)}


def test_no_random_plies_is_the_empty_board() -> None:
    assert RandomOpenings(9, Rules(), plies=0, seed=1).opening(3) == Opening()


@pytest.mark.parametrize("size", [2, 3])
def test_random_openings_on_tiny_boards_never_begin_when_the_game_is_over(size: int) -> None:
    openings = RandomOpenings(size, Rules(), plies=100, seed=1)
    for number in range(20):
        game = openings.opening(number).start(size, Rules())
        assert not game.is_over
        assert game.last_move != PASS


BOOK = """
(;GM[1]SZ[9];B[ee];W[ce](;B[gc];W[gd])(;B[cc]))
(;GM[1]SZ[19];B[dd])
(;GM[1]SZ[9]AB[cc][gg]PL[W];W[ee];B[];W[])
"""


def write_book(folder: Path, text: str = BOOK) -> Path:
    path = folder / "book.sgf"
    path.write_text(text)
    return path


def test_a_book_gives_every_line_on_this_board_in_turn(tmp_path: Path) -> None:
    book = read_opening_book(write_book(tmp_path), 9, Rules())
    lines = [[step.move for step in opening.steps if isinstance(step, Play)] for opening in book.openings]
    assert lines == [[40, 38, 24, 33], [40, 38, 20], [40]]
    assert book.openings[2].start(9, Rules()).board[20] == BLACK
    assert [book.opening(number).name for number in range(4)] == ["book 1", "book 2", "book 3", "book 1"]


def test_a_book_can_be_cut_short_and_equal_lines_count_once(tmp_path: Path) -> None:
    book = read_opening_book(write_book(tmp_path), 9, Rules(), plies=2)
    assert [len(opening.start(9, Rules()).moves) for opening in book.openings] == [2, 1]


def test_a_book_without_a_line_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OpeningError, match="has no game on a 13×13 board"):
        read_opening_book(write_book(tmp_path), 13, Rules())
    with pytest.raises(OpeningError, match="cannot read the opening book"):
        read_opening_book(tmp_path / "none.sgf", 9, Rules())
    with pytest.raises(OpeningError, match=r"book\.sgf"):
        read_opening_book(write_book(tmp_path, "nothing of the kind"), 9, Rules())
