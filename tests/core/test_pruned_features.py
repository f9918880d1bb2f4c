from __future__ import annotations

import numpy as np
import pytest

from katachi.core.conformance import check_feature_set
from katachi.core.linear import PrunedFeatures
from katachi.crbm.features import Templates
from katachi.go.board import Board
from katachi.go.game import Game

BOARD = Board.parse(". X O . / X X O O / . O . X / . . . .")


def test_only_what_is_kept_occurs_under_its_new_number() -> None:
    whole = Templates(4)
    indices, _ = whole.active(BOARD)
    kept = np.array([indices[5], 0, indices[2], whole.size - 1])
    pruned = PrunedFeatures(whole, kept)
    found, occurrences = pruned.active(BOARD)
    assert pruned.kept[found].tolist() == [index for index in indices.tolist() if index in kept]
    assert {int(indices[2]), int(indices[5])} <= set(pruned.kept[found].tolist())
    assert (occurrences == 1).all()
    assert pruned.describe(0) == whole.describe(0)
    assert pruned.name == "4 of all 2×2 templates"
    check_feature_set(pruned, games=[Game(4)])


@pytest.mark.parametrize("kept", [[], [1, 1], [-1, 3], [0, 100_000]])
def test_numbers_that_cannot_be_kept_are_refused(kept: list[int]) -> None:
    with pytest.raises(ValueError, match=r"only once|are none"):
        PrunedFeatures(Templates(4), np.array(kept, dtype=np.int64))
