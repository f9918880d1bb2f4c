"""Small sets of random games, split as they must be."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from helpers.random_records import random_record
from katachi.data.dataset import Dataset, LabelCard, Labels
from katachi.data.importing import import_games
from katachi.sgf.files import Split, split_of


def make_small_set(
    folder: Path, seed: int = 5, size: int = 5, training: int = 12, validation: int = 3, test: int = 0
) -> Path:
    """Import so many random games for training, validation and testing, and return the folder of the set."""
    rng = np.random.default_rng(seed)
    missing = {Split.TRAINING: training, Split.VALIDATION: validation, Split.TEST: test}
    records = []
    while any(missing.values()):
        record = random_record(rng, size, int(rng.integers(10, 40)))
        split = split_of(record.encode())
        if missing[split]:
            missing[split] -= 1
            records.append(record)
    (folder / "games.sgf").write_text("\n".join(records))
    return import_games([folder / "games.sgf"], folder / "set").path


def label_small_set(path: Path, unknown: int = 0) -> None:
    """Let every stone that stands at the end of a game own its point, and nobody the others; some games are unknown."""
    games = Dataset.open(path)
    labels = Labels.open(path, games.card.games, games.only_size(), games.digest)
    for game in range(unknown, games.card.games):
        labels.labels[game] = games.end(game).stones
    labels.save(LabelCard(dataset=games.digest))
