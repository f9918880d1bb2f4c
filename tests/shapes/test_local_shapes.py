"""Local shapes against their slow twin, their symmetries, and growing boards."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest

from helpers import naive_shapes
from katachi.core.conformance import check_feature_set, sample_games
from katachi.features.windows import PAPER_SIZES
from katachi.go.board import Board
from katachi.go.kernels.board import OFF
from katachi.go.points import BLACK, WHITE
from katachi.shapes.features import LocalShapes, ShapeTracker
from katachi.shapes.sets import Location, ShapeSet

TABLE_SETS = [ShapeSet(width, height, location) for location in Location for width, height in PAPER_SIZES[:5]]
ALL_SETS = [ShapeSet(width, height, location) for location in Location for width, height in PAPER_SIZES]
HASHED_SETS = [shape_set for shape_set in ALL_SETS if shape_set.is_hashed]
MANY_BINS = 1_000_000  # so many that two templates seldom meet


def fitting(size: int, sets: Sequence[ShapeSet] = ALL_SETS) -> list[ShapeSet]:
    return [shape_set for shape_set in sets if shape_set.width <= size]


def rectangle(cells: Sequence[int], size: int) -> tuple[int, int, int, int]:
    """The place of a window on the board: x, y, width, height."""
    xs, ys = [cell % size for cell in cells], [cell // size for cell in cells]
    return min(xs), min(ys), max(xs) - min(xs) + 1, max(ys) - min(ys) + 1


def rectangles(features: LocalShapes) -> list[tuple[int, tuple[int, int, int, int]]]:
    """Set and place of every placement, table sets first, as kernels list them."""
    tables, size = features.tables, features.board_size
    rows = [(j, tables.cells[w]) for j, w in zip(tables.placement_set, tables.placement_window, strict=True)]
    rows += [(j, tables.keyed_cells[w]) for j, w in zip(tables.keyed_set, tables.keyed_window, strict=True)]
    return [(int(j), rectangle([cell for cell in cells.tolist() if cell != OFF], size)) for j, cells in rows]


def listed(tracker: ShapeTracker, mover: int) -> tuple[list[int], list[int]]:
    """The weight and the sign of every placement."""
    entries, signs = tracker.placements(mover)
    return entries.tolist(), signs.tolist()


class Numbering:
    """Which weight stands for which template of the slow twin, learned from position to position."""

    def __init__(self, features: LocalShapes) -> None:
        self.features = features
        self.places = rectangles(features)
        self.index_of: dict[tuple[object, ...], tuple[int, int]] = {}
        self.template_of: dict[int, tuple[object, ...]] = {}
        self.met: set[tuple[object, ...]] = set()  # templates that share a weight with another

    def check(self, board: Board, tracker: ShapeTracker) -> None:
        """Every placement must have the weight that its template had before, and no other template's."""
        mover, size = -board.to_play, board.size
        seen, inverted = naive_shapes.digits(board, mover), naive_shapes.digits(board, -mover)
        for (j, place), entry, sign in zip(self.places, *listed(tracker, mover), strict=True):
            located = self.features.sets[j].is_dependent
            template = (j, naive_shapes.template(size, place, naive_shapes.read(seen, size, place), located))
            expected = 1
            if self.features.tied:
                contents = naive_shapes.read(inverted, size, place)
                inverse = (j, naive_shapes.template(size, place, contents, located))
                expected = (template < inverse) - (template > inverse)
                template = min(template, inverse)
            first = self.index_of.setdefault(template, (entry, sign * expected))
            assert first == (entry, sign * expected)  # which of two inverses is the positive one is free
            assert (sign == 0) == (expected == 0)
            if self.template_of.setdefault(entry, template) != template:
                self.met.add(template)


def follow_random_walk(features: LocalShapes, steps: int, seed: int) -> Numbering:
    """Compare the tracked and the full computation with the twin on every position of a random walk."""
    numbering = Numbering(features)
    tracker = features.tracker()
    captured = 0
    for board in naive_shapes.random_walk(features.board_size, steps, seed):
        tracker.follow(board)
        captured = max(captured, board.captured(BLACK) + board.captured(WHITE))
        numbering.check(board, tracker)
        full, tracked = features.active(board), tracker.active(-board.to_play)
        assert np.array_equal(full[0], tracked[0])
        assert np.array_equal(full[1], tracked[1])
        assert dict(zip(full[0].tolist(), full[1].tolist(), strict=True)) == _sum(*listed(tracker, -board.to_play))
    assert captured > 5
    return numbering


def _sum(entries: list[int], signs: list[int]) -> dict[int, float]:
    total: Counter[int] = Counter()
    for entry, sign in zip(entries, signs, strict=True):
        total[entry] += sign
    return {entry: count for entry, count in total.items() if count}


