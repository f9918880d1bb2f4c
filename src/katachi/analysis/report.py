"""Games explained as one page that needs nothing else: graphs, boards of the biggest mistakes, and why they were
some.

The page works without a network and without scripts, in light and dark and on paper; all text is escaped.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Final

from katachi.analysis.graphs import draw_graph
from katachi.analysis.judges import turns_of
from katachi.analysis.records import GameRecord, MoveRecord, PositionRecord, find_mistakes
from katachi.analysis.words import tell_game, tell_move
from katachi.core.html import frame_page
from katachi.go.board import Board
from katachi.go.diagrams import draw_svg
from katachi.go.points import PASS, parse_vertex
from katachi.sgf import SgfGame

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
    boards = _boards_before(record, {move.number for move in mistakes})
    figures = [_draw_mistake(move, boards[move.number]) for move in mistakes if move.number in boards]
    lines = "\n".join(tell_game(game, positions))
    return (
        f'<section class="katachi">\n<h2>{escape(_title(game))}</h2>\n{draw_graph(positions)}\n'
        f'<p class="soft">Black’s chance to win (line) and lead (dashed); dots are mistakes.</p>\n'
        f'<pre>{escape(lines)}</pre>\n<div class="mistakes">{"".join(figures)}</div>\n</section>'
    )


def _title(game: GameRecord) -> str:
    sides = [" ".join(filter(None, side)) for side in ((game.black, game.black_rank), (game.white, game.white_rank))]
    players = " – ".join(side or color for side, color in zip(sides, ("Black", "White"), strict=True))
    return ", ".join(filter(None, (game.game, players, f"{game.size}×{game.size}", game.result)))


def _boards_before(record: SgfGame, numbers: set[int]) -> dict[int, Board]:
    """The boards before moves, by the numbers of the moves."""
    return {turn.number: turn.before for turn in turns_of(record) if turn.before is not None and turn.number in numbers}


def _draw_mistake(move: MoveRecord, board: Board) -> str:
    """The board before a mistake: 1 is what was played, A what was better."""
    labels = {_point(move.best, board): "A", _point(move.move, board): "1"}
    labels.pop(PASS, None)
    shades = {point: _SHADES[label] for point, label in labels.items()}
    text = "\n".join([f"Move {move.number}: {move.color} {move.move}.", *tell_move(move)])
    picture = draw_svg(board.diagram, labels=labels, shades=shades)
    return f"<figure>{picture}<figcaption><pre>{escape(text)}</pre></figcaption></figure>"


def _point(vertex: str | None, board: Board) -> int:
    return PASS if vertex is None else parse_vertex(vertex, board.size)
