"""The turns of a record: the positions of its main line that are judged, each with the move that led there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from katachi.go.board import Board
from katachi.go.game import Game, Play
from katachi.sgf import SgfGame


class Turn(NamedTuple):
    """A position: the game goes on when the next turn is asked for."""

    turn: int  # 0 is where the game begins
    node: int  # of the main line
    game: Game
    number: int  # how many moves were played
    play: Play | None  # the move that led here; None after a set-up, and after moves that the rules forbid
    before: Board | None  # where it was played, with its player to move


def turns_of(record: SgfGame) -> Iterator[Turn]:
    """The beginning of a game, and every node that changes something; raises SgfError if it cannot be played."""
    turn = steps = 0
    before: Board | None = None
    for number, (_, game) in enumerate(record.positions()):
        added = game.steps[steps:]
        steps += len(added)
        if before is None or added:
            step = added[0] if len(added) == 1 and before is not None else None
            play = step if isinstance(step, Play) and before is not None and _may_play(before, step) else None
            yield Turn(turn, number, game, len(game.moves), play, before if play else None)
            turn += 1
        before = game.board.copy()


def last_turn(game: Game) -> Turn:
    """The position of a game as a turn, with the move that led there if the last step was one."""
    steps, plays = game.steps, game.moves
    step = steps[-1] if steps else None
    earlier = game.copy()
    while steps and len(earlier.steps) == len(steps):
        earlier.undo()  # first a resignation, if there is one
    play = step if isinstance(step, Play) and _may_play(earlier.board, step) else None
    return Turn(len(steps), len(steps), game, len(plays), play, earlier.board if play else None)


def count_turns(record: SgfGame) -> int:
    """How many turns there are."""
    return sum(1 for _ in turns_of(record))


def _may_play(board: Board, play: Play) -> bool:
    """Whether a move can be explained: legal under simple ko and no suicide; its player becomes the one to move."""
    if board.to_play != play.color:
        board.to_play = play.color
    return board.is_legal(play.move)
