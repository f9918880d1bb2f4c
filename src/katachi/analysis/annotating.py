"""An analysis inside a record: comments, labels, marks, variations and win rates that other programs show.

What a record has is never touched: a property that a node has already is left as it is, and a comment is continued.
What is added says so: the private property ``KTCH`` names the properties that are ours, or marks a node of ours, and
comments have a first and a last line. So ``strip`` can take it all back, and annotating again replaces.

| property | what it tells |
|---|---|
| C | the analysis in words |
| SBKV, SBKS | Black's win rate in percent and lead, as Sabaki plots them |
| V | Black's lead (FF4) |
| LB | the best moves in the position, A the best |
| BM, DO | a move that lost much, or enough to be called a mistake |
| SQ | points that changed hands by the move |
| TB, TW | who will own what, in the last position |
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import Final

import numpy as np

from katachi.analysis.records import LEAST_BLUNDER, LEAST_MISTAKE, CandidateRecord, GameRecord, PositionRecord
from katachi.analysis.words import MOVES_TOLD, tell_candidate, tell_game, tell_position
from katachi.go.board import Board
from katachi.go.points import BLACK, PASS, WHITE, format_sgf_point, parse_vertex
from katachi.sgf import Node, SgfGame
from katachi.sgf.escaping import escape as escape_sgf

MARK: Final = "KTCH"
_OWN_NODE: Final = "node"  # lower case: no property is called so
_BEGIN: Final = "=== katachi ==="
_END: Final = "=== end of katachi ==="
_BLOCK: Final = re.compile(rf"(?:\n\n)?{_BEGIN}\n.*?\n{_END}", re.DOTALL)
_SURE: Final = 0.5  # ownership from which a point is marked as somebody's

Properties = dict[str, list[str]]


def annotate(record: SgfGame, game: GameRecord, positions: Sequence[PositionRecord]) -> SgfGame:
    """A copy of a record with an analysis of it written in, in place of one that is there."""
    annotated = strip(record)
    nodes = list(annotated.main_line())
    for position, following in zip(positions, [*positions[1:], None], strict=True):
        node = nodes[position.node]
        _add(node, _properties(position, game.size))
        if following is not None:
            _add_variation(node, position, following, game.size)
    if positions and positions[-1].ownership is not None:
        _add(nodes[positions[-1].node], _territory(positions[-1].ownership, record.replay_to_end().board))
    comments = {position.node: tell_position(position) for position in positions}
    comments[0] = tell_game(game, positions) + comments.get(0, [])
    for number, lines in comments.items():
        _add_comment(nodes[number], lines)
    return annotated


def strip(record: SgfGame) -> SgfGame:
    """A copy of a record without what ``annotate`` has put in."""
    root = record.root.copy()
    for node in root.walk():
        node.children = [child for child in node.children if child.properties.get(MARK) != [_OWN_NODE]]
        for name in node.properties.pop(MARK, []):
            node.properties.pop(name, None)
        _strip_comment(node)
    return SgfGame(root, list(record.repairs))


# Properties


def _properties(position: PositionRecord, size: int) -> Properties:
    """What is told of a position, but the comment."""
    properties: Properties = {}
    if position.black_wins is not None:
        properties["SBKV"] = [f"{100 * position.black_wins:.2f}"]
    if position.black_lead is not None:
        properties["SBKS"] = properties["V"] = [f"{position.black_lead:.2f}"]
    labels = _labels(position.candidates, size)
    move = position.move
    if move is not None and move.loss is not None and move.loss >= LEAST_MISTAKE:
        properties |= {"BM": ["1"]} if move.loss >= LEAST_BLUNDER else {"DO": [""]}
    if move is not None and move.territory is not None:
        moved = move.territory.to_black + move.territory.to_white
        properties["SQ"] = [_point(vertex, size) for vertex in moved]
    return {name: values for name, values in (properties | {"LB": labels}).items() if values}


def _labels(candidates: Sequence[CandidateRecord], size: int) -> list[str]:
    points = [candidate.move for candidate in candidates[:MOVES_TOLD]]
    return [f"{_point(move, size)}:{letter}" for move, letter in zip(points, "ABC", strict=False) if move != "pass"]


def _territory(ownership: Sequence[float], board: Board) -> Properties:
    """The points that are somebody's and hold no stone of his."""
    properties: Properties = {}
    for name, color in (("TB", BLACK), ("TW", WHITE)):
        owned = np.flatnonzero((color * np.array(ownership) >= _SURE) & (board.stones != color)).tolist()
        if owned:
            properties[name] = [format_sgf_point(point, board.size) for point in owned]
    return properties


def _add(node: Node, properties: Mapping[str, list[str]]) -> None:
    """Give a node the properties that it does not have, and remember which they are."""
    ours = [name for name in properties if name not in node.properties]
    node.properties |= {name: list(properties[name]) for name in ours}
    if ours:
        known = node.properties.pop(MARK, [])
        node.properties[MARK] = known + ours


# Variations


def _add_variation(node: Node, position: PositionRecord, following: PositionRecord, size: int) -> None:
    """Show what would have been better than the move that follows, if that was a mistake."""
    played = following.move
    if played is None or played.loss is None or played.loss < LEAST_MISTAKE or not position.candidates:
        return
    best = position.candidates[0]
    if best.move == played.move or not best.variation:
        return
    colors = cycle("BW" if position.to_play == "black" else "WB")
    last = node
    for color, vertex in zip(colors, best.variation, strict=False):
        last = last.add_child({color: [_point(vertex, size)]})
    first = node.children[-1]
    first.properties |= {MARK: [_OWN_NODE], "C": [escape_sgf(f"katachi: {tell_candidate(best, position)}")]}


# Comments


def _add_comment(node: Node, lines: Sequence[str]) -> None:
    """Continue the comment of a node, or begin one."""
    block = escape_sgf("\n".join([_BEGIN, *lines, _END]))
    values = node.properties.setdefault("C", [])
    if values:
        values[-1] = f"{values[-1]}\n\n{block}"
    else:
        values.append(block)


def _strip_comment(node: Node) -> None:
    """Take our part out of a comment, and the comment away if it was ours alone."""
    values = node.properties.get("C", [""])
    if _BEGIN not in values[-1]:
        return
    rest = _BLOCK.sub("", values[-1])
    if values[-1].startswith(_BEGIN) and not rest:
        del node.properties["C"]
    else:
        values[-1] = rest


def _point(vertex: str, size: int) -> str:
    move = parse_vertex(vertex, size)
    return "" if move == PASS else format_sgf_point(move, size)
