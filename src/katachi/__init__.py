"""katachi (形, *shape*) learns to evaluate Go positions, and plays, analyses and explains with what it learned.

The public names are imported when they are first used, so that ``import katachi`` and the command line answer at
once.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from katachi.core.contracts import Analysis, Candidate, Decision, Evaluation, Limit
    from katachi.go.board import Board, Illegality, IllegalMove
    from katachi.go.game import Game, Play, Setup
    from katachi.go.playouts import run_playouts
    from katachi.go.points import BLACK, EMPTY, PASS, WHITE, GameResult, Symmetry, format_vertex, parse_vertex
    from katachi.go.rules import KoRule, Rules, parse_rules
    from katachi.players.specs import load_player
    from katachi.sgf import game_to_sgf, load_sgf, parse_sgf

__version__ = "0.2.0"

_HOMES = {
    "katachi.go.board": ("Board", "IllegalMove", "Illegality"),
    "katachi.go.game": ("Game", "Play", "Setup"),
    "katachi.go.playouts": ("run_playouts",),
    "katachi.go.points": ("GameResult", "BLACK", "EMPTY", "PASS", "WHITE", "Symmetry", "format_vertex", "parse_vertex"),
    "katachi.go.rules": ("KoRule", "Rules", "parse_rules"),
    "katachi.core.contracts": ("Analysis", "Candidate", "Decision", "Evaluation", "Limit"),
    "katachi.players.specs": ("load_player",),
    "katachi.sgf": ("game_to_sgf", "load_sgf", "parse_sgf"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "BLACK",
    "EMPTY",
    "PASS",
    "WHITE",
    "Analysis",
    "Board",
    "Candidate",
    "Decision",
    "Evaluation",
    "Game",
    "GameResult",
    "IllegalMove",
    "Illegality",
    "KoRule",
    "Limit",
    "Play",
    "Rules",
    "Setup",
    "Symmetry",
    "format_vertex",
    "game_to_sgf",
    "load_player",
    "load_sgf",
    "parse_rules",
    "parse_sgf",
    "parse_vertex",
    "run_playouts",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOME_OF[name]), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
