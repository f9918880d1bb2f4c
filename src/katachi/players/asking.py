"""Asking any player what it thinks: one that can analyze, one that can be watched, one that only decides.

And getting it ready for that, beside everything else, which takes half a minute where nothing has been compiled yet.

Also which moves an answer is to be about. Whoever asks may leave moves out (``avoid``) or name the only ones
(``allow``): both are bans. A player that can do without banned moves does; of what another says they are left out.
"""

from __future__ import annotations

import gc
import math
import os
import sys
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Event, Lock, Thread
from typing import Final

import numpy as np

from katachi.core.contracts import (
    Analysis,
    AnalyzingPlayer,
    Ban,
    Candidate,
    Decision,
    EvaluatingPlayer,
    Evaluator,
    Floats,
    Limit,
    OwnershipEvaluator,
    Player,
    PreparingPlayer,
    RankedEvaluator,
    SelectivePlayer,
    ThinkingPlayer,
)
from katachi.core.evaluators import after, moves_of
from katachi.go import game as rules
from katachi.go.compiling import compiling
from katachi.go.game import Game
from katachi.go.points import PASS


def watch_decisions(
    player: Player, game: Game, limit: Limit, stop: Event, bans: Collection[Ban] = ()
) -> Iterator[Decision]:
    """Ever better decisions, or the one there is; the last is the player's."""
    player = _without(player, bans)
    if isinstance(player, ThinkingPlayer):
        return player.think(game, limit, stop)
    return iter([player.decide(game, limit)])


def watch_analyses(
    player: Player, game: Game, limit: Limit, stop: Event | None, bans: Collection[Ban] = ()
) -> Iterator[Analysis]:
    """Ever better analyses, or what there is to say about a decision; without ``stop`` speed changes nothing."""
    player = _without(player, bans)
    if isinstance(player, AnalyzingPlayer):
        return player.analyze(game, limit, stop)
    return iter([explain(player.decide(game, limit))])


def _without(player: Player, bans: Collection[Ban]) -> Player:
    return player.without(bans) if bans and isinstance(player, SelectivePlayer) else player


def explain(decision: Decision) -> Analysis:
    """What a decision says of itself: of one without an analysis, the move alone."""
    return decision.analysis or Analysis((Candidate(decision.move),))


def find_evaluator(player: Player) -> Evaluator | None:
    """What a player evaluates with, if it can be asked."""
    return player.evaluator if isinstance(player, EvaluatingPlayer) else None


def describe_models(player: Player) -> list[dict[str, object]]:
    """What a player evaluates with under KataGo's keys for its networks: nothing, or one."""
    evaluator = find_evaluator(player)
    if evaluator is None:
        return []
    knows_ranks = isinstance(evaluator, RankedEvaluator) and evaluator.lowest_rank is not None
    return [{"name": player.name, "internalName": type(evaluator).__name__, "usesHumanSLProfile": knows_ranks}]


def find_owners(evaluator: Evaluator | None, game: Game, candidates: Sequence[Candidate]) -> Floats | None:
    """Who an evaluator says will own each point after each candidate, [candidates, n²]; None if it does not say."""
    if not isinstance(evaluator, OwnershipEvaluator) or not candidates:
        return None
    return evaluator.ownership([after(game.board, candidate.move) for candidate in candidates])


@dataclass(slots=True)
class Selection:
    """Which moves an answer is about: those that are not banned, and how many of them."""

    bans: list[Ban] = field(default_factory=list)
    fewest: int = 0
    most: int | None = None

    def banned(self, color: int) -> set[int]:
        """The moves that a color is not to consider in the position."""
        return {ban.move for ban in self.bans if ban.color == color}

    def choose(self, candidates: Sequence[Candidate], game: Game) -> tuple[Candidate, ...]:
        """These of the candidates; if too few of them were considered, other legal moves follow."""
        banned = self.banned(game.to_play)
        chosen = [candidate for candidate in candidates if candidate.move not in banned]
        if len(chosen) < self.fewest:
            known = banned | {candidate.move for candidate in chosen}
            others = [move for move in moves_of(game.legal_moves()) if move not in known]
            chosen += [Candidate(move) for move in others[: self.fewest - len(chosen)]]
        return tuple(chosen[: self.most])


