"""What ARCHITECTURE.md says of adding things, done: a search, a GTP command, a board layer, a paper.

An evaluator is added in tests/core/test_fifth_system.py.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from katachi import papers
from katachi.analysis.layers import LAYERS, LayerKind, layers_of
from katachi.core.contracts import Limit
from katachi.core.registry import System, systems
from katachi.go.game import Game
from katachi.gtp.engine import GtpEngine, commands
from katachi.papers.experiment import experiment_names, load_experiment
from katachi.players.specs import load_player

SEARCH = """
from typing import ClassVar, Literal

import numpy as np

from katachi.core.contracts import SearchResult
from katachi.search.settings import SearchSettings


class FirstMoveSettings(SearchSettings):
    search_class: ClassVar[str] = "first_move:FirstMoveSearch"
    needs_evaluator: ClassVar[bool] = False
    kind: Literal["first"] = "first"
    number: int = 0


class FirstMoveSearch:
    def __init__(self, evaluator, settings):
        self.evaluator, self.settings = evaluator, settings

    def search(self, game, limit, rng):
        legal = game.legal_moves()
        move = int(np.flatnonzero(legal)[self.settings.number])
        return SearchResult(move, 0.5, np.zeros(legal.size, dtype=np.int64))
"""

PAPER = """
from katachi.papers.experiment import Experiment, Row, Table


class Sums(Table):
    name, title = "sums", "Sums"

    def measure(self, scope):
        return {"ours": 1 + 1}

    def rows(self, results):
        return [Row("sums/two", "one and one", 2, results["ours"], None)]

    def section(self, results):
        return "One and one."


EXPERIMENT = Experiment("nobody1900", "Sums", (Sums(),), "Nobody 1900.")
"""


def test_a_search(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "first_move.py").write_text(SEARCH)
    monkeypatch.syspath_prepend(tmp_path)
    added = System("first", "The first move", searches={"first": "first_move:FirstMoveSettings"})
    monkeypatch.setitem(systems(), "first", added)
    path = tmp_path / "first.toml"
    path.write_text('kind = "search"\n[search]\nkind = "first"\nnumber = 3\n')
    assert load_player(str(path), seed=1).decide(Game(5), Limit()).move == 3


def test_a_gtp_command(monkeypatch: pytest.MonkeyPatch) -> None:
    for table in ("_handlers", "_signatures"):
        monkeypatch.setattr(commands, table, dict(getattr(commands, table)))

    @commands.command("count_stones")
    def count_stones(session) -> str:
        return str(int(np.count_nonzero(session.game.board.stones)))

    engine = GtpEngine(load_player("random", seed=1))
    engine.answer("play black c3")
    assert engine.answer("count_stones") == b"= 1\n\n"


def test_a_layer() -> None:
    class EdgeLayer(LayerKind):
        """How far each point is from the edge."""

        name, title, button, legend = "edge", "Distance from the edge", "Edge", "Lines from the edge."

        def of_game(self, game):
            lines = np.minimum(np.arange(game.size), np.arange(game.size)[::-1]).astype(float)
            return self._numbers(np.minimum.outer(lines, lines).ravel(), 0, game.size)

    try:
        (layer,) = [layer for layer in layers_of(Game(5)) if layer.name == "edge"]
    finally:
        LAYERS.pop("edge")
    assert layer.values[12] == 2


def test_a_paper(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "nobody1900").mkdir()
    (tmp_path / "nobody1900" / "__init__.py").write_text(PAPER)
    monkeypatch.setattr(papers, "__path__", [*papers.__path__, str(tmp_path)])
    assert "nobody1900" in experiment_names()
    (row,) = load_experiment("nobody1900").rows({"sums": {"ours": 2}})
    assert (row.published, row.ours, row.run) == (2, 2, "nobody1900/sums")
    sys.modules.pop("katachi.papers.nobody1900")
