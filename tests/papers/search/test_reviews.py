"""Reviews of reviews: claims counted by hand, and a small set reviewed."""

from __future__ import annotations

import pytest

from helpers.small_sets import make_small_set
from katachi.analysis.records import MoveRecord, PositionRecord
from katachi.papers.experiment import ExperimentError
from katachi.papers.search import learned
from katachi.papers.search.learned import CRITERIA, Review
from katachi.papers.search.positions import read_game
from katachi.papers.tournaments import open_games
from katachi.sgf.files import Split

TABLE = Review()


def test_a_game_is_read_as_it_was_played(tmp_path):
    games = open_games(make_small_set(tmp_path, training=1, validation=1, test=2), [Split.TEST])
    for number in range(2):
        game = read_game(games.dataset, number)
        moves, colors = games.dataset.moves_of(number)
        assert [play.move for play in game.moves] == moves.tolist()
        assert [play.color for play in game.moves] == colors.tolist()


def test_what_is_counted():
    def position(turn: int, **changes) -> PositionRecord:
        move = MoveRecord(number=turn, color="black", move="C3", **changes)
        return PositionRecord(game="", turn=turn, node=turn, to_play="white", black_wins=0.5, move=move)

    game = [
        position(1, loss=0.2, is_most_probable=True),
        position(2, loss=0.1),
        position(3, loss=0.3),
        position(4, loss=0.01),
    ]
    assert [move.number for move in CRITERIA["claimed"](game)] == [3, 2]
    assert [move.number for move in CRITERIA["plain difference"](game)] == [3, 1, 2]


def test_games_are_reviewed_and_told(tmp_path, make_scope, monkeypatch):
    monkeypatch.setattr(learned, "LONGER", 2)
    data = make_small_set(tmp_path, training=1, validation=1, test=40)
    results = TABLE.measure(make_scope(data=data, runs=1))
    (found,) = results["sets"].values()
    (game,) = found["games"]
    assert sum(side["moves"] for side in game["sides"]) > 2
    for counts in game["criteria"].values():
        assert counts["claims"] >= counts["top"] >= max(counts["again"], counts.get("holds", 0))
    assert game["criteria"]["claimed"]["claims"] <= game["criteria"]["plain difference"]["claims"]
    assert game["criteria"]["claimed"]["most probable"] == 0
    assert results == TABLE.measure(make_scope(data=data, runs=1)), "what was kept"
    rows = list(TABLE.rows(results))
    assert len(rows) == 3
    assert "plain difference" in TABLE.section(results)


def test_games_are_needed(make_scope):
    with pytest.raises(ExperimentError, match="--data SET"):
        TABLE.measure(make_scope())
