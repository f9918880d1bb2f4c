from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from katachi.papers import tournaments as gnugo
from katachi.papers.experiment import Budget, Scope, Workers

MakeScope = Callable[..., Scope]


@pytest.fixture
def make_scope(tmp_path: Path) -> MakeScope:
    """Scopes in a folder that goes after the test."""

    def make(budget: Budget = Budget.SMOKE, **changes) -> Scope:
        values = {"watch": lambda progress: None, "runs": None, "workers": Workers()} | changes
        return Scope(tmp_path / "run", budget, **values)

    return make


@pytest.fixture
def random_gnugo(monkeypatch) -> None:
    """The random player in the place of GNU Go, installed or not."""
    monkeypatch.setattr(gnugo, "has_gnugo", lambda: True)
    monkeypatch.setattr("katachi.papers.search.strength.gnugo", lambda level: "random")


@pytest.fixture
def no_gnugo(monkeypatch) -> None:
    monkeypatch.setattr(gnugo, "has_gnugo", lambda: False)
