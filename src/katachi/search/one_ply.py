"""One ply: which moves searches consider, what they report, and the two searches that do not look further.

Searches consider the *sensible* moves, and the pass only where there is none. A sensible move is legal, not suicide,
and fills no simple eye of its own side. At the root the game decides what is legal, superko included; below it a search
sees boards, which know simple ko alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from katachi.core.contracts import (
    Doubles,
    Evaluator,
    Floats,
    Limit,
    LogOddsEvaluator,
    OutcomeEvaluator,
    SearchResult,
)
from katachi.core.evaluators import after, evaluate_outcomes, softmax_policy, sweep_afterstates
from katachi.go.board import Board
from katachi.go.game import Game
from katachi.go.kernels.values import make_shares
from katachi.go.points import BLACK, EMPTY, PASS, WHITE
from katachi.go.rules import KoRule
from katachi.go.scoring import area, estimate_status
from katachi.search.kernels.playouts import fill_captures, fill_sensible
from katachi.search.settings import GreedySettings, PolicySettings

_SURE: Final = 0.8  # ownership in an estimate: nine of ten playouts agree
_LIKELY: Final = 0.6  # four of five


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

    An estimate by playouts says which stones are dead (``go/scoring.py``); points are counted by area. Where the rules
    do not take dead stones off, all of them count.
    """
    if not game.rules.friendly_pass_ok:
        return is_won(game)
    ownership = estimate_status(game.board).ownership
    sure = np.abs(ownership) >= _SURE
    lead = float(np.sign(ownership[sure]).sum()) - komi_of(game)
    return lead * game.to_play > int(np.count_nonzero(~sure))


def komi_of(game: Game) -> float:
    """What Black's area must exceed: komi, and what White gets for the handicap."""
    return game.komi + game.rules.handicap_compensation(game.handicap)


def at_komi_of(evaluator: Evaluator, game: Game) -> Evaluator:
    """An evaluator for this game: at its komi, if it can be asked about any."""
    return evaluator.at_komi(komi_of(game)) if isinstance(evaluator, OutcomeEvaluator) else evaluator


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
    black_lead: float | None = None  # the expected score, komi included, if the evaluator knows
    ownership: Floats | None = None  # [n²], +1 is Black's


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
    root_wins: float | None = None  # P(Black wins) by the evaluator's value of the position and what good moves won
    error: float = 0.0  # the standard error of root_wins by its playouts
    doubt: float = 0.0  # so many visits tell as much of a move as is known of it from the position
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
        sweep, order = self._sweep(game)
        sweep = np.where(considered, sweep, np.nan)
        index = self._choose(game.to_play, sweep, order, rng)
        move = PASS if index == sweep.size - 1 else index
        return SweepResult(move, float(sweep[index]), considered.astype(np.int64), (move,), sweep)

    def _sweep(self, game: Game) -> tuple[Doubles, Doubles]:
        """P(Black wins) after each move, and what tells moves apart: the same, or log-odds if they are known."""
        if self._log_odds is None:
            sweep = sweep_afterstates(at_komi_of(self.evaluator, game), game.board)
            return sweep, sweep
        log_odds = self._log_odds(game.board)
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


# The end of a game, for those who do not look ahead.
#
# A game is settled where nothing is left to play for: everybody's points are sure, no chain that lives is in atari,
# and a point that is nobody's once dead stones are off could only be taken by putting oneself in atari, as in a seki.


def dead_when_settled(game: Game, ownership: Floats, sure: float = _SURE) -> tuple[int, ...] | None:
    """The dead chains by their first stones if the game is settled, None if it is not.

    ``ownership`` [n²] says who will own what, and ``sure`` how near to 1 or −1 it must be; who is ahead may be
    less sure.
    """
    board = game.board
    chains = board.chains()
    dead = tuple(chain[0] for chain in chains if board[chain[0]] * ownership[chain].mean() < 0)
    bound = min(sure, _LIKELY) if game.score(dead) * game.to_play > 0 else sure
    is_open = (np.abs(ownership) < bound) | (area(board, dead) != np.sign(ownership))
    if is_open[board.stones != EMPTY].any():
        return None
    if any(board.liberty_count(chain[0]) == 1 for chain in chains if chain[0] not in dead):
        return None
    points = np.flatnonzero(is_open & root_moves(game)[:-1]).tolist()
    return None if any(liberties_after(game, point, game.to_play) > 1 for point in points) else dead


