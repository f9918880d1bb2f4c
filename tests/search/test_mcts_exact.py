"""What is known for certain is found: the values of the smallest boards, and the answers of tactical diagrams."""

from __future__ import annotations

import numpy as np
import pytest

from boardfiles import BoardFile, read_boards
from katachi.go.game import Game
from katachi.go.points import BLACK, WHITE, format_vertex
from katachi.go.rules import KoRule, Rules
from katachi.interfaces import Limit
from katachi.search.mcts import MctsSearch
from katachi.search.mcts_settings import MctsSettings
from katachi.search.playouts import UNIFORM

SIMULATIONS = 2000
CENTER = 4


def search(game: Game, simulations: int, seed: int = 1, **settings):
    settings = MctsSettings(threads=1, megabytes=32, stops_early=False, **settings)
    return MctsSearch(None, settings).search(game, Limit(simulations=simulations), np.random.default_rng(seed))


@pytest.mark.parametrize("ko", [KoRule.POSITIONAL, KoRule.SITUATIONAL])
@pytest.mark.parametrize(("komi", "black_wins"), [(0.5, True), (1.5, False)])
def test_black_wins_2x2_by_one(ko, komi, black_wins):
    """Under superko; with simple ko alone the game can go round in circles."""
    result = search(Game(2, Rules(ko, komi=komi)), 4000, score_share=0.0)
    assert (result.black_wins > 0.5) is black_wins


@pytest.mark.parametrize("playouts", [{}, {"playouts": UNIFORM, "pattern_priors": False}])
def test_black_takes_all_of_3x3(playouts):
    result = search(Game(3, Rules(komi=8.5)), 4000, **playouts)
    assert result.move == CENTER
    assert result.black_wins > 0.75
    assert search(Game(3, Rules(komi=9.5)), 500, score_share=0.0, **playouts).black_wins < 0.05


def tactical_game(file: BoardFile) -> Game:
    game = Game(file.board.size, Rules(komi=file.komi))
    black, white = (np.flatnonzero(file.board.stones == color).tolist() for color in (BLACK, WHITE))
    game.setup(black, white, to_play=file.board.to_play)
    return game


@pytest.mark.parametrize("file", read_boards("tactics"), ids=lambda file: file.name)
@pytest.mark.parametrize("playouts", [{}, {"playouts": UNIFORM, "pattern_priors": False}], ids=["informed", "uniform"])
def test_tactics(file, playouts):
    """Nakade, false eyes, capturing races, ko and seki: the komi makes the answer decide the game."""
    game = tactical_game(file)
    result = search(game, SIMULATIONS, **playouts)
    assert result.move in file.points["plays"], format_vertex(result.move, game.size)
    wins = result.black_wins if game.to_play == BLACK else 1 - result.black_wins
    assert wins > 0.5


def test_there_are_tactics_of_every_kind():
    names = [file.name for file in read_boards("tactics")]
    assert len(names) >= 20
    for kind in ("three", "four", "five", "six", "eye", "race", "ko", "seki"):
        assert any(kind in name for name in names)
