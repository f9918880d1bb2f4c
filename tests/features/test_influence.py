"""Influence against its slow twins, what blocks it, and that it turns and changes color with the board."""

from __future__ import annotations

import numpy as np
import pytest
from pydantic import TypeAdapter, ValidationError

from helpers import naive_inputs as naive
from helpers.positions import random_positions
from katachi.features.influence import INFLUENCES, BouzyInfluence, ChenInfluence, Influence, map_influence
from katachi.go.board import Board
from katachi.go.points import Symmetry


def twin_maps(board: Board, influence, kind: str) -> np.ndarray:
    """The maps of the slow twin, scaled."""
    stones, size = board.stones.tolist(), board.size
    if isinstance(influence, ChenInfluence):
        constants = (influence.emission, influence.decay, influence.steps)
        maps = np.array(naive.radiate(stones, size, kind, influence.method == "stringent", *constants))
    else:
        if isinstance(influence, BouzyInfluence):
            one = np.array(naive.bouzy(stones, size, influence.stone, influence.dilations, influence.erosions))
        else:
            one = np.array(naive.zobrist(stones, size, influence.stone, influence.passes))
        maps = np.maximum([one, -one], 0)
    return np.minimum(maps / influence.maximum, 1)


@pytest.mark.parametrize(
    "influence",
    [
        *INFLUENCES.values(),
        ChenInfluence(emission=3, decay=0.7, steps=3),
        BouzyInfluence(stone=64, dilations=4, erosions=13),
    ],
    ids=lambda influence: f"{influence.method}-{influence.constants[0]:g}",
)
def test_random_positions_agree_with_the_twin(influence):
    for size, count in ((1, 1), (2, 10), (5, 40), (9, 15), (13, 2), (19, 1)):
        for i, board in enumerate(random_positions(size, count, seed=10 + size)):
            kind = ("chain", "loose")[i % 2]
            assert map_influence(board, influence, kind) == pytest.approx(twin_maps(board, influence, kind), abs=1e-6)


@pytest.mark.parametrize("influence", INFLUENCES.values(), ids=INFLUENCES)
def test_it_turns_with_the_board_and_changes_color_with_the_stones(influence):
    for board in random_positions(9, 10, seed=4):
        maps = map_influence(board, influence)
        for symmetry in Symmetry:
            turned = map_influence(board.transformed(symmetry), influence).reshape(2, 9, 9)
            assert np.array_equal(turned, symmetry.transform(maps.reshape(2, 9, 9)))
        swapped = Board(9)
        swapped.place(black=np.flatnonzero(board.stones == -1), white=np.flatnonzero(board.stones == 1))
        assert np.array_equal(map_influence(swapped, influence), maps[::-1])


WALL = ". . . . . / . . . . . / O O O O O / . X X . . / . . . . ."


def test_a_wall_blocks_what_is_exact():
    black, white = map_influence(Board.parse(WALL), INFLUENCES["exact"])
    assert not black[:15].any()
    assert white[:10].all()


def test_a_weak_wall_lets_strong_stones_through():
    """The white wall has more liberties than Black's chain, but no eye: a black group with eyes passes it."""
    weak = map_influence(Board.parse(WALL), INFLUENCES["stringent"])[0]
    assert not weak[:15].any()
    strong = Board.parse(". . . . . / . . . . . / O O O O O / X X X X X / . X . . .")
    assert map_influence(strong, INFLUENCES["stringent"])[0, :15].all()
    assert not map_influence(strong, INFLUENCES["exact"])[0, :15].any()


def test_a_lone_stone_claims_only_itself_by_bouzy():
    board = Board(19)
    board.play(180)
    black, white = map_influence(board, INFLUENCES["bouzy"])
    assert np.flatnonzero(black).tolist() == [180]
    assert not white.any()


def test_settings_name_a_method_or_give_its_constants():
    settings = TypeAdapter(Influence)
    assert settings.validate_python("bouzy") == BouzyInfluence()
    assert settings.validate_python({"method": "stringent", "steps": 4}) == ChenInfluence(method="stringent", steps=4)
    for wrong in ("chen", {"method": "exact", "dilations": 5}, {"method": "exact", "decay": 0.0}):
        with pytest.raises(ValidationError):
            settings.validate_python(wrong)
