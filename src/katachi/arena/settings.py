"""The settings of a tournament: a strict TOML file, and the same record for a match of two.

```toml
size = 9
games = 100                                # games of each pair
[players]
alp = "alp"                                # a bundled name, a player file, a run, a model or a GTP program
gnugo = "gtp:gnugo --mode gtp --level 0 --chinese-rules --seed {seed}"
[openings]
random_plies = 2
```

Every setting but ``players`` has a default. ``{seed}`` in a GTP command is replaced by the seed of the game. Paths
are relative to the file. ``jobs`` and the ``[report]`` table do not touch play, so they may change when a run is
resumed.
"""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, Literal, Self, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator
from pydantic_core import ErrorDetails

from katachi.core.cards import ModelError
from katachi.core.contracts import Limit
from katachi.core.disk import format_toml, parse_toml, read_regular
from katachi.core.models import PRETRAINED, find_model, open_model
from katachi.core.registry import suggest
from katachi.go.points import MAX_SIZE
from katachi.go.rules import MAX_KOMI, Rules, parse_rules
from katachi.players.specs import place_model, player_file, split_changes
from katachi.search.clock import MAX_SECONDS
from katachi.search.settings import MAX_SIMULATIONS
from katachi.sgf.repairs import DEFAULT_LIMITS

# What can go wrong in the arena before a game is played; what goes wrong in a game is its result.


class ArenaError(ValueError):
    """A match or tournament that cannot be played as asked."""


class SettingsError(ArenaError):
    """A tournament file that is wrong, with the setting and what would be right."""


class RunError(ArenaError):
    """A run directory that cannot be used: other settings, in use, or damaged."""


class OpeningError(ArenaError):
    """An opening book that offers nothing to play from."""


# The settings themselves.

GTP_PREFIX: Final = "gtp:"

Scheme = Literal["round-robin", "gauntlet", "ladder"]
_MOVES_PER_POINT: Final = 3  # a game is stopped and scored after this many moves for every point of the board


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class OpeningSettings(_Strict):
    """Where games begin: after some random plies, or in the positions of a book of game records."""

    paired: bool = True  # every opening is played twice, with the colors exchanged
    random_plies: int = Field(default=2, ge=0, le=100)
    from_line: int = Field(default=1, ge=1, le=9)  # the line from the edge on or above which random plies lie
    book: str | None = None
    book_plies: int | None = Field(default=None, ge=0)

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if self.book is None and self.book_plies is not None:
            raise ValueError("book_plies needs a book")
        return self


class LimitSettings(_Strict):
    """What a player may spend on a move, and what happens if it takes longer."""

    seconds: float | None = Field(default=None, gt=0, le=MAX_SECONDS)
    simulations: int | None = Field(default=None, gt=0, le=MAX_SIMULATIONS)
    grace: float = Field(default=0.5, ge=0, le=MAX_SECONDS)
    lose_on_time: bool = False

    @property
    def limit(self) -> Limit:
        return Limit(simulations=self.simulations, seconds=self.seconds)


class SprtSettings(_Strict):
    """A match of two that ends when one of two strengths of the first player, in Elo points, is clear enough."""

    elo0: float
    elo1: float
    alpha: float = Field(default=0.05, gt=0, lt=0.5)
    beta: float = Field(default=0.05, gt=0, lt=0.5)

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if not -2000 <= self.elo0 < self.elo1 <= 2000:
            raise ValueError("elo0 must be below elo1, both between -2000 and 2000")
        return self


class ReportSettings(_Strict):
    """How the games are counted; may change without playing again."""

    anchor: str | None = None
    anchor_rating: float = 0.0
    exclude_duplicates: bool = False
    bootstrap_samples: int = Field(default=1000, ge=100, le=100_000)


