"""The systems: what can be learned, found by name, so that nothing else has to list them.

A system is a package that exports one value, ``SYSTEM``. Packages of katachi are found by ``pkgutil``, those of others
by the entry point group ``katachi.systems``, which names such a value. What a system offers is given by references,
texts like ``"katachi.shapes.model:LinearCard"``, that are imported when they are asked for: looking through the registry is
cheap and imports neither kernels nor torch.

From the registry follow ``katachi train``, ``katachi models make``, ``katachi show``, the pages of models in the
browser, warm-up, the options and searches of player files, and the conformance tests.

>>> sorted(systems())
['crbm', 'policy', 'shapes', 'territory']
>>> find_card("linear").__name__
'LinearCard'
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from pkgutil import iter_modules
from typing import Any, Final

import katachi

GROUP: Final = "katachi.systems"  # of entry points

Reference = str  # "package.module:name"


class UnknownName(KeyError):
    """A name that no system has, with those that there are."""

    def __str__(self) -> str:
        return str(self.args[0])


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
    draw: Reference | None = None  # what a model has learned, as a ``Drawing``; None: what it would play
    aliases: Mapping[str, str] = field(default_factory=dict)  # former names of trainings and kinds of cards


def resolve(reference: Reference) -> Any:
    """What a reference names, imported now."""
    module, _, name = reference.partition(":")
    return getattr(import_module(module), name)


@cache
def systems() -> dict[str, System]:
    """All systems by name: katachi's own in the order of the alphabet, then those of other packages."""
    own = (
        import_module(f"katachi.{module.name}")
        for module in iter_modules(katachi.__path__)
        if module.ispkg and module.name != "cli"
    )
    found: list[System] = [package.SYSTEM for package in own if hasattr(package, "SYSTEM")]
    found += [entry.load() for entry in entry_points(group=GROUP)]
    return {system.name: system for system in found}


def references(table: str) -> dict[str, Reference]:
    """One table of all systems, such as ``trainings``."""
    return {name: found for system in systems().values() for name, found in getattr(system, table).items()}


def find(table: str, name: str) -> Any:
    """What a table of the systems has under a name or a former name; raises UnknownName."""
    known = references(table)
    for former, today in ((a, b) for system in systems().values() for a, b in system.aliases.items()):
        if name == former and name not in known:
            name = today
    if name not in known:
        raise UnknownName(f"there is no {name}: known are {', '.join(known)}")
    return resolve(known[name])


def find_card(kind: str) -> Any:
    """The class of cards of a kind of model; raises UnknownName."""
    return find("cards", kind)


def system_of_card(kind: str) -> System:
    """The system whose models have cards of a kind; raises UnknownName."""
    for system in systems().values():
        if system.aliases.get(kind, kind) in system.cards:
            return system
    raise UnknownName(f"no system has models of the kind {kind}")


def all_warmups() -> Iterator[tuple[str, Any]]:
    """The stages of warm-up of all systems, and the functions that do them."""
    return ((stage, resolve(found)) for stage, found in references("warmup").items())
