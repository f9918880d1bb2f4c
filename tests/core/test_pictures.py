"""SVG, page and text: well formed, with as many stones as there are, and nothing of a file becomes markup."""

from __future__ import annotations

import io
import re
import xml.etree.ElementTree as ElementTree

import pytest
from rich.console import Console

from katachi.core.drawing import (
    Cell,
    Drawing,
    DrawRequest,
    LearnedSet,
    LearnedShape,
    Section,
    Shape,
    describe_shape,
    draw_figure,
    draw_model,
    draw_shape,
    draw_text,
    format_weight,
    list_figures,
    show_card,
    show_sets,
)
from katachi.core.models import find_model, open_model
from katachi.go.diagrams import STONE_FILLS
from katachi.go.game import Game
from katachi.go.points import BLACK, EMPTY, WHITE

SVG = "{http://www.w3.org/2000/svg}"
MINE, THEIRS, NONE = Cell(BLACK), Cell(WHITE), Cell(EMPTY)
ANYWHERE = Shape(2, 2, (MINE, THEIRS, NONE, MINE), 9)
CORNER = Shape(2, 1, (MINE, NONE), 9, place=(1, 2))
WHOLE = Shape(3, 3, (MINE,) * 9, 3, place=(0, 0))
LIBERTIES = Shape(2, 1, (Cell(BLACK, 1), Cell(WHITE, 2)), 9)
EVIL = "<script>\"&'</script>"


def learned(shape, weight=0.25, words="a shape"):
    return LearnedShape(0, weight, words, shape)


def parse(text):
    return ElementTree.fromstring(text)


def fills(svg):
    return [circle.get("fill") for circle in parse(svg).iter(f"{SVG}circle")]


@pytest.mark.parametrize(("shape", "black", "white"), [(ANYWHERE, 2, 1), (CORNER, 1, 0), (WHOLE, 9, 0), (None, 0, 0)])
def test_stones(shape, black, white):
    drawn = fills(draw_shape(shape))
    assert (drawn.count(STONE_FILLS[BLACK]), drawn.count(STONE_FILLS[WHITE])) == (black, white)


def lines(svg, width):
    """How many lines there are of a width."""
    paths = [path for path in parse(svg).iter(f"{SVG}path") if path.get("stroke-width") == width]
    return sum(path.get("d").count("M") for path in paths)


@pytest.mark.parametrize(("shape", "grid", "edges"), [(ANYWHERE, 4, 0), (CORNER, 4 + 4, 2), (WHOLE, 6, 4)])
def test_edges_are_where_the_board_ends(shape, grid, edges):
    """A placed shape shows the corner and one line beyond itself; a board no larger than the shape has four edges."""
    svg = draw_shape(shape)
    assert (lines(svg, "1"), lines(svg, "2.2")) == (grid, edges)


def test_stones_stand_where_they_are():
    (circle,) = parse(draw_shape(CORNER)).iter(f"{SVG}circle")
    assert float(circle.get("cx")) == pytest.approx(16 * 1.62)
    assert float(circle.get("cy")) == pytest.approx(16 * 2.62)


def test_liberties_are_written_on_stones():
    assert [text.text for text in parse(draw_shape(LIBERTIES)).iter(f"{SVG}text")] == ["1", "2+"]


def test_titles_are_text():
    root = parse(draw_shape(ANYWHERE, EVIL))
    assert (root.get("role"), root.find(f"{SVG}title").text) == ("img", EVIL)


def test_figure():
    rows = [
        LearnedSet(f"LI {EVIL}", (learned(ANYWHERE, words=EVIL), learned(CORNER, -0.5))),
        LearnedSet("empty", ()),
    ]
    root = parse(draw_figure(rows, EVIL))
    texts = [text.text for text in root.iter(f"{SVG}text")]
    assert texts == [EVIL, f"LI {EVIL}", "+0.250", "−0.500", "empty"]
    assert [text.get("class") for text in root.iter(f"{SVG}text")][2:4] == ["up", "down"]
    assert len(fills(draw_figure(rows))) == 4
    parse(draw_figure([]))


def test_words():
    assert format_weight(-1.23456) == "−1.235"
    assert describe_shape(learned(ANYWHERE)) == "a shape: +0.250"


def test_page():
    shapes = list_figures([learned(LIBERTIES, words=EVIL), learned(None, -0.5)])
    page = Drawing(EVIL, EVIL, (Section(EVIL, shapes, ((EVIL, EVIL),)), Section("", ())), "", "").format_page(
        [(EVIL, EVIL)]
    )
    assert "<script" not in page
    assert page.count("<figure>") == page.count("<svg") == 2
    assert re.findall(r'<figcaption class="(\w+)">', page) == ["up", "down"]
    assert page.count("Nothing was learned.") == 1
    assert not re.search(r"(src|href)=|@import|url\((?!#)", page)  # it needs nothing else


@pytest.mark.parametrize("name", ["shapes-5", "policy-9", "territory-9", "crbm-9"])
def test_every_system_draws_its_models(name):
    drawing = draw_model(open_model(find_model(name)), DrawRequest(name, per_set=2, board_size=5))
    assert name in drawing.title
    assert all(parse(figure.svg).tag == f"{SVG}svg" for section in drawing.sections for figure in section.figures)
    assert parse(drawing.svg).tag == f"{SVG}svg"
    console = Console(file=io.StringIO(), width=100)
    console.print(drawing.text)
    assert console.file.getvalue().strip()


def test_in_a_game_a_model_is_drawn_as_what_it_would_play():
    drawing = draw_model(open_model(find_model("shapes-5")), DrawRequest("shapes-5", game=Game(5)))
    assert drawing.title == "What shapes-5 would play"
    (section,) = drawing.sections
    assert (section.title, len(section.rows)) == ("Empty board", 10)


def test_text():
    assert draw_text(ANYWHERE) == "X O\n. X"
    assert draw_text(CORNER) == "┌──────\n│\n│\n│   X ."
    assert draw_text(Shape(2, 2, (Cell(BLACK, 1), NONE, NONE, Cell(WHITE, 0)), 9)) == "X1 .\n.  O0"


def test_terminal():
    console = Console(file=io.StringIO(), width=60, color_system=None)
    rows = [LearnedSet("LI 2×2", (learned(ANYWHERE), learned(None, words="bin 3"))), LearnedSet("LD 1×1", ())]
    console.print(show_card([("model", "[bold]plain[/bold]")]), show_sets(rows))
    shown = console.file.getvalue()
    for part in ("[bold]plain[/bold]", "LI 2×2", "X O", "+0.250", "? (bin 3)", "nothing was learned"):
        assert part in shown
