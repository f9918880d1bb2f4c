"""Any player as an engine of KataGo's analysis protocol: JSON queries in, JSON answers out, a line each.

One position is analyzed at a time, since players use all cores by themselves: of those that wait, one of the highest
priority, the earliest of these. Lines are read on a thread of their own, so that a query can come, or be terminated,
at any time. Every turn that a query asks for ends with exactly one answer that is not ``isDuringSearch``, or an
error.
"""

# ruff: noqa: N815 - the fields of a query have KataGo's names

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from hashlib import blake2b
from heapq import heapify, heappop, heappush
from itertools import count
from threading import Condition, Event, Lock, Thread
from typing import Annotated, Any, BinaryIO, Final

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from katachi.core.contracts import Analysis, Ban, Candidate, Evaluator, Limit, Player, RankedEvaluator, ValuingEvaluator
from katachi.core.disk import parse_json
from katachi.go.board import Board, Illegality, IllegalMove
from katachi.go.game import Game
from katachi.go.points import BLACK, PASS, WHITE, Symmetry, format_vertex, parse_color, parse_vertex
from katachi.go.rules import HandicapBonus, Rules, RulesError, parse_rules
from katachi.gtp.commands.admin import engine_version
from katachi.gtp.protocol import Line
from katachi.gtp.serving import describe_error, read_lines, write_all
from katachi.gtp.session import bound_of, lead_of, play_tolerantly, total_visits, win_rate
from katachi.players import asking
from katachi.players.search_player import parse_rank

# Queries: JSON objects that name a game, its turns to analyze, and what to report of them.
#
# A query is checked as a whole before anything is analyzed. What is wrong with it is a ``QueryError`` with the field;
# fields that exist in KataGo but change nothing here, and fields that exist nowhere, are named in warnings.

_SIZES: Final = range(2, 20)
_COORDINATES: Final = re.compile(r"\(([0-9]{1,2}),([0-9]{1,2})\)")
_TOLERATED: Final = (Illegality.SUPERKO, Illegality.SUICIDE)  # other rules than the query's may have allowed it
_MANY: Final = 2**50
_PROFILE: Final = re.compile(r"(?:rank|preaz)_([0-9]{1,2}[kd])")


class QueryError(ValueError):
    """What is wrong with a query, and in which field."""

    def __init__(self, message: str, field_name: str) -> None:
        super().__init__(message)
        self.field_name = field_name


class Perspective(Enum):
    """Whose win rates, leads and points are positive."""

    BLACK = "BLACK"
    WHITE = "WHITE"
    SIDE_TO_MOVE = "SIDETOMOVE"

    def color(self, to_play: int) -> int:
        return {Perspective.BLACK: BLACK, Perspective.WHITE: WHITE}.get(self, to_play)


@dataclass(frozen=True, slots=True)
class Query:
    """A query that can be answered: what was asked, and what follows from it."""

    form: _QueryForm
    start: Game
    plays: tuple[tuple[int, int], ...]  # color and move
    turns: Mapping[int, int]  # with the priority of each
    limit: Limit
    perspective: Perspective
    rank: str | None = None  # of the people whose moves are predicted
    bans: Sequence[Ban] = ()
    warnings: Sequence[tuple[str, str]] = ()  # a sentence, and the field that it is about

    @property
    def id(self) -> str:
        return self.form.id

    def position(self, turn: int) -> Game:
        """The game after so many of its moves."""
        game = self.start.copy()
        for color, move in self.plays[:turn]:
            play_tolerantly(game, move, color, _TOLERATED)
        if turn < len(self.plays):
            game.to_play = self.plays[turn][0]
        return game


@dataclass(frozen=True, slots=True)
class Defaults:
    """What holds where a query does not say."""

    limit: Limit = field(default_factory=lambda: Limit(simulations=500))
    perspective: Perspective = Perspective.BLACK


# The form


def _read_color(value: object) -> int:
    if not isinstance(value, str):
        raise ValueError("it must be B or W")
    return parse_color(value)


