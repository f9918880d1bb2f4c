"""A table: a record, the settings of the game that is played there, and how far it is. It knows no browser.

While a game is *played*, clicks are moves. After two passes it is *counted*: the dead stones are estimated, and
clicks correct them. It is *finished* by an agreed count, a resignation or the clock; then everybody may try
variations.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple, Self

import numpy as np
from nicegui.element import Element
from nicegui.events import GenericEventArguments
from numpy.typing import NDArray
from pydantic import Field, ValidationError, model_validator

from katachi.core.cards import Strict
from katachi.go import scoring
from katachi.go.board import Board, Illegality
from katachi.go.diagrams import star_points
from katachi.go.game import Game
from katachi.go.points import (
    BLACK,
    EMPTY,
    PASS,
    WHITE,
    GameResult,
    Reason,
    fixed_handicap_points,
    format_sgf_point,
    format_vertex,
    max_fixed_handicap,
)
from katachi.go.rules import MAX_KOMI, NAMED_RULES, Scoring
from katachi.go.scoring import Status
from katachi.players.by_size import BySizeSpec
from katachi.players.specs import (
    PlayerSpec,
    RatingTable,
    SearchSpec,
    SpecError,
    bundled_players,
    find_spec,
    load_player,
)
from katachi.search.clock import Clock, TimeControl, TimeLeft, time_after_move
from katachi.sgf import Node, SgfGame, game_to_tree
from katachi.sgf.record import replay
from katachi.sgf.tree import read_move, read_points
from katachi.web import texts

# The board as an element of a page: what is to be drawn goes there, clicks and keys come back.

COMMANDS: Final = (
    *("back", "forward", "back10", "forward10", "first", "last", "previous", "next"),
    *("pass", "undo", "redo", "numbers", "edit", "hint", "estimate", "mistake", "mistake-back", "leave"),
)  # what keys mean
_LETTERS: Final = {BLACK: "X", WHITE: "O", EMPTY: "."}
_COLOR_WORDS: Final = {BLACK: "black", WHITE: "white"}


@dataclass(frozen=True, slots=True)
class Spot:
    """Something that a layer shows at a point: a colored spot, a number, or both."""

    point: int
    color: str = ""
    opacity: float = 1.0
    text: str = ""
    ink: str = "#111"
    round: bool = True
    half: float = 8.0  # of its side if it is square
    radius: float = 17.0  # if it is round


@dataclass(frozen=True, slots=True)
class Picture:
    """Everything that is to be seen on a board. ``ghost`` is the color of the stone that a click would put there."""

    size: int
    stones: NDArray[np.int8]  # [n²]
    last: int | None = None
    ghost: int = EMPTY
    labels: Mapping[int, str] = field(default_factory=dict)
    marks: Mapping[int, str] = field(default_factory=dict)
    under: Iterable[Spot] = ()
    over: Iterable[Spot] = ()
    ghosts: Mapping[int, int] = field(default_factory=dict)  # stones that one sees through, by point
    dead: Iterable[int] = ()
    notes: Mapping[int, str] = field(default_factory=dict)  # what is said when one points there
    coordinates: bool = True
    sound: bool = False  # when a stone is played
    motion: bool = True
    description: str = ""


class BoardElement(Element, component="board.js"):
    """A board that shows pictures. ``on_point`` is called with points, ``on_command`` with one of COMMANDS."""

    def __init__(self, on_point: Callable[[int], Any], on_command: Callable[[str], None] | None = None) -> None:
        super().__init__()
        self._props["keys"] = on_command is not None
        self._points = 0
        self._on_point = on_point
        self._on_command = on_command
        self.on("point", self._take_point)
        self.on("command", self._take_command)

    def show(self, picture: Picture) -> None:
        """Draw another picture."""
        props = _properties(picture)
        self._points = picture.size**2
        if any(self._props.get(name) != value for name, value in props.items()):
            for name, value in props.items():
                self._props[name] = value
            self.update()

    def _take_point(self, event: GenericEventArguments) -> Any:
        """What a browser sends is not yet a point. What ``on_point`` returns is awaited if it can be."""
        is_point = type(event.args) is int and 0 <= event.args < self._points
        return self._on_point(event.args) if is_point else None

    def _take_command(self, event: GenericEventArguments) -> None:
        if event.args in COMMANDS and self._on_command is not None:
            self._on_command(event.args)


def _properties(picture: Picture) -> dict[str, Any]:
    return {
        "size": picture.size,
        "stones": "".join(_LETTERS[color] for color in picture.stones.tolist()),
        "last": picture.last,
        "ghost": _COLOR_WORDS.get(picture.ghost, ""),
        "labels": {str(point): text for point, text in picture.labels.items()},
        "marks": {str(point): kind for point, kind in picture.marks.items()},
        "under": [asdict(spot) for spot in picture.under],
        "over": [asdict(spot) for spot in picture.over],
        "ghosts": {str(point): _COLOR_WORDS[color] for point, color in picture.ghosts.items()},
        "dead": list(picture.dead),
        "stars": star_points(picture.size),
        "notes": {str(point): text for point, text in picture.notes.items()},
        "coordinates": picture.coordinates,
        "sound": picture.sound,
        "motion": picture.motion,
        "description": picture.description,
    }


# The clocks of a table: they run while somebody thinks, and say when their time is up.


class TableClock:
    """Two clocks of which at most one runs. Nothing is added for lag: both players are at this table."""

    def __init__(self, control: TimeControl) -> None:
        self.control = control
        self._clock = Clock(control, lag=0.0)
        self._running: int | None = None
        self._since = 0.0

    @property
    def is_used(self) -> bool:
        return self.control.kind != "none"

    def start(self, color: int) -> None:
        """Let a color's clock run, if it does not already, and stop the other."""
        if self.is_used and self._running != color:
            self.stop()
            self._running, self._since = color, time.monotonic()

    def stop(self) -> None:
        """Take off what the running clock has run; nobody's runs then."""
        if self._running is not None:
            self._clock.spend(self._running, time.monotonic() - self._since)
            self._running = None

    def run_out(self, color: int) -> None:
        """Leave nothing on a clock."""
        self._clock.set_left(color, 0.0, 0)

    def seconds_for_move(self, color: int, *, size: int, moves: int) -> float | None:
        """How long a player should think; None is as long as it likes."""
        return self._clock.seconds_for_move(color, size=size, moves=moves)

    def left(self, color: int) -> TimeLeft:
        """What a clock shows now."""
        left = self._clock.left(color)
        if self._running != color:
            return left
        elapsed = time.monotonic() - self._since
        if elapsed < left.seconds:
            return TimeLeft(left.seconds - elapsed, left.stones)
        if not self.control.period:
            return TimeLeft(0.0)
        used = elapsed - left.seconds
        after = time_after_move(self.control, left, elapsed)
        return TimeLeft(self.control.period - used % self.control.period, after.stones)

    def seconds_to_loss(self) -> float | None:
        """How long whose clock runs may still think; None if none runs."""
        if self._running is None:
            return None
        left = self._clock.left(self._running)
        periods = (left.stones - 1 if left.stones else self.control.stones) * self.control.period
        return left.seconds + periods - (time.monotonic() - self._since)

    def to_json(self) -> dict[str, list[float]]:
        """What stood on the clocks when the present move began: who comes back gets its time again."""
        return {
            name: [left.seconds, left.stones]
            for color, name in _COLOR_WORDS.items()
            for left in [self._clock.left(color)]
        }

    def restore(self, values: Mapping[str, list[float]]) -> None:
        """Set the clocks to what ``to_json`` gave."""
        for color, name in _COLOR_WORDS.items():
            if name in values:
                seconds, stones = values[name]
                self._clock.set_left(color, seconds, int(stones))


