"""Game records: reading what people really have, replaying it, writing FF4."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from katachi.sgf.files import FoundGame, iter_sgf, load_sgf
    from katachi.sgf.parsing import parse_sgf
    from katachi.sgf.record import SgfGame
    from katachi.sgf.repairs import DEFAULT_LIMITS, Limits, Repair, RepairKind, SgfError
    from katachi.sgf.tree import Node
    from katachi.sgf.writing import format_sgf, game_to_sgf, game_to_tree, save_sgf

_HOMES = {
    "files": ("FoundGame", "iter_sgf", "load_sgf"),
    "parsing": ("parse_sgf",),
    "record": ("SgfGame",),
    "repairs": ("DEFAULT_LIMITS", "Limits", "Repair", "RepairKind", "SgfError"),
    "tree": ("Node",),
    "writing": ("format_sgf", "game_to_sgf", "game_to_tree", "save_sgf"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "DEFAULT_LIMITS",
    "FoundGame",
    "Limits",
    "Node",
    "Repair",
    "RepairKind",
    "SgfError",
    "SgfGame",
    "format_sgf",
    "game_to_sgf",
    "game_to_tree",
    "iter_sgf",
    "load_sgf",
    "parse_sgf",
    "save_sgf",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for, so that the package itself costs nothing."""
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)