@pytest.mark.parametrize(("size", "steps"), [(3, 2_500), (4, 2_500), (5, 2_500), (6, 1_000), (7, 500), (9, 1_000)])
def test_table_sets_follow_the_slow_twin(size: int, steps: int) -> None:
    numbering = follow_random_walk(LocalShapes(size, TABLE_SETS), steps, seed=size)
    assert not numbering.met


@pytest.mark.parametrize("size", [4, 5, 6, 7])
def test_hashed_sets_follow_the_slow_twin(size: int) -> None:
    numbering = follow_random_walk(LocalShapes(size, fitting(size, HASHED_SETS), bins=MANY_BINS), 300, seed=size)
    assert len(numbering.index_of) > 1_000
    assert len(numbering.met) < len(numbering.index_of) / 50


@pytest.mark.parametrize("size", [3, 5, 6])
def test_tied_sets_follow_the_slow_twin(size: int) -> None:
    numbering = follow_random_walk(LocalShapes(size, fitting(size), bins=MANY_BINS, tied=True), 300, seed=size)
    assert len(numbering.met) < len(numbering.index_of) / 50


@pytest.mark.parametrize("size", [2, 5, 19])
def test_every_rectangle_of_a_set_is_there_once(size: int) -> None:
    features = LocalShapes(size, fitting(size))
    for j, shape_set in enumerate(features.sets):
        places = [place for i, place in rectangles(features) if i == j]
        assert sorted(places) == sorted(naive_shapes.placements(size, shape_set.width, shape_set.height))
        assert len(places) == features.active_counts[j]


# Symmetry and color


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("size", [3, 5, 6, 9, 19])
def test_symmetric_and_inverted_boards_have_the_same_features(size: int, tied: bool) -> None:
    features = LocalShapes(size, fitting(size), tied=tied)
    *_, board = naive_shapes.random_walk(size, size * size, seed=size)
    indices, occurrences = features.active(board)
    for image in naive_shapes.image_boards(board):
        again = features.active(image)
        assert np.array_equal(indices, again[0])
        assert np.array_equal(occurrences, again[1])


def test_tied_features_change_their_sign_with_the_mover() -> None:
    features = LocalShapes(6, fitting(6), tied=True)
    for board in naive_shapes.random_walk(6, 50, seed=1):
        indices, occurrences = features.active(board)
        board.to_play = -board.to_play
        again = features.active(board)
        board.to_play = -board.to_play
        assert np.array_equal(indices, again[0])
        assert np.array_equal(occurrences, -again[1])


def test_tied_weights_are_as_many_as_shapes_that_are_not_their_own_inverse() -> None:
    # RLGO's squares up to 3×3 on 9×9: LI 1 + 8 + 1,418 and LD 15 + 344 + 61,517
    sets = [ShapeSet(n, n, location) for location in Location for n in (1, 2, 3)]
    features = LocalShapes(9, sets, tied=True)
    in_use = np.unique(features.tables.canonical[features.tables.signs != 0])
    assert np.histogram(in_use, features.offsets)[0].tolist() == [1, 8, 1_418, 15, 344, 61_517]


@pytest.mark.parametrize("size", [5, 9])
@pytest.mark.parametrize("tied", [False, True])
def test_weights_in_use_are_as_many_as_different_shapes(size: int, tied: bool) -> None:
    features = LocalShapes(size, TABLE_SETS, tied=tied)
    in_use = np.unique(features.tables.canonical)
    assert np.array_equal(features.tables.canonical[in_use], in_use)
    counted = np.histogram(in_use, features.offsets)[0].tolist()
    assert counted == [features.distinct(shape_set) for shape_set in TABLE_SETS]


def test_both_ways_to_read_a_value_agree() -> None:
    features = LocalShapes(7, TABLE_SETS, tied=True)
    weights = np.random.default_rng(1).normal(size=features.size)
    expanded = weights[features.tables.canonical] * features.tables.signs
    tracker = features.tracker()
    for board in naive_shapes.random_walk(7, 30, seed=2):
        tracker.follow(board)
        codes = tracker.record["code"][0, 0 if board.to_play == WHITE else 1, features.tables.placement_window]
        indices, occurrences = features.active(board)
        value = expanded[features.tables.placement_base + codes].sum()
        assert value == pytest.approx(weights[indices] @ occurrences, abs=1e-9)


# Growing


