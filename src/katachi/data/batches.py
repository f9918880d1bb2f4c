"""Batches of positions to learn from: planes, and the moves that were played there.

Every position of the chosen games comes once in an epoch, in an order that is computed and not kept. A position is
replayed from the start of its game, turned and mirrored on the way, which costs far less than its planes. So batch
``k`` depends on the set, the settings and ``k`` alone, whoever computes it, and a run resumes by starting at ``k``.

Passes are played on the way, but are never what is to be predicted. Of games that a search has played those positions
come at which it looked closely.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass, replace
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from katachi.data.dataset import BONUSES, NO_LABEL, SCORINGS, SPLITS, Dataset, DatasetError
from katachi.data.importing import import_games
from katachi.features.planes import PlaneKind, PlaneSet
from katachi.go.kernels import replay as kernels
from katachi.go.kernels.board import new_boards
from katachi.go.kernels.replay import PASS_CODE, POINT_MASK, WHITE_BIT, permute
from katachi.go.points import BLACK, WHITE, Symmetry
from katachi.go.rules import Rules, Scoring
from katachi.sgf.files import Split
from katachi.sgf.record import UNKNOWN, dans, rank_codes

# Computing ahead: what will be needed next is made by other threads, in order, and never more than a few of it.
#
# Threads, not processes: what is worth computing ahead is compiled and holds no interpreter lock, so that threads run
# side by side with the caller, hand over their results without a copy, and end with it however it ends.

T = TypeVar("T")

_AHEAD: Final = 3  # results for each worker that may wait to be fetched, or be in the making


def compute_ahead(compute: Callable[[int], T], start: int, workers: int) -> Generator[T]:
    """The results for ``start``, ``start`` + 1 and so on; what a worker raises is raised where its result would be."""
    if not workers:
        yield from map(compute, count(start))
    pool = ThreadPoolExecutor(workers, "computing-ahead")
    waiting: deque[Future[T]] = deque()
    numbers = count(start)
    try:
        while True:
            while len(waiting) < _AHEAD * workers:
                waiting.append(pool.submit(compute, next(numbers)))
            yield waiting.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)


_ROUNDS: Final = 6


class Permutation:
    """A permutation of 0 … ``length`` − 1, another one for every seed, that takes no memory.

    A Feistel network permutes the numbers below a power of four; what lands outside is permuted again until it lands
    inside, which leaves a permutation of those inside (cycle walking, Black and Rogaway 2002).
    """

    def __init__(self, length: int, seed: tuple[int, ...]) -> None:
        self._length = np.uint64(length)
        self._half = np.uint64(max(1, ((length - 1).bit_length() + 1) // 2))
        self._keys = np.random.SeedSequence(seed).generate_state(_ROUNDS, np.uint64)

    def __call__(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Where numbers go; they must be smaller than the length."""
        images = numbers.astype(np.uint64)
        permute(images, self._length, self._half, self._keys)
        return images.astype(np.int64)


# Batches of one size.

# What seeds are drawn for, so that no two draws are alike.
_ORDER: Final = 0
_SYMMETRIES: Final = 1
_SIZES: Final = 2


Floats = NDArray[np.float32]


class Batch(NamedTuple):
    """B positions on boards of size n, what was played there, by whom, and what became of it."""

    planes: NDArray[np.uint8]  # [B, C, n, n]
    moves: NDArray[np.int64]  # [B], points
    ranks: NDArray[np.int8]  # [B], the mover's rank as a code (see ``sgf.record``)
    colors: NDArray[np.int8]  # [B], who moves
    won: NDArray[np.int8]  # [B], +1 if the mover won, −1 if the mover lost, 0 for a draw or if it is not known
    plies: NDArray[np.int16]  # [B], how many moves were made before, passes included
    # [B, n²], +1 the mover's point, −1 the opponent's, 0 neither, or NO_LABEL; [B, 0] unless asked
    owners: NDArray[np.int8]
    replies: NDArray[np.int64]  # [B], the point that the opponent played next, −1 if none
    scores: Floats  # [B], the mover's area less the opponent's when it was counted; NaN if it was not
    komi: Floats  # [B], what the opponent's area must exceed, less what the mover's must: positive for White
    servers: NDArray[np.int8]  # [B], the number of the server that a game is from
    games: NDArray[np.int64]  # [B], the number of a game in its set
    visits: Floats  # [B, n²], the share of a search's visits that each point had; [B, 0] where none has searched
    searched: Floats  # [B], P(the mover wins) as a search found it; NaN where none has searched

    def only(self, chosen: slice | NDArray[np.bool_]) -> Batch:
        """Some of the positions."""
        return Batch._make(array[chosen] for array in self)