def format_left(left: TimeLeft) -> str:
    """A clock as people read it: ``9:58``, and periods or stones left in brackets.

    >>> format_left(TimeLeft(20.0, 3))
    '0:20 (3)'
    """
    minutes, seconds = divmod(int(left.seconds), 60)
    hours, minutes = divmod(minutes, 60)
    text = f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"
    return f"{text} ({left.stones})" if left.stones else text


# The settings of a table: who plays, on which board, by which rules, with how much time.

SIZES: Final = range(2, 20)
DEFAULT_RULES: Final = "chinese-ogs"
MAX_MINUTES: Final = 600


class TableError(ValueError):
    """Something that cannot be done at a table, with the reason in a sentence."""


class Seats(StrEnum):
    """Who sits where."""

    BLACK = "black"  # the person has Black, the player White
    WHITE = "white"
    BOTH = "both"  # one person, or several before one screen, play both colors


class TimeSettings(Strict):
    """A time control as people say it: minutes, and seconds for what comes after."""

    kind: Literal["none", "absolute", "byoyomi", "fischer"] = "none"
    minutes: float = Field(default=10.0, gt=0, le=MAX_MINUTES)
    seconds: float = Field(default=20.0, gt=0, le=3600)
    periods: int = Field(default=3, ge=1, le=100)

    @property
    def control(self) -> TimeControl:
        """The same as clocks understand it."""
        main = 60 * self.minutes
        if self.kind == "byoyomi":
            return TimeControl("byoyomi", main=main, period=self.seconds, stones=self.periods)
        if self.kind == "fischer":
            return TimeControl("fischer", main=main, increment=self.seconds)
        return TimeControl(self.kind, main=0.0 if self.kind == "none" else main)


