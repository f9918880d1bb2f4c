"""Every search that is registered keeps the contract of a search, and its settings that of settings."""

from __future__ import annotations

import tomllib

import pytest

from helpers.doubles import CompiledHashEvaluator, HashEvaluator
from katachi.core import registry
from katachi.core.conformance import check_player, check_search, sample_games
from katachi.core.contracts import Limit
from katachi.core.registry import System
from katachi.players.search_player import SearchPlayer, change_parameter, list_parameters
from katachi.players.specs import parse_spec
from katachi.search.settings import GreedySettings, SearchSettings, find_settings, search_kinds

QUICK = {"mcts": {"threads": 1, "megabytes": 8.0, "priors": "synchronous", "reuse": False}, "td": {"reuse": False}}
KINDS = list(search_kinds())


def quick(kind: str) -> SearchSettings:
    """Settings of a kind with which the same random numbers lead to the same move."""
    return search_kinds()[kind](**QUICK.get(kind, {}))


@pytest.mark.parametrize("kind", KINDS)
def test_settings_go_out_and_come_back(kind):
    settings = quick(kind)
    assert settings.kind == kind
    table = settings.model_dump()
    assert find_settings(table).model_validate(table) == settings
    assert tomllib.loads(to_toml("search", table))["search"] == table
    spec = parse_spec(f'kind = "search"\n{to_toml("search", table)}')
    assert spec.search == settings
    assert hash(settings) == hash(spec.search), "they are frozen"


def to_toml(name: str, table: dict) -> str:
    inner = [to_toml(f"{name}.{key}", value) for key, value in table.items() if isinstance(value, dict)]
    words = {True: "true", False: "false"}
    lines = [
        f"{key} = {words[value] if isinstance(value, bool) else repr(value)}"
        for key, value in table.items()
        if not isinstance(value, dict)
    ]
    return "\n".join([f"[{name}]", *lines, *inner])


@pytest.mark.parametrize("kind", KINDS)
def test_every_setting_but_the_kind_is_a_parameter(kind):
    settings = quick(kind)
    listed = list_parameters("search", settings)
    assert "search.kind" not in listed
    assert {name.split(".")[1] for name in listed} == type(settings).model_fields.keys() - {"kind"}
    for name, value in listed.items():
        assert change_parameter(settings, name.removeprefix("search."), str(value)) == settings


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("evaluator", [None, HashEvaluator(), CompiledHashEvaluator()])
def test_search(kind, evaluator):
    settings = quick(kind)
    if evaluator is None and settings.needs_evaluator:
        with pytest.raises(ValueError, match=f"the {kind} search needs an evaluator"):
            settings.build(None)
        return
    if evaluator is not None and kind == "td":
        with pytest.raises(ValueError, match="a model of local shapes"):
            settings.build(evaluator)
        return
    search = settings.build(evaluator)
    assert search.settings == settings
    assert search.evaluator is evaluator
    limit = Limit(simulations=60, depth=2)
    check_search(search, games=sample_games(sizes=(3, 5)), limit=limit)
    player = SearchPlayer(kind, settings.build(evaluator))
    check_player(player, games=sample_games(sizes=(5,)), limit=limit)


class PatientSettings(GreedySettings):
    """The settings of a search of another package."""

    kind: str = "patient"
    patience: int = 3


def test_a_search_of_another_package(monkeypatch):
    other = System("other", "Of another package", searches={"patient": f"{__name__}:PatientSettings"})
    monkeypatch.setattr(registry, "systems", lambda: {"other": other})
    monkeypatch.setattr("katachi.search.settings.resolve", lambda reference: globals()[reference.partition(":")[2]])
    assert list(search_kinds())[-1] == "patient"
    spec = parse_spec('kind = "search"\n[search]\nkind = "patient"\npatience = 5')
    assert isinstance(spec.search, PatientSettings)
    assert spec.search.patience == 5
