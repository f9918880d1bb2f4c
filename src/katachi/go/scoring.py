"""Counting a finished game, by area or by territory, once it is known which stones are dead.

Area scoring is exact: stones, and empty regions that touch one color only. Territory scoring counts surrounded points
and prisoners, and is as good as the dead stones and the sekis that it is given; ``go/status.py`` estimates both. A
chain lives or dies as a whole: one of its points is enough to name it.

>>> board = Board.parse('. X . O / X X O O / . X O . / O X O .')
>>> area_score(board), area_score(board, dead=[12])
(-2, 1)
>>> score(board, Rules(komi=7.5))
-9.5
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from katachi.go.board import Board
from katachi.go.kernels.scoring import fill_owner
from katachi.go.points import BLACK, EMPTY, MAX_POINTS, WHITE, format_vertex
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
