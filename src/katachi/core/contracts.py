"""The contracts between the parts of katachi, and the small records that they exchange.

An *evaluator* evaluates boards, a *search* looks ahead with one, a *player* decides. Each works with every other
because all of them meet the protocols below and nothing else. Values that cross a module are P(Black wins), called
``black_wins``; a policy has ``size² + 1`` entries with pass last, so that ``policy[move]`` is right for every size.

``katachi.core.conformance`` checks any object against these contracts.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Event
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from katachi.go.board import Board
from katachi.go.game import Game
from katachi.go.kernels.board import OFF
from katachi.go.points import PASS

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]
Ints = NDArray[np.int64]
Parameter = bool | int | float | str | None


@dataclass(frozen=True, slots=True)
class Limit:
    """When a search stops: at whichever comes first. None does not limit."""

    simulations: int | None = None
    depth: int | None = None
    seconds: float | None = None


class Evaluation(NamedTuple):
    """What an evaluator says about B boards: rows of ``policy`` sum to 1, illegal moves have 0, pass is last."""

    black_wins: Floats  # [B]
    policy: Floats  # [B, n²+1]


@runtime_checkable
class Evaluator(Protocol):
    """Evaluates a batch of boards of one size and leaves them unchanged."""

    def evaluate(self, boards: Sequence[Board]) -> Evaluation: ...


@runtime_checkable
class AfterstateEvaluator(Evaluator, Protocol):
    """Values every legal move in one sweep, as greedy play wants it."""

    def evaluate_afterstates(self, board: Board) -> Doubles:
        """P(Black wins) after each move, [n²+1]; NaN where the move is illegal."""
        ...


@runtime_checkable
class LogOddsEvaluator(AfterstateEvaluator, Protocol):
    """Tells moves apart even where P(Black wins) is 1 to the last digit of all of them, as a sum of weights can."""

    def afterstate_log_odds(self, board: Board) -> Doubles:
        """log(P / (1 − P)) of the same sweep, as far as it goes; NaN where the move is illegal."""
        ...


@runtime_checkable
class CompiledEvaluator(Evaluator, Protocol):
    """Can be called inside a compiled search: ``kernel(records, parameters) -> float64`` is a compiled function.

    Its types are fixed, so that one compilation of a search serves all evaluators: BOARD records, and parameters
    ``(int32[::1], float32[::1])``.
    """

    @property
    def kernel(self) -> Any: ...

    @property
    def parameters(self) -> tuple[NDArray[Any], ...]: ...


@runtime_checkable
class OwnershipEvaluator(Evaluator, Protocol):
    """Says who will own each point."""

    def ownership(self, boards: Sequence[Board]) -> Floats:
        """[B, n²] in [−1, 1], +1 is Black's."""
        ...


class Outcome(NamedTuple):
    """What is expected to become of B boards."""

    black_wins: Floats  # [B]
    doubt: Floats  # [B], the root of the mean square by which the outcome, 0 or 1, is expected to differ from it
    black_lead: Floats  # [B], expected score, komi included
    lead_spread: Floats  # [B], the standard deviation of the score
    ownership: Floats  # [B, n²] in [−1, 1], +1 is Black's


@runtime_checkable
class OutcomeEvaluator(OwnershipEvaluator, Protocol):
    """Says who wins, by how much, and who owns what, for any komi; on its own it takes a usual one."""

    def at_komi(self, komi: float) -> OutcomeEvaluator:
        """The same evaluator for games with another komi: what Black's area must exceed."""
        ...

    def predict_outcome(self, boards: Sequence[Board]) -> Outcome: ...

    def evaluate_outcomes(self, boards: Sequence[Board]) -> tuple[Evaluation, Outcome]:
        """What ``evaluate`` and ``predict_outcome`` say, for less work if it can be done together."""
        ...


@runtime_checkable
class ValuingEvaluator(Evaluator, Protocol):
    """Says whether it values positions: where it does not, its ``black_wins`` is one half of every board.

    An evaluator that does not say values them.
    """

    @property
    def values_positions(self) -> bool: ...


