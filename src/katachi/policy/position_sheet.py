"""A look at what a network foretells: held-out positions as diagrams, what was played there, and what it would
play.
"""

from __future__ import annotations

import numpy as np
import torch

from katachi.core.contracts import Floats
from katachi.data.batches import Batch
from katachi.go.board import Board
from katachi.go.points import BLACK, format_color, format_vertex
from katachi.policy.planes import PLANES
from katachi.policy.supervised import Learner, foretell

_SHOWN_MOVES = 5


def draw_positions(learner: Learner, held_out: Batch, count: int) -> str:
    """Text with the first positions of a batch; planes are all that is known of them."""
    some = held_out.only(slice(count))
    logits = foretell(learner, some)
    shares = torch.softmax(logits, dim=1).numpy()
    names = PLANES[learner.settings.planes].names
    drawn = [_draw(some, names, number, shares[number]) for number in range(len(some.moves))]
    return "\n\n".join([f"after {learner.positions:,} positions", *drawn]) + "\n"


def _draw(batch: Batch, names: tuple[str, ...], number: int, shares: Floats) -> str:
    board = _board(batch, names, number)
    likeliest = np.argsort(-shares, kind="stable")[:_SHOWN_MOVES]
    foretold = ", ".join(f"{format_vertex(int(point), board.size)} {shares[point]:.1%}" for point in likeliest)
    move = int(batch.moves[number])
    played = f"{format_color(int(batch.colors[number]))} played {format_vertex(move, board.size)} ({shares[move]:.1%})"
    return f"{board}\n{played}; likeliest: {foretold}"


def _board(batch: Batch, names: tuple[str, ...], number: int) -> Board:
    """The stones of a position."""
    planes = batch.planes[number].reshape(len(names), -1)
    color = int(batch.colors[number])
    if "black" in names:
        black, white = (np.flatnonzero(planes[names.index(stones)]) for stones in ("black", "white"))
    else:
        own, enemy = (np.flatnonzero(planes[names.index(stones)]) for stones in ("own", "enemy"))
        black, white = (own, enemy) if color == BLACK else (enemy, own)
    board = Board(batch.planes.shape[-1])
    board.place(black=black.tolist(), white=white.tolist(), to_play=color)
    return board
