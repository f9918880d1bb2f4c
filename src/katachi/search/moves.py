"""Which moves a search considers: the *sensible* ones, and the pass only where there is none.

A sensible move is legal, no suicide, and fills no simple eye of its own side. At the root the game decides what is
legal, superko included; below it a search sees boards, which know simple ko alone.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from katachi.go.board import Board
from katachi.go.game import Game
from katachi.go.points import EMPTY, PASS
from katachi.go.scoring import area, estimate_status
from katachi.search.kernels.one_ply import fill_captures, fill_sensible

_SURE: Final = 0.8  # ownership in an estimate: nine of ten playouts agree


def root_moves(game: Game) -> NDArray[np.bool_]:
    """The moves to choose from in a game, [n²+1]: the pass (last) only if nothing else is sensible and legal."""
    moves = sensible_moves(game.board)
    moves[:-1] &= game.legal_moves()[:-1]
    moves[-1] = not moves[:-1].any()
    return moves


def legal_root_moves(game: Game) -> NDArray[np.bool_]:
    """The same with moves that fill an eye of one's own: the pass only if nothing else is legal."""
    moves = game.legal_moves()
    moves[-1] = not moves[:-1].any()
    return moves


def sensible_moves(board: Board) -> NDArray[np.bool_]:
    """The moves to choose from on a board, [n²+1], under simple ko."""
    moves = np.zeros(board.size**2 + 1, dtype=np.bool_)
    fill_sensible(board.record, moves)
    moves[-1] = not moves.any()
    return moves


def sensible_captures(board: Board) -> NDArray[np.bool_]:
    """Those sensible moves that take something, [n²+1]; the pass never does."""
    moves = sensible_moves(board)
    moves[-1] = False
    fill_captures(board.record, moves)
    return moves


def opponent_has_passed(game: Game) -> bool:
    """Whether the last move was a pass of the other side."""
    return game.last_move == PASS and game.moves[-1].color == -game.to_play


def passes_before(game: Game) -> int:
    """How many passes in succession lead up to the root, 0 or 1; where both have passed and play goes on, 0."""
    return int(opponent_has_passed(game) and not game.is_over)


def is_won(game: Game) -> bool:
    """Whether counting now would win, even if every point that is nobody's were the enemy's."""
    open_points = int(np.count_nonzero(area(game.board) == EMPTY))
    return game.score() * game.to_play > open_points


def is_won_without_dead_stones(game: Game) -> bool:
    """Whether counting now would win once dead stones are taken off, even if all that is not sure were the enemy's.

    An estimate by playouts says which stones are dead (``go/scoring.py``); points are counted by area.
    """
    ownership = estimate_status(game.board).ownership
    sure = np.abs(ownership) >= _SURE
    lead = float(np.sign(ownership[sure]).sum()) - komi_of(game)
    return lead * game.to_play > int(np.count_nonzero(~sure))


def komi_of(game: Game) -> float:
    """What Black's area must exceed: komi, and what White gets for the handicap."""
    return game.komi + game.rules.handicap_compensation(game.handicap)


def playable(game: Game, line: list[int]) -> tuple[int, ...]:
    """A line of moves as far as the game allows it; below the root a search has not looked at superko."""
    future = game.copy()
    for count, move in enumerate(line):
        if not future.is_legal(move):
            return tuple(line[:count])
        future.play(move)
    return tuple(line)
