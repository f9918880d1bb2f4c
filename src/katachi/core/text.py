"""Shapes for the terminal: the largest weights of each set side by side; ``X`` is the mover, ``O`` the enemy."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.columns import Columns
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from katachi.core.drawing import Cell, LearnedSet, LearnedShape, Shape, format_weight
from katachi.go.points import BLACK, EMPTY

_STYLES = {"X": "bold cyan", "O": "bold yellow", ".": "dim"}


def show_sets(sets: Sequence[LearnedSet]) -> RenderableType:
    """All sets, one below the other."""
    return Group(*(_show_set(learned) for learned in sets))


def show_card(rows: Sequence[tuple[str, str]]) -> RenderableType:
    """What is known of a model, a line for each."""
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="dim", max_width=32)
    table.add_column(overflow="fold")
    for word, value in rows:
        table.add_row(word, Text(value))
    return table


def draw_text(shape: Shape) -> str:
    """A shape as lines of text: the edges of the board where it has a place, dots for empty points."""
    letters = [_letters(cell) for cell in shape.cells]
    step = max(map(len, letters)) + 1
    rows = range(0, len(letters), shape.width)
    lines = ["".join(f"{word:{step}}" for word in letters[row : row + shape.width]).rstrip() for row in rows]
    if shape.place is None:
        return "\n".join(lines)
    x, y = shape.place
    lines = [""] * y + [" " * step * x + line for line in lines]
    return "\n".join(["┌" + "─" * step * (x + shape.width), *(f"│ {line}".rstrip() for line in lines)])


def _letters(cell: Cell) -> str:
    """A stone with its liberties, where the shape has them."""
    if cell.stone == EMPTY:
        return "."
    letter = "X" if cell.stone == BLACK else "O"
    return letter if cell.liberties is None else f"{letter}{cell.liberties}"


def _show_set(learned: LearnedSet) -> RenderableType:
    title = Text(f"\n{learned.name}", style="bold")
    if not learned.shapes:
        return Group(title, Text("  nothing was learned", style="dim"))
    return Group(title, Padding(Columns([_show_shape(shape) for shape in learned.shapes], equal=True), (0, 0, 0, 1)))


def _show_shape(learned: LearnedShape) -> RenderableType:
    drawing = Text(draw_text(learned.shape) if learned.shape else f"? ({learned.words})")
    for letter, style in _STYLES.items():
        drawing.highlight_regex(rf"{'[.]' if letter == '.' else letter + '[012]?'}", style)
    weight = Text(format_weight(learned.weight), style="green" if learned.weight > 0 else "red")
    return Panel(Group(drawing, weight), box=box.MINIMAL, expand=False, padding=(0, 1))
