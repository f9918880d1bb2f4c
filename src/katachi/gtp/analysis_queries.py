"""Queries of KataGo's analysis protocol: JSON objects that name a game, its turns to analyze, and what to tell of
them.

A query is checked as a whole before anything is analyzed. What is wrong with it is a ``QueryError`` with the field;
fields that exist in KataGo but change nothing here, and fields that exist nowhere, are named in warnings.
"""

# ruff: noqa: N815 - the fields of a query have KataGo's names

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Annotated, Any, Final

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from katachi.core.contracts import Ban, Limit
from katachi.go.board import Illegality, IllegalMove
from katachi.go.game import Game
from katachi.go.points import BLACK, WHITE, parse_color, parse_vertex
from katachi.go.rules import HandicapBonus, KoRule, Rules, RulesError, parse_rules
from katachi.players.asking import ban_others

_SIZES: Final = range(2, 20)
_COORDINATES: Final = re.compile(r"\(([0-9]{1,2}),([0-9]{1,2})\)")
_TOLERATED: Final = (Illegality.SUPERKO, Illegality.SUICIDE)  # other rules than the query's may have allowed it
_MANY: Final = 2**50


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
    """A query that can be answered."""

    id: str
    start: Game
    plays: tuple[tuple[int, int], ...]  # color and move
    turns: Mapping[int, int]  # with the priority of each
    limit: Limit
    perspective: Perspective
    ownership: bool = False
    ownership_spread: bool = False
    policy: bool = False
    variation_visits: bool = False
    report_every: float | None = None
    bans: Sequence[Ban] = ()
    warnings: Sequence[tuple[str, str]] = field(default=())  # a sentence, and the field that it is about

    def position(self, turn: int) -> Game:
        """The game after so many of its moves."""
        game = self.start.copy()
        for color, move in self.plays[:turn]:
            _play_tolerantly(game, color, move)
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
    includePolicy: bool = False
    includePVVisits: bool = False
    reportDuringSearchEvery: float | None = Field(default=None, ge=0.001, le=1e6)
    avoidMoves: list[_Restriction] = []
    allowMoves: list[_Restriction] = Field(default=[], max_length=1)
    overrideSettings: dict[str, Any] = {}

    includeMovesOwnership: bool = False
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
    return _build(form, json.loads(text), defaults)


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
    limit, perspective, unused = _settings(form, defaults)
    return Query(
        form.id,
        start,
        plays,
        _turns(form),
        limit,
        perspective,
        form.includeOwnership,
        form.includeOwnershipStdev,
        form.includePolicy,
        form.includePVVisits,
        form.reportDuringSearchEvery,
        _bans(form, size),
        [*_unused_fields(given), *(("Unknown setting: " + name, "overrideSettings") for name in unused)],
    )


def _size(form: _QueryForm) -> int:
    if form.boardXSize not in _SIZES:
        raise QueryError("Must be from 2 to 19", "boardXSize")
    if form.boardYSize != form.boardXSize:
        raise QueryError("katachi plays on square boards: must be equal to boardXSize", "boardYSize")
    return form.boardXSize


def _start(form: _QueryForm, size: int) -> Game:
    game = Game(size, _rules(form))
    stones: dict[int, int] = {}
    for color, text in form.initialStones:
        stones[_point(text, size)] = color
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


def _point(text: str, size: int) -> int:
    point = _move(text, size, "initialStones")
    if point < 0:
        raise QueryError("A pass is no stone", "initialStones")
    return point


def _check_legal(start: Game, plays: Sequence[tuple[int, int]], form: _QueryForm) -> None:
    game = start.copy()
    for number, (color, move) in enumerate(plays):
        try:
            _play_tolerantly(game, color, move)
        except IllegalMove as error:
            text = form.moves[number][1]
            raise QueryError(f"Illegal move {number}: {text} ({error.reason.value})", "moves") from None


def _play_tolerantly(game: Game, color: int, move: int) -> None:
    """Play what any rules allow: a record is analyzed as it was played."""
    if game.why_illegal(move, color) not in _TOLERATED:
        game.play(move, color)
        return
    rules = game.rules
    game.rules = replace(rules, ko=KoRule.SIMPLE, suicide=True)
    try:
        game.play(move, color)
    finally:
        game.rules = rules


def _turns(form: _QueryForm) -> dict[int, int]:
    last = len(form.moves)
    turns = [last] if form.analyzeTurns is None else form.analyzeTurns
    if not all(0 <= turn <= last for turn in turns):
        raise QueryError(f"Must be turns from 0 to {last}", "analyzeTurns")
    priorities = [form.priority] * len(turns) if form.priorities is None else form.priorities
    if len(priorities) != len(turns):
        raise QueryError("Must be as many as analyzeTurns", "priorities")
    return dict(zip(turns, priorities, strict=True))


def _settings(form: _QueryForm, defaults: Defaults) -> tuple[Limit, Perspective, list[str]]:
    """How long to look, whose numbers to tell, and the settings that say nothing to us."""
    limit, perspective = defaults.limit, defaults.perspective
    settings = dict(form.overrideSettings)
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
        bans += ban_others(allowed.player, moves, allowed.untilDepth, size)
    return bans


def _unused_fields(given: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name in given:
        if name not in _QueryForm.model_fields:
            yield "Unexpected or unused field", name
