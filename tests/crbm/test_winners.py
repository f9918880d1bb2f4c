"""Who won, told from a board: the right boards, features, folds and choices."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from helpers.small_sets import make_small_set
from katachi.crbm.features import Templates, windows_of
from katachi.crbm.winners import (
    KERNELS,
    Stage,
    WinnerBoards,
    baselines,
    cluster_filters,
    feature_matrix,
    kernel_table,
    most_frequent,
    normalized,
    predict_winners,
    principal_filters,
    random_filters,
    sample_windows,
    scalar_products,
    student_interval,
    winner_boards,
)
from katachi.data.dataset import Dataset, DatasetError
from katachi.go.board import Board
from katachi.go.points import BLACK, WHITE
from katachi.sgf.files import Split


@pytest.fixture(scope="module")
def dataset(tmp_path_factory) -> Dataset:
    return Dataset.open(make_small_set(tmp_path_factory.mktemp("winners"), training=30))


def random_boards(count: int, size: int = 4, seed: int = 0) -> list[Board]:
    """Boards with a few stones, none of which touch, seen by Black."""
    rng = np.random.default_rng(seed)
    apart = [point for point in range(size * size) if sum(divmod(point, size)) % 2 == 0]
    boards = []
    for _ in range(count):
        board = Board(size)
        stones = rng.permutation(apart)[:4].tolist()
        black = int(rng.integers(5))
        board.place(black=stones[:black], white=stones[black:], to_play=WHITE)
        boards.append(board)
    return boards


@pytest.mark.parametrize("active", [0.02, 0.5])
def test_scalar_products_of_sparse_and_of_full_features(active: float) -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(20, 300)) * (rng.random((20, 300)) < active)
    assert scalar_products(csr_array(rows)) == pytest.approx(rows @ rows.T)


def test_boards_are_those_of_the_games(dataset: Dataset) -> None:
    middle, final = (winner_boards(dataset, stage, 100, split=Split.TRAINING) for stage in Stage)
    games = [game for game in dataset.select(split=Split.TRAINING) if dataset.games["winner"][game]]
    assert len(final.boards) == len(middle.boards) == len(games) > 10
    assert (middle.winners == final.winners).all()
    ends = {game: dataset.end(int(game)) for game in games}
    for board, winner in zip(*final, strict=True):
        assert board.to_play == WHITE
        assert any(
            (ends[game].stones == board.stones).all() and dataset.games["winner"][game] == winner for game in games
        )
    stones = [np.count_nonzero(board.stones) for board in middle.boards]
    halves = [dataset.games["moves"][game] // 2 + dataset.games["stones"][game] for game in games]
    assert 0 < np.mean(stones) <= np.mean(halves)
    assert len(winner_boards(dataset, Stage.FINAL, 7).boards) == 7
    with pytest.raises(DatasetError, match="won by Black, and by White too"):
        winner_boards(dataset, Stage.FINAL, 1)


def test_a_row_of_the_matrix_has_the_features_of_a_board() -> None:
    boards = random_boards(6)
    features = Templates(4)
    matrix = feature_matrix(features, boards).toarray()
    assert matrix.shape == (6, features.size)
    for row, board in zip(matrix, boards, strict=True):
        assert np.flatnonzero(row).tolist() == sorted(features.active(board)[0].tolist())


def test_what_can_be_told_is_told_and_what_cannot_is_not() -> None:
    boards = random_boards(120)
    more_black = np.array([board.stones.sum() > 0 for board in boards])
    told = WinnerBoards(boards, np.where(more_black, BLACK, WHITE).astype(np.int8))
    found = predict_winners(Templates(4, side=1), told, folds=3, inner_folds=2, costs=(1.0, 10.0))
    assert found.accuracy > 0.9 > found.majority
    assert found.interval[0] < found.accuracy < found.interval[1]
    assert (found.features, found.boards, len(found.folds), len(found.choices)) == (48, 120, 3, 3)
    drawn = np.random.default_rng(5).permutation(told.winners)
    guessed = predict_winners(
        Templates(4, side=1), told._replace(winners=drawn), folds=3, inner_folds=2, kernels=("linear",)
    )
    assert guessed.accuracy < 0.7
    assert found.difference(guessed)[1] > 0.2
    assert {choice.kernel for choice in guessed.choices} == {"linear"}


def test_too_few_boards_are_refused() -> None:
    boards = random_boards(20)
    with pytest.raises(ValueError, match="10 boards won by one color are too few for 5 folds of 4"):
        predict_winners(Templates(4), WinnerBoards(boards, np.tile(np.array([1, -1], dtype=np.int8), 10)))


def test_kernels_are_those_of_centered_and_scaled_features() -> None:
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((9, 4)) + 3
    train = np.array([0, 2, 3, 5, 8])
    scaled = rows - rows[train].mean(0)
    scaled /= np.sqrt((scaled[train] ** 2).sum(1).mean())
    products = normalized(rows @ rows.T, train)
    assert products == pytest.approx(scaled @ scaled.T)
    gaussian = np.exp(-((scaled[:, None] - scaled[None]) ** 2).sum(2) / 2)
    for kernel, expected in zip(KERNELS, (products, (1 + products) ** 2, gaussian), strict=True):
        assert kernel_table(products, kernel) == pytest.approx(expected)


def test_the_interval_is_students() -> None:
    low, high = student_interval([1.0, 2.0, 3.0])
    assert (low, high) == pytest.approx((2 - 4.302653 / 3**0.5, 2 + 4.302653 / 3**0.5), abs=1e-5)


def test_random_filters_keep_still_mostly() -> None:
    rng = np.random.default_rng(0)
    boards = random_boards(40)
    windows = sample_windows(boards, 100, rng)
    assert windows.shape == (100, 27)
    filters = random_filters(4, 8, sample_windows(boards, 10_000, rng), rng)
    share = np.mean([filters.active(board)[0].size / filters.size for board in boards])
    assert 0.15 < share < 0.3


def test_principal_components_are_orthogonal_and_explain_all_there_is() -> None:
    windows = np.concatenate([windows_of(board, 3) for board in random_boards(60)])
    filters = principal_filters(4, 105, windows)
    rows = filters.filters.reshape(len(filters.filters), -1)
    assert len(rows) == 18
    assert rows @ rows.T == pytest.approx(np.eye(18), abs=1e-5)
    centered = windows - windows.mean(0)
    assert centered @ rows.T @ rows == pytest.approx(centered, abs=1e-4)
    spread = ((centered @ rows.T) ** 2).mean(0)
    assert (np.diff(spread) <= 1e-5).all()


def test_clusters_are_centers_of_windows() -> None:
    windows = np.concatenate([windows_of(board, 3) for board in random_boards(30)])
    filters = cluster_filters(4, 6, windows)
    centers = filters.filters.reshape(6, -1)
    nearest = np.linalg.norm(windows[:, None] - centers[None], axis=2).argmin(1)
    for number in range(6):
        assert windows[nearest == number].mean(0) == pytest.approx(centers[number], abs=0.1)


def test_the_baselines_of_the_paper_are_of_about_equal_number() -> None:
    templates, *others = baselines(4, random_boards(40), count=20)
    assert templates.size == 9 * 81
    assert [features.size for features in others] == [4 * 20, 4 * 18, 4 * 20, 9 * 81]
    assert len({features.name for features in (templates, *others)}) == 5


def test_the_most_frequent_features_are_kept() -> None:
    boards = random_boards(30)
    features = Templates(4)
    counts = np.asarray((feature_matrix(features, boards) != 0).sum(0)).ravel()
    pruned = most_frequent(features, boards, 10)
    assert counts[pruned.kept].min() >= np.delete(counts, pruned.kept).max()
    assert pruned.size == 10
