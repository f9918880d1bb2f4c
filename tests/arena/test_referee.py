from __future__ import annotations

import pytest

from katachi.arena.match import CountReferee, EstimateReferee, Verdict, explain_difference, is_settled, load_referee
from katachi.go.board import Board
from katachi.go.game import Game
from katachi.go.points import GameResult, parse_vertex
from katachi.go.rules import parse_rules
from katachi.go.scoring import estimate_status

# White's stone on A1 is dead: it has no room for eyes in Black's corner.
DEAD_CORNER = """
. X O . O
X X O O .
X X X O O
. . X O .
O X X O O
"""
SETTLED = """
. X O . O
X X O O O
. X X O O
X X X O .
. X X O O
"""


def game_on(diagram: str, rules: str = "chinese") -> Game:
    board = Board.parse(diagram)
    game = Game(board.size, parse_rules(rules, komi=0.5))
    points = {color: [p for p in range(board.size**2) if board[p] == color] for color in (1, -1)}
    game.setup(black=points[1], white=points[-1])
    return game


def test_count_takes_every_stone_for_alive_and_estimate_does_not() -> None:
    game = game_on(DEAD_CORNER)
    assert str(CountReferee().count(game).result) == "W+3.5"
    verdict = EstimateReferee().count(game)
    assert verdict.dead == (20,)
    assert str(verdict.result) == "B+0.5"


def test_handicap_and_rules_are_counted() -> None:
    game = Game(5, parse_rules("chinese", komi=0.5))
    game.place_handicap([6, 8, 16])
    assert CountReferee().count(game).result == GameResult.by_score(25 - 0.5 - 3)


def test_a_settled_board_has_moves_into_own_eyes_only() -> None:
    assert is_settled(Board.parse(SETTLED))
    assert not is_settled(Board.parse(DEAD_CORNER))
    assert not is_settled(Board(5))


def test_the_short_cut_for_settled_boards_agrees_with_the_estimate() -> None:
    board = Board.parse(SETTLED)
    assert estimate_status(board).dead == ()
    assert EstimateReferee().count(game_on(SETTLED)).result == CountReferee().count(game_on(SETTLED)).result


@pytest.mark.parametrize(("text", "name"), [("estimate", "estimate"), ("count", "count"), ("gtp:gnugo x", "gnugo")])
def test_referees_by_name(text: str, name: str) -> None:
    assert load_referee(text).name == name


def test_gnugo_as_referee_agrees_about_a_dead_stone(gnugo: str) -> None:
    referee = load_referee(f"gtp:{gnugo} --mode gtp --level 0 --chinese-rules")
    try:
        verdict = referee.count(game_on(DEAD_CORNER))
    finally:
        referee.close()
    assert verdict == Verdict(GameResult.by_score(0.5), (20,))


def test_a_difference_is_explained_by_the_dead_stones() -> None:
    game = game_on(DEAD_CORNER)
    ours = EstimateReferee().count(game)
    theirs = CountReferee().count(game)
    assert explain_difference(game, ours, theirs) == (
        "dead only here: A1; dead only there: none; which explains it; the players left A1 in atari"
    )
    odd = Verdict(GameResult.by_score(9.0), (20, parse_vertex("C5", 5)))
    told = explain_difference(game, ours, odd)
    assert told.startswith("dead only here: none; dead only there: C5; which alone would make it")
    assert "atari" not in told
    assert explain_difference(game, ours, ours) == "both hold the same stones for dead"
    assert explain_difference(game, ours, Verdict(GameResult.by_score(1), None)) == "the dead stones are not known"