class TableSettings(Strict):
    """What is agreed before the first move. ``player`` is empty where there is none."""

    player: str = Field(default="", max_length=200)
    seats: Seats = Field(default=Seats.BOTH, strict=False)
    size: int = Field(default=9, ge=SIZES[0], le=SIZES[-1])
    handicap: int = Field(default=0, ge=0, le=9)
    komi: float = Field(default=7.5, ge=-MAX_KOMI, le=MAX_KOMI)
    rules: str = DEFAULT_RULES
    time: TimeSettings = TimeSettings()

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.rules not in NAMED_RULES:
            raise ValueError(f"no rules are called {self.rules!r}")
        if self.seats is not Seats.BOTH and not self.player:
            raise ValueError("there is nobody to play against: choose a player")
        if self.handicap == 1:
            raise ValueError("a handicap is two stones or more")
        if self.handicap > max_fixed_handicap(self.size):
            raise ValueError(f"{self.handicap} handicap stones have no fixed places on {self.size}×{self.size}")
        return self

    def new_game(self) -> Game:
        """The game before the first move."""
        game = Game(self.size, NAMED_RULES[self.rules].with_komi(self.komi))
        if self.handicap:
            game.place_handicap(fixed_handicap_points(self.size, self.handicap))
        return game

    def is_players_turn(self, color: int) -> bool:
        """Whether the player, not a person, moves for a color."""
        return self.seats is (Seats.WHITE if color == BLACK else Seats.BLACK)


def check_settings(**values: Any) -> TableSettings:
    """Settings from what a person has chosen; raises TableError with a sentence if they do not go together."""
    try:
        return TableSettings(**values)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        reason = first["msg"].removeprefix("Value error, ")
        raise TableError(f"{where}: {reason}" if where else reason) from None


# An open record: a tree of moves, and a place in it with the game that leads there.
#
# Moves are added where one stands; a move that is there already is followed, another one begins a variation.

_LABEL_LETTERS: Final = {BLACK: "B", WHITE: "W"}
MARKS: Final = {"TR": "triangle", "SQ": "square", "CR": "circle", "MA": "cross", "TB": "black", "TW": "white"}
_LONGEST_LABEL: Final = 3
_WHY_NOT: Final = {
    Illegality.OCCUPIED: texts.OCCUPIED,
    Illegality.KO: texts.KO,
    Illegality.SUPERKO: texts.SUPERKO,
    Illegality.SUICIDE: texts.SUICIDE,
}


class Variation(NamedTuple):
    """A way to continue: the node, and its move if it has one."""

    node: Node
    move: int | None


