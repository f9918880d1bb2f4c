"""Who won, told from a single board: boards out of the middle and at the end of games, and matrices of their
features.

Largman and Pham asked this of features to see what they are worth (``crbm/winners.py`` answers). Every board is
looked at as if Black had just moved, so that features that are seen by the mover are seen by Black; whose turn it
really was is not shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from katachi.core.contracts import Doubles, FeatureSet, Floats, Ints
from katachi.core.linear import PrunedFeatures
from katachi.crbm.features import PLANES, Response, Templates, WindowFilters, windows_of
from katachi.data.dataset import Dataset, DatasetError
from katachi.go.board import Board
from katachi.go.kernels.board import play_moves
from katachi.go.points import EMPTY, WHITE
from katachi.sgf.files import Split

if TYPE_CHECKING:
    from scipy.sparse import csr_array
    from sklearn.model_selection import StratifiedKFold


# Features found without learning much: random filters, principal components, clusters of windows, frequent templates.
#
# They are the baselines that learned features must beat. None of them sees a result; the boards that they are made from
# should still be of other games than those that they are measured on.

PAPER_FILTERS: Final = 105  # Largman and Pham: on 9×9 about as many features as there are 2×2 templates

_WINDOWS: Final = 50_000  # that filters are made from
_QUIET: Final = 0.75  # the share of windows to which a random filter says nothing
_MOST_ROUNDS: Final = 50  # of k-means


def baselines(
    board_size: int, boards: Sequence[Board], count: int = PAPER_FILTERS, seed: int = 0
) -> tuple[FeatureSet, ...]:
    """All 2×2 templates, ``count`` filters of each kind, and as many of the most frequent 3×3 templates as of 2×2."""
    rng = np.random.default_rng(seed)
    windows = sample_windows(boards, _WINDOWS, rng)
    templates = Templates(board_size)
    return (
        templates,
        random_filters(board_size, count, windows, rng),
        principal_filters(board_size, count, windows),
        cluster_filters(board_size, count, windows, seed),
        most_frequent(Templates(board_size, side=3), boards, templates.size),
    )


def sample_windows(boards: Sequence[Board], count: int, rng: np.random.Generator, side: int = 3) -> Floats:
    """Windows of boards drawn at random, [count, 3 · side²], or all if there are no more."""
    windows = np.concatenate([windows_of(board, side) for board in boards])
    return windows if len(windows) <= count else rng.choice(windows, count, replace=False)


def random_filters(board_size: int, count: int, windows: Floats, rng: np.random.Generator) -> WindowFilters:
    """Filters that know nothing; each keeps still at three windows of four."""
    rows = rng.standard_normal((count, windows.shape[1])).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    bias = -np.quantile(windows @ rows.T, _QUIET, axis=0)
    return WindowFilters(board_size, _square(rows), f"{count} random filters", Response.RECTIFIED, bias)


def principal_filters(board_size: int, count: int, windows: Floats) -> WindowFilters:
    """The directions in which windows differ most: at most two for each point, as its three planes sum to 1."""
    centered = windows - windows.mean(0)
    values, vectors = np.linalg.eigh(centered.T.astype(np.float64) @ centered)
    most = 2 * windows.shape[1] // PLANES
    rows = vectors.T[np.argsort(-values)[: min(count, most)]].astype(np.float32)
    bias = -rows @ windows.mean(0)
    return WindowFilters(board_size, _square(rows), f"{len(rows)} principal components", Response.LINEAR, bias)


def cluster_filters(board_size: int, count: int, windows: Floats, seed: int = 0) -> WindowFilters:
    """The centers of clusters of windows (k-means); a feature is how much nearer one is than all on average."""
    from sklearn.cluster import KMeans

    found = KMeans(count, n_init=1, max_iter=_MOST_ROUNDS, random_state=seed).fit(windows)
    return WindowFilters(board_size, _square(found.cluster_centers_), f"{count} k-means filters", Response.NEARNESS)


def most_frequent(features: FeatureSet, boards: Sequence[Board], count: int) -> PrunedFeatures:
    """The features of a set that occur on most of these boards."""
    boards_with = np.zeros(features.size, dtype=np.int64)
    for board in boards:
        indices, _ = features.active(board)
        boards_with[indices] += 1
    return PrunedFeatures(features, np.argsort(-boards_with, kind="stable")[:count])


def _square(rows: Floats) -> Floats:
    side = round((rows.shape[1] / PLANES) ** 0.5)
    return rows.reshape(len(rows), PLANES, side, side).astype(np.float32)


# Winners


class Stage(StrEnum):
    """When in a game the board is looked at."""

    MIDDLE = "middle"  # after half of the moves
    FINAL = "final"


class WinnerBoards(NamedTuple):
    """Boards, and who won the games that they are from."""

    boards: list[Board]
    winners: NDArray[np.int8]  # [B] of BLACK and WHITE


def winner_boards(
    dataset: Dataset,
    stage: Stage,
    count: int,
    *,
    split: Split | None = None,
    weakest: str | None = None,
    size: int | None = None,
    seed: int = 0,
) -> WinnerBoards:
    """A board of each of ``count`` games drawn at random, or of all if there are no more; draws are left out.

    The same seed draws the same games at both stages. ``weakest`` is a rank, as for ``Dataset.select``. Raises
    DatasetError if both colors have not won.
    """
    games = dataset.select(dataset.only_size() if size is None else size, split, weakest)
    games = games[dataset.games["winner"][games] != EMPTY]
    drawn = np.random.default_rng(seed).permutation(games)[:count]
    winners = dataset.games["winner"][drawn].astype(np.int8)
    if np.unique(winners).size < 2:
        raise DatasetError(f"{dataset.path} has no games of this kind that were won by Black, and by White too")
    return WinnerBoards([_board_at(dataset, int(game), stage) for game in drawn], winners)


def _board_at(dataset: Dataset, game: int, stage: Stage) -> Board:
    if stage is Stage.FINAL:
        board = dataset.end(game)
    else:
        board = dataset.start(game)
        moves, colors = dataset.moves_of(game)
        half = moves.size // 2
        play_moves(board.record, moves[:half], colors[:half], False)
    board.to_play = WHITE  # Black has just moved, whoever it was
    return board


def feature_matrix(features: FeatureSet, boards: Sequence[Board]) -> csr_array:
    """The features of boards, sparse, [B, size]."""
    from scipy.sparse import csr_array

    ends = [0]
    columns: list[NDArray[np.int64]] = []
    values: list[Floats] = []
    for board in boards:
        indices, occurrences = features.active(board)
        columns.append(indices)
        values.append(occurrences)
        ends.append(ends[-1] + indices.size)
    return csr_array((np.concatenate(values), np.concatenate(columns), ends), shape=(len(boards), features.size))


# Support vector machines that tell the winner by the features of a board: accuracy by nested cross-validation.
#
# For each fold, kernel and C are chosen by cross-validation within the other folds, so that what is measured was never
# looked at. Kernels are made of scalar products, which are computed once for all folds. These are centered and scaled
# to a mean square length of 1, so that the same values of C suit features of any number and size.

Kernel = Literal["linear", "quadratic", "gaussian"]

KERNELS: Final[tuple[Kernel, ...]] = ("linear", "quadratic", "gaussian")
COSTS: Final = (0.1, 1.0, 10.0, 100.0)
_CONFIDENCE: Final = 0.95
_SPARSE: Final = 0.1  # of the numbers of a matrix: with fewer it is sparse


@dataclass(frozen=True, slots=True)
class SvmChoice:
    """What cross-validation may choose."""

    kernel: Kernel
    cost: float  # C


@dataclass(frozen=True, slots=True)
class WinnerAccuracy:
    """How often the winner was predicted right in each fold, and what was chosen there."""

    name: str
    features: int
    boards: int
    majority: float  # right without looking at the board
    folds: tuple[float, ...]
    choices: tuple[SvmChoice, ...]

    @property
    def accuracy(self) -> float:
        return float(np.mean(self.folds))

    @property
    def interval(self) -> tuple[float, float]:
        """95 % by Student's t over the folds, as if they were independent."""
        return student_interval(self.folds)

    def difference(self, other: WinnerAccuracy) -> tuple[float, float]:
        """The interval of how much more often this is right, by pairs of folds of the same boards."""
        return student_interval([mine - its for mine, its in zip(self.folds, other.folds, strict=True)])