class TournamentSettings(_Strict):
    """Everything that decides how a tournament is played and reported."""

    players: dict[str, str]
    size: int = Field(default=9, ge=2, le=MAX_SIZE)
    rules: str = "katachi"
    komi: float | None = Field(default=None, ge=-MAX_KOMI, le=MAX_KOMI)
    games: int = Field(default=100, ge=1, le=1_000_000_000)
    scheme: Scheme = "round-robin"
    seed: int = Field(default=0, ge=0, lt=2**63)
    max_moves: int | None = Field(default=None, ge=1, le=1_000_000_000)
    referee: str = "estimate"
    check_referee: str | None = None
    jobs: int = Field(default=1, ge=1, le=10_000)
    openings: OpeningSettings = OpeningSettings()
    limit: LimitSettings = LimitSettings()
    sprt: SprtSettings | None = None
    report: ReportSettings = ReportSettings()

    @field_validator("players", mode="before")
    @classmethod
    def _named(cls, players: Any) -> Any:
        """A list of players is short for a table in which each is called by its text."""
        if not isinstance(players, list):
            return players
        if len(set(map(str, players))) < len(players):
            raise ValueError("a player is listed twice; give each a name in a [players] table")
        return {str(player): player for player in players}

    @field_validator("players")
    @classmethod
    def _enough(cls, players: dict[str, str]) -> dict[str, str]:
        if len(players) < 2:
            raise ValueError("a tournament needs two players or more")
        if blank := [name for name, text in players.items() if not name.strip() or not text.strip()]:
            raise ValueError(f"the player {blank[0]!r} is blank")
        return players

    @field_validator("rules")
    @classmethod
    def _known_rules(cls, rules: str) -> str:
        parse_rules(rules)
        return rules

    @field_validator("referee", "check_referee")
    @classmethod
    def _known_referee(cls, referee: str | None) -> str | None:
        if referee is not None and referee not in ("estimate", "count") and not referee.startswith(GTP_PREFIX):
            raise ValueError(f"{referee!r} is not a referee; say estimate, count or {GTP_PREFIX}COMMAND")
        return referee

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.report.anchor is not None and self.report.anchor not in self.players:
            raise ValueError(f"the anchor {self.report.anchor!r} is none of the players {', '.join(self.players)}")
        if self.sprt is not None and len(self.players) != 2:
            raise ValueError("a sequential test (sprt) is for two players")
        return self

    @property
    def game_rules(self) -> Rules:
        return parse_rules(self.rules, self.komi)

    @property
    def move_limit(self) -> int:
        return self.max_moves if self.max_moves is not None else _MOVES_PER_POINT * self.size**2

    def resolved(self) -> TournamentSettings:
        """The same settings with full paths, and with every default that depends on others written out."""
        update = {"komi": self.game_rules.komi, "max_moves": self.move_limit}
        return _in_folder(Path.cwd(), self).model_copy(update=update)

    def to_toml(self) -> str:
        """A tournament file with these settings."""
        return format_toml(self.model_dump(exclude_none=True))

    def differences(self, other: TournamentSettings) -> list[str]:
        """Settings that would change the games, as ``komi is 7.5 there and 6.5 here`` (self is there)."""
        there, here = (dict(_flattened(settings.resolved()._play_settings())) for settings in (self, other))
        keys = [*there, *(key for key in here if key not in there)]
        return [
            f"{key} is {_shown(there.get(key))} there and {_shown(here.get(key))} here"
            for key in keys
            if there.get(key) != here.get(key)
        ]

    def digest(self) -> str:
        """A short text that is equal for settings that lead to equal games, wherever files of players lie."""
        files = {name: text for name, text in self.players.items() if _is_path(text) and player_file(text).is_file()}
        players = {**self.players, **{name: identify_player(file) for name, file in files.items()}}
        return self.model_copy(update={"players": players}).former_digest()

    def former_digest(self) -> str:
        """What it was when the paths of files were in it."""
        text = json.dumps(self.resolved()._play_settings(), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def _play_settings(self) -> dict[str, Any]:
        # The order of the players numbers the pairs, and with them the seeds. Pairs of games are usual and not named,
        # nor is where random plies lie, so that runs keep the digests that they had before there was a choice.
        values = self.model_dump(exclude={"jobs", "report"}) | {"order of the players": ", ".join(self.players)}
        for name in ("paired", "from_line"):
            if name not in self.openings.model_dump(exclude_defaults=True):
                del values["openings"][name]
        return values

    def input_digests(self) -> dict[str, str]:
        """SHA-256 of the players in files, and of a book of openings."""
        players = {text: identify_player(text) for text in self.players.values() if _is_path(text)}
        return players | ({self.openings.book: digest_bytes(self.openings.book)} if self.openings.book else {})

    def where_they_are(self, here: TournamentSettings, inputs: Mapping[str, str]) -> TournamentSettings:
        """These settings with the files of players that lie elsewhere now; ``inputs`` says what they were."""
        moved = {
            name: here.players[name]
            for name, text in self.players.items()
            if text in inputs and _is_path(here.players.get(name, ""))
            if inputs[text] in (identify_player(here.players[name]), digest_bytes(player_file(here.players[name])))
        }
        return self.model_copy(update={"players": {**self.players, **moved}})


def read_settings(path: Path) -> TournamentSettings:
    """Read a tournament file; raises SettingsError with a sentence that names the file and the setting."""
    try:
        values = parse_toml(_read_bytes(path).decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path} is not a TOML file: {error}") from None
    try:
        return _in_folder(path.parent, parse_settings(values))
    except SettingsError as error:
        raise SettingsError(f"{path}: {error}") from None


def parse_settings(values: Mapping[str, Any]) -> TournamentSettings:
    """Check plain values; an unknown key is an error that names the nearest known one."""
    try:
        return TournamentSettings.model_validate(dict(values))
    except ValidationError as error:
        raise SettingsError("; ".join(_sentence(detail) for detail in error.errors())) from None


def _in_folder(folder: Path, settings: TournamentSettings) -> TournamentSettings:
    """Settings whose relative paths begin in a folder."""
    players = {name: str(folder / text) if _is_path(text) else text for name, text in settings.players.items()}
    openings = settings.openings
    if openings.book is not None:
        openings = openings.model_copy(update={"book": str(folder / openings.book)})
    return settings.model_copy(update={"players": players, "openings": openings})


def identify_player(text: str) -> str:
    """SHA-256 of what a player's file says, and of the weights of a model that it names by a path.

    A file that is not TOML is known by its bytes, and a model that is not there by its name.
    """
    file = player_file(text)
    try:
        values = parse_toml(_read_bytes(file).decode())
        place_model(values, str(file))
        path = find_model(values["evaluator"]["model"])
        if path.parent != PRETRAINED:
            values["evaluator"]["model"] = open_model(path).card.files
    except (tomllib.TOMLDecodeError, UnicodeDecodeError):
        return digest_bytes(file)
    except (KeyError, TypeError, ModelError):
        pass
    content = " ".join([json.dumps(values, sort_keys=True, default=str), *split_changes(text)[1]])
    return hashlib.sha256(content.encode()).hexdigest()


def digest_bytes(file: str | Path) -> str:
    """SHA-256 of a file."""
    return hashlib.sha256(_read_bytes(Path(file))).hexdigest()


def _is_path(text: str) -> bool:
    """Whether a player is given by a file, or by the folder of a run or model, which may be ``./name``."""
    text, _ = split_changes(text)
    return not text.startswith(GTP_PREFIX) and (text.endswith(".toml") or Path(text).name != text)


def _read_bytes(path: Path) -> bytes:
    try:
        return read_regular(path, DEFAULT_LIMITS.size)
    except OSError as error:
        raise SettingsError(f"cannot read {path}: {error.strerror}") from None


def _sentence(detail: ErrorDetails) -> str:
    place = ".".join(str(part) for part in detail["loc"])
    if detail["type"] != "extra_forbidden":
        message = detail["msg"].removeprefix("Value error, ")
        return f"{place}: {message}" if place else message
    known = _known_keys(detail["loc"][:-1])
    return f"{place} is not a setting; {suggest(str(detail['loc'][-1]), known)}"


def _known_keys(place: tuple[int | str, ...]) -> list[str]:
    model: Any = TournamentSettings
    for part in place:
        annotation = model.model_fields[part].annotation
        model = next((option for option in get_args(annotation) if option is not type(None)), annotation)
    return list(model.model_fields)


def _flattened(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in values.items():
        if isinstance(value, Mapping):
            yield from _flattened(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value


def _shown(value: object) -> str:
    return "not set" if value is None else json.dumps(value, ensure_ascii=False)
