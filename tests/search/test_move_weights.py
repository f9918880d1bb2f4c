"""The learned weights of moves: the shipped file, what is refused, and the prior that they make."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save

from helpers import naive
from helpers.positions import random_board
from katachi.go.board import Board
from katachi.go.kernels.board import OFF
from katachi.go.points import BLACK, parse_vertex
from katachi.search.kernels.patterns import (
    ATARI,
    DISTANCES,
    LARGE_MOST,
    LARGE_SIZES,
    SAVES,
    SELF_ATARI,
    TAKES,
    TAKES_LAST,
    large_pattern,
    move_distance,
    move_tactic,
    write_large_keys,
)
from katachi.search.kernels.playouts import fill_pattern_prior
from katachi.search.playouts import (
    LARGE,
    WEIGHTS,
    LargePatterns,
    MoveWeights,
    MoveWeightsError,
    group_sizes,
    load_large_patterns,
    load_move_weights,
    new_playouts,
    number_patterns,
    save_large_patterns,
    save_move_weights,
)
from katachi.search.settings import PlayoutSettings


def random_weights(seed: int) -> MoveWeights:
    rng = np.random.default_rng(seed)
    return MoveWeights(*(rng.lognormal(size=size).astype(np.float32) for size in group_sizes()))


def naive_tactic(board: Board, point: int, last: int) -> int:
    size, stones, color = board.size, board.stones.tolist(), board.to_play
    outcome = naive.put_stone(stones, size, point, color)
    liberties = len(naive.liberties_of(outcome.stones, size, naive.chain_at(outcome.stones, size, point)))
    before = naive.liberties_by_point(stones, size)
    near = naive.neighbors(size, point)
    tactic = 0
    if outcome.captures:
        tactic = TAKES_LAST if last in outcome.captures else TAKES
    elif liberties == 1:
        tactic = SELF_ATARI
    elif any(stones[p] == color and len(before[p][1]) == 1 for p in near):
        tactic = SAVES
    opponents = [p for p in near if stones[p] == -color and len(before[p][1]) > 1]
    return tactic + ATARI * any(len(before[p][1] - {point}) == 1 for p in opponents)


def test_tactics_are_those_of_the_move_made() -> None:
    seen = set()
    for seed in range(30):
        board = random_board(7, 15 + seed, seed)
        opponents = np.flatnonzero(board.stones == -board.to_play).tolist()
        last = opponents[seed % len(opponents)]
        for point in np.flatnonzero(board.legal_moves()[:-1]).tolist():
            tactic = move_tactic(board.record[0], np.uint16(point), board.to_play, np.uint16(last))
            assert tactic == naive_tactic(board, point, last)
            seen.add(int(tactic))
    assert {0, TAKES, TAKES_LAST, SAVES, SELF_ATARI, ATARI} <= seen


@pytest.mark.parametrize(("other", "distance"), [("D4", 0), ("D5", 2), ("E5", 3), ("F5", 5), ("J9", 15), ("A1", 9)])
def test_distances(other: str, distance: int) -> None:
    points = [np.uint16(parse_vertex(text, 9)) for text in ("D4", other)]
    assert move_distance(np.uint16(9), *points) == distance
    assert move_distance(np.uint16(19), np.uint16(0), np.uint16(360)) == DISTANCES - 1
    assert move_distance(np.uint16(9), points[0], OFF) == 0


def test_the_prior_is_the_share_of_each_product() -> None:
    weights = random_weights(1)
    playouts = new_playouts(PlayoutSettings(), 1, 1, weights)
    for seed in range(3):
        board = random_board(7, 12 + 8 * seed, seed)
        last, before = (int(p) for p in np.flatnonzero(board.stones == -board.to_play)[:2])
        playouts["last"], playouts["before"] = last, before
        prior = np.zeros(49)
        assert fill_pattern_prior(board.record, playouts, prior)
        stones, color = board.stones.tolist(), board.to_play
        expected = np.zeros(49)
        for point in range(49):
            if board.is_legal(point) and not naive.is_own_eye(stones, 7, point, color):
                expected[point] = (
                    weights.tactic[naive_tactic(board, point, last)]
                    * weights.last[move_distance(np.uint16(7), np.uint16(point), np.uint16(last))]
                    * weights.before[move_distance(np.uint16(7), np.uint16(point), np.uint16(before))]
                    * weights.pattern[number_patterns()[_naive_code(board, point)]]
                )
        np.testing.assert_allclose(prior, expected / expected.sum(), rtol=1e-5)


def _naive_code(board: Board, point: int) -> int:
    size, stones, color = board.size, board.stones.tolist(), board.to_play
    row, col = divmod(point, size)
    code = 0
    for k, (down, right) in enumerate(((-1, 0), (0, -1), (0, 1), (1, 0), (-1, -1), (-1, 1), (1, -1), (1, 1))):
        if not (0 <= row + down < size and 0 <= col + right < size):
            code |= 3 << 2 * k
            continue
        near = (row + down) * size + col + right
        code |= {0: 0, color: 1, -color: 2}[stones[near]] << 2 * k
        liberties = naive.liberties_of(stones, size, naive.chain_at(stones, size, near))
        code |= (k < 4 and stones[near] != 0 and len(liberties) == 1) << 16 + k
    return code


def test_a_full_board_has_no_prior() -> None:
    board = Board.parse("X . X / X X X / . X X")
    prior = np.ones(9)
    assert not fill_pattern_prior(board.record, new_playouts(PlayoutSettings(), 1, 1), prior)
    assert not prior.any()


def test_the_shipped_weights_know_tactics() -> None:
    tactic = load_move_weights().tactic
    assert tactic[TAKES_LAST] > tactic[TAKES] > tactic[0] > tactic[SELF_ATARI]
    board = Board.parse(". . . . . / . . X . . / . X O X . / . . . . . / . . . . .")
    playouts = new_playouts(PlayoutSettings(), 1, 1)
    playouts["last"] = 12
    prior = np.zeros(25)
    assert board.to_play == BLACK
    fill_pattern_prior(board.record, playouts, prior)
    assert prior.argmax() == 17


def test_weights_come_back_from_disk_and_damaged_ones_are_refused(tmp_path: Path) -> None:
    weights = random_weights(2)
    save_move_weights(tmp_path, weights)
    assert all((ours == read).all() for ours, read in zip(weights, load_move_weights(tmp_path), strict=True))
    tensors = weights._asdict()
    damaged = {"tactic": weights.tactic[:3].copy(), "last": -weights.last, "before": weights.before * np.float32("nan")}
    for name, tensor in damaged.items():
        (tmp_path / WEIGHTS).write_bytes(save(tensors | {name: tensor}))
        with pytest.raises(MoveWeightsError, match=name):
            load_move_weights(tmp_path)
    (tmp_path / WEIGHTS).write_bytes(b"nonsense")
    with pytest.raises(MoveWeightsError, match="cannot be read"):
        load_move_weights(tmp_path)
    with pytest.raises(MoveWeightsError, match="cannot be read"):
        load_move_weights(tmp_path / "nowhere")


def test_large_patterns_multiply_the_prior() -> None:
    board = random_board(9, 25, seed=3)
    moves = [p for p in np.flatnonzero(board.legal_moves()[:-1]).tolist() if not board.is_own_eye(p, board.to_play)]
    keys = np.zeros((1, len(LARGE_SIZES)), dtype=np.uint64)
    known: set[int] = set()
    for point in moves[::2]:
        write_large_keys(board.record.copy(), np.array([point]), np.array([board.to_play], dtype=np.int8), keys)
        known |= set(keys[0, : 1 + point % 5].tolist())
    gamma = np.random.default_rng(1).lognormal(size=len(known) + 1).astype(np.float32)
    large = LargePatterns(np.array(sorted(known), dtype=np.uint64), gamma)
    plain, prior = np.zeros(81), np.zeros(81)
    fill_pattern_prior(board.record, new_playouts(PlayoutSettings(), 1, 1), plain)
    playouts = new_playouts(PlayoutSettings(), 2, 1, large=large)[1:]  # every thread has them
    fill_pattern_prior(board.record, playouts, prior)
    numbers = [large_pattern(board.record[0], playouts[0], np.uint16(p), board.to_play) for p in range(81)]
    assert len(set(numbers)) > 10
    expected = plain * gamma[numbers]
    np.testing.assert_allclose(prior, expected / expected.sum(), rtol=1e-5)


def test_large_patterns_come_back_from_disk_and_damaged_ones_are_refused(tmp_path: Path) -> None:
    patterns = LargePatterns(np.array([3, 5, 9], dtype=np.uint64), np.array([1, 2, 0.5, 4], dtype=np.float32))
    save_large_patterns(tmp_path, patterns)
    assert all((ours == read).all() for ours, read in zip(patterns, load_large_patterns(tmp_path), strict=True))
    damaged: list[dict[str, np.ndarray]] = [
        {"key": patterns.key[::-1].copy()},
        {"key": patterns.key.astype(np.int64)},
        {"key": np.arange(LARGE_MOST + 1, dtype=np.uint64)},
        {"gamma": patterns.gamma[:3].copy()},
        {"gamma": patterns.gamma - 1},
    ]
    for tensors in damaged:
        (tmp_path / LARGE).write_bytes(save(patterns._asdict() | tensors))
        with pytest.raises(MoveWeightsError, match=next(iter(tensors))):
            load_large_patterns(tmp_path)
    (tmp_path / LARGE).write_bytes(b"nonsense")
    with pytest.raises(MoveWeightsError, match="cannot be read"):
        load_large_patterns(tmp_path)
    with pytest.raises(MoveWeightsError, match="cannot be read"):
        load_large_patterns(tmp_path / "nowhere")