Color = Annotated[int, BeforeValidator(_read_color)]
ColoredMoves = list[tuple[Color, str]]


class _Form(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True, allow_inf_nan=False)


class _Restriction(_Form):
    player: Color
    moves: list[str]
    untilDepth: int = Field(ge=1)


class _QueryForm(_Form):
    """The fields, under KataGo's names. Those of the last block are checked, and change nothing."""

    id: str
    moves: ColoredMoves
    rules: str | dict[str, Any]
    boardXSize: int
    boardYSize: int
    initialStones: ColoredMoves = []
    initialPlayer: Color | None = None
    komi: float | None = Field(default=None, ge=-150, le=150, multiple_of=0.5)
    whiteHandicapBonus: str | int | None = None
    analyzeTurns: list[int] | None = None
    maxVisits: int | None = Field(default=None, ge=1, le=_MANY)
    priority: int = Field(default=0, ge=-(2**62), le=2**62)
    priorities: list[int] | None = None
    includeOwnership: bool = False
    includeOwnershipStdev: bool = False
    includeMovesOwnership: bool = False
    includePolicy: bool = False
    includePVVisits: bool = False
    reportDuringSearchEvery: float | None = Field(default=None, ge=0.001, le=1e6)
    avoidMoves: list[_Restriction] = []
    allowMoves: list[_Restriction] = Field(default=[], max_length=1)
    overrideSettings: dict[str, Any] = {}

    includeMovesOwnershipStdev: bool = False
    includeNoResultValue: bool = False
    rootPolicyTemperature: float | None = Field(default=None, gt=0)
    rootFpuReductionMax: float | None = Field(default=None, ge=0)
    firstReportDuringSearchAfter: float | None = Field(default=None, ge=0.001, le=1e6)


# From the form to a query


def parse_query(text: bytes, defaults: Defaults) -> Query:
    """Read a line that holds a JSON object; raises QueryError."""
    try:
        form = _QueryForm.model_validate_json(text)
    except ValidationError as error:
        raise _explain(error) from None
    return _build(form, parse_json(text), defaults)


def _explain(error: ValidationError) -> QueryError:
    """The first thing that is wrong."""
    first = error.errors(include_url=False)[0]
    where = [str(part) for part in first["loc"]] or ["query"]
    place = f" ({'.'.join(where)})" if len(where) > 1 else ""
    return QueryError(f"{first['msg'].removeprefix('Value error, ')}{place}", where[0])


def _build(form: _QueryForm, given: Mapping[str, Any], defaults: Defaults) -> Query:
    size = _size(form)
    start = _start(form, size)
    plays = tuple((color, _move(text, size, "moves")) for color, text in form.moves)
    _check_legal(start, plays, form)
    settings = dict(form.overrideSettings)
    rank = _rank(settings.pop("humanSLProfile", ""))
    limit, perspective, unused = _settings(form, settings, defaults)
    warnings = [("Unexpected or unused field", name) for name in given if name not in _QueryForm.model_fields]
    warnings += [("Unknown setting: " + name, "overrideSettings") for name in unused]
    return Query(form, start, plays, _turns(form), limit, perspective, rank, _bans(form, size), warnings)


def _size(form: _QueryForm) -> int:
    if form.boardXSize not in _SIZES:
        raise QueryError("Must be from 2 to 19", "boardXSize")
    if form.boardYSize != form.boardXSize:
        raise QueryError("katachi plays on square boards: must be equal to boardXSize", "boardYSize")
    return form.boardXSize


def _start(form: _QueryForm, size: int) -> Game:
    game = Game(size, _rules(form))
    stones = {_move(text, size, "initialStones"): color for color, text in form.initialStones}
    if PASS in stones:
        raise QueryError("A pass is not a stone", "initialStones")
    black, white = ([point for point, color in stones.items() if color == wanted] for wanted in (BLACK, WHITE))
    to_play = form.initialPlayer or (form.moves[0][0] if form.moves else None)
    to_play = to_play or (WHITE if len(black) >= 2 and not white else BLACK)
    if not stones:
        game.to_play = to_play
        return game
    try:
        game.setup(black, white, to_play=to_play)
    except ValueError as error:
        raise QueryError(str(error), "initialStones") from None
    return game


