"""Any search as a player: it decides by looking ahead, passes sensibly, and resigns if it is given a bound.

It passes when the search finds nothing better, when a pass of the opponent's can be answered by one that wins, and when
a game is lost in which no point can change its owner. With a tree search it resigns when its chance of winning was
below the bound at several turns in succession, never early in a game, and only if it is far behind, so that a close
game is counted. A limit that it is handed and its own both count: whichever comes first.

What GTP offers of a player are the fields of its limit and of the settings of its search, under the dotted keys of a
player file; a field that can have one value alone, such as the kind of a search, is not among them.

>>> from katachi.core.contracts import Limit
>>> list_parameters("limit", Limit(seconds=2.0))
{'limit.simulations': None, 'limit.depth': None, 'limit.seconds': 2.0}
>>> change_parameter(Limit(), "simulations", "100")
Limit(simulations=100, depth=None, seconds=None)
"""

from __future__ import annotations

import types
from collections.abc import Collection, Iterator, Mapping
from copy import copy
from dataclasses import astuple, fields, is_dataclass, replace
from threading import Event
from typing import (
    TYPE_CHECKING,
    Any,
    Final,
    Literal,
    Protocol,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    runtime_checkable,
)

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ValidationError

from katachi.core.contracts import (
    Analysis,
    Ban,
    Candidate,
    Decision,
    Evaluator,
    Limit,
    Parameter,
    RankedEvaluator,
    Search,
    SearchResult,
    ValuingEvaluator,
)
from katachi.core.evaluators import moves_of
from katachi.features.planes import HIGHEST_RANK
from katachi.go.game import Game
from katachi.go.points import BLACK, PASS
from katachi.go.scoring import estimate_status
from katachi.players.asking import lower_bound
from katachi.search.clock import MAX_SECONDS
from katachi.search.one_ply import (
    PlayoutResult,
    PolicyResult,
    SweepResult,
    TreeResult,
    is_early,
    is_won_without_dead_stones,
    opponent_has_passed,
)
from katachi.search.settings import MAX_DEPTH, MAX_SIMULATIONS, MctsSettings, SearchSettings
from katachi.sgf.record import format_grade, parse_grade

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

SettingsT = TypeVar("SettingsT", bound="DataclassInstance | BaseModel")

_WORDS: Final[dict[str, bool | None]] = {"true": True, "false": False, "1": True, "0": False, "none": None}


def list_parameters(table: str, settings: DataclassInstance | BaseModel) -> dict[str, Parameter]:
    """The fields of settings that a text can change, by their dotted names."""
    found: dict[str, Parameter] = {}
    hints = get_type_hints(type(settings))
    for name, value in _values(settings).items():
        if get_origin(hints[name]) is Literal and len(get_args(hints[name])) == 1:
            continue
        if isinstance(value, Parameter):
            found[f"{table}.{name}"] = value
        elif isinstance(value, BaseModel) or (is_dataclass(value) and not isinstance(value, type)):
            found |= list_parameters(f"{table}.{name}", value)
    return found


def change_parameter(settings: SettingsT, name: str, text: str) -> SettingsT:
    """The settings with one field as a text says it; raises ValueError with a sentence if it cannot be that."""
    outer, _, inner = name.partition(".")
    if inner:
        value = change_parameter(getattr(settings, outer), inner, text)
    else:
        hint = get_type_hints(type(settings))[name]
        value = _parse(name, text, get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,))
    try:
        return type(settings)(**{**_values(settings), outer: value})
    except ValidationError as error:
        reason = error.errors()[0]["msg"].removeprefix("Value error, ")
        raise ValueError(f"{name} cannot be {text[:40]!r}: {reason[:200]}") from None


def _values(settings: DataclassInstance | BaseModel) -> dict[str, Any]:
    names = type(settings).model_fields if isinstance(settings, BaseModel) else [f.name for f in fields(settings)]
    return {name: getattr(settings, name) for name in names}


def _parse(name: str, text: str, kinds: tuple[type, ...]) -> Parameter:
    word = text.lower()
    if word in _WORDS and type(_WORDS[word]) in kinds:
        return _WORDS[word]
    for kind in kinds:
        if kind in (int, float):
            try:
                return kind(text)
            except ValueError:
                continue
    if str in kinds or text in (word for kind in kinds for word in get_args(kind)):
        return text
    raise ValueError(f"{name} cannot be {text[:40]!r}: it is {' or '.join(map(_describe, kinds))}")


