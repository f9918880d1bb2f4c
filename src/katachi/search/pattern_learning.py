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
from katachi.core.contracts import Floats
from katachi.core.disk import write_atomically
from katachi.core.training import TrainingError
from katachi.go.board import Board
from katachi.go.game import Game, Play
from katachi.search.kernels import patterns as kernels
from katachi.search.kernels.patterns import LARGE_MOST
from katachi.search.kernels.playouts import fill_pattern_prior
from katachi.search.playouts import (
    LargePatterns,
    MoveWeights,
    group_sizes,
    load_large_patterns,
    load_move_weights,
    new_playouts,
    number_patterns,
    run_informed_playouts,
    save_large_patterns,
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
    """Choices one after another: features [candidates, groups], the chosen move first, and where each choice starts."""

    features: NDArray[np.uint16]
    starts: NDArray[np.int64]

    def __len__(self) -> int:
        return self.starts.size - 1


class Fit(NamedTuple):
    """How well weights predict choices."""

    log_likelihood: float  # mean over choices, natural logarithm
    top_1: float


class Line(NamedTuple):
    """The moves of a game up to the next set-up, and the board before them."""

    board: Board
    moves: NDArray[np.int64]
    colors: NDArray[np.int8]


def replay_line(record: SgfGame) -> Line:
    """The moves of a game; none if it cannot be replayed."""
    try:
        board, moves = _split(record.replay())
    except SgfError:
        board, moves = Board(), []
    colors = np.array([play.color for play in moves], dtype=np.int8)
    return Line(board, np.array([play.move for play in moves], dtype=np.int64), colors)


def list_choices(line: Line, step: int, first: int, large: LargePatterns | None = None) -> Choices:
    """Every ``step``-th choice of a game from ply ``first`` on, with the large pattern as a fifth group if given."""
    most = line.moves.size // step + 1
    features = np.empty((most * line.board.size**2, kernels.GROUPS + (large is not None)), dtype=np.uint16)
    counts, views = np.zeros(most, dtype=np.int64), np.zeros(1, kernels.VIEWS)
    if large is not None:
        large.enter(views)
    board = line.board.record.copy()
    kernels.write_choices(board, line.moves, line.colors, first, step, number_patterns(), views, features, counts)
    starts = np.concatenate([[0], np.cumsum(counts[counts > 0])])
    return Choices(features[: starts[-1]].copy(), starts)


def list_large_keys(line: Line) -> NDArray[np.uint64]:
    """The keys of the large patterns around the moves of a game, [choices, sizes]."""
    keys = np.empty((line.moves.size, len(kernels.LARGE_SIZES)), dtype=np.uint64)
    return keys[: kernels.write_large_keys(line.board.record.copy(), line.moves, line.colors, keys)]


def join_choices(parts: Sequence[Choices]) -> Choices:
    """The choices of many games as one list."""
    groups = parts[0].features.shape[1] if parts else kernels.GROUPS
    features = np.concatenate([np.zeros((0, groups), np.uint16), *(part.features for part in parts)])
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


def measure_fit(weights: MoveWeights, choices: Choices, large: LargePatterns | None = None) -> Fit:
    """How well weights predict these choices, with large patterns if given."""
    gammas, offsets = _flatten(weights if large is None else [*weights, large.gamma])
    return Fit(*kernels.measure_fit(choices.features, choices.starts, gammas, offsets))


def uniform_weights() -> MoveWeights:
    """All moves alike."""
    return MoveWeights(*(np.ones(size, dtype=np.float32) for size in group_sizes()))


def learn_weights(
    choices: Choices, iterations: int = ITERATIONS, watch: Callable[[float], None] = lambda _: None
) -> MoveWeights:
    """The weights that make these choices most probable, nearly; ``watch`` hears what share is done."""
    return MoveWeights(*_maximize(choices, uniform_weights(), range(kernels.GROUPS), iterations, watch))


def find_large(keys: NDArray[np.uint64], least: int) -> NDArray[np.uint64]:
    """The keys that occur at least so often, ascending; where they are too many, those that occur more often."""
    found, counts = np.unique(keys, return_counts=True)
    if np.count_nonzero(counts >= least) > LARGE_MOST:
        least = int(np.partition(counts, -LARGE_MOST - 1)[-LARGE_MOST - 1]) + 1
    known: NDArray[np.uint64] = found[counts >= least]
    return known


def learn_large(
    choices: Choices,
    weights: MoveWeights,
    keys: NDArray[np.uint64],
    iterations: int = ITERATIONS,
    watch: Callable[[float], None] = lambda _: None,
) -> LargePatterns:
    """The gammas of large patterns that make these choices most probable, nearly, beside the weights as they are."""
    start = [*weights, np.ones(keys.size + 1, dtype=np.float32)]
    return LargePatterns(keys, _maximize(choices, start, [kernels.GROUPS], iterations, watch)[-1])


def _maximize(
    choices: Choices, start: Sequence[Floats], groups: Sequence[int], iterations: int, watch: Callable[[float], None]
) -> list[Floats]:
    """The gammas of all groups, of which some are learned and the others stay."""
    gammas, offsets = _flatten(start)
    wins = {group: np.zeros(start[group].size) for group in groups}
    for group, counts in wins.items():
        kernels.count_wins(choices.features, choices.starts, group, counts)
    for iteration in range(iterations):
        for group, counts in wins.items():
            own = slice(offsets[group], offsets[group] + counts.size)
            shares = np.zeros(counts.size)
            kernels.add_shares(choices.features, choices.starts, gammas, offsets, group, shares)
            gammas[own] = (counts + _VIRTUAL) / (shares + 2 * _VIRTUAL / (gammas[own] + 1))
        watch((iteration + 1) / iterations)
    return [part.astype(np.float32) for part in np.split(gammas, offsets[1:])]


def _flatten(groups: Sequence[Floats]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    offsets = np.concatenate([[0], np.cumsum([group.size for group in groups[:-1]])]).astype(np.int64)
    return np.concatenate(groups).astype(np.float64), offsets


# Training the weights of moves from files of game records: which games, how well it went, and what is kept.

CARD: Final = "card.json"
LARGE_CARD: Final = "large.json"
_RANK: Final = re.compile(r"^\d{1,2}[kdp]$")
_READING_SHARE: Final = 0.8  # of the time that all takes


class PatternTraining(Strict):
    """What to learn from: the first so many games of each file whose players are strong enough."""

    games: int = Field(default=2000, ge=1)  # of each file
    step: int = Field(default=4, ge=1)  # every so many moves are learned from
    weakest: Annotated[str, StringConstraints(pattern=_RANK.pattern)] | None = None
    iterations: int = Field(default=12, ge=1, le=1000)
    # how often a pattern larger than 3×3 must be played to be known; 0 learns the weights of moves, without them
    large: int = Field(default=0, ge=0)
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

    Or, if the settings say so, patterns larger than 3×3, which stand beside the bundled weights. ``watch`` hears now
    and then what share of the work is done.
    """
    paths = list(find_files(files))
    games = _read_splits(paths, settings, lambda share: watch(_READING_SHARE * share))
    rest = 1 - _READING_SHARE
    learn = _learn_large if settings.large else _learn
    metrics = learn(settings, games, folder, lambda share: watch(_READING_SHARE + rest * share))
    card = MoveWeightsCard(
        training=Training(
            command=command,
            commit=provenance()["commit"],
            seed=settings.seed,
            games=len(games[Split.TRAINING]),
            data=", ".join(path.name for path in paths),
            settings=settings.model_dump(mode="json"),
        ),
        metrics=metrics,
    )
    write_atomically(folder / (LARGE_CARD if settings.large else CARD), card.model_dump_json(indent=2) + "\n")
    return card


_Games = dict[Split, list[tuple[Line, int]]]  # with the first ply that is learned from


def _learn(settings: PatternTraining, games: _Games, folder: Path, watch: Watcher) -> dict[str, Metric]:
    """Learn and save the weights of moves; returns how well they predict."""
    training, held_out = _join_splits(settings, games)
    weights = learn_weights(training, settings.iterations, watch)
    save_move_weights(folder, weights)
    return _measure(weights, held_out) if len(held_out) else {}


def _learn_large(settings: PatternTraining, games: _Games, folder: Path, watch: Watcher) -> dict[str, Metric]:
    """Learn and save patterns larger than 3×3; returns how well they predict."""
    played = [list_large_keys(line).ravel() for line, _ in games[Split.TRAINING]]
    keys = find_large(np.concatenate([np.zeros(0, np.uint64), *played]), settings.large)
    known = LargePatterns(keys, np.ones(keys.size + 1, dtype=np.float32))
    training, held_out = _join_splits(settings, games, known)
    weights = load_move_weights()
    large = learn_large(training, weights, keys, settings.iterations, watch)
    save_large_patterns(folder, large)
    metrics = {"large patterns": Metric(value=keys.size)}
    if len(held_out):
        fit = measure_fit(weights, held_out)
        metrics |= _measure(weights, held_out, large)
        metrics["log likelihood without large patterns"] = Metric(value=fit.log_likelihood, unit=_NATS)
        metrics["top 1 without large patterns"] = Metric(value=fit.top_1, unit=_SHARE)
    return metrics


def _join_splits(
    settings: PatternTraining, games: _Games, large: LargePatterns | None = None
) -> tuple[Choices, Choices]:
    """The choices of the training and of the validation games; raises TrainingError if there is nothing to learn."""
    training, held_out = (
        join_choices([list_choices(line, settings.step, first, large) for line, first in games[split]])
        for split in (Split.TRAINING, Split.VALIDATION)
    )
    if not len(training):
        raise TrainingError("there is no game to learn from")
    return training, held_out


def _read_splits(paths: list[Path], settings: PatternTraining, watch: Watcher) -> _Games:
    """The games by split."""
    splits: _Games = {split: [] for split in Split}
    rng = np.random.default_rng(settings.seed)
    for number, path in enumerate(paths):
        for count, (split, record) in enumerate(_strong_games(path, settings)):
            splits[split].append((replay_line(record), int(rng.integers(settings.step))))
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


_NATS: Final = "nats a move, held out"
_SHARE: Final = "share of moves, held out"


def _measure(weights: MoveWeights, held_out: Choices, large: LargePatterns | None = None) -> dict[str, Metric]:
    learned, uniform = measure_fit(weights, held_out, large), measure_fit(uniform_weights(), held_out)
    return {
        "log likelihood": Metric(value=learned.log_likelihood, unit=_NATS),
        "log likelihood of uniform moves": Metric(value=uniform.log_likelihood, unit=_NATS),
        "top 1": Metric(value=learned.top_1, unit=_SHARE),
        "moves held out": Metric(value=len(held_out)),
    }


def warmup() -> None:
    """Compile informed playouts, their patterns, and the learning of these."""
    board, settings = Board(5), PlayoutSettings()
    run_informed_playouts(board, settings, 1, seed=0)
    large = load_large_patterns()
    fill_pattern_prior(board.record, new_playouts(settings, 1, seed=0, large=large), np.zeros(25))
    line = replay_line(parse_sgf("(;SZ[5];B[aa];W[bb];B[cc])")[0])
    choices = list_choices(line, step=1, first=0, large=large)
    list_large_keys(line)
    measure_fit(learn_weights(choices, iterations=1), choices)
