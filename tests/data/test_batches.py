from __future__ import annotations

import gc
import threading
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers.random_records import random_record
from helpers.small_sets import label_small_set, make_small_set
from katachi.data.batches import Batch, Batches, JoinedBatches, MixedBatches, area_komi, compute_ahead, count_copies
from katachi.data.dataset import NO_LABEL, SPLITS, Dataset, DatasetError, LabelError
from katachi.data.importing import import_games
from katachi.go.board import Board
from katachi.go.kernels.replay import WHITE_BIT
from katachi.go.points import BLACK, PASS, Symmetry
from katachi.sgf.files import Split, split_of
from katachi.sgf.record import UNKNOWN, dans


class PlainPlanes:
    """Stands for any set of planes: stones, whose turn it is, the ko, the last two moves and the rank."""

    name = "plain"
    count = 6

    def fill(self, records: np.ndarray, ranks: np.ndarray, out: np.ndarray) -> None:
        out[:] = 0
        for record, rank, planes in zip(np.split(records, records.size), ranks, out, strict=True):
            board = Board.wrap(record)
            flat = planes.reshape(self.count, -1)
            flat[0] = board.stones == 1
            flat[1] = board.stones == -1
            flat[2] = board.to_play == BLACK
            for plane, point in zip(flat[3:5], (board.ko_point, board.recent_points[0]), strict=True):
                if point is not None:
                    plane[point] = 1
            flat[5] = rank


PLANES: Any = PlainPlanes()


def records_of(rng: np.random.Generator, size: int, split: Split) -> Iterator[str]:
    while True:
        record = random_record(rng, size, int(rng.integers(1, 60)))
        if split_of(record.encode()) is split:
            yield record


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    rng = np.random.default_rng(5)
    folder = tmp_path_factory.mktemp("records")
    wanted = ((5, Split.TRAINING, 20), (5, Split.VALIDATION, 3), (7, Split.TRAINING, 8))
    records = [record for size, split, count in wanted for record in islice(records_of(rng, size, split), count)]
    (folder / "games.sgf").write_text("\n".join(records))
    return import_games([folder / "games.sgf"], folder / "set")


def batches(dataset: Dataset, batch: int = 16, **settings: Any) -> Batches:
    return Batches(dataset, PLANES, batch, **{"size": 5, "seed": 1, **settings})


def naive_positions(dataset: Dataset, split: Split, size: int) -> Counter[tuple[Any, ...]]:
    """Every position of a split by playing the games move by move, passes played but not counted."""
    found: Counter[tuple[Any, ...]] = Counter()
    for number in dataset.select(size, split).tolist():
        row = dataset.games[number]
        board = dataset.start(number)
        for ply, (move, color) in enumerate(zip(*dataset.moves_of(number), strict=True)):
            if move != PASS:
                board.to_play = int(color)
                rank = dans(row["black_grade" if color == BLACK else "white_grade"].reshape(1))
                planes = np.empty((1, PLANES.count, size, size), dtype=np.uint8)
                PLANES.fill(board.record, rank, planes)
                facts = (int(move), int(rank[0]), int(color), int(row["winner"] * color), ply)
                found[planes.tobytes(), *facts, next_point(dataset, number, ply), number] += 1
            board.play(int(move), int(color))
    return found


def next_point(dataset: Dataset, game: int, ply: int) -> int:
    """What the opponent played next, −1 for a pass, the end, or another move of the same color."""
    moves, colors = dataset.moves_of(game)
    answered = ply + 1 < moves.size and moves[ply + 1] != PASS and colors[ply + 1] != colors[ply]
    return int(moves[ply + 1]) if answered else -1


def same(one: Batch, other: Batch) -> bool:
    """Whether two batches are one, unknown scores included."""
    nan = {array.dtype.kind == "f" for array in one}
    assert nan == {True, False}
    return all(
        np.array_equal(first, second, equal_nan=first.dtype.kind == "f")
        for first, second in zip(one, other, strict=True)
    )