def ban_others(color: int, allowed: Collection[int], depth: int, size: int) -> list[Ban]:
    """Bans on everything that is not among the moves allowed."""
    return [Ban(color, move, depth) for move in (*range(size * size), PASS) if move not in allowed]


def count_visits(candidates: Sequence[Candidate]) -> list[int]:
    """The visits of each candidate; one each if nobody counted, because front ends divide by the most."""
    visits = [candidate.visits for candidate in candidates]
    return visits if any(visits) else [1] * len(visits)


_CONFIDENCE: Final = 1.96  # standard errors between a win rate and its lower bound


def lower_bound(wins: float, visits: float) -> float:
    """A win rate less what chance may have added, were every visit a game won or lost."""
    return wins - _CONFIDENCE * math.sqrt(max(0.0, wins * (1 - wins)) / visits) if visits else wins


def spread_of(ownership: Floats) -> Floats:
    """The standard deviation of who will own each point, as if each were somebody's in the end."""
    spread: Floats = np.sqrt(np.maximum(0, 1 - np.square(ownership)))
    return spread


# Getting ready: kernels are compiled, weights read, before a decision needs them.
#
# Loading a player compiles nothing and finds whatever is wrong with its file; ``prepare`` takes the rest of the time.
# Who serves a player begins at once with a ``Preparation``, answers what can be answered, and waits where the player
# has to think.

_SILENT_SECONDS: Final = 2.0  # who waits longer hears what for
_POLL_SECONDS: Final = 0.05


class Preparation:
    """Prepares a player in a thread, for one size of boards after the other. Nobody else may use it meanwhile.

    Without a player, the board alone is prepared.
    """

    def __init__(self, player: Player | None = None) -> None:
        self._player = player
        self._title = "the board" if player is None else player.name
        self._wanted: int | None = None
        self._tried: set[int] = set()
        self._lock = Lock()
        self._is_idle = Event()
        self._is_idle.set()

    @property
    def is_running(self) -> bool:
        return not self._is_idle.is_set()

    def begin(self, size: int) -> None:
        """Prepare for boards of a size, once; a size that has not had its turn is no longer wanted."""
        with self._lock:
            self._wanted = None if size in self._tried else size
            if self._wanted is not None and not self.is_running:
                self._is_idle.clear()
                Thread(target=self._run, name="preparation", daemon=True).start()

    def wait(self, stop: Event | None = None) -> bool:
        """Wait until all is ready, and say so if that is long; False if ``stop`` was set before."""
        if not self._is_idle.wait(_SILENT_SECONDS):
            self._announce()
        while stop is not None and not stop.is_set() and not self._is_idle.wait(_POLL_SECONDS):
            pass
        return self._is_idle.wait(0 if stop is not None else None)

    def wait_briefly(self, seconds: float) -> None:
        """Give it a moment, as where a clock will run next."""
        self._is_idle.wait(seconds)

    def _announce(self) -> None:
        now = compiling()
        known = "" if now is None else f", at least {max(1.0, now.seconds - now.done):.0f} s, once"
        print(f"katachi: preparing {self._title}{known}", file=sys.stderr, flush=True)  # noqa: T201

    def _run(self) -> None:
        with suppress(Exception):
            Game(size=5).play(0)  # first of all: every command about the board waits for it
        while (size := self._next_size()) is not None:
            self._prepare(size)

    def _next_size(self) -> int | None:
        with self._lock:
            size, self._wanted = self._wanted, None
            if size is None:
                self._is_idle.set()
            else:
                self._tried.add(size)
            return size

    def _prepare(self, size: int) -> None:
        """Prepare, and keep the garbage collector off all that.

        Compiled code comes with so many objects that to walk over them takes longer than the lag of a fast game.
        """
        if self._player is None:
            rules.warmup()
        elif isinstance(self._player, PreparingPlayer):
            with suppress(Exception):  # whatever is wrong, the first decision will say so
                self._player.prepare(size)
            gc.collect()
            gc.freeze()


def leave(preparation: Preparation, code: int = 0) -> None:
    """End the process at once if something is still being compiled: the interpreter could not end beside that.

    What is kept on disk is written under another name and renamed, so that nothing is left half done.
    """
    if preparation.is_running:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
