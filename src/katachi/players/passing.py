"""When to answer a pass with a pass: when that ends a game which is won whatever becomes of the open points."""

from __future__ import annotations

import numpy as np

from katachi.go.game import Game
from katachi.go.points import EMPTY
from katachi.go.scoring import area
from katachi.search.moves import opponent_has_passed


def wins_by_passing(game: Game) -> bool:
    """Whether the opponent has just passed and the board as it stands is won."""
    return opponent_has_passed(game) and is_won(game)


def is_won(game: Game) -> bool:
    """Whether counting now would win, even if every point that is nobody's were the enemy's."""
    open_points = int(np.count_nonzero(area(game.board) == EMPTY))
    return game.score() * game.to_play > open_points
