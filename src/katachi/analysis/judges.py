"""Who analyses: a player that looks ahead, evaluators that do not, or both.

A player says most: candidates with visits and variations, the score, who will own what. Where it is silent, or where
there is none, the evaluators are asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

import numpy as np

from katachi.core.contracts import (
    AfterstateEvaluator,
    Analysis,
    Candidate,
    Evaluator,
    Floats,
    Limit,
    Outcome,
    OutcomeEvaluator,
    OwnershipEvaluator,
    Player,
    PreparingPlayer,
    RankedEvaluator,
    TunablePlayer,
    ValuingEvaluator,
)
from katachi.core.evaluators import moves_of
from katachi.features.planes import HIGHEST_RANK
from katachi.go.board import Board
from katachi.go.game import Game, Play
from katachi.go.points import PASS
from katachi.players.asking import find_evaluator, watch_analyses
from katachi.search.one_ply import at_komi_of
from katachi.sgf import SgfGame

CANDIDATES: Final = 10


@dataclass(frozen=True, slots=True)
class Judges:
    """A player with a limit, and evaluators by name; without a limit the player's own holds."""

    player: Player | None = None
    limit: Limit = field(default_factory=Limit)
    evaluators: Mapping[str, Evaluator] = field(default_factory=dict)

    @property
    def all_evaluators(self) -> dict[str, Evaluator]:
        """The evaluators, and the player's own if it is not among them."""
        own = None if self.player is None else find_evaluator(self.player)
        if self.player is None or own is None or any(evaluator is own for evaluator in self.evaluators.values()):
            return dict(self.evaluators)
        return {**self.evaluators, self.player.name: own}

    def check(self, size: int) -> None:
        """Raise WrongBoardSize if one of the evaluators is for boards of another size."""
        if isinstance(self.player, PreparingPlayer):
            self.player.prepare(size)
        for evaluator in self.all_evaluators.values():
            evaluator.evaluate([Board(size)])

    def analyze(self, game: Game) -> Analysis:
        """What is known of a position; the game stays as it is."""
        evaluators = self.all_evaluators
        if self.player is None:
            first = next(iter(evaluators.values()), None)
            analysis = Analysis(()) if first is None else analyze_by(first, game)
        else:
            *_, analysis = watch_analyses(self.player, game.copy(), self.limit_in_force, None)
        for evaluator in evaluators.values():
            analysis = _complete(analysis, evaluator, game)
        return analysis

    def glance(self, games: Sequence[Game]) -> list[Analysis] | None:
        """What a network says of all positions of one game at once, without search; None if no evaluator can."""
        evaluators = self.all_evaluators
        own = None if self.player is None else find_evaluator(self.player)
        known = [each for each in (own, *evaluators.values()) if isinstance(each, OutcomeEvaluator) and has_value(each)]
        if not known or not games:
            return None
        network = at_komi_of(known[0], games[0])
        assert isinstance(network, OutcomeEvaluator)
        evaluation, outcome = network.evaluate_outcomes([game.board for game in games])
        return [
            Analysis(
                tuple(Candidate(move, None, float(policy[move])) for move in _most_probable(game, policy)),
                float(outcome.black_wins[index]),
                float(outcome.black_lead[index]),
                outcome.ownership[index],
            )
            for index, (game, policy) in enumerate(zip(games, evaluation.policy, strict=True))
        ]

    @property
    def limit_in_force(self) -> Limit:
        """When the player stops: the limit given, or else its own."""
        if self.limit != Limit() or not isinstance(self.player, TunablePlayer):
            return self.limit
        names = ("simulations", "depth", "seconds")
        return Limit(**{name: self.player.parameters.get(f"limit.{name}") for name in names})  # type: ignore[arg-type]


def has_value(evaluator: Evaluator) -> bool:
    """Whether an evaluator knows how often Black wins; a network without a value head says one half of everything."""
    return not isinstance(evaluator, ValuingEvaluator) or evaluator.values_positions


