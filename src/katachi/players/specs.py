r"""Player specs: a player as a bundled name, a TOML file, a training run, a model or ``gtp:COMMAND``.

A spec names its ``kind`` and gives the options of it; ``name``, ``description`` and ``rating`` are for people.
Reading is strict: a key that the kind does not know is an error which names the nearest one that it does.

>>> load_player("alp", seed=1).name
'alp'
>>> parse_spec('kind = "alp"\nnmae = "mine"')
Traceback (most recent call last):
    ...
katachi.players.specs.SpecError: spec: unknown key 'nmae'; did you mean 'name'?

A player that searches has a model, a way to look ahead with it, a time to do so, and a bound below which it gives up:

kind = "search"
resign_below = 0.05
[evaluator]
model = "policy-9"          # a bundled model, or the path of a model's directory; ./ is where the file lies
rank = 5                    # and the options of such models: ``options`` of their card
[search]
kind = "mcts"               # any of ``search/settings.py``, with its settings; not all need an evaluator
expand_after = 2
[search.playouts]
patterns = false
[limit]
seconds = 5.0

What follows a name or a file changes it: ``policy-9 evaluator.rank=5 search.temperature=0.5``.

A new kind of player is a ``PlayerSpec`` with its own fields and ``build``, named in ``PLAYER_KINDS`` of a package of
katachi, or handed to ``register_kind``.
"""

from __future__ import annotations

import json
import re
import tomllib
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache, partial
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, ClassVar, Final, NamedTuple, get_args

import numpy as np
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SerializeAsAny,
    ValidationError,
    ValidationInfo,
    create_model,
    field_validator,
)

from katachi.core.cards import ModelError, Strict
from katachi.core.contracts import Evaluator, Limit, Player
from katachi.core.disk import parse_toml, read_regular
from katachi.core.execution import here
from katachi.core.registry import exports, resolve, suggest, system_of_card
from katachi.players.search_player import SearchPlayer
from katachi.players.simple import AlpPlayer, InfluencePlayer, OnePlyPlayer, RandomPlayer
from katachi.search.clock import MAX_SECONDS
from katachi.search.settings import MAX_DEPTH, MAX_SIMULATIONS, GreedySettings, SearchSettings, find_settings

DEFAULT_SIZE: Final = 9  # of boards, for players of all sizes
MAX_SPEC_BYTES: Final = 1_000_000
_GTP_PREFIX: Final = "gtp:"
_BUNDLED_NAME: Final = re.compile(r"[\w-]+")
_CHANGED: Final = re.compile(r"(.*?)((?:\s+[a-z0-9_.]+=\S+)*)", re.DOTALL)  # a player, and settings of its own
_RUN_PLAYER: Final = re.compile(r"player(?:-(\d{1,9}))?\.toml")  # as training runs have them


class SpecError(ValueError):
    """A player spec that cannot be used, with where and why."""


class RatingTable(Strict):
    """How strong a player was found to be: an Elo rating with its interval of 95 %, and what it is counted from.

    ``rank`` is that of people who would be about as strong, such as 15k, and ``evidence`` what says so.
    """

    value: int
    low: int
    high: int
    scale: str = Field(min_length=1)
    rank: str = ""
    evidence: str = ""


FindTable = Callable[[Any], type[BaseModel]]


