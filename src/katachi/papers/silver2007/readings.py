"""What the paper reads in Figure 6, as questions that a program can answer about a shape."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from katachi.core.drawing import Shape
from katachi.go.points import EMPTY


def cuts(shape: Shape) -> bool:
    """Whether a stone touches stones of the other color that are not connected inside of the shape."""
    return any(_touches_two_groups(shape, cell) for cell, point in enumerate(shape.cells) if point.stone != EMPTY)


def _touches_two_groups(shape: Shape, cell: int) -> bool:
    around = [near for near in _neighbors(shape, cell) if shape.cells[near].stone == -shape.cells[cell].stone]
    return len({min(_group(shape, near)) for near in around}) > 1


def _group(shape: Shape, cell: int) -> set[int]:
    """The cells that are connected to this one and like it."""
    group, waiting = set(), [cell]
    while waiting:
        here = waiting.pop()
        if here not in group and shape.cells[here].stone == shape.cells[cell].stone:
            group.add(here)
            waiting += _neighbors(shape, here)
    return group


def makes_two_eyes(shape: Shape) -> bool:
    """Whether it lies in the corner and one color surrounds two empty points there.

    Points on its last lines do not count: what lies beyond them is not known.
    """
    owners = [_eye_owner(shape, cell) for cell, point in enumerate(shape.cells) if point.stone == EMPTY]
    return shape.place == (0, 0) and any(owners.count(color) > 1 for color in (-1, 1))


def _eye_owner(shape: Shape, cell: int) -> int:
    """The color of all neighbors of an empty cell, 0 if they differ or some lie outside of the shape."""
    row, column = divmod(cell, shape.width)
    if row == shape.height - 1 or column == shape.width - 1:
        return EMPTY
    colors = {shape.cells[near].stone for near in _neighbors(shape, cell)}
    return colors.pop() if len(colors) == 1 else EMPTY


def _neighbors(shape: Shape, cell: int) -> Iterator[int]:
    row, column = divmod(cell, shape.width)
    for down, across in ((-1, 0), (1, 0), (0, -1), (0, 1)):
        if 0 <= row + down < shape.height and 0 <= column + across < shape.width:
            yield (row + down) * shape.width + column + across


def matches(shape: Shape, stones: Sequence[int]) -> bool:
    """Whether a shape has these stones, row by row, and lies in the corner or anywhere."""
    return [cell.stone for cell in shape.cells] == list(stones) and shape.place in ((0, 0), None)