def _describe(kind: Any) -> str:
    if get_origin(kind) is Literal:
        return " or ".join(get_args(kind))
    return "none" if kind is type(None) else {int: "an integer", float: "a number", bool: "true or false"}[kind]


def wins_by_passing(game: Game) -> bool:
    """Whether the opponent has just passed and the board as it stands is won, whatever becomes of open points.

    Dead stones are taken off where the rules want that.
    """
    return opponent_has_passed(game) and is_won_without_dead_stones(game)


_WON: Final = Decision(PASS, comment="the board as it stands is won")

# When a tree search gives up: at the last of so many own turns in succession that look lost, so many points behind.
_LOST_TURNS: Final = 3
_POINTS_BEHIND: Final = 0.5  # for each line of the board
# And when it passes in a lost game: where each point has one owner in so many playouts, there is nothing to play for.
_SETTLED: Final = 0.9
_LOST: Final = 0.05  # the chance of winning of who has no bound to resign at
_TURNS_REMEMBERED: Final = 10_000


@runtime_checkable
class DeepeningSearch(Search, Protocol):
    """A search that can report what it has found so far."""

    def deepen(
        self, game: Game, limit: Limit, rng: np.random.Generator, stop: Event | None = None
    ) -> Iterator[SearchResult]:
        """Yield ever better results until the limit is reached or ``stop`` is set."""
        ...


@runtime_checkable
class PreparingSearch(Search, Protocol):
    """A search that has something to load before it can begin."""

    def prepare(self, size: int) -> None: ...


@runtime_checkable
class TreeSearch(DeepeningSearch, PreparingSearch, Protocol):
    """A search whose tree can do without some moves, and can be grown while the opponent thinks."""

    def search(self, game: Game, limit: Limit, rng: np.random.Generator, stop: Event | None = None) -> SearchResult: ...

    def deepen(
        self,
        game: Game,
        limit: Limit,
        rng: np.random.Generator,
        stop: Event | None = None,
        *,
        bans: Collection[Ban] = (),
        stops_early: bool = False,
    ) -> Iterator[SearchResult]:
        """The same without banned moves, and if asked only until the best move is clear."""
        ...

    def ponder(self, game: Game, rng: np.random.Generator, stop: Event) -> None: ...


@runtime_checkable
class ResigningSearch(Search, Protocol):
    """A search that looks twice before a game is given up."""

    def is_lost(self, game: Game, below: float) -> bool:
        """Whether the chance of winning is below this for good."""
        ...


@runtime_checkable
class TunableSearch(Search, Protocol):
    """A search that says what it evaluates with and how; other settings build it anew."""

    @property
    def evaluator(self) -> Evaluator | None: ...

    @property
    def settings(self) -> SearchSettings: ...


