"""Which stones are dead, alive or in seki when a game has ended: an estimate.

Benson's theorem decides what it can, exactly: unconditionally alive chains are alive, enemy stones in their vital
regions are dead. Playouts decide the rest (``go/kernels/playouts.py`` says how they keep from breaking a seki): a
chain is dead if its points end up as the enemy's more often than not, and in seki if it mostly survives without two
eyes beside points that neither side can take. Bent four in the corner looks like a seki and is dead by convention.

>>> board = Board.parse('''
... . X O . O
... X X O O .
... . X X O O
... X X X X X
... . O . X .''')
>>> estimate_status(board).dead
((21,),)
"""

from __future__ import annotations

from enum import Enum
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from katachi.go.board import Board
from katachi.go.kernels.playouts import TALLY, add_settling_playouts
from katachi.go.points import BLACK, WHITE
from katachi.go.reading import unconditional_life

DEFAULT_PLAYOUTS: Final = 400

Chain = tuple[int, ...]


class Fate(Enum):
    ALIVE = "alive"
    DEAD = "dead"
    SEKI = "seki"


class Status(NamedTuple):
    """The fate of every chain, and who is expected to own each point: [n²] in [−1, 1], +1 is Black's."""

    fates: dict[Chain, Fate]
    ownership: NDArray[np.float32]

    def chains(self, fate: Fate) -> tuple[Chain, ...]:
        """The chains with this fate, by their first points."""
        return tuple(chain for chain, its_fate in self.fates.items() if its_fate is fate)

    @property
    def alive(self) -> tuple[Chain, ...]:
        return self.chains(Fate.ALIVE)

    @property
    def dead(self) -> tuple[Chain, ...]:
        return self.chains(Fate.DEAD)

    @property
    def seki(self) -> tuple[Chain, ...]:
        return self.chains(Fate.SEKI)

    @property
    def dead_stones(self) -> list[int]:
        """The points of all dead chains, as ``scoring.score`` takes them."""
        return sorted(point for chain in self.dead for point in chain)

    @property
    def seki_stones(self) -> list[int]:
        """The points of all chains in seki."""
        return sorted(point for chain in self.seki for point in chain)


def estimate_status(board: Board, playouts: int = DEFAULT_PLAYOUTS, seed: int = 0) -> Status:
    """Estimate the fate of every chain; the same seed gives the same answer, whoever is to play."""
    if playouts < 1:
        raise ValueError(f"{playouts} playouts cannot tell anything")
    alive, doomed = _decided(board)
    tally = _settle(board, alive | doomed, playouts, seed)
    ownership = (tally["owned"][: board.size**2] / playouts).astype(np.float32)
    fates: dict[Chain, Fate] = {}
    for chain in board.chains():
        first = chain[0]
        if alive[first]:
            fate = Fate.ALIVE
        elif doomed[first] or board[first] * ownership[chain].mean() < 0:
            fate = Fate.DEAD
        else:
            fate = Fate.SEKI if tally["shared"][chain].mean() > playouts / 2 else Fate.ALIVE
        fates[tuple(chain)] = fate
    _settle_bent_fours(board, fates)
    return Status(fates, ownership)


def _decided(board: Board) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """The stones that Benson's theorem shows alive, and all points of their vital regions."""
    black = unconditional_life(board, BLACK)
    white = unconditional_life(board, WHITE)
    return black.stones | white.stones, black.regions | white.regions


def _settle(board: Board, settled: NDArray[np.bool_], playouts: int, seed: int) -> Any:
    record = board.record.copy()
    record["to_play"] = BLACK
    tallies = np.zeros(1, dtype=TALLY)
    add_settling_playouts(record, settled, tallies, playouts, np.uint64(seed % 2**64))
    return tallies[0]


def _settle_bent_fours(board: Board, fates: dict[Chain, Fate]) -> None:
    """Where three stones in seki can become a bent four in the corner, they live, and the chains around them die."""
    shapes = _corner_bent_fours(board.size)
    for chain in [chain for chain, fate in fates.items() if fate is Fate.SEKI and len(chain) == 3]:
        liberties = board.liberties(chain[0])
        if not any({*chain, liberty} in shapes for liberty in liberties):
            continue
        fates[chain] = Fate.ALIVE
        for other, fate in fates.items():
            if (
                fate is Fate.SEKI
                and board[other[0]] != board[chain[0]]
                and set(board.liberties(other[0])) & set(liberties)
            ):
                fates[other] = Fate.DEAD


def _corner_bent_fours(size: int) -> list[set[int]]:
    """The eight sets of a corner, its two neighbors, and the next point along one edge."""
    last = size - 1
    shapes = []
    for row, down in ((0, 1), (last, -1)):
        for col, right in ((0, 1), (last, -1)):
            corner = row * size + col
            bend = {corner, corner + right, corner + down * size}
            shapes += [bend | {corner + 2 * right}, bend | {corner + 2 * down * size}]
    return shapes
