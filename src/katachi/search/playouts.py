"""Informed playouts: 3×3 patterns, the learned weights of moves, records to play with, and many playouts from a board.

>>> count_patterns()
7455
>>> from katachi.go.board import Board
>>> statistics = run_informed_playouts(Board(9), PlayoutSettings(), 1000, seed=1)
>>> statistics.playouts, 0.3 < statistics.black_wins < 0.6
(1000, True)
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load, save

from katachi.core.contracts import Evaluator, Floats, WindowEvaluator, WindowValues
from katachi.core.disk import write_atomically
from katachi.features.windows import CODES
from katachi.go.board import Board
from katachi.go.kernels.board import OFF
from katachi.go.kernels.playouts import STATISTICS, random_state
from katachi.go.playouts import PlayoutStatistics, summarize
from katachi.go.points import Symmetry
from katachi.go.rules import DEFAULT_KOMI
from katachi.search.kernels.patterns import DISTANCES, LARGE_MOST, PATTERN_CODES, TACTICS, enter_large
from katachi.search.kernels.playouts import PLAYOUT, add_informed_playouts
from katachi.search.settings import PlayoutSettings


def window_values_of(evaluator: Evaluator | None) -> WindowValues:
    """The windows of an evaluator; raises ValueError if it is not one that has them."""
    if not isinstance(evaluator, WindowEvaluator):
        raise ValueError("this search needs a model of local shapes up to 3×3")
    return evaluator.window_values()


# 3×3 patterns: what surrounds an empty point, and which of the chains that touch it are in atari.
#
# Seen by the player to move, so that colors need no patterns of their own; patterns that a turn or a mirror makes equal
# are one *class*. ``search/kernels/patterns.py`` has the codes; 7,455 classes cover middle, edge and corner.

NO_CLASS: Final = -1  # of codes that no board shows
_OFF: Final = 3
_TOUCHING: Final = 4

_CELLS: Final = (1, 3, 5, 7, 0, 2, 6, 8)  # the eight neighbors in their order, as points of a 3×3 board


@cache
def number_patterns() -> NDArray[np.int32]:
    """The class of every code, [2²⁰]: counted from 0 in the order of the least code of each; NO_CLASS for others."""
    codes = np.arange(PATTERN_CODES, dtype=np.int32)
    codes = codes[_is_possible(codes)]
    least = np.min([_transform(codes, symmetry) for symmetry in Symmetry], axis=0)
    classes = np.full(PATTERN_CODES, NO_CLASS, dtype=np.int32)
    _, classes[codes] = np.unique(least, return_inverse=True)
    return classes


def count_patterns() -> int:
    """How many classes there are."""
    return int(number_patterns().max()) + 1


def _is_possible(codes: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Whether what is outside is so by a straight edge or a corner, and only stones are in atari."""
    digits = np.stack([codes >> 2 * k & 3 for k in range(8)])
    outside = digits == _OFF
    up, left, right, down = outside[:_TOUCHING]
    edges = [up | left, up | right, down | left, down | right]
    possible: NDArray[np.bool_] = ~(up & down) & ~(left & right)
    for diagonal, edge in zip(outside[_TOUCHING:], edges, strict=True):
        possible &= diagonal == edge
    for k, digit in enumerate(digits[:_TOUCHING]):
        possible &= (codes >> 16 + k & 1 == 0) | (digit == 1) | (digit == 2)
    return possible


def _transform(codes: NDArray[np.int32], symmetry: Symmetry) -> NDArray[np.int32]:
    table, result = symmetry.points(3).tolist(), np.zeros_like(codes)
    for place, cell in enumerate(_CELLS):
        source = _CELLS.index(table[cell])  # the neighbor that comes to this place
        result |= (codes >> 2 * source & 3) << 2 * place
        if place < _TOUCHING:
            result |= (codes >> 16 + source & 1) << 16 + place
    return result


# Weights of moves: how much stronger a feature makes a move, learned from game records.
#
# A move's strength is the product of the *gammas* of its features, one from each of four groups: the 3×3 pattern around
# it, its tactics, its distances to the last two moves. Its probability is its share of the strength of all moves
# (generalised Bradley–Terry, Coulom 2007).

