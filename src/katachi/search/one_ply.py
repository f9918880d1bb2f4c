"""One ply: which moves searches consider, what they report, and the two searches that do not look further.

Searches consider the *sensible* moves, and the pass only where there is none. A sensible move is legal, not suicide,
and fills no simple eye of its own side. At the root the game decides what is legal, superko included; below it a search
sees boards, which know simple ko alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from katachi.core.contracts import Doubles, Evaluator, Floats, Limit, LogOddsEvaluator, SearchResult
from katachi.core.evaluators import softmax_policy, sweep_afterstates
from katachi.go.board import Board
from katachi.go.game import Game
from katachi.go.kernels.values import make_shares
from katachi.go.points import EMPTY, PASS
from katachi.go.scoring import area, estimate_status
from katachi.search.kernels.playouts import fill_captures, fill_sensible
from katachi.search.settings import GreedySettings, PolicySettings

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
    """How many passes in succession lead up to the root, 0 or 1; where both have passed and play continues, 0."""
    return int(opponent_has_passed(game) and not game.is_over)


def is_won(game: Game) -> bool:
    """Whether counting now would win, even if every point that is nobody's were the opponent's."""
    open_points = int(np.count_nonzero(area(game.board) == EMPTY))
    return game.score() * game.to_play > open_points


def is_won_without_dead_stones(game: Game) -> bool:
    """Whether counting now would win once dead stones are taken off, even if all that is not sure were the opponent's.

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


# What searches report beyond the contract.

_NOTHING: Final = np.empty(0, dtype=np.float32)
_NO_SWEEP: Final = np.empty(0)


@dataclass(frozen=True, slots=True)
class PolicyResult(SearchResult):
    """The result of playing by a policy: what it gives the moves considered, [n²+1]; 0 elsewhere."""

    priors: Floats = field(default_factory=_NOTHING.copy)


@dataclass(frozen=True, slots=True)
class SweepResult(SearchResult):
    """The result of a search that valued every move it considered: P(Black wins) after each, [n²+1], NaN elsewhere."""

    sweep: Doubles = field(default_factory=_NO_SWEEP.copy)


@dataclass(frozen=True, slots=True)
class PlayoutResult(SweepResult):
    """What playouts report besides: by how much, and who owns the points [n²]."""

    variation_visits: Mapping[int, tuple[int, ...]] = field(default_factory=dict)  # how often each move of these
    black_lead: float | None = None  # the mean score of the playouts, komi included
    ownership: Floats | None = None  # +1 is Black's
    simulations: int = 0  # new ones; visits may count what was kept, too


@dataclass(frozen=True, slots=True)
class TreeResult(PlayoutResult):
    """What a Monte-Carlo tree knows besides: priors [n²+1], what follows each move, and how the priors came."""

    priors: Floats = field(default_factory=_NOTHING.copy)
    variations: Mapping[int, tuple[int, ...]] = field(default_factory=dict)  # what follows each of the best moves
    leads: Doubles = field(default_factory=_NO_SWEEP.copy)  # the mean score after each, [n²+1]; NaN where there is none
    criticality: Floats | None = None  # how far owning a point goes with winning
    coverage: float = 0.0  # the share of visited nodes that have the evaluator's prior
    lag_simulations: float = 0.0  # mean, from the making of a node to its prior
    lag_seconds: float = 0.0  # mean, of a batch from sending to return
    warning: str = ""  # what went wrong without ending the search


# One ply: value the board after each sensible move and take the best, or nearly.
#
# With probability ``epsilon`` the move is uniformly random; else, at a ``temperature`` above 0, it is drawn in
# proportion to e^(share of wins / temperature) (Gibbs); else it is the best, at random among equals. In a game that is
# won for certain the best is found by its log-odds. Superko is respected. ``fills_eyes`` lets it consider what is not
# sensible, too, and ``may_pass`` the pass where there are other moves.