@pytest.mark.parametrize("size", [5, 7])
def test_an_epoch_is_every_position_once(dataset: Dataset, size: int) -> None:
    source = batches(dataset, size=size, symmetries=False)
    found: Counter[tuple[Any, ...]] = Counter()
    for batch in islice(source.stream(), source.epoch):  # sixteen to a batch, so sixteen epochs
        chosen = (batch.moves, batch.ranks, batch.colors, batch.won, batch.plies, batch.replies, batch.games)
        facts = zip(*(array.tolist() for array in chosen), strict=True)
        found.update((planes.tobytes(), *fact) for planes, fact in zip(batch.planes, facts, strict=True))
    expected = naive_positions(dataset, Split.TRAINING, size)
    assert found == Counter({position: 16 * count for position, count in expected.items()})


def test_symmetries_turn_planes_and_moves_alike(dataset: Dataset) -> None:
    turned, plain = (batches(dataset, 200, symmetries=symmetries)[0] for symmetries in (True, False))
    seen = set()
    for planes, move, original, target in zip(turned.planes, turned.moves, plain.planes, plain.moves, strict=True):
        fitting = [
            symmetry
            for symmetry in Symmetry
            if symmetry.apply(int(target), 5) == move
            and (planes.reshape(PLANES.count, -1)[:, symmetry.points(5)] == original.reshape(PLANES.count, -1)).all()
        ]
        assert fitting
        seen.update(fitting[:1] if len(fitting) == 1 else [])
    assert seen == set(Symmetry)


