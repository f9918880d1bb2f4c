"""An analysis for people: inside a game record, and as one page with graphs and boards; words.py has the sentences.

The page works without a network and without scripts, in light and dark and on paper; all text is escaped.
"""

from __future__ import annotations

import re
import zlib
from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from itertools import cycle
from typing import Final

import numpy as np

from katachi.analysis.judges import turns_of
from katachi.analysis.records import (
    LEAST_BLUNDER,
    LEAST_MISTAKE,
    CandidateRecord,
    GameRecord,
    MoveRecord,
    PositionRecord,
    find_mistakes,
)
from katachi.analysis.words import (
    MOVES_LISTED,
    describe_candidate,
    describe_game,
    describe_loss,
    describe_models,
    describe_move,
    describe_position,
    describe_value,
    say,
    say_color,
)
from katachi.core.drawing import frame_page
from katachi.go.board import Board
from katachi.go.diagrams import draw_svg
from katachi.go.points import BLACK, PASS, WHITE, format_sgf_point, parse_vertex
from katachi.sgf import Node, SgfGame, parse_sgf
from katachi.sgf.repairs import DEFAULT_LIMITS
from katachi.sgf.tree import escape as escape_sgf

# An analysis inside a record: comments, labels, marks, variations and win rates that other programs show.
#
# What a record has is never touched: a property that a node has already is left as it is, and a comment is continued.
# What is added says so: the private property ``KTCH`` names the properties that are ours, or marks a node of ours, and
# comments have a first and a last line. So ``strip`` can take it all back, and annotating again replaces. How the file
# was written, its encoding, line ends and faults, is lost in a tree: ``KTCO`` keeps the bytes, packed.
#
# | property | meaning |
# |---|---|
# | C | the analysis in words |
# | SBKV, SBKS | Black's win rate in percent and lead, as Sabaki plots them |
# | V | Black's lead (FF4) |
# | LB | the best moves in the position, A the best |
# | BM, DO | a move that lost much, or enough to be called a mistake |
# | SQ | points that changed hands by the move |
# | TB, TW | who will own what, in the last position |

MARK: Final = "KTCH"
ORIGINAL: Final = "KTCO"
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
    comments = {position.node: describe_position(position) + describe_models(position.move) for position in positions}
    comments[0] = describe_game(game, positions) + comments.get(0, [])
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


def content_of(record: SgfGame) -> Node:
    """The tree of a record without the bytes that are kept of it."""
    root = Node({name: values for name, values in record.root.properties.items() if name != ORIGINAL})
    root.children = record.root.children
    return root


def keep_original(record: SgfGame, data: bytes) -> None:
    """Keep the bytes that a record was read from, if it has none; those of another tree are of no use any more."""
    if read_original(record) is None:
        record.root.properties.pop(ORIGINAL, None)
        if data:
            record.root.properties[ORIGINAL] = [b64encode(zlib.compress(data, 9)).decode()]


def read_original(record: SgfGame) -> bytes | None:
    """The bytes that a record was read from; None if they were not kept, or if it has been changed since."""
    try:
        packed = b64decode(record.root.properties[ORIGINAL][0])
        data = zlib.decompressobj().decompress(packed, DEFAULT_LIMITS.size)
        trees = [content_of(record), *(game.root for game in parse_sgf(data))]
    except (KeyError, ValueError, zlib.error):  # an SgfError is a ValueError
        return None
    for tree in trees:
        tree.properties["CA"] = ["UTF-8"]  # which is added, and says nothing of the game
    return data if len(trees) == 2 and trees[0].is_same_tree(trees[1]) else None


# Properties


def _properties(position: PositionRecord, size: int) -> Properties:
    """What is written of a position, but the comment."""
    properties: Properties = {}
    if position.black_wins is not None:
        properties["SBKV"] = [f"{100 * position.black_wins:.2f}"]
    if position.black_lead is not None:
        properties["SBKS"] = properties["V"] = [f"{position.black_lead:.2f}"]
    labels = _labels(position.candidates, size)
    move = position.move
    loss = (move and move.sure_loss) or 0.0
    if loss >= LEAST_MISTAKE:
        properties |= {"BM": ["1"]} if loss >= LEAST_BLUNDER else {"DO": [""]}
    if move is not None and move.territory is not None:
        moved = move.territory.to_black + move.territory.to_white
        properties["SQ"] = [_sgf_point(vertex, size) for vertex in moved]
    return {name: values for name, values in (properties | {"LB": labels}).items() if values}


