"""Jobs for the engines: decide on a move, say what is known of a position, go through a whole game.

A job travels to a worker process and runs there. What it finds on the way it reports when a report is due.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from threading import Event
from typing import Final, NamedTuple, Protocol

from katachi.analysis.batches import describe_game
from katachi.analysis.explaining import judge_turn, link_turns
from katachi.analysis.judges import Judges, at_rank, turns_of
from katachi.analysis.layers import Layer, layers_of
from katachi.analysis.records import GameRecord, PositionRecord
from katachi.analysis.report import strip
from katachi.core.contracts import Analysis, Decision, Evaluator, Limit, Player, PreparingPlayer
from katachi.core.models import open_model, shipped_models
from katachi.go.game import Game, Play, Step
from katachi.go.rules import Rules
from katachi.players.asking import find_evaluator, watch_analyses, watch_decisions
from katachi.players.specs import load_player
from katachi.policy.evaluator import CnnEvaluator, knows_ranks
from katachi.sgf import parse_sgf

_MOST_KEPT: Final = 4  # players, and sets of evaluators, at a time


class Reporter(Protocol):
    """Tells the server something; ``is_due`` says whether that would not be too soon after the last time."""

    @property
    def is_due(self) -> bool: ...

    def __call__(self, content: object) -> None: ...


class Job(Protocol):
    """Something to do in a worker; it ends soon after ``stop`` is set."""

    def run(self, report: Reporter, stop: Event) -> object: ...


@dataclass(frozen=True, slots=True)
class Position:
    """A game as it travels to another process."""

    size: int
    rules: Rules
    steps: tuple[Step, ...]
    to_play: int

    @classmethod
    def of(cls, game: Game) -> Position:
        return cls(game.size, game.rules, tuple(game.steps), game.to_play)

    def replay(self) -> Game:
        game = Game(self.size, self.rules)
        for step in self.steps:
            if isinstance(step, Play):
                game.play(step.move, step.color)
            else:
                game.setup(*step)
        game.to_play = self.to_play
        return game


@dataclass(frozen=True, slots=True)
class DecideJob:
    """Decide on a move; reports analyses."""

    player: str
    position: Position
    limit: Limit

    def run(self, report: Reporter, stop: Event) -> Decision:
        player = load_prepared(self.player, self.position.size)
        decision = Decision()
        for decision in watch_decisions(player, self.position.replay(), self.limit, stop):
            if decision.analysis is not None and report.is_due:
                report(decision.analysis)
        return decision


class Seen(NamedTuple):
    """What is known of a position, and whether a network was asked that knows people of different ranks."""

    analysis: Analysis
    layers: tuple[Layer, ...]
    knows_ranks: bool


@dataclass(frozen=True, slots=True)
class LayersJob:
    """Say what a player and the models of its board size think of a position; reports what it has Seen so far."""

    player: str
    position: Position
    limit: Limit
    rank: int | None  # dan of the people whom a network is asked about

    def run(self, report: Reporter, stop: Event) -> Seen:
        player = load_prepared(self.player, self.position.size)
        evaluators = _at_rank(find_judges(player, self.player, self.position.size), self.rank)
        networks = (one for one in evaluators.values() if isinstance(one, CnnEvaluator))
        has_ranks = any(knows_ranks(network.config) for network in networks)
        game = self.position.replay()
        analysis = Analysis(())
        for analysis in watch_analyses(player, game, self.limit, stop):
            if report.is_due:
                report(Seen(analysis, tuple(layers_of(game, analysis, evaluators)), has_ranks))
        return Seen(analysis, tuple(layers_of(game, analysis, evaluators)), has_ranks)


class Review(NamedTuple):
    """A game gone through: who judged it how, and its positions as far as they are judged."""

    game: GameRecord
    positions: tuple[PositionRecord, ...]


@dataclass(frozen=True, slots=True)
class ReviewJob:
    """Go through the main line of a record; reports the positions that are new since the last report."""

    player: str
    record: str  # SGF

    def run(self, report: Reporter, stop: Event) -> Review:
        record = strip(parse_sgf(self.record)[0])
        player = load_prepared(self.player, record.size)
        judges = Judges(player, evaluators=find_judges(player, self.player, record.size))
        positions: list[PositionRecord] = []
        told = 0
        for turn in turns_of(record):
            position = judge_turn(judges, turn)
            positions.append(link_turns(positions[-1], position) if positions else position)
            if report.is_due:
                report(tuple(positions[told:]))
                told = len(positions)
            if stop.is_set():
                break
        return Review(describe_game(record, judges), tuple(positions))


@lru_cache(maxsize=_MOST_KEPT)
def load_prepared(spec: str, size: int) -> Player:
    """A player, ready for boards of a size."""
    player = load_player(spec)
    if isinstance(player, PreparingPlayer):
        player.prepare(size)
    return player


def find_judges(player: Player, spec: str, size: int) -> dict[str, Evaluator]:
    """What a player judges with, and the shipped models that judge boards of this size."""
    own = find_evaluator(player)
    return ({} if own is None else {spec: own}) | _shipped(size)


@lru_cache(maxsize=_MOST_KEPT)
def _shipped(size: int) -> dict[str, Evaluator]:
    saved = {path.name: open_model(path) for path in shipped_models()}
    return {name: model.load() for name, model in saved.items() if model.card.board_size == size}


def _at_rank(evaluators: dict[str, Evaluator], rank: int | None) -> dict[str, Evaluator]:
    if rank is None:
        return evaluators
    return {
        name: at_rank(evaluator, rank) if isinstance(evaluator, CnnEvaluator) else evaluator
        for name, evaluator in evaluators.items()
    }