@runtime_checkable
class RankedEvaluator(Evaluator, Protocol):
    """Predicts what people would play: those of a rank, if it was trained with ranks, or else people in general."""

    @property
    def lowest_rank(self) -> int | None:
        """The grade of the weakest players that it knows, 1 for 1 dan, 0 for 1 kyu; None if it knows no ranks."""
        ...

    def at_rank(self, rank: int) -> RankedEvaluator:
        """The same evaluator asked about players of another grade; as it is if it knows no ranks."""
        ...


@runtime_checkable
class RankedOutcomeEvaluator(RankedEvaluator, OutcomeEvaluator, Protocol):
    """Predicts both what people play and what becomes of it."""


@runtime_checkable
class FeatureSet(Protocol):
    """A numbered set of features of a board. Occurrences may be negative or real."""

    @property
    def name(self) -> str: ...

    @property
    def size(self) -> int: ...

    def active(self, board: Board) -> tuple[Ints, Floats]:
        """The indices of the features that are not zero on this board, and their occurrences."""
        ...

    def describe(self, index: int) -> str: ...


class Placements(NamedTuple):
    """Every occurrence of a feature on a board, as the player who has just moved sees it, and where it is."""

    indices: Ints  # [P] of the features
    signs: NDArray[np.int8]  # [P] −1 where a feature counts for its color inverse
    cells: Ints  # [P, k] points, OFF behind the last

    def spread(self, weights: Floats, size: int) -> Doubles:
        """What the features add to the logit of the mover, each in equal parts over its points, [n²]."""
        inside = self.cells != OFF
        shares = weights[self.indices].astype(np.float64) * self.signs / inside.sum(axis=1)
        spread: Doubles = np.zeros(size * size)
        np.add.at(spread, self.cells[inside], np.broadcast_to(shares[:, None], inside.shape)[inside])
        return spread

    def places_of(self, index: int) -> list[tuple[int, ...]]:
        """The points of every occurrence of a feature."""
        rows = self.cells[self.indices == index]
        return [tuple(sorted(row[row != OFF].tolist())) for row in rows]


@runtime_checkable
class PlacedFeatures(FeatureSet, Protocol):
    """Features that lie somewhere on a board, and consist of stones."""

    def place(self, board: Board) -> Placements:
        """All features on a board and where they are."""
        ...

    def stones_of(self, index: int) -> frozenset[int] | None:
        """The colors of the stones of a feature, BLACK is the mover; None where many share a weight."""
        ...


@runtime_checkable
class LinearEvaluator(Evaluator, Protocol):
    """Evaluates by a sum of features, so that it can be said what each of them adds."""

    @property
    def features(self) -> FeatureSet: ...

    @property
    def weights(self) -> Floats: ...


class WindowValues(NamedTuple):
    """The 3×3 windows of a board, and what each adds to the logit of the player who has just moved."""

    board_size: int
    cells: NDArray[np.uint16]  # [W, 9] cell i counts 3^i: 0 empty, 1 the mover's, 2 the opponent's
    class_of: Ints  # [W]
    values: Doubles  # [classes, 3^9] by code


