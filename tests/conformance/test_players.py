"""Every player that ships, and GNU Go, keeps the contract of a player."""

from __future__ import annotations

import pytest

from katachi.core.conformance import check_player, sample_games
from katachi.core.contracts import ClosingPlayer, Limit
from katachi.players.specs import bundled_players, load_player


@pytest.mark.parametrize("name", [player.name for player in bundled_players()])
def test_shipped(name):
    """A name that ends in a number, but for levels, plays on boards of that size; searches get little time."""
    kind, _, size = name.rpartition("-")
    games = sample_games(sizes=(int(size),)) if size.isdigit() and kind != "level" else sample_games()
    is_timed = "alphabeta" in name or kind == "strong"  # and a clock does not repeat itself
    limit = Limit(seconds=0.02) if is_timed else Limit(simulations=20)
    check_player(load_player(name, seed=1), None if is_timed else load_player(name, seed=1), games=games, limit=limit)


def test_gnugo(gnugo):
    player = load_player(f"gtp:{gnugo} --mode gtp --level 0")
    assert isinstance(player, ClosingPlayer)
    try:
        check_player(player, games=sample_games(sizes=(5, 7, 9, 13)), limit=Limit())
    finally:
        player.close()
