from __future__ import annotations

import pytest

from helpers.small_sets import make_small_set
from katachi.papers.experiment import ExperimentError
from katachi.papers.maddison2014.tables import differences
from katachi.papers.tournaments import describe_set, require_games
from katachi.sgf.files import Split


def test_without_a_set_there_is_one_clear_sentence(make_scope):
    with pytest.raises(ExperimentError, match=r"this table learns from games: give --data SET \(see: "):
        require_games(make_scope("table1", data=None))


def test_a_set_without_games_to_test_with_is_refused_before_anything_is_learned(make_scope, tmp_path):
    with pytest.raises(ExperimentError, match="has no 5×5 games for test"):
        require_games(make_scope("table1", data=make_small_set(tmp_path, training=1, validation=1)))


def test_what_is_told_of_a_set(make_scope):
    games = require_games(make_scope("table1"))
    assert games.size == 5
    told = games.describe()
    assert (told["name"], told["games"]) == ("set", 30)
    plays = int(games.dataset.games["plays"].sum())
    assert told["positions"] + told["test positions"] + games.count_positions(Split.VALIDATION) == plays
    assert "has 30 games on 5×5" in describe_set(told)
    assert "27.4 million positions of 160,000 KGS games" in differences(told)[0]
