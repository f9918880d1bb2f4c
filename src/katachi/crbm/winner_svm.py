"""Support vector machines that tell the winner by the features of a board: accuracy by nested cross-validation.

For each fold, kernel and C are chosen by cross-validation within the other folds, so that what is measured was never
looked at. Kernels are made of scalar products, which are computed once for all folds. These are centered and scaled
to a mean square length of 1, so that the same values of C suit features of any number and size.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from katachi.core.contracts import Doubles, FeatureSet, Ints
from katachi.crbm.winners import WinnerBoards, feature_matrix

if TYPE_CHECKING:
    from scipy.sparse import csr_array
    from sklearn.model_selection import StratifiedKFold

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
    """How often the winner was told right in each fold, and what was chosen there."""

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


def tell_winners(
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