def _labels(candidates: Sequence[CandidateRecord], size: int) -> list[str]:
    points = [candidate.move for candidate in candidates[:MOVES_LISTED]]
    return [f"{_sgf_point(move, size)}:{letter}" for move, letter in zip(points, "ABC", strict=False) if move != "pass"]


def _territory(ownership: Sequence[float], board: Board) -> Properties:
    """The points that belong to a color and hold no stone of it."""
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
    if played is None or (played.sure_loss or 0.0) < LEAST_MISTAKE or not position.candidates:
        return
    best = position.candidates[0]
    if best.move == played.move or not best.variation:
        return
    colors = cycle("BW" if position.to_play == "black" else "WB")
    last = node
    for color, vertex in zip(colors, best.variation, strict=False):
        last = last.add_child({color: [_sgf_point(vertex, size)]})
    first = node.children[-1]
    first.properties |= {
        MARK: [_OWN_NODE],
        "C": [escape_sgf(say("comment.variation", candidate=describe_candidate(best, position)))],
    }


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


def _sgf_point(vertex: str, size: int) -> str:
    move = parse_vertex(vertex, size)
    return "" if move == PASS else format_sgf_point(move, size)


# The win-rate graph of a game as SVG: Black's share from below, mistakes as dots, the score as a thin line.

_WIDTH: Final = 720.0
_HEIGHT: Final = 160.0
_DOT: Final = 4.0


def draw_graph(positions: Sequence[PositionRecord]) -> str:
    """The chances of a game, turn by turn; a turn without one leaves a gap, and hovering shows the numbers."""
    step = _WIDTH / max(1, len(positions) - 1)
    wins = [None if p.black_wins is None else _HEIGHT * (1 - p.black_wins) for p in positions]
    title = escape(say("page.graph"))
    parts = [
        f'<svg class="graph" viewBox="0 -4 {_WIDTH:g} {_HEIGHT + 8:g}" role="img" aria-label="{title}">',
        f'<path class="middle" d="M0 {_HEIGHT / 2:g}H{_WIDTH:g}"/>',
        f'<path class="lead" d="{_line(_leads(positions), step)}"/>',
        f'<path class="wins" d="{_line(wins, step)}"/>',
    ]
    for turn, (position, height) in enumerate(zip(positions, wins, strict=True)):
        parts.append(_hover(position, turn * step, step))
        move = position.move
        if move is not None and (move.sure_loss or 0.0) >= LEAST_MISTAKE and height is not None:
            parts.append(f'<circle class="{move.color}" cx="{turn * step:.1f}" cy="{height:.1f}" r="{_DOT:g}"/>')
    return "".join([*parts, "</svg>"])


def _leads(positions: Sequence[PositionRecord]) -> list[float | None]:
    """The score in the same box: the largest lead of the game reaches its edge."""
    most = max((abs(p.black_lead) for p in positions if p.black_lead is not None), default=0.0) or 1.0
    return [None if p.black_lead is None else _HEIGHT / 2 * (1 - p.black_lead / most) for p in positions]


def _line(heights: Sequence[float | None], step: float) -> str:
    parts, pen_is_down = [], False
    for turn, height in enumerate(heights):
        if height is not None:
            parts.append(f"{'L' if pen_is_down else 'M'}{turn * step:.1f} {height:.1f}")
        pen_is_down = height is not None
    return "".join(parts)


def _hover(position: PositionRecord, x: float, step: float) -> str:
    move = position.move
    parts = [describe_value(position.black_wins, position.black_lead)]
    if move is not None:
        parts.insert(0, say("move.hover", number=move.number, color=say_color(move.color), move=move.move))
        parts.append(describe_loss(move))
    text = " ".join(filter(None, parts))
    return (
        f'<rect class="hover" x="{x - step / 2:.1f}" y="0" width="{step:.1f}" height="{_HEIGHT:g}">'
        f"<title>{escape(text)}</title></rect>"
    )


# Report

MISTAKES_DRAWN: Final = 6
_SHADES: Final = {"1": "#f4d8b8", "A": "#bfd4f2"}  # behind what was played, and what was better

