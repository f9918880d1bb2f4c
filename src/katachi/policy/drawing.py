"""What a model would play in a position: the likeliest moves on the board, with their shares in percent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from katachi.core.contracts import Evaluator, Floats
from katachi.core.drawing import Picture, draw_sheet
from katachi.core.evaluators import moves_of
from katachi.features.planes import HIGHEST_RANK, PlaneSet
from katachi.go.board import Board
from katachi.go.diagrams import draw_svg, format_diagram
from katachi.go.game import Game
from katachi.go.points import format_vertex

# Planes as a picture: a small board for each of them, with its points marked, on one sheet.


def draw_planes(planes: PlaneSet, board: Board, rank: int = HIGHEST_RANK) -> str:
    """All planes of a position as one SVG, each with its name below, and what it means for those who point at it."""
    (encoded,) = planes.encode([board], rank)
    pictures = [
        Picture(f"{plane} {planes.names[plane]}", planes.describe(plane), encoded[plane])
        for plane in range(planes.count)
    ]
    return draw_sheet(f"{planes.name}: {planes.count} planes", board, pictures)


# Policies

MOVES_SHOWN: Final = 10
_LEAST_SHOWN: Final = 0.01  # of a move on the board


class LikelyMove(NamedTuple):
    """A move and its share of the policy."""

    vertex: str
    share: float

    @property
    def percent(self) -> str:
        return f"{self.share:.1%}"


@dataclass(frozen=True, slots=True)
class PositionPolicy:
    """A position, and what an evaluator says about it."""

    game: Game
    policy: Floats  # [n²+1]
    black_wins: float

    def best(self, count: int = MOVES_SHOWN) -> list[LikelyMove]:
        """The likeliest moves, best first."""
        moves = sorted(moves_of(self.policy > 0), key=lambda move: -self.policy[move])[:count]
        return [LikelyMove(format_vertex(move, self.game.size), float(self.policy[move])) for move in moves]


def evaluate_position(evaluator: Evaluator, game: Game) -> PositionPolicy:
    """Ask an evaluator about the position of a game."""
    black_wins, policy = evaluator.evaluate([game.board])
    return PositionPolicy(game, policy[0], float(black_wins[0]))


def draw_policy(position: PositionPolicy) -> str:
    """The board as an SVG, with the shares of the likelier moves in percent."""
    points = np.flatnonzero(position.policy[:-1] >= _LEAST_SHOWN).tolist()
    labels = {point: f"{100 * position.policy[point]:.0f}" for point in points}
    return draw_svg(position.game.board.diagram, last_move=position.game.last_move, labels=labels)


def show_policy(position: PositionPolicy) -> RenderableType:
    """The board for the terminal, and the likeliest moves below it."""
    board = Text(format_diagram(position.game.board.diagram, position.game.last_move))
    return Group(Text(), board, show_moves(position))


def show_moves(position: PositionPolicy) -> RenderableType:
    """Who is thought to win, and the likeliest moves."""
    table = Table(box=None, show_header=False, pad_edge=False)
    for move in position.best():
        table.add_row(move.vertex, Text(move.percent, justify="right"))
    return Group(Text(f"Black wins {position.black_wins:.1%}", style="dim"), Text(), table)
