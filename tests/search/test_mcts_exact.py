"""What is known for certain is found: the values of the smallest boards, and the answers of tactical diagrams."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.boardfiles import BoardFile, read_boards
from katachi.core.contracts import Limit
from katachi.go.board import Board
from katachi.go.game import Game
from katachi.go.points import BLACK, EMPTY, WHITE, format_vertex
from katachi.go.rules import KoRule, Rules
from katachi.search.mcts import MctsSearch
from katachi.search.playouts import UNIFORM
from katachi.search.settings import MctsSettings

CENTER = 4
SEEDS = {9: range(1, 6), 13: range(1, 3), 19: range(1, 3)}  # by board size
BY_PLAIN_SEARCH = {"playouts": UNIFORM, "pattern_priors": False}
TACTICS = read_boards("tactics")


def search(game: Game, simulations: int, seed: int = 1, **settings):
    settings = MctsSettings(**{"threads": 1, "megabytes": 32, "stops_early": False, **settings})
    return MctsSearch(None, settings).search(game, Limit(simulations=simulations), np.random.default_rng(seed))


@pytest.mark.parametrize("ko", [KoRule.POSITIONAL, KoRule.SITUATIONAL])
@pytest.mark.parametrize(("komi", "black_wins"), [(0.5, True), (1.5, False)])
def test_black_wins_2x2_by_one(ko, komi, black_wins):
    """Under superko; with simple ko alone the game can go round in circles."""
    result = search(Game(2, Rules(ko, komi=komi)), 4000, score_share=0.0)
    assert (result.black_wins > 0.5) is black_wins


@pytest.mark.parametrize("playouts", [{}, BY_PLAIN_SEARCH])
def test_black_takes_all_of_3x3(playouts):
    result = search(Game(3, Rules(komi=8.5)), 4000, **playouts)
    assert result.move == CENTER
    assert result.black_wins > 0.75
    assert search(Game(3, Rules(komi=9.5)), 500, score_share=0.0, **playouts).black_wins < 0.05


def is_closed(board: Board) -> bool:
    return np.count_nonzero(board.stones == EMPTY) < 20


def tactical_game(file: BoardFile) -> Game:
    game = Game(file.board.size, Rules(komi=file.komi))
    black, white = (np.flatnonzero(file.board.stones == color).tolist() for color in (BLACK, WHITE))
    game.setup(black, white, to_play=file.board.to_play)
    for move in file.moves:
        game.play(move)
    return game


def check_solved(file: BoardFile, simulations: int, seed: int, **settings) -> None:
    """The move is one of the answers, and the search knows that it wins: the komi makes the answer decide the game."""
    game = tactical_game(file)
    result = search(game, simulations, seed, stops_early=True, **settings)
    assert result.move in file.points["plays"], f"{format_vertex(result.move, game.size)} with seed {seed}"
    wins = result.black_wins if game.to_play == BLACK else 1 - result.black_wins
    assert wins > 0.5


@pytest.mark.parametrize("file", TACTICS, ids=lambda file: file.name)
def test_tactics(file):
    """Every diagram says what it is about, what solves it, and within how many simulations."""
    for seed in SEEDS[file.board.size]:
        check_solved(file, file.simulations, seed)


@pytest.mark.parametrize("file", [file for file in TACTICS if is_closed(file.board)], ids=lambda file: file.name)
def test_tactics_by_plain_search(file):
    """Where all but a corner is settled the tree alone finds the answer, with uniform playouts and even priors."""
    check_solved(file, 2000, seed=1, **BY_PLAIN_SEARCH)


def test_there_are_tactics_of_every_kind():
    names = " ".join(file.name for file in TACTICS)
    assert len(TACTICS) >= 44
    kinds = "three four five six eye race ko seki ladder snapback dragon bent_four superko connect cut settled"
    assert all(kind in names for kind in kinds.split())
    assert {file.board.size for file in TACTICS} >= {9, 13, 19}
    assert {file.board.to_play for file in TACTICS} == {BLACK, WHITE}