def capturing_move(game: Game, color: int, dead: Sequence[int]) -> int:
    """A liberty of the dead chain of the opponent nearest to capture, best one that is safe to play on; else a pass."""
    legal = game.legal_moves(color)
    chains = sorted((point for point in dead if game.board[point] == -color), key=game.board.liberty_count)
    moves = [move for point in chains for move in game.board.liberties(point) if legal[move]]
    return max(moves, key=lambda move: liberties_after(game, move, color) > 1, default=PASS)


def liberties_after(game: Game, move: int, color: int) -> int:
    """The liberties of the chain that a move makes, 0 if it is suicide."""
    board = game.board.copy()
    board.play(move, color, suicide=game.rules.suicide)
    return 0 if board[move] == EMPTY else board.liberty_count(move)


# No search at all: play what an evaluator's policy likes best, or draw from it.
#
# Moves that fill an eye of one's own are never played, and superko is respected. It passes
# - where nothing else is left, or the opponent has passed and counting now would win;
# - where the game is settled: by the evaluator's ownership, before and after the pass, which costs no points, or else
#   by playouts. Dead stones that would not be taken off at the end, by the rules or because playouts take them for
#   alive, are captured first;
# - in a game of more than three moves for every point, in answer to a pass. There it also repeats no position, whatever
#   the ko rule.