def test_grown_weights_keep_their_place_relative_to_the_corner() -> None:
    small, large = (LocalShapes(size, [ShapeSet.parse("LD 1x1")]) for size in (5, 7))
    weights = np.zeros(small.size, dtype=np.float32)
    for point, value in ((0, 1.0), (1, 2.0), (12, 3.0)):  # the corner, beside it, the center
        weights[_stone_weight(small, point)] = value
    grown = large.grow_from(small, weights)
    values = {point: float(grown[_stone_weight(large, point)]) for point in range(49)}
    corners, beside, third = {0, 6, 42, 48}, {1, 5, 7, 13, 35, 41, 43, 47}, {16, 18, 30, 32}
    expected = dict.fromkeys(corners, 1.0) | dict.fromkeys(beside, 2.0) | dict.fromkeys(third, 3.0)
    assert {point: value for point, value in values.items() if value} == expected


def _stone_weight(features: LocalShapes, point: int) -> int:
    """The 1×1 weight of a stone on a point, on a board that is empty else."""
    empty, board = Board(features.board_size), Board(features.board_size)
    empty.to_play = WHITE
    board.play(point)
    (index,) = set(features.active(board)[0].tolist()) - set(features.active(empty)[0].tolist())
    return int(index)


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize(("old", "new"), [(5, 6), (5, 7), (6, 7), (7, 7), (5, 9)])
def test_every_shape_that_the_smaller_board_has_keeps_its_weight(old: int, new: int, tied: bool) -> None:
    small, large = (LocalShapes(size, TABLE_SETS, tied=tied) for size in (old, new))
    rng = np.random.default_rng(new)
    weights = rng.normal(size=small.size).astype(np.float32)
    grown = large.grow_from(small, weights)
    for board in naive_shapes.random_walk(new, 20, seed=old):
        seen = naive_shapes.digits(board, -board.to_play)
        tracker = large.tracker()
        tracker.follow(board)
        for (j, place), entry, sign in zip(rectangles(large), *listed(tracker, -board.to_play), strict=True):
            moved = _from_nearest_corner(place, new, old)
            if moved is None and large.sets[j].is_dependent:
                assert grown[entry] == 0
            elif moved is not None:
                contents = naive_shapes.read(seen, new, place)
                assert sign * grown[entry] == _value_at(small, weights, j, moved, contents)


def _from_nearest_corner(place: tuple[int, int, int, int], new: int, old: int) -> tuple[int, int, int, int] | None:
    """The place as far from the same corner of the smaller board; None if it would cross an axis there."""
    x, y, w, h = place
    from_right, from_bottom = 2 * x > new - w, 2 * y > new - h
    across, down = min(x, new - w - x), min(y, new - h - y)
    if 2 * across > old - w or 2 * down > old - h:
        return None
    return old - w - across if from_right else across, old - h - down if from_bottom else down, w, h


