"""Handicap stones, and positions that were not played."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from katachi.go.game import Game
from katachi.go.points import BLACK, EMPTY, WHITE, fixed_handicap_points, format_vertex, free_handicap_points
from katachi.gtp.protocol import GtpError
from katachi.gtp.serving import CommandTable
from katachi.gtp.session import Session, read_color, read_int, read_point

table = CommandTable[Session]()


@table.command("fixed_handicap")
def fixed_handicap(session: Session, stones: str) -> str:
    return _place_number(session, stones, fixed_handicap_points)


@table.command("place_free_handicap")
def place_free_handicap(session: Session, stones: str) -> str:
    return _place_number(session, stones, free_handicap_points)


@table.command("set_free_handicap")
def set_free_handicap(session: Session, *vertices: str) -> str:
    try:
        points = [read_point(vertex, session.game.size) for vertex in vertices]
    except GtpError as error:
        raise GtpError(f"bad vertex list: {error}") from None
    _place(session, points)
    return ""


def _place_number(session: Session, stones: str, find_points: Callable[[int, int], list[int]]) -> str:
    """Place that many stones where the engine wants them; answers with the vertices."""
    number = read_int(stones)
    try:
        points = find_points(session.game.size, number)
    except ValueError as error:
        raise GtpError(f"invalid number of stones: {error}") from None
    return _place(session, points)


def _place(session: Session, points: Sequence[int]) -> str:
    if session.game.steps:
        raise GtpError("board not empty")
    try:
        session.game.place_handicap(points)
    except ValueError as error:
        raise GtpError(f"bad vertex list: {error}") from None
    return " ".join(format_vertex(point, session.game.size) for point in points)


@table.command("gogui-setup")
def gogui_setup(session: Session, *colors_and_vertices: str) -> str:
    """Put stones on the board: ``b C3 w D4``; ``e D4`` takes one away."""
    stones = dict(_stones(session, colors_and_vertices))
    _set_up(session.game, stones)
    return ""


@table.command("gogui-setup_player")
def gogui_setup_player(session: Session, color: str) -> str:
    session.game.setup(to_play=read_color(color))
    return ""


@table.command("set_position")
def set_position(session: Session, *colors_and_vertices: str) -> str:
    """Begin again with these stones and no past."""
    pairs = list(_stones(session, colors_and_vertices))
    stones = dict(pairs)
    if len(stones) != len(pairs):
        raise GtpError("syntax error: a vertex is named twice")
    game = Game(session.game.size, session.game.rules)
    if stones:
        _set_up(game, stones)
    session.new_game()
    session.game = game
    return ""


def _stones(session: Session, words: Sequence[str]) -> Iterator[tuple[int, int]]:
    """The pairs (point, color) of ``color vertex color vertex …``."""
    if len(words) % 2:
        raise GtpError("syntax error: every color needs a vertex")
    for color, vertex in zip(words[::2], words[1::2], strict=True):
        is_empty = color.lower() in ("e", "empty")
        yield read_point(vertex, session.game.size), EMPTY if is_empty else read_color(color)


def _set_up(game: Game, stones: dict[int, int]) -> None:
    by_color = {color: [point for point, stone in stones.items() if stone == color] for color in (BLACK, WHITE, EMPTY)}
    try:
        game.setup(by_color[BLACK], by_color[WHITE], by_color[EMPTY])
    except ValueError as error:
        raise GtpError(f"cannot set up: {error}") from None
