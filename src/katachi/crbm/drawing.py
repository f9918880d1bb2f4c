"""The kernels of a convolutional RBM as pictures, those that are on most often first.

Each of them in two ways (Largman and Pham, Figures 1 to 3): on wood, where every point shows the state for which it
has the largest weight; and as three small squares, for own stones, the opponent's and free points, green where a weight
is above the mean of the three and red where it is below. Own stones are black. Kernels of a second layer are drawn as
the sums of first-layer kernels that they stand for. Several CRBMs are drawn side by side.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from katachi.core import drawing
from katachi.core.contracts import Floats
from katachi.core.models import SavedModel, find_model
from katachi.crbm.config import orient
from katachi.crbm.evaluator import SavedCrbm, load_crbm
from katachi.crbm.kernels.features import LIBERTY_BINS
from katachi.go.points import BLACK, EMPTY, WHITE

KERNELS_SHOWN: Final = 24
STATES: Final = (BLACK, WHITE, EMPTY)  # in the order of the channels: own, opponent, free

_ACROSS: Final = 4
_SQUARE: Final = 10  # pixels of a weight
_GAP: Final = 16
_CAPTION: Final = 22
_TITLE: Final = 30
_STYLE: Final = (
    ".kk{font:12px system-ui,sans-serif;fill:#222}.kk .title{font-size:15px;font-weight:600}"
    ".kk .up{fill:#1b6f4a}.kk .down{fill:#a33a2a}@media(prefers-color-scheme:dark){.kk{fill:#ddd}}"
)


class NamedCrbm(NamedTuple):
    """A CRBM and what it is called."""

    name: str
    crbm: SavedCrbm


@dataclass(frozen=True, slots=True)
class DrawnKernel:
    """A kernel to draw."""

    number: int
    use: float | None  # how often it is on, if that is known
    channels: Floats  # [3, k, k], weights of own stones, the opponent's and free points less the mean of the three

    @property
    def strongest(self) -> drawing.Shape:
        """Each point in the state that it has the largest weight for."""
        side = self.channels.shape[-1]
        stones = [STATES[channel] for channel in self.channels.argmax(axis=0).ravel().tolist()]
        return drawing.Shape(side, side, tuple(map(drawing.Cell, stones)), board_size=side)

    @property
    def caption(self) -> str:
        return f"{self.number + 1}" if self.use is None else f"{self.number + 1}: on {self.use:.1%}"


def rank_kernels(crbm: SavedCrbm, count: int = KERNELS_SHOWN) -> list[DrawnKernel]:
    """The kernels of the last layer that are on most often, or the first ones if that is not known."""
    kernels = _as_channels(_seen_on_board(crbm), liberties=crbm.config.liberties)
    order = range(len(kernels)) if crbm.use is None else np.argsort(-crbm.use, kind="stable").tolist()
    uses = [None] * len(kernels) if crbm.use is None else crbm.use.tolist()
    return [DrawnKernel(number, uses[number], kernels[number]) for number in list(order)[:count]]


def _seen_on_board(crbm: SavedCrbm) -> Floats:
    """What each kernel of the last layer looks for on a board, [kernels, states, k, k]."""
    shapes = crbm.config.layer_shapes()
    first = crbm.weights["first.kernels"][:, : shapes[0].channels]
    if len(shapes) == 1:
        return first
    below = first if shapes[0].pooled else orient(first, shapes[0])
    second = crbm.weights["second.kernels"]
    reach, side = shapes[0].kernel_size, shapes[1].kernel_size
    seen = np.zeros((len(second), shapes[0].channels, reach + side - 1, reach + side - 1), dtype=np.float32)
    for down in range(side):
        for right in range(side):
            seen[:, :, down : down + reach, right : right + reach] += np.tensordot(second[:, :, down, right], below, 1)
    return seen


def _as_channels(kernels: Floats, *, liberties: bool) -> Floats:
    """The three channels, stones of all liberties taken together, each less their mean; [kernels, 3, k, k]."""
    if liberties:
        own, opponent = (kernels[:, first : first + LIBERTY_BINS].mean(axis=1) for first in (0, LIBERTY_BINS))
        kernels = np.stack([own, opponent, kernels[:, -1]], axis=1)
    channels: Floats = kernels - kernels.mean(axis=1, keepdims=True)
    return channels


def list_kernels(named: NamedCrbm, count: int = KERNELS_SHOWN) -> drawing.LearnedSet:
    """The same for the terminal: shapes, with the share of windows in which they are on in place of a weight."""
    drawn = rank_kernels(named.crbm, count)
    shapes = [
        drawing.LearnedShape(kernel.number, kernel.use or 0.0, kernel.caption, kernel.strongest) for kernel in drawn
    ]
    return drawing.LearnedSet(f"{named.name}: kernels, and how often they are on", tuple(shapes))


_LEAD: Final = (
    "Each picture is a kernel that the model has found by itself, those that are on most often first. It is drawn as "
    "the state that every point should rather be in: a stone of the player who has just moved (black), an opponent’s "
    "stone, or none. Beside it are its weights for own stones, the opponent’s and free points, green above their mean "
    "and red below, and under it how often it is on."
)


def draw(saved: SavedModel[Any], request: drawing.DrawRequest) -> drawing.Drawing:
    """The kernels of a CRBM, beside those of others; in a game what its value would play."""
    if request.game is not None:
        return drawing.draw_moves(saved, request)
    count = request.per_set or KERNELS_SHOWN
    others = [(Path(name).name, find_model(name)) for name in request.beside]
    crbms = [NamedCrbm(name, load_crbm(path)[0]) for name, path in [(request.name, saved.path), *others]]
    svg = draw_kernels(crbms, count)
    return drawing.Drawing(
        f"The kernels of {' and '.join(crbm.name for crbm in crbms)}",
        _LEAD,
        (drawing.Section("Kernels", (drawing.Figure(svg),)),),
        svg,
        drawing.show_sets([list_kernels(crbm, count) for crbm in crbms]),
    )


# SVG


def draw_kernels(crbms: Sequence[NamedCrbm], count: int = KERNELS_SHOWN) -> str:
    """CRBMs side by side, so many kernels of each."""
    blocks, left, height = [], 0.0, 0.0
    for named in crbms:
        kernels = rank_kernels(named.crbm, count)
        wide, high = _extent(kernels[0])
        cells = "".join(
            _cell(kernel, column * (wide + _GAP), _TITLE + row * (high + _CAPTION + _GAP))
            for kernel, (row, column) in ((kernel, divmod(place, _ACROSS)) for place, kernel in enumerate(kernels))
        )
        title = f'<text class="title" x="0" y="16">{escape(named.name)}</text>'
        blocks.append(f'<g transform="translate({left:g} 0)">{title}{cells}</g>')
        left += min(_ACROSS, len(kernels)) * (wide + _GAP) + 2 * _GAP
        height = max(height, _TITLE + -(-len(kernels) // _ACROSS) * (high + _CAPTION + _GAP))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {left:g} {height:g}" width="{left:g}" '
        f'height="{height:g}" role="img"><title>Kernels</title><style>{_STYLE}</style>'
        f'<g class="kk">{"".join(blocks)}</g></svg>'
    )


def _extent(kernel: DrawnKernel) -> tuple[float, float]:
    """What a kernel takes without its caption: wood beside the three squares, which stand one above the other."""
    wide, high = drawing.shape_extent(kernel.strongest)
    side = _SQUARE * kernel.channels.shape[-1]
    return wide + _GAP / 2 + side, max(high, 3 * side + _GAP)


def _cell(kernel: DrawnKernel, x: float, y: float) -> str:
    wide, high = _extent(kernel)
    side = _SQUARE * kernel.channels.shape[-1]
    squares = "".join(
        f'<g transform="translate({wide - side:g} {channel * (side + _GAP / 2):g})">{_square(kernel, channel)}</g>'
        for channel in range(len(STATES))
    )
    caption = f'<text x="0" y="{high + 15:g}">{escape(kernel.caption)}</text>'
    return f'<g transform="translate({x:g} {y:g})">{drawing.board_markup(kernel.strongest)}{squares}{caption}</g>'


def _square(kernel: DrawnKernel, channel: int) -> str:
    """The weights of one channel, opaque where they are as large as any of the kernel."""
    largest = float(np.abs(kernel.channels).max()) or 1.0
    parts = []
    for (row, column), weight in np.ndenumerate(kernel.channels[channel]):
        sign, opacity = "up" if weight > 0 else "down", abs(float(weight)) / largest
        parts.append(
            f'<rect class="{sign}" x="{_SQUARE * column}" y="{_SQUARE * row}" width="{_SQUARE}" height="{_SQUARE}" '
            f'fill-opacity="{opacity:.2f}"/>'
        )
    return "".join(parts)
