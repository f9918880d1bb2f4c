"""The first notebook runs from top to bottom, and is kept with what it shows.

``python tests/examples/test_notebook.py`` executes it and keeps the outputs.
"""

from __future__ import annotations

import re
from pathlib import Path
from tempfile import TemporaryDirectory

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOK = Path(__file__).parents[2] / "examples" / "first_notebook.ipynb"


def execute() -> nbformat.NotebookNode:
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    with TemporaryDirectory() as folder:
        client = NotebookClient(notebook, timeout=250, resources={"metadata": {"path": folder}}, record_timing=False)
        client.execute()
    return notebook


@pytest.fixture(scope="module", params=["kept", "executed"])
def notebook(request):
    return execute() if request.param == "executed" else nbformat.read(NOTEBOOK, as_version=4)


def outputs(notebook, word: str) -> dict[str, str]:
    """What the cell that contains a word shows, by kind, and what it prints."""
    (cell,) = (cell for cell in notebook.cells if cell.cell_type == "code" and word in cell.source)
    shown = {}
    for output in cell.outputs:
        shown |= output.get("data", {"text": output.get("text", "")})
    return shown


@pytest.mark.parametrize("word", ["parse_vertex", "ownership_layer(", "play_match("])
def test_boards_games_and_ownership_draw_themselves(notebook, word):
    assert outputs(notebook, word)["image/svg+xml"].startswith("<svg")


def test_models_and_moves_are_explained(notebook):
    assert "the largest of them" in outputs(notebook, "a model shows")["text/html"]
    assert outputs(notebook, "describe_move(")["text"].startswith("move ")


def test_it_evaluates_searches_plays_and_learns(notebook):
    assert re.search(r"Black wins \d+%, expected lead [+-]\d", outputs(notebook, "ownership_layer(")["text"])
    assert re.search(r"most visited: \[\('[A-J]\d', \d+\)", outputs(notebook, "class Stones")["text"])
    assert re.match(r"stones against alp: \d–\d", outputs(notebook, "play_match(")["text"])
    assert "2000 games: wins" in outputs(notebook, "train_shapes(")["text"]


def test_it_is_kept_whole_and_small():
    text = NOTEBOOK.read_text(encoding="utf-8")
    notebook = nbformat.reads(text, as_version=4)
    nbformat.validate(notebook)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(cell.outputs and cell.execution_count for cell in cells)
    assert len(text) < 100_000
    assert not re.search(r"/(home|tmp|work|usr|var|root)/|\bstderr\b| at 0x", text)


if __name__ == "__main__":
    text = nbformat.writes(execute())
    NOTEBOOK.write_text(re.sub(r" at 0x[0-9a-f]+", "", text) + "\n", encoding="utf-8")