def student_interval(values: Sequence[float]) -> tuple[float, float]:
    """The 95 % interval of the mean of a few values."""
    from scipy.stats import t

    half = t.ppf((1 + _CONFIDENCE) / 2, len(values) - 1) * np.std(values, ddof=1) / len(values) ** 0.5
    return float(np.mean(values) - half), float(np.mean(values) + half)


def predict_winners(
    features: FeatureSet,
    boards: WinnerBoards,
    *,
    folds: int = 5,
    inner_folds: int = 4,
    kernels: Sequence[Kernel] = KERNELS,
    costs: Sequence[float] = COSTS,
    seed: int = 0,
) -> WinnerAccuracy:
    """Measure how well features tell the winner; the same seed makes the same folds for all feature sets.

    Raises ValueError if there are too few boards won by one color for so many folds.
    """
    winners = boards.winners
    rarer = int(min(np.count_nonzero(winners == color) for color in np.unique(winners)))
    if min(folds, inner_folds) < 2 or rarer < folds * inner_folds:
        raise ValueError(f"{rarer} boards won by one color are too few for {folds} folds of {inner_folds}")
    products = scalar_products(feature_matrix(features, boards.boards).astype(np.float64))
    choices = [SvmChoice(kernel, cost) for kernel in kernels for cost in costs]
    rates, chosen = [], []
    for train, test in _split(folds, seed).split(winners, winners):
        scaled = normalized(products, train)
        tables = {kernel: kernel_table(scaled, kernel) for kernel in kernels}
        choice = _choose(tables, winners, train, choices, _split(inner_folds, seed))
        rates.append(_accuracy(tables[choice.kernel], winners, train, test, choice.cost))
        chosen.append(choice)
    majority = 1 - rarer / winners.size
    return WinnerAccuracy(features.name, features.size, winners.size, majority, tuple(rates), tuple(chosen))