def _value_at(
    features: LocalShapes, weights: np.ndarray, j: int, place: tuple[int, int, int, int], contents: tuple[int, ...]
) -> float:
    """The signed weight of a template at a place, through the tables."""
    tables, size = features.tables, features.board_size
    x, y, w, _ = place
    there = {(y + i // w) * size + x + i % w: digit for i, digit in enumerate(contents)}
    for i in np.flatnonzero(tables.placement_set == j).tolist():
        cells = [cell for cell in tables.cells[tables.placement_window[i]].tolist() if cell != OFF]
        if set(cells) == set(there):
            entry = tables.placement_base[i] + sum(there[cell] * 3**k for k, cell in enumerate(cells))
            return float(tables.signs[entry] * weights[tables.canonical[entry]])
    raise AssertionError("no such place")


@pytest.mark.parametrize("size", [6, 7, 9])
def test_bins_survive_growing(size: int) -> None:
    """Shapes near a corner of the larger board are in the bins that they had on the smaller one."""
    small, large = (LocalShapes(n, HASHED_SETS) for n in (size, size + 2))
    weights = np.arange(small.size, dtype=np.float32)
    assert np.array_equal(large.grow_from(small, weights), weights)
    checked = 0
    *_, board = naive_shapes.random_walk(size, size * size, seed=size)
    before, after = _listed_by_place(small, board), _listed_by_place(large, _in_the_corner(board, size + 2))
    for (j, place), entry in before.items():
        x, y, w, h = place
        if 2 * x < size - w and 2 * y < size - h:  # else the place is its own mirror image, or nearer to another corner
            assert after[j, place] == entry
            checked += 1
    assert checked > 10


def _listed_by_place(features: LocalShapes, board: Board) -> dict[tuple[int, tuple[int, int, int, int]], int]:
    tracker = features.tracker()
    tracker.follow(board)
    return dict(zip(rectangles(features), listed(tracker, -board.to_play)[0], strict=True))


def _in_the_corner(board: Board, size: int) -> Board:
    """The same stones in the upper left of a larger board."""
    larger = Board(size)
    moved = {
        color: [p // board.size * size + p % board.size for p in np.flatnonzero(board.stones == color).tolist()]
        for color in (BLACK, WHITE)
    }
    larger.place(moved[BLACK], moved[WHITE], to_play=board.to_play)
    return larger


def test_what_cannot_grow_is_refused() -> None:
    small, large = (LocalShapes(size, TABLE_SETS) for size in (5, 6))
    other = LocalShapes(5, TABLE_SETS, tied=True)
    for features, smaller, count in ((large, other, other.size), (small, large, large.size), (large, small, 3)):
        with pytest.raises(ValueError, match=r"cannot grow|weights"):
            features.grow_from(smaller, np.zeros(count, dtype=np.float32))


# Contracts and words


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("size", [2, 5, 9, 19])
def test_conformance(size: int, tied: bool) -> None:
    check_feature_set(LocalShapes(size, fitting(size), tied=tied), games=sample_games([size]))


def test_descriptions_draw_the_shape() -> None:
    features = LocalShapes(5, [ShapeSet.parse("LI 2x2"), ShapeSet.parse("LD 2x2"), ShapeSet.parse("LI 4x3")])
    code = 1 + 2 * 3**3  # in the first cell and in the last; drawn as the least of its images
    assert features.describe(code) == "LI 2x2: one stone of the mover and one of the opponent, anywhere\n. O\nX ."
    at_the_side = int(features.offsets[1]) + 1 * 81 + 1
    assert features.describe(at_the_side) == (
        "LD 2x2: one stone of the mover, 1 from the left edge and 0 from the top\n┌──────\n│   X .\n│   . ."
    )
    assert features.describe(int(features.offsets[2]) + 7) == "LI 4x3: the shapes in bin 7 of 100000"
    for index in (-1, features.size):
        with pytest.raises(ValueError, match="is not a feature"):
            features.describe(index)


def test_a_description_is_that_of_the_weight_in_use() -> None:
    features = LocalShapes(6, TABLE_SETS)
    for index in range(0, features.size, 997):
        assert features.describe(index) == features.describe(int(features.tables.canonical[index]))


def test_the_digest_tells_apart_what_differs() -> None:
    sets = [ShapeSet.parse("LI 1x1"), ShapeSet.parse("LD 4x3")]
    variants = [
        LocalShapes(5, sets),
        LocalShapes(6, sets),
        LocalShapes(5, sets[::-1]),
        LocalShapes(5, sets[:1]),
        LocalShapes(5, sets, bins=99),
        LocalShapes(5, sets, tied=True),
    ]
    assert len({features.digest for features in variants}) == len(variants)
    assert LocalShapes(5, sets).digest == variants[0].digest
    assert LocalShapes(5, sets[:1], bins=7).digest == variants[3].digest  # without hashed sets bins mean nothing


def test_impossible_sets_are_refused_in_one_sentence() -> None:
    one = ShapeSet.parse("LI 5x5")
    for size, sets, bins in ((4, [one], 10), (5, [], 10), (5, [one, one], 10), (5, [one], 0), (20, [one], 10)):
        with pytest.raises(ValueError, match=r"^[^\n]+$"):
            LocalShapes(size, sets, bins=bins)


def test_a_board_of_another_size_is_refused() -> None:
    with pytest.raises(ValueError, match="5×5 boards, not of 6×6"):
        LocalShapes(5, TABLE_SETS).active(Board(6))


def test_tables_cannot_be_written_to() -> None:
    for array in LocalShapes(5, ALL_SETS).tables:
        assert not array.flags.writeable


def test_unused_weights_lead_across_the_diagonal() -> None:
    features = LocalShapes(6, [ShapeSet.parse("LD 2x2")])
    left, top = 3 * 81, 1 * 81  # the classes one point from the top and one from the left edge
    upper_right, lower_left = 3**1, 3**2
    assert features.tables.canonical[left + upper_right] == top + lower_left
    assert features.tables.canonical[top + lower_left] == top + lower_left


def test_indices_mean_what_they_meant_in_models_saved_before() -> None:
    """If this fails, the layout has changed: give it a new number, so that old models are refused."""
    board = Board.parse("""
        . X O . .
        X . X O .
        . O X . .
        . . . . O
        X . . . .
        White to play""")
    basic, tied = (LocalShapes(5, ALL_SETS, tied=tied) for tied in (False, True))
    assert [_checksum(features.active(board)) for features in (basic, tied)] == [963010154, 2332851829]
    assert [basic.digest, tied.digest] == ["97699a44b7fbf7ec", "1147c1bf0352cbf5"]


def _checksum(active: tuple[np.ndarray, np.ndarray]) -> int:
    return zlib.crc32(active[0].astype("<i8").tobytes() + active[1].astype("<f4").tobytes())