@dataclass(eq=False)
class Batches:
    """The endless sequence of batches from a split of a set; ``batches[k]`` is the k-th.

    Raises DatasetError if there are no such games, or, with ``ownership``, none that is labeled.
    """

    dataset: Dataset
    planes: PlaneSet
    batch: int
    seed: int = 0
    split: Split = Split.TRAINING
    _: KW_ONLY
    symmetries: bool = True  # puts each position in one of the eight, at random
    size: int = 0  # of the boards; without one the set must have one only
    weakest: str | None = None  # a rank such as 1d: games with a weaker player or one of unknown rank are left out
    ownership: bool = False
    kyu_ranks: bool = False  # whether ranks go down to 30k
    server: int = 0  # a number for where the games are from
    balanced: bool = False  # whether games of players of rare ranks come several times in an epoch

    def __post_init__(self) -> None:
        dataset, split = self.dataset, self.split
        self.size = size = self.size or dataset.only_size()
        self._games = dataset.select(size, split, self.weakest)
        self.games = self._games.size  # that the positions are from
        if self.balanced and self.games:
            self._games = np.repeat(self._games, count_copies(dataset.games[self._games]))
        self._ends = np.cumsum(dataset.games["plays"][self._games], dtype=np.int64)
        self._chosen = self._find_searched() if dataset.knows_visits else None
        self._tables = np.stack([symmetry.points(size) for symmetry in Symmetry]).astype(np.uint16)
        if not self._games.size:
            strong = f" without players weaker than {self.weakest}" if self.weakest else ""
            raise DatasetError(f"{dataset.path} has no {size}×{size} games for {split}{strong}")
        if self.ownership and not self.server and not dataset.select(size, split, self.weakest, labeled=True).size:
            raise DatasetError(f"{dataset.path} does not say who owned what in games for {split}: label more of them")

    @property
    def epoch(self) -> int:
        """How many positions there are, and are seen before one comes again."""
        return int(self._ends[-1]) if self._chosen is None else self._chosen.size

    def _find_searched(self) -> NDArray[np.int64]:
        """The positions at which a search looked closely, counted over all games."""
        looked = np.asarray(self.dataset.visits[:, :-1].any(axis=1))
        is_play = self.dataset.moves & POINT_MASK != PASS_CODE
        games = self.dataset.games[self._games]
        spans = [slice(int(game["first_move"]), int(game["first_move"]) + int(game["moves"])) for game in games]
        chosen = np.flatnonzero(np.concatenate([looked[span][is_play[span]] for span in spans]))
        if not chosen.size:
            raise DatasetError(f"{self.dataset.path} has no positions for {self.split} that were searched")
        return chosen

    def __getitem__(self, number: int) -> Batch:
        """Batch ``number``, computed here and now."""
        drawn = self._draw(number)
        if self._chosen is not None:
            drawn = self._chosen[drawn]
        rows = np.searchsorted(self._ends, drawn, side="right")
        numbers = self._games[rows]
        plays = drawn - (self._ends[rows] - self.dataset.games["plays"][numbers])
        return self._compute(numbers, plays, self._draw_symmetries(number))

    def stream(self, start: int = 0, workers: int = 0) -> Iterator[Batch]:
        """Batches in order, from ``start`` on and without end; so many workers compute ahead (0: nobody does).

        What goes wrong in a worker is raised here. Closing the iterator ends the workers.
        """
        return compute_ahead(self.__getitem__, start, workers)

    def positions(self, split: Split, count: int) -> Batch:
        """Held-out positions of the same kind of games: as many as there are, or so many of them drawn by the seed."""
        held_out = replace(self, batch=count, split=split, symmetries=False, balanced=False)
        held_out.batch = min(count, held_out.epoch)
        return held_out[0]

    def _draw(self, number: int) -> NDArray[np.int64]:
        """Which positions are in a batch, counted over all games; [batch]."""
        places = np.arange(number * self.batch, (number + 1) * self.batch, dtype=np.int64)
        epochs, places = np.divmod(places, self.epoch)
        for epoch in np.unique(epochs).tolist():
            now = epochs == epoch
            places[now] = Permutation(self.epoch, (self.seed, _ORDER, epoch))(places[now])
        return places

    def _draw_symmetries(self, number: int) -> NDArray[np.uint8]:
        if not self.symmetries:
            return np.full(self.batch, Symmetry.IDENTITY, dtype=np.uint8)
        rng = np.random.default_rng((self.seed, _SYMMETRIES, number))
        return rng.integers(len(Symmetry), size=self.batch, dtype=np.uint8)

    def _compute(self, numbers: NDArray[np.int64], plays: NDArray[np.int64], symmetries: NDArray[np.uint8]) -> Batch:
        games = self.dataset.games[numbers]
        boards = new_boards(games.size, self.size)
        codes = np.empty(games.size, dtype=np.uint16)
        replies = np.empty(games.size, dtype=np.int64)
        plies = np.empty(games.size, dtype=np.int16)
        recorded = (self.dataset.moves, self.dataset.stones)
        done = kernels.fill_positions(boards, games, *recorded, plays, symmetries, self._tables, codes, replies, plies)
        if done < games.size:
            raise DatasetError(f"{self.dataset.path} has a game with moves that cannot be played: it is damaged")
        white = (codes & WHITE_BIT) != 0
        colors = np.where(white, WHITE, BLACK).astype(np.int8)
        grades = np.where(white, games["white_grade"], games["black_grade"])
        planes = np.empty((games.size, self.planes.count, self.size, self.size), dtype=np.uint8)
        self.planes.fill(boards, dans(grades), planes)
        komi = area_komi(self.dataset, numbers)
        return Batch(
            planes,
            moves=(codes & POINT_MASK).astype(np.int64),
            ranks=rank_codes(grades, kyu=self.kyu_ranks),
            colors=colors,
            won=games["winner"] * colors,
            plies=plies,
            owners=self._owners(numbers, colors, symmetries),
            replies=replies,
            scores=(self._margins(numbers) + komi) * colors,
            komi=-komi * colors,
            servers=np.full(games.size, self.server, dtype=np.int8),
            games=numbers,
            **self._find_search(games, plies, colors, symmetries),
        )

    def _find_search(
        self, games: NDArray[Any], plies: NDArray[np.int16], colors: NDArray[np.int8], symmetries: NDArray[np.uint8]
    ) -> dict[str, Floats]:
        """What a search found, turned like the positions."""
        if not self.dataset.knows_visits:
            nothing = np.empty((games.size, 0), dtype=np.float32)
            return {"visits": nothing, "searched": np.full(games.size, np.nan, dtype=np.float32)}
        moves = games["first_move"].astype(np.int64) + plies
        counts = self.dataset.visits[moves, :-1].astype(np.float32)
        visits = np.empty_like(counts)
        shares = counts / counts.sum(axis=1, keepdims=True)
        np.put_along_axis(visits, self._tables[symmetries].astype(np.int64), shares, axis=1)
        wins = self.dataset.searched[moves]
        return {"visits": visits, "searched": np.where(colors == BLACK, wins, 1 - wins)}

    def _margins(self, numbers: NDArray[np.int64]) -> Floats:
        """By how much Black won games that were counted; NaN of others, and of sets that are too old to know."""
        if not self.dataset.knows_endings:
            return np.full(numbers.size, np.nan, dtype=np.float32)
        margins: Floats = self.dataset.endings["margin"][numbers] * self.dataset.games["winner"][numbers]
        return margins

    def _owners(
        self, numbers: NDArray[np.int64], colors: NDArray[np.int8], symmetries: NDArray[np.uint8]
    ) -> NDArray[np.int8]:
        """Who owned what in the end, as the movers see it and turned like the positions."""
        if not self.ownership:
            return np.empty((numbers.size, 0), dtype=np.int8)
        if not self.dataset.is_labeled:
            return np.full((numbers.size, self.size * self.size), NO_LABEL, dtype=np.int8)
        labels = self.dataset.labels[numbers]
        owners = np.empty_like(labels)
        seen = np.where(labels == NO_LABEL, labels, labels * colors[:, None])
        np.put_along_axis(owners, self._tables[symmetries].astype(np.int64), seen, axis=1)
        return owners


