"""Games of random legal moves end in the same position on sgfmill's board, an independent implementation."""

from __future__ import annotations

import numpy as np
import pytest
from sgfmill import boards, sgf, sgf_moves

from katachi.go.game import Game
from katachi.go.points import BLACK, EMPTY, WHITE
from katachi.go.rules import KoRule, Rules
from katachi.sgf import game_to_sgf, parse_sgf

_COLORS = {"b": BLACK, "w": WHITE, None: EMPTY}


def _random_game(size: int, seed: int) -> Game:
    rng = np.random.default_rng(seed)
    game = Game(size, Rules(ko=KoRule.SIMPLE))
    if size >= 7 and seed % 2:
        game.place_handicap([size + 1, 3 * size + 3])
    for _ in range(3 * size * size):
        points = np.flatnonzero(game.legal_moves()[:-1])
        game.play(int(rng.choice(points)) if points.size else -1)
    return game


def _stones(board: boards.Board) -> list[int]:
    size = board.side
    return [_COLORS[board.get(size - 1 - row, col)] for row in range(size) for col in range(size)]


@pytest.mark.parametrize("size", [2, 3, 5, 7, 9, 13, 19])
@pytest.mark.parametrize("seed", range(4))
def test_random_games_end_alike(size: int, seed: int) -> None:
    game = _random_game(size, seed)
    text = game_to_sgf(game)
    board, plays = sgf_moves.get_setup_and_moves(sgf.Sgf_game.from_string(text))
    for color, move in plays:
        if move is not None:
            board.play(*move, color)
    (record,) = parse_sgf(text)
    assert record.repairs == []
    assert record.replay_to_end().board.stones.tolist() == _stones(board)
    assert record.replay().board == game.board
    assert game.board.captured(BLACK) + game.board.captured(WHITE) > 0
