"""A lesson leaves a pupil that plays, whenever it is stopped."""

from __future__ import annotations

from threading import Event

import pytest
from pydantic import ValidationError

from katachi.core.contracts import Limit
from katachi.core.linear import load_linear
from katachi.core.training import list_pupils
from katachi.go.game import Game
from katachi.players.specs import load_player
from katachi.shapes.lesson import LESSON, LessonSettings, teach


def test_a_lesson_leaves_a_pupil_that_plays(tmp_path):
    reports = []
    folder = tmp_path / "pupil"
    done = teach({"games": 300, "largest": 1}, folder, reports.append, Event())
    assert [progress.games for progress in (*reports, done)] == [100, 200, 300]
    assert 0 <= done.wins <= 1
    assert done.figures[0].svg.startswith("<svg")
    assert [path.name for path in list_pupils(folder)] == ["player-200.toml", "player-300.toml"]
    model, card = load_linear(folder / "model-300")
    assert card.training.games == 300
    assert model.weights.any()
    assert Game(5).is_legal(load_player(str(list_pupils(folder)[-1])).decide(Game(5), Limit()).move)


def test_a_lesson_that_is_stopped_keeps_what_was_learned(tmp_path):
    stop = Event()
    done = teach({"games": 100_000, "largest": 1}, tmp_path / "pupil", lambda _: stop.set(), stop)
    assert done.games == 200
    assert list_pupils(tmp_path / "pupil")[-1].name == "player-200.toml"


def test_every_choice_can_be_taught(tmp_path):
    for choice in LESSON.choices:
        assert choice.default in choice.values
        for value in choice.values:
            assert choice.text.format(value=value)
            assert getattr(LessonSettings(**{choice.name: value}), choice.name) == value
    with pytest.raises(ValidationError):
        teach({"games": 1}, tmp_path / "pupil", lambda _: None, Event())
