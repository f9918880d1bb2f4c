"""Planes against their slow twin on random games and on pictures, under symmetries, and what they refuse."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np
import pytest

from helpers.boardfiles import read_boards
from helpers.naive_planes import NaivePosition, plane_at
from helpers.positions import random_board
from katachi.go.board import Board
from katachi.go.kernels.board import new_boards
from katachi.go.points import BLACK, PASS, WHITE, Symmetry, parse_vertex
from katachi.policy.planes import PLANES

SETS = list(PLANES.values())
MADDISON = PLANES["maddison-36"]
MOVER = PLANES["mover"]


def random_game(size: int, plies: int, seed: int) -> Iterator[tuple[Board, NaivePosition]]:
    """The positions of a random game with a few passes, in which eyes are mostly left open."""
    rng = np.random.default_rng(seed)
    board, position = Board(size), NaivePosition(size, [0] * size**2)
    for _ in range(plies):
        moves = np.flatnonzero(board.legal_moves()[:-1]).tolist()
        if rng.random() < 0.9:
            moves = [move for move in moves if not board.is_own_eye(move, board.to_play)]
        move = int(rng.choice(moves)) if moves and rng.random() > 0.03 else PASS
        board.play(move)
        position = position.after(move)
        position.rank = int(rng.integers(10))
        yield board, position


def compare(board: Board, position: NaivePosition) -> Counter[tuple[str, str]]:
    """Compare all planes of a position; returns how many points each of them marks."""
    marked: Counter[tuple[str, str]] = Counter()
    for planes in SETS:
        (encoded,) = planes.encode([board], position.rank)
        assert encoded.max() == 1
        for plane, name in zip(encoded, planes.names, strict=True):
            points = set(np.flatnonzero(plane).tolist())
            assert points == plane_at(position, name), f"{planes.name}, {name}\n{board}"
            marked[planes.name, name] += len(points)
    return marked


def test_random_games_agree_with_the_twin() -> None:
    """Games on small boards are full of captures, kos and ladders: every plane of every set is met."""
    marked: Counter[tuple[str, str]] = Counter()
    for size, plies in ((2, 12), (3, 20), (4, 40), (5, 100), (7, 200), (9, 250)):
        for ply, (board, position) in enumerate(random_game(size, plies, seed=1)):
            if ply % 5 == 0 or size < 5:
                marked += compare(board, position)
    assert set(marked) == {(planes.name, name) for planes in SETS for name in planes.names}


def test_large_boards_agree_with_the_twin() -> None:
    for size in (13, 18, 19):
        for ply, (board, position) in enumerate(random_game(size, 241, size)):
            if ply == 240:
                compare(board, position)


@pytest.mark.parametrize("file", [*read_boards("ladders"), *read_boards("tactics")], ids=lambda file: file.name)
def test_pictures_agree_with_the_twin(file) -> None:
    board = file.board
    for to_play in (BLACK, WHITE):
        board.to_play = to_play
        compare(board, NaivePosition(board.size, board.stones.tolist(), to_play, board.ko_point))


@pytest.mark.parametrize("symmetry", Symmetry)
def test_planes_turn_with_the_board(symmetry: Symmetry) -> None:
    """Whether the moves are turned or the planes of what they led to, is the same."""
    rng = np.random.default_rng(symmetry)
    board, turned = Board(7), Board(7)
    for _ in range(60):
        move = int(rng.choice([*np.flatnonzero(board.legal_moves()[:-1]), PASS]))
        board.play(move)
        turned.play(symmetry.apply(move, 7))
    for planes in SETS:
        assert np.array_equal(symmetry.transform(planes.encode([board])), planes.encode([turned]))


def test_the_mover_sees_no_colors() -> None:
    rng = np.random.default_rng(3)
    board, swapped = Board(9), Board(9)
    swapped.to_play = WHITE
    for _ in range(90):
        move = int(rng.choice(np.flatnonzero(board.legal_moves()[:-1])))
        board.play(move)
        swapped.play(move)
        assert np.array_equal(MOVER.encode([board]), MOVER.encode([swapped]))


def test_a_stone_that_is_taken_and_played_again_is_young() -> None:
    """White takes in a ko, Black threatens and takes back: his stone is of this turn, and White's is gone."""
    board = Board.parse(". X O . . / X . X O . / . X O . . / . . . . . / . . . . . / White to play")
    for vertex in ("B4", "E1", "A1", "C4"):
        board.play(parse_vertex(vertex, 5))
    (planes,) = MADDISON.encode([board])
    ages = {name: np.flatnonzero(planes[MADDISON.names.index(f"turns since: {name}")]).tolist() for name in "1234"}
    assert ages == {"1": [7], "2": [20], "3": [24], "4": []}
    (planes,) = MOVER.encode([board])
    assert np.flatnonzero(planes[MOVER.names.index("ko")]).tolist() == [6]