PRETRAINED: Final = "patterns"
WEIGHTS: Final = "weights.safetensors"


class MoveWeightsError(ValueError):
    """Weights of moves that cannot be read, with the reason in one sentence."""


class MoveWeights(NamedTuple):
    """The gammas of each group; 1 is neutral."""

    pattern: Floats  # [classes]
    tactic: Floats  # [TACTICS]
    last: Floats  # [DISTANCES]
    before: Floats  # [DISTANCES]

    def expand_patterns(self) -> NDArray[np.float32]:
        """The gamma of every pattern code, [2²⁰]; 1 for those that no board shows."""
        classes = number_patterns()
        return np.where(classes == NO_CLASS, np.float32(1), self.pattern[classes])


def group_sizes() -> tuple[int, ...]:
    """How many features there are in each group."""
    return count_patterns(), TACTICS, DISTANCES, DISTANCES


def save_move_weights(folder: Path, weights: MoveWeights) -> None:
    """Write the weights into a folder, whole or not at all."""
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically(folder / WEIGHTS, save(weights._asdict()))


def load_move_weights(folder: Path | None = None) -> MoveWeights:
    """Read weights, without a folder the bundled ones; raises MoveWeightsError."""
    folder = folder or _bundled_folder()
    try:
        tensors = load((folder / WEIGHTS).read_bytes())
    except (OSError, SafetensorError, ValueError) as error:
        raise MoveWeightsError(f"{folder}: the weights of moves cannot be read: {error}") from None
    for name, size in zip(MoveWeights._fields, group_sizes(), strict=True):
        tensor = tensors.get(name)
        if tensor is None or tensor.shape != (size,) or tensor.dtype != np.float32:
            raise MoveWeightsError(f"{folder}: {name} should be {size} numbers of 32 bits")
        if not (np.isfinite(tensor) & (tensor > 0)).all():
            raise MoveWeightsError(f"{folder}: some of {name} are not positive numbers")
    return MoveWeights(**{name: tensors[name] for name in MoveWeights._fields})


# Patterns larger than 3×3, another group, for priors alone. Its gammas are learned with those above held fixed, so that
# they stand in a file of their own, and playouts and priors without them stay as they are.

LARGE: Final = "large.safetensors"


class LargePatterns(NamedTuple):
    """The known patterns; ``search/kernels/patterns.py`` has their keys and numbers."""

    key: NDArray[np.uint64]  # [known], ascending
    gamma: Floats  # [known + 1], that of moves without a known pattern first

    def enter(self, records: NDArray[Any]) -> None:
        """Write the keys into records that have ``LARGE_FIELDS``."""
        records["large_key"][:, 1 : self.key.size + 1] = self.key
        enter_large(records, self.key.size)


def save_large_patterns(folder: Path, patterns: LargePatterns) -> None:
    """Write the patterns into a folder, whole or not at all."""
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically(folder / LARGE, save(patterns._asdict()))


def load_large_patterns(folder: Path | None = None) -> LargePatterns:
    """Read patterns larger than 3×3, without a folder the bundled ones; raises MoveWeightsError."""
    folder = folder or _bundled_folder()
    try:
        tensors = load((folder / LARGE).read_bytes())
    except (OSError, SafetensorError, ValueError) as error:
        raise MoveWeightsError(f"{folder}: the large patterns cannot be read: {error}") from None
    key, gamma = tensors.get("key"), tensors.get("gamma")
    if key is None or key.dtype != np.uint64 or key.ndim != 1 or key.size > LARGE_MOST or (key[1:] <= key[:-1]).any():
        raise MoveWeightsError(f"{folder}: key should be {LARGE_MOST:,} ascending numbers of 64 bits at most")
    if gamma is None or gamma.shape != (key.size + 1,) or gamma.dtype != np.float32:
        raise MoveWeightsError(f"{folder}: gamma should be {key.size + 1} numbers of 32 bits")
    if not (np.isfinite(gamma) & (gamma > 0)).all():
        raise MoveWeightsError(f"{folder}: some of gamma are not positive numbers")
    return LargePatterns(key, gamma)


