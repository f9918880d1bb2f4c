from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from helpers.small_sets import make_small_set
from katachi.papers.experiment import Budget, Scope, Workers
from katachi.papers.largman2010 import play
from katachi.papers.largman2010 import play as learned

MakeScope = Callable[..., Scope]


@pytest.fixture(scope="session")
def games(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A set of random games on 5×5."""
    return make_small_set(tmp_path_factory.mktemp("games"), training=20, validation=2, test=40)


@pytest.fixture(scope="session")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that all tests share, so that what one has learned another need not learn again."""
    return tmp_path_factory.mktemp("run")


@pytest.fixture
def make_scope(run: Path, games: Path, monkeypatch) -> MakeScope:
    """Scopes of tables whose CRBMs and values learn in a moment, without GNU Go."""
    monkeypatch.setitem(learned.LEARNED_PLANS, Budget.SMOKE, learned.LearnedPlan(200, 4, 1))
    monkeypatch.setattr(play, "has_gnugo", lambda: False)

    def make(table: str, **changes) -> Scope:
        values = {"watch": lambda _: None, "runs": None, "workers": Workers(), "data": games} | changes
        return Scope(run / table, Budget.SMOKE, **values)

    return make
