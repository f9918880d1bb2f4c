"""Liberty shapes against their slow twin, and their symmetries."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence

import numpy as np
import pytest

from helpers import naive_shapes
from katachi.core.conformance import check_feature_set, sample_games
from katachi.features.windows import TABLE_SIZES
from katachi.go.board import Board
from katachi.go.points import WHITE
from katachi.shapes.liberty import LibertyShapes
from katachi.shapes.sets import Location, ShapeSet

SETS = [ShapeSet(width, height, location) for location in Location for width, height in TABLE_SIZES]
MANY_BINS = 10_000_000  # so many that two templates hardly ever meet


def fitting(size: int, sets: Sequence[ShapeSet] = SETS) -> list[ShapeSet]:
    return [shape_set for shape_set in sets if shape_set.width <= size]


def rectangles(features: LibertyShapes) -> Iterator[tuple[ShapeSet, tuple[int, int, int, int]]]:
    """Set and place of every placement in the order in which they are listed."""
    record, size = features.record, features.board_size
    for w in range(int(record["windows"][0])):
        width, height = TABLE_SIZES[record["shape"][0, w]]
        cells = record["cell"][0, w, : width * height].tolist()
        xs, ys = [cell % size for cell in cells], [cell // size for cell in cells]
        place = min(xs), min(ys), max(xs) - min(xs) + 1, max(ys) - min(ys) + 1
        for location in Location:
            shape_set = ShapeSet(width, height, location)
            if shape_set in features.sets:
                yield shape_set, place


@pytest.mark.parametrize("tabled", [False, True])
@pytest.mark.parametrize(("size", "steps"), [(3, 300), (4, 200), (5, 200), (6, 100), (9, 100)])
def test_the_weights_follow_the_slow_twin(size: int, steps: int, tabled: bool) -> None:
    features = LibertyShapes(size, SETS, bins=MANY_BINS, tabled=tabled)
    places = list(rectangles(features))
    index_of: dict[tuple[object, ...], int] = {}
    template_of: dict[int, tuple[object, ...]] = {}
    for board in naive_shapes.random_walk(size, steps, seed=size):
        entries = features.placements(board).tolist()
        for (shape_set, place), entry in zip(places, entries, strict=True):
            states = naive_shapes.liberty_states(board, -board.to_play, place)
            template = (shape_set.name, naive_shapes.template(size, place, states, shape_set.is_dependent))
            assert index_of.setdefault(template, entry) == entry
            template_of.setdefault(entry, template)
        indices, occurrences = features.active(board)
        assert np.repeat(indices, occurrences.astype(int)).tolist() == sorted(entries)
    met = {template[0] for template, entry in index_of.items() if template_of[entry] != template}
    assert len(template_of) > 0.998 * len(index_of)
    if tabled:
        assert met <= {"LI 3x2", "LI 3x3", "LD 3x2", "LD 3x3"}


@pytest.mark.parametrize("size", [2, 5, 19])
def test_every_rectangle_of_a_set_is_there_once(size: int) -> None:
    features = LibertyShapes(size, fitting(size))
    listed = list(rectangles(features))
    for j, shape_set in enumerate(features.sets):
        places = [place for other, place in listed if other == shape_set]
        assert sorted(places) == sorted(naive_shapes.placements(size, shape_set.width, shape_set.height))
        assert len(places) == features.active_counts[j]


@pytest.mark.parametrize("size", [3, 5, 6, 9, 19])
def test_symmetric_and_inverted_boards_have_the_same_features(size: int) -> None:
    features = LibertyShapes(size, SETS)
    *_, board = naive_shapes.random_walk(size, size * size, seed=size)
    indices, occurrences = features.active(board)
    for image in naive_shapes.image_boards(board):
        again = features.active(image)
        assert np.array_equal(indices, again[0])
        assert np.array_equal(occurrences, again[1])


def test_a_stone_in_atari_is_told_apart_from_a_safe_one() -> None:
    features = LibertyShapes(5, [ShapeSet.parse("LI 1x1")], tabled=True)
    board = Board.parse("""
        . . . . .
        . X . . .
        X O X . .
        . . . . .
        . . . . O
        White to play""")  # Black has just moved: three of his stones are safe, one of White's is in atari
    indices, occurrences = features.active(board)
    drawn = [features.describe(index).splitlines()[1] for index in indices.tolist()]
    assert dict(zip(drawn, occurrences.tolist(), strict=True)) == {".": 20.0, "X2": 3.0, "O1": 1.0, "O2": 1.0}


def test_a_liberty_far_away_changes_a_shape() -> None:
    features = LibertyShapes(5, [ShapeSet.parse("LD 1x1")], tabled=True)
    board = Board.parse("""
        X X X X .
        O O O . .
        . . . . .
        . . . . .
        . . . . .
        Black to play""")
    assert stones_in_corners(features, board) == {".", "O2"}
    board.play(8, WHITE)  # far from the corner
    assert stones_in_corners(features, board) == {".", "O1"}


def stones_in_corners(features: LibertyShapes, board: Board) -> set[str]:
    descriptions = [features.describe(index) for index in features.active(board)[0].tolist()]
    corner = "0 from the left edge and 0 from the top"
    return {text.splitlines()[-1].removeprefix("│ ") for text in descriptions if corner in text}


@pytest.mark.parametrize("tabled", [False, True])
@pytest.mark.parametrize("size", [2, 5, 9, 19])
def test_conformance(size: int, tabled: bool) -> None:
    check_feature_set(LibertyShapes(size, fitting(size), tabled=tabled), games=sample_games([size]))


def test_tables_have_a_weight_for_every_template() -> None:
    features = LibertyShapes(9, SETS, tabled=True)
    allocated = [features.allocated(shape_set) for shape_set in SETS]
    assert allocated == [7, 49, 2_401, 100_000, 100_000, 7 * 25, 49 * 20, 2_401 * 16, 100_000, 100_000]
    assert LibertyShapes(9, SETS).size == 1_000_000


def test_grown_weights_keep_their_place_relative_to_the_corner() -> None:
    corner, middle = ShapeSet.parse("LD 1x1"), ShapeSet.parse("LD 3x3")
    small, large = (LibertyShapes(size, [corner, middle], tabled=True) for size in (5, 7))
    weights = np.zeros(small.size, dtype=np.float32)
    weights[small.offsets[1] :] = np.arange(small.bins)
    tabled = {index: small.describe(index) for index in range(small.offsets[1])}
    values = {text: i + 1 for i, text in enumerate(sorted(set(tabled.values())))}
    for index in np.unique(small.sharing[0])[: len(values)].tolist():
        weights[index] = values[tabled[index]]
    grown = large.grow_from(small, weights)
    assert np.array_equal(grown[large.offsets[1] :], weights[small.offsets[1] :])
    for index in range(large.offsets[1]):
        in_use = large.sharing[0][index] == index
        assert grown[index] == (values.get(large.describe(index), 0) if in_use else 0)


def test_the_digest_tells_apart_what_differs() -> None:
    variants = [
        LibertyShapes(5, SETS),
        LibertyShapes(6, SETS),
        LibertyShapes(5, SETS[::-1]),
        LibertyShapes(5, SETS, bins=99),
        LibertyShapes(5, SETS, tabled=True),
    ]
    assert len({features.digest for features in variants}) == len(variants)


def test_impossible_sets_are_refused_in_one_sentence() -> None:
    one, large = ShapeSet.parse("LI 3x3"), ShapeSet.parse("LI 4x3")
    for size, sets, bins in ((2, [one], 10), (5, [], 10), (5, [one, one], 10), (5, [one], 0), (5, [large], 10)):
        with pytest.raises(ValueError, match=r"^[^\n]+$"):
            LibertyShapes(size, sets, bins=bins)
    with pytest.raises(ValueError, match="5×5 boards, not of 6×6"):
        LibertyShapes(5, SETS).active(Board(6))
    with pytest.raises(ValueError, match="is not a feature"):
        LibertyShapes(5, [one]).describe(100_000)


def test_indices_mean_what_they_meant_in_models_saved_before() -> None:
    """If this fails, the layout has changed: give it a new number, so that old models are refused."""
    board = Board.parse("""
        . X O . .
        X . X O .
        . O X . .
        . . . . O
        X . . . .
        White to play""")
    features = LibertyShapes(5, SETS)
    indices, occurrences = features.active(board)
    checksum = zlib.crc32(indices.astype("<i8").tobytes() + occurrences.astype("<f4").tobytes())
    assert (checksum, features.digest) == (1985369648, "6c053897072d3848")