class SearchPlayer:
    """Plays what a search finds. ``resign_below`` is the chance of winning under which it gives up; None never does."""

    def __init__(
        self,
        name: str,
        search: Search,
        limit: Limit | None = None,
        rng: np.random.Generator | None = None,
        resign_below: float | None = None,
        rank: int | str | None = None,
    ) -> None:
        """``rank`` is that which an evaluator of ranks was loaded with."""
        self._rank = rank
        self._name = name
        self._search = search
        self._limit = limit or Limit()
        self._rng = rng or np.random.default_rng()
        self._analysis_rng = self._rng.spawn(1)[0]  # looking at a game must not change what is played later
        self._resign_below = _check_share(resign_below)
        self._bans: Collection[Ban] = ()
        self._lost_turns: dict[int, None] = {}  # digests of games in which it was to play and looked lost

    @property
    def name(self) -> str:
        return self._name

    def decide(self, game: Game, limit: Limit) -> Decision:
        """What the search finds, unless a pass wins the game or all is lost."""
        return self.decide_until(game, limit, Event())

    def decide_until(self, game: Game, limit: Limit, stop: Event) -> Decision:
        """The same, or soon after ``stop`` is set what a tree search has found until then."""
        if self._bans:
            *_, last = self.think(game, limit, stop)
            return last
        if wins_by_passing(game):
            return _WON
        limit = stricter(self._limit, limit)
        if isinstance(self._search, TreeSearch):
            return self._conclude(game, self._search.search(game, limit, self._rng, stop))
        return self._conclude(game, self._search.search(game, limit, self._rng))

    def think(self, game: Game, limit: Limit, stop: Event) -> Iterator[Decision]:
        """The same, watched: what would be decided after each result of the search."""
        if self._may_pass(game) and wins_by_passing(game):
            yield _WON
            return
        for result in self._deepen(game, stricter(self._limit, limit), self._rng, stop, stops_early=True):
            yield self._conclude(game, result)

    def _conclude(self, game: Game, result: SearchResult) -> Decision:
        analysis = describe_result(result, game.to_play)
        if result.move == PASS:
            return Decision(PASS, analysis=analysis, comment="there is nothing better than a pass")
        wins = result.black_wins if game.to_play == BLACK else 1 - result.black_wins
        resigns = self._resigns(game, wins, result)
        if not resigns and self._is_over(game, wins, result):
            return Decision(PASS, analysis=analysis, comment="the game is lost, and nothing is open")
        return Decision(result.move, resign=resigns, analysis=analysis)

    def _is_over(self, game: Game, wins: float, result: SearchResult) -> bool:
        """Whether a tree search finds a game lost and each point in firm hands, without the move that it found, too."""
        if not isinstance(result, TreeResult) or result.ownership is None or wins >= (self._resign_below or _LOST):
            return False
        if not self._may_pass(game) or np.abs(result.ownership).min() < _SETTLED:
            return False
        return bool(np.abs(estimate_status(game.board).ownership).min() >= _SETTLED)

    def _may_pass(self, game: Game) -> bool:
        return not any(ban[:2] == (game.to_play, PASS) for ban in self._bans)

    def _resigns(self, game: Game, wins: float, result: SearchResult) -> bool:
        below = self._resign_below
        if below is None:
            return False
        if isinstance(result, TreeResult):
            looks_lost = wins < below and not is_early(game)
            lead = -np.inf if result.black_lead is None else game.to_play * result.black_lead
            return self._was_lost(game, looks_lost) and lead <= -_POINTS_BEHIND * game.size
        return wins < below and (not isinstance(self._search, ResigningSearch) or self._search.is_lost(game, below))

    def _was_lost(self, game: Game, looks_lost: bool) -> bool:
        """Whether the game looks lost now and looked lost at the last own turns; remembers what it looks like now."""
        steps = tuple(game.steps)
        self._lost_turns.pop(hash(steps), None)
        if looks_lost:
            self._lost_turns[hash(steps)] = None
        while len(self._lost_turns) > _TURNS_REMEMBERED:
            del self._lost_turns[next(iter(self._lost_turns))]
        ends = range(len(steps), -1, -2)[:_LOST_TURNS]
        return len(ends) == _LOST_TURNS and all(hash(steps[:end]) in self._lost_turns for end in ends)

    def analyze(self, game: Game, limit: Limit, stop: Event | None) -> Iterator[Analysis]:
        """Ever deeper analyses; with no limit at all it continues until ``stop`` is set."""
        if limit == Limit() and isinstance(self._search, DeepeningSearch):
            limit = Limit(seconds=float("inf"))
        for result in self._deepen(game, limit, self._analysis_rng, stop, stops_early=False):
            yield describe_result(result, game.to_play)

    def _deepen(
        self, game: Game, limit: Limit, rng: np.random.Generator, stop: Event | None, *, stops_early: bool
    ) -> Iterator[SearchResult]:
        """Ever better results, or the one there is."""
        if isinstance(self._search, TreeSearch):
            return self._search.deepen(game, limit, rng, stop, bans=self._bans, stops_early=stops_early)
        if isinstance(self._search, DeepeningSearch):
            return self._search.deepen(game, limit, rng, stop)
        return iter([self._search.search(game, limit, rng)])

    def without(self, bans: Collection[Ban]) -> SearchPlayer:
        """The same player, whose tree search does not look at these moves; other searches look at all."""
        player = copy(self)
        player._bans = bans
        return player

    def ponder(self, game: Game, stop: Event) -> None:
        """Grow the tree until ``stop`` is set; does nothing with a search that has none."""
        if isinstance(self._search, TreeSearch):
            self._search.ponder(game, self._analysis_rng, stop)

    def prepare(self, size: int) -> None:
        """Load what the search needs, if it needs much."""
        if isinstance(self._search, PreparingSearch):
            self._search.prepare(size)

    @property
    def evaluator(self) -> Evaluator | None:
        """What the search evaluates with."""
        return self._search.evaluator if isinstance(self._search, TunableSearch) else None

    @property
    def parameters(self) -> Mapping[str, Parameter]:
        """Its limit, when it resigns, and the settings of its search, by the keys of its TOML file."""
        settings = list_parameters("search", self._search.settings) if isinstance(self._search, TunableSearch) else {}
        if isinstance(self.evaluator, RankedEvaluator) and self.evaluator.lowest_rank is not None:
            settings["evaluator.rank"] = self._rank
        return {**list_parameters("limit", self._limit), "resign_below": self._resign_below, **settings}

    def set_parameter(self, name: str, text: str) -> None:
        """Change one; the next move is searched with it."""
        table, _, key = name.partition(".")
        if name not in self.parameters:
            raise ValueError(f"{self._name} has no parameter {name!r}; it has {', '.join(self.parameters)}")
        if table == "limit":
            self._limit = _check_limit(change_parameter(self._limit, key, text))
        elif isinstance(self._search, TunableSearch) and table == "search":
            self._search = change_parameter(self._search.settings, key, text).build(self._search.evaluator)
        elif isinstance(self._search, TunableSearch) and isinstance(self.evaluator, RankedEvaluator) and key == "rank":
            self._search = self._search.settings.build(self.evaluator.at_rank(parse_rank(text, self.evaluator)))
            self._rank = text
        else:
            self._resign_below = _check_share(None if text == "none" else float(text))


