"""The game itself: points, rules, boards, games, scoring, ladders and playouts. Imports nothing else of katachi."""

from __future__ import annotations

WARMUP = {
    "rules": "katachi.go.game:warmup",
    "playouts": "katachi.go.playouts:warmup",
    "scoring": "katachi.go.scoring:warmup",
    "ladders": "katachi.go.reading:warmup",
}