def _rules(form: _QueryForm) -> Rules:
    try:
        rules = parse_rules(form.rules if isinstance(form.rules, str) else json.dumps(form.rules), form.komi)
    except RulesError as error:
        raise QueryError(str(error), "rules") from None
    if form.whiteHandicapBonus is None:
        return rules
    try:
        return replace(rules, handicap_bonus=HandicapBonus(str(form.whiteHandicapBonus)))
    except ValueError:
        raise QueryError("Must be 0, N or N-1", "whiteHandicapBonus") from None


def _move(text: str, size: int, field_name: str) -> int:
    """A vertex, ``pass``, or ``(x,y)`` from the top left."""
    match = _COORDINATES.fullmatch(text)
    try:
        if match is None:
            return parse_vertex(text, size)
        x, y = int(match[1]), int(match[2])
        if x >= size or y >= size:
            raise ValueError(f"{text} is off the {size}×{size} board")
        return y * size + x
    except ValueError as error:
        raise QueryError(f"Could not parse move: {error}", field_name) from None


def _check_legal(start: Game, plays: Sequence[tuple[int, int]], form: _QueryForm) -> None:
    game = start.copy()
    for number, (color, move) in enumerate(plays):
        try:
            play_tolerantly(game, move, color, _TOLERATED)
        except IllegalMove as error:
            text = form.moves[number][1]
            raise QueryError(f"Illegal move {number}: {text} ({error.reason.value})", "moves") from None


def _turns(form: _QueryForm) -> dict[int, int]:
    last = len(form.moves)
    turns = [last] if form.analyzeTurns is None else form.analyzeTurns
    if not all(0 <= turn <= last for turn in turns):
        raise QueryError(f"Must be turns from 0 to {last}", "analyzeTurns")
    priorities = [form.priority] * len(turns) if form.priorities is None else form.priorities
    if len(priorities) != len(turns):
        raise QueryError("Must be as many as analyzeTurns", "priorities")
    return dict(zip(turns, priorities, strict=True))


def _rank(profile: Any) -> str | None:
    """The rank of a profile of KataGo's: rank_5k, or preaz_5k, which is the same here."""
    match = _PROFILE.fullmatch(str(profile))
    if profile and match is None:
        raise QueryError(f"humanSLProfile cannot be {profile!r}: say rank_5k, rank_1d or the like", "overrideSettings")
    return match[1] if match else None


def _settings(form: _QueryForm, settings: dict[str, Any], defaults: Defaults) -> tuple[Limit, Perspective, list[str]]:
    """How long to look, whose numbers to report, and the settings that say nothing to us."""
    limit, perspective = defaults.limit, defaults.perspective
    visits = [form.maxVisits, *(_positive(settings.pop(key, None), key) for key in ("maxVisits", "maxPlayouts"))]
    if known := [int(number) for number in visits if number is not None]:
        limit = replace(limit, simulations=max(1, min(known)))
    seconds = _positive(settings.pop("maxTime", None), "maxTime")
    limit = limit if seconds is None else replace(limit, seconds=seconds)
    if "reportAnalysisWinratesAs" in settings:
        text = settings.pop("reportAnalysisWinratesAs")
        try:
            perspective = Perspective(str(text).upper())
        except ValueError:
            raise QueryError(f"{text!r} is neither BLACK, WHITE nor SIDETOMOVE", "overrideSettings") from None
    return limit, perspective, list(settings)


def _positive(value: Any, name: str) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= _MANY:
        raise QueryError(f"{name} must be a number above 0", "overrideSettings")
    return value


