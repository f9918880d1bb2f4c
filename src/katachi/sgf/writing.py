"""From trees to FF4 text, and from games to trees.

>>> from katachi.go.game import Game
>>> game = Game(size=9)
>>> game.play(40)
>>> print(game_to_sgf(game, black="Sen'ei", result="B+R"), end="")
(;FF[4]GM[1]CA[UTF-8]AP[katachi]SZ[9]KM[7.5]RU[Chinese]KRU[katachi]PB[Sen'ei]RE[B+R]
;B[ee])
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from katachi.core.disk import write_atomically
from katachi.go.game import Game, Play, Setup
from katachi.go.points import BLACK, WHITE, GameResult, Reason, format_sgf_point
from katachi.go.rules import Rules, Scoring, parse_rules
from katachi.sgf.record import EXACT_RULES, RULES_ALIASES, STANDARD_RULES, SgfGame
from katachi.sgf.repairs import SgfError
from katachi.sgf.tree import Node, escape, is_raw

_NAME: Final = re.compile(r"[A-Z][A-Z0-9]*")
_LINE_LENGTH: Final = 100
_LETTERS: Final = {BLACK: "B", WHITE: "W"}


def format_sgf(games: SgfGame | Iterable[SgfGame]) -> str:
    """The text of a game or a collection, which ``parse_sgf`` reads back as equal trees."""
    chosen = [games] if isinstance(games, SgfGame) else games
    return "".join(f"{_format_tree(game.root)}\n" for game in chosen)


def save_sgf(path: str | Path, games: SgfGame | Iterable[SgfGame]) -> None:
    """Write a game or a collection as UTF-8; a reader sees the old file or the new one, never a part."""
    chosen = [games] if isinstance(games, SgfGame) else list(games)
    try:
        data = format_sgf([SgfGame(_declare_utf8(game.root)) for game in chosen]).encode()
    except UnicodeEncodeError as error:
        raise SgfError(f"this text cannot be written: {error}") from None
    write_atomically(Path(path), data)


def _declare_utf8(root: Node) -> Node:
    """The same tree, with a CA that is true of what ``save_sgf`` writes."""
    if root.properties.get("CA") == ["UTF-8"]:
        return root
    twin = Node(root.properties | {"CA": ["UTF-8"]})
    twin.children = root.children
    return twin


def _format_tree(root: Node) -> str:
    """A tree as text: one loop, in which a waiting text is a bracket to close."""
    lines = _Lines()
    waiting: list[Node | str] = [")", root]
    lines.add("(")
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            lines.add(item)
            continue
        lines.add(_format_node(item), may_break=item is not root)
        if item is root and root.children:
            lines.end()
        if len(item.children) == 1:
            waiting.append(item.children[0])
            continue
        for child in reversed(item.children):
            waiting += [")", child, "("]
    return lines.text()


class _Lines:
    """Text in lines of about equal length, broken before nodes alone."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = 0

    def add(self, text: str, *, may_break: bool = False) -> None:
        if may_break and self._length + len(text) > _LINE_LENGTH:
            self.end()
        self._parts.append(text)
        self._length += len(text)

    def end(self) -> None:
        self._parts.append("\n")
        self._length = 0

    def text(self) -> str:
        return "".join(self._parts)


def _format_node(node: Node) -> str:
    return ";" + "".join(_format_property(name, values) for name, values in node.properties.items())


def _format_property(name: str, values: list[str]) -> str:
    if not _NAME.fullmatch(name):
        raise SgfError(f"{name!r} is not a property name")
    if not values or not all(map(is_raw, values)):
        raise SgfError(f"{name} has no value, or one that is not escaped")
    return f"{name}[{']['.join(values)}]"


def game_to_sgf(
    game: Game,
    *,
    black: str = "",
    white: str = "",
    result: GameResult | str | None = None,
    comments: Mapping[int, str] | None = None,
    properties: Mapping[str, str] | None = None,
) -> str:
    """The record of a game as text.

    ``comments`` are by move number, 0 for the root; ``properties`` are further texts for the root. The result is
    written if it is given or if a player resigned: after two passes only the caller knows which stones are dead.
    """
    record = SgfGame(game_to_tree(game))
    root = record.root
    texts = {"PB": black, "PW": white, "RE": _result_text(game, result), **(properties or {})}
    for name, text in texts.items():
        if text:
            root.set_text(name, text)
    _add_comments(root, comments or {})
    return format_sgf(record)


def _result_text(game: Game, result: GameResult | str | None) -> str:
    if result is not None:
        return str(result)
    ended = game.result()
    return str(ended) if ended is not None and ended.reason is Reason.RESIGNATION else ""


def _add_comments(root: Node, comments: Mapping[int, str]) -> None:
    number = 0
    for node in root.main_line():
        is_move = "B" in node.properties or "W" in node.properties
        number += is_move
        if (is_move or node is root) and comments.get(number):
            node.set_text("C", comments[number])


def game_to_tree(game: Game) -> Node:
    """The main line of a game: stones that it began with in the root, everything else in a node of its own."""
    root = Node(
        {
            "FF": ["4"],
            "GM": ["1"],
            "CA": ["UTF-8"],
            "AP": ["katachi"],
            "SZ": [str(game.size)],
            "KM": [f"{game.komi:g}"],
            **_rules_properties(game.rules),
        }
    )
    steps = game.steps
    first = steps[0] if steps else None
    if isinstance(first, Setup):
        if game.handicap:
            root.properties["HA"] = [str(game.handicap)]
        root.properties |= _setup_properties(first, game.size)
    node = root
    for step in steps[isinstance(first, Setup) :]:
        node = node.add_child(_step_properties(step, game.size))
    return root


def _rules_properties(rules: Rules) -> dict[str, list[str]]:
    """A name that other programs know, and the rules to the letter where that does not say them all."""
    name = rules.name
    known = STANDARD_RULES.get(name, "Chinese" if rules.scoring is Scoring.AREA else "Japanese")
    if parse_rules(RULES_ALIASES.get(known.lower(), known), rules.komi) == rules:
        return {"RU": [known]}
    return {"RU": [known], EXACT_RULES: [escape(json.dumps(rules.to_json()) if name == "custom" else name)]}


def _step_properties(step: Play | Setup, size: int) -> dict[str, list[str]]:
    if isinstance(step, Play):
        return {_LETTERS[step.color]: [format_sgf_point(step.move, size)]}
    return _setup_properties(step, size)


def _setup_properties(step: Setup, size: int) -> dict[str, list[str]]:
    """The properties of a set-up; where a point is named twice the last counts, and FF4 forbids to name it twice."""
    lists = {"AB": step.black, "AW": step.white, "AE": step.empty}
    colors = {point: name for name, points in lists.items() for point in points}
    properties: dict[str, list[str]] = {}
    for point, name in colors.items():
        properties.setdefault(name, []).append(format_sgf_point(point, size))
    if step.to_play is not None:
        properties["PL"] = [_LETTERS[step.to_play]]
    return properties
