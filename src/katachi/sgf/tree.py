r"""The tree of a record: nodes with properties, in the order in which they were written, and the text of their values.

Nothing here recurses, so that a record may be as deep as its writer liked.

The text inside property values: escapes, soft line breaks, and the two types Text and SimpleText of FF4.

A *raw* value is what stands between the brackets; trees keep raw values, so that writing one returns what was read.

>>> unescape_text("a \\] b \\\\ c \\\nd")
'a ] b \\ c d'
>>> escape("[1k]: a\\b")
'[1k\\]: a\\\\b'

Property values that name points: moves, stones and rectangles of stones.

>>> read_move("ba", 9), read_move("tt", 9), read_move("", 9)
(1, -1, -1)
>>> sorted(read_points(["aa:ba", "cc"], 3))
[0, 1, 8]
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Final

from katachi.go.points import PASS, format_sgf_point, parse_vertex
from katachi.sgf.repairs import RepairKind, Report, ignore, shorten

# Text inside of values.

_ESCAPE: Final = re.compile(r"\\(?:\n|(.))", re.DOTALL)
_LINE_BREAK: Final = re.compile(r"\r\n|\n\r|\r")
_SPECIAL: Final = re.compile(r"[\\\]]")
_ESCAPED_OR_BRACKET: Final = re.compile(r"\\.|\]", re.DOTALL)
_RAW: Final = re.compile(r"[^\]\\]*+(?:\\.[^\]\\]*+)*+", re.DOTALL)


def escape(text: str) -> str:
    """The raw value of a text."""
    return _SPECIAL.sub(r"\\\g<0>", text)


def unescape_text(raw: str) -> str:
    r"""The text of a raw Text value: line breaks are ``\n``, soft ones are gone."""
    if "\\" not in raw and "\r" not in raw:
        return raw
    # Line breaks first: an escaped "\r\n" must still be one break.
    return _ESCAPE.sub(lambda found: found[1] or "", _LINE_BREAK.sub("\n", raw))


def unescape_simple(raw: str) -> str:
    """The text of a raw SimpleText value: one line, no space around it."""
    return unescape_text(raw).replace("\n", " ").strip()


def is_raw(value: str) -> bool:
    """Whether a value can stand between brackets as it is."""
    return _RAW.fullmatch(value) is not None


def mend_raw(value: str) -> str:
    """Make a raw value of text in which a bracket was not escaped or the last escape escapes nothing."""
    mended = _ESCAPED_OR_BRACKET.sub(lambda found: "\\]" if found[0] == "]" else found[0], value)
    return mended if is_raw(mended) else mended[:-1]


# Nodes.


class Node:
    """A node: properties by name, each a list of *raw* values (see the top of this file), and the nodes that follow."""

    __slots__ = ("children", "parent", "properties")

    def __init__(self, properties: dict[str, list[str]] | None = None, parent: Node | None = None) -> None:
        """The node keeps ``properties`` itself, not a copy. A parent must know its child; see ``add_child``."""
        self.properties = {} if properties is None else properties
        self.children: list[Node] = []
        self.parent = parent

    def add_child(self, properties: dict[str, list[str]] | None = None) -> Node:
        """Append a node that follows this one; the first child continues the main line."""
        child = Node(properties, self)
        self.children.append(child)
        return child

    def get(self, name: str) -> str | None:
        """The first raw value of a property, None if there is none."""
        values = self.properties.get(name)
        return values[0] if values else None

    def text(self, name: str) -> str:
        """A property as text of several lines, empty if there is none; a repeated one is joined."""
        return "\n".join(unescape_text(value) for value in self.properties.get(name, ()))

    def simple_text(self, name: str) -> str:
        """A property as one line of text, empty if there is none."""
        return unescape_simple(self.get(name) or "")

    def set_text(self, name: str, text: str) -> None:
        """Set a property to one text, which is escaped here."""
        self.properties[name] = [escape(text)]

    def main_line(self) -> Iterator[Node]:
        """This node and its first followers."""
        node: Node | None = self
        while node is not None:
            yield node
            node = node.children[0] if node.children else None

    def path(self) -> list[Node]:
        """The nodes from the root to this one."""
        nodes: list[Node] = []
        node: Node | None = self
        while node is not None:
            nodes.append(node)
            node = node.parent
        return nodes[::-1]

    def walk(self) -> Iterator[Node]:
        """This node and all that follow it, each variation to its end before the next."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            yield node
            waiting.extend(reversed(node.children))

    def copy(self) -> Node:
        """This node and all that follow it, as a tree of its own."""
        twin = Node({name: list(values) for name, values in self.properties.items()})
        pairs = [(self, twin)]
        while pairs:
            node, copied = pairs.pop()
            for child in node.children:
                properties = {name: list(values) for name, values in child.properties.items()}
                pairs.append((child, copied.add_child(properties)))
        return twin

    def is_same_tree(self, other: Node) -> bool:
        """Whether two trees have the same shape, properties and order of properties."""
        pairs = [(self, other)]
        while pairs:
            ours, theirs = pairs.pop()
            if list(ours.properties.items()) != list(theirs.properties.items()):
                return False
            if len(ours.children) != len(theirs.children):
                return False
            pairs.extend(zip(ours.children, theirs.children, strict=True))
        return True

    def __repr__(self) -> str:
        return f"<Node {self.properties} with {len(self.children)} children>"


# Values that name points.


@cache
def move_table(size: int) -> dict[str, int]:
    """Moves by their text. ``tt`` is a pass where it is off the board, which on 19×19 and smaller boards it is."""
    return {format_sgf_point(point, size): point for point in range(size * size)} | {"": PASS, "tt": PASS}


def read_move(value: str, size: int, report: Report = ignore, where: str = "") -> int | None:
    """The move that a value of B or W tells, None if it tells none."""
    table = move_table(size)
    if value in table:
        return table[value]
    text = unescape_simple(value)
    move = table.get(text.lower(), _read_vertex(text, size))
    what = f"{shorten(text)} is not a point of a {size}×{size} board and was left out"
    if move is not None:
        what = f"{shorten(text)} read as {shorten(format_sgf_point(move, size))}"
    report(RepairKind.POINT, where, what)
    return move


def _read_vertex(text: str, size: int) -> int | None:
    """A vertex such as ``Q16`` or ``pass``, which some programs write instead of letters."""
    try:
        return parse_vertex(text, size)
    except ValueError:
        return None


def read_points(values: Iterable[str], size: int, report: Report = ignore, where: str = "") -> list[int]:
    """The points of a list property, rectangles such as ``aa:cc`` unfolded, each point once."""
    points: dict[int, None] = {}
    for value in dict.fromkeys(values):  # a rectangle said a million times is unfolded once
        if ":" in value:
            points.update(dict.fromkeys(_read_rectangle(value, size, report, where)))
        else:
            point = read_move(value, size, report, where)
            if point == PASS:
                report(RepairKind.POINT, where, f"{shorten(value)} names no point and was left out")
            elif point is not None:
                points[point] = None
    return list(points)


def _read_rectangle(value: str, size: int, report: Report, where: str) -> list[int]:
    corners = [read_move(corner, size, report, where) for corner in value.split(":", 1)]
    points = [corner for corner in corners if corner is not None and corner != PASS]
    if len(points) < 2:
        report(RepairKind.POINT, where, f"{shorten(value)} is not a rectangle and was left out")
        return []
    top, bottom = sorted(point // size for point in points)
    left, right = sorted(point % size for point in points)
    return [row * size + col for row in range(top, bottom + 1) for col in range(left, right + 1)]
