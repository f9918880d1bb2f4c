from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from helpers.small_sets import make_small_set
from katachi.papers.experiment import Budget, Scope, Workers
from katachi.papers.maddison2014 import figures as trend
from katachi.papers.maddison2014 import nets
from katachi.papers.maddison2014 import tables as table1
from katachi.papers.maddison2014 import tables as table2
from katachi.papers.maddison2014.nets import Net

MakeScope = Callable[..., Scope]
TINY = Net(2, 4, 256)


@pytest.fixture(scope="session")
def games(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A set of random games on 5×5."""
    return make_small_set(tmp_path_factory.mktemp("games"), training=20, validation=2, test=8)


@pytest.fixture(scope="session")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that all tests share, so that what one has learned another need not learn again."""
    return tmp_path_factory.mktemp("run")


@pytest.fixture
def make_scope(run: Path, games: Path, monkeypatch) -> MakeScope:
    """Scopes of tables, with networks that learn in a moment; no network ships."""
    monkeypatch.setitem(nets.MAIN, Budget.SMOKE, TINY)
    monkeypatch.setitem(nets.TEST_POSITIONS, Budget.SMOKE, 100)
    monkeypatch.setitem(table1.NETS, Budget.SMOKE, Net(2, 4, 256, table1.PLANES))
    monkeypatch.setitem(table2.PLANS, Budget.SMOKE, {TINY: 2})
    monkeypatch.setitem(trend.TREND_NETS, Budget.SMOKE, [TINY, Net(3, 4, 256)])
    monkeypatch.setattr(nets, "pretrained_models", list)

    def make(table: str, **changes) -> Scope:
        values = {"watch": lambda _: None, "runs": None, "workers": Workers(), "data": games} | changes
        return Scope(run / table, Budget.SMOKE, **values)

    return make
