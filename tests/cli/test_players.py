from __future__ import annotations

import json

import pytest

from katachi.players.specs import bundled_players, parse_spec

PRETRAINED = [player.name for player in bundled_players()]


def test_list(run_katachi):
    ran = run_katachi("players")
    assert ran.code == 0
    lines = ran.out.splitlines()
    names = [line.split()[0] for line in lines if line[0] != " "]
    assert names[: len(PRETRAINED)] == PRETRAINED
    assert set(names[len(PRETRAINED) :]) <= {"Elo", "Ranks"}, "what ratings are counted from"
    text = " ".join(ran.out.split())
    assert all(f"{player.name} {player.description}" in text for player in bundled_players())


@pytest.mark.parametrize("command", ["players", "models"])
def test_lists_fit_into_80_columns(run_katachi, monkeypatch, command):
    monkeypatch.setenv("COLUMNS", "80")
    ran = run_katachi(command)
    assert max(map(len, ran.out.splitlines())) <= 80
    assert "…" not in ran.out
    assert ran.err.startswith("katachi: next: katachi ")


def test_json(run_katachi):
    players = json.loads(run_katachi("players", "--json").out)["players"]
    assert [player["name"] for player in players] == PRETRAINED
    assert set(players[0]) == {"name", "kind", "description", "ratings"}


def test_show_prints_a_spec(run_katachi):
    ran = run_katachi("players", "show", "influence")
    assert parse_spec(ran.out).kind == "influence"


def test_show_what_is_not_there(run_katachi, tmp_path):
    ran = run_katachi("players", "show", "influense")
    assert (ran.code, ran.out) == (2, "")
    assert "did you mean 'influence'?" in ran.err
    file = tmp_path / "mine.toml"
    file.write_text('kind = "alp"')
    assert run_katachi("players", "show", str(file)).code == 2