class OpenRecord:
    """A record and the node that one looks at; ``game`` is the game up to it."""

    def __init__(self, record: SgfGame) -> None:
        """Open a record at its root; raises SgfError if it cannot be played here."""
        self.record = record
        self.node = record.root
        self.game: Game = record.replay(until=self.node)

    @property
    def size(self) -> int:
        return self.game.size

    # Going about

    def go_to(self, node: Node) -> None:
        """Look at another node of the tree."""
        self.game = self.record.replay(until=node)
        self.node = node

    @property
    def place(self) -> list[int]:
        """Where one stands: which child was taken at every node from the root on."""
        path = self.node.path()
        return [parent.children.index(child) for parent, child in pairwise(path)]

    def follow(self, place: Iterable[int]) -> None:
        """Go to a place that ``place`` gave, or as near to it as the tree reaches."""
        node = self.record.root
        for number in place:
            if not 0 <= number < len(node.children):
                break
            node = node.children[number]
        self.go_to(node)

    def step(self, count: int) -> None:
        """Go on by so many nodes along first children, or back."""
        node = self.node
        for _ in range(abs(count)):
            after = (node.children[0] if node.children else None) if count > 0 else node.parent
            if after is None:
                break
            node = after
        self.go_to(node)

    def line(self) -> list[Node]:
        """The nodes of the line that one is on: from the root through here to its end."""
        return [*self.node.path(), *list(self.node.main_line())[1:]]

    def siblings(self) -> list[Variation]:
        """The variations that stand beside this node, itself among them."""
        parent = self.node.parent
        return [Variation(node, self.move_of(node)) for node in (parent.children if parent else [self.node])]

    def variations(self) -> list[Variation]:
        """The ways to go on from here."""
        return [Variation(node, self.move_of(node)) for node in self.node.children]

    def move_of(self, node: Node) -> int | None:
        """The move of a node, None if it has none."""
        value = node.get("B") if "B" in node.properties else node.get("W")
        return None if value is None else read_move(value, self.size)

    # Changing

    def play(self, move: int, *, is_main: bool = False) -> None:
        """Play a move of whoever is to play; raises TableError with the reason if the rules forbid it.

        A move that is new here is a variation, or with ``is_main`` the game, and what was played before the variation.
        """
        reason = self.game.why_illegal(move)
        if reason is not None:
            raise TableError(_WHY_NOT[reason])
        name = _LABEL_LETTERS[self.game.to_play]
        for child in self.node.children:
            if name in child.properties and self.move_of(child) == move:
                self.go_to(child)
                return
        self.node = self.node.add_child({name: [format_sgf_point(move, self.size)]})
        if is_main and self.node.parent is not None:
            self.node.parent.children.insert(0, self.node.parent.children.pop())
        self.game.play(move)

    def remove(self) -> None:
        """Take this node and all that follows it out of the tree, and stand before it."""
        node, parent = self.node, self.node.parent
        if parent is None:
            raise TableError(texts.NOTHING_TO_UNDO)
        parent.children.remove(node)
        self.go_to(parent)

    # What is to be seen here

    def marks(self) -> dict[int, str]:
        """The marks of this node by point."""
        found: dict[int, str] = {}
        for name, kind in MARKS.items():
            found |= dict.fromkeys(read_points(self.node.properties.get(name, ()), self.size), kind)
        return found

    def labels(self) -> dict[int, str]:
        """The labels of this node by point, cut to what fits on a stone."""
        found = {}
        for value in self.node.properties.get("LB", ()):
            vertex, _, text = value.partition(":")
            point = read_move(vertex, self.size)
            if point is not None and point >= 0 and text:
                found[point] = text[:_LONGEST_LABEL]
        return found

    def move_numbers(self) -> dict[int, int]:
        """The number of the move that put each stone where it stands."""
        numbers: dict[int, int] = {}
        for number, play in enumerate(self.game.moves, 1):
            numbers[play.move] = number
        return {point: number for point, number in numbers.items() if point >= 0 and self.game.board[point]}


# The board editor: stones put on and taken off, whose turn it is, marks, and what is said of a position.
#
# A position is changed where it was set up; after a move it is changed in a node of its own, so that the game that was
# played stays what it was.

_NAMES: Final = {BLACK: "AB", WHITE: "AW", EMPTY: "AE"}
MAX_COMMENT: Final = 20_000  # letters


class Tool(StrEnum):
    """What a click on the board does."""

    PLAY = "play"
    BLACK = "black"
    WHITE = "white"
    ERASE = "erase"
    TRIANGLE = "TR"
    SQUARE = "SQ"
    CIRCLE = "CR"
    CROSS = "MA"
    LABEL = "LB"


_COLORS: Final = {Tool.BLACK: BLACK, Tool.WHITE: WHITE, Tool.ERASE: EMPTY}


def use_tool(opened: OpenRecord, tool: Tool, point: int) -> None:
    """Do what a tool does at a point; raises TableError if that cannot be."""
    if tool is Tool.PLAY:
        opened.play(point)
    elif tool in _COLORS:
        put(opened, point, _COLORS[tool])
    elif tool is Tool.LABEL:
        _toggle_label(opened, point)
    else:
        _toggle_mark(opened, tool.value, point)


