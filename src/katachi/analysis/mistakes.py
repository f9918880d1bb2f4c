"""The biggest mistakes of a game, and how much each side lost."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from katachi.analysis.records import Color, MoveRecord, PositionRecord

LEAST_MISTAKE: Final = 0.05  # of the chance to win
LEAST_BLUNDER: Final = 0.15


class Losses(NamedTuple):
    """What a side lost in a game: moves that were judged, mistakes among them, and the mean loss of a move."""

    moves: int
    mistakes: int
    mean: float


def moves_of_game(positions: Iterable[PositionRecord]) -> list[MoveRecord]:
    """The moves that are explained, in the order of the game."""
    return [position.move for position in positions if position.move is not None]


def find_mistakes(positions: Iterable[PositionRecord], least: float = LEAST_MISTAKE) -> list[MoveRecord]:
    """The moves that lost at least so much of the chance to win, the biggest first; equal ones in their order."""
    lost = [(move.loss, move) for move in moves_of_game(positions) if move.loss is not None and move.loss >= least]
    return [move for _, move in sorted(lost, key=lambda pair: -pair[0])]


def count_losses(positions: Iterable[PositionRecord], color: Color) -> Losses:
    """What a side lost; a move that was better than expected lost nothing."""
    losses = [max(0.0, move.loss) for move in moves_of_game(positions) if move.color == color and move.loss is not None]
    mistakes = sum(loss >= LEAST_MISTAKE for loss in losses)
    return Losses(len(losses), mistakes, sum(losses) / len(losses) if losses else 0.0)
