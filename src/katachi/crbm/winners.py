"""Who won, told from a single board: boards out of the middle and at the end of games, and matrices of their
features.

Largman and Pham asked this of features to see what they are worth (``crbm/winner_svm.py`` answers). Every board is
looked at as if Black had just moved, so that features that are seen by the mover are seen by Black; whose turn it
really was is not told.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from katachi.core.contracts import FeatureSet, Floats
from katachi.data.dataset import Dataset, DatasetError
from katachi.go.board import Board
from katachi.go.kernels.board import play_moves
from katachi.go.points import EMPTY, WHITE
from katachi.sgf.splits import Split

if TYPE_CHECKING:
    from scipy.sparse import csr_array


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