class Mcts(SearchPlayer):
    """The tree search in a script: a player that can be asked for its tree, too.

    An evaluator is a model or any object with ``evaluate(boards)``; without one there are playouts alone. Its policy is
    the prior of the moves, and its value is ``value_share`` (one half) of the value of a leaf; the rest is a playout's.
    It is asked once for each new node. All simulations are done, by one thread, so that the same seed finds the same;
    ``settings`` are those of ``MctsSettings``, and may change all that. What goes wrong in an evaluator is raised.

    >>> Mcts(simulations=50, seed=1).search(Game(5)).visits.shape
    (26,)
    """

    def __init__(
        self,
        evaluator: Evaluator | None = None,
        *,
        simulations: int | None = 1000,
        seconds: float | None = None,
        seed: int | None = None,
        name: str = "mcts",
        **settings: Any,
    ) -> None:
        from katachi.core.training import check_settings

        search = check_settings(MctsSettings, {**_usual_settings(evaluator), **settings}).build(evaluator)
        limit = _check_limit(Limit(simulations=simulations, seconds=seconds))
        super().__init__(name, search, limit, np.random.default_rng(seed))
        self._checked_sizes: set[int] = set()

    def search(self, game: Game, limit: Limit | None = None) -> TreeResult:
        """What the tree holds in the end: the move, its value, visits, what is expected to follow, who owns what."""
        self._check_evaluator(game)
        return self._intact(game, self._search.search(game, stricter(self._limit, limit or Limit()), self._rng))

    def decide_until(self, game: Game, limit: Limit, stop: Event) -> Decision:
        self._check_evaluator(game)
        return super().decide_until(game, limit, stop)

    def _conclude(self, game: Game, result: SearchResult) -> Decision:
        return super()._conclude(game, self._intact(game, result))

    def _check_evaluator(self, game: Game) -> None:
        """Raise ConformanceError at once if an evaluator does not keep its contract on boards of this size."""
        from katachi.core.conformance import check_evaluator

        if self.evaluator is not None and game.size not in self._checked_sizes:
            check_evaluator(self.evaluator, games=[game], deterministic=False)
            self._checked_sizes.add(game.size)

    def _intact(self, game: Game, result: SearchResult) -> TreeResult:
        assert isinstance(result, TreeResult)
        if result.warning and self.evaluator is not None:
            self.evaluator.evaluate([game.board])  # raises what went wrong, if it does so again
            raise RuntimeError(result.warning)
        return result


def _usual_settings(evaluator: Evaluator | None) -> dict[str, Any]:
    usual = {"threads": 1, "stops_early": False}
    if evaluator is None:
        return usual
    has_values = not isinstance(evaluator, ValuingEvaluator) or evaluator.values_positions
    return {**usual, "priors": "synchronous", "expand_after": 0, "value_share": 0.5 if has_values else 0.0}


