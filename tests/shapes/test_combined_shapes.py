"""Local shapes and liberty shapes as one feature set: each kind as if it were alone."""

from __future__ import annotations

import numpy as np
import pytest

from helpers import naive_shapes
from katachi.core.conformance import check_feature_set, sample_games
from katachi.go.board import Board
from katachi.shapes.features import LocalShapes
from katachi.shapes.liberty import CombinedShapes, LibertyShapes
from katachi.shapes.sets import ShapeSet


def combined(size=5, basic=("LI 1x1", "LD 2x2"), liberty=("LD 2x1", "LI 3x2"), bins=50, tied=False) -> CombinedShapes:
    local, sets = ([ShapeSet.parse(name) for name in names] for names in (basic, liberty))
    return CombinedShapes(LocalShapes(size, local, tied=tied), LibertyShapes(size, sets, bins=bins, tabled=True))


def test_the_contract():
    check_feature_set(combined(), games=sample_games(sizes=[5]))


def test_each_kind_as_if_it_were_alone():
    shapes = combined()
    first = shapes.basic.size
    for board in naive_shapes.random_walk(5, 50, seed=1):
        indices, occurrences = shapes.active(board)
        basic, liberty = shapes.basic.active(board), shapes.liberty.active(board)
        assert indices.tolist() == [*basic[0].tolist(), *(first + liberty[0]).tolist()]
        assert occurrences.tolist() == [*basic[1].tolist(), *liberty[1].tolist()]


def test_counts():
    shapes = combined(liberty=("LD 2x1",))
    assert shapes.size == 3 + 4 * 81 + 6 * 49
    assert shapes.offsets.tolist() == [0, 3, 3 + 4 * 81, shapes.size]
    assert shapes.active_counts.tolist() == [25, 16, 40]
    assert [shape_set.name for shape_set in shapes.sets] == ["LI 1x1", "LD 2x2", "LD 2x1"]
    assert shapes.name == "local shapes 5×5: LI 1x1, LD 2x2; liberty shapes 5×5: LD 2x1, tabled up to 2x2"


def test_symmetric_shapes_share_a_weight():
    shapes = combined()
    canonical, signs = shapes.sharing
    assert canonical.shape == signs.shape == (shapes.size,)
    for index in range(0, shapes.size, 7):
        assert canonical[canonical[index]] == canonical[index]
        assert shapes.describe(index) == shapes.describe(int(canonical[index]))


def test_words_of_both_kinds():
    shapes = combined(basic=("LI 1x1",), liberty=("LI 1x1",))
    assert shapes.describe(1) == "LI 1x1: one stone of the mover, anywhere\nX"
    assert shapes.describe(3 + 4) == "LI 1x1 with liberties: anywhere\nO0"
    for index in (-1, shapes.size):
        with pytest.raises(ValueError, match="is not a feature"):
            shapes.describe(index)


def test_the_digest_tells_meanings_apart():
    same = combined().digest
    assert same == combined().digest
    others = [combined(size=6), combined(basic=("LI 1x1",)), combined(liberty=("LI 1x1",)), combined(bins=51)]
    assert len({same, *(other.digest for other in others), combined(tied=True).digest}) == 6


def test_growing():
    small, large = combined(5), combined(6)
    weights = np.random.default_rng(0).normal(size=(2, small.size)).astype(np.float32)
    grown = large.grow_from(small, weights)
    first = small.basic.size
    assert np.array_equal(grown[:, : large.basic.size], large.basic.grow_from(small.basic, weights[:, :first]))
    assert np.array_equal(grown[:, large.basic.size :], large.liberty.grow_from(small.liberty, weights[:, first:]))
    with pytest.raises(ValueError, match=f"have {small.size} weights, not 3"):
        large.grow_from(small, np.zeros(3, dtype=np.float32))


def test_refusals():
    sets = [ShapeSet.parse("LI 1x1")]
    with pytest.raises(ValueError, match="5×5 and 6×6 cannot be combined"):
        CombinedShapes(LocalShapes(5, sets), LibertyShapes(6, sets))
    with pytest.raises(ValueError, match="not of 9×9"):
        combined().active(Board(9))
