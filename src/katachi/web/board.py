"""The board as an element of a page: what is to be drawn goes there, clicks and keys come back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final

import numpy as np
from nicegui.element import Element
from nicegui.events import GenericEventArguments
from numpy.typing import NDArray

from katachi.go.diagrams import star_points
from katachi.go.points import BLACK, EMPTY, WHITE

# What keys mean.
WAYS: Final = ("back", "forward", "back10", "forward10", "first", "last", "previous", "next")
COMMANDS: Final = (*WAYS, "pass", "undo", "numbers", "edit")
_LETTERS: Final = {BLACK: "X", WHITE: "O", EMPTY: "."}
_COLOR_WORDS: Final = {BLACK: "black", WHITE: "white", EMPTY: ""}


@dataclass(frozen=True, slots=True)
class Spot:
    """Something that a layer shows at a point: a colored spot, a number, or both."""

    point: int
    color: str = ""
    opacity: float = 1.0
    text: str = ""
    ink: str = "#111"
    round: bool = True
    half: float = 8.0  # of its side if it is square


@dataclass(frozen=True, slots=True)
class Picture:
    """Everything that is to be seen on a board. ``ghost`` is the color of the stone that a click would put there."""

    size: int
    stones: NDArray[np.int8]  # [n²]
    last: int | None = None
    ghost: int = EMPTY
    labels: Mapping[int, str] = field(default_factory=dict)
    marks: Mapping[int, str] = field(default_factory=dict)
    under: Iterable[Spot] = ()
    over: Iterable[Spot] = ()
    dead: Iterable[int] = ()
    notes: Mapping[int, str] = field(default_factory=dict)  # what is said when one points there
    coordinates: bool = True
    description: str = ""


class BoardElement(Element, component="board.js"):
    """A board that shows pictures. ``on_point`` is called with points, ``on_command`` with one of COMMANDS."""

    def __init__(self, on_point: Callable[[int], None], on_command: Callable[[str], None]) -> None:
        super().__init__()
        self._points = 0
        self._on_point = on_point
        self._on_command = on_command
        self.on("point", self._take_point)
        self.on("command", self._take_command)

    def show(self, picture: Picture) -> None:
        """Draw another picture."""
        props = _properties(picture)
        self._points = picture.size**2
        if any(self._props.get(name) != value for name, value in props.items()):
            for name, value in props.items():
                self._props[name] = value
            self.update()

    def _take_point(self, event: GenericEventArguments) -> None:
        """What a browser sends is not yet a point."""
        if type(event.args) is int and 0 <= event.args < self._points:
            self._on_point(event.args)

    def _take_command(self, event: GenericEventArguments) -> None:
        if event.args in COMMANDS:
            self._on_command(event.args)


def _properties(picture: Picture) -> dict[str, Any]:
    return {
        "size": picture.size,
        "stones": "".join(_LETTERS[color] for color in picture.stones.tolist()),
        "last": picture.last,
        "ghost": _COLOR_WORDS[picture.ghost],
        "labels": {str(point): text for point, text in picture.labels.items()},
        "marks": {str(point): kind for point, kind in picture.marks.items()},
        "under": [asdict(spot) for spot in picture.under],
        "over": [asdict(spot) for spot in picture.over],
        "dead": list(picture.dead),
        "stars": star_points(picture.size),
        "notes": {str(point): text for point, text in picture.notes.items()},
        "coordinates": picture.coordinates,
        "description": picture.description,
    }