def put(opened: OpenRecord, point: int, color: int) -> None:
    """Make a point black, white or empty; a stone that is there already in that color goes."""
    wanted = opened.game.board.stones.copy()
    wanted[point] = EMPTY if wanted[point] == color else color
    _check_spans(wanted, opened.size)
    if _is_played(opened):
        opened.node = opened.node.add_child()
    _write_stones(opened, wanted)
    opened.go_to(opened.node)


def set_turn(opened: OpenRecord, color: int) -> None:
    """Say whose turn it is."""
    if _is_played(opened):
        opened.node = opened.node.add_child()
    opened.node.properties["PL"] = ["B" if color == BLACK else "W"]
    opened.go_to(opened.node)


def set_comment(opened: OpenRecord, text: str) -> None:
    """Say something of the position, or nothing."""
    if text.strip():
        opened.node.set_text("C", text[:MAX_COMMENT])
    else:
        opened.node.properties.pop("C", None)


def _is_played(opened: OpenRecord) -> bool:
    """Whether a change must not be made in this node: it is a move, or others follow it."""
    node = opened.node
    return bool(node.children) or not {"B", "W"}.isdisjoint(node.properties)


def _check_spans(stones: NDArray[np.int8], size: int) -> None:
    black, white = (np.flatnonzero(stones == color).tolist() for color in (BLACK, WHITE))
    try:
        Board(size).place(black, white)
    except ValueError:
        raise TableError(texts.NO_LIBERTIES) from None


def _write_stones(opened: OpenRecord, wanted: NDArray[np.int8]) -> None:
    """Let a node say what is different from the position before it."""
    node = opened.node
    before = replay(node.path()[:-1]).board.stones if node.parent else np.full_like(wanted, EMPTY)
    for color, name in _NAMES.items():
        points = np.flatnonzero((wanted == color) & (before != color)).tolist()
        _set(node, name, [format_sgf_point(point, opened.size) for point in points])
    node.properties.pop("HA", None)  # stones that were only counted are named now


def _toggle_mark(opened: OpenRecord, name: str, point: int) -> None:
    """Set a mark, which takes the place of another one, or take it off."""
    text = format_sgf_point(point, opened.size)
    others = {kind: values for kind, values in opened.node.properties.items() if kind in ("TR", "SQ", "CR", "MA")}
    had = text in others.get(name, ())
    for kind, values in others.items():
        _set(opened.node, kind, [value for value in values if value != text])
    if not had:
        opened.node.properties.setdefault(name, []).append(text)


def _toggle_label(opened: OpenRecord, point: int) -> None:
    """The next free letter, or none if there is a label."""
    text = format_sgf_point(point, opened.size)
    values = opened.node.properties.get("LB", [])
    left = [value for value in values if not value.startswith(f"{text}:")]
    if len(left) == len(values):
        used = set(opened.labels().values())
        letters = (chr(ord("A") + number) for number in range(26))
        left.append(f"{text}:{next((letter for letter in letters if letter not in used), '?')}")
    _set(opened.node, "LB", left)


def _set(node: Node, name: str, values: list[str]) -> None:
    """Let a node have these values of a property, and not the property if there are none."""
    if values:
        node.properties[name] = values
    else:
        node.properties.pop(name, None)


# Who can be played against: the bundled players, and those that were named when the server was started.
#
# A user chooses by name from this list alone: a spec may run a program, so none is ever taken from a browser.


class Opponent(NamedTuple):
    """A player that can be chosen: its name here, what ``load_player`` knows it by, and the only size that it plays."""

    name: str
    spec: str
    description: str
    ratings: Mapping[str, RatingTable] = MappingProxyType({})  # by the size of boards
    size: int | None = None

    def plays(self, size: int) -> bool:
        return self.size is None or self.size == size

    def rating_on(self, size: int) -> RatingTable | None:
        return self.ratings.get(str(size))


@lru_cache(maxsize=1024)
def can_judge(spec: str, size: int) -> bool:
    """Whether a player can say what positions are worth: one that only knows which moves people like cannot.

    An engine is believed to until it is asked.
    """
    try:
        found: PlayerSpec | None = None if spec.startswith("gtp:") else find_spec(spec).on(size)
    except SpecError:
        return False
    if isinstance(found, BySizeSpec):
        found = next(iter(found.boards.values()))
    return found is None or bool(found.program) or (isinstance(found, SearchSpec) and found.search.kind != "policy")


