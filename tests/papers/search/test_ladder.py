from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from katachi.papers.documents import format_section
from katachi.papers.experiment import ExperimentError
from katachi.papers.search.strength import LEVELS, Ladder, Ladder13, Ladder19, estimate_rank, write_cards
from katachi.players import specs
from katachi.players.specs import bundled_players, parse_spec

TABLE = Ladder()

PRETRAINED = Path(specs.__file__).parent / "shipped"

RESULTS = {
    "games": 60,
    "distinct": 59,
    "seconds": {"level-1": 0.0021, "level-2": 0.5, "GNU Go level 10": 0.1},
    "ratings": {"level-2": [1900, 1800, 2000], "GNU Go level 10": [1800, 1800, 1800], "level-1": [700, 600, 790]},
    "pairs": [
        {"first": "level-1", "second": "GNU Go level 10", "games": 20, "wins": 1, "draws": 0},
        {"first": "GNU Go level 10", "second": "level-2", "games": 20, "wins": 7, "draws": 0},
    ],
}


def test_each_level_meets_those_near_it(make_scope, monkeypatch, random_gnugo):
    rungs = dict.fromkeys(("level-1", "level-2", "level-3", "GNU Go level 10"), "random")
    monkeypatch.setattr(Ladder, "rungs", rungs)
    monkeypatch.setattr(Ladder, "size", 3)
    results = TABLE.measure(make_scope())
    assert results["games"] == 2 * 5
    assert ("level-1", "GNU Go level 10") not in {(pair["first"], pair["second"]) for pair in results["pairs"]}
    assert results["ratings"]["GNU Go level 10"] == [1800, 1800, 1800]
    assert {row.id for row in TABLE.rows(results)} == {f"ladder/{name.replace(' ', '-')}" for name in rungs}


def test_some_levels_alone_can_be_rated(make_scope, monkeypatch, random_gnugo):
    monkeypatch.setattr(Ladder, "rungs", dict.fromkeys(("level-1", "level-2", "GNU Go level 10"), "random"))
    monkeypatch.setattr(Ladder, "size", 3)
    results = TABLE.measure(replace(make_scope(), models=("level-2",)))
    assert set(results["ratings"]) == {"level-2", "GNU Go level 10"}


@pytest.mark.parametrize(("elo", "rank"), [(-500, "30k"), (1152, "25k"), (1800, "9k"), (2337, "1k"), (2418, "1d")])
def test_ranks_follow_from_elo_as_on_ogs(elo, rank):
    assert estimate_rank(elo) == rank


def test_the_text_comes_from_the_results(tmp_path):
    text = format_section(TABLE, RESULTS, tmp_path)
    assert "60 games on 9x9, where GNU Go level 10 is 1,800" in text
    assert "| level-2 | 1,900 (1,800 … 2,000) | 7k | 65.0 of 20 | 500 |" in text
    assert "| GNU Go level 10 | 1,800 | 9k | 95.0 of 20 | 100 |" in text
    assert "level-1" in (tmp_path / "ladder.svg").read_text()


def test_ratings_go_into_the_cards(tmp_path):
    for level in ("level-1", "level-2"):
        shutil.copy(PRETRAINED / f"{level}.toml", tmp_path)
    before = (tmp_path / "level-2.toml").read_text().partition("[boards.9.rating]")[0]
    assert write_cards({"ladder": RESULTS, "ladder-19": RESULTS}, tmp_path) == ["level-2", "level-1"]
    text = (tmp_path / "level-2.toml").read_text()
    assert text.startswith(before)
    rating = parse_spec(text).ratings["19"]
    assert (rating.value, rating.low, rating.high, rating.rank) == (1900, 1800, 2000, "7k")
    assert rating.scale == "on 19x19, where GNU Go level 10 is 1,800"
    assert "estimates" in rating.evidence
    write_cards({"ladder": RESULTS, "ladder-19": RESULTS}, tmp_path)
    assert (tmp_path / "level-2.toml").read_text() == text


def test_what_cannot_be_written(tmp_path):
    with pytest.raises(ExperimentError, match="the table ladder has not been measured"):
        write_cards({}, tmp_path)
    with pytest.raises(ExperimentError, match=r"there is no .*level-2\.toml"):
        write_cards({"ladder": RESULTS}, tmp_path)


def test_all_levels_ship_and_are_on_the_ladder_in_their_order():
    assert [player.name for player in bundled_players() if player.name.startswith("level-")] == list(LEVELS)
    for table in (Ladder(), Ladder13(), Ladder19()):
        assert [name for name in table.rungs if name in LEVELS] == list(LEVELS)
        assert [name for name in table.rungs if name not in LEVELS] == ["GNU Go level 0", "GNU Go level 10"]
