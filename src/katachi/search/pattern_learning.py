"""Learning the weights of moves from game records, by minorisation–maximisation (Coulom 2007).

Every move of a game is a competition which the move played has won against all other sensible ones. A pass over all
choices gives the gammas of one group, the others fixed, and never lowers the likelihood; a virtual win and loss
against a move of strength 1 keep rare features near it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, StringConstraints

from katachi.core.cards import Metric, Strict, Training, provenance
from katachi.core.disk import write_atomically
from katachi.core.training import TrainingError
from katachi.go.board import Board
from katachi.go.game import Game, Play
from katachi.search.kernels import patterns as kernels
from katachi.search.kernels.playouts import fill_pattern_prior
from katachi.search.playouts import (
    MoveWeights,
    group_sizes,
    new_playouts,
    number_patterns,
    run_informed_playouts,
    save_move_weights,
)
from katachi.search.settings import PlayoutSettings
from katachi.sgf.files import Split, find_files, iter_pieces, parse_piece, split_of
from katachi.sgf.parsing import parse_sgf
from katachi.sgf.record import SgfGame, grade_of
from katachi.sgf.repairs import DEFAULT_LIMITS, SgfError

ITERATIONS: Final = 12
_VIRTUAL: Final = 1.0  # wins, and as many losses


class Choices(NamedTuple):
    """Choices one after another: features [candidates, 4], the chosen move first, and where each choice starts."""

    features: NDArray[np.uint16]
    starts: NDArray[np.int64]

    def __len__(self) -> int:
        return self.starts.size - 1


class Fit(NamedTuple):
    """How well weights predict choices."""

    log_likelihood: float  # mean over choices, natural logarithm
    top_1: float


def list_choices(record: SgfGame, step: int, first: int) -> Choices:
    """Every ``step``-th choice of a game from ply ``first`` on; none if the game cannot be replayed."""
    try:
        board, moves = _split(record.replay())
    except SgfError:
        return join_choices([])
    plies = np.array([play.move for play in moves], dtype=np.int64)
    colors = np.array([play.color for play in moves], dtype=np.int8)
    most = len(moves) // step + 1
    features = np.empty((most * board.size**2, kernels.GROUPS), dtype=np.uint16)
    counts = np.zeros(most, dtype=np.int64)
    kernels.write_choices(board.record, plies, colors, first, step, number_patterns(), features, counts)
    starts = np.concatenate([[0], np.cumsum(counts[counts > 0])])
    return Choices(features[: starts[-1]].copy(), starts)


def join_choices(parts: Sequence[Choices]) -> Choices:
    """The choices of many games as one list."""
    features = np.concatenate([np.zeros((0, kernels.GROUPS), np.uint16), *(part.features for part in parts)])
    lengths = np.concatenate([np.zeros(0, np.int64), *(np.diff(part.starts) for part in parts)])
    return Choices(features, np.concatenate([[0], np.cumsum(lengths)]))


def _split(game: Game) -> tuple[Board, list[Play]]:
    """The board before the first move, and the moves up to the next set-up."""
    board, moves = Board(game.size), []
    for step in game.steps:
        if isinstance(step, Play):
            moves.append(step)
        elif moves:
            break
        else:
            board.place(step.black, step.white, step.empty)
    return board, moves


def measure_fit(weights: MoveWeights, choices: Choices) -> Fit:
    """How well weights predict these choices."""
    gammas, offsets = _flatten(weights)
    return Fit(*kernels.measure_fit(choices.features, choices.starts, gammas, offsets))


def uniform_weights() -> MoveWeights:
    """All moves alike."""
    return MoveWeights(*(np.ones(size, dtype=np.float32) for size in group_sizes()))


def learn_weights(
    choices: Choices, iterations: int = ITERATIONS, watch: Callable[[float], None] = lambda _: None
) -> MoveWeights:
    """The weights that make these choices most probable, nearly; ``watch`` hears what share is done."""
    gammas, offsets = _flatten(uniform_weights())
    wins = [np.zeros(size) for size in group_sizes()]
    for group, counts in enumerate(wins):
        kernels.count_wins(choices.features, choices.starts, group, counts)
    for iteration in range(iterations):
        for group, counts in enumerate(wins):
            own = slice(offsets[group], offsets[group] + counts.size)
            shares = np.zeros(counts.size)
            kernels.add_shares(choices.features, choices.starts, gammas, offsets, group, shares)
            gammas[own] = (counts + _VIRTUAL) / (shares + 2 * _VIRTUAL / (gammas[own] + 1))
        watch((iteration + 1) / iterations)
    return MoveWeights(*(part.astype(np.float32) for part in np.split(gammas, offsets[1:])))


def _flatten(weights: MoveWeights) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    offsets = np.concatenate([[0], np.cumsum(group_sizes()[:-1])]).astype(np.int64)
    return np.concatenate(weights).astype(np.float64), offsets


# Training the weights of moves from files of game records: which games, how well it went, and what is kept.

CARD: Final = "card.json"
_RANK: Final = re.compile(r"^\d{1,2}[kdp]$")
_READING_SHARE: Final = 0.8  # of the time that all takes


class PatternTraining(Strict):
    """What to learn from: the first so many games of each file whose players are strong enough."""

    games: int = Field(default=2000, ge=1)  # of each file
    step: int = Field(default=4, ge=1)  # every so many moves are learned from
    weakest: Annotated[str, StringConstraints(pattern=_RANK.pattern)] | None = None
    iterations: int = Field(default=12, ge=1, le=1000)
    seed: int = 0


class MoveWeightsCard(Strict):
    """How weights of moves came about, and how well they predict the moves of games they have not seen."""

    format: Literal[1] = 1
    kind: Literal["move weights"] = "move weights"
    training: Training
    metrics: dict[str, Metric]


Watcher = Callable[[float], None]


def parse_rank(text: str) -> str:
    """A rank such as 5k, 1d or 9p; raises TrainingError."""
    if not _RANK.match(text):
        raise TrainingError(f"{text} is not a rank: say 5k, 1d or 9p")
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
    rest = 1 - _READING_SHARE
    weights = learn_weights(training, settings.iterations, lambda share: watch(_READING_SHARE + rest * share))
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
    """The games of a file outside the test split, by players who are strong enough."""
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
    learned, uniform = measure_fit(weights, held_out), measure_fit(uniform_weights(), held_out)
    return {
        "log likelihood": Metric(value=learned.log_likelihood, unit="nats a move, held out"),
        "log likelihood of uniform moves": Metric(value=uniform.log_likelihood, unit="nats a move, held out"),
        "top 1": Metric(value=learned.top_1, unit="share of moves, held out"),
        "moves held out": Metric(value=len(held_out)),
    }


def warmup() -> None:
    """Compile informed playouts, their patterns, and the learning of these."""
    board, settings = Board(5), PlayoutSettings()
    run_informed_playouts(board, settings, 1, seed=0)
    fill_pattern_prior(board.record, new_playouts(settings, 1, seed=0), np.zeros(25))
    choices = list_choices(parse_sgf("(;SZ[5];B[aa];W[bb];B[cc])")[0], step=1, first=0)
    measure_fit(learn_weights(choices, iterations=1), choices)