@pytest.fixture(scope="module")
def labeled(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    """A set whose games are labeled by the stones after the last move, but for the first ones."""
    path = make_small_set(tmp_path_factory.mktemp("labeled"))
    label_small_set(path, unknown=5)
    return Dataset.open(path)


def test_owners_are_seen_by_the_mover_and_turned_like_the_position(labeled: Dataset) -> None:
    turned, plain = (batches(labeled, 300, ownership=True, symmetries=symmetries)[0] for symmetries in (True, False))
    unlabeled = (plain.owners == NO_LABEL).all(axis=1)
    assert 0 < unlabeled.sum() < 300
    assert (np.abs(plain.owners[~unlabeled]) <= 1).all()
    tables = np.stack([symmetry.points(5) for symmetry in Symmetry])
    for planes, owners, original, own in zip(turned.planes, turned.owners, plain.planes, plain.owners, strict=True):
        pictures = np.concatenate([planes.reshape(PLANES.count, -1), owners[None]])
        wanted = np.concatenate([original.reshape(PLANES.count, -1), own[None]])
        assert any((pictures[:, table] == wanted).all() for table in tables)
    every_move = batches(labeled, labeled.games["plays"][labeled.select(5, Split.TRAINING)].sum(), ownership=True)[0]
    final = {game: labeled.ownership(game) for game in labeled.select(5, Split.TRAINING).tolist()}
    plays = labeled.games["plays"].astype(int)
    black_points = sum(plays[game] * int(owners.sum()) for game, owners in final.items() if owners is not None)
    found = np.where(every_move.owners == NO_LABEL, 0, every_move.owners.astype(int) * every_move.colors[:, None])
    assert found.sum() == black_points != 0
    assert batches(labeled, 300)[0].owners.shape == (300, 0)


def test_games_without_labels_teach_no_ownership(tmp_path: Path) -> None:
    path = make_small_set(tmp_path)
    with pytest.raises(LabelError, match="has no labels"):
        batches(Dataset.open(path), ownership=True)
    label_small_set(path, unknown=1000)
    with pytest.raises(DatasetError, match="does not say who owned what in games for training"):
        batches(Dataset.open(path), ownership=True)


def test_a_batch_depends_on_its_number_alone(dataset: Dataset) -> None:
    ahead = batches(dataset).stream(start=3, workers=2)
    for number, batch in zip((3, 4, 5), ahead, strict=False):
        again = batches(Dataset.open(dataset.path))[number]
        assert same(batch, again)
    assert not np.array_equal(batches(dataset)[3].moves, batches(dataset, seed=2)[3].moves)


def test_several_sizes_are_mixed_by_their_positions(dataset: Dataset) -> None:
    parts = [batches(dataset, 4, size=size) for size in (5, 7)]
    mixed = MixedBatches(parts, seed=1)
    assert (mixed.games, mixed.epoch) == (28, parts[0].epoch + parts[1].epoch)
    sizes = np.array([batch.planes.shape[-1] for batch in islice(mixed.stream(), 300)])
    assert set(sizes.tolist()) == {5, 7}
    assert (sizes == 5).mean() == pytest.approx(parts[0].epoch / mixed.epoch, abs=0.09)
    for number in (2, 7, 11):
        (part,) = (part for part in parts if part.size == sizes[number])
        again = MixedBatches([batches(dataset, 4, size=size) for size in (5, 7)], seed=1)[number]
        assert same(again, part[number])
    shared = MixedBatches(parts, seed=1, shares=[0.75])
    sizes = np.array([shared[number].planes.shape[-1] for number in range(300)])
    assert (sizes == 7).mean() == pytest.approx(0.75, abs=0.09)


def test_several_sets_share_batches_until_the_last_part(dataset: Dataset, labeled: Dataset) -> None:
    first, other = batches(labeled, 8, ownership=True), batches(dataset, 8, ownership=True, server=1)
    joined = JoinedBatches(first, [other], [0.25], until=3)
    assert (joined.games, joined.epoch) == (first.games + other.games, first.epoch + other.epoch)
    shared = joined[2]
    assert shared.servers.tolist() == [0] * 6 + [1] * 2
    assert (shared.owners[6:] == NO_LABEL).all()
    assert same(shared.only(slice(6)), batches(labeled, 6, ownership=True)[2])
    assert same(shared.only(slice(6, 8)), batches(dataset, 2, ownership=True, server=1)[2])
    assert same(joined[3], batches(labeled, 8, ownership=True, seed=2)[3])
    assert same(joined.positions(Split.VALIDATION, 5), first.positions(Split.VALIDATION, 5))
    with pytest.raises(DatasetError, match="too small to be shared by 3 sets"):
        JoinedBatches(batches(dataset, 2), [other, other], [0.4, 0.4], until=3)


def test_scores_and_komi_are_seen_by_the_mover(tmp_path: Path) -> None:
    games = ["KM[5.5]RE[W+2.5]", "KM[0.5]RE[B+R]HA[2]AB[dd][db]PL[W]", "RE[B+3]", "HA[2]AB[dd][db]PL[W]RE[W+T]"]
    first = {"AB": "W", "RE": "B", "KM": "B"}
    records = [
        f"(;SZ[5]{root};{next(first[key] for key in first if key in root)}[aa];{'B' if 'AB' in root else 'W'}[bb])"
        for root in games
    ]
    (tmp_path / "games.sgf").write_text("\n".join(records))
    dataset = import_games([tmp_path / "games.sgf"], tmp_path / "set")
    found: set[tuple[int, int, float, float]] = set()
    for split in {SPLITS[split] for split in dataset.games["split"].tolist()}:
        batch = batches(dataset, 64, split=split)[0]
        facts = (batch.games, batch.colors, np.nan_to_num(batch.scores, nan=99), batch.komi)
        found |= set(zip(*(array.tolist() for array in facts), strict=True))
    # White won by 2.5 with 5.5 komi: Black was 3 points ahead on the board; the third game tells no komi
    assert found == {
        (0, 1, 3, -5.5), (0, -1, -3, 5.5), (1, -1, 99, 2.5), (1, 1, 99, -2.5),
        (2, 1, 9.5, -6.5), (2, -1, -9.5, 6.5), (3, -1, 99, 2.5), (3, 1, 99, -2.5),
    }  # fmt: skip


def test_held_out_positions_stay_the_same(dataset: Dataset) -> None:
    held_out = batches(dataset).positions(Split.VALIDATION, 10_000)
    expected = naive_positions(dataset, Split.VALIDATION, 5)
    assert Counter(planes.tobytes() for planes in held_out.planes) == Counter(
        {planes: sum(n for key, n in expected.items() if key[0] == planes) for planes in {key[0] for key in expected}}
    )
    few = batches(dataset, batch=3).positions(Split.VALIDATION, 5)
    assert np.array_equal(few.planes, held_out.planes[:5])


def test_only_strong_players(dataset: Dataset) -> None:
    strong = batches(dataset, weakest="6d", split=Split.TRAINING)
    assert 0 < strong.games < batches(dataset).games
    assert strong[0].ranks.min() >= 6
    with pytest.raises(DatasetError, match="no 5×5 games for training without players weaker than 9p"):
        batches(dataset, weakest="9p")


def test_a_size_must_be_chosen(dataset: Dataset) -> None:
    with pytest.raises(DatasetError, match="5×5, 7×7: say which size"):
        batches(dataset, size=0)
    with pytest.raises(DatasetError, match="no 9×9 games"):
        batches(dataset, size=9)


@pytest.mark.parametrize("code", [500, 25, 0, WHITE_BIT])
def test_moves_that_cannot_be_played_are_found_out(dataset: Dataset, code: int) -> None:
    """Off the board, and twice on the same point: whatever a file holds, no kernel writes outside a board."""
    moves = np.full_like(dataset.moves, code)
    moves.flags.writeable = False  # as those are that come from disk: nothing is compiled once more
    broken = Dataset(dataset.path, dataset.card, dataset.games, moves, dataset.stones)
    with pytest.raises(DatasetError, match="moves that cannot be played"):
        batches(broken, 64)[0]


def test_what_goes_wrong_in_a_worker_is_raised_here() -> None:
    def compute(number: int) -> int:
        if number == 5:
            raise DatasetError("five is bad")
        return number

    results = compute_ahead(compute, 2, workers=2)
    assert list(islice(results, 3)) == [2, 3, 4]
    with pytest.raises(DatasetError, match="five is bad"):
        next(results)


def test_workers_compute_no_more_than_a_few_ahead_and_end_with_the_iterator() -> None:
    computed: list[int] = []
    results = compute_ahead(lambda number: computed.append(number) or number, 0, workers=2)
    next(results)
    results.close()
    assert len(computed) <= 6
    del results
    gc.collect()
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("computing-ahead")]