class PlayerSpec(Strict, ABC):
    """What every spec says. Subclasses add the options of their kind."""

    find_tables: ClassVar[Mapping[str, FindTable]] = {}  # classes of those tables that depend on what stands in them

    kind: str
    name: str = Field(default="", max_length=100)
    description: str = ""
    rating: RatingTable | None = None

    @abstractmethod
    def build(self, seed: int | None) -> Player:
        """Make the player. The same seed makes one that decides the same."""

    @property
    def board_size(self) -> int | None:
        """The only size of boards that it plays on; None if it plays on all, or that is not known."""
        return None

    @property
    def program(self) -> str:
        """The command line that it runs, which may do anything; most run none."""
        return ""

    def on(self, size: int) -> PlayerSpec:  # noqa: ARG002 (most are the same on all)
        """The same player for boards of this size alone."""
        return self

    @property
    def ratings(self) -> dict[str, RatingTable]:
        """Its ratings by the size of boards that they were measured on, as far as it names one: ``9``, or ``other``."""
        return {} if self.rating is None else {str(self.board_size or "other"): self.rating}

    @classmethod
    def change(cls, values: dict[str, Any], change: str, source: str) -> None:
        """Let values say ``search.temperature=0.5``, or the like; raises SpecError."""
        change_values(values, change, source)

    @classmethod
    def list_keys(cls, table: Sequence[str], values: Any) -> list[str]:
        """The keys of a spec, or of a table inside it, of which these are the values."""
        model: type[BaseModel] = cls
        for depth, part in enumerate(table):
            values = values[part]
            if depth == 0 and part in cls.find_tables:
                model = cls.find_tables[part](values)
                continue
            hint = model.model_fields[part].annotation
            inner = [kind for kind in (hint, *get_args(hint)) if isinstance(kind, type) and issubclass(kind, BaseModel)]
            if not inner:
                return []
            model = inner[0]
        return list(model.model_fields)


# The simple players


class SimpleSpec(PlayerSpec):
    """A one-ply player; it has no options."""

    def build(self, seed: int | None) -> Player:
        return _SIMPLE_PLAYERS[self.kind](self.name or None, seed)


_SIMPLE_PLAYERS: Final[dict[str, type[OnePlyPlayer]]] = {
    player.kind: player for player in (RandomPlayer, AlpPlayer, InfluencePlayer)
}


# Players that search


class EvaluatorTable(Strict):
    """What evaluates: a model, and options of its kind, which are fields of a subclass if its card can be read."""

    model_config = ConfigDict(extra="allow")

    model: str = Field(min_length=1)

    def load(self) -> Evaluator:
        """The model; raises ModelError if it cannot be used, or not with these options."""
        from katachi.core.models import CARD, find_model

        path = find_model(self.model)
        card = path / CARD
        changed = card.stat().st_mtime_ns if card.is_file() else 0
        options = {name: getattr(self, name) for name in self.model_fields_set if name != "model"}
        return _load_once(path.resolve(), json.dumps(options, sort_keys=True, default=str), changed)


@lru_cache(maxsize=4)
def _load_once(path: Path, options: str, changed: int) -> Evaluator:  # noqa: ARG001 (the card's time makes the difference)
    """A model; one that has not changed is not read again, as an arena makes its players anew for every game."""
    from katachi.core.models import load_model

    return load_model(path, json.loads(options))


def _read_card(model: str) -> Any:
    """The card of a model; None if there is none that can be read, as whoever loads the model will find."""
    from katachi.core.models import find_model, open_model

    try:
        return open_model(find_model(model)).card
    except ModelError:
        return None


def _find_evaluator_table(values: Any) -> type[BaseModel]:
    """The table of a model's evaluator, with the options of its card."""
    model = values.get("model") if isinstance(values, Mapping) else None
    if not isinstance(model, str) or len(values) == 1:
        return EvaluatorTable
    options = getattr(_read_card(model), "options", None)
    return EvaluatorTable if options is None else _add_options(options)


@cache
def _add_options(options: type[BaseModel]) -> type[BaseModel]:
    return create_model("EvaluatorTable", __base__=(EvaluatorTable, options))  # strict, as options are


class LimitTable(Strict):
    """When to stop looking ahead: at whichever comes first."""

    simulations: int | None = Field(default=None, ge=1, le=MAX_SIMULATIONS)
    depth: int | None = Field(default=None, ge=1, le=MAX_DEPTH)
    seconds: float | None = Field(default=None, gt=0, le=MAX_SECONDS)


