"""The settings of a table: who plays, on which board, by which rules, with how much time."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from katachi.go.game import Game
from katachi.go.points import BLACK, WHITE, fixed_handicap_points, max_fixed_handicap
from katachi.go.rules import MAX_KOMI, NAMED_RULES, Rules
from katachi.search.clock import TimeControl

SIZES: Final = range(2, 20)
DEFAULT_RULES: Final = "chinese-ogs"
MAX_MINUTES: Final = 600


class TableError(ValueError):
    """Something that cannot be done at a table, with the reason in a sentence."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


class Seats(StrEnum):
    """Who sits where."""

    BLACK = "black"  # the person has Black, the player White
    WHITE = "white"
    BOTH = "both"  # one person, or several before one screen, play both colors


_PLAYERS_COLORS: Final = {
    Seats.BLACK: (WHITE,),
    Seats.WHITE: (BLACK,),
    Seats.BOTH: (),
}


class TimeSettings(_Strict):
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


class TableSettings(_Strict):
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
        game = Game(self.size, self.game_rules)
        if self.handicap:
            game.place_handicap(fixed_handicap_points(self.size, self.handicap))
        return game

    @property
    def game_rules(self) -> Rules:
        return NAMED_RULES[self.rules].with_komi(self.komi)

    def is_players_turn(self, color: int) -> bool:
        """Whether the player, not a person, moves for a color."""
        return color in _PLAYERS_COLORS[self.seats]


def check_settings(**values: Any) -> TableSettings:
    """Settings from what a person has chosen; raises TableError with a sentence if they do not go together."""
    try:
        return TableSettings(**values)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        reason = first["msg"].removeprefix("Value error, ")
        raise TableError(f"{where}: {reason}" if where else reason) from None