def _check_share(resign_below: float | None) -> float | None:
    if resign_below is not None and not 0 <= resign_below < 1:
        raise ValueError(f"resign_below {resign_below} is not at least 0 and below 1")
    return resign_below


def parse_rank(text: str, evaluator: RankedEvaluator) -> int:
    """The grade of a rank such as 5, 5d or 15k; raises ValueError if the evaluator does not know it."""
    grade, lowest = parse_grade(text), evaluator.lowest_rank
    if lowest is None or not lowest <= grade <= HIGHEST_RANK:
        known = f"from {format_grade(lowest or 1)} to {format_grade(HIGHEST_RANK)}"
        raise ValueError(f"evaluator.rank cannot be {text[:40]!r}: it is a rank {known}")
    return grade


def _check_limit(limit: Limit) -> Limit:
    for value, most in zip(astuple(limit), (MAX_SIMULATIONS, MAX_DEPTH, MAX_SECONDS), strict=True):
        if value is not None and not 0 < value <= most:
            raise ValueError(f"{value:g} is not above 0 and at most {most:g}")
    return limit


def stricter(first: Limit, second: Limit) -> Limit:
    """The limit that is reached when one of the two is."""
    pairs = zip(astuple(first), astuple(second), strict=True)
    return Limit(*(min((value for value in pair if value is not None), default=None) for pair in pairs))


def describe_result(result: SearchResult, to_play: int) -> Analysis:
    """A search's result for display: the move found first, then the others by lower bound, prior or value."""
    if isinstance(result, TreeResult):
        result = _steady(result)
    moves = [move for move in moves_of(result.visits > 0) if move != result.move]
    worth: list[float] = _worth(result, to_play).tolist()
    moves.sort(key=lambda move: -worth[move])
    candidates = tuple(_candidate(result, move) for move in (result.move, *moves))
    if isinstance(result, PlayoutResult | PolicyResult):
        wins, error = (result.root_wins, result.error) if isinstance(result, TreeResult) else (None, 0.0)
        wins = result.black_wins if wins is None else wins
        return Analysis(candidates, wins, result.black_lead, result.ownership, error)
    return Analysis(candidates, result.black_wins)


def _steady(result: TreeResult) -> TreeResult:
    """A tree's result with the values of moves drawn to that of the position, the more the less they were visited.

    Else the luckiest of many moves that were tried once would be shown as the best.
    """
    if result.root_wins is None or not result.sweep.size:
        return result
    trust = result.visits / (result.visits + result.doubt)
    sweep = result.root_wins + trust * (result.sweep - result.root_wins)
    leads = result.leads
    if result.black_lead is not None and leads.size:
        leads = result.black_lead + trust * (leads - result.black_lead)
    return replace(result, black_wins=float(sweep[result.move]), sweep=sweep, leads=leads)


def _worth(result: SearchResult, to_play: int) -> NDArray[Any]:
    """What moves are sorted by, [n²+1]."""
    if isinstance(result, PolicyResult):
        return result.priors
    if isinstance(result, TreeResult) and result.sweep.size:
        wins = np.nan_to_num(result.sweep if to_play == BLACK else 1 - result.sweep)
        return np.array([lower_bound(*pair) for pair in zip(wins.tolist(), result.visits.tolist(), strict=True)])
    if isinstance(result, SweepResult):
        return to_play * np.nan_to_num(result.sweep)
    return result.visits


def _candidate(result: SearchResult, move: int) -> Candidate:
    value: float | None = result.black_wins
    variation = result.variation
    if move != result.move:
        known = float(result.sweep[move]) if isinstance(result, SweepResult) else np.nan
        value, variation = None if np.isnan(known) else known, ()
    visits = int(result.visits[move])
    if not isinstance(result, TreeResult):
        prior = float(result.priors[move]) if isinstance(result, PolicyResult) else None
        return Candidate(move, value, prior, visits, variation)
    lead = float(result.leads[move]) if result.leads.size else np.nan
    return Candidate(
        move,
        value,
        float(result.priors[move]),
        visits,
        result.variations.get(move, variation),
        None if np.isnan(lead) else lead,
        result.variation_visits.get(move, ()),
    )
