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

WARMUP = {"records": "katachi.sgf.parsing:warmup"}

_HOMES = {
    "files": ("FoundGame", "iter_sgf", "load_sgf"),
    "parsing": ("parse_sgf",),
    "record": ("SgfGame",),
    "repairs": ("DEFAULT_LIMITS", "Limits", "Repair", "RepairKind", "SgfError"),
    "tree": ("Node",),
    "writing": ("format_sgf", "game_to_sgf", "game_to_tree", "save_sgf"),
}

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
    for module, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