def test_stones_older_than_a_board_remembers_are_in_the_last_bin() -> None:
    board = Board(9)
    board.place(black=[0])
    for move in range(20, 60, 2):  # no two of these touch
        board.play(move)
    (planes,) = MADDISON.encode([board])
    assert np.flatnonzero(planes[MADDISON.names.index("turns since: 5 or more")]).tolist() == [0, *range(20, 52, 2)]


def test_batches_are_what_single_boards_are() -> None:
    boards = [random_board(9, plies, seed=plies) for plies in range(0, 100, 9)]
    ranks = [index % 10 for index in range(len(boards))]
    for planes in SETS:
        single = [planes.encode([board], rank)[0] for board, rank in zip(boards, ranks, strict=True)]
        assert np.array_equal(planes.encode(boards, ranks), single)


def test_ranks() -> None:
    board = Board(5)
    assert MADDISON.encode([board], 0)[0, -9:].sum() == 0
    assert MADDISON.encode([board], 3)[0, -9:].any(axis=(1, 2)).tolist() == [False] * 2 + [True] + [False] * 6
    assert MADDISON.encode([board])[0, -1].all()


def test_counts_and_words() -> None:
    assert {planes.name: planes.count for planes in SETS} == {
        "maddison-36": 36,
        "maddison-36-zero-bin": 36,
        "maddison-9": 9,
        "mover": 48,
    }
    assert len({planes.digest for planes in SETS}) == len(SETS)
    assert all(len(set(planes.names)) == planes.count for planes in SETS)
    assert MADDISON.describe(9) == "liberties after: 3 (a move here leaves its chain this many liberties)"
    assert PLANES["maddison-36-zero-bin"].names[19:26] == (*(f"captures: {n}" for n in range(6)), "captures: 6 or more")
    with pytest.raises(ValueError, match="36 is not a plane of maddison-36: there are 36"):
        MADDISON.describe(36)


def fill(boards: int = 2, size: int = 5, planes: int = 36, lines: int = 5, ranks: tuple[int, ...] = (1, 9)) -> None:
    out = np.empty((2, planes, lines, lines), dtype=np.uint8)
    MADDISON.fill(new_boards(boards, size), np.array(ranks, dtype=np.int8), out)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"boards": 3, "ranks": (1, 2, 3)}, "3 boards need contiguous planes"),
        ({"planes": 35}, "2 boards need contiguous planes"),
        ({"lines": 6}, "not all of these boards are 6×6"),
        ({"ranks": (1,)}, "every board needs a rank"),
        ({"ranks": (1, 10)}, "every board needs a rank from 0, which is unknown, to 9"),
        ({"ranks": (-1, 1)}, "every board needs a rank"),
    ],
)
def test_what_does_not_fit_is_refused(wrong, words) -> None:
    fill()
    with pytest.raises(ValueError, match=words):
        fill(**wrong)


def test_boards_of_two_sizes_are_refused() -> None:
    with pytest.raises(ValueError, match="not all of these boards are 5×5"):
        MADDISON.encode([Board(5), Board(7)])
    with pytest.raises(ValueError, match="no boards"):
        MADDISON.encode([])