def scalar_products(matrix: csr_array) -> Doubles:
    """Those of all rows with each other; nearly all features of a CRBM are active, and then a full matrix is faster."""
    if matrix.nnz < _SPARSE * matrix.shape[0] * matrix.shape[1]:
        return np.asarray((matrix @ matrix.T).toarray())
    rows = matrix.toarray()
    return np.asarray(rows @ rows.T)


def _split(folds: int, seed: int) -> StratifiedKFold:
    from sklearn.model_selection import StratifiedKFold

    return StratifiedKFold(folds, shuffle=True, random_state=seed)


def normalized(products: Doubles, train: Ints) -> Doubles:
    """Scalar products after the mean of the training boards is taken off and their mean square length made 1."""
    to_mean = products[:, train].mean(1)
    centered = products - to_mean[:, None] - to_mean[None, :] + products[np.ix_(train, train)].mean()
    length = np.diag(centered)[train].mean()
    return np.asarray(centered / length if length > 0 else centered)


def kernel_table(products: Doubles, kernel: Kernel) -> Doubles:
    """The kernel of boards with each other, from their scalar products."""
    if kernel == "linear":
        return products
    if kernel == "quadratic":
        return np.asarray((1 + products) ** 2)
    squares = np.diag(products)
    return np.asarray(np.exp(products - (squares[:, None] + squares[None, :]) / 2))  # exp(−distance² / 2)


def _choose(
    tables: Mapping[Kernel, Doubles],
    winners: NDArray[np.int8],
    train: Ints,
    choices: Sequence[SvmChoice],
    split: StratifiedKFold,
) -> SvmChoice:
    """The choice that is right most often within the training boards; of equal ones the first."""
    inner = [(train[fit], train[check]) for fit, check in split.split(train, winners[train])]
    rates = [
        sum(_accuracy(tables[choice.kernel], winners, fit, check, choice.cost) for fit, check in inner)
        for choice in choices
    ]
    return choices[int(np.argmax(rates))]


def _accuracy(table: Doubles, winners: NDArray[np.int8], train: Ints, test: Ints, cost: float) -> float:
    from sklearn.svm import SVC

    machine: Any = SVC(C=cost, kernel="precomputed").fit(table[np.ix_(train, train)], winners[train])
    return float(np.mean(machine.predict(table[np.ix_(test, train)]) == winners[test]))
