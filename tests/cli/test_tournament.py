from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from katachi.arena.settings import read_settings

RunKatachi = Callable[..., tuple[int, str, str]]
EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "cup.toml"
    path.write_text('players = ["random", "influence", "alp"]\nsize = 5\ngames = 4\n')
    return path


def test_json_is_one_object_with_ratings_and_pairs(file: Path, run_katachi: RunKatachi) -> None:
    code, out, _ = run_katachi("tournament", str(file), "--json", "--run", "cup")
    assert code == 0
    values = json.loads(out)
    assert {rating["player"] for rating in values["ratings"]} == {"random", "influence", "alp"}
    assert [pair["games"] for pair in values["pairs"]] == [4, 4, 4]
    assert values == json.loads((file.parent / "cup/results.json").read_text()) | {"run": "cup"}


def test_reports_are_written_where_asked(file: Path, run_katachi: RunKatachi) -> None:
    options = ("--markdown", "cup.md", "--html", "cup.html", "--title", "The cup")
    code, out, _ = run_katachi("tournament", str(file), *options)
    assert code == 0
    assert (file.parent / "cup.md").read_text().startswith("# The cup\n")
    assert "<title>The cup</title>" in (file.parent / "cup.html").read_text()
    assert "Ratings" in out


def test_a_dry_run_shows_the_settings_and_plays_nothing(file: Path, run_katachi: RunKatachi) -> None:
    code, shown, _ = run_katachi("tournament", str(file), "--dry-run", "--jobs", "3")
    assert code == 0
    assert shown.startswith("# 3 pairs, 4 games each")
    values = tomllib.loads(shown)
    assert (values["jobs"], values["komi"], values["max_moves"]) == (3, 7.5, 75)
    assert [path.name for path in file.parent.iterdir()] == ["cup.toml"]


def test_a_wrong_file_is_refused_with_the_nearest_setting(file: Path, run_katachi: RunKatachi) -> None:
    file.write_text('players = ["random", "alp"]\nkomii = 7.5\n')
    code, _, told = run_katachi("tournament", str(file))
    assert code == 2
    assert "komii is not a setting; did you mean 'komi'?" in told
    assert run_katachi("tournament", "none.toml")[0] == 2


def test_the_example_explains_every_setting() -> None:
    text = (EXAMPLES / "tournament.toml").read_text()
    settings = read_settings(EXAMPLES / "tournament.toml")
    assert list(settings.players) == ["random", "influence", "alp"]
    for key in _keys(settings.model_dump()):
        assert f"{key} = " in text or f"[{key}]" in text


def _keys(values: dict[str, object]) -> list[str]:
    keys = []
    for key, value in values.items():
        keys += _keys(value) if isinstance(value, dict) and key != "players" else []
        keys += [] if isinstance(value, dict) else [key]
    return keys


def test_the_simple_players_example_is_a_tournament() -> None:
    settings = read_settings(EXAMPLES / "simple-players.toml")
    assert settings.games >= 100
    assert "{seed}" in settings.players["gnugo"]


def test_without_a_size_the_board_is_one_that_all_players_can_play(file: Path, run_katachi: RunKatachi) -> None:
    file.write_text('players = ["random", "shapes-5"]\n')
    code, shown, _ = run_katachi("tournament", str(file), "--dry-run")
    assert (code, tomllib.loads(shown)["size"]) == (0, 5)
    file.write_text('players = ["shapes-9", "shapes-5"]\n')
    code, _, said = run_katachi("tournament", str(file), "--dry-run")
    assert (code, said) == (2, "katachi: shapes-5 plays on 5×5 alone, and shapes-9 on 9×9\n")
