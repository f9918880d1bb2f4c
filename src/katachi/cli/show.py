"""``katachi show``: draw what a model has learned."""

from __future__ import annotations

import tempfile
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from katachi.go.game import Game


def show(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A bundled name, a training run or a model's folder.")],
    per_set: Annotated[int, typer.Option(min=1, help="How many shapes of each set, or kernels.")] = 10,
    only: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME", help='One set, such as "LI 2x2"; may be repeated.')
    ] = None,
    beside: Annotated[
        list[str] | None, typer.Option(metavar="MODEL", help="Another CRBM to draw at its side; may be repeated.")
    ] = None,
    sgf: Annotated[Path | None, typer.Option(help="Show what it would play in this game.")] = None,
    move: Annotated[int | None, typer.Option(min=1, help="In the game, the move that it is about to play.")] = None,
    svg: Annotated[Path | None, typer.Option(help="Write a picture.")] = None,
    html: Annotated[Path | None, typer.Option(help="Write a page.")] = None,
    open_page: Annotated[bool, typer.Option("--open", help="Show the page in the browser.")] = False,
) -> None:
    """Draw what a model has learned, and say how it was trained.

    Of a model of shapes these are the largest weights of each set: the mover's stones are black, or X, and a weight
    above 0 is good for the mover. Of a CRBM these are its kernels, those that are on most often first. Of a network,
    and of every model with --sgf, it is what it would play: on the empty board, at the end of the game or before a move
    of it; of a territory network it is whose each point will be. Without --svg, --html and --open it is drawn in the
    terminal.

    Examples:
      katachi show shapes-9
      katachi show shapes-9 --set "LI 3x3" --per-set 20
      katachi show shapes-9 --sgf game.sgf --move 20
      katachi show territory-19 --sgf game.sgf --move 80 --svg territory.svg
      katachi show runs/five --html shapes.html --open
      katachi show runs/multinomial --beside runs/real --svg kernels.svg
    """
    from rich.console import Console

    from katachi.cli._commands import prepare_kernels
    from katachi.core.disk import write_atomically
    from katachi.core.drawing import DrawRequest, draw_model, show_card
    from katachi.core.models import describe_card, find_model, open_model

    saved = open_model(find_model(model))
    drawing = draw_model(
        saved,
        DrawRequest(
            Path(model).name,
            per_set=per_set,
            only=tuple(only or ()),
            beside=tuple(beside or ()),
            game=_read_game(sgf, move),
            before_evaluating=prepare_kernels,
        ),
    )
    card = describe_card(saved.card)
    if open_page and html is None:
        html = Path(tempfile.mkdtemp(prefix="katachi-")) / "shown.html"
    if svg is not None:
        write_atomically(svg, drawing.svg)
    if html is not None:
        write_atomically(html, drawing.format_page(card))
    for path in filter(None, (svg, html)):
        typer.echo(f"written to {path}")
    if open_page and html is not None:
        webbrowser.open(html.absolute().as_uri())
    if svg is None and html is None:
        Console().print(show_card(card), drawing.text)


def _read_game(sgf: Path | None, move: int | None) -> Game | None:
    """The first game of a file, to its end or before a move; None without a file."""
    from katachi.sgf import load_sgf

    if sgf is not None:
        return load_sgf(sgf)[0].replay(before_move=move)
    if move is not None:
        raise typer.BadParameter("a move of which game? Name it by --sgf", param_hint="--move")
    return None