def analyze_by(evaluator: Evaluator, game: Game) -> Analysis:
    """What an evaluator says of a position without looking ahead: the most probable moves, and what they are worth."""
    evaluator = at_komi_of(evaluator, game)
    black_wins, policies = evaluator.evaluate([game.board])
    policy = policies[0]
    moves = _most_probable(game, policy)
    sweep = evaluator.evaluate_afterstates(game.board) if isinstance(evaluator, AfterstateEvaluator) else None
    candidates = [Candidate(move, None if sweep is None else float(sweep[move]), float(policy[move])) for move in moves]
    return Analysis(tuple(candidates), float(black_wins[0]) if has_value(evaluator) else None)


def _most_probable(game: Game, policy: Floats) -> list[int]:
    legal = np.where(game.legal_moves(), policy, 0)
    return sorted(moves_of(legal > 0), key=lambda move: -legal[move])[:CANDIDATES] or [PASS]


def _complete(analysis: Analysis, evaluator: Evaluator, game: Game) -> Analysis:
    """The analysis with what it lacks and an evaluator knows."""
    evaluator = at_komi_of(evaluator, game)
    if isinstance(evaluator, OutcomeEvaluator) and None in (analysis.black_wins, analysis.black_lead):
        analysis = _add_outcome(analysis, evaluator.predict_outcome([game.board]))
    if analysis.black_wins is None and has_value(evaluator):
        analysis = replace(analysis, black_wins=float(evaluator.evaluate([game.board]).black_wins[0]))
    if analysis.ownership is None and isinstance(evaluator, OwnershipEvaluator):
        analysis = replace(analysis, ownership=evaluator.ownership([game.board])[0])
    if analysis.black_lead is None and analysis.ownership is not None:
        lead = float(analysis.ownership.sum(dtype=np.float64)) - game.komi
        analysis = replace(analysis, black_lead=lead)
    return analysis


def _add_outcome(analysis: Analysis, outcome: Outcome) -> Analysis:
    """The analysis with the first of an outcome where it has nothing of its own."""
    wins, lead, ownership = analysis.black_wins, analysis.black_lead, analysis.ownership
    return replace(
        analysis,
        black_wins=float(outcome.black_wins[0]) if wins is None else wins,
        black_lead=float(outcome.black_lead[0]) if lead is None else lead,
        ownership=outcome.ownership[0] if ownership is None else ownership,
    )


# What people would play: a move predictor asked about players of several ranks.

MOVES_LISTED: Final = 3
_BEGINNER: Final = -19  # 20 kyu


class Prediction(NamedTuple):
    """What players of a grade would play, [n²+1]; rank None where the evaluator knows no ranks."""

    rank: int | None
    policy: Floats

    def best(self, count: int = MOVES_LISTED) -> list[tuple[int, float]]:
        """The most probable moves and their shares, most probable first."""
        moves = sorted(moves_of(self.policy > 0), key=lambda move: -self.policy[move])[:count]
        return [(move, float(self.policy[move])) for move in moves]


def predict_people(evaluator: RankedEvaluator, board: Board) -> list[Prediction]:
    """What 1 dan and 9 dan would play, or 20 kyu and 1 dan, or people in general if the evaluator knows no ranks."""
    lowest = evaluator.lowest_rank
    if lowest is None:
        return [Prediction(None, evaluator.evaluate([board]).policy[0])]
    asked = {rank: evaluator.at_rank(rank) for rank in ((1, HIGHEST_RANK) if lowest >= 1 else (_BEGINNER, 1))}
    return [Prediction(rank, people.evaluate([board]).policy[0]) for rank, people in asked.items()]


# The turns of a record: the positions of its main line that are analysed, each with the move that led there.


class Turn(NamedTuple):
    """A position: the game continues when the next turn is asked for."""

    turn: int  # 0 is the start of the game
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
