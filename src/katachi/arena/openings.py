"""Where games begin. Every opening is played twice, with the colors exchanged, so that a lopsided one favors neither.

Openings are numbered; the number and the tournament's seed alone decide what is played, whatever was played before.
All pairs of players meet the same openings.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

from katachi.arena.errors import OpeningError
from katachi.go.game import Game, Play, Step
from katachi.go.points import PASS
from katachi.go.rules import Rules
from katachi.sgf import SgfError, SgfGame, parse_sgf

_STREAM = 1  # keeps the random numbers of the openings apart from those of the players


@dataclass(frozen=True, slots=True)
class Opening:
    """The steps that lead to a starting position."""

    name: str = "empty board"
    steps: tuple[Step, ...] = ()

    def start(self, size: int, rules: Rules) -> Game:
        """A new game in the starting position; raises IllegalMove if the rules forbid a step."""
        game = Game(size, rules)
        for step in self.steps:
            if isinstance(step, Play):
                game.play(step.move, step.color)
            else:
                game.setup(*step)
        return game


class Openings(Protocol):
    """A numbered supply of openings."""

    def opening(self, number: int) -> Opening: ...


@dataclass(frozen=True, slots=True)
class RandomOpenings:
    """Openings of some random legal moves that fill no eyes of their own; no plies is the empty board."""

    size: int
    rules: Rules
    plies: int
    seed: int

    def opening(self, number: int) -> Opening:
        if self.plies == 0:
            return Opening()
        rng = np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(_STREAM, number)))
        game = Game(self.size, self.rules)
        for _ in range(self.plies):
            game.play(_random_move(game, rng))
        # A small board can be full before the plies are over; then the players begin before the passes.
        return Opening(f"random {number + 1}", _without_passes(game.steps))


def _random_move(game: Game, rng: np.random.Generator) -> int:
    for point in rng.permutation(np.flatnonzero(game.legal_moves()[:-1])).tolist():
        if not game.board.is_own_eye(point, game.to_play):
            return int(point)
    return PASS


def _without_passes(steps: Sequence[Step]) -> tuple[Step, ...]:
    """Steps up to the passes that end them: a game must not begin when it is over."""
    count = len(steps)
    while count and isinstance(last := steps[count - 1], Play) and last.move == PASS:
        count -= 1
    return tuple(steps[:count])


@dataclass(frozen=True, slots=True)
class OpeningBook:
    """Openings of a book in turn, from the first again when it is through."""

    openings: tuple[Opening, ...]

    def opening(self, number: int) -> Opening:
        return self.openings[number % len(self.openings)]


def read_opening_book(path: Path, size: int, rules: Rules, plies: int | None = None) -> OpeningBook:
    """Every line of the game records of one board size in a file, variations included, up to ``plies`` moves if told.

    Raises OpeningError if the file cannot be read or has no game on a board of this size.
    """
    try:
        records = [record for record in parse_sgf(path.read_bytes()) if _has_size(record, size)]
        lines = [_shortened(steps, plies) for record in records for steps in _lines(record, rules)]
    except OSError as error:
        raise OpeningError(f"cannot read the opening book {path}: {error.strerror}") from None
    except SgfError as error:
        raise OpeningError(f"cannot read the opening book {path}: {error}") from None
    if not lines:
        raise OpeningError(f"the opening book {path} has no game on a {size}×{size} board")
    return OpeningBook(tuple(Opening(f"book {i + 1}", steps) for i, steps in enumerate(dict.fromkeys(lines))))


def _has_size(record: SgfGame, size: int) -> bool:
    try:
        return record.size == size
    except SgfError:  # a board that katachi does not have
        return False


def _lines(record: SgfGame, rules: Rules) -> Iterator[list[Step]]:
    for node in record.root.walk():
        if not node.children:
            yield record.replay(node, rules=rules).steps


def _shortened(steps: Sequence[Step], plies: int | None) -> tuple[Step, ...]:
    kept: list[Step] = []
    moves = 0
    for step in steps:
        moves += isinstance(step, Play)
        if plies is not None and moves > plies:
            break
        kept.append(step)
    return _without_passes(kept)
