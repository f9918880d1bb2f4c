"""Counting a finished game, by area or by territory, and an estimate of which stones are dead.

Area scoring is exact: stones, and empty regions that touch one color only. Territory scoring counts surrounded points
and prisoners, and is as good as the dead stones and the sekis that it is given; ``estimate_status`` finds both. A
chain lives or dies as a whole: one of its points is enough to name it.

>>> board = Board.parse('. X . O / X X O O / . X O . / O X O .')
>>> area_score(board), area_score(board, dead=[12])
(-2, 1)
>>> score(board, Rules(komi=7.5))
-9.5

The status of chains when a game has ended, dead, alive or in seki, is an estimate. Benson's theorem decides what it
can, exactly: unconditionally alive chains are alive, opponent stones in their vital regions are dead. Playouts decide
the rest (``go/kernels/playouts.py`` says how they keep from breaking a seki): a chain is dead if its points end up as
the opponent's more often than not, and in seki if it mostly survives without two eyes beside points that neither side
can take. Bent four in the corner looks like a seki and is dead by convention.

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

from collections.abc import Iterable
from enum import Enum
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from katachi.go.board import Board
from katachi.go.kernels.playouts import TALLY, add_settling_playouts
from katachi.go.kernels.scoring import fill_owner
from katachi.go.points import BLACK, EMPTY, MAX_POINTS, WHITE, format_vertex
from katachi.go.reading import unconditional_life
from katachi.go.rules import Rules, Scoring, Tax


def area(board: Board, dead: Iterable[int] = ()) -> NDArray[np.int8]:
    """Who owns each point once the dead stones are off: BLACK, WHITE, or EMPTY if neither, [n²]."""
    return _owners(board, dead, seki=())


def area_score(board: Board, dead: Iterable[int] = ()) -> int:
    """Black's area less White's, without komi."""
    return int(area(board, dead).sum(dtype=np.int64))


def territory(board: Board, dead: Iterable[int] = (), seki: Iterable[int] = ()) -> NDArray[np.int8]:
    """Whose territory each point is, [n²]: surrounded points where no stone stands, or a dead one.

    A region that touches a chain named in ``seki`` is nobody's.
    """
    dead = _whole_chains(board, dead)
    owners = _owners(board, dead, seki)
    owners[(board.stones != EMPTY) & ~_mask(board, dead)] = EMPTY
    return owners


def territory_score(board: Board, dead: Iterable[int] = (), seki: Iterable[int] = ()) -> int:
    """Black's territory and prisoners less White's, without komi."""
    dead = _whole_chains(board, dead)
    prisoners = board.captured(WHITE) - board.captured(BLACK) - int(board.stones[dead].sum(dtype=np.int64))
    return int(territory(board, dead, seki).sum(dtype=np.int64)) + prisoners


def score(
    board: Board, rules: Rules, dead: Iterable[int] = (), handicap: int = 0, *, seki: Iterable[int] = ()
) -> float:
    """Black's score less White's, with komi and what White gets for the handicap stones.

    ``seki`` matters only where the rules tax it.
    """
    taxed = tuple(seki) if rules.tax is Tax.SEKI else ()
    if rules.scoring is Scoring.TERRITORY:
        points = territory_score(board, dead, taxed)
    else:
        points = int(_owners(board, dead, taxed).sum(dtype=np.int64))
    return points - rules.komi - rules.handicap_compensation(handicap)


def _owners(board: Board, dead: Iterable[int], seki: Iterable[int]) -> NDArray[np.int8]:
    stones = board.record["stone"][0].copy()
    stones[_whole_chains(board, dead)] = EMPTY
    in_seki = np.zeros(MAX_POINTS, dtype=np.bool_)
    in_seki[_whole_chains(board, seki)] = True
    owners = np.empty(board.size**2, dtype=np.int8)
    fill_owner(stones, board.size, in_seki, owners)
    return owners


def _whole_chains(board: Board, points: Iterable[int]) -> list[int]:
    """All stones of the chains at these points; raises ValueError where there is no stone."""
    stones: set[int] = set()
    for point in points:
        if board[point] == EMPTY:
            raise ValueError(f"there is no stone on {format_vertex(point, board.size)} that could be dead or in seki")
        if point not in stones:
            stones.update(board.chain(point))
    return sorted(stones)


def _mask(board: Board, points: list[int]) -> NDArray[np.bool_]:
    mask = np.zeros(board.size**2, dtype=np.bool_)
    mask[points] = True
    return mask


# Which stones are dead, alive or in seki: an estimate.

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


def warmup() -> None:
    """Compile counting and the estimate of what is dead."""
    board = Board(5)
    board.play(12)
    area_score(board), territory_score(board)
    estimate_status(board, playouts=1)
