from __future__ import annotations

from katachi.papers.tournaments import player_values, write_players, write_rating
from katachi.players.specs import RatingTable, load_player, parse_spec


def test_made_up_players_can_be_loaded(tmp_path):
    files = write_players({"my ALP": {"kind": "alp", "name": "größer"}}, tmp_path / "players")
    assert files == {"my ALP": str(tmp_path / "players" / "my-ALP.toml")}
    assert load_player(files["my ALP"]).name == "größer"


def test_shipped_players_are_read():
    assert player_values("alp", 9)["kind"] == "alp"
    strong = player_values("strong-9", 9)
    assert (strong["kind"], strong["evaluator"]["model"]) == ("search", "expert-9")


def test_a_rating_takes_the_place_of_an_earlier_one_wherever_it_stands(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(
        'kind = "search"  # mine\n[rating]\nvalue = 1\nlow = 0\nhigh = 2\nscale = "[x]"\n[search]\nkind = "mcts"'
    )
    write_rating(path, RatingTable(value=7, low=6, high=8, scale="y"))
    text = path.read_text()
    assert text.startswith('kind = "search"  # mine\n[search]\nkind = "mcts"\n')
    assert text.count("[rating]") == 1
    assert parse_spec(text).rating == RatingTable(value=7, low=6, high=8, scale="y")
