"""Liberty windows: what they say of a board and of every move on it, against liberty shapes read one by one."""

from __future__ import annotations

import numpy as np
import pytest

from helpers import naive_shapes
from katachi.shapes.kernels.liberty_windows import (
    CODES,
    INVERSE,
    POSITION,
    captures,
    gain_of_capture,
    gain_of_stone,
    read_position,
)
from katachi.shapes.liberty import LibertyShapes, build_liberty_windows
from katachi.shapes.sets import ShapeSet

SMALL = tuple(f"{location} {size}" for location in ("LI", "LD") for size in ("1x1", "2x1", "2x2"))
FIRST = np.uint32(0)


def shapes(size: int, names=SMALL) -> LibertyShapes:
    return LibertyShapes(size, [ShapeSet.parse(name) for name in names], tabled=True)


def whole_weights(features, seed=0):
    """Whole numbers that can be shared by four windows."""
    return 4 * np.random.default_rng(seed).integers(-1000, 1000, size=features.size)


def tables(features, weights):
    windows = build_liberty_windows(features)
    shares = np.repeat(windows.share, CODES, axis=0)
    return (weights[windows.weight] * shares).sum(axis=1).astype(np.int32)


def plain_sum(features, weights, board) -> int:
    indices, occurrences = features.active(board)
    return int(weights[indices] @ occurrences.astype(np.int64))


@pytest.mark.parametrize(("size", "steps"), [(2, 100), (3, 1000), (4, 500), (5, 500), (8, 200), (9, 300), (19, 20)])
def test_windows_and_moves_follow_the_shapes(size, steps):
    features = shapes(size)
    weights = whole_weights(features, size)
    table = tables(features, weights)
    position = np.zeros(1, dtype=POSITION)[0]
    rng = np.random.default_rng(size)
    valued = taken = 0
    for board in naive_shapes.random_walk(size, steps, seed=size):
        record, color = board.record[0], np.int8(board.to_play)
        seen_by_the_last = read_position(position, record, np.int8(-color), table, FIRST)
        assert seen_by_the_last == plain_sum(features, weights, board)
        codes = position["code"].copy()
        total = read_position(position, record, color, table, FIRST)
        assert np.array_equal(INVERSE[codes], position["code"])
        legal = np.flatnonzero(board.legal_moves()[:-1])
        record_before = board.record.tobytes()
        for point in rng.choice(legal, size=min(4, legal.size), replace=False).tolist():
            taking = captures(record, np.uint16(point), color)
            gain_of = gain_of_capture if taking else gain_of_stone
            after = board.copy()
            after.play(point)
            gain = gain_of(position, record, np.uint16(point), color, table, FIRST)
            assert total + gain == plain_sum(features, weights, after), (str(board), point)
            assert board.record.tobytes() == record_before
            taken += taking
            valued += 1
    assert valued > steps
    assert taken >= steps // 50


@pytest.mark.parametrize("names", [("LI 1x1",), ("LD 2x1",), ("LI 2x2", "LD 1x1")])
def test_any_choice_of_sets(names):
    features = shapes(6, names)
    weights = whole_weights(features)
    table = tables(features, weights)
    position = np.zeros(1, dtype=POSITION)[0]
    for board in naive_shapes.random_walk(6, 60, seed=2):
        total = read_position(position, board.record[0], np.int8(-board.to_play), table, FIRST)
        assert total == plain_sum(features, weights, board)


def test_larger_shapes_are_refused():
    with pytest.raises(ValueError, match="up to 2×2 alone"):
        build_liberty_windows(LibertyShapes(5, [ShapeSet.parse("LI 3x2")], tabled=True))
    with pytest.raises(ValueError, match="a weight of its own"):
        build_liberty_windows(LibertyShapes(5, [ShapeSet.parse("LI 2x2")]))
