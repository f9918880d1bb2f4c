"""From a table to the picture of its board: stones, marks, numbers, the count, and the ways to go on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from katachi.go.points import BLACK, EMPTY, PASS, WHITE, format_vertex
from katachi.web import texts
from katachi.web.board import Picture
from katachi.web.editing import Tool
from katachi.web.table import Phase, Table


@dataclass(slots=True)
class Look:
    """What one person has chosen to see, and the tool in hand."""

    coordinates: bool = True
    numbers: bool = False
    variations: bool = True
    tool: Tool = Tool.PLAY


def draw_table(table: Table, look: Look) -> Picture:
    """The picture of a table as it stands."""
    opened = table.opened
    game = opened.game
    is_counting = table.phase is Phase.COUNTING
    return Picture(
        size=game.size,
        stones=game.board.stones,
        last=None if look.numbers else game.last_move,
        ghost=_ghost(table, look),
        labels=_labels(table, look),
        marks=_count_marks(table) if is_counting else opened.marks(),
        dead=sorted(table.dead) if is_counting else (),
        coordinates=look.coordinates,
        description=_describe(table),
    )


def _ghost(table: Table, look: Look) -> int:
    """The stone that a click would put on the board, EMPTY for none."""
    tools = {Tool.BLACK: BLACK, Tool.WHITE: WHITE}
    if look.tool is not Tool.PLAY:
        return tools.get(look.tool, EMPTY)
    if table.phase is Phase.COUNTING or table.is_players_color:
        return EMPTY
    return table.opened.game.to_play


def _labels(table: Table, look: Look) -> dict[int, str]:
    opened = table.opened
    labels = {point: str(number) for point, number in opened.move_numbers().items()} if look.numbers else {}
    variations = opened.variations()
    if look.variations and len(variations) > 1:
        letters = (chr(ord("a") + number) for number in range(26))
        named = zip(letters, variations, strict=False)
        labels |= {v.move: letter for letter, v in named if v.move is not None and v.move != PASS}
    return labels | opened.labels()


def _count_marks(table: Table) -> dict[int, str]:
    """Whose each point is: living stones speak for themselves."""
    stones = table.opened.game.board.stones
    owners = table.owners()
    shown = (stones == EMPTY) | np.isin(np.arange(stones.size), list(table.dead))
    words = {BLACK: "black", WHITE: "white"}
    return {point: words[int(owners[point])] for point in np.flatnonzero(shown & (owners != EMPTY)).tolist()}


def _describe(table: Table) -> str:
    """The board in words, for who cannot see it."""
    game = table.opened.game
    size = f"{game.size}×{game.size}"
    if not game.moves:
        return texts.SPOKEN_EMPTY.format(size=size)
    last = game.moves[-1]
    return texts.SPOKEN.format(
        size=size,
        number=len(game.moves),
        color=texts.COLORS[last.color],
        vertex=format_vertex(last.move, game.size),
    )