_RANKS_TOGETHER: Final = 5
_MOST_COPIES: Final = 8


def count_copies(games: NDArray[Any]) -> NDArray[np.int64]:
    """How often each game comes in an epoch so that rare ranks of the stronger player are less rare: by the root."""
    strongest = np.maximum(games["black_grade"], games["white_grade"]).astype(np.int64)
    _, groups, counts = np.unique(strongest // _RANKS_TOGETHER, return_inverse=True, return_counts=True)
    copies = np.sqrt(counts.max() / counts).round().clip(1, _MOST_COPIES)
    copied: NDArray[np.int64] = np.where(strongest == UNKNOWN, 1, copies[groups]).astype(np.int64)
    return copied


_EVEN_KOMI: Final = 6.5
_HANDICAP_KOMI: Final = 0.5


def area_komi(dataset: Dataset, numbers: NDArray[np.int64]) -> Floats:
    """What Black's area must exceed in games: komi, or a usual one, and what White gets for the handicap.

    Where territory is counted White gets nothing, but the handicap stones are not points of Black's either.
    """
    games = dataset.games[numbers]
    stones = np.where(games["handicap"] > 1, games["handicap"], 0).astype(np.float32)
    usual = np.where((stones > 1) | (games["stones"] > 1), _HANDICAP_KOMI, _EVEN_KOMI)
    if dataset.knows_endings:
        endings = dataset.endings[numbers]
        by_area = endings["scoring"] == SCORINGS.index(Scoring.AREA)
        for number, bonus in enumerate(BONUSES):
            counted = by_area & (endings["bonus"] == number)
            rules = Rules(handicap_bonus=bonus)
            stones[counted] = [rules.handicap_compensation(int(given)) for given in stones[counted]]
    return np.where(np.isnan(games["komi"]), usual, games["komi"]).astype(np.float32) + stones


# Batches of several sets: each has its share of every batch until the last part, which is of the first set alone.


class JoinedBatches:
    """The endless sequence of batches from several sets; ``batches[k]`` is the k-th."""

    def __init__(self, first: Batches, others: Sequence[Batches], shares: Sequence[float], until: int) -> None:
        """Join sets whose batches are otherwise alike; from batch ``until`` on the first is alone."""
        counts = [max(1, round(share * first.batch)) for share in shares]
        sizes = [first.batch - sum(counts), *counts]
        if sizes[0] < 1:
            raise DatasetError(f"a batch of {first.batch} positions is too small to be shared by {len(sizes)} sets")
        self._parts = [replace(part, batch=size) for part, size in zip([first, *others], sizes, strict=True)]
        self._alone = replace(first, seed=first.seed + 1)
        self._until = until
        self.dataset = first.dataset
        self.games = sum(part.games for part in self._parts)
        self.epoch = sum(part.epoch for part in self._parts)
        self.positions = first.positions

    def __getitem__(self, number: int) -> Batch:
        """Batch ``number``, computed here and now."""
        if number >= self._until:
            return self._alone[number]
        return Batch._make(map(np.concatenate, zip(*(part[number] for part in self._parts), strict=True)))

    def stream(self, start: int = 0, workers: int = 0) -> Iterator[Batch]:
        """As those of ``Batches``."""
        return compute_ahead(self.__getitem__, start, workers)


# Batches with boards of several sizes, for networks of any size: each batch has one size, drawn by chance.
#
# Sizes are drawn in proportion to their positions, so that all positions count alike, or by given shares. Batch ``k``
# is the k-th of its size, whatever the others before it were: so it still depends on sets, settings and ``k`` alone.


class MixedBatches:
    """The endless sequence of batches of several sizes; ``batches[k]`` is the k-th."""

    def __init__(self, parts: Sequence[Batches], seed: int, shares: Sequence[float] = ()) -> None:
        """Mix batches of one size each; shares are those of all parts but the first."""
        self._parts = parts
        self._seed = seed
        self.dataset = parts[0].dataset
        self.games = sum(part.games for part in parts)
        self.epoch = sum(part.epoch for part in parts)
        self._shares = np.array([part.epoch for part in parts]) / self.epoch
        if shares:
            self._shares = np.array([1 - sum(shares), *shares])

    def __getitem__(self, number: int) -> Batch:
        """Batch ``number``, computed here and now."""
        rng = np.random.default_rng((self._seed, _SIZES, number))
        return self._parts[rng.choice(len(self._parts), p=self._shares)][number]

    def stream(self, start: int = 0, workers: int = 0) -> Iterator[Batch]:
        """As those of ``Batches``."""
        return compute_ahead(self.__getitem__, start, workers)

    def positions(self, split: Split, count: int) -> Batch:
        """Held-out positions of the size that has the most."""
        return max(self._parts, key=lambda part: part.epoch).positions(split, count)


AnyBatches = Batches | MixedBatches | JoinedBatches


@contextmanager
def tiny_dataset() -> Iterator[Dataset]:
    """A dataset of one game of three moves on 5×5, to compile with."""
    with TemporaryDirectory() as folder:
        record = Path(folder, "game.sgf")
        record.write_text("(;SZ[5];B[aa];W[bb];B[cc])")
        yield import_games([record], Path(folder, "set"))


def warmup() -> None:
    """Compile the order and the replay of positions."""
    planes = PlaneSet("nothing", (PlaneKind("nothing", ""),), lambda _boards, _ranks, _out: None)
    with tiny_dataset() as games:
        Batches(games, planes, batch=1, split=SPLITS[games.games["split"][0]])[0]
