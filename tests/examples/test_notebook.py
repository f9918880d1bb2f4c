"""The first notebook runs from top to bottom, and everything in it shows itself."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOK = Path(__file__).parents[2] / "examples" / "first_notebook.ipynb"


@pytest.fixture(scope="module")
def executed(tmp_path_factory):
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    folder = str(tmp_path_factory.mktemp("notebook"))
    NotebookClient(notebook, timeout=250, resources={"metadata": {"path": folder}}).execute()
    return notebook


def outputs(notebook, word: str) -> dict[str, str]:
    """What the cell that contains a word shows, by kind, and what it prints."""
    (cell,) = (cell for cell in notebook.cells if cell.cell_type == "code" and word in cell.source)
    shown = {}
    for output in cell.outputs:
        shown |= output.get("data", {"text": output.get("text", "")})
    return shown


@pytest.mark.parametrize("word", ["Board.parse", "game_to_sgf(", "trained against alp"])
def test_boards_records_and_games_draw_themselves(executed, word):
    assert outputs(executed, word)["image/svg+xml"].startswith("<svg")


def test_models_and_analyses_show_themselves(executed):
    assert "the largest of them" in outputs(executed, "load_linear")["text/html"]
    assert 'class="graph"' in outputs(executed, "analyze_game(")["text/html"]
    assert outputs(executed, "analyze_position(")["text/html"].count("<svg") == 6


def test_it_learns(executed):
    assert "2000 games: wins" in outputs(executed, "ShapeTraining(")["text"]


def test_the_notebook_is_kept_without_outputs():
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbformat.validate(notebook)
    assert all(not cell.outputs for cell in notebook.cells if cell.cell_type == "code")