def _bans(form: _QueryForm, size: int) -> list[Ban]:
    bans: list[Ban] = []
    for avoided in form.avoidMoves:
        moves = [_move(text, size, "avoidMoves") for text in avoided.moves]
        bans += [Ban(avoided.player, move, avoided.untilDepth) for move in moves]
    for allowed in form.allowMoves:
        moves = [_move(text, size, "allowMoves") for text in allowed.moves]
        bans += asking.ban_others(allowed.player, moves, allowed.untilDepth, size)
    return bans


# Answers: an analysis as a JSON object with KataGo's field names.
#
# What a player does not know is left out, and a warning says so; but visits that nobody counted are 1. The score after
# a move is that of the position unless the player knows better. A player that cannot say who wins is an error.

Answer = dict[str, Any]


def describe_nothing(query: Query, turn: int) -> Answer:
    """The answer to a turn that was terminated before it was looked at."""
    return {"id": query.id, "turnNumber": turn, "isDuringSearch": False, "noResults": True}


def describe_analysis(
    query: Query, turn: int, game: Game, analysis: Analysis, evaluator: Evaluator | None, *, is_during_search: bool
) -> Answer:
    """The answer about a turn; raises QueryError if something is wanted that the evaluator cannot tell."""
    view = query.perspective.color(game.to_play)
    candidates = asking.Selection(list(query.bans)).choose(analysis.candidates, game)
    answer: Answer = {
        "id": query.id,
        "turnNumber": turn,
        "isDuringSearch": is_during_search,
        "moveInfos": [
            _describe_candidate(candidate, game.size, order, variation_visits=query.form.includePVVisits)
            | _values(analysis, candidate, visits, game.to_play, view)
            for order, (candidate, visits) in enumerate(zip(candidates, asking.count_visits(candidates), strict=True))
        ],
        "rootInfo": _describe_root(analysis, game, view),
    }
    if analysis.ownership is not None:
        owners = {"ownership": _plain(view * analysis.ownership)} if query.form.includeOwnership else {}
        spread = (
            {"ownershipStdev": _plain(asking.spread_of(analysis.ownership))} if query.form.includeOwnershipStdev else {}
        )
        answer |= owners | spread
    if query.form.includeMovesOwnership:
        by_move = asking.find_owners(evaluator, game, candidates)
        for info, owned in zip(answer["moveInfos"], () if by_move is None else by_move, strict=False):
            info["ownership"] = _plain(view * owned)
    policy = _policy(game, analysis, evaluator) if query.form.includePolicy else None
    if query.rank is not None:
        human = _legal_shares(game, _at_rank(evaluator, query.rank).evaluate([game.board]).policy[0])
        answer |= {"humanPolicy": human} if query.form.includePolicy else {}
        for info, candidate in zip(answer["moveInfos"], candidates, strict=True):
            info["humanPrior"] = max(0.0, human[candidate.move])
    return answer if policy is None else answer | {"policy": policy}


def _at_rank(evaluator: Evaluator | None, rank: str) -> Evaluator:
    if not isinstance(evaluator, RankedEvaluator) or evaluator.lowest_rank is None:
        way_out = "take policy-9, policy-19 or another network that does"
        raise QueryError(f"the player knows no ranks for humanSLProfile: {way_out}", "overrideSettings")
    try:
        return evaluator.at_rank(parse_rank(rank, evaluator))
    except ValueError as error:
        raise QueryError(f"humanSLProfile: {error}", "overrideSettings") from None


def find_lacking(query: Query, answer: Answer) -> list[str]:
    """The fields of an answer that were wanted, and are not there."""
    form, infos = query.form, answer["moveInfos"]
    wanted = {"ownership": form.includeOwnership, "policy": form.includePolicy}
    lacking = [name for name, is_wanted in wanted.items() if is_wanted and name not in answer]
    lacking += ["scoreLead"] if "scoreLead" not in answer["rootInfo"] else []
    lacking += ["prior"] if infos and not any("prior" in info for info in infos) else []
    no_owners = form.includeMovesOwnership and infos and "ownership" not in infos[0]
    return lacking + (["ownership of moves"] if no_owners else [])


