"""The simple players: random, average liberty and influence. Each looks one move ahead and breaks ties at random.

They never fill their own simple eyes and never commit suicide. They pass when no other move is left, or when the
opponent has just passed and the board as it stands is won, even if every point that is nobody's were the opponent's.
What they value is not a probability; for display it is squashed into one by a logistic.

>>> game = Game(size=5)
>>> game.play(12)
>>> game.play(7)
>>> AlpPlayer(seed=1).decide(game, Limit()).move  # two stones in line, away from the opponent, have six liberties
17
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from katachi.core.contracts import Analysis, Candidate, Decision, Floats, Limit
from katachi.go.game import Game
from katachi.go.points import PASS
from katachi.players.kernels import simple as kernels
from katachi.players.search_player import wins_by_passing
from katachi.search.one_ply import sensible_moves

Values = NDArray[np.float64]  # [n²], Black's, NaN where a move is not sensible

CANDIDATES_SHOWN: Final = 10


class OnePlyPlayer(ABC):
    """Plays the sensible move after which the board is worth most to its side."""

    kind: ClassVar[str]
    value_unit: ClassVar[float] = 1.0  # so much more is shown as odds of e : 1

    def __init__(self, name: str | None = None, seed: int | None = None) -> None:
        self._name = name or self.kind
        self._rng = np.random.default_rng(seed)

    @property
    def name(self) -> str:
        return self._name

    @abstractmethod
    def sweep(self, game: Game) -> Values:
        """What the board is worth to Black after each sensible move, [n²]; NaN elsewhere. Superko is not looked at."""

    def decide(self, game: Game, limit: Limit) -> Decision:  # noqa: ARG002 (one ply needs none)
        """The best move, and the ten best for display; ``limit`` changes nothing."""
        if wins_by_passing(game):
            return Decision(PASS, comment="the board as it stands is won")
        values = self.sweep(game)
        moves = self._best_legal(game, values)
        if not moves:
            return Decision(PASS, comment="no sensible move is left")
        candidates = tuple(self._describe(move, values) for move in moves)
        analysis = Analysis(candidates, candidates[0].black_wins, ownership=self.ownership(game))
        return Decision(moves[0], analysis=analysis)

    def prepare(self, size: int) -> None:
        """Compile what the first decision would wait for."""
        game = Game(size)
        self.sweep(game)
        self.ownership(game)

    def ownership(self, game: Game) -> Floats | None:  # noqa: ARG002
        """Whose each point is, [n²], if the player has a notion of it."""
        return None

    def _best_legal(self, game: Game, values: Values) -> list[int]:
        """Up to ten moves, best first, in random order where they are equal; without those that superko forbids."""
        order = self._rng.permutation(values.size)
        order = order[np.argsort(-game.to_play * values[order], kind="stable")]
        moves: list[int] = []
        for move in order.tolist():
            if np.isnan(values[move]) or len(moves) == CANDIDATES_SHOWN:
                break  # NaN sorts last
            if game.is_legal(move):
                moves.append(move)
        return moves

    def _describe(self, move: int, values: Values) -> Candidate:
        return Candidate(move, black_wins=float(1 / (1 + np.exp(-values[move] / self.value_unit))))


class RandomPlayer(OnePlyPlayer):
    """Plays a random legal move that does not fill one of its own eyes."""

    kind = "random"

    def sweep(self, game: Game) -> Values:
        return np.where(sensible_moves(game.board)[:-1], 0.0, np.nan)

    def _describe(self, move: int, values: Values) -> Candidate:
        return Candidate(move, prior=1 / int(np.count_nonzero(~np.isnan(values))))


class AlpPlayer(OnePlyPlayer):
    """The average liberty player: mean liberties of its own chains less the opponent's (Silver et al. 2007)."""

    kind = "alp"

    def sweep(self, game: Game) -> Values:
        sensible = sensible_moves(game.board)[:-1]
        values = np.full(sensible.size, np.nan)
        board = game.board.record
        kernels.sweep_liberties(board, board.copy(), game.to_play, sensible, values)
        return values


class InfluencePlayer(OnePlyPlayer):
    """Wants the most points on Bouzy's influence map, of five dilations and 21 erosions."""

    kind = "influence"
    value_unit = 10.0  # points of the board

    def sweep(self, game: Game) -> Values:
        sensible = sensible_moves(game.board)[:-1]
        values = np.full(sensible.size, np.nan)
        board = game.board.record
        influence = np.zeros(1, dtype=kernels.INFLUENCE)
        kernels.sweep_influence(board, board.copy(), influence, game.to_play, sensible, values)
        return values

    def ownership(self, game: Game) -> Floats:
        """The map itself, by its signs."""
        influence = np.zeros(1, dtype=kernels.INFLUENCE)
        kernels.map_influence(game.board.record, influence)
        signs: Floats = np.sign(influence["maps"][0, 0, : game.size**2]).astype(np.float32)
        return signs


def warmup() -> None:
    """Compile the simple players."""
    for player in (RandomPlayer(), AlpPlayer(), InfluencePlayer()):
        player.decide(Game(size=5), Limit())
