from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from katachi.arena.ratings import Sprt, count_standings, sprt_outcome
from katachi.arena.records import GameRecord
from katachi.arena.settings import TournamentSettings
from katachi.arena.tournament import play_tournament

MakeRecord = Callable[..., GameRecord]
MakeSettings = Callable[..., TournamentSettings]


@pytest.mark.parametrize(("truth", "accepted"), [(-50.0, -50.0), (50.0, 50.0)])
def test_errors_stay_below_what_was_asked(truth: float, accepted: float) -> None:
    test = Sprt(-50.0, 50.0, alpha=0.1, beta=0.1)
    rng = np.random.default_rng(4)
    wins = rng.random((500, 1000)) < 1 / (1 + 10 ** (-truth / 400))
    outcomes = [test.outcome(row.astype(float)) for row in wins]
    right = [outcome is not None and outcome.accepted == accepted for outcome in outcomes]
    assert np.mean(right) > 0.9 - 0.03
    assert np.mean([outcome.games for outcome in outcomes if outcome]) < 120


def test_draws_alone_decide_for_the_strength_nearer_to_equality() -> None:
    outcome = Sprt(0.0, 100.0).outcome([0.5] * 1000)
    assert outcome is not None
    assert outcome.accepted == 0


def test_a_gap_in_the_games_hides_what_comes_after(make_settings: MakeSettings, make_record: MakeRecord) -> None:
    settings = make_settings("a", "b", sprt={"elo0": 0.0, "elo1": 200.0})
    wins = [make_record(*(("a", "b", "B+R") if n % 2 == 0 else ("b", "a", "W+R")), number=n) for n in range(30)]
    full = {record.id: record for record in wins}
    outcome = sprt_outcome(settings, full)
    assert outcome is not None
    assert outcome.games < 15
    assert sprt_outcome(settings, {k: v for k, v in full.items() if k != "01-0003"}) is None
    standings = count_standings(settings, full.values())
    assert standings.games == standings.pairs[0].score.wins == outcome.games


def test_a_match_stops_when_it_is_decided(tmp_path: Path, make_settings: MakeSettings) -> None:
    settings = make_settings("alp", "random", games=500, komi=0.5, sprt={"elo0": -100.0, "elo1": 200.0})
    standings = play_tournament(settings, tmp_path)
    assert standings.sprt is not None
    assert standings.sprt.accepted == 200
    lines = (tmp_path / "games.jsonl").read_text().splitlines()
    assert len(lines) == standings.games == standings.sprt.games < 100