def _describe_root(analysis: Analysis, game: Game, view: int) -> Answer:
    hashes = sorted(_hash(game.board, symmetry) for symmetry in Symmetry)
    return _values(analysis, None, max(1, total_visits(analysis)), game.to_play, view) | {
        "currentPlayer": "B" if game.to_play == BLACK else "W",
        "thisHash": _hash(game.board, Symmetry.IDENTITY),
        "symHash": hashes[0],
    }


def _values(analysis: Analysis, candidate: Candidate | None, visits: int, to_play: int, view: int) -> Answer:
    """The numbers of a candidate, or with None of the position."""
    wins = win_rate(analysis, candidate, view)
    bound = bound_of(analysis, candidate, to_play)  # of the player to move, whoever looks at it
    bound = bound if view == to_play else 1 - bound
    lead = lead_of(analysis, candidate, view)
    values: Answer = {"visits": visits, "weight": float(visits), "winrate": wins, "lcb": bound}
    values |= {"utility": 2 * wins - 1, "utilityLcb": 2 * bound - 1}
    values |= {} if lead is None else {"scoreLead": lead, "scoreMean": lead, "scoreSelfplay": lead}
    if candidate is not None:
        values |= {"edgeVisits": visits, "edgeWeight": float(visits), "playSelectionValue": float(visits)}
        values |= {} if candidate.prior is None else {"prior": candidate.prior}
    return values


def _describe_candidate(candidate: Candidate, size: int, order: int, *, variation_visits: bool) -> Answer:
    variation = [format_vertex(move, size) for move in candidate.variation or (candidate.move,)]
    described: Answer = {"move": format_vertex(candidate.move, size), "order": order, "pv": variation}
    known = variation_visits and candidate.variation_visits
    return described | ({"pvVisits": list(candidate.variation_visits)} if known else {})


def _policy(game: Game, analysis: Analysis, evaluator: Evaluator | None) -> list[float] | None:
    """The evaluator's policy, or else the priors of the candidates, with a sum of 1; -1 where a move is illegal."""
    policy = np.zeros(game.size**2 + 1)
    if evaluator is not None:
        policy[:] = evaluator.evaluate([game.board]).policy[0]
    elif any(candidate.prior is not None for candidate in analysis.candidates):
        for candidate in analysis.candidates:
            policy[candidate.move if candidate.move != PASS else -1] = candidate.prior or 0.0
    else:
        return None
    return _legal_shares(game, policy)


def _legal_shares(game: Game, policy: NDArray[Any]) -> list[float]:
    legal = game.legal_moves()
    total = policy[legal].sum() or 1.0
    return _plain(np.where(legal, policy / total, -1.0))


def _says_who_wins(analysis: Analysis, evaluator: Evaluator | None) -> bool:
    """Whether anything is known of who wins."""
    if isinstance(evaluator, ValuingEvaluator) and not evaluator.values_positions and analysis.black_lead is None:
        return False
    values = (analysis.black_wins, *(candidate.black_wins for candidate in analysis.candidates))
    return any(value is not None for value in values)


def _hash(board: Board, symmetry: Symmetry) -> str:
    """128 bits of the stones, who is to play and the ko, seen through a symmetry."""
    stones = np.empty_like(board.stones)
    stones[symmetry.points(board.size)] = board.stones
    ko = -1 if board.ko_point is None else symmetry.apply(board.ko_point, board.size)
    content = b"%d %d %d " % (board.size, board.to_play, ko) + stones.tobytes()
    return blake2b(content, digest_size=16).hexdigest().upper()


def _plain(values: NDArray[Any]) -> list[float]:
    return [round(float(value), 6) + 0.0 for value in values]


# The engine: it reads lines, analyses in threads, and writes answers.

MAX_LINE: Final = 1 << 22  # bytes
_WHO_CAN: Final = "a player that searches with a network, such as level-10 or strong-9"

Send = Callable[[Answer], None]


