r"""From text to trees: a lenient reader of FF1 to FF4.

One compiled expression finds the tokens and a loop with its own stack builds the trees. The reader is ours because
sgfmill, the usual one, refuses a file whose last bracket is missing and could not say what it had to mend.

A fault is mended where the intent is plain, and every repair is reported with its line and column:

>>> game, = parse_sgf("Hello,\n\n(SZ[9];B[aa]C[look [here] please];W[bb")
>>> [node.properties for node in game.main_line()]
[{'SZ': ['9']}, {'B': ['aa'], 'C': ['look [here\\] please']}, {'W': ['bb']}]
>>> for repair in game.repairs:
...     print(repair)
line 1, column 1: 'Hello,' skipped
line 3, column 2: ';' missing before the first property
line 3, column 15: "]" in C was not escaped
line 3, column 35: value of W not closed
line 3, column 39: 1 ")" missing at the end
"""

from __future__ import annotations

import re
from collections.abc import Callable
from re import Match
from typing import Final

from katachi.sgf.decoding import decode
from katachi.sgf.errors import DEFAULT_LIMITS, Limits, SgfError
from katachi.sgf.escaping import mend_raw
from katachi.sgf.information import check_information
from katachi.sgf.record import SgfGame
from katachi.sgf.repairs import LineFinder, RepairKind, RepairLog, shorten
from katachi.sgf.tree import Node

_VALUE: Final = r"[^\]\\]*+(?:\\.[^\]\\]*+)*+"
# The groups, by number: whole properties are by far the most frequent, so one match takes a semicolon, a name and a
# value at once. All repeats are possessive (no backtracking): a hostile text costs no more than a kind one.
_TOKEN: Final = re.compile(
    rf"""\s*+(?:
        (;)?+ \s*+ ([A-Z]++) \s*+ \[({_VALUE})\]    # 1, 2, 3
      | \[({_VALUE})\]                              # 4
      | (;)                                         # 5
      | (\()                                        # 6
      | (\))                                        # 7
      | ([A-Za-z][A-Za-z0-9]*+)                     # 8
      | (\[)                                        # 9: is never closed
      | ([^\s;()\[A-Za-z]++)                        # 10
    )""",
    re.DOTALL | re.VERBOSE,
)
# A run of nodes with one plain move each: nearly all of most records, and worth a way of its own.
_RUN: Final = re.compile(r"(?:\s*+;[BW]\[(?:[a-z][a-z])?+\])++")
_MOVE: Final = re.compile(r"([BW])\[([a-z]*+)")
_NEXT_VALUE: Final = re.compile(rf"\s*+\[({_VALUE})\]", re.DOTALL)
_OPEN_VALUE: Final = re.compile(r"\s*+\[")

_GAME_START: Final = re.compile(r"\(\s*+(?:;|[A-Z]{1,2}+\s*+\[)")
_BARE_START: Final = re.compile(r";\s*+[A-Z]{1,2}+\s*+\[")
_NEXT_GAME: Final = re.compile(r"\(\s*+;\s*+(?:FF|GM)\s*+\[")

_FREE_TEXT: Final = frozenset(
    ("AN", "AP", "BT", "C", "CP", "EV", "GC", "GN", "N", "ON", "OT", "PB", "PC", "PW", "RO", "SO", "US", "WT")
)
# What may follow a value. Where something else does, the text went on: its bracket was not escaped.
_FOLLOWS: Final = (
    r"\s*+(?:\Z|\[|[A-Z][A-Za-z0-9]*+\s*+\[|;\s*+(?:\Z|[;()]|[A-Z][A-Za-z0-9]*+\s*+\[)"
    r"|\(\s*+(?:;|[A-Z]{1,2}+\[)|\)(?:\s*+(?:\Z|[();])|[^\S\n]*+\n))"
)
_ENDS_WELL: Final = re.compile(_FOLLOWS)
_TRUE_END: Final = re.compile(rf"(;\s*+[A-Z]{{1,2}}+\[)|\](?={_FOLLOWS})")