def list_opponents(named: str | None = None) -> dict[str, Opponent]:
    """Everybody, by name, the named player first; raises SpecError if that is none."""
    opponents = [] if named is None else [_opponent_named(named)]
    opponents += [
        Opponent(player.name, player.name, player.description, player.ratings, find_spec(player.name).board_size)
        for player in bundled_players()
    ]
    chosen: dict[str, Opponent] = {}
    for opponent in opponents:
        chosen.setdefault(opponent.name, opponent)
    return chosen


def _opponent_named(text: str) -> Opponent:
    if text.startswith("gtp:"):
        return Opponent(load_player(text).name, text, text.removeprefix("gtp:"))
    spec = find_spec(text)
    where = str(Path(text).resolve()) if Path(text).exists() else text
    return Opponent(spec.name or Path(text).stem, where, spec.description, spec.ratings, spec.board_size)


# Table


class Phase(StrEnum):
    PLAYING = "playing"
    COUNTING = "counting"
    FINISHED = "finished"


class Tally(NamedTuple):
    """The parts of a side's score."""

    stones: int
    territory: int
    prisoners: int
    komi: float

    @property
    def total(self) -> float:
        return self.stones + self.territory + self.prisoners + self.komi


class Table:
    """One game and everything that is agreed about it."""

    def __init__(self, settings: TableSettings, record: SgfGame | None = None) -> None:
        """Begin a game, or open a record; raises SgfError if that cannot be played here."""
        self.settings = settings
        self.phase = Phase.PLAYING
        self.clock = TableClock(settings.time.control)
        self.dead: set[int] = set()
        self.is_estimated = False  # whether somebody has looked which stones are dead
        self._seki: list[int] = []
        self.is_record = record is not None  # which is looked at; what is tried there is a variation
        self.opened = OpenRecord(_new_record(settings) if record is None else record)

    # Who may do what

    @property
    def is_players_color(self) -> bool:
        """Whether the player, and no person, moves for whose turn it is."""
        return self.phase is Phase.PLAYING and self.settings.is_players_turn(self.opened.game.to_play)

    @property
    def is_players_turn(self) -> bool:
        """Whether the player is to move now: not where one only looks at what was played."""
        return self.is_players_color and not (self.opened.game.is_over or self.opened.node.children)

    @property
    def can_go_about(self) -> bool:
        """Whether one may look at other positions: not while the board is counted, nor while a clock runs."""
        return self.phase is Phase.FINISHED or (self.phase is Phase.PLAYING and not self.clock.is_used)

    @property
    def can_undo(self) -> bool:
        return self._before() is not None

    @property
    def can_redo(self) -> bool:
        return self.phase is not Phase.COUNTING and bool(self.opened.node.children)

    @property
    def result(self) -> GameResult | None:
        return self.opened.record.result

    # The game

    def play(self, move: int) -> None:
        """Play a move of whoever's turn it is; two passes lead to the count."""
        if self.phase is Phase.COUNTING:
            raise TableError(texts.COUNT_FIRST)
        self.opened.play(move, is_main=self.phase is Phase.PLAYING and not self.is_record)
        if self.is_players_color and self.opened.node.children:
            self.opened.step(1)  # that was answered before
        if self.phase is Phase.PLAYING and self.opened.game.is_over and not self.opened.node.children:
            self.begin_count()

    def undo(self) -> None:
        """Go back by a move, and by so many more that it is a person's turn; ``redo`` returns."""
        before = self._before()
        if before is None:
            raise TableError(texts.NOTHING_TO_UNDO)
        self.opened.go_to(before)

    def redo(self) -> None:
        """Go on to what was undone, up to a person's turn."""
        if not self.can_redo:
            raise TableError(texts.NOTHING_TO_REDO)
        self.opened.step(1)
        while self.is_players_color and self.opened.node.children:
            self.opened.step(1)

    def _before(self) -> Node | None:
        """The position before this one where a person may play; None if there is none."""
        if self.phase is Phase.COUNTING:
            return None
        node = self.opened.node.parent
        while node is not None and self.phase is Phase.PLAYING and self._is_players_node(node):
            node = node.parent
        return node

    def _is_players_node(self, node: Node) -> bool:
        if self.settings.seats is Seats.BOTH:
            return False
        movers = [color for color, name in _LABEL_LETTERS.items() if name in node.properties]
        to_play = -movers[0] if len(movers) == 1 else self.opened.record.replay(until=node).to_play
        return self.settings.is_players_turn(to_play)

    def reopen(self) -> None:
        """Play on from here in a finished game; its result is no more."""
        if self.phase is not Phase.FINISHED:
            raise TableError(texts.NOT_FINISHED)
        self.phase = Phase.PLAYING
        self.opened.record.root.properties.pop("RE", None)

    def resign(self, color: int | None = None) -> None:
        """End the game: a color gives up, by default whose turn it is, or the person if there is one."""
        loser = self._person() if color is None else color
        self._finish(GameResult(-loser, None, Reason.RESIGNATION))

    def lose_on_time(self) -> None:
        """End the game: whose turn it is has no time left."""
        color = self.opened.game.to_play
        self._finish(GameResult(-color, None, Reason.TIME))
        self.clock.run_out(color)

    def _person(self) -> int:
        to_play = self.opened.game.to_play
        return {Seats.BLACK: BLACK, Seats.WHITE: WHITE}.get(self.settings.seats, to_play)

    def _finish(self, result: GameResult) -> None:
        self.clock.stop()
        self.phase = Phase.FINISHED
        self.opened.record.root.set_text("RE", str(result))

    # The count

    def begin_count(self) -> None:
        """Count the board as it stands."""
        self.phase = Phase.COUNTING
        self.dead = set()
        self.is_estimated = False

    def mark_dead(self, status: Status) -> None:
        """Believe an estimate of what is dead, unless the rules say that dead stones must be captured."""
        self.is_estimated = True
        self._seki = status.seki_stones
        comes_off = self.opened.game.rules.friendly_pass_ok or "RU" not in self.opened.record.root.properties
        self.dead = set(status.dead_stones) if comes_off else set()

    def toggle_dead(self, point: int) -> None:
        """Say of a chain that it is dead, or that it is not."""
        board = self.opened.game.board
        if self.phase is Phase.COUNTING and board[point] != EMPTY:
            self.dead ^= set(board.chain(point))

    def owners(self) -> NDArray[np.int8]:
        """Whose each point is in the count, [n²]: under area rules with the stones, else territory alone."""
        game = self.opened.game
        if game.rules.scoring is Scoring.AREA:
            return scoring.area(game.board, self.dead)
        return scoring.territory(game.board, self.dead, self._living_seki())

    def count(self) -> GameResult:
        """The result of the count as the dead stones are marked now."""
        return GameResult.by_score(self.opened.game.score(self.dead, self._living_seki()))

    def _living_seki(self) -> list[int]:
        return [point for point in self._seki if point not in self.dead]

    def count_neutral(self) -> int:
        """How many empty points are nobody's."""
        return int(np.sum((self.opened.game.board.stones == EMPTY) & (self.owners() == EMPTY)))

    def tally(self) -> dict[int, Tally] | None:
        """What each side's score is made of; None if that is not all, as with a handicap that is paid for."""
        game, stones, owners = self.opened.game, self.opened.game.board.stones, self.owners()
        is_area = game.rules.scoring is Scoring.AREA
        gone = np.isin(np.arange(stones.size), list(self.dead))
        made = {}
        for color in (BLACK, WHITE):
            standing = int(np.sum((stones == color) & ~gone & (owners == color))) if is_area else 0
            prisoners = 0 if is_area else game.board.captured(-color) + int(np.sum((stones == -color) & gone))
            territory = int(np.sum(owners == color)) - standing
            made[color] = Tally(standing, territory, prisoners, game.komi if color == WHITE else 0.0)
        difference = made[BLACK].total - made[WHITE].total
        is_all = abs(difference - game.score(self.dead, self._living_seki())) < 1e-6
        return made if is_all else None

    def accept_count(self) -> None:
        """Agree to the count: it becomes the result, and the record shows whose each point is."""
        if self.phase is not Phase.COUNTING:
            raise TableError(texts.NO_COUNT)
        owners = self.owners()
        is_dead = np.isin(np.arange(owners.size), list(self.dead))
        owners[(self.opened.game.board.stones != EMPTY) & ~is_dead] = EMPTY
        for name, color in (("TB", BLACK), ("TW", WHITE)):
            points = np.flatnonzero(owners == color).tolist()
            if points:
                self.opened.node.properties[name] = [format_sgf_point(point, self.opened.size) for point in points]
        self._finish(self.count())

    def play_on(self) -> None:
        """Leave the count and go on with the game: the last two passes are taken back."""
        if self.phase is not Phase.COUNTING:
            raise TableError(texts.NO_COUNT)
        self.phase = Phase.PLAYING
        while self.opened.game.last_move == PASS and not self.opened.node.children:
            self.opened.remove()

    # On disk

    def state(self) -> dict[str, Any]:
        """Everything but the record, as JSON."""
        return {
            "settings": self.settings.model_dump(mode="json"),
            "phase": self.phase.value,
            "place": self.opened.place,
            "dead": sorted(self.dead),
            "seki": self._seki,
            "clock": self.clock.to_json(),
            "is_record": self.is_record,
        }

    @classmethod
    def restore(cls, state: dict[str, Any], record: SgfGame) -> Table:
        """A table from what ``state`` gave; raises ValueError or KeyError if it is not such a thing."""
        table = cls(TableSettings.model_validate(state["settings"]), record)
        table.opened.follow(state["place"])
        table.phase = Phase(state["phase"])
        points = range(table.opened.size**2)
        table.dead = {point for point in state["dead"] if point in points and table.opened.game.board[point] != EMPTY}
        table._seki = [point for point in state["seki"] if point in points]
        table.is_estimated = table.phase is Phase.COUNTING
        table.clock.restore(state["clock"])
        table.is_record = bool(state.get("is_record", table.settings.seats is Seats.BOTH))
        return table


