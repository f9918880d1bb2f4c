"""``katachi show``: draw what a model has learned."""

from __future__ import annotations

import tempfile
import webbrowser
from pathlib import Path
from typing import Annotated

import typer


def show(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A shipped name, a training run or a model's folder.")],
    per_set: Annotated[int, typer.Option(min=1, help="How many shapes of each set.")] = 10,
    only: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME", help='One set, such as "LI 2x2"; may be repeated.')
    ] = None,
    svg: Annotated[Path | None, typer.Option(help="Write a picture.")] = None,
    html: Annotated[Path | None, typer.Option(help="Write a page.")] = None,
    open_page: Annotated[bool, typer.Option("--open", help="Show the page in the browser.")] = False,
) -> None:
    """Draw what a model has learned: the shapes with the largest weights of each set, and how it was trained.

    The mover's stones are black, or X; a weight above 0 is good for him. Without --svg, --html and --open it is drawn
    in the terminal.

    Examples:
      katachi show shapes-9
      katachi show shapes-9 --set "LI 3x3" --per-set 20
      katachi show runs/five --html shapes.html --open
    """
    from rich.console import Console

    from katachi.disk import write_atomically
    from katachi.drawing.cards import describe_card
    from katachi.drawing.page import format_page
    from katachi.drawing.shapes import largest_shapes
    from katachi.drawing.svg import draw_figure
    from katachi.drawing.text import show_card, show_sets
    from katachi.models.saving import find_model, load_model

    loaded, card = load_model(find_model(model))
    sets = largest_shapes(loaded.features, loaded.weights, per_set, only or ())
    title, rows = f"What {Path(model).name} has learned", describe_card(card)
    if open_page and html is None:
        html = Path(tempfile.mkdtemp(prefix="katachi-")) / "shapes.html"
    if svg is not None:
        write_atomically(svg, draw_figure(sets, title))
    if html is not None:
        write_atomically(html, format_page(title, sets, rows))
    for path in filter(None, (svg, html)):
        typer.echo(f"written to {path}")
    if open_page and html is not None:
        webbrowser.open(html.absolute().as_uri())
    if svg is None and html is None:
        Console().print(show_card(rows), show_sets(sets))