class SearchSpec(PlayerSpec):
    """A player that searches, with a model or without."""

    find_tables: ClassVar = {"evaluator": _find_evaluator_table, "search": find_settings}

    evaluator: SerializeAsAny[EvaluatorTable] | None = None
    search: SerializeAsAny[SearchSettings] = GreedySettings()
    limit: LimitTable = LimitTable()
    resign_below: float | None = Field(default=None, ge=0, lt=1)

    @field_validator("evaluator", "search", mode="before")
    @classmethod
    def _find_table(cls, values: Any, info: ValidationInfo) -> BaseModel | None:
        if values is None or isinstance(values, BaseModel):
            return values
        return cls.find_tables[info.field_name or ""](values).model_validate(values)

    def build(self, seed: int | None) -> SearchPlayer:
        """Load the model and make the player; raises SpecError if the model cannot be used, or not in this search."""
        try:
            search = self.search.build(None if self.evaluator is None else self.evaluator.load())
        except ValueError as error:
            raise SpecError(str(error)) from None
        name = self.name or (self.search.kind if self.evaluator is None else Path(self.evaluator.model).name)
        limit = Limit(**self.limit.model_dump())
        rank = getattr(self.evaluator, "rank", None)
        return SearchPlayer(name, search, limit, np.random.default_rng(seed), self.resign_below, rank)

    @property
    def board_size(self) -> int | None:
        card = None if self.evaluator is None else _read_card(self.evaluator.model)
        return None if card is None else card.board_size


# Kinds of players

SpecClass = Callable[[], type[PlayerSpec]]
_registered: Final[dict[str, SpecClass]] = {}


def player_kinds() -> dict[str, SpecClass]:
    """All kinds of players: those of katachi's packages, imported when they are called, and those registered."""
    found = {kind: partial(resolve, spec) for kinds in exports("PLAYER_KINDS") for kind, spec in kinds.items()}
    return {**found, **_registered}


def register_kind(kind: str, spec_class: SpecClass) -> None:
    """Add a kind of player. ``spec_class`` returns its PlayerSpec, and is called when a spec of that kind is read."""
    if kind in player_kinds():
        raise ValueError(f"there is already a kind of player called {kind!r}")
    _registered[kind] = spec_class


# Reading


def parse_spec(text: str, source: str = "spec", changes: Sequence[str] = ()) -> PlayerSpec:
    """Read a spec; raises SpecError, which begins with ``source``, if anything about it is wrong.

    Changes are dotted keys with their values: ``search.temperature=0.5``.
    """
    try:
        values = parse_toml(text)
    except tomllib.TOMLDecodeError as error:
        raise SpecError(f"{source}: no TOML: {error}") from None
    place_model(values, source)
    kind = values.get("kind")
    kinds = player_kinds()
    if not isinstance(kind, str):
        raise SpecError(f'{source}: it must say kind = "…", one of {", ".join(kinds)}')
    if kind not in kinds:
        raise SpecError(f"{source}: unknown kind {kind!r}; {suggest(kind, kinds)}")
    spec_class = kinds[kind]()
    for change in changes:
        spec_class.change(values, change, source)
    try:
        return spec_class.model_validate(values)
    except ValidationError as error:
        raise SpecError(f"{source}: {_explain(error.errors()[0], spec_class, values)}") from None


