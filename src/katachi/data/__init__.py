"""Game records as datasets to learn from: import, labels, batches."""

from __future__ import annotations

WARMUP = {"batches": "katachi.data.batches:warmup"}
