"""Features: numbered properties of a board, for linear values and for people to look at."""

from __future__ import annotations

WARMUP = {"influence": "katachi.features.influence:warmup"}