@runtime_checkable
class WindowEvaluator(Evaluator, Protocol):
    """Evaluates boards of one size by a sum over their 3×3 windows, for searches that look at windows themselves."""

    def window_values(self) -> WindowValues:
        """What each window is worth; raises ValueError if windows are not all that counts."""
        ...


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The move found, its value, visits [n²+1], and the variation that is expected to follow, the move first."""

    move: int
    black_wins: float
    visits: Ints
    variation: tuple[int, ...] = ()


@runtime_checkable
class Search(Protocol):
    """Looks ahead with an evaluator. Keeps no game between calls; a reused tree is a private cache."""

    def search(self, game: Game, limit: Limit, rng: np.random.Generator) -> SearchResult: ...


@dataclass(frozen=True, slots=True)
class Candidate:
    """A move that was considered, with whatever is known of it."""

    move: int
    black_wins: float | None = None
    prior: float | None = None
    visits: int = 0
    variation: tuple[int, ...] = ()
    black_lead: float | None = None  # expected score after the move, komi included
    variation_visits: tuple[int, ...] = ()  # of each move of the variation, if they were counted


@dataclass(frozen=True, slots=True)
class Analysis:
    """What a player thinks of a position: candidates best first, and the whole board if it knows."""

    candidates: tuple[Candidate, ...]
    black_wins: float | None = None
    black_lead: float | None = None  # expected score, komi included
    ownership: Floats | None = None  # [n²], +1 is Black's
    error: float = 0.0  # the standard error of black_wins, as far as it comes from what was drawn at random


@dataclass(frozen=True, slots=True)
class Decision:
    """A move, a pass or a resignation, and what may be shown about it."""

    move: int = PASS
    resign: bool = False
    analysis: Analysis | None = None
    comment: str = ""


@runtime_checkable
class Player(Protocol):
    """Decides on a move. **A player holds no game**: it is handed one, and must leave it as it was."""

    @property
    def name(self) -> str: ...

    def decide(self, game: Game, limit: Limit) -> Decision: ...


@runtime_checkable
class AnalyzingPlayer(Player, Protocol):
    """Can say more and more about a position until it has to stop."""

    def analyze(self, game: Game, limit: Limit, stop: Event | None) -> Iterator[Analysis]:
        """Yield ever better analyses until ``stop`` is set or the limit reached; without it, speed changes nothing."""
        ...


@runtime_checkable
class ThinkingPlayer(Player, Protocol):
    """Can be watched, and hurried, while it decides."""

    def think(self, game: Game, limit: Limit, stop: Event) -> Iterator[Decision]:
        """Yield ever better decisions, at least one; the last is the one, soon after ``stop`` is set at the latest."""
        ...


@runtime_checkable
class InterruptiblePlayer(Player, Protocol):
    """Can be asked to make its move now."""

    def decide_until(self, game: Game, limit: Limit, stop: Event) -> Decision:
        """What ``decide`` decides; soon after ``stop`` is set, the best that was found until then."""
        ...


class Ban(NamedTuple):
    """A move that a color is not to consider in the first ``depth`` moves from the position on."""

    color: int
    move: int
    depth: int = 1


@runtime_checkable
class SelectivePlayer(Player, Protocol):
    """Can leave out moves that are out of the question."""

    def without(self, bans: Collection[Ban]) -> Player:
        """The same player, for whom these moves do not exist as long as there is another, or the pass."""
        ...


@runtime_checkable
class PonderingPlayer(Player, Protocol):
    """Can think while it is the opponent's turn."""

    def ponder(self, game: Game, stop: Event) -> None:
        """Think ahead about a game until soon after ``stop`` is set; what it is good for shows in the next decision."""
        ...


@runtime_checkable
class PreparingPlayer(Player, Protocol):
    """Has something to load before it can decide, which is better done before a clock runs."""

    def prepare(self, size: int) -> None:
        """Do now what the first decision on a board of that size would otherwise wait for; decisions stay the same."""
        ...


@runtime_checkable
class EvaluatingPlayer(Player, Protocol):
    """Decides with an evaluator that others may ask, too."""

    @property
    def evaluator(self) -> Evaluator | None: ...


@runtime_checkable
class TunablePlayer(Player, Protocol):
    """Has settings that may be changed between its moves."""

    @property
    def parameters(self) -> Mapping[str, Parameter]: ...

    def set_parameter(self, name: str, text: str) -> None:
        """Change a parameter to what a text says; raises ValueError with a sentence if it cannot be that."""
        ...


@runtime_checkable
class ClosingPlayer(Player, Protocol):
    """Holds something, such as a process, that must be let go."""

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Metrics:
    """What one learning step reports."""

    values: Mapping[str, float] = field(default_factory=dict)


@runtime_checkable
class Learner(Protocol):
    """Learns from a batch. Deliberately thin: each training loop stays a visible ``for``."""

    def update(self, batch: Any) -> Metrics: ...

    def state_dict(self) -> Mapping[str, NDArray[Any]]: ...
