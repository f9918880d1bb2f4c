"""``katachi show``: draw what a model has learned."""

from __future__ import annotations

import tempfile
import webbrowser
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

if TYPE_CHECKING:
    from rich.console import RenderableType

    from katachi.core.contracts import Evaluator, LinearEvaluator
    from katachi.go.game import Game
    from katachi.territory.evaluator import TerritoryEvaluator


class Picture(NamedTuple):
    """Something to draw in three ways; a page also tells what is known of the model."""

    svg: Callable[[], str]
    page: Callable[[Sequence[tuple[str, str]]], str]
    text: Callable[[], RenderableType]


def show(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A shipped name, a training run or a model's folder.")],
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
    """Draw what a model has learned, and tell how it was trained.

    Of a model of shapes these are the largest weights of each set: the mover's stones are black, or X, and a weight
    above 0 is good for him. Of a CRBM these are its kernels, those that are on most often first. Of a network, and of
    every model with --sgf, it is what it would play: on the empty board, at the end of the game or before a move of it;
    of a territory network it is whose each point will be. Without --svg, --html and --open it is drawn in the terminal.

    Examples:
      katachi show shapes-9
      katachi show shapes-9 --set "LI 3x3" --per-set 20
      katachi show shapes-9 --sgf game.sgf --move 20
      katachi show territory-19 --sgf game.sgf --move 80 --svg territory.svg
      katachi show runs/five --html shapes.html --open
      katachi show runs/multinomial --beside runs/real --svg kernels.svg
    """
    from rich.console import Console

    from katachi.core.contracts import LinearEvaluator
    from katachi.core.disk import write_atomically
    from katachi.core.drawing import show_card
    from katachi.core.models import describe_card, find_model, load_model, open_model
    from katachi.crbm.evaluator import CrbmCard
    from katachi.territory.evaluator import TerritoryEvaluator

    card = open_model(find_model(model)).card
    name, rows = Path(model).name, describe_card(card)
    if isinstance(card, CrbmCard) and sgf is None:
        picture = _draw_kernels([model, *(beside or ())], per_set)
    else:
        loaded, _ = load_model(find_model(model))
        if isinstance(loaded, LinearEvaluator) and sgf is None:
            picture = _draw_shapes(name, loaded, per_set, only or ())
        elif isinstance(loaded, TerritoryEvaluator):
            picture = _draw_territory(name, loaded, _read_game(sgf, move, card.board_size))
        else:
            picture = _draw_policy(name, loaded, _read_game(sgf, move, card.board_size))
    if open_page and html is None:
        html = Path(tempfile.mkdtemp(prefix="katachi-")) / "shown.html"
    if svg is not None:
        write_atomically(svg, picture.svg())
    if html is not None:
        write_atomically(html, picture.page(rows))
    for path in filter(None, (svg, html)):
        typer.echo(f"written to {path}")
    if open_page and html is not None:
        webbrowser.open(html.absolute().as_uri())
    if svg is None and html is None:
        Console().print(show_card(rows), picture.text())


def _draw_shapes(name: str, model: LinearEvaluator, per_set: int, only: Sequence[str]) -> Picture:
    from katachi.cli._page import format_page
    from katachi.core.drawing import draw_figure, show_sets
    from katachi.shapes.drawing import largest_shapes

    sets, title = largest_shapes(model.features, model.weights, per_set, only), f"What {name} has learned"
    return Picture(
        lambda: draw_figure(sets, title), lambda rows: format_page(title, sets, rows), lambda: show_sets(sets)
    )


def _draw_kernels(models: Sequence[str], count: int) -> Picture:
    from katachi.cli._page import format_kernels_page
    from katachi.core.drawing import show_sets
    from katachi.core.models import find_model
    from katachi.crbm.drawing import NamedCrbm, draw_kernels, list_kernels
    from katachi.crbm.evaluator import load_crbm

    crbms = [NamedCrbm(Path(model).name, load_crbm(find_model(model))[0]) for model in models]
    title = f"The kernels of {' and '.join(crbm.name for crbm in crbms)}"
    return Picture(
        lambda: draw_kernels(crbms, count),
        lambda rows: format_kernels_page(title, crbms, count, rows),
        lambda: show_sets([list_kernels(crbm, count) for crbm in crbms]),
    )


def _draw_policy(name: str, model: Evaluator, game: Game) -> Picture:
    from katachi.cli._compiling import prepare_kernels
    from katachi.cli._page import format_policy_page
    from katachi.policy.drawing import draw_policy, evaluate_position, show_policy

    prepare_kernels()
    position, title = evaluate_position(model, game), f"What {name} would play"
    return Picture(
        lambda: draw_policy(position),
        lambda rows: format_policy_page(title, position, rows),
        lambda: show_policy(position),
    )


def _draw_territory(name: str, model: TerritoryEvaluator, game: Game) -> Picture:
    from katachi.analysis.layers import draw_layer, ownership_by
    from katachi.cli._compiling import prepare_kernels
    from katachi.cli._page import format_territory_page
    from katachi.cli.play import show_layer
    from katachi.policy.drawing import evaluate_position, show_moves

    prepare_kernels()
    layer = ownership_by(game, name, model)
    if layer is None:
        raise TypeError(f"{name} tells no territory")
    position, title = evaluate_position(model, game), f"Whose each point will be, by {name}"
    picture = draw_layer(game.board, layer, game.last_move)
    return Picture(
        lambda: picture,
        lambda rows: format_territory_page(title, position, picture, rows),
        lambda: show_layer(game, layer, show_moves(position)),
    )


def _read_game(sgf: Path | None, move: int | None, size: int | None) -> Game:
    """The first game of a file, to its end or before a move; without a file the empty board."""
    from katachi.go.game import Game
    from katachi.sgf import load_sgf

    if sgf is None:
        if move is not None:
            raise typer.BadParameter("a move of which game? Name it by --sgf", param_hint="--move")
        return Game(size or 19)
    return load_sgf(sgf)[0].replay(before_move=move)
