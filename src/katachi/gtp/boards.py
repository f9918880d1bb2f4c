"""Boards of numbers, labels and colors as text, in the forms that GoGui draws over the stones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from katachi.go.points import format_vertex


def format_numbers(values: NDArray[np.floating], size: int, digits: int = 3) -> str:
    """A row of the board a line (GoGui's ``dboard``)."""
    return _rows([f"{float(value) + 0.0:.{digits}f}" for value in values], size)


def format_labels(labels: Mapping[int, str], size: int) -> str:
    """A row of the board a line, with an empty label where there is none (GoGui's ``sboard``)."""
    return _rows([f'"{labels.get(point, "")}"' for point in range(size * size)], size)


def gfx_labels(labels: Mapping[int, str], size: int) -> Iterable[str]:
    """A line of GoGui's ``gfx``, or none if there are no labels."""
    pairs = [f"{format_vertex(point, size)} {label}" for point, label in labels.items()]
    return [f"LABEL {' '.join(pairs)}"] if pairs else []


def gfx_colors(colors: Mapping[int, str], size: int) -> Iterable[str]:
    """A line of GoGui's ``gfx`` for each color: its name, or #rrggbb, and its points."""
    for color in dict.fromkeys(colors.values()):
        points = [format_vertex(point, size) for point, other in colors.items() if other == color]
        yield f"COLOR {color} {' '.join(points)}"


def blend(share: float) -> str:
    """A color from red for 0 over yellow to green for 1, as #rrggbb."""
    red, green = min(1.0, 2 - 2 * share), min(1.0, 2 * share)
    return f"#{round(255 * red):02x}{round(255 * green):02x}00"


def _rows(cells: list[str], size: int) -> str:
    return "\n".join(" ".join(cells[row * size : (row + 1) * size]) for row in range(size))
