"""Features found without learning much: random filters, principal components, clusters of windows, frequent
templates.

They are the baselines that learned features must beat. None of them sees a result; the boards that they are made from
should still be of other games than those that they are measured on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from katachi.core.contracts import FeatureSet, Floats
from katachi.crbm.features import PLANES, Response, Templates, WindowFilters, windows_of
from katachi.features.pruned import PrunedFeatures
from katachi.go.board import Board

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