def _new_record(settings: TableSettings) -> SgfGame:
    record = SgfGame(game_to_tree(settings.new_game()))
    names = {"PB": texts.YOU, "PW": texts.YOU}
    if settings.seats is Seats.BLACK:
        names["PW"] = settings.player
    elif settings.seats is Seats.WHITE:
        names["PB"] = settings.player
    for name, text in names.items():
        record.root.set_text(name, text)
    return record


# From a table to the picture of its board: stones, marks, numbers, the count, and the ways to go on.


@dataclass(slots=True)
class Look:
    """What one person has chosen to see, and the tool in hand."""

    coordinates: bool = True
    numbers: bool = False
    sound: bool = True
    motion: bool = True
    tool: Tool = Tool.PLAY


def draw_table(table: Table, look: Look) -> Picture:
    """The picture of a table as it stands."""
    opened = table.opened
    game = opened.game
    is_counting = table.phase is Phase.COUNTING
    return Picture(
        size=game.size,
        stones=game.board.stones,
        last=None if look.numbers else game.last_move,
        ghost=_ghost(table, look),
        labels=_labels(table, look),
        marks=_count_marks(table) if is_counting else opened.marks(),
        dead=sorted(table.dead) if is_counting else (),
        coordinates=look.coordinates,
        sound=look.sound,
        motion=look.motion,
        description=_describe(table),
    )


