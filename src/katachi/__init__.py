"""katachi (形, *shape*) learns to evaluate Go positions, and plays, analyses and explains with what it learned.

The public names are imported when they are first used, so that ``import katachi`` and the command line answer at
once.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from katachi.arena.tournament import MatchResult, play_match
    from katachi.core.contracts import (
        AfterstateEvaluator,
        Analysis,
        Candidate,
        Decision,
        Evaluation,
        Evaluator,
        Limit,
        LinearEvaluator,
        Outcome,
        OutcomeEvaluator,
        OwnershipEvaluator,
        Player,
        RankedEvaluator,
        Search,
        SearchResult,
    )
    from katachi.core.evaluators import PolicyEvaluator, ValueEvaluator
    from katachi.core.models import load_model
    from katachi.go.board import Board, Illegality, IllegalMove
    from katachi.go.game import Game, Play, Setup
    from katachi.go.playouts import run_playouts
    from katachi.go.points import BLACK, EMPTY, PASS, WHITE, GameResult, Symmetry, format_vertex, parse_vertex
    from katachi.go.rules import KoRule, Rules, parse_rules
    from katachi.players.search_player import Mcts
    from katachi.players.specs import load_player
    from katachi.sgf import game_to_sgf, load_sgf, parse_sgf
    from katachi.shapes.train import train_shapes

__version__ = "0.2.0"

_HOMES = {
    "katachi.arena.tournament": ("MatchResult", "play_match"),
    "katachi.core.contracts": (
        "AfterstateEvaluator",
        "Analysis",
        "Candidate",
        "Decision",
        "Evaluation",
        "Evaluator",
        "Limit",
        "LinearEvaluator",
        "Outcome",
        "OutcomeEvaluator",
        "OwnershipEvaluator",
        "Player",
        "RankedEvaluator",
        "Search",
        "SearchResult",
    ),
    "katachi.core.evaluators": ("PolicyEvaluator", "ValueEvaluator"),
    "katachi.core.models": ("load_model",),
    "katachi.go.board": ("Board", "IllegalMove", "Illegality"),
    "katachi.go.game": ("Game", "Play", "Setup"),
    "katachi.go.playouts": ("run_playouts",),
    "katachi.go.points": ("BLACK", "EMPTY", "PASS", "WHITE", "GameResult", "Symmetry", "format_vertex", "parse_vertex"),
    "katachi.go.rules": ("KoRule", "Rules", "parse_rules"),
    "katachi.players.search_player": ("Mcts",),
    "katachi.players.specs": ("load_player",),
    "katachi.sgf": ("game_to_sgf", "load_sgf", "parse_sgf"),
    "katachi.shapes.train": ("train_shapes",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "BLACK",
    "EMPTY",
    "PASS",
    "WHITE",
    "AfterstateEvaluator",
    "Analysis",
    "Board",
    "Candidate",
    "Decision",
    "Evaluation",
    "Evaluator",
    "Game",
    "GameResult",
    "IllegalMove",
    "Illegality",
    "KoRule",
    "Limit",
    "LinearEvaluator",
    "MatchResult",
    "Mcts",
    "Outcome",
    "OutcomeEvaluator",
    "OwnershipEvaluator",
    "Play",
    "Player",
    "PolicyEvaluator",
    "RankedEvaluator",
    "Rules",
    "Search",
    "SearchResult",
    "Setup",
    "Symmetry",
    "ValueEvaluator",
    "format_vertex",
    "game_to_sgf",
    "load_model",
    "load_player",
    "load_sgf",
    "parse_rules",
    "parse_sgf",
    "parse_vertex",
    "play_match",
    "run_playouts",
    "train_shapes",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOME_OF[name]), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
