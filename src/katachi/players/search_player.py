"""Any search as a player: it decides by looking ahead, passes sensibly, and resigns if it is told when.

It passes when no sensible move is left, or when a pass of the opponent's can be answered by one that wins
(``passing.py``). A limit that it is handed and its own both count: whichever comes first.
"""

from __future__ import annotations

from collections.abc import Iterator
from threading import Event
from typing import Final, Protocol, TypeVar, runtime_checkable

import numpy as np

from katachi.evaluators import moves_of
from katachi.go.game import Game
from katachi.go.points import BLACK, PASS
from katachi.interfaces import Analysis, Candidate, Decision, Limit, Search, SearchResult
from katachi.players.passing import wins_by_passing
from katachi.search.results import SweepResult

CANDIDATES_SHOWN: Final = 10
Number = TypeVar("Number", int, float)


@runtime_checkable
class DeepeningSearch(Search, Protocol):
    """A search that can tell what it has found so far."""

    def deepen(
        self, game: Game, limit: Limit, rng: np.random.Generator, stop: Event | None = None
    ) -> Iterator[SearchResult]:
        """Yield ever better results until the limit is reached or ``stop`` is set."""
        ...


class SearchPlayer:
    """Plays what a search finds. ``resign_below`` is the chance of winning under which it gives up; None never does."""

    def __init__(
        self,
        name: str,
        search: Search,
        limit: Limit | None = None,
        rng: np.random.Generator | None = None,
        resign_below: float | None = None,
    ) -> None:
        if resign_below is not None and not 0 <= resign_below < 1:
            raise ValueError(f"resign_below {resign_below} is not at least 0 and below 1")
        self._name = name
        self._search = search
        self._limit = limit or Limit()
        self._rng = rng or np.random.default_rng()
        self._analysis_rng = self._rng.spawn(1)[0]  # looking at a game must not change what is played later
        self._resign_below = resign_below

    @property
    def name(self) -> str:
        return self._name

    def decide(self, game: Game, limit: Limit) -> Decision:
        """What the search finds, unless a pass wins the game or all is lost."""
        if wins_by_passing(game):
            return Decision(PASS, comment="the board as it stands is won")
        result = self._search.search(game, stricter(self._limit, limit), self._rng)
        analysis = describe_result(result, game.to_play)
        if result.move == PASS:
            return Decision(PASS, analysis=analysis, comment="no sensible move is left")
        wins = result.black_wins if game.to_play == BLACK else 1 - result.black_wins
        resign = self._resign_below is not None and wins < self._resign_below
        return Decision(result.move, resign=resign, analysis=analysis)

    def analyze(self, game: Game, limit: Limit, stop: Event) -> Iterator[Analysis]:
        """Ever deeper analyses; with no limit at all it goes on until ``stop`` is set."""
        for result in self._results(game, limit, stop):
            yield describe_result(result, game.to_play)

    def _results(self, game: Game, limit: Limit, stop: Event) -> Iterator[SearchResult]:
        if not isinstance(self._search, DeepeningSearch):
            return iter([self._search.search(game, limit, self._analysis_rng)])
        limit = Limit(seconds=float("inf")) if limit == Limit() else limit
        return self._search.deepen(game, limit, self._analysis_rng, stop)


def stricter(first: Limit, second: Limit) -> Limit:
    """The limit that is reached when one of the two is."""
    return Limit(
        _least(first.simulations, second.simulations),
        _least(first.depth, second.depth),
        _least(first.seconds, second.seconds),
    )


def _least(first: Number | None, second: Number | None) -> Number | None:
    return second if first is None else first if second is None else min(first, second)


def describe_result(result: SearchResult, to_play: int) -> Analysis:
    """A search's result for display: the move found first, then the others by value or else by visits."""
    known = result.sweep if isinstance(result, SweepResult) else np.full(result.visits.size, np.nan, dtype=np.float32)
    moves = [move for move in moves_of(result.visits > 0) if move != result.move]
    moves.sort(key=lambda move: (-to_play * np.nan_to_num(known[move]), -result.visits[move]))
    others = [
        Candidate(move, None if np.isnan(known[move]) else float(known[move]), visits=int(result.visits[move]))
        for move in moves[: CANDIDATES_SHOWN - 1]
    ]
    best = Candidate(result.move, result.black_wins, visits=int(result.visits[result.move]), variation=result.variation)
    return Analysis((best, *others), result.black_wins)
