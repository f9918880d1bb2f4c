"""The registry: all that systems refer to is there, and is found by the names of today and by former ones."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace

import pytest

from katachi.core import registry
from katachi.core.cards import ModelCard
from katachi.core.linear import FeatureCard
from katachi.core.registry import (
    System,
    UnknownName,
    current_name,
    find,
    find_card,
    references,
    resolve,
    system_of_card,
    systems,
)

TABLES = ("cards", "feature_cards", "trainings", "releases", "searches", "warmup")
REFERENCES = [reference for table in TABLES for reference in references(table).values()]
DRAWN = [system.draw for system in systems().values() if system.draw is not None]


@pytest.mark.parametrize("reference", [*REFERENCES, *DRAWN])
def test_everything_that_systems_refer_to_is_there(reference):
    assert resolve(reference) is not None


def test_systems_are_named_like_their_packages():
    for name, system in systems().items():
        assert name == system.name
        assert resolve(f"katachi.{name}:SYSTEM") is system
        assert system.title


@pytest.mark.parametrize(("table", "base"), [("cards", ModelCard), ("feature_cards", FeatureCard)])
def test_cards_have_the_kind_under_which_they_are_found(table, base):
    for kind, reference in references(table).items():
        card = resolve(reference)
        assert issubclass(card, base)
        assert card.model_fields["kind"].default == kind


def test_former_names():
    assert find_card("cnn") is find_card("policy")
    assert find_card("dag_rnn") is find_card("territory")
    assert current_name("cards", "linear") == "linear"
    assert current_name("trainings", "cnn") == "policy"
    assert system_of_card("dag_rnn").name == "territory"
    assert system_of_card("linear").name == "shapes"


def test_unknown_names_are_answered_by_the_nearest():
    with pytest.raises(UnknownName, match="there is no training called 'shape'; did you mean 'shapes'"):
        find("trainings", "shape")
    with pytest.raises(UnknownName, match="there is no kind of model called 'tree'; known are crbm, policy, linear"):
        find_card("tree")
    with pytest.raises(UnknownName, match="kind of model called 'tree'"):
        system_of_card("tree")


@pytest.fixture
def add_system(monkeypatch):
    """Let another package have a system."""

    def add(system: System) -> None:
        entry = SimpleNamespace(load=lambda: system)
        monkeypatch.setattr(registry, "entry_points", lambda group: [entry] if group == registry.GROUP else [])
        systems.cache_clear()

    yield add
    systems.cache_clear()


def test_names_are_unique(add_system):
    add_system(System("shapes", "again"))
    with pytest.raises(ValueError, match="two systems have a system called 'shapes'"):
        systems()
    add_system(System("other", "Another one", cards={"crbm": "other:Card"}))
    with pytest.raises(ValueError, match="two systems have a kind of model called 'crbm'"):
        references("cards")


def test_a_name_of_today_is_more_than_a_former_one(add_system):
    add_system(System("other", "Another one", cards={"cnn": "katachi.core.cards:ModelCard"}))
    assert list(systems()) == ["crbm", "policy", "shapes", "territory", "other"]
    assert current_name("cards", "cnn") == "cnn"
    assert system_of_card("cnn").name == "other"


def test_looking_through_it_imports_little():
    code = (
        "import sys; from katachi.core.registry import references, systems; systems(); references('cards');"
        "print(sorted({'numba', 'numpy', 'torch', 'pydantic', 'typer'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "[]"


def test_the_core_imports_no_system():
    code = (
        "import pkgutil, sys, katachi.core as core; from importlib import import_module;"
        "[import_module(f'katachi.core.{module.name}') for module in pkgutil.iter_modules(core.__path__)];"
        "names = ('shapes', 'policy', 'territory', 'crbm', 'players', 'search', 'data');"
        "print([name for name in sys.modules if name.startswith(tuple(f'katachi.{n}' for n in names))])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "[]"
