"""When to answer a pass with a pass: when that ends a game which is won whatever becomes of the open points."""

from __future__ import annotations

from katachi.go.game import Game
from katachi.search.moves import is_won, opponent_has_passed


def wins_by_passing(game: Game) -> bool:
    """Whether the opponent has just passed and the board as it stands is won."""
    return opponent_has_passed(game) and is_won(game)