def _bundled_folder() -> Path:
    return Path(str(resources.files("katachi"))) / "pretrained" / PRETRAINED


# Playouts

UNIFORM = PlayoutSettings(nakade=False, captures=False, escapes=False, self_atari=False, patterns=False)


def new_playouts(
    settings: PlayoutSettings,
    count: int,
    seed: int,
    weights: MoveWeights | None = None,
    evaluator: Evaluator | None = None,
    large: LargePatterns | None = None,
) -> NDArray[Any]:
    """Records to play with, one for each thread, [count]; each has its own stream of random numbers.

    ``weights`` are the bundled ones if they are not given; ``large`` patterns are for priors. Where shapes choose
    moves, the evaluator must be a ``WindowEvaluator``, and the records are for boards of its size; raises ValueError if
    it is not.
    """
    playouts = np.repeat(_bundled_record() if weights is None else _weighted_record(weights), count)
    playouts["random"] = [random_state(s) for s in np.random.SeedSequence(seed).generate_state(count, np.uint64)]
    switches = settings.model_dump()
    for name, is_on in switches.items():
        playouts[name] = is_on
    playouts["informed"] = any(switches.values())
    if settings.shapes:
        _add_shapes(playouts, window_values_of(evaluator))
    if large is not None:
        playouts["large_patterns"] = True
        playouts["large_gamma"][:, : large.gamma.size] = large.gamma
        large.enter(playouts)
    return playouts


def run_informed_playouts(
    board: Board,
    settings: PlayoutSettings,
    count: int,
    seed: int,
    komi: float = DEFAULT_KOMI,
    threads: int = 1,
    evaluator: Evaluator | None = None,
) -> PlayoutStatistics:
    """As ``go.playouts.run_playouts``, without the all-moves-as-first statistics."""
    if count < 1 or threads < 1:
        raise ValueError(f"{count} playouts on {threads} threads: both must be at least 1")
    playouts = new_playouts(settings, threads, seed, evaluator=evaluator)
    statistics = np.zeros(threads, dtype=STATISTICS)

    def run(i: int) -> None:
        share = count // threads + (i < count % threads)
        own = slice(i, i + 1)
        add_informed_playouts(board.record, board.record.copy(), playouts[own], statistics[own], share, komi)

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(run, range(threads)))
    return summarize(statistics, board.size, komi)


def run_with(playouts: NDArray[Any], board: Board, count: int, komi: float) -> PlayoutStatistics:
    """As ``run_informed_playouts``, with the first of some records, whose random numbers and replies go on."""
    statistics = np.zeros(1, dtype=STATISTICS)
    add_informed_playouts(board.record, board.record.copy(), playouts[:1], statistics, count, komi)
    return summarize(statistics, board.size, komi)


@cache
def _bundled_record() -> NDArray[Any]:
    return _weighted_record(load_move_weights())


def _weighted_record(weights: MoveWeights) -> NDArray[Any]:
    """A record with its tables, and nothing remembered, [1]."""
    record = np.zeros(1, dtype=PLAYOUT)
    record["last"] = record["before"] = record["reply"] = OFF
    record["gamma"] = weights.expand_patterns()
    record["tactic_gamma"] = weights.tactic
    record["last_gamma"] = weights.last
    record["before_gamma"] = weights.before
    return record


def _add_shapes(playouts: NDArray[Any], shapes: WindowValues) -> None:
    """Give records the windows of a board, and their values as whole numbers of 16 bits."""
    unit = max(float(np.abs(shapes.values).max()), 1e-30) / np.iinfo(np.int16).max
    values = np.rint(shapes.values / unit).ravel()
    playouts["shape_value"][:, : values.size] = values
    playouts["first_entry"][:, : len(shapes.cells)] = shapes.class_of * CODES
    for window, points in enumerate(shapes.cells.tolist()):
        for cell, point in enumerate(points):
            k = int(playouts["holders"][0, point])
            playouts["holder"][:, point, k] = window
            playouts["power"][:, point, k] = 3**cell
            playouts["holders"][:, point] = k + 1
