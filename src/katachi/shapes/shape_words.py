"""Local shapes in words and as small diagrams: ``X`` is the mover's stone, ``O`` the enemy's, ``.`` an empty point.

>>> count_stones([1, 2])
'one stone of the mover and one of the enemy'
>>> where, drawing = draw_shape(ShapeSet.parse("LD 2x1"), ["X", "O"], x=1, y=0)
>>> print(where)
1 from the left edge and 0 from the top
>>> print(drawing)
┌──────
│   X O
"""

from __future__ import annotations

from typing import Final

from katachi.shapes.sets import ShapeSet

_NUMBERS: Final = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


def draw_shape(shape_set: ShapeSet, cells: list[str], x: int, y: int) -> tuple[str, str]:
    """Where a shape is, in words, and a drawing of it from the text of its cells, all of them equally long."""
    rows = [" ".join(cells[row : row + shape_set.width]) for row in range(0, shape_set.area, shape_set.width)]
    if not shape_set.is_dependent:
        return "anywhere", "\n".join(row.rstrip() for row in rows)
    where = f"{x} from the left edge and {y} from the top"
    step = len(cells[0]) + 1
    lines = [""] * y + [" " * step * x + row for row in rows]
    edge = "┌" + "─" * (step * (x + shape_set.width))
    return where, "\n".join([edge, *(f"│ {line}".rstrip() for line in lines)])


def count_stones(digits: list[int]) -> str:
    """How many stones of whom, from digits as in a code."""
    own, enemy = digits.count(1), digits.count(2)
    if not own + enemy:
        return "empty"
    if not enemy:
        return f"{_stones(own)} of the mover"
    if not own:
        return f"{_stones(enemy)} of the enemy"
    return f"{_stones(own)} of the mover and {_NUMBERS[enemy]} of the enemy"


def _stones(count: int) -> str:
    return f"{_NUMBERS[count]} stone{'s' if count > 1 else ''}"