def _ghost(table: Table, look: Look) -> int:
    """The stone that a click would put on the board, EMPTY for none."""
    tools = {Tool.BLACK: BLACK, Tool.WHITE: WHITE}
    if look.tool is not Tool.PLAY:
        return tools.get(look.tool, EMPTY)
    if table.phase is Phase.COUNTING or table.is_players_color:
        return EMPTY
    return table.opened.game.to_play


def _labels(table: Table, look: Look) -> dict[int, str]:
    opened = table.opened
    labels = {point: str(number) for point, number in opened.move_numbers().items()} if look.numbers else {}
    variations = opened.variations()
    if len(variations) > 1:
        letters = (chr(ord("a") + number) for number in range(26))
        named = zip(letters, variations, strict=False)
        labels |= {v.move: letter for letter, v in named if v.move is not None and v.move != PASS}
    return labels | opened.labels()


def _count_marks(table: Table) -> dict[int, str]:
    """Whose each point is: living stones speak for themselves."""
    stones = table.opened.game.board.stones
    owners = table.owners()
    shown = (stones == EMPTY) | np.isin(np.arange(stones.size), list(table.dead))
    return {point: _COLOR_WORDS[int(owners[point])] for point in np.flatnonzero(shown & (owners != EMPTY)).tolist()}


def _describe(table: Table) -> str:
    """The board in words, for who cannot see it."""
    game = table.opened.game
    size = f"{game.size}×{game.size}"
    if not game.moves:
        return texts.SPOKEN_EMPTY.format(size=size)
    last = game.moves[-1]
    return texts.SPOKEN.format(
        size=size,
        number=len(game.moves),
        color=texts.COLORS[last.color],
        vertex=format_vertex(last.move, game.size),
    )
