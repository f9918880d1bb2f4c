from __future__ import annotations

import json

from katachi.players.specs import bundled_players, parse_spec

PRETRAINED = [player.name for player in bundled_players()]


def test_list(run_katachi):
    ran = run_katachi("players")
    assert ran.code == 0
    lines = ran.out.splitlines()
    assert [line.split()[0] for line in lines] == PRETRAINED
    assert all(player.description in line for player, line in zip(bundled_players(), lines, strict=True))


def test_json(run_katachi):
    players = json.loads(run_katachi("players", "--json").out)["players"]
    assert [player["name"] for player in players] == PRETRAINED
    assert set(players[0]) == {"name", "kind", "description", "rating"}


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
