"""An open record: a tree of moves, and a place in it with the game that leads there.

Moves are added where one stands; a move that is there already is followed, another one begins a variation.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Final, NamedTuple

from katachi.go.board import Illegality
from katachi.go.game import Game
from katachi.go.points import BLACK, WHITE, format_sgf_point
from katachi.sgf import Node, SgfGame
from katachi.sgf.tree import read_move, read_points
from katachi.web import texts
from katachi.web.settings import TableError

_LETTERS: Final = {BLACK: "B", WHITE: "W"}
MARKS: Final = {"TR": "triangle", "SQ": "square", "CR": "circle", "MA": "cross", "TB": "black", "TW": "white"}
_LONGEST_LABEL: Final = 3
_WHY_NOT: Final = {
    Illegality.OCCUPIED: texts.OCCUPIED,
    Illegality.KO: texts.KO,
    Illegality.SUPERKO: texts.SUPERKO,
    Illegality.SUICIDE: texts.SUICIDE,
}


class Variation(NamedTuple):
    """A way to go on: the node, and its move; None if it is no move."""

    node: Node
    move: int | None


class OpenRecord:
    """A record and the node that one looks at; ``game`` is the game up to it."""

    def __init__(self, record: SgfGame) -> None:
        """Open a record at its root; raises SgfError if it cannot be played here."""
        self.record = record
        self.node = record.root
        self.game: Game = record.replay(until=self.node)

    @property
    def size(self) -> int:
        return self.game.size

    # Going about

    def go_to(self, node: Node) -> None:
        """Look at another node of the tree."""
        self.game = self.record.replay(until=node)
        self.node = node

    @property
    def place(self) -> list[int]:
        """Where one stands: which child was taken at every node from the root on."""
        path = self.node.path()
        return [parent.children.index(child) for parent, child in pairwise(path)]

    def follow(self, place: Iterable[int]) -> None:
        """Go to a place that ``place`` has told, or as near to it as the tree reaches."""
        node = self.record.root
        for number in place:
            if not 0 <= number < len(node.children):
                break
            node = node.children[number]
        self.go_to(node)

    def step(self, count: int) -> None:
        """Go on by so many nodes along first children, or back."""
        node = self.node
        for _ in range(abs(count)):
            after = (node.children[0] if node.children else None) if count > 0 else node.parent
            if after is None:
                break
            node = after
        self.go_to(node)

    def line(self) -> list[Node]:
        """The nodes of the line that one is on: from the root through here to its end."""
        return [*self.node.path(), *list(self.node.main_line())[1:]]

    def siblings(self) -> list[Variation]:
        """The variations that stand beside this node, itself among them."""
        parent = self.node.parent
        return [Variation(node, self.move_of(node)) for node in (parent.children if parent else [self.node])]

    def variations(self) -> list[Variation]:
        """The ways to go on from here."""
        return [Variation(node, self.move_of(node)) for node in self.node.children]

    def move_of(self, node: Node) -> int | None:
        """The move of a node, None if it has none."""
        value = node.get("B") if "B" in node.properties else node.get("W")
        return None if value is None else read_move(value, self.size)

    # Changing

    def play(self, move: int) -> None:
        """Play a move of whoever is to play; raises TableError with the reason if the rules forbid it."""
        reason = self.game.why_illegal(move)
        if reason is not None:
            raise TableError(_WHY_NOT[reason])
        name = _LETTERS[self.game.to_play]
        for child in self.node.children:
            if name in child.properties and self.move_of(child) == move:
                self.go_to(child)
                return
        self.node = self.node.add_child({name: [format_sgf_point(move, self.size)]})
        self.game.play(move)

    def remove(self) -> None:
        """Take this node and all that follows it out of the tree, and stand before it."""
        node, parent = self.node, self.node.parent
        if parent is None:
            raise TableError(texts.NOTHING_TO_UNDO)
        parent.children.remove(node)
        self.go_to(parent)

    # What is to be seen here

    def marks(self) -> dict[int, str]:
        """The marks of this node by point."""
        found: dict[int, str] = {}
        for name, kind in MARKS.items():
            found |= dict.fromkeys(read_points(self.node.properties.get(name, ()), self.size), kind)
        return found

    def labels(self) -> dict[int, str]:
        """The labels of this node by point, cut to what fits on a stone."""
        found = {}
        for value in self.node.properties.get("LB", ()):
            vertex, _, text = value.partition(":")
            point = read_move(vertex, self.size)
            if point is not None and point >= 0 and text:
                found[point] = text[:_LONGEST_LABEL]
        return found

    def move_numbers(self) -> dict[int, int]:
        """The number of the move that put each stone where it stands."""
        numbers: dict[int, int] = {}
        for number, play in enumerate(self.game.moves, 1):
            numbers[play.move] = number
        return {point: number for point, number in numbers.items() if point >= 0 and self.game.board[point]}
