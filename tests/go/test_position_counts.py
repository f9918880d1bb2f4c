"""Positions and games of small boards, counted: what Tromp and Farnebäck counted, and through our own legality.

Our boards are square, so that of the known numbers 1×1, 2×2 and 3×3 are ours to meet (and 4×4, which takes seconds:
benchmarks/count_positions.py). Oblong boards up to 3×4 vouch for the definition below, with which our positions on 3×3,
and our games on 2×2 and 3×3, are compared one by one.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from katachi.go.board import Board
from katachi.go.game import Game
from katachi.go.points import BLACK, EMPTY, WHITE
from katachi.go.rules import KoRule, Rules

Colors = tuple[int, ...]
COLORS = (EMPTY, BLACK, WHITE)


@pytest.mark.parametrize(("size", "legal"), [(1, 1), (2, 57), (3, 12_675)])
def test_number_of_legal_positions(size: int, legal: int) -> None:
    assert sum(can_stand(size, colors) for colors in itertools.product((EMPTY, BLACK, WHITE), repeat=size**2)) == legal


def can_stand(size: int, colors: tuple[int, ...]) -> bool:
    board = Board(size)
    black, white = ([point for point, stone in enumerate(colors) if stone == color] for color in (BLACK, WHITE))
    try:
        board.place(black, white)
    except ValueError:
        return False
    return True


# The definition


def taken_off(colors: Colors, width: int, color: int) -> Colors:
    """The board without the chains of a color that have no liberty."""

    def beside(point: int) -> Iterator[int]:
        row, col = divmod(point, width)
        places = ((row, col - 1), (row, col + 1), (row - 1, col), (row + 1, col))
        return (r * width + c for r, c in places if 0 <= c < width and 0 <= r < len(colors) // width)

    breathing = {point for point, stone in enumerate(colors) if stone == EMPTY}
    while more := {near for p in breathing for near in beside(p) if colors[near] == color} - breathing:
        breathing |= more
    return tuple(EMPTY if stone == color and p not in breathing else stone for p, stone in enumerate(colors))


def moves(colors: Colors, width: int) -> Iterator[Colors]:
    """The boards that a stone of either color leads to, suicide included."""
    for point, color in itertools.product(range(len(colors)), (BLACK, WHITE)):
        if colors[point] == EMPTY:
            played = (*colors[:point], color, *colors[point + 1 :])
            yield taken_off(taken_off(played, width, -color), width, color)


def reachable(width: int, height: int) -> set[Colors]:
    waiting = [(EMPTY,) * (width * height)]
    found = set(waiting)
    while waiting:
        new = set(moves(waiting.pop(), width)) - found
        found |= new
        waiting += new
    return found


def count_games(follow: Callable[[Colors], Iterator[Colors]], start: Colors, most: int) -> int:
    """The games of at most so many moves in which no position comes back, that without a move included."""

    def count(past: tuple[Colors, ...]) -> int:
        if len(past) > most:
            return 1
        return 1 + sum(count((*past, after)) for after in follow(past[-1]) if after not in past)

    return count((start,))


@pytest.mark.parametrize(("width", "height", "legal"), [(1, 1, 1), (2, 1, 5), (3, 1, 15), (2, 2, 57), (3, 2, 489)])
def test_the_definition_reaches_all_legal_positions(width: int, height: int, legal: int) -> None:
    assert len(reachable(width, height)) == legal


def which_stand(width: int, height: int) -> list[bool]:
    """Whether all chains have a liberty, for each of COLORS in every order: liberties spread from stone to stone."""
    points = width * height
    stones = np.array(COLORS, dtype=np.int8)[np.indices((3,) * points, dtype=np.int8).reshape(points, -1).T]
    boards = stones.reshape(-1, height, width)
    breathing, before = boards == EMPTY, -1
    while (now := np.count_nonzero(breathing)) != before:
        before = now
        for here, there in ((np.s_[:, 1:, :], np.s_[:, :-1, :]), (np.s_[:, :, 1:], np.s_[:, :, :-1])):
            for one, other in ((here, there), (there, here)):
                breathing[one] |= breathing[other] & ((boards[other] == EMPTY) | (boards[other] == boards[one]))
    return breathing.all(axis=(1, 2)).tolist()


@pytest.mark.parametrize(
    ("width", "height", "legal"),
    [(1, 1, 1), (2, 1, 5), (4, 1, 41), (2, 2, 57), (3, 2, 489), (4, 2, 4_125), (3, 3, 12_675), (4, 3, 321_689)],
)
def test_number_of_positions_on_oblong_boards(width: int, height: int, legal: int) -> None:
    stand = which_stand(width, height)
    assert sum(stand) == legal
    every = itertools.product(COLORS, repeat=width * height)
    for colors, stands in itertools.islice(zip(every, stand, strict=True), 0, None, 997):
        assert stands == all(taken_off(colors, width, color) == colors for color in (BLACK, WHITE))


def test_our_positions_are_those_of_the_definition() -> None:
    for colors, stands in zip(itertools.product(COLORS, repeat=9), which_stand(3, 3), strict=True):
        assert can_stand(3, colors) == stands, colors


@pytest.mark.parametrize(("width", "games"), [(1, 1), (2, 9), (3, 907)])
def test_number_of_games_in_a_row(width: int, games: int) -> None:
    assert count_games(lambda colors: moves(colors, width), (EMPTY,) * width, most=100) == games


# Ours

RULES = Rules(KoRule.POSITIONAL, suicide=True)


def count_ours(game: Game, most: int) -> int:
    if len(game.steps) == most:
        return 1
    total = 1
    for color, point in itertools.product((BLACK, WHITE), range(game.size**2)):
        if game.why_illegal(point, color) is None:
            game.play(point, color)
            total += count_ours(game, most)
            game.undo()
    return total


@pytest.mark.parametrize(("size", "most"), [(1, 9), (2, 5), (3, 3)])
def test_our_games_are_as_many_as_those_of_the_definition(size: int, most: int) -> None:
    start = (EMPTY,) * size**2
    assert count_ours(Game(size, RULES), most) == count_games(lambda colors: moves(colors, size), start, most)
