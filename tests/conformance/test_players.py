"""Every bundled player, and GNU Go, keeps the contract of a player."""

from __future__ import annotations

import gc
import weakref

import pytest

from katachi.core.conformance import check_player, sample_games
from katachi.core.contracts import ClosingPlayer, Limit
from katachi.go.game import Game
from katachi.players.by_size import BySizeSpec
from katachi.players.specs import PlayerSpec, SearchSpec, bundled_players, load_player, parse_spec, read_spec

SIZES = (2, 3, 5, 8, 9, 13, 19)  # of players for all boards: the smallest, an even one, those that people play on
NAMES = [player.name for player in bundled_players()]


def spec_of(name: str) -> PlayerSpec:
    return parse_spec(*read_spec(name))


@pytest.mark.parametrize("name", NAMES)
def test_bundled(name):
    """Each on the boards that it plays on; searches get little time."""
    spec = spec_of(name)
    games = sample_games(SIZES if spec.board_size is None else (spec.board_size,))
    if isinstance(spec, BySizeSpec):  # with networks, which take their time
        games = sample_games(sizes=(5, 9, 13, 19))
    tables = spec.boards.values() if isinstance(spec, BySizeSpec) else [spec]
    # a clock does not repeat itself
    is_timed = any(isinstance(table, SearchSpec) and table.limit.seconds is not None for table in tables)
    limit = Limit(seconds=0.02) if is_timed else Limit(simulations=4 if isinstance(spec, BySizeSpec) else 20)
    check_player(spec.build(1), None if is_timed else spec.build(1), games=games, limit=limit)


@pytest.mark.parametrize("name", NAMES)
def test_a_player_holds_no_game(name):
    spec = spec_of(name)
    player = spec.build(1)
    game = Game(spec.board_size or 9)
    handed, board = weakref.ref(game), game.board.record.copy()
    player.decide(game, Limit(simulations=20, seconds=0.05))
    assert not game.steps
    assert game.board.record == board
    del game
    gc.collect()
    assert handed() is None, "nobody else keeps it"


@pytest.mark.parametrize("name", NAMES)
def test_a_spec_goes_out_and_comes_back(name):
    spec = spec_of(name)
    assert type(spec).model_validate(spec.model_dump(exclude_unset=True)) == spec


def test_gnugo(gnugo):
    player = load_player(f"gtp:{gnugo} --mode gtp --level 0")
    assert isinstance(player, ClosingPlayer)
    try:
        check_player(player, games=sample_games(sizes=(5, 7, 9, 13)), limit=Limit())
    finally:
        player.close()