def parse_sgf(source: str | bytes, limits: Limits = DEFAULT_LIMITS) -> list[SgfGame]:
    """All games of a record or collection; raises SgfError if there is none or a limit is passed."""
    if len(source) > limits.size:
        raise SgfError(f"the record is larger than {limits.size} bytes")
    log = RepairLog()
    text = source.removeprefix("\ufeff") if isinstance(source, str) else decode(source, log).text
    games = _Parser(text, limits).parse()
    for game in games:
        game.repairs[:0] = log.repairs
    return games


class _Parser:
    """Reads one text. The state is the position, the node being filled, and the nodes at which variations began."""

    def __init__(self, text: str, limits: Limits) -> None:
        self._text = text
        self._limits = limits
        self._lines = LineFinder(text)
        self._games: list[SgfGame] = []
        self._position = 0
        self._nodes_left = limits.nodes
        self._no_true_end_before = 0
        self._trusts_brackets = True
        self._begin_game()
        self._handlers: dict[int | None, Callable[[Match[str]], None]] = {
            3: self._property,
            4: self._further_value,
            5: self._new_node,
            6: self._open,
            7: self._close,
            8: self._word,
            9: self._stray_bracket,
            10: self._junk,
        }

    def _begin_game(self) -> None:
        self._log = RepairLog()
        self._root: Node | None = None
        self._node: Node | None = None
        self._stack: list[Node | None] = []
        self._after_variation = False
        self._saw_next_game = False
        self._forget_property()

    def _forget_property(self) -> None:
        self._name = ""
        self._values: list[str] = []

    def _report(self, kind: RepairKind, position: int, what: str) -> None:
        self._log(kind, self._lines.where(position), what)

    def parse(self) -> list[SgfGame]:
        before = self._position, self._nodes_left
        while self._find_game():
            self._read_game()
            if self._stack and self._saw_next_game:
                # Never closed, and another game seems to begin inside: once more, and no longer trusting the brackets.
                self._trusts_brackets = False
                self._position, self._nodes_left = before
                self._begin_game()
                continue
            self._end_game()
            before = self._position, self._nodes_left
        if not self._games:
            raise SgfError("no game found: this is not SGF")
        self._games[-1].repairs.extend(self._log.repairs)  # of what stands after the last game
        return self._games

    def _find_game(self) -> bool:
        """Go to the next game and skip what is before it; a text without any bracket may still be a bare game."""
        start = _GAME_START.search(self._text, self._position)
        if start is None and not self._games:
            start = _BARE_START.search(self._text)
        self._skip_junk(start.start() if start else len(self._text))
        return start is not None

    def _skip_junk(self, stop: int) -> None:
        junk = self._text[self._position : stop].strip()
        if junk:
            self._report(RepairKind.JUNK, self._text.index(junk[0], self._position), f"{shorten(junk)} skipped")
        self._position = stop

    def _read_game(self) -> None:
        text, match, match_run, handlers = self._text, _TOKEN.match, _RUN.match, self._handlers
        if text[self._position] == ";":
            self._report(RepairKind.STRUCTURE, self._position, '"(" missing at the beginning')
            self._stack.append(None)
        while token := match(text, self._position):
            if token[1] and self._node and not self._after_variation and (run := match_run(text, self._position)):
                self._read_run(run)
                continue
            self._position = token.end()
            handlers[token.lastindex](token)
            if not self._stack:
                return
        self._position = len(text)
        self._report(RepairKind.STRUCTURE, len(text), f'{len(self._stack)} ")" missing at the end')

    def _end_game(self) -> None:
        if self._root is not None:
            check_information(self._root, self._log)
            self._games.append(SgfGame(self._root, self._log.repairs))
        self._begin_game()

    # Nodes

    def _new_node(self, token: Match[str]) -> None:
        self._forget_property()
        self._add_node(token.start(5))

    def _add_node(self, position: int) -> Node:
        self._count_nodes(1)
        parent = self._node
        node = self._node = Node(None, parent)
        if parent is None:
            self._root = node
        else:
            parent.children.append(node)
            if self._after_variation:
                self._report(RepairKind.STRUCTURE, position, "node after a variation taken for one more variation")
                self._after_variation = False
        return node

    def _read_run(self, run: Match[str]) -> None:
        node = self._node
        assert node is not None
        moves = _MOVE.findall(run[0])
        self._count_nodes(len(moves))
        for name, value in moves:
            before, node = node, Node({name: [value]}, node)
            before.children.append(node)
        self._node = node
        self._name, self._values = moves[-1][0], node.properties[moves[-1][0]]
        self._position = run.end()

    def _count_nodes(self, count: int) -> None:
        self._nodes_left -= count
        if self._nodes_left < 0:
            raise SgfError(f"more than {self._limits.nodes} nodes")

    def _open(self, token: Match[str]) -> None:
        if self._stack and _NEXT_GAME.match(self._text, token.start(6)):
            if not self._trusts_brackets:
                self._end_unclosed_game(token.start(6))
                return
            self._saw_next_game = True
        if len(self._stack) >= self._limits.depth:
            raise SgfError(f"variations nested more than {self._limits.depth} deep")
        self._stack.append(self._node)
        self._after_variation = False
        self._forget_property()

    def _end_unclosed_game(self, position: int) -> None:
        self._position = position
        self._report(RepairKind.STRUCTURE, position, f'{len(self._stack)} ")" missing before the next game')
        self._stack.clear()

    def _close(self, token: Match[str]) -> None:
        before = self._stack.pop()
        if self._node is before:
            self._report(RepairKind.STRUCTURE, token.start(7), "variation without a node of its own left out")
        self._node = before
        self._after_variation = True
        self._forget_property()

    # Properties

    def _property(self, token: Match[str]) -> None:
        semicolon, name, value = token.group(1, 2, 3)
        if semicolon:
            self._add_node(token.start(1))
        self._set_property(name, value, token.start(2), token.start(3))

    def _set_property(self, name: str, value: str, name_start: int, value_start: int) -> None:
        node = self._node
        if node is None:
            self._report(RepairKind.STRUCTURE, name_start, "';' missing before the first property")
            node = self._add_node(name_start)
        elif self._after_variation:
            self._report(RepairKind.STRUCTURE, name_start, f"{name} after a variation given to the node before it")
        values = node.properties.setdefault(name, [])
        if values:
            self._report(RepairKind.DUPLICATE, name_start, f"{name} again in the same node; its values are joined")
        self._first_value = value_start, len(values)
        values.append(value)
        self._name, self._values = name, values
        if name in _FREE_TEXT:
            self._check_end()

    def _further_value(self, token: Match[str]) -> None:
        if not self._name:
            self._report(RepairKind.VALUE, token.start(4), f"value {shorten(token[4])} of no property skipped")
            return
        self._values.append(token[4])
        if self._name in _FREE_TEXT:
            self._check_end()

    def _check_end(self) -> None:
        """If a text seems to go on after its bracket, find the true one, but never beyond the next node."""
        if self._position < self._no_true_end_before or _ENDS_WELL.match(self._text, self._position):
            return
        end = _TRUE_END.search(self._text, self._position)
        if end is None or end[1]:
            # Remembered, so that no stretch of text is searched twice.
            self._no_true_end_before = end.start() if end else len(self._text)
            return
        start, index = self._first_value
        self._values[index:] = [mend_raw(self._text[start : end.start()])]
        self._position = end.end()
        self._report(RepairKind.VALUE, start, f'"]" in {self._name} was not escaped')

    def _word(self, token: Match[str]) -> None:
        """A name that is not plain capitals, or that has no closed value."""
        word, start = token[8], token.start(8)
        name = re.sub("[a-z]", "", word).lstrip("0123456789") or word.upper()
        if value := _NEXT_VALUE.match(self._text, self._position):
            self._position = value.end()
            if name != word:
                self._report(RepairKind.NAME, start, f"{shorten(word)} read as {name}")
            self._set_property(name, value[1], start, value.start(1))
        elif value := _OPEN_VALUE.match(self._text, self._position):
            self._position = len(self._text)
            self._set_property(name, mend_raw(self._text[value.end() :]), start, value.end())
            self._report(RepairKind.VALUE, start, f"value of {name} not closed")
        else:
            self._report(RepairKind.JUNK, start, f"{shorten(word)} skipped")

    def _stray_bracket(self, token: Match[str]) -> None:
        self._position = len(self._text)
        self._report(RepairKind.VALUE, token.start(9), "unclosed value of no property skipped")

    def _junk(self, token: Match[str]) -> None:
        self._report(RepairKind.JUNK, token.start(10), f"{shorten(token[10])} skipped")
