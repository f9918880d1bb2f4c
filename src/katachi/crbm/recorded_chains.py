"""Recorded games as chains of afterstates to learn from, in an order that is computed and not kept."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from katachi.core.contracts import FeatureSet
from katachi.crbm.linear_td import Chains, link_afterstates, turned
from katachi.data.dataset import RESULTS, Dataset, DatasetError
from katachi.data.ordering import Permutation
from katachi.go.board import Board
from katachi.go.points import Symmetry
from katachi.sgf.splits import Split


class RecordedGames:
    """The games of a split of a set, as chains; every pass takes them in another order."""

    def __init__(
        self,
        dataset: Dataset,
        size: int,
        split: Split = Split.TRAINING,
        weakest: str | None = None,
        most: int | None = None,
        seed: int = 0,
    ) -> None:
        """Choose ``most`` games at most; raises DatasetError if there are none."""
        self.dataset = dataset
        self._seed = seed
        chosen = dataset.select(size, split, weakest)
        self._numbers = chosen[dataset.games["moves"][chosen] > 0][:most]
        if not self._numbers.size:
            raise DatasetError(f"{dataset.path} has no {size}×{size} games for {split}")

    @property
    def games(self) -> int:
        return self._numbers.size

    def chains(self, features: FeatureSet, number: int, symmetry: Symmetry = Symmetry.IDENTITY) -> Chains:
        """Game ``number`` of all passes, turned or mirrored."""
        turn, place = divmod(number, self.games)
        shuffled = Permutation(self.games, (self._seed, turn))(np.array([place]))
        game = int(self._numbers[shuffled[0]])
        return link_afterstates(features, turned(self._replay(game), symmetry), self._winner(game))

    def _winner(self, game: int) -> int | None:
        """Who won, EMPTY for a draw, None if the record does not tell."""
        row = self.dataset.games[game]
        return None if RESULTS[int(row["result"])] is None else int(row["winner"])

    def _replay(self, game: int) -> Iterator[Board]:
        """One board, after each move."""
        board = self.dataset.start(game)
        moves, colors = self.dataset.moves_of(game)
        for move, color in zip(moves.tolist(), colors.tolist(), strict=True):
            board.play(move, color)
            yield board