class GreedySearch:
    """One ply over any evaluator. One that sweeps its afterstates answers fastest. No limit changes anything."""

    def __init__(self, evaluator: Evaluator, settings: GreedySettings | None = None) -> None:
        self.evaluator = evaluator
        self._log_odds = evaluator.afterstate_log_odds if isinstance(evaluator, LogOddsEvaluator) else None
        self.settings = settings or GreedySettings()

    def prepare(self, size: int) -> None:
        """Compile what the first move on such a board would wait for; raises if it cannot evaluate that."""
        self.search(Game(size), Limit(), np.random.default_rng(0))

    def search(self, game: Game, limit: Limit, rng: np.random.Generator) -> SweepResult:  # noqa: ARG002 (one ply needs none)
        """Choose a move; each one considered counts as one visit."""
        considered = legal_root_moves(game) if self.settings.fills_eyes else root_moves(game)
        considered[-1] |= self.settings.may_pass
        sweep, order = self._sweep(game.board)
        sweep = np.where(considered, sweep, np.nan)
        index = self._choose(game.to_play, sweep, order, rng)
        move = PASS if index == sweep.size - 1 else index
        return SweepResult(move, float(sweep[index]), considered.astype(np.int64), (move,), sweep)

    def _sweep(self, board: Board) -> tuple[Doubles, Doubles]:
        """P(Black wins) after each move, and what tells moves apart: the same, or log-odds if they are known."""
        if self._log_odds is None:
            sweep = sweep_afterstates(self.evaluator, board)
            return sweep, sweep
        log_odds = self._log_odds(board)
        shares = log_odds.copy()
        make_shares(shares, shares.size)
        return shares, log_odds

    def _choose(self, to_play: int, sweep: Doubles, order: Doubles, rng: np.random.Generator) -> int:
        considered = np.flatnonzero(~np.isnan(sweep))
        if self.settings.epsilon and rng.random() < self.settings.epsilon:
            return int(rng.choice(considered))
        if self.settings.temperature:
            policy = softmax_policy(sweep, to_play, self.settings.temperature).astype(np.float64)
            return int(rng.choice(sweep.size, p=policy / policy.sum()))
        values = to_play * order[considered]
        return int(rng.choice(considered[values == values.max()]))


# No search at all: play what an evaluator's policy likes best, or draw from it.
#
# Moves that fill an eye of one's own are never played, and superko is respected. It passes where nothing else is left,
# or where the opponent has passed and counting now would win (Maddison et al. 2014 play their network so).


class PolicySearch:
    """Play by the policy of any evaluator. No limit changes anything."""

    def __init__(self, evaluator: Evaluator, settings: PolicySettings | None = None) -> None:
        self.evaluator = evaluator
        self.settings = settings or PolicySettings()

    def prepare(self, size: int) -> None:
        """Load what the first move on a board of that size would wait for; raises if it cannot evaluate such boards."""
        self.search(Game(size), Limit(), np.random.default_rng(0))

    def search(self, game: Game, limit: Limit, rng: np.random.Generator) -> PolicyResult:  # noqa: ARG002 (it needs none)
        """Choose a move; each one considered counts as one visit."""
        black_wins, policy = self.evaluator.evaluate([game.board])
        considered = root_moves(game)
        if opponent_has_passed(game) and is_won_without_dead_stones(game):
            considered[:-1], considered[-1] = False, True  # the pass wins
        shares = np.where(considered, policy[0].astype(np.float64), 0)
        shares = shares if shares.any() else considered.astype(np.float64)
        priors = shares / shares.sum()
        index = int(rng.choice(priors.size, p=self._sharpen(priors)))
        move = PASS if index == priors.size - 1 else index
        return PolicyResult(move, float(black_wins[0]), considered.astype(np.int64), (move,), priors.astype(np.float32))

    def _sharpen(self, priors: Doubles) -> Doubles:
        """The probabilities by which to choose: priors to the power of 1 / temperature."""
        if self.settings.temperature == 0:
            weights = (priors == priors.max()).astype(np.float64)
        else:
            weights = (priors / priors.max()) ** (1 / self.settings.temperature)
        sharpened: Doubles = weights / weights.sum()
        return sharpened
