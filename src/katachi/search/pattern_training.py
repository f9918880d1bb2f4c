"""Training the weights of moves from files of game records: which games, how well it went, and what is kept."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Final, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from katachi.core.cards import Metric, Training, provenance
from katachi.core.disk import write_atomically
from katachi.core.training import TrainingError
from katachi.search.move_weights import MoveWeights, save_move_weights
from katachi.search.pattern_learning import Choices, join_choices, judge, learn_weights, list_choices, uniform_weights
from katachi.sgf.errors import DEFAULT_LIMITS, SgfError
from katachi.sgf.files import find_files, iter_pieces, parse_piece
from katachi.sgf.ranks import grade_of
from katachi.sgf.record import SgfGame
from katachi.sgf.splits import Split, split_of

CARD: Final = "card.json"
_RANK: Final = re.compile(r"^\d{1,2}[kdp]$")
_READING_SHARE: Final = 0.8  # of the time that all takes


class PatternTraining(BaseModel):
    """What to learn from: the first so many games of each file whose players are strong enough."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    games: int = Field(default=2000, ge=1)  # of each file
    step: int = Field(default=4, ge=1)  # every so many moves are learned from
    weakest: Annotated[str, StringConstraints(pattern=_RANK.pattern)] | None = None
    iterations: int = Field(default=12, ge=1, le=1000)
    seed: int = 0


class MoveWeightsCard(BaseModel):
    """How weights of moves came about, and how well they foretell the moves of games they have not seen."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    format: Literal[1] = 1
    kind: Literal["move weights"] = "move weights"
    training: Training
    metrics: dict[str, Metric]


Watcher = Callable[[float], None]


def parse_rank(text: str) -> str:
    """A rank such as 5k, 1d or 9p; raises TrainingError."""
    if not _RANK.match(text):
        raise TrainingError(f"{text} is no rank: say 5k, 1d or 9p")
    return text


def train_patterns(
    settings: PatternTraining, files: Sequence[Path], folder: Path, watch: Watcher, command: str = ""
) -> MoveWeightsCard:
    """Learn from the training games of files and leave the weights and their card in a folder.

    ``watch`` hears now and then what share of the work is done.
    """
    paths = list(find_files(files))
    splits = _read_splits(paths, settings, lambda share: watch(_READING_SHARE * share))
    training, held_out = (join_choices(splits[split]) for split in (Split.TRAINING, Split.VALIDATION))
    if not len(training):
        raise TrainingError("there is no game to learn from")
    weights = learn_weights(training, settings.iterations, lambda share: watch(_learning_share(share)))
    card = MoveWeightsCard(
        training=Training(
            command=command,
            commit=provenance()["commit"],
            seed=settings.seed,
            games=len(splits[Split.TRAINING]),
            data=", ".join(path.name for path in paths),
            settings=settings.model_dump(mode="json"),
        ),
        metrics=_measure(weights, held_out) if len(held_out) else {},
    )
    save_move_weights(folder, weights)
    write_atomically(folder / CARD, card.model_dump_json(indent=2) + "\n")
    return card


def _learning_share(share: float) -> float:
    return _READING_SHARE + (1 - _READING_SHARE) * share


def _read_splits(paths: list[Path], settings: PatternTraining, watch: Watcher) -> dict[Split, list[Choices]]:
    """The choices of each game, by split."""
    splits: dict[Split, list[Choices]] = {split: [] for split in Split}
    rng = np.random.default_rng(settings.seed)
    for number, path in enumerate(paths):
        for count, (split, record) in enumerate(_strong_games(path, settings)):
            splits[split].append(list_choices(record, settings.step, int(rng.integers(settings.step))))
            watch((number + count / settings.games) / len(paths))
    return splits


def _strong_games(path: Path, settings: PatternTraining) -> Iterator[tuple[Split, SgfGame]]:
    """The games of a file that are no test, by players who are strong enough."""
    count = 0
    for piece in iter_pieces([path]):
        try:
            records = parse_piece(piece, DEFAULT_LIMITS)
        except SgfError:
            continue
        for index, record in enumerate(records):
            name = piece.data.strip() if len(records) == 1 else piece.data + str(index).encode()
            if (split := split_of(name)) is Split.TEST or not _is_strong(record, settings.weakest):
                continue
            yield split, record
            count += 1
            if count == settings.games:
                return


def _is_strong(record: SgfGame, weakest: str | None) -> bool:
    ranks = (record.black_rank, record.white_rank)
    return weakest is None or all(rank is not None and grade_of(rank) >= grade_of(weakest) for rank in ranks)


def _measure(weights: MoveWeights, held_out: Choices) -> dict[str, Metric]:
    learned, uniform = judge(weights, held_out), judge(uniform_weights(), held_out)
    return {
        "log likelihood": Metric(value=learned.log_likelihood, unit="nats a move, held out"),
        "log likelihood of uniform moves": Metric(value=uniform.log_likelihood, unit="nats a move, held out"),
        "top 1": Metric(value=learned.top_1, unit="share of moves, held out"),
        "moves held out": Metric(value=len(held_out)),
    }
