r"""Player specs: a player as a TOML file, a shipped name, or ``gtp:COMMAND``.

A spec names its ``kind`` and gives the options of it; ``name``, ``description`` and ``rating`` are for people.
Reading is strict: a key that the kind does not know is an error which names the nearest one that it does.

>>> load_player("alp", seed=1).name
'alp'
>>> parse_spec('kind = "alp"\nnmae = "mine"')
Traceback (most recent call last):
    ...
katachi.players.specs.SpecError: spec: unknown key 'nmae'; did you mean 'name'?

A new kind is a ``PlayerSpec`` with its own fields and ``build``, handed to ``register_kind``.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from importlib import resources
from pathlib import Path
from typing import Any, Final, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from katachi.core.contracts import Player
from katachi.players.simple import AlpPlayer, InfluencePlayer, OnePlyPlayer, RandomPlayer

MAX_SPEC_BYTES: Final = 1_000_000
_GTP_PREFIX: Final = "gtp:"
_BUNDLED_NAME: Final = re.compile(r"[\w-]+")


class SpecError(ValueError):
    """A player spec that cannot be used, with where and why."""


class RatingTable(BaseModel):
    """How strong a player was found to be: an Elo rating with its interval of 95 %, and what it is counted from."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    value: int
    low: int
    high: int
    scale: str = Field(min_length=1)


class PlayerSpec(BaseModel, ABC):
    """What every spec says. Subclasses add the options of their kind."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    kind: str
    name: str = Field(default="", max_length=100)
    description: str = ""
    rating: RatingTable | None = None

    @abstractmethod
    def build(self, seed: int | None) -> Player:
        """Make the player. The same seed makes one that decides the same."""


class SimpleSpec(PlayerSpec):
    """A one-ply player; it has no options."""

    def build(self, seed: int | None) -> Player:
        return _SIMPLE_PLAYERS[self.kind](self.name or None, seed)


class GtpSpec(PlayerSpec):
    """A program that speaks GTP on its standard input and output. Its randomness is its own: a seed does nothing."""

    command: str = Field(min_length=1)

    def build(self, seed: int | None) -> Player:  # noqa: ARG002
        from katachi.gtp.client import GtpPlayer  # starts processes: only where one is wanted

        return GtpPlayer(self.command, name=self.name) if self.name else GtpPlayer(self.command)


_SIMPLE_PLAYERS: Final[dict[str, type[OnePlyPlayer]]] = {
    player.kind: player for player in (RandomPlayer, AlpPlayer, InfluencePlayer)
}


def _search_spec() -> type[PlayerSpec]:
    from katachi.players.search_spec import SearchSpec  # loads models and searches: only where one is wanted

    return SearchSpec


SpecClass = Callable[[], type[PlayerSpec]]
_KINDS: Final[dict[str, SpecClass]] = dict.fromkeys(_SIMPLE_PLAYERS, lambda: SimpleSpec) | {
    "gtp": lambda: GtpSpec,
    "search": _search_spec,
}


def register_kind(kind: str, spec_class: SpecClass) -> None:
    """Add a kind of player. ``spec_class`` returns its PlayerSpec, and is called when a spec of that kind is read."""
    if kind in _KINDS:
        raise ValueError(f"there is already a kind of player called {kind!r}")
    _KINDS[kind] = spec_class


def parse_spec(text: str, source: str = "spec") -> PlayerSpec:
    """Read a spec; raises SpecError, which begins with ``source``, if anything about it is wrong."""
    try:
        values = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise SpecError(f"{source}: no TOML: {error}") from None
    kind = values.get("kind")
    if not isinstance(kind, str):
        raise SpecError(f'{source}: it must say kind = "…", one of {", ".join(_KINDS)}')
    if kind not in _KINDS:
        raise SpecError(f"{source}: unknown kind {kind!r}; {_nearest(kind, _KINDS)}")
    spec_class = _KINDS[kind]()
    try:
        return spec_class.model_validate(values)
    except ValidationError as error:
        raise SpecError(f"{source}: {_explain(error.errors()[0], spec_class)}") from None


def load_player(text: str, seed: int | None = None) -> Player:
    """The player that a shipped name, a TOML file or ``gtp:COMMAND`` stands for; raises SpecError."""
    if text.startswith(_GTP_PREFIX):
        command = text.removeprefix(_GTP_PREFIX).strip()
        if not command:
            raise SpecError("gtp: must be followed by a command, as in gtp:gnugo --mode gtp")
        return GtpSpec(kind="gtp", command=command).build(seed)
    return parse_spec(*read_spec(text)).build(seed)


def read_spec(text: str) -> tuple[str, str]:
    """The TOML of a shipped name or a file, and what to call it in errors; raises SpecError."""
    shipped = resources.files("katachi.players") / "shipped" / f"{text}.toml"
    path = Path(text)
    try:
        if _BUNDLED_NAME.fullmatch(text) and shipped.is_file():
            return shipped.read_text(encoding="utf-8"), text
        if path.is_file():
            return _read_file(path), text
    except (OSError, UnicodeDecodeError) as error:
        raise SpecError(f"{text}: {error}") from None
    if path.suffix == ".toml":
        raise SpecError(f"{text}: there is no such file")
    raise SpecError(f"no player is called {text!r}; {_nearest(text, (p.name for p in bundled_players()))}")


def _read_file(path: Path) -> str:
    if path.stat().st_size > MAX_SPEC_BYTES:
        raise SpecError(f"{path}: too large for a spec")
    return path.read_text(encoding="utf-8")


class BundledPlayer(NamedTuple):
    name: str
    kind: str
    description: str
    rating: RatingTable | None


def bundled_players() -> list[BundledPlayer]:
    """What comes with katachi, in the order of the alphabet, but numbers by their size."""
    folder = resources.files("katachi.players") / "shipped"
    names = (file.name.removesuffix(".toml") for file in folder.iterdir() if file.name.endswith(".toml"))
    specs = [(name, parse_spec(*read_spec(name))) for name in sorted(names, key=_natural_order)]
    return [BundledPlayer(name, spec.kind, spec.description, spec.rating) for name, spec in specs]


def _natural_order(name: str) -> list[tuple[str, int]]:
    """A key that sorts level-10 after level-9."""
    return [(word, int(number or 0)) for word, number in re.findall(r"(\D*)(\d*)", name)]


def default_player(size: int) -> str:
    """The name of the player that learned local shapes on boards of a size, or else of the average liberty player."""
    name = f"shapes-{size}"
    return name if any(player.name == name for player in bundled_players()) else AlpPlayer.kind


def _nearest(word: str, known: Iterable[str]) -> str:
    names = list(known)
    near = difflib.get_close_matches(word, names, n=1)
    return f"did you mean {near[0]!r}?" if near else f"known are {', '.join(names) or 'none'}"


def _explain(error: Any, spec_class: type[PlayerSpec]) -> str:
    """One sentence about the first thing that pydantic found wrong."""
    *table, last = error["loc"] or ("spec",)
    key = ".".join(str(part) for part in (*table, last))
    if error["type"] == "extra_forbidden":
        return f"unknown key {key!r}; {_nearest(str(last), _keys(spec_class, table))}"
    if error["type"] == "missing":
        return f"the key {key!r} is missing"
    return f"{key} = {error['input']!r}: {error['msg']}"


def _keys(model: type[BaseModel], table: Iterable[str]) -> list[str]:
    """The keys of a spec, or of a table inside it."""
    for part in table:
        inner = model.model_fields[part].annotation
        if not (isinstance(inner, type) and issubclass(inner, BaseModel)):
            return []
        model = inner
    return list(model.model_fields)
