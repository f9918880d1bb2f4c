"""Slow, obvious twins of the feature kernels: every shape of a board, by definition, as a canonical template.

A template is a tuple; templates that must share a weight are equal. Nothing here is shared with katachi but numbers.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cache

import numpy as np

from katachi.go.board import Board
from katachi.go.points import PASS, Symmetry

Template = tuple[object, ...]
Cells = dict[tuple[int, int], object]  # what is at (x, y)


def placements(size: int, width: int, height: int) -> Iterator[tuple[int, int, int, int]]:
    """(x, y, width, height) of all rectangles of a size, lying and standing."""
    for w, h in sorted({(width, height), (height, width)}):
        for y in range(size - h + 1):
            for x in range(size - w + 1):
                yield x, y, w, h


def images(size: int, place: tuple[int, int, int, int], contents: tuple[object, ...]) -> Iterator[Template]:
    """(w, h, x, y, contents) of a rectangle, contents by rows, on the board as each symmetry makes it."""
    x, y, w, h = place
    points = [(x + i % w, y + i // w) for i in range(w * h)]
    for turn in range(8):
        moved = []
        for px, py in points:
            if turn & 4:
                px, py = py, px
            moved.append((size - 1 - px if turn & 1 else px, size - 1 - py if turn & 2 else py))
        cells: Cells = dict(zip(moved, contents, strict=True))
        left, top = min(px for px, _ in moved), min(py for _, py in moved)
        right, bottom = max(px for px, _ in moved), max(py for _, py in moved)
        by_rows = sorted(cells, key=lambda point: (point[1], point[0]))
        yield right - left + 1, bottom - top + 1, left, top, tuple(cells[point] for point in by_rows)


@cache
def template(size: int, place: tuple[int, int, int, int], contents: tuple[object, ...], located: bool) -> Template:
    """The least image of a rectangle, among those that lie; without its place unless it is ``located``."""
    lying = [image for image in images(size, place, contents) if image[0] >= image[1]]
    return min(lying) if located else min((*image[:2], image[4]) for image in lying)


def digits(board: Board, mover: int) -> list[int]:
    """Every point as ``mover`` sees it: 0 empty, 1 his, 2 the opponent's."""
    return [0 if stone == 0 else 1 if stone == mover else 2 for stone in board.stones.tolist()]


def read(values: list[int], size: int, place: tuple[int, int, int, int]) -> tuple[int, ...]:
    """The contents of a rectangle by rows."""
    x, y, w, h = place
    return tuple(values[(y + j) * size + x + i] for j in range(h) for i in range(w))


def random_walk(size: int, steps: int, seed: int) -> Iterator[Board]:
    """One board in ``steps`` positions: random moves with captures and suicide, passes, and runs of undo."""
    rng = random.Random(seed)
    board = Board(size)
    played = 0
    for _ in range(steps):
        draw = rng.random()
        if draw < 0.05 and played:
            for _ in range(min(rng.randint(1, 5), played)):
                board.undo()
                played -= 1
        else:
            legal = [point for point in range(size * size) if board.is_legal(point, suicide=True)]
            board.play(rng.choice(legal) if legal and draw < 0.97 else PASS, suicide=True)
            played += 1
        yield board


def image_boards(board: Board) -> list[Board]:
    """The board under the eight symmetries, each also with the colors inverted and the other player to move."""
    boards = []
    for symmetry in Symmetry:
        stones = np.empty_like(board.stones)
        stones[symmetry.points(board.size)] = board.stones
        for color in (1, -1):
            image = Board(board.size)
            image.place(np.flatnonzero(stones == color).tolist(), np.flatnonzero(stones == -color).tolist())
            image.to_play = color * board.to_play
            boards.append(image)
    return boards


def liberty_states(board: Board, mover: int, place: tuple[int, int, int, int]) -> tuple[int, ...]:
    """The contents of a rectangle by rows: 0 empty, else 1 (the mover's) or 4 (the opponent's) plus external
    liberties.
    """
    x, y, w, h = place
    points = [(y + j) * board.size + x + i for j in range(h) for i in range(w)]
    states = []
    for point in points:
        if board[point] == 0:
            states.append(0)
        else:
            external = set(board.liberties(point)) - set(points)
            states.append((1 if board[point] == mover else 4) + min(len(external), 2))
    return tuple(states)