_PAGE: Final = """
:root { color-scheme: light dark; --ink: #222; --paper: #fdfcf9; }
@media (prefers-color-scheme: dark) { :root { --ink: #ddd; --paper: #181714; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); margin: 2rem auto;
       max-width: 66rem; padding: 0 1rem; }
h1 { font-size: 1.6rem; }
@media print { body { margin: 0; } }
"""
STYLE: Final = """
.katachi { color-scheme: light dark; --ink: #222; --soft: #777; --line: #ddd6c8; --wins: #1f4e9e; --lead: #b9770e;
           border-top: 1px solid var(--line); padding: 1rem 0; }
@media (prefers-color-scheme: dark) { .katachi { --ink: #ddd; --soft: #999; --line: #3c3830; --wins: #8ab4f8;
           --lead: #f0b860; } }
.katachi h2 { font-size: 1.15rem; margin: 0 0 .4rem; }
.katachi pre { font: .85rem/1.45 ui-monospace, monospace; white-space: pre-wrap; margin: .3rem 0; }
.katachi .graph { width: 100%; height: auto; max-height: 14rem; border: 1px solid var(--line); }
.katachi .graph path { fill: none; stroke: var(--line); }
.katachi .graph .wins { stroke: var(--wins); stroke-width: 2; }
.katachi .graph .lead { stroke: var(--lead); stroke-dasharray: 3 3; }
.katachi .graph .hover { fill: transparent; }
.katachi .graph circle { stroke: var(--ink); }
.katachi .graph .black { fill: #111; }
.katachi .graph .white { fill: #fff; }
.katachi .mistakes { display: flex; flex-wrap: wrap; gap: 1.2rem; }
.katachi figure { margin: 0; width: min(20rem, 100%); break-inside: avoid; }
.katachi figure svg { width: 100%; height: auto; }
.katachi .soft { color: var(--soft); }
"""


def format_report(title: str, games: Iterable[str]) -> str:
    """The whole page from what ``draw_game`` made of each game."""
    return frame_page(title, _PAGE + STYLE, "\n".join(games))


def draw_game(record: SgfGame, game: GameRecord, positions: Sequence[PositionRecord]) -> str:
    """A game as a section of a page: who played, the graph, what each side lost, and boards of the mistakes."""
    mistakes = find_mistakes(positions)[:MISTAKES_DRAWN]
    boards = {turn.number: turn.before for turn in turns_of(record)}
    figures = [_draw_mistake(move, board) for move in mistakes if (board := boards.get(move.number)) is not None]
    lines = "\n".join(describe_game(game, positions))
    return (
        f'<section class="katachi">\n<h2>{escape(_title(game))}</h2>\n{draw_graph(positions)}\n'
        f'<p class="soft">{escape(say("page.legend"))}</p>\n'
        f'<pre>{escape(lines)}</pre>\n<div class="mistakes">{"".join(figures)}</div>\n</section>'
    )


def _title(game: GameRecord) -> str:
    sides = [" ".join(filter(None, side)) for side in ((game.black, game.black_rank), (game.white, game.white_rank))]
    players = " – ".join(side or color for side, color in zip(sides, map(say_color, ("black", "white")), strict=True))
    return ", ".join(filter(None, (game.game, players, f"{game.size}×{game.size}", game.result)))


def _draw_mistake(move: MoveRecord, board: Board) -> str:
    """The board before a mistake: 1 is what was played, A what was better."""
    labels = {_point(move.best, board): "A", _point(move.move, board): "1"}
    labels.pop(PASS, None)
    shades = {point: _SHADES[label] for point, label in labels.items()}
    title = say("move.title", number=move.number, color=say_color(move.color), move=move.move)
    text = "\n".join([title, *describe_move(move)])
    models = "\n".join(describe_models(move))
    more = (
        f"<details><summary>{escape(say('page.models'))}</summary><pre>{escape(models)}</pre></details>"
        if models
        else ""
    )
    picture = draw_svg(board.diagram, labels=labels, shades=shades)
    return f"<figure>{picture}<figcaption><pre>{escape(text)}</pre>{more}</figcaption></figure>"


def _point(vertex: str | None, board: Board) -> int:
    return PASS if vertex is None else parse_vertex(vertex, board.size)