_MOVES_PER_POINT: Final = 3  # of a long game
_URGENT: Final = 0.25  # the share in the policy of a move that comes before a pass, unless the opponent has passed
_WORTH_A_MOVE: Final = 2.0  # points that a pass may cost by the evaluator's word: estimates of a lead differ by one
_GLANCE: Final = 50  # playouts that show whether it is worth to ask for more
_OWN_TURNS: Final = 3  # in succession, at which a game must be lost
_HOPELESS: Final = 2.0  # standard deviations of the score that a lead is away


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
        evaluator = at_komi_of(self.evaluator, game)
        (black_wins, policy), found = evaluate_outcomes(evaluator, [game.board])
        wins, lead, ownership = float(black_wins[0]), None, None
        if found is not None:
            lead, ownership = float(found.black_lead[0]), found.ownership[0]
        considered = self._consider(game, policy[0], ownership)
        shares = np.where(considered, policy[0].astype(np.float64), 0)
        shares = shares if shares.any() else considered.astype(np.float64)
        priors = shares / shares.sum()
        index = int(rng.choice(priors.size, p=self._sharpen(self._overlook(priors, rng))))
        move = PASS if index == priors.size - 1 else index
        visits = considered.astype(np.int64)
        return PolicyResult(move, wins, visits, (move,), priors.astype(np.float32), lead, ownership)

    def is_lost(self, game: Game, below: float) -> bool:
        """Whether the chance of winning is below this for good, as far as the evaluator can say.

        If it knows the score, that must be hopeless, too, at three turns in succession after a third of the board.
        """
        evaluator = at_komi_of(self.evaluator, game)
        if not isinstance(evaluator, OutcomeEvaluator):
            return True
        past, boards = game.copy(), [game.board]
        while len(boards) < _OWN_TURNS and len(past.steps) > 1:
            past.undo()
            past.undo()
            boards.append(past.board.copy())
        if len(boards) < _OWN_TURNS or is_early(game):
            return False
        found = evaluator.predict_outcome(boards)
        wins = found.black_wins if game.to_play == BLACK else 1 - found.black_wins
        best = game.to_play * found.black_lead + _HOPELESS * found.lead_spread
        return bool(((wins < below) & (best < 0)).all())

    def _consider(self, game: Game, policy: Floats, ownership: Floats | None) -> NDArray[np.bool_]:
        """The moves to choose from, [n²+1]; one alone where it is time to end the game."""
        moves, is_long = root_moves(game), len(game.moves) >= _MOVES_PER_POINT * game.size**2
        if moves[-1]:
            return moves
        last, passed = None, opponent_has_passed(game)
        if passed or not (is_early(game) or _is_urgent(game, policy * moves)):
            last = self._find_last_move(game, ownership)
        if last is None and passed and (is_long or is_won_without_dead_stones(game)):
            last = PASS
        if last is not None:
            moves[:] = False
            moves[last] = True  # the pass is the last
        return _without_repetitions(game, moves) if is_long else moves

    def _find_last_move(self, game: Game, ownership: Floats | None) -> int | None:
        """A pass where the game is settled, or a capture that must come before it; None where it is not settled."""
        dead = self._find_dead(game, ownership)
        if dead is None:
            return None
        status = estimate_status(game.board)
        is_ahead = game.score(dead) * game.to_play > 0
        if not is_ahead and dead_when_settled(game, status.ownership) is None:
            return None
        to_capture = [point for point in dead if game.board[point] == -game.to_play]
        if game.rules.friendly_pass_ok:
            counted = game.score(status.dead_stones, status.seki_stones) * game.to_play
            if not is_ahead or counted > 0:
                return PASS
            to_capture = sorted(set(to_capture).difference(status.dead_stones))
        move = capturing_move(game, game.to_play, to_capture)
        return None if move == PASS and (to_capture or game.rules.friendly_pass_ok) else move

    def _find_dead(self, game: Game, ownership: Floats | None) -> tuple[int, ...] | None:
        """The dead chains of a game that is settled, at a glance and at a second look; None if it is not."""
        evaluator = at_komi_of(self.evaluator, game)
        if ownership is None:
            dead = dead_when_settled(game, estimate_status(game.board, _GLANCE).ownership, sure=0.5)
        else:
            dead = dead_when_settled(game, ownership)
        if dead is None:
            return None
        if isinstance(evaluator, OutcomeEvaluator):
            found = evaluator.predict_outcome([game.board, after(game.board, PASS)])
            if (found.black_lead[0] - found.black_lead[1]) * game.to_play > _WORTH_A_MOVE:
                return None
            ownership = found.ownership[1]
        else:
            ownership = estimate_status(game.board).ownership
        return dead if dead_when_settled(game, ownership) == dead else None

    def _overlook(self, priors: Doubles, rng: np.random.Generator) -> Doubles:
        """Priors without those moves that are overlooked this time; all of them if nothing would be left."""
        if self.settings.overlooks == 0:
            return priors
        seen = np.where(rng.random(priors.size) < self.settings.overlooks, 0.0, priors)
        return seen if seen.any() else priors

    def _sharpen(self, priors: Doubles) -> Doubles:
        """The probabilities by which to choose: priors to the power of 1 / temperature."""
        if self.settings.temperature == 0:
            weights = (priors == priors.max()).astype(np.float64)
        else:
            weights = (priors / priors.max()) ** (1 / self.settings.temperature)
        sharpened: Doubles = weights / weights.sum()
        return sharpened


def is_early(game: Game) -> bool:
    """Whether stones for less than a third of the board have been played: so early nothing is settled or lost."""
    board = game.board
    played = int(np.count_nonzero(board.stones)) + board.captured(BLACK) + board.captured(WHITE)
    return 3 * played < game.size**2


def _is_urgent(game: Game, policy: Floats) -> bool:
    """Whether a policy asks for a move that is not in atari then, as where a territory must be defended."""
    best = int(policy.argmax())
    return bool(policy[best] >= _URGENT) and liberties_after(game, best, game.to_play) > 1


def _without_repetitions(game: Game, moves: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Those of the moves that bring no position back; the pass if there is none."""
    twin = game.copy()
    twin.rules = replace(game.rules, ko=KoRule.POSITIONAL)
    moves = moves & twin.legal_moves()
    moves[-1] |= not moves[:-1].any()
    return moves
