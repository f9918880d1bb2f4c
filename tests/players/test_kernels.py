"""The players' kernels against their slow twins, on random positions of many sizes."""

from __future__ import annotations

import numpy as np
import pytest

from helpers import naive, naive_players
from katachi.core.conformance import sample_games
from katachi.go.game import Game
from katachi.players.simple import AlpPlayer, InfluencePlayer, OnePlyPlayer, RandomPlayer

SIZES = (2, 3, 5, 6, 9)


def positions(sizes=SIZES):
    return [pytest.param(game, id=f"{game.size}-{number}") for number, game in enumerate(sample_games(sizes, seed=5))]


def sensible(game: Game) -> list[int]:
    board = game.board
    ko_point = board.ko_point
    return naive_players.sensible_moves(board.stones.tolist(), game.size, game.to_play, ko_point)


def after(game: Game, move: int) -> list[int]:
    return naive.put_stone(game.board.stones.tolist(), game.size, move, game.to_play).stones


@pytest.mark.parametrize("game", positions())
@pytest.mark.parametrize("player", [RandomPlayer(), AlpPlayer(), InfluencePlayer()], ids=lambda player: player.kind)
def test_sensible_moves(game: Game, player: OnePlyPlayer):
    assert np.flatnonzero(~np.isnan(player.sweep(game))).tolist() == sensible(game)


@pytest.mark.parametrize("game", positions())
def test_liberty_sweep(game: Game):
    values = AlpPlayer().sweep(game)
    for move in sensible(game):
        assert values[move] == pytest.approx(naive_players.liberty_balance(after(game, move), game.size))


@pytest.mark.parametrize("game", positions(sizes=(2, 5, 7)))
def test_influence_sweep(game: Game):
    values = InfluencePlayer().sweep(game)
    for move in sensible(game):
        assert values[move] == naive_players.influence_balance(after(game, move), game.size)


@pytest.mark.parametrize("game", positions(sizes=(4, 9, 13)))
def test_ownership_is_the_sign_of_the_map(game: Game):
    expected = np.sign(naive_players.influence_map(game.board.stones.tolist(), game.size, 5, 21))
    np.testing.assert_array_equal(InfluencePlayer().ownership(game), expected)


def test_sweeps_leave_the_board_alone():
    game = list(sample_games([9], seed=5))[2]
    before = game.board.copy()
    for player in (RandomPlayer(), AlpPlayer(), InfluencePlayer()):
        player.sweep(game)
    assert game.board == before
    assert game.board.hash == before.hash