@dataclass(order=True, slots=True)
class Task:
    """A turn of a query that is to be analyzed."""

    order: tuple[int, int]  # what comes first is least
    query: Query = field(compare=False)
    turn: int = field(compare=False)
    stop: Event = field(default_factory=Event, compare=False)

    def is_meant(self, query_id: str | None, turns: Iterable[int] | None) -> bool:
        """Whether somebody who terminates these turns of that query means this task; None means all."""
        return query_id in (None, self.query.id) and (turns is None or self.turn in turns)


class TaskQueue:
    """The tasks that wait, and the one at work."""

    def __init__(self) -> None:
        self._waiting: list[Task] = []
        self._current: Task | None = None
        self._is_closed = False
        self._changed = Condition()
        self._numbers = count()

    def add(self, query: Query) -> None:
        """Let every turn of a query wait."""
        with self._changed:
            for turn, priority in query.turns.items():
                heappush(self._waiting, Task((-priority, next(self._numbers)), query, turn))
            self._changed.notify()

    def take(self) -> Task | None:
        """Wait for the next task; None when the queue is closed and empty."""
        with self._changed:
            self._current = None
            while not self._waiting and not self._is_closed:
                self._changed.wait()
            self._current = heappop(self._waiting) if self._waiting else None
            return self._current

    def terminate(self, query_id: str | None = None, turns: Iterable[int] | None = None) -> list[Task]:
        """Stop the task at work if it is meant; give back those that were still waiting, in their order."""
        with self._changed:
            if self._current is not None and self._current.is_meant(query_id, turns):
                self._current.stop.set()
            meant = sorted(task for task in self._waiting if task.is_meant(query_id, turns))
            self._waiting = [task for task in self._waiting if not task.is_meant(query_id, turns)]
            heapify(self._waiting)
            return meant

    def close(self) -> None:
        """Nothing more will be added."""
        with self._changed:
            self._is_closed = True
            self._changed.notify()


