"""An evaluator that takes as long as it is told, like a network on another device, and has no opinion."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from katachi.core.contracts import Evaluation
from katachi.go.board import Board


class SlowEvaluator:
    """Finds all legal moves equally good, after so many seconds a batch in which it uses no processor."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    def evaluate(self, boards: Sequence[Board]) -> Evaluation:
        """Wait, then answer."""
        time.sleep(self._seconds)
        legal = np.stack([board.legal_moves() for board in boards]).astype(np.float32)
        even = np.full(len(boards), 0.5, dtype=np.float32)
        return Evaluation(even, legal / legal.sum(axis=1, keepdims=True))
