"""The board editor: stones put on and taken off, whose turn it is, marks, and what is said of a position.

A position is changed where it was set up; after a move it is changed in a node of its own, so that the game that was
played stays what it was.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

import numpy as np
from numpy.typing import NDArray

from katachi.go.board import Board
from katachi.go.points import BLACK, EMPTY, WHITE, format_sgf_point
from katachi.sgf.record import replay
from katachi.web import texts
from katachi.web.open_record import OpenRecord
from katachi.web.settings import TableError

_NAMES: Final = {BLACK: "AB", WHITE: "AW", EMPTY: "AE"}
MAX_COMMENT: Final = 20_000  # letters


class Tool(StrEnum):
    """What a click on the board does."""

    PLAY = "play"
    BLACK = "black"
    WHITE = "white"
    ERASE = "erase"
    TRIANGLE = "TR"
    SQUARE = "SQ"
    CIRCLE = "CR"
    CROSS = "MA"
    LABEL = "LB"


_COLORS: Final = {Tool.BLACK: BLACK, Tool.WHITE: WHITE, Tool.ERASE: EMPTY}


def use_tool(opened: OpenRecord, tool: Tool, point: int) -> None:
    """Do what a tool does at a point; raises TableError if that cannot be."""
    if tool is Tool.PLAY:
        opened.play(point)
    elif tool in _COLORS:
        put(opened, point, _COLORS[tool])
    elif tool is Tool.LABEL:
        _toggle_label(opened, point)
    else:
        _toggle_mark(opened, tool.value, point)


def put(opened: OpenRecord, point: int, color: int) -> None:
    """Make a point black, white or empty; a stone that is there already in that color goes."""
    wanted = opened.game.board.stones.copy()
    wanted[point] = EMPTY if wanted[point] == color else color
    _check_stands(wanted, opened.size)
    if _is_played(opened):
        opened.node = opened.node.add_child()
    _write_stones(opened, wanted)
    opened.go_to(opened.node)


def set_turn(opened: OpenRecord, color: int) -> None:
    """Say whose turn it is."""
    if _is_played(opened):
        opened.node = opened.node.add_child()
    opened.node.properties["PL"] = ["B" if color == BLACK else "W"]
    opened.go_to(opened.node)


def set_comment(opened: OpenRecord, text: str) -> None:
    """Say something of the position, or nothing."""
    if text.strip():
        opened.node.set_text("C", text[:MAX_COMMENT])
    else:
        opened.node.properties.pop("C", None)


def _is_played(opened: OpenRecord) -> bool:
    """Whether a change must not be made in this node: it is a move, or others follow it."""
    node = opened.node
    return bool(node.children) or not {"B", "W"}.isdisjoint(node.properties)


def _check_stands(stones: NDArray[np.int8], size: int) -> None:
    black, white = (np.flatnonzero(stones == color).tolist() for color in (BLACK, WHITE))
    try:
        Board(size).place(black, white)
    except ValueError:
        raise TableError(texts.NO_LIBERTIES) from None


def _write_stones(opened: OpenRecord, wanted: NDArray[np.int8]) -> None:
    """Let a node say what is different from the position before it."""
    node = opened.node
    before = replay(node.path()[:-1]).board.stones if node.parent else np.full_like(wanted, EMPTY)
    for color, name in _NAMES.items():
        points = np.flatnonzero((wanted == color) & (before != color)).tolist()
        if points:
            node.properties[name] = [format_sgf_point(point, opened.size) for point in points]
        else:
            node.properties.pop(name, None)
    node.properties.pop("HA", None)  # stones that were only counted are named now


def _toggle_mark(opened: OpenRecord, name: str, point: int) -> None:
    """Set a mark, which takes the place of another one, or take it off."""
    text = format_sgf_point(point, opened.size)
    others = {kind: values for kind, values in opened.node.properties.items() if kind in _MARK_NAMES}
    had = text in others.get(name, ())
    for kind, values in others.items():
        left = [value for value in values if value != text]
        if left:
            opened.node.properties[kind] = left
        else:
            del opened.node.properties[kind]
    if not had:
        opened.node.properties.setdefault(name, []).append(text)


_MARK_NAMES: Final = ("TR", "SQ", "CR", "MA")


def _toggle_label(opened: OpenRecord, point: int) -> None:
    """The next free letter, or none if there is a label."""
    text = format_sgf_point(point, opened.size)
    values = opened.node.properties.get("LB", [])
    left = [value for value in values if not value.startswith(f"{text}:")]
    if len(left) == len(values):
        used = set(opened.labels().values())
        letters = (chr(ord("A") + number) for number in range(26))
        left.append(f"{text}:{next((letter for letter in letters if letter not in used), '?')}")
    if left:
        opened.node.properties["LB"] = left
    else:
        opened.node.properties.pop("LB", None)