class AnalysisEngine:
    """Serves two streams. ``defaults`` hold where a query does not say how long to look and for whom."""

    def __init__(self, player: Player, defaults: Defaults | None = None) -> None:
        self._player = player
        self._defaults = defaults or Defaults()
        self.preparation = asking.Preparation(player)
        self._lacking: list[str] = []  # what the last warning said

    def serve(self, stdin: BinaryIO, stdout: BinaryIO, *, waits: bool = True) -> None:
        """Answer until the input has ended and, if it ``waits``, everything is analyzed; or Ctrl-C, or nobody reads."""
        queue, lock = TaskQueue(), Lock()

        def send(answer: Answer) -> None:
            with lock:
                write_all(stdout, json.dumps(answer, sort_keys=True, separators=(",", ":")).encode() + b"\n")

        Thread(target=self._read, args=(stdin, queue, send, waits), name="analysis-input", daemon=True).start()
        try:
            while (task := queue.take()) is not None:
                self._analyze(task, send)
        except (KeyboardInterrupt, BrokenPipeError):
            return

    def _read(self, stdin: BinaryIO, queue: TaskQueue, send: Send, waits: bool) -> None:
        try:
            for line in read_lines(stdin, MAX_LINE):
                if line.content.strip():
                    self.answer(line, queue, send)
        except OSError:  # nobody reads, or the disk is full: then nothing need be analyzed either
            waits = False
        if not waits:
            queue.terminate()
        queue.close()

    def answer(self, line: Line, queue: TaskQueue, send: Send) -> None:
        """Obey a line: put its query into the queue, or act at once. Whatever it holds, nothing is raised."""
        given: Answer = {}
        try:
            given = _read_object(line)
            if "action" in given:
                self._act(given, queue, send)
                return
            query = parse_query(line.content, self._defaults)
        except OSError:  # of the stream that is written to
            raise
        except Exception as error:  # noqa: BLE001 - whatever goes wrong with one line must not end the others
            send(_describe_failure(error, given))
            return
        for message, name in query.warnings:
            send({"warning": message, "field": name, "id": query.id})
        queue.add(query)

    def _act(self, given: dict[str, Any], queue: TaskQueue, send: Send) -> None:
        action = given["action"]
        if action == "query_version":
            send(given | {"version": engine_version(), "git_hash": "<omitted>"})
        elif action == "query_models":
            send(given | {"models": asking.describe_models(self._player)})
        elif action == "clear_cache":
            send(given)  # a player that keeps something between moves keeps it by position: nothing can be stale
        elif action in ("terminate", "terminate_all"):
            query_id = _read_terminated(given) if action == "terminate" else None
            dropped = queue.terminate(query_id, _read_turns(given))
            send(given)
            for task in dropped:
                send(describe_nothing(task.query, task.turn))
        else:
            known = "query_version, query_models, clear_cache, terminate or terminate_all"
            raise QueryError(f"'action' field must be {known}", "action")

    def _analyze(self, task: Task, send: Send) -> None:
        try:
            self._report(task, send)
        except BrokenPipeError:
            raise
        except QueryError as error:
            where = {"field": error.field_name} if error.field_name else {}
            send({"error": str(error), **where, "id": task.query.id, "turnNumber": task.turn})
        except Exception as error:  # noqa: BLE001 - whatever goes wrong with one position must not end the others
            send({"error": describe_error(error), "id": task.query.id, "turnNumber": task.turn})

    def _report(self, task: Task, send: Send) -> None:
        query, game = task.query, task.query.position(task.turn)
        self.preparation.begin(game.size)
        if not self.preparation.wait(task.stop):
            send(describe_nothing(query, task.turn))
            return
        evaluator = asking.find_evaluator(self._player)
        if query.rank is not None:
            _at_rank(evaluator, query.rank)  # raises what is wrong with it before anything is searched
        interval = query.form.reportDuringSearchEvery or float("inf")
        due, last = time.monotonic() + interval, None
        for last in asking.watch_analyses(self._player, game.copy(), query.limit, task.stop, query.bans):
            if time.monotonic() >= due and not task.stop.is_set():
                send(describe_analysis(query, task.turn, game, last, evaluator, is_during_search=True))
                due = time.monotonic() + interval
        if last is None:
            send(describe_nothing(query, task.turn))
            return
        if not _says_who_wins(last, evaluator):
            raise QueryError(f"{self._player.name} cannot say who wins: take {_WHO_CAN}", "")
        answer = describe_analysis(query, task.turn, game, last, evaluator, is_during_search=False)
        lacking = find_lacking(query, answer)
        if lacking and lacking != self._lacking:
            warning = f"{self._player.name} does not tell {', '.join(lacking)}: left out; take {_WHO_CAN}"
            send({"warning": warning, "field": lacking[0], "id": query.id})
        self._lacking = lacking
        send(answer)


# Lines


def _read_object(line: Line) -> dict[str, Any]:
    """The JSON object of a line, with its id; raises QueryError."""
    if line.too_long:
        raise QueryError(f"Input line is longer than {MAX_LINE} bytes", "")
    try:
        given = parse_json(line.content)
    except ValueError as error:
        raise QueryError(f"Could not parse input line as json: {error}", "") from None
    if not isinstance(given, dict):
        raise QueryError("Input line is not a json object", "")
    if not isinstance(given.get("id"), str):
        raise QueryError("Request must have a string 'id'", "id")
    return given


def _describe_failure(error: Exception, given: Answer) -> Answer:
    """The error with its field and the id of the query, if there are such."""
    if not isinstance(error, QueryError):
        error = QueryError(describe_error(error), "")
    known = {"error": str(error), "field": error.field_name or None, "id": given.get("id")}
    return {name: value for name, value in known.items() if value is not None}


def _read_terminated(given: dict[str, Any]) -> str:
    query_id = given.get("terminateId")
    if not isinstance(query_id, str):
        raise QueryError("Must be a string", "terminateId")
    return query_id


def _read_turns(given: dict[str, Any]) -> list[int] | None:
    turns = given.get("turnNumbers")
    if turns is None or (isinstance(turns, list) and all(type(turn) is int for turn in turns)):
        return turns
    raise QueryError("Must be a list of turns", "turnNumbers")
