"""Ladders: pictures with answers, under all symmetries and both colors, and random positions against the slow twin."""

from __future__ import annotations

import os
import random
import subprocess
import sys

import numpy as np
import pytest

from helpers import naive
from helpers.boardfiles import BoardFile, read_boards
from katachi.go.board import Board
from katachi.go.points import BLACK, PASS, WHITE, Symmetry, parse_vertex
from katachi.go.reading import captures_in_ladder, escapes_from_ladder, is_ladder_capture, ladder_captures, read_ladder

FILES = read_boards("ladders")


def transformed(board: Board, symmetry: Symmetry, swap: int) -> Board:
    """The same position turned, mirrored and, if ``swap`` is −1, with the colors exchanged."""
    stones = {symmetry.apply(point, board.size): board[point] * swap for point in range(board.size**2)}
    twin = Board(board.size)
    black, white = ([point for point, stone in stones.items() if stone == color] for color in (BLACK, WHITE))
    twin.place(black, white, to_play=board.to_play * swap)
    return twin


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_pictures(file: BoardFile) -> None:
    answers = {"captures": True, "does not capture": False, "escapes": True, "does not escape": False}
    assert file.points.keys() <= answers.keys()
    for symmetry in Symmetry:
        for swap in (1, -1):
            board = transformed(file.board, symmetry, swap)
            before = str(board)
            for word, points in file.points.items():
                reads = captures_in_ladder if "capture" in word else escapes_from_ladder
                for point in points:
                    assert reads(board, symmetry.apply(point, board.size)) is answers[word], (word, point, symmetry)
            assert str(board) == before


def test_there_are_enough_pictures() -> None:
    assert len(FILES) >= 20


def random_board(rng: random.Random) -> Board:
    board = Board(rng.randint(4, 7))
    for _ in range(rng.randint(4, board.size**2)):
        board.play(rng.choice(np.flatnonzero(board.legal_moves()[:-1]).tolist() or [PASS]))
    return board


def compare_captures(board: Board, color: int) -> int:
    """Compare every move that attacks a chain with two liberties; returns how many of them capture."""
    stones, size = board.stones.tolist(), board.size
    found = 0
    all_at_once = ladder_captures(board, color)
    for move in np.flatnonzero(board.legal_moves(color)[:-1]).tolist():
        attacked = [q for q in naive.neighbors(size, move) if stones[q] == -color and board.liberty_count(q) == 2]
        captures = any(naive.captures_by(stones, size, move, stone) for stone in attacked)
        assert captures_in_ladder(board, move, color) is captures
        assert bool(all_at_once[move]) is captures
        found += captures
    return found


def compare_escapes(board: Board, color: int) -> int:
    """Compare every move with a chain of the color in atari; returns how many of them get out."""
    stones, size = board.stones.tolist(), board.size
    in_atari = [chain[0] for chain in board.chains() if board[chain[0]] == color and board.liberty_count(chain[0]) == 1]
    found = 0
    for move in np.flatnonzero(board.legal_moves(color)[:-1]).tolist():
        escapes = any(naive.escapes_by(stones, size, move, stone) for stone in in_atari)
        assert escapes_from_ladder(board, move, color) is escapes
        found += escapes
    return found


@pytest.mark.parametrize("seed", range(4))
def test_random_positions_agree_with_plain_recursion(seed: int) -> None:
    rng = random.Random(seed)
    captures = escapes = 0
    for _ in range(200):
        board = random_board(rng)
        for color in (BLACK, WHITE):
            captures += compare_captures(board, color)
            escapes += compare_escapes(board, color)
    assert captures > 100
    assert escapes > 100


def test_the_line_can_be_played_and_ends_in_a_capture() -> None:
    board = next(file.board for file in FILES if file.name == "across_19").copy()
    stone = parse_vertex("D16", 19)
    ladder = read_ladder(board, stone)
    assert ladder.captured is True
    assert len(ladder.line) > 50
    for move in ladder.line:
        assert board[stone] == WHITE
        board.play(move)
    assert board[stone] == 0


def test_the_line_of_an_escape_ends_with_three_liberties() -> None:
    board = next(file.board for file in FILES if file.name == "across_19_broken").copy()
    stone = parse_vertex("D16", 19)
    board.play(parse_vertex("E16", 19))
    ladder = read_ladder(board, stone, attacker_first=False)
    assert ladder.captured is False
    for move in ladder.line:
        board.play(move)
    assert board.liberty_count(stone) >= 3


def test_a_ko_keeps_the_attacker_from_capturing() -> None:
    rows = """
        . . . . .
        . O X . .
        O . O X .
        . O X . .
        . . . . .
        Black to play"""
    stone = parse_vertex("C3", 5)
    assert is_ladder_capture(Board.parse(rows), stone)
    assert not is_ladder_capture(Board.parse(rows + ", ko at B3"), stone)


def test_a_chain_that_is_not_in_atari_has_escaped_if_it_may_move() -> None:
    board = Board.parse("X . . / . . . / . . .")
    assert read_ladder(board, 0, attacker_first=False) == (False, ())


def test_where_there_is_nothing_to_read() -> None:
    board = Board.parse("X . . / . . . / . . .")
    with pytest.raises(ValueError, match="no stone on B3"):
        read_ladder(board, 1)
    assert not captures_in_ladder(board, PASS)
    assert not captures_in_ladder(board, 0), "an illegal move captures nothing"
    assert not escapes_from_ladder(board, 4)


def test_what_is_read_is_not_freed_before():
    """An allocator that overwrites what is freed and gives it back at once: the line was read from such memory."""
    diagram = ". . . . . . / . . X . . . / . X O X . . / . X . . . . / . . . . . . / . . . . . ."
    code = f"""
from katachi.go.board import Board
from katachi.go.reading import read_ladder
print(read_ladder(Board.parse({diagram!r}), 14, attacker_first=False).line)
"""
    strict = {"MALLOC_PERTURB_": "165", "MALLOC_TRIM_THRESHOLD_": "0"}
    done = subprocess.run([sys.executable, "-c", code], env={**os.environ, **strict}, stdout=subprocess.PIPE, text=True)
    assert done.returncode == 0
    assert done.stdout.strip() == str(read_ladder(Board.parse(diagram), 14, attacker_first=False).line)
