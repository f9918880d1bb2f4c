"""Counts over a set of games: sizes, splits, ranks, results, sources, and what is not in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from katachi.data.dataset import RESULTS, SPLITS, Dataset
from katachi.sgf.ranks import format_grade


def count_games(dataset: Dataset) -> dict[str, Any]:
    """The counts as plain values; by rank two players a game, the strongest first."""
    games, card = dataset.games, dataset.card
    grades = np.concatenate([games["white_grade"], games["black_grade"]])
    on_disk = sum(check.bytes for check in card.files.values())
    return {
        "games": card.games,
        "moves": card.moves,
        "positions": int(games["plays"].sum(dtype=np.int64)),
        "bytes_per_move": round(on_disk / card.moves, 3),
        "by_size": {str(size): count for size, count in _tally(games["lines"])},
        "by_split": _name(games["split"], SPLITS),
        "by_rank": {format_grade(grade): count for grade, count in reversed(_tally(grades))},
        "by_result": _name(games["result"], [result.name.lower() if result else "?" for result in RESULTS]),
        "by_source": _name(games["source"], [source.path for source in card.sources]),
        "unique": card.unique,
        "repeated": card.repeated,
        "splits_of": card.splits_of,
        "split_elsewhere": card.split_elsewhere,
        "skipped": card.skipped,
        "cut": card.cut,
        "examples": card.examples,
        "digest": dataset.digest,
    }


def _tally(values: NDArray[Any]) -> list[tuple[int, int]]:
    found, counts = np.unique(values, return_counts=True)
    return list(zip(found.tolist(), counts.tolist(), strict=True))


def _name(indices: NDArray[Any], names: Sequence[str]) -> dict[str, int]:
    return {str(names[index]): count for index, count in _tally(indices)}
