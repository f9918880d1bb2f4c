from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from katachi.arena.settings import SettingsError, TournamentSettings, parse_settings, read_settings
from katachi.core.contracts import Limit

TWO = {"players": ["random", "alp"]}


@pytest.mark.parametrize(
    "line", ["games = 10000000000", "jobs = 100000", "seed = -1", "limit = {seconds = 1e300}", f"seed = {'9' * 5000}"]
)
def test_values_that_are_out_of_range_are_refused(tmp_path, line):
    path = tmp_path / "t.toml"
    path.write_text(f'{line}\n[players]\na = "random"\nb = "alp"\n')
    with pytest.raises(SettingsError) as caught:
        read_settings(path)
    assert len(str(caught.value)) < 300


def test_players_alone_are_enough() -> None:
    settings = parse_settings(TWO)
    assert settings.players == {"random": "random", "alp": "alp"}
    assert (settings.size, settings.game_rules.komi, settings.move_limit) == (9, 7.5, 243)


def test_komi_and_move_limit_follow_rules_and_size_unless_given() -> None:
    settings = parse_settings(TWO | {"rules": "japanese", "size": 5})
    assert (settings.resolved().komi, settings.resolved().max_moves) == (6.5, 75)
    assert parse_settings(TWO | {"komi": 0.5, "max_moves": 7}).resolved().max_moves == 7


def test_the_limit_reaches_the_players() -> None:
    settings = parse_settings(TWO | {"limit": {"seconds": 2, "simulations": 50}})
    assert settings.limit.limit == Limit(simulations=50, seconds=2.0)


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"gmaes": 3}, "gmaes is not a setting; did you mean 'games'?"),
        ({"openings": {"random_plys": 3}}, "openings.random_plys is not a setting; did you mean 'random_plies'?"),
        ({"limit": {"xyzzy": 3}}, "limit.xyzzy is not a setting; known are seconds, simulations, grace, lose_on_time"),
        ({"size": 20}, "size: Input should be less than or equal to 19"),
        ({"size": "9"}, "size: Input should be a valid integer"),
        ({"games": True}, "games: Input should be a valid integer"),
        ({"komi": float("nan")}, "komi"),
        ({"rules": "chinesse"}, "did you mean 'chinese'?"),
        ({"referee": "gnugo"}, "'gnugo' is not a referee; say estimate, count or gtp:COMMAND"),
        ({"players": ["alp"]}, "a tournament needs two players or more"),
        ({"players": ["alp", "alp"]}, "a player is listed twice"),
        ({"players": {"a": "alp", "b": " "}}, "the player 'b' is blank"),
        ({"report": {"anchor": "gnugo"}}, "the anchor 'gnugo' is none of the players random, alp"),
        ({"openings": {"book_plies": 4}}, "book_plies needs a book"),
        ({"sprt": {"elo0": 0.0, "elo1": 0.0}}, "elo0 must be below elo1"),
        ({"sprt": {"elo0": 0.0, "elo": 9.0}}, "sprt.elo is not a setting; did you mean 'elo0'?"),
        ({"players": ["a", "b", "c"], "sprt": {"elo0": 0.0, "elo1": 9.0}}, "is for two players"),
        ({"scheme": "swiss"}, "scheme: Input should be 'round-robin', 'gauntlet' or 'ladder'"),
    ],
)
def test_a_wrong_setting_is_refused_by_name(values: dict[str, object], sentence: str) -> None:
    with pytest.raises(SettingsError) as caught:
        parse_settings(TWO | values)
    assert sentence in str(caught.value)


def test_players_are_required() -> None:
    with pytest.raises(SettingsError, match="players: Field required"):
        parse_settings({})


def test_reading_a_file_resolves_paths_beside_it_and_names_it_in_errors(tmp_path: Path) -> None:
    file = tmp_path / "cup.toml"
    file.write_text('[players]\nours = "mine.toml"\ntheirs = "gtp:x --config a.toml"\n[openings]\nbook = "b.sgf"\n')
    settings = read_settings(file)
    assert settings.players == {"ours": str(tmp_path / "mine.toml"), "theirs": "gtp:x --config a.toml"}
    assert settings.openings.book == str(tmp_path / "b.sgf")
    file.write_text("siez = 9")
    with pytest.raises(SettingsError, match=r"cup\.toml: players: .*siez is not a setting; did you mean 'size'"):
        read_settings(file)
    file.write_text("size = ")
    with pytest.raises(SettingsError, match=r"cup\.toml is not a TOML file"):
        read_settings(file)
    with pytest.raises(SettingsError, match=r"cannot read .*none\.toml"):
        read_settings(tmp_path / "none.toml")


names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(str.strip)


@given(players=st.dictionaries(names, names, min_size=2, max_size=4), komi=st.floats(-100, 100))
def test_the_toml_of_settings_reads_back(players: dict[str, str], komi: float) -> None:
    settings = parse_settings({"players": players, "komi": komi, "limit": {"seconds": 0.25}})
    assert parse_settings(tomllib.loads(settings.to_toml())) == settings


def settings_with(**values: object) -> TournamentSettings:
    return parse_settings(TWO | values)


def test_differences_name_what_changes_the_games() -> None:
    there = settings_with(komi=7.5, seed=1)
    here = settings_with(komi=6.5, seed=1, openings={"random_plies": 4})
    assert there.differences(here) == [
        "komi is 7.5 there and 6.5 here",
        "openings.random_plies is 2 there and 4 here",
    ]
    assert settings_with().differences(settings_with(limit={"seconds": 1.0})) == [
        "limit.seconds is not set there and 1.0 here"
    ]


def test_differences_ignore_what_cannot_change_the_games() -> None:
    here = settings_with(jobs=4, report={"anchor": "alp", "exclude_duplicates": True})
    assert settings_with().differences(here) == []
    assert settings_with().digest() == here.digest()
    assert settings_with().differences(settings_with(komi=7.5, max_moves=243)) == []


def test_the_order_of_players_matters_because_it_numbers_the_pairs() -> None:
    assert parse_settings(TWO).differences(parse_settings({"players": ["alp", "random"]}))


def test_digests_tell_what_follows_a_player_file(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text("kind = 'search'\n[search]\nkind = 'mcts'\n")
    players = (str(file), f"{file} limit.simulations=5", f"{file} limit.simulations=6")
    settings = [parse_settings({"players": {"mine": text, "alp": "alp"}}) for text in players]
    assert len({each.digest() for each in settings}) == 3
    assert [list(each.input_digests()) for each in settings] == [[text] for text in players]
    (tmp_path / "copy.toml").write_bytes(file.read_bytes())
    moved = f"{tmp_path / 'copy.toml'} limit.simulations=5"
    assert parse_settings({"players": {"mine": moved, "alp": "alp"}}).digest() == settings[1].digest()


def test_digests_tell_a_changed_player_file(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text("kind = 'alp'")
    settings = parse_settings({"players": {"mine": str(file), "gnugo": "gtp:gnugo --config x.toml"}})
    before = settings.input_digests()
    file.write_text("kind = 'random'")
    assert list(before) == [str(file)]
    assert settings.input_digests() != before
