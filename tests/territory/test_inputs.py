"""Point inputs against their slow twin, in every setting; they turn with the board, and change with the colors."""

from __future__ import annotations

import numpy as np
import pytest

from helpers import naive_inputs as naive
from helpers.positions import random_positions
from katachi.features.influence import INFLUENCES, ChenInfluence, map_influence
from katachi.go.board import Board
from katachi.go.kernels.board import new_boards
from katachi.go.points import BLACK, WHITE, Symmetry
from katachi.territory.inputs import TABLE_SHAPE, PointInputs, Propensity, propensity_of

INPUTS = PointInputs()
PLACES = {
    1: [("", 0, 0)],
    5: [("", 0, 0), ("above", -1, 0), ("left", 0, -1), ("right", 0, 1), ("below", 1, 0)],
    9: [
        ("", 0, 0),
        ("above left", -1, -1),
        ("above", -1, 0),
        ("above right", -1, 1),
        ("left", 0, -1),
        ("right", 0, 1),
        ("below left", 1, -1),
        ("below", 1, 0),
        ("below right", 1, 1),
    ],
}
PLACES[13] = [*PLACES[9], ("2 above", -2, 0), ("2 left", 0, -2), ("2 right", 0, 2), ("2 below", 2, 0)]


@pytest.fixture(scope="module")
def table() -> np.ndarray:
    """Propensities of random games."""
    propensity = Propensity()
    rng = np.random.default_rng(0)
    for size in (3, 5, 9, 19):
        propensity.count(random_positions(size, 50, seed=size), rng.integers(-1, 2, (50, size**2), dtype=np.int8))
    return propensity.table()


def compare(inputs: PointInputs, boards: list[Board], table: np.ndarray) -> None:
    """Compare boards of one size, encoded together, with what the twin says of each; parts have twins of their own."""
    encoded = inputs.encode(boards, table)
    for board, found in zip(boards, encoded, strict=True):
        maps = map_influence(board, inputs.influence, inputs.group)
        told = naive.point_inputs(
            board.stones.tolist(),
            board.size,
            inputs.group,
            maps.tolist(),
            propensity_of(board, table).tolist(),
            PLACES[inputs.neighborhood],
        )
        expected = np.array([[point[name] for name in inputs.names] for point in told], dtype=np.float32)
        assert np.array_equal(found, expected), str(board)


@pytest.mark.parametrize(
    ("size", "count"), [(1, 1), (2, 50), (3, 200), (4, 300), (5, 600), (6, 300), (7, 300), (9, 230), (13, 14), (19, 5)]
)
def test_random_positions_agree_with_the_twin(size, count, table):
    compare(INPUTS, random_positions(size, count, seed=30 + size), table)


SETTINGS = [
    PointInputs(group=group, neighborhood=neighborhood, influence=INFLUENCES[influence])
    for group, neighborhood, influence in (
        ("loose", 9, "stringent"),
        ("chain", 13, "stringent"),
        ("loose", 5, "bouzy"),
        ("chain", 1, "zobrist"),
        ("loose", 13, "exact"),
    )
]


@pytest.mark.parametrize("inputs", SETTINGS, ids=str)
def test_settings_agree_with_the_twin(inputs, table):
    told = naive.point_inputs([0], 1, inputs.group, [[0], [0]], [0], PLACES[inputs.neighborhood])
    assert set(inputs.names) == set(told[0])
    for size, count in ((5, 20), (9, 5)):
        compare(inputs, random_positions(size, count, seed=size), table)


@pytest.mark.parametrize("inputs", [INPUTS, *SETTINGS], ids=str)
def test_they_turn_with_the_board_to_the_last_bit(inputs, table):
    for size in (4, 9, 13):
        boards = random_positions(size, 4, seed=40 + size)
        encoded = inputs.encode(boards, table)
        for symmetry in Symmetry:
            turned = [board.transformed(symmetry) for board in boards]
            assert np.array_equal(inputs.encode(turned, table), inputs.flip(encoded, symmetry))


def test_exchanged_colors_exchange_black_and_white(table):
    for inputs in (INPUTS, *SETTINGS):
        exchanged = [inputs.names.index(_exchange(name)) for name in inputs.names]
        sign = np.where([name.startswith("propensity") for name in inputs.names], -1, 1)
        boards = random_positions(9, 20, seed=6)
        for board, told in zip(boards, inputs.exchange(inputs.encode(boards, table)), strict=True):
            swapped = Board(9)
            swapped.place(black=np.flatnonzero(board.stones == WHITE), white=np.flatnonzero(board.stones == BLACK))
            (one,), (other,) = inputs.encode([board], table), inputs.encode([swapped], table)
            assert np.array_equal(other, sign * one[:, exchanged])
            assert np.array_equal(other, told)


def _exchange(name: str) -> str:
    for one, other in (("black", "white"), ("Black", "White")):
        if one in name or other in name:
            return name.replace(one, "~").replace(other, one).replace("~", other)
    return name


def test_the_layout_of_the_paper():
    """27 + 18 + 9 of the neighborhood, then 1 + 4 + 5 + 5 of groups; 5 or 13 places would be 45 or 93 in all."""
    assert [(part, places.stop - places.start) for part, places in INPUTS.parts.items()] == [
        ("stone", 27),
        ("influence", 18),
        ("propensity", 9),
        ("eyes", 1),
        ("liberties", 4),
        ("weakest enemy", 5),
        ("second weakest enemy", 5),
    ]
    assert [PointInputs(neighborhood=places).d for places in (1, 5, 9, 13)] == [21, 45, 69, 93]
    assert len(set(INPUTS.names)) == INPUTS.d == 69


def test_numbers_are_between_0_and_1(table):
    encoded = INPUTS.encode(random_positions(9, 100, seed=7), table)
    propensity = np.array([name.startswith("propensity") for name in INPUTS.names])
    assert encoded[..., ~propensity].min() == 0
    assert encoded[..., ~propensity].max() == 1
    assert np.abs(encoded[..., propensity]).max() < 1


def test_words_and_digests():
    changes = ({}, {"group": "loose"}, {"influence": ChenInfluence(steps=5)}, {"neighborhood": 5})
    settings = [PointInputs(**change) for change in changes]
    assert len({inputs.digest for inputs in settings}) == 4
    assert PointInputs.model_validate_json(settings[2].model_dump_json()) == settings[2]
    assert PointInputs.model_validate({"influence": "bouzy"}).influence == INFLUENCES["bouzy"]
    assert INPUTS.describe(55) == "liberties of order 1 (of the group: 1 for 8 of order 1, for 16 of a higher one)"
    with pytest.raises(ValueError, match="69 is not an input: there are 69"):
        INPUTS.describe(69)


def test_what_does_not_fit_is_refused(table):
    boards = new_boards(2, 5)
    for shape in ((2, 25, 68), (2, 24, 69), (1, 25, 69), (2, 69)):
        with pytest.raises(ValueError, match=r"2 boards need a contiguous array \[2, n², 69\] of float32"):
            INPUTS.fill(boards, table, np.empty(shape, dtype=np.float32))
    with pytest.raises(ValueError, match="not all of these boards are 7×7"):
        INPUTS.fill(boards, table, np.empty((2, 49, 69), dtype=np.float32))
    with pytest.raises(ValueError, match="a table of propensities"):
        INPUTS.fill(boards, np.zeros(TABLE_SHAPE), np.empty((2, 25, 69), dtype=np.float32))
    with pytest.raises(ValueError, match="no boards"):
        INPUTS.encode([])
