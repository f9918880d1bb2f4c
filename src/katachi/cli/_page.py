"""What a model has learned as one page that needs nothing else: light and dark, on paper too, all text escaped."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Final

from katachi.core.drawing import LearnedSet, LearnedShape, describe_shape, draw_shape, format_weight, frame_page
from katachi.crbm.drawing import NamedCrbm, draw_kernels
from katachi.policy.drawing import PositionPolicy, draw_policy

_STYLE: Final = """
:root { color-scheme: light dark; --ink: #222; --soft: #777; --paper: #fdfcf9; --line: #ddd6c8; --up: #1b6f4a;
        --down: #a33a2a; }
@media (prefers-color-scheme: dark) { :root { --ink: #ddd; --soft: #999; --paper: #181714; --line: #3c3830;
        --up: #6fd0a0; --down: #f09a86; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); margin: 2rem auto;
       max-width: 66rem; padding: 0 1rem; }
h1 { font-size: 1.6rem; margin-bottom: .2rem; }
h2 { font-size: 1.1rem; margin: 0 0 .6rem; }
.lead { color: var(--soft); margin-top: 0; max-width: 44rem; }
dl { display: grid; grid-template-columns: fit-content(16rem) 1fr; gap: .15rem 1rem;
     font-variant-numeric: tabular-nums; }
dt { color: var(--soft); }
dd { margin: 0; overflow-wrap: anywhere; }
section { border-top: 1px solid var(--line); padding: 1rem 0; break-inside: avoid; }
.shapes { display: flex; flex-wrap: wrap; gap: 1.1rem; align-items: flex-end; }
figure { margin: 0; text-align: center; break-inside: avoid; }
figcaption { font-size: .85rem; font-variant-numeric: tabular-nums; line-height: 1.3; margin-top: .25rem; }
.up { color: var(--up); }
.down { color: var(--down); }
@media print { body { margin: 0; max-width: none; } svg { print-color-adjust: exact; } }
"""

_LEAD: Final = (
    "Each picture is a shape that the model looks for, and below it what one occurrence adds to the logit of Black’s "
    "chance to win when Black has just moved. Where a shape has a place on the board, the corner is drawn with it, and "
    "the pale points may hold anything."
)
_POLICY_LEAD: Final = "A number on the board says how likely the model finds a move there, in percent."
_TERRITORY_LEAD: Final = (
    "Blue points will be Black’s, yellow ones White’s, the surer the stronger the color. Below the board are the moves "
    "that promise most."
)
_KERNELS_LEAD: Final = (
    "Each picture is a kernel, drawn as the state that every point should rather be in: a stone of the player who has "
    "just moved (black), an enemy stone, or none. Beside it are its weights for own stones, enemy stones and free "
    "points, green above their mean and red below, and under it how often it is on."
)
_LIBERTIES: Final = " A number on a stone says how many liberties its chain has outside of the shape."


def format_page(title: str, sets: Sequence[LearnedSet], card: Sequence[tuple[str, str]] = ()) -> str:
    """The whole page: a title, what is known of the model, and its sets."""
    lead = _LEAD + _LIBERTIES * any(_has_liberties(learned) for row in sets for learned in row.shapes)
    return _frame(title, lead, card, "\n".join(_section(row) for row in sets))


def format_policy_page(title: str, position: PositionPolicy, card: Sequence[tuple[str, str]] = ()) -> str:
    """The whole page of what a model would play: a title, what is known of the model, and the board."""
    moves = "".join(f"<dt>{move.vertex}</dt><dd>{move.percent}</dd>" for move in position.best())
    return _frame(title, _POLICY_LEAD, card, f"<section>\n{draw_policy(position)}\n<dl>{moves}</dl>\n</section>")


def format_territory_page(
    title: str, position: PositionPolicy, picture: str, card: Sequence[tuple[str, str]] = ()
) -> str:
    """The whole page of whose each point will be: a title, what is known of the model, its picture, likely moves."""
    moves = "".join(f"<dt>{move.vertex}</dt><dd>{move.percent}</dd>" for move in position.best())
    return _frame(title, _TERRITORY_LEAD, card, f"<section>\n{picture}\n<dl>{moves}</dl>\n</section>")


def format_kernels_page(
    title: str, crbms: Sequence[NamedCrbm], count: int, card: Sequence[tuple[str, str]] = ()
) -> str:
    """The whole page of kernels: a title, what is known of the model, and so many kernels of each CRBM."""
    return _frame(title, _KERNELS_LEAD, card, f"<section>\n{draw_kernels(crbms, count)}\n</section>")


def _frame(title: str, lead: str, card: Sequence[tuple[str, str]], sections: str) -> str:
    rows = "".join(f"<dt>{escape(word)}</dt><dd>{escape(value)}</dd>" for word, value in card)
    return frame_page(title, _STYLE, f'<p class="lead">{lead}</p>\n<dl>{rows}</dl>\n{sections}')


def _section(row: LearnedSet) -> str:
    shapes = "\n".join(_figure(learned) for learned in row.shapes) or "<p>Nothing was learned.</p>"
    return f'<section>\n<h2>{escape(row.name)}</h2>\n<div class="shapes">\n{shapes}\n</div>\n</section>'


def _figure(learned: LearnedShape) -> str:
    drawn = draw_shape(learned.shape, describe_shape(learned))
    sign = "up" if learned.weight > 0 else "down"
    caption = f'<figcaption class="{sign}">{format_weight(learned.weight)}</figcaption>'
    return f"<figure>{drawn}{caption}</figure>"


def _has_liberties(learned: LearnedShape) -> bool:
    return learned.shape is not None and any(cell.liberties is not None for cell in learned.shape.cells)