def change_values(values: Any, change: str, source: str) -> None:
    """Set a dotted key of the values of a spec, as in ``search.temperature=0.5``; raises SpecError."""
    key, _, text = change.partition("=")
    *tables, last = key.split(".")
    for table in tables:
        values = values.setdefault(table, {})
        if not isinstance(values, dict):
            raise SpecError(f"{source}: {table!r} is not a table, so there is no {key!r}")
    try:
        values[last] = parse_toml(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        values[last] = text


def split_changes(text: str) -> tuple[str, list[str]]:
    """A player without the settings that follow it, and these: ``key=value`` each. A program has none."""
    found = _CHANGED.fullmatch(text)
    return (text, []) if found is None or text.startswith(_GTP_PREFIX) else (found[1], found[2].split())


def place_model(values: dict[str, Any], source: str) -> None:
    """Let a model's path that begins with ./ or ../ start at the file, if it is there: both can be moved together."""
    for board in boards.values() if isinstance(boards := values.get("boards"), dict) else ():
        if isinstance(board, dict):
            place_model(board, source)
    table = values.get("evaluator")
    if not isinstance(table, dict):
        return
    model = table.get("model")
    if isinstance(model, str) and model.startswith(("./", "../")) and (Path(source).parent / model).exists():
        table["model"] = str(Path(source).parent / model)


def load_player(text: str, seed: int | None = None, size: int | None = None) -> Player:
    """The player that a text stands for, as ``find_spec`` says; raises SpecError. Compiles nothing.

    One that is another on every board is loaded for those of one ``size``, if that is known.
    """
    spec = find_spec(text)
    return (spec if size is None else spec.on(size)).build(seed)


def find_spec(text: str) -> PlayerSpec:
    """The spec of a bundled name, a TOML file, a training run, a model's folder or ``gtp:COMMAND``; raises SpecError.

    All but programs may be followed by settings, ``key=value``. It has a name, but for a program, which has its own:
    that in the spec, or of the file, the run or the model, with these settings.
    """
    if text.startswith(_GTP_PREFIX):
        command = text.removeprefix(_GTP_PREFIX).strip()
        if not command:
            raise SpecError("gtp: must be followed by a command, as in gtp:gnugo --mode gtp")
        return player_kinds()["gtp"]().model_validate({"kind": "gtp", "command": command})
    text, changes = split_changes(text)
    spec = parse_spec(*read_spec(text), changes)
    return spec.model_copy(update={"name": " ".join([_choose_name(text, spec.name), *changes])})


def read_spec(text: str) -> tuple[str, str]:
    """The TOML of a bundled name, a file, a run or a model, and what to call it in errors; raises SpecError."""
    try:
        if (bundled := _bundled_file(text)) is not None:
            return bundled.read_text(encoding="utf-8"), text
        path = player_file(text)
        if path.suffix != ".toml" and path.is_file() and here(text).is_dir():
            return _format_spec(path.parent), text
        if text and path.is_dir():
            raise SpecError(f"{text}: this folder has neither a player nor a model (yet)")
        if path.exists():
            return read_regular(path, MAX_SPEC_BYTES).decode(), str(path)
    except (OSError, UnicodeDecodeError, ModelError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error).removeprefix(f"{text}: ")
        raise SpecError(f"{text}: {reason}") from None
    if path.suffix == ".toml" or len(path.parts) > 1:
        raise SpecError(f"{text}: there is no such file{'' if path.suffix else ' or folder'}")
    raise SpecError(f"no player is called {text!r}; {suggest(text, (p.name for p in bundled_players()))}")


def player_file(text: str) -> Path:
    """The file that decides what a file, a run or a model plays: a spec, or else the card of the model.

    Of a run with several players it is the first. What is none of them is returned as it is.
    """
    from katachi.core.models import CARD, find_model

    text, _ = split_changes(text)
    path = here(text)
    if not path.is_dir():
        return path
    found = [(int(match[1] or 0), file) for file in path.iterdir() if (match := _RUN_PLAYER.fullmatch(file.name))]
    if found:
        return min(found)[1]
    try:
        model = find_model(text)
    except ModelError:
        return path
    beside = model.with_name(f"{model.name.replace('model', 'player')}.toml")
    return beside if _RUN_PLAYER.fullmatch(beside.name) and beside.is_file() else model / CARD


def choose_size(texts: Sequence[str], wanted: int | None = None) -> int:
    """The size of boards for players: that which is wanted, or the only one of theirs, or 9.

    Raises SpecError if one of them cannot play on it.
    """
    known = {text: size for text in texts if (size := find_spec(text).board_size) is not None}
    size = wanted or next(iter(known.values()), DEFAULT_SIZE)
    for text, own in known.items():
        if own != size:
            others = f"the board is {size}×{size}" if wanted else f"{next(iter(known))} on {size}×{size}"
            raise SpecError(f"{text} plays on {own}×{own} alone, and {others}")
    return size


def find_model_of(text: str) -> Path:
    """The directory of a model by any of its names, or of the one that a player evaluates with; raises ValueError."""
    from katachi.core.models import find_model

    try:
        return find_model(text)
    except ModelError:
        if _bundled_file(text) is None and not here(text).is_file():
            raise
    spec = find_spec(text)
    if not isinstance(spec, SearchSpec) or spec.evaluator is None:
        raise SpecError(f"{text} plays without a model; katachi models lists those that there are")
    return find_model(spec.evaluator.model)


def files_of_player(text: str) -> list[Path]:
    """What a player is read from and is not bundled: its file, and the folders of its models; raises SpecError."""
    from katachi.core.models import PRETRAINED, find_model

    if text.startswith(_GTP_PREFIX):
        return []
    values = find_spec(text).model_dump()
    boards = [values, *(values.get("boards") or {}).values()]
    names = [table["model"] for board in boards if isinstance(table := board.get("evaluator"), dict)]
    models = [path for name in names if (path := find_model(name)).parent != PRETRAINED]
    file = player_file(text)
    return [file, *models] if file.is_file() and _bundled_file(split_changes(text)[0]) is None else models


def _bundled_file(text: str) -> Traversable | None:
    file = resources.files("katachi.players") / "shipped" / f"{text}.toml"
    return file if _BUNDLED_NAME.fullmatch(text) and file.is_file() else None


def _choose_name(text: str, own: str) -> str:
    """As the spec says, or as the file or folder is called; in a run it is the run that has a name of its own."""
    if _bundled_file(text) is not None:
        return own or text
    from katachi.core.training import CONFIG

    path = here(text).resolve()
    if path.is_dir() and not (path.parent / CONFIG).is_file():
        return path.name
    if not (path.parent / CONFIG).is_file():
        return own or path.stem
    return path.parent.name + path.stem.removeprefix("player").removeprefix("model")


def _format_spec(model: Path) -> str:
    """The TOML of a player that uses a model as a released one of its system would."""
    from katachi.core.models import open_model

    releases = map(resolve, system_of_card(open_model(model).card.kind).releases.values())
    search = next((release.search for release in releases if release.search), None)
    text = f'kind = "search"\n[evaluator]\nmodel = {json.dumps(str(model.resolve()))}\n'
    return text + (f'[search]\nkind = "{search}"\n' if search else "")


class BundledPlayer(NamedTuple):
    name: str
    kind: str
    description: str
    ratings: dict[str, RatingTable]  # by the size of boards


def bundled_players() -> list[BundledPlayer]:
    """What comes with katachi, in the order of the alphabet, but numbers by their size."""
    folder = resources.files("katachi.players") / "shipped"
    names = (file.name.removesuffix(".toml") for file in folder.iterdir() if file.name.endswith(".toml"))
    in_order = sorted(names, key=lambda name: [(word, int(n or 0)) for word, n in re.findall(r"(\D*)(\d*)", name)])
    specs = [(name, parse_spec(*read_spec(name))) for name in in_order]
    return [BundledPlayer(name, spec.kind, spec.description, spec.ratings) for name, spec in specs]


def default_player(size: int) -> str:
    """The name of the player that learned local shapes on boards of a size, or else of the average liberty player."""
    name = f"shapes-{size}"
    return name if any(player.name == name for player in bundled_players()) else AlpPlayer.kind


def _explain(error: Any, spec_class: type[PlayerSpec], values: Any) -> str:
    """One sentence about the first thing that pydantic found wrong."""
    *table, last = error["loc"] or ("spec",)
    key = ".".join(str(part) for part in (*table, last))
    if error["type"] == "extra_forbidden":
        return f"unknown key {key!r}; {suggest(str(last), spec_class.list_keys(table, values))}"
    if error["type"] == "missing":
        return f"the key {key!r} is missing"
    return f"{key} = {error['input']!r:.200}: {error['msg'].removeprefix('Value error, ')}"
