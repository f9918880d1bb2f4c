from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from helpers.small_sets import label_small_set, make_small_set
from katachi.papers.experiment import Budget, Scope, Workers
from katachi.papers.wu2006 import figures as bootstrap
from katachi.papers.wu2006 import figures as figure2
from katachi.papers.wu2006 import figures as figure3
from katachi.papers.wu2006 import nets
from katachi.papers.wu2006 import tables as moves
from katachi.papers.wu2006 import tables as points
from katachi.papers.wu2006 import tables as table2
from katachi.papers.wu2006.tables import Question

MakeScope = Callable[..., Scope]


@pytest.fixture(scope="session")
def games(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A labeled set of random games on 5×5."""
    path = make_small_set(tmp_path_factory.mktemp("small"), training=12, validation=8, test=12)
    label_small_set(path)
    return path


@pytest.fixture(scope="session")
def large_games(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A set of random games on a larger board, without labels; a quarter of them is even."""
    return make_small_set(tmp_path_factory.mktemp("large"), size=7, training=1, validation=12, test=24)


@pytest.fixture(scope="session")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that all tests share, so that what one has learned another need not learn again."""
    return tmp_path_factory.mktemp("run")


@pytest.fixture
def make_scope(run: Path, games: Path, large_games: Path, monkeypatch: pytest.MonkeyPatch) -> MakeScope:
    """Scopes of tables on tiny boards, with networks that learn in a moment; no network ships."""
    monkeypatch.setitem(nets.POSITIONS, Budget.SMOKE, {"paper": 320, "mover": 320, "strong": 320})
    monkeypatch.setitem(nets.VALIDATION_POSITIONS, Budget.SMOKE, 30)
    monkeypatch.setitem(moves.FITTED, Budget.SMOKE, 2)
    monkeypatch.setitem(bootstrap.POSITIONS, Budget.SMOKE, 200)
    monkeypatch.setattr(bootstrap, "SIZES", (5,))
    monkeypatch.setattr(moves, "_BLOCK", 3)
    monkeypatch.setitem(points.POSITIONS, Budget.SMOKE, 10)
    monkeypatch.setattr(table2, "QUESTIONS", {9: Question(5), 13: Question(6), 19: Question(7, 8, 11)})
    monkeypatch.setitem(table2.MOVES, Budget.SMOKE, 4)
    for module in (figure2, figure3):
        monkeypatch.setattr(module, "LARGE", 7)
    monkeypatch.setattr(figure2, "PHASES_ASKED", (4, 8))
    monkeypatch.setitem(figure2.MOVES, Budget.SMOKE, 3)
    monkeypatch.setattr(figure3, "QUESTION", Question(7, 8, 11))
    monkeypatch.setattr(nets, "pretrained_models", list)

    def make(table: str, **changes: object) -> Scope:
        values = {"watch": lambda _: None, "runs": None, "workers": Workers(), "data": games} | changes
        return Scope(run / table, Budget.SMOKE, **{"more_data": (large_games,), **values})

    return make
