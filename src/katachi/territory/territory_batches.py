"""Positions to learn territory from: random positions of random games, and who owned their points in the end.

Batch ``k`` depends on the set, the settings and ``k`` alone, whoever computes it, and a run goes on by starting at
``k``. Propensities are counted from the training games first, and from no others.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from katachi.core.contracts import Floats, Ints
from katachi.data.batches import compute_ahead
from katachi.data.dataset import Dataset, DatasetError
from katachi.go.kernels.board import new_boards
from katachi.go.kernels.replay import WHITE_BIT
from katachi.go.points import BLACK, Symmetry
from katachi.sgf.files import Split
from katachi.territory.inputs import PointInputs, Propensity
from katachi.territory.kernels.learner import fill_examples
from katachi.territory.network import DIAGONAL

# What seeds are drawn for, so that no two draws are alike.
_TRAINING: Final = 0
_HELD_OUT: Final = 1

_PART: Final = 128  # positions at a time


class Positions(NamedTuple):
    """B positions on boards of size n."""

    inputs: Floats  # [B, n², d]
    targets: Floats  # [B, n²], the probability that Black owns a point, as it is to be learned
    owned: NDArray[np.int8]  # [B, n²], who owned it in the end
    played: Ints  # [B], the next move, n² more if White made it, −1 for none and for a pass
    stones: Ints  # [B], on the board
    leads: Floats  # [B], by how much Black won in the end, komi included; NaN if komi is not known

    def part(self, chosen: slice) -> Positions:
        """Some of the positions."""
        return Positions._make(array[chosen] for array in self)


class TargetSettings(NamedTuple):
    """What is to be learned of a point t moves after the start (Wu and Baldi 2006, section 3.2).

    (1 − share) · A(end) + share · A(t + ahead), where A is 1, 0 or ½ for Black's, White's and nobody's. Before the end
    points are of those whose stones stand there; A(t + ahead) is A(end) from the end on.
    """

    share: float = 0.25
    ahead: int = 2


class Draw(NamedTuple):
    """Which positions are taken, and how; all [B]."""

    games: Ints
    plies: Ints  # how many moves were made
    turns: Ints  # 1: mirrored in the diagonal
    exchanged: Ints  # 1: Black and White change places


class Examples(NamedTuple):
    """What is to be learned of positions, as ``Positions`` has it."""

    owned: NDArray[np.int8]
    targets: Floats
    played: Ints


class TerritoryBatches:
    """The endless sequence of batches from the labeled games of a set; ``batches[k]`` is the k-th."""

    def __init__(
        self,
        dataset: Dataset,
        inputs: PointInputs,
        batch: int,
        seed: int = 0,
        target: TargetSettings = TargetSettings(),  # noqa: B008
        *,
        turns: bool = True,
        exchanges: bool = True,
        by_mover: bool = False,
        weakest: str | None = None,
    ) -> None:
        """Choose the games; raises DatasetError if there are none, LabelError if nobody knows who owned their points.

        ``turns`` mirrors half of the positions in the diagonal (networks see flips alike anyway), ``exchanges`` lets
        the colors of half of them change places; ``by_mover`` lets those change places where it is Black's turn, in
        held-out positions too: then Black has always just moved. ``weakest``, a rank such as ``1d``, leaves out games
        with a weaker player or one of unknown rank.
        """
        self.dataset = dataset
        self.inputs = inputs
        self.batch = batch
        self.seed = seed
        self.target = target
        self.turns = turns
        self.exchanges = exchanges
        self.by_mover = by_mover
        self.size = dataset.only_size()
        self._games = {split: dataset.select(self.size, split, weakest, labeled=True) for split in Split}
        self.propensity: Floats | None = None
        for split in (Split.TRAINING, Split.VALIDATION):
            if not self._games[split].size:
                raise DatasetError(f"{dataset.path} has no games for {split} of which it is known who owned what")

    @property
    def games(self) -> int:
        """How many games there are to learn from."""
        return self._games[Split.TRAINING].size

    def games_of(self, split: Split) -> Ints:
        """The numbers of the games of a split."""
        return self._games[split]

    @property
    def epoch(self) -> int:
        """How many positions there are to learn from."""
        return int(self.dataset.games["moves"][self._games[Split.TRAINING]].sum()) + self.games

    def count_propensity(self, tick: Callable[[int], None] = lambda _: None) -> Floats:
        """Count propensities over all training games; ``tick`` hears how many are done. Batches need them."""
        propensity = Propensity()
        for done, game in enumerate(self._games[Split.TRAINING].tolist()):
            moves, colors = self.dataset.moves_of(game)
            propensity.count_game(self.dataset.start(game), moves, colors, self.dataset.labels[game])
            tick(done + 1)
        self.propensity = propensity.table()
        return self.propensity

    def __getitem__(self, number: int) -> Positions:
        """Batch ``number``, computed here and now."""
        rng = np.random.default_rng((self.seed, _TRAINING, number))
        games, plies = self._draw(rng, Split.TRAINING, self.batch)
        turns, exchanged = rng.integers(2, size=(2, self.batch))
        exchanged = self._black_to_play(games, plies) if self.by_mover else exchanged * self.exchanges
        return self.positions(Draw(games, plies, turns * self.turns, exchanged))

    def stream(self, start: int = 0, workers: int = 0) -> Iterator[Positions]:
        """Batches in order, from ``start`` on and without end; so many workers compute ahead (0: nobody does)."""
        return compute_ahead(self.__getitem__, start, workers)

    def held_out(self, count: int, split: Split = Split.VALIDATION) -> Positions:
        """So many positions of other games, as they were played; the same ones whatever is learned."""
        return self._as_played(*self._draw(np.random.default_rng((_HELD_OUT, count)), split, count))

    def held_out_parts(self, count: int, split: Split, *, ended: bool = False) -> Iterator[Positions]:
        """The same, some at a time to save memory; ``ended``: so many games, or all, after their last moves."""
        games, plies = self._draw(np.random.default_rng((_HELD_OUT, count)), split, count)
        if ended:
            games = self._games[split][:count]
            plies = self.dataset.games["moves"][games].astype(np.int64)
        for first in range(0, games.size, _PART):
            yield self._as_played(games[first : first + _PART], plies[first : first + _PART])

    def _as_played(self, games: Ints, plies: Ints) -> Positions:
        nothing = np.zeros(games.size, dtype=np.int64)
        exchanged = self._black_to_play(games, plies) if self.by_mover else nothing
        return self.positions(Draw(games, plies, nothing, exchanged))

    def _black_to_play(self, games: Ints, plies: Ints) -> Ints:
        """Whether it is Black's turn, [B] of 0 and 1: his who moves next, or would after the last move."""
        rows = self.dataset.games[games]
        first, count = rows["first_move"].astype(np.int64), rows["moves"].astype(np.int64)
        told = self.dataset.moves[np.maximum(0, first + np.minimum(plies, count - 1))]
        is_black = np.where(count > 0, ((told & WHITE_BIT) != 0) == (plies == count), rows["to_play"] == BLACK)
        return np.asarray(is_black, dtype=np.int64)

    def _draw(self, rng: np.random.Generator, split: Split, count: int) -> tuple[Ints, Ints]:
        """Random games, and a random ply in each of them, from before the first move to after the last."""
        games = rng.choice(self._games[split], count)
        return games, rng.integers(self.dataset.games["moves"][games].astype(np.int64) + 1)

    def positions(self, draw: Draw) -> Positions:
        """The positions that were drawn."""
        if self.propensity is None:
            raise ValueError("propensities must be counted before there are batches")
        labels = np.ascontiguousarray(self.dataset.labels[draw.games])
        boards, examples = replay(self.dataset, labels, draw, self.target)
        inputs = np.empty((*examples.targets.shape, self.inputs.d), dtype=np.float32)
        self.inputs.fill(boards, self.propensity, inputs)
        komi = self.dataset.games["komi"][draw.games]
        leads = ((labels.sum(axis=1) - komi) * np.where(draw.exchanged, -1, 1)).astype(np.float32)
        stones = self.size**2 - boards["empty_count"].astype(np.int64)
        return Positions(inputs, examples.targets, examples.owned, examples.played, stones, leads)


def replay(
    dataset: Dataset, labels: NDArray[np.int8], draw: Draw, target: TargetSettings
) -> tuple[NDArray[Any], Examples]:
    """The boards [B] of positions that were drawn, and what is to be learned of them, from their games' labels [B, n²].

    Raises DatasetError if one of the games cannot be played.
    """
    count, points = labels.shape
    size = math.isqrt(points)
    rows = dataset.games[draw.games]
    tables = np.stack([symmetry.points(size) for symmetry in (Symmetry.IDENTITY, DIAGONAL)]).astype(np.uint16)
    boards, later = new_boards(count, size), new_boards(1, size)
    examples = Examples(np.empty_like(labels), np.empty((count, points), dtype=np.float32), np.empty(count, np.int64))
    if (
        fill_examples(boards, later, rows, dataset.moves, dataset.stones, labels, draw, tables, target, examples)
        < count
    ):
        raise DatasetError(f"{dataset.path} has a game with moves that cannot be played: it is damaged")
    return boards, examples
