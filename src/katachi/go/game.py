"""A game: a board with its past and its rules.

The past is a list of *steps*, each a play or a set-up; ``undo`` takes back either. Superko costs one look-up in a
table of the positions that have been on the board. Variations are the SGF layer's.

>>> game = Game(size=3)
>>> for move in (4, PASS, PASS):
...     game.play(move)
>>> game.is_over, str(game.result())
(True, 'B+1.5')
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from katachi.go import scoring
from katachi.go.board import Board, Illegality, IllegalMove, NothingToUndo
from katachi.go.diagrams import draw_svg
from katachi.go.kernels import board as kernels
from katachi.go.points import BLACK, PASS, WHITE, GameResult, Reason
from katachi.go.rules import KoRule, Rules


class Play(NamedTuple):
    """A move by a color."""

    color: int
    move: int


class Setup(NamedTuple):
    """Stones put on and taken off the board without playing, and who is to play then (None: as before)."""

    black: tuple[int, ...] = ()
    white: tuple[int, ...] = ()
    empty: tuple[int, ...] = ()
    to_play: int | None = None


Step = Play | Setup


class Game:
    """A board with its past and its rules. The board may be looked at, but is changed through the game alone."""

    def __init__(self, size: int = 19, rules: Rules | None = None) -> None:
        self.board = Board(size)
        self.rules = Rules() if rules is None else rules
        self._steps: list[Step] = []
        self._past_situations: list[int] = []  # one for each step
        self._situations = Counter([self._situation()])
        self._work = self.board.record.copy()
        self._resigned: int | None = None

    @classmethod
    def of_steps(cls, size: int, rules: Rules, steps: Iterable[Step]) -> Game:
        """The game of some steps from the empty board on; raises IllegalMove or ValueError if one cannot be."""
        game = cls(size, rules)
        for step in steps:
            if isinstance(step, Play):
                game.play(step.move, step.color)
            else:
                game.setup(*step)
        return game

    @property
    def size(self) -> int:
        return self.board.size

    @property
    def to_play(self) -> int:
        return self.board.to_play

    @to_play.setter
    def to_play(self, color: int) -> None:
        self.board.to_play = color

    @property
    def komi(self) -> float:
        return self.rules.komi

    @komi.setter
    def komi(self, komi: float) -> None:
        self.rules = self.rules.with_komi(komi)

    @property
    def steps(self) -> list[Step]:
        """Plays and set-ups from the empty board on."""
        return self._steps.copy()

    @property
    def moves(self) -> list[Play]:
        """The plays alone."""
        return [step for step in self._steps if isinstance(step, Play)]

    @property
    def last_move(self) -> int | None:
        """The last step if it was a play."""
        last = self._steps[-1] if self._steps else None
        return last.move if isinstance(last, Play) else None

    @property
    def handicap(self) -> int:
        """How many handicap stones the game began with: at least two black ones set up, White to play."""
        first = self._steps[0] if self._steps else None
        if isinstance(first, Setup) and first.to_play == WHITE and not (first.white or first.empty):
            return len(first.black) if len(first.black) >= 2 else 0
        return 0

    # Legality

    def why_illegal(self, move: int, color: int | None = None) -> Illegality | None:
        """The reason why the rules forbid a move, None if it is legal. A pass always is."""
        color = self.to_play if color is None else color
        reason = self.board.why_illegal(move, color, suicide=self.rules.suicide)
        if reason is None and move != PASS and self.rules.ko is not KoRule.SIMPLE:
            after = int(kernels.hash_after(self.board.record, self._work, move, color))
            if self._has_been(after, -color):
                return Illegality.SUPERKO
        return reason

    def is_legal(self, move: int, color: int | None = None) -> bool:
        return self.why_illegal(move, color) is None

    def legal_moves(self, color: int | None = None) -> NDArray[np.bool_]:
        """Which moves the rules allow, [n²+1]; the last is the pass."""
        color = self.to_play if color is None else color
        legal = self.board.legal_moves(color, suicide=self.rules.suicide)
        if self.rules.ko is not KoRule.SIMPLE:
            hashes = np.empty(legal.size - 1, dtype=np.uint64)
            kernels.fill_hashes(self.board.record, self._work, color, legal, hashes)
            for point in np.flatnonzero(legal[:-1]).tolist():
                legal[point] = not self._has_been(int(hashes[point]), -color)
        return legal

    def _has_been(self, position: int, to_play: int) -> bool:
        """Whether the ko rule in force knows this position from the past."""
        if _situation(position, to_play) in self._situations:
            return True
        return self.rules.ko is KoRule.POSITIONAL and _situation(position, -to_play) in self._situations

    @property
    def past_situations(self) -> list[int]:
        """Every position that has been on the board, the present one too, with who was to play, as numbers."""
        return list(self._situations)

    def _situation(self) -> int:
        return _situation(self.board.hash, self.to_play)

    # Change

    def play(self, move: int, color: int | None = None) -> None:
        """Play a move; raises IllegalMove and changes nothing if the rules forbid it."""
        color = self.to_play if color is None else color
        reason = self.why_illegal(move, color)
        if reason is not None:
            raise IllegalMove(move, reason, self.size)
        self.board.play(move, color, suicide=self.rules.suicide)
        self._remember(Play(color, move))

    def setup(
        self,
        black: Iterable[int] = (),
        white: Iterable[int] = (),
        empty: Iterable[int] = (),
        to_play: int | None = None,
    ) -> None:
        """Put stones on the board and take others off; raises ValueError if they cannot stand like that."""
        step = Setup(tuple(black), tuple(white), tuple(empty), to_play)
        self.board.place(*step)
        self._remember(step)

    def place_handicap(self, points: Iterable[int]) -> None:
        """Begin with black stones on these points and White to play; raises ValueError on a board in use."""
        stones = tuple(points)
        if self._steps:
            raise ValueError("handicap stones go on the empty board, before any move")
        if len(set(stones)) != len(stones) or len(stones) < 2:
            raise ValueError("a handicap is two stones or more, each on its own point")
        self.setup(black=stones, to_play=WHITE)

    def resign(self, color: int | None = None) -> None:
        """End the game by resignation; ``undo`` takes it back."""
        self._resigned = self.to_play if color is None else color

    def undo(self) -> None:
        """Take back a resignation, or else the last play or set-up; raises NothingToUndo if there is none."""
        if self._resigned is not None:
            self._resigned = None
            return
        if not self._steps:
            raise NothingToUndo
        situation = self._past_situations.pop()
        self._situations[situation] -= 1
        if not self._situations[situation]:
            del self._situations[situation]
        self._steps.pop()
        self.board.undo()

    def _remember(self, step: Step) -> None:
        self._steps.append(step)
        self._past_situations.append(self._situation())
        self._situations[self._past_situations[-1]] += 1
        self._resigned = None

    # The end

    @property
    def is_over(self) -> bool:
        """Whether a player resigned or both passed in turn. Play may go on after passes all the same."""
        last = self._steps[-2:]
        passes = [step for step in last if isinstance(step, Play) and step.move == PASS]
        return self._resigned is not None or len(passes) == 2

    def score(self, dead: Iterable[int] = (), seki: Iterable[int] = ()) -> float:
        """Black's score less White's by the rules of the game, komi and compensation included.

        ``dead`` and ``seki`` name chains by any of their stones; seki matters only where the rules tax it.
        """
        return scoring.score(self.board, self.rules, dead=dead, handicap=self.handicap, seki=seki)

    def result(self, dead: Iterable[int] = (), seki: Iterable[int] = ()) -> GameResult | None:
        """How the game ended, None before its end."""
        if self._resigned is not None:
            return GameResult(-self._resigned, None, Reason.RESIGNATION)
        return GameResult.by_score(self.score(dead, seki)) if self.is_over else None

    # The object

    def copy(self) -> Game:
        """An independent game with the same past."""
        twin = Game.__new__(Game)
        twin.board = self.board.copy()
        twin.rules = self.rules
        twin._steps = self._steps.copy()
        twin._situations = self._situations.copy()
        twin._past_situations = self._past_situations.copy()
        twin._work = self._work.copy()
        twin._resigned = self._resigned
        return twin

    def __str__(self) -> str:
        return str(self.board)

    def _repr_svg_(self) -> str:
        return draw_svg(self.board.diagram, last_move=self.last_move)


def _situation(position: int, to_play: int) -> int:
    """One number for a position and who is to play there."""
    return position if to_play == BLACK else position ^ int(kernels.ZOBRIST_WHITE_TO_PLAY)


def warmup() -> None:
    """Compile the rules."""
    game = Game(size=5)
    for move in (0, 1, 7, 12):
        game.play(move)
    game.undo()
    game.setup(empty=[0])
    game.legal_moves()
    board = game.board
    board.chain(7), board.liberties(7), board.is_own_eye(0, BLACK)
    board.legal_moves()
