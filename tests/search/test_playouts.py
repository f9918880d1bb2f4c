"""Informed playouts: every move against the rules, each part of the policy on its diagram, all off against uniform."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from helpers import naive
from helpers.naive_playouts import Tactics
from helpers.positions import random_board, random_positions
from katachi.core.linear import LinearModel
from katachi.go.board import Board
from katachi.go.kernels.board import OFF
from katachi.go.playouts import run_playouts
from katachi.go.points import BLACK, EMPTY, PASS, WHITE, parse_vertex
from katachi.search.kernels.patterns import fill_views
from katachi.search.kernels.playouts import (
    catch,
    fill_entries,
    flee,
    is_silly,
    learn_replies,
    play_out,
    race,
    redirect,
    take_neighbor,
)
from katachi.search.playouts import UNIFORM, new_playouts, run_informed_playouts
from katachi.search.settings import PlayoutSettings
from katachi.shapes.features import LocalShapes
from katachi.shapes.sets import ShapeSet


def with_only(**on: bool) -> PlayoutSettings:
    return UNIFORM.model_copy(update=on)


def one_playout(board: Board, playouts: NDArray[Any]) -> tuple[Board, list[int], int]:
    """The board afterwards, the moves and the score."""
    after = board.copy()
    score = int(play_out(after.record[0], playouts[0]))
    moves = playouts["moves"][0, : playouts["plies"][0]].tolist()
    return after, [PASS if move == OFF else move for move in moves], score


def first_moves(board: Board, settings: PlayoutSettings, last: str, count: int = 300) -> Counter[int]:
    """How often each move came first, in answer to the last."""
    playouts = new_playouts(settings, 1, seed=1)
    found: Counter[int] = Counter()
    for _ in range(count):
        playouts["last"] = parse_vertex(last, board.size)
        found[one_playout(board, playouts)[1][0]] += 1
    return found


@pytest.mark.parametrize("size", [2, 3, 5, 9, 13])
@pytest.mark.parametrize(
    "settings",
    [
        PlayoutSettings(),
        PlayoutSettings(replies=True, self_atari=False),
        PlayoutSettings(shapes=3),
        PlayoutSettings(two_liberties=True, neighbors=True, redirects=True),
    ],
)
def test_moves_are_legal_and_fill_no_eye_and_a_pass_has_its_reason(size: int, settings: PlayoutSettings) -> None:
    if settings.shapes and size < 3:
        pytest.skip("there is no 3×3 window")
    playouts = new_playouts(settings, 1, seed=size, evaluator=shape_model(max(size, 3)))
    for seed in range(4):
        board = random_board(size, seed * size * size // 4, seed)
        after, moves, score = one_playout(board, playouts)
        assert playouts["first_color"][0] == board.to_play
        for move in moves:
            stones, color = board.stones.tolist(), board.to_play
            sensible = [
                p for p in range(size * size) if board.is_legal(p) and not naive.is_own_eye(stones, size, p, color)
            ]
            if settings.self_atari and move == PASS:
                sensible = [p for p in sensible if not _is_self_atari(stones, size, p, color)]
            assert move in sensible if move != PASS else not sensible
            board.play(move)
        assert board == after
        assert moves[-2:] == [PASS, PASS] or len(moves) == 3 * size * size
        owner = playouts["owner"][0, : size * size]
        assert owner.sum() == score
        assert (owner[after.stones != 0] == after.stones[after.stones != 0]).all()
        learn_replies(playouts[0], BLACK)


def _is_self_atari(stones: list[int], size: int, point: int, color: int) -> bool:
    after = naive.put_stone(stones, size, point, color)
    chain = naive.chain_at(after.stones, size, point)
    return not after.captures and len(chain) > 3 and len(naive.liberties_of(after.stones, size, chain)) == 1


@pytest.mark.parametrize("size", [5, 9])
def test_with_everything_off_the_games_are_those_of_uniform_playouts(size: int) -> None:
    board = random_board(size, size, seed=2)
    informed = run_informed_playouts(board, UNIFORM, 100, seed=7, threads=2)
    uniform = run_playouts(board, 100, seed=7, threads=2)
    assert informed.black_lead == uniform.black_lead
    assert (informed.ownership == uniform.ownership).all()


def test_the_same_seed_gives_the_same_answer_and_another_does_not() -> None:
    settings = PlayoutSettings(replies=True)
    first, again, other = (run_informed_playouts(Board(9), settings, 100, seed, threads=2) for seed in (5, 5, 6))
    assert (first.ownership == again.ownership).all()
    assert (first.ownership != other.ownership).any()


def test_swapped_colors_are_swapped_results() -> None:
    """From a board and its negative, each with its own side to play, within four standard errors."""
    board = random_board(9, 24, seed=4)
    negative = Board(9)
    negative.place(np.flatnonzero(board.stones == WHITE), np.flatnonzero(board.stones == BLACK), to_play=-board.to_play)
    games = 2000
    ours, theirs = (run_informed_playouts(b, PlayoutSettings(), games, seed=3, komi=0.5) for b in (board, negative))
    opposite = 1 - run_informed_playouts(negative, PlayoutSettings(), games, seed=9, komi=-0.5).black_wins
    assert abs(ours.black_wins - opposite) < 4 * np.sqrt(0.5 / games)
    assert abs(ours.black_lead + 0.5 + theirs.black_lead + 0.5) < 4 * 20 * np.sqrt(2 / games)


CAPTURE = Board.parse(". . . . . / . . X . . / . X O X . / . . . . . / . . . . .")
ESCAPE = Board.parse(". . . . . / . . O . . / . O X O . / . . . . . / . . . . .")
NAKADE = Board.parse("O O O O O / O . . . O / O O O O O / X X X X X / . X . X .")


def test_the_stone_just_played_is_taken() -> None:
    moves = first_moves(CAPTURE, with_only(captures=True), last="C3")
    assert moves.most_common(1)[0][0] == parse_vertex("C2", 5)
    assert 0.8 < moves[parse_vertex("C2", 5)] / 300 < 0.97
    assert first_moves(CAPTURE, UNIFORM, last="C3")[parse_vertex("C2", 5)] < 60


def test_a_chain_in_atari_is_saved() -> None:
    moves = first_moves(ESCAPE, with_only(escapes=True), last="C4")
    assert 0.8 < moves[parse_vertex("C2", 5)] / 300 < 0.97
    assert first_moves(ESCAPE, UNIFORM, last="C4")[parse_vertex("C2", 5)] < 60


def test_the_vital_point_of_an_eye_is_taken() -> None:
    moves = first_moves(NAKADE, with_only(nakade=True), last="B3")
    assert 0.8 < moves[parse_vertex("C4", 5)] / 300 < 0.97


def test_a_large_self_atari_is_avoided() -> None:
    board = Board.parse("X X X X . / O O O O . / . . . . . / . . . . . / . . . . .")
    risky = parse_vertex("E5", 5)
    assert first_moves(board, UNIFORM, last="A4")[risky] > 0
    assert first_moves(board, with_only(self_atari=True), last="A4")[risky] == 0


def test_patterns_keep_play_near_the_last_move() -> None:
    board = Board(9)
    board.play(40)
    near = [30, 31, 32, 39, 41, 48, 49, 50]
    moves = [first_moves(board, settings, last="E5") for settings in (UNIFORM, with_only(patterns=True))]
    uniform, share = (sum(found[p] for p in near) / 300 for found in moves)
    assert uniform < 0.2 < share


def test_good_replies_are_remembered_and_bad_ones_forgotten() -> None:
    playouts = new_playouts(with_only(replies=True), 1, seed=1)
    playouts["first_color"], playouts["plies"] = BLACK, 4
    playouts["moves"][0, :4] = [3, 7, 11, OFF]
    learn_replies(playouts[0], WHITE)
    assert playouts["reply"][0, 1, 3] == 7  # White answered 3 with 7 and won
    assert playouts["reply"][0, 0, 7] == OFF  # Black lost
    learn_replies(playouts[0], BLACK)
    assert playouts["reply"][0, 1, 3] == OFF
    assert playouts["reply"][0, 0, 7] == 11
    board = Board(5)
    board.play(12)
    board.play(7)
    playouts["last"] = 7
    answers = Counter()
    for _ in range(200):
        playouts["last"] = 7
        answers[one_playout(board, playouts)[1][0]] += 1
    assert answers[11] > 150


def shape_model(size: int) -> LinearModel:
    features = LocalShapes(size, [ShapeSet.parse(name) for name in ("LI 1x1", "LD 2x1", "LI 3x2", "LD 3x3")])
    weights = np.random.default_rng(3).normal(scale=0.2, size=features.size).astype(np.float32)
    return LinearModel(features, weights)


@pytest.mark.parametrize("color", [BLACK, WHITE])
def test_of_so_many_random_moves_shapes_choose_the_best(color: int) -> None:
    """The move of rank r among n comes first with the chance ((n − r + 1)³ − (n − r)³) / n³, if three are drawn."""
    board = Board.parse("..X.. / .X... / ...O. / ..... / .O...")
    board.to_play = color
    model, games = shape_model(5), 4000
    worth = color * model.afterstate_log_odds(board)[:-1]
    ranks = np.argsort(np.argsort(-np.where(np.isnan(worth), -np.inf, worth)))
    playouts = new_playouts(UNIFORM.model_copy(update={"shapes": 3}), 1, seed=1, evaluator=model)
    found = np.bincount([one_playout(board, playouts)[1][0] for _ in range(games)], minlength=25)
    n = int(np.count_nonzero(~np.isnan(worth)))
    for point in np.flatnonzero(~np.isnan(worth)).tolist():
        share = ((n - ranks[point]) ** 3 - (n - ranks[point] - 1) ** 3) / n**3
        assert abs(found[point] / games - share) < 4.5 * np.sqrt(share * (1 - share) / games)


def test_the_value_of_shapes_is_followed_through_captures() -> None:
    """After each playout the windows are those of the board as it is then."""
    settings = PlayoutSettings(shapes=4)
    playouts = new_playouts(settings, 1, seed=2, evaluator=shape_model(5))
    afterwards = new_playouts(settings, 1, seed=2, evaluator=shape_model(5))
    for seed in range(5):
        after, moves, _ = one_playout(random_board(5, 5 * seed, seed), playouts)
        fill_entries(after.record[0], afterwards[0])
        assert len(moves) > 10
        assert (playouts["entry"][0, :, :9] == afterwards["entry"][0, :, :9]).all()


def test_shapes_need_a_model_of_shapes() -> None:
    with pytest.raises(ValueError, match="a model of local shapes up to 3×3"):
        new_playouts(PlayoutSettings(shapes=2), 1, seed=1)
    with pytest.raises(ValueError, match="shapes"):
        PlayoutSettings(shapes=-1)


@pytest.mark.parametrize(("count", "threads"), [(0, 1), (10, 0)])
def test_nothing_to_do_is_an_error(count: int, threads: int) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        run_informed_playouts(Board(9), UNIFORM, count, seed=1, threads=threads)


def positions(size: int) -> Iterator[tuple[Board, Tactics]]:
    for board in random_positions(size, 150, seed=size):
        yield board, Tactics(board)


def agree(move: int, expected: set[int]) -> bool:
    """Whether a kernel gave one of the moves, or none where there is none."""
    return int(move) in expected if expected else move == OFF


@pytest.mark.parametrize("size", [3, 5, 7])
def test_chains_of_two_liberties_are_caught_and_saved_as_the_definitions_say(size: int) -> None:
    playouts, found = new_playouts(PlayoutSettings(), 1, seed=1), np.zeros(4, dtype=int)
    for board, twin in positions(size):
        b, playout, color = board.record[0], playouts[0], np.int8(board.to_play)
        fill_views(b, playout)
        for stone in np.flatnonzero(board.stones).tolist():
            p = np.uint16(stone)
            if board.stones[stone] == -color:
                expected = [twin.catches(stone)]
                assert agree(catch(b, playout, p, color), expected[0])
                found[0] += bool(expected[0])
                continue
            answers = take_neighbor(b, p, color), flee(b, p, color), race(b, playout, p, color)
            expected = [twin.takes(stone), twin.flights(stone), twin.races(stone)]
            assert all(map(agree, answers, expected))
            found[1:] += [bool(moves) for moves in expected]
    assert size == 3 or found[:3].min() > 3  # races are rare


@pytest.mark.parametrize("size", [3, 5, 7])
def test_silly_moves_are_known_and_self_atari_is_redirected_as_the_definitions_say(size: int) -> None:
    playouts, found = new_playouts(PlayoutSettings(), 1, seed=1), np.zeros(2, dtype=int)
    for board, twin in positions(size):
        b, playout, color = board.record[0], playouts[0], np.int8(board.to_play)
        fill_views(b, playout)
        for point in np.flatnonzero(board.stones == EMPTY).tolist():
            p = np.uint16(point)
            expected = twin.redirections(point, color)
            assert agree(redirect(b, playout, p, color), expected)
            found[0] += bool(expected)
            if board.is_legal(point):
                assert bool(is_silly(b, p, color)) is twin.is_silly(point, color)
                found[1] += twin.is_silly(point, color)
    assert size == 3 or found.min() > 3


CATCH = Board.parse(". . . . . / . . . . . / . . . . . / . X . . . / . O . . .")
FLEE = Board.parse(". . . . . / . . . . . / . . . . . / . O . . . / . X . . .")
RACE = Board.parse(". . . . . / . . . . . / X X X X . / O O O O X / . X X . .")
NEIGHBOR = Board.parse(". . . . . / . . O . . / . . X O X / . . . X . / . . . . .")


@pytest.mark.parametrize(
    ("board", "part", "last", "answer"),
    [
        (CATCH, "two_liberties", "B1", "C1"),
        (FLEE, "two_liberties", "B2", "C1"),
        (NEIGHBOR, "neighbors", "C4", "D4"),
        (RACE, "neighbors", "C2", "D1"),  # not A1: it would be self-atari
    ],
)
def test_the_answer_is_given_most_of_the_time(board: Board, part: str, last: str, answer: str) -> None:
    moves = first_moves(board, with_only(**{part: True}), last=last)
    assert 0.8 < moves[parse_vertex(answer, 5)] / 300 < 0.97


def test_a_self_atari_goes_to_the_other_side() -> None:
    board = Board.parse(". X X X . / O O O O . / . . . . . / . . . . . / . . . . .")
    moves = first_moves(board, with_only(self_atari=True, redirects=True), last="A4", count=1000)
    dropped = first_moves(board, with_only(self_atari=True), last="A4", count=1000)
    assert moves[parse_vertex("A5", 5)] == dropped[parse_vertex("A5", 5)] == 0
    assert moves[parse_vertex("E5", 5)] > 1.4 * dropped[parse_vertex("E5", 5)]


def test_guards_keep_the_eye_of_one_chain() -> None:
    """Two diagonals of C3 are White's, so that the eye rule takes it for a false one; but all around is one chain."""
    rows = (
        ". . . . . . . / . . X X X . . / . . X . X . . / . X X O X . . / . X . X X . . / . O X X . . . / . . . . . . ."
    )
    eye = parse_vertex("C3", 7)
    assert first_moves(Board.parse(rows), with_only(captures=True), last="B2")[eye] > 0
    assert first_moves(Board.parse(rows), with_only(captures=True, guards=True), last="B2")[eye] == 0
