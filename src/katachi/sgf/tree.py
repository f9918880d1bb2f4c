"""The tree of a record: nodes with properties, in the order in which they were written.

Nothing here recurses, so that a record may be as deep as its writer liked.
"""

from __future__ import annotations

from collections.abc import Iterator

from katachi.sgf.escaping import escape, unescape_simple, unescape_text


class Node:
    """A node: properties by name, each a list of *raw* values (see ``sgf/escaping.py``), and the nodes that follow."""

    __slots__ = ("children", "parent", "properties")

    def __init__(self, properties: dict[str, list[str]] | None = None, parent: Node | None = None) -> None:
        """The node keeps ``properties`` itself, not a copy. A parent must be told of its child; see ``add_child``."""
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
