"""The systems: what can be learned, found by name, so that nothing else has to list them.

A system is a package that exports one value, ``SYSTEM``. Packages of katachi are found by ``pkgutil``, those of others
by the entry point group ``katachi.systems``, each of which names such a value. What a system offers is given by
references, texts like ``"katachi.core.linear:LinearCard"``, that are imported when they are asked for: looking through
the registry is cheap and imports neither kernels nor torch.

From the registry follow ``katachi train``, ``katachi models make``, ``katachi show``, the pages of models in the
browser, warm-up, the options and searches of player files, and the conformance tests.

>>> sorted(systems())
['crbm', 'policy', 'shapes', 'territory']
>>> find_card("linear").__name__
'LinearCard'
>>> find_card("lineal")
Traceback (most recent call last):
    ...
katachi.core.registry.UnknownName: there is no kind of model called 'lineal'; did you mean 'linear'?
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from katachi.core.cards import ModelCard

GROUP: Final = "katachi.systems"  # of entry points

Reference = str  # "package.module:name"


class UnknownName(LookupError):
    """A name that no system has, in a sentence with the nearest one, or else all that there are."""

    def __init__(self, what: str, name: str, known: Iterable[str]) -> None:
        super().__init__(f"there is no {what} called {name!r}; {suggest(name, known)}")


def suggest(name: str, known: Iterable[str]) -> str:
    """The known name that is nearest to one that is not, as a question; all of them if none is near.

    Of names that differ in a number alone, the nearest number counts.

    >>> suggest("level-11", ["level-1", "level-9", "level-10"])
    "did you mean 'level-10'?"
    >>> suggest("xyz", ["alp", "random"])
    'known are alp, random'
    """
    names = list(known)
    stem, number = _split_number(name)
    numbered = [
        (abs(other - number), each) for each in names for start, other in [_split_number(each)] if start == stem
    ]
    near = [each for _, each in sorted(numbered)] or get_close_matches(name, names, n=1)
    return f"did you mean {near[0]!r}?" if near else f"known are {', '.join(names) or 'none'}"


def _split_number(name: str) -> tuple[str, int]:
    """``level-11`` as ``level-`` and 11; what does not end in a number has -1."""
    stem = name.rstrip("0123456789")
    return stem, int(name[len(stem) :][:9] or -1)


@dataclass(frozen=True, slots=True)
class System:
    """What a system offers, by references."""

    name: str  # of its package, and in ``katachi train``
    title: str
    cards: Mapping[str, Reference] = field(default_factory=dict)  # ``ModelCard`` classes by the ``kind`` of a card
    feature_cards: Mapping[str, Reference] = field(default_factory=dict)  # of the features of linear models, by kind
    trainings: Mapping[str, Reference] = field(default_factory=dict)  # by the command of ``katachi train``
    releases: Mapping[str, Reference] = field(default_factory=dict)  # how a recipe is released, by its folder
    searches: Mapping[str, Reference] = field(default_factory=dict)  # by the ``kind`` in a player file
    warmup: Mapping[str, Reference] = field(default_factory=dict)  # functions that compile kernels, by stage
    lessons: Mapping[str, Reference] = field(default_factory=dict)  # that the browser offers, each a ``Lesson``
    draw: Reference | None = None  # what a model has learned, as a ``Drawing``; None: what it would play
    aliases: Mapping[str, str] = field(default_factory=dict)  # former names of trainings and kinds of cards


_CALLED: Final = {  # an entry of each table, in a sentence
    "cards": "kind of model",
    "feature_cards": "kind of features",
    "trainings": "training",
    "releases": "kind of recipe",
    "lessons": "lesson",
    "searches": "search",
    "warmup": "stage of warm-up",
}


def resolve(reference: Reference) -> Any:
    """What a reference names, imported now."""
    module, _, name = reference.partition(":")
    return getattr(import_module(module), name)


def _packages() -> Iterator[ModuleType]:
    """The packages of katachi, none of which costs anything by itself."""
    modules = iter_modules([str(Path(__file__).parents[1])])
    return (import_module(f"katachi.{module.name}") for module in modules if module.ispkg and module.name != "cli")


@cache
def systems() -> dict[str, System]:
    """All systems by name: katachi's own in the order of the alphabet, then those of other packages.

    Raises ValueError if two of them have one name.
    """
    found: list[System] = [*exports("SYSTEM"), *(entry.load() for entry in entry_points(group=GROUP))]
    return _unite("system", ((system.name, system) for system in found))


def exports(name: str) -> Iterator[Any]:
    """What the packages of katachi export under a name, those that do, in the order of the alphabet."""
    return (getattr(package, name) for package in _packages() if hasattr(package, name))


def references(table: str) -> dict[str, Reference]:
    """One table of all systems, such as ``trainings``; raises ValueError if two systems have the same entry."""
    return _unite(_CALLED[table], (entry for system in systems().values() for entry in getattr(system, table).items()))


def _unite(what: str, entries: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    united: dict[str, Any] = {}
    for name, value in entries:
        if name in united:
            raise ValueError(f"two systems have a {what} called {name!r}")
        united[name] = value
    return united


def current_name(table: str, name: str) -> str:
    """What an entry of a table is called today: the name itself, unless it is a former one."""
    if name in references(table):
        return name
    return next((system.aliases[name] for system in systems().values() if name in system.aliases), name)


def find(table: str, name: str) -> Any:
    """What a table of the systems has under a name or a former name; raises UnknownName."""
    known, current = references(table), current_name(table, name)
    if current not in known:
        raise UnknownName(_CALLED[table], name, known)
    return resolve(known[current])


def find_card(kind: str) -> type[ModelCard]:
    """The class of cards of a kind of model; raises UnknownName."""
    card: type[ModelCard] = find("cards", kind)
    return card


def system_of_card(kind: str) -> System:
    """The system whose models have cards of a kind; raises UnknownName."""
    current = current_name("cards", kind)
    for system in systems().values():
        if current in system.cards:
            return system
    raise UnknownName(_CALLED["cards"], kind, references("cards"))


def warmups() -> dict[str, Reference]:
    """The functions that compile kernels, by stage: those in ``WARMUP`` of the packages, and those of the systems."""
    shared = {stage: found for table in exports("WARMUP") for stage, found in table.items()}
    return shared | references("warmup")


# Extras: libraries that only some commands need (pyproject.toml has their versions)


class Extra(NamedTuple):
    """A library that is not always installed."""

    name: str  # of the extra, as in ``katachi[train]``
    library: str  # as pip calls it
    purpose: str  # what needs it, where a sentence begins

    @property
    def command(self) -> str:
        """What installs it."""
        return f"pip install 'katachi[{self.name}]'"

    def __str__(self) -> str:
        return f"{self.purpose} needs {self.library}: {self.command}"


EXTRAS: Final = {  # by the module that is imported
    "torch": Extra("train", "torch", "training networks"),
    "onnx": Extra("train", "onnx", "writing trained networks"),
    "sklearn": Extra("train", "scikit-learn", "predicting winners from features"),
    "scipy": Extra("train", "scipy", "predicting winners from features"),
    "nicegui": Extra("web", "nicegui", "the board in the browser"),
    "pyarrow": Extra("parquet", "pyarrow", "writing Parquet"),
    "tensorboardX": Extra("tensorboard", "tensorboardX", "writing metrics for TensorBoard"),
    "pyspiel": Extra("bench", "open_spiel", "measuring OpenSpiel"),
    "atheris": Extra("fuzz", "atheris", "fuzzing"),
}


class MissingExtra(ImportError):
    """A library that is needed and not installed, in a sentence with the command that installs it."""


def is_installed(module: str) -> bool:
    """Whether a module could be imported; it is not imported."""
    return find_spec(module) is not None


def require(*modules: str) -> None:
    """Raise MissingExtra if one of the modules of extras is not installed: now, not after a night of work."""
    for module in modules:
        if not is_installed(module):
            raise MissingExtra(str(EXTRAS[module]), name=module)
