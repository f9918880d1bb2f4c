"""A player of one name on boards of several sizes, with a search for each of them.

kind = "by-size"
[boards.9]                  # what the file of a player that searches says, but for its kind
evaluator = {model = "policy-9", rank = "15k"}
search = {kind = "mcts", priors = "synchronous"}
opening = {moves = 6, temperature = 0.5}  # drawn from the policy without search, so that games differ
[boards.other]              # for sizes that are not named; without it there are no others
search = {kind = "mcts"}

A rating belongs to a board, and stands in its table.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from threading import Event
from typing import Any, Final, NamedTuple

from pydantic import Field, ValidationError, field_validator

from katachi.core.cards import Strict
from katachi.core.contracts import Analysis, Ban, Decision, Evaluator, Limit, Parameter, Player
from katachi.core.evaluators import WrongBoardSize
from katachi.go.game import Game
from katachi.go.points import MAX_SIZE, MIN_SIZE
from katachi.players.search_player import SearchPlayer
from katachi.players.specs import DEFAULT_SIZE, PlayerSpec, RatingTable, SearchSpec, change_values
from katachi.search.settings import PolicySettings

OTHER: Final = "other"
_SIZES: Final = tuple(map(str, range(MIN_SIZE, MAX_SIZE + 1)))


class OpeningTable(Strict):
    """How many moves of a game, of both sides, are drawn from the evaluator's policy, and how sharply."""

    moves: int = Field(ge=1)
    temperature: float = Field(default=1.0, ge=0)


class BoardSpec(SearchSpec):
    """How to play on boards of one size."""

    opening: OpeningTable | None = None

    def build_opening(self, name: str, seed: int | None) -> SearchPlayer | None:
        """The player of the first moves, if that is another."""
        if self.opening is None:
            return None
        search = PolicySettings(temperature=self.opening.temperature)
        return self.model_copy(update={"name": name, "search": search}).build(seed)


class BySizeSpec(PlayerSpec):
    """Players by the size of the boards that they play on, as ``9``, or ``other``."""

    boards: dict[str, BoardSpec] = Field(min_length=1)

    @field_validator("boards", mode="before")
    @classmethod
    def _read_boards(cls, boards: Any) -> Any:
        if not isinstance(boards, Mapping) or not all(isinstance(table, Mapping) for table in boards.values()):
            return boards
        if unknown := [name for name in boards if name not in (*_SIZES, OTHER)]:
            raise ValueError(f"{unknown[0]!r} is not a size from {_SIZES[0]} to {_SIZES[-1]}, nor {OTHER!r}")
        return {name: {"kind": "search", **table} for name, table in boards.items()}

    def build(self, seed: int | None) -> Player:
        """Make the player; what it needs on a board is loaded when it plays there, and may raise SpecError then."""
        name = self.name or self.kind

        def make(size: int) -> PlayerOfSize:
            spec = self.boards.get(str(size), self.boards.get(OTHER))
            if spec is None:
                raise WrongBoardSize(f"{name} plays on boards of the sizes {', '.join(self.boards)}, not {size}")
            main = spec.model_copy(update={"name": name}).build(seed)
            moves = 0 if spec.opening is None else spec.opening.moves
            return PlayerOfSize(main, spec.build_opening(name, seed) or main, moves)

        return PlayerBySize(name, make, self.board_size or DEFAULT_SIZE)

    def on(self, size: int) -> BySizeSpec:
        """The same for boards of this size alone, if there are such."""
        found = self.boards.get(str(size), self.boards.get(OTHER))
        return self if found is None else self.model_copy(update={"boards": {str(size): found}})

    @property
    def board_size(self) -> int | None:
        only = next(iter(self.boards)) if len(self.boards) == 1 else OTHER
        return None if only == OTHER else int(only)

    @property
    def ratings(self) -> dict[str, RatingTable]:
        return {size: spec.rating for size, spec in self.boards.items() if spec.rating is not None}

    @classmethod
    def change(cls, values: dict[str, Any], change: str, source: str) -> None:
        """Change the players on all boards for which that makes sense, unless it says ``boards`` itself."""
        boards = values.get("boards")
        if change.partition(".")[0] in cls.model_fields or not isinstance(boards, dict):
            super().change(values, change, source)
            return
        fitting = {}
        for size, table in boards.items():
            changed = deepcopy(table)
            change_values(changed, change, source)
            with suppress(ValidationError):
                BoardSpec.model_validate({"kind": "search", **changed})
                fitting[size] = changed
        boards |= fitting or dict.fromkeys(boards, changed)  # which says what is wrong with it

    @classmethod
    def list_keys(cls, table: Sequence[str], values: Any) -> list[str]:
        if len(table) < 2:
            return super().list_keys(table, values)
        return BoardSpec.list_keys(table[2:], values["boards"][table[1]])


class PlayerOfSize(NamedTuple):
    """Who plays on boards of one size, and who plays so many first moves there."""

    main: SearchPlayer
    opening: SearchPlayer
    moves: int

    def at(self, game: Game) -> SearchPlayer:
        return self.opening if len(game.moves) < self.moves else self.main


class PlayerBySize:
    """Hands every game to its player for boards of that size.

    What is asked of no game, its evaluator and its parameters, is that of the board which it was prepared for or
    played on last.
    """

    def __init__(self, name: str, make: Callable[[int], PlayerOfSize], size: int = DEFAULT_SIZE) -> None:
        self._name = name
        self._make = make
        self._made: dict[int, PlayerOfSize] = {}
        self._size = size

    @property
    def name(self) -> str:
        return self._name

    def on(self, size: int) -> PlayerOfSize:
        """Who plays on boards of a size, made when they are first asked for."""
        if size not in self._made:
            self._made[size] = self._make(size)
        self._size = size
        return self._made[size]

    def decide(self, game: Game, limit: Limit) -> Decision:
        """What its player for such boards decides."""
        return self.on(game.size).at(game).decide(game, limit)

    def decide_until(self, game: Game, limit: Limit, stop: Event) -> Decision:
        """The same, or soon after ``stop`` is set what it has found until then."""
        return self.on(game.size).at(game).decide_until(game, limit, stop)

    def think(self, game: Game, limit: Limit, stop: Event) -> Iterator[Decision]:
        """The same, watched."""
        return self.on(game.size).at(game).think(game, limit, stop)

    def analyze(self, game: Game, limit: Limit, stop: Event | None) -> Iterator[Analysis]:
        """Ever better analyses, in the opening too."""
        return self.on(game.size).main.analyze(game, limit, stop)

    def without(self, bans: Collection[Ban]) -> Player:
        """The same player, who looks at the first moves of a game like at all others."""

        def make(size: int) -> PlayerOfSize:
            main = self.on(size).main.without(bans)
            return PlayerOfSize(main, main, 0)

        return PlayerBySize(self._name, make, self._size)

    def ponder(self, game: Game, stop: Event) -> None:
        """Grow the tree, if there is one."""
        self.on(game.size).main.ponder(game, stop)

    def prepare(self, size: int) -> None:
        """Load what is needed on boards of a size."""
        self.on(size).main.prepare(size)

    @property
    def evaluator(self) -> Evaluator | None:
        """What it evaluates with."""
        return self.on(self._size).main.evaluator

    @property
    def parameters(self) -> Mapping[str, Parameter]:
        """The settings of its search."""
        return self.on(self._size).main.parameters

    def set_parameter(self, name: str, text: str) -> None:
        """Change one."""
        self.on(self._size).main.set_parameter(name, text)