def test_splits_are_used(dataset: Dataset) -> None:
    assert [batches(dataset, split=split).games for split in SPLITS[:2]] == [20, 3]
    with pytest.raises(DatasetError, match="no 5×5 games for test"):
        batches(dataset, split=Split.TEST)


@pytest.mark.parametrize(("rules", "komi"), [("Chinese", 4.5), ("AGA", 3.5), ("NZ", 0.5), ("Japanese", 4.5), ("", 4.5)])
def test_what_blacks_area_must_exceed(tmp_path: Path, rules: str, komi: float) -> None:
    stones = "AB[aa][ba][ca][da]"
    records = [
        f"(;SZ[5]RU[{rules}]KM[0.5]HA[{given}]{stones[: 2 + 4 * given] * (given > 0)};W[ee])" for given in (4, 0)
    ]
    (tmp_path / "games.sgf").write_text("\n".join(records))
    dataset = import_games([tmp_path / "games.sgf"], tmp_path / "set")
    assert area_komi(dataset, np.array([0, 1])).tolist() == [komi, 0.5]


def test_games_of_rare_ranks_come_more_often(dataset: Dataset) -> None:
    games = np.zeros(100, dtype=dataset.games.dtype)
    games["black_grade"], games["white_grade"] = -24, -21
    games["black_grade"][:4], games["white_grade"][:4] = -12, 3  # four games of a dan player
    games["black_grade"][4], games["white_grade"][4] = UNKNOWN, UNKNOWN
    assert count_copies(games).tolist() == [5] * 4 + [1] * 96
    balanced, plain = batches(dataset, balanced=True), batches(dataset)
    chosen = dataset.select(5, Split.TRAINING)
    copies, plays = count_copies(dataset.games[chosen]), dataset.games["plays"][chosen].astype(int)
    assert (balanced.games, balanced.epoch) == (plain.games, (copies * plays).sum())
    found = np.concatenate([balanced[number].games for number in range(balanced.epoch)])  # sixteen epochs
    assert np.bincount(found, minlength=dataset.card.games)[chosen].tolist() == (16 * copies * plays).tolist()
    assert same(*(source.positions(Split.VALIDATION, 10_000) for source in (balanced, plain)))
