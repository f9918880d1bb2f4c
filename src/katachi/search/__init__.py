"""Searches: they look ahead with any evaluator, and know no model."""

from __future__ import annotations

WARMUP = {
    "informed playouts": "katachi.search.pattern_learning:warmup",
    "alpha-beta": "katachi.search.alphabeta:warmup",
    "tree search": "katachi.search.mcts:warmup",
}
