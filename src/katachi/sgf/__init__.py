"""Game records: reading what people really have, replaying it, writing FF4."""

from __future__ import annotations

from katachi.sgf.files import FoundGame, iter_sgf, load_sgf
from katachi.sgf.parsing import parse_sgf
from katachi.sgf.record import SgfGame
from katachi.sgf.repairs import DEFAULT_LIMITS, Limits, Repair, RepairKind, SgfError
from katachi.sgf.tree import Node
from katachi.sgf.writing import format_sgf, game_to_sgf, game_to_tree, save_sgf

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
