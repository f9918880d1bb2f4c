"""How the search plays where all seems decided: against many handicap stones, when it is lost, after a pass."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.boardfiles import read_boards
from katachi.core.contracts import Limit
from katachi.go.board import Board
from katachi.go.game import Game
from katachi.go.points import BLACK, PASS, WHITE, fixed_handicap_points
from katachi.go.rules import Rules
from katachi.players.search_player import SearchPlayer
from katachi.search.mcts import MctsSearch
from katachi.search.settings import MctsSettings


def player(simulations: int, resign_below: float | None = None) -> SearchPlayer:
    search = MctsSearch(None, MctsSettings(threads=1, megabytes=16))
    return SearchPlayer("mcts", search, Limit(simulations=simulations), np.random.default_rng(1), resign_below)


def game_of(board: Board, komi: float, to_play: int) -> Game:
    game = Game(board.size, Rules(komi=komi))
    black, white = (np.flatnonzero(board.stones == color).tolist() for color in (BLACK, WHITE))
    game.setup(black, white, to_play=to_play)
    return game


@pytest.mark.parametrize(("size", "stones"), [(9, 4), (9, 9), (13, 9)])
def test_white_does_not_give_up_against_a_handicap(size, stones):
    """However small her chances are, she neither passes nor puts herself in atari."""
    game = Game(size, Rules(komi=0.5))
    game.place_handicap(fixed_handicap_points(size, stones))
    white, black = player(300), player(100)
    for _ in range(6):
        move = white.decide(game, Limit()).move
        assert move != PASS
        taken = game.board.captured(BLACK)
        game.play(move)
        assert game.board.liberty_count(move) > 1 or game.board.captured(BLACK) > taken
        game.play(black.decide(game, Limit()).move)


@pytest.mark.parametrize(
    "name", ["bulky_five_dies", "connect_both", "cut_both", "ladder_captures", "snapback_captures"]
)
def test_the_best_move_is_played_in_a_lost_game_too(name):
    """A little of the score in the value of a playout is enough to tell moves apart that all lose."""
    [file] = [file for file in read_boards("tactics") if file.name == name]
    game = game_of(file.board, file.komi + 100 * file.board.to_play, file.board.to_play)
    decision = player(500).decide(game, Limit())
    assert decision.move in file.points["plays"]
    assert abs(decision.analysis.black_wins - (game.to_play == WHITE)) < 0.05


LOST = "...../XXXXX/OOOOO/.O.../....."


@pytest.mark.parametrize("to_play", [BLACK, WHITE])
def test_resigns_when_it_is_lost_and_not_before(to_play):
    komi = 30.5 * to_play  # more than the board
    assert _resigns(player(200, resign_below=0.1), game_of(Board.parse(LOST), komi, to_play)) == [False, False, True]
    assert not any(_resigns(player(200, resign_below=0.1), game_of(Board.parse(LOST), -komi, to_play)))
    assert not any(_resigns(player(200), game_of(Board.parse(LOST), komi, to_play)))


def _resigns(player: SearchPlayer, game: Game) -> list[bool]:
    """At three turns in succession, in which the opponent passes."""
    found = []
    for _ in range(3):
        decision = player.decide(game, Limit())
        found.append(decision.resign)
        game.play(decision.move)
        game.play(PASS)
    return found


@pytest.mark.parametrize("komi", [0.5, 24.5])
def test_a_lost_game_ends(komi):
    """Black, who resigns or passes, against one who passes: nothing is filled that is settled."""
    game = game_of(Board.parse("..XO./XXXOO/..XO./XXXOO/..XO."), komi=komi + 10, to_play=BLACK)
    assert player(200).decide(game, Limit()).move == PASS


def test_answers_a_pass_by_a_pass_when_it_is_ahead():
    game = game_of(Board.parse("..XO./XXXOO/..XO./XXXOO/..XO."), komi=0.5, to_play=WHITE)
    game.play(PASS)
    assert player(100).decide(game, Limit()).move == PASS


def test_does_not_answer_a_pass_that_would_lose():
    """White's dead stone makes Black's area nobody's as long as it stands."""
    game = game_of(Board.parse("O.XO./..XOO/XXXO./XXXOO/.XXO."), komi=0.5, to_play=WHITE)
    game.play(PASS)
    decision = player(400).decide(game, Limit())
    assert decision.move != PASS
    assert decision.analysis.black_wins > 0.9
