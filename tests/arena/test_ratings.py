from __future__ import annotations

import math
from dataclasses import astuple

import numpy as np
import pytest
from numpy.typing import NDArray

from katachi.arena import ratings
from katachi.arena.ratings import Anchor, PairScores, elo_difference, fit_ratings, pair_scores, rate, resample


def expected_scores(ratings: NDArray[np.float64]) -> NDArray[np.float64]:
    return 1 / (1 + 10 ** ((ratings[None, :] - ratings[:, None]) / 400))


def play(ratings: NDArray[np.float64], games: int, rng: np.random.Generator, draw_rate: float = 0.0) -> PairScores:
    """A round robin between players of known strength."""
    names = tuple(f"p{i}" for i in range(len(ratings)))
    wins, draws = np.zeros((2, len(ratings), len(ratings)))
    chance = expected_scores(ratings)
    for i in range(len(ratings)):
        for j in range(i + 1, len(ratings)):
            # Draws that take equally from both sides keep the expected score.
            drawn = 2 * draw_rate * min(chance[i, j], 1 - chance[i, j])
            won, even, _ = rng.multinomial(games, [chance[i, j] - drawn / 2, drawn, 1 - chance[i, j] - drawn / 2])
            wins[i, j] = won + even / 2
            wins[j, i] = games - wins[i, j]
            draws[i, j] = draws[j, i] = even
    return PairScores(names, wins, draws)


def test_elo_difference() -> None:
    assert elo_difference(10 / 11) == pytest.approx(400)
    assert elo_difference(0.5) == 0
    assert elo_difference(1.0) == math.inf
    assert elo_difference(0.0) == -math.inf


def test_two_players_have_the_difference_of_their_score() -> None:
    ratings = fit_ratings(np.array([[0.0, 7500.0], [2500.0, 0.0]]))
    assert ratings[0] - ratings[1] == pytest.approx(elo_difference(0.75), abs=0.1)
    assert ratings.sum() == pytest.approx(0)


def test_scores_without_noise_give_back_the_ratings() -> None:
    truth = np.array([300.0, 120.0, 0.0, -90.0, -330.0])
    ratings = fit_ratings(1e6 * expected_scores(truth) * (1 - np.eye(5)))
    assert ratings == pytest.approx(truth, abs=0.01)


def test_a_chain_of_opponents_compares_players_that_never_met() -> None:
    wins = np.zeros((3, 3))
    wins[0, 1], wins[1, 0], wins[1, 2], wins[2, 1] = 7500, 2500, 7500, 2500
    ratings = fit_ratings(wins)
    assert ratings[0] - ratings[2] == pytest.approx(2 * elo_difference(0.75), abs=0.2)


def test_the_maximum_is_found_from_very_uneven_results() -> None:
    wins = np.array([[0, 1000, 1, 0], [0.25, 0, 400, 0], [0.25, 1, 0, 3], [0, 0, 900, 0.0]])
    expected = (wins + wins.T) * expected_scores(fit_ratings(wins))
    assert expected.sum(axis=1) == pytest.approx(wins.sum(axis=1), abs=1e-4)


def test_a_batch_is_fitted_like_its_members() -> None:
    rng = np.random.default_rng(1)
    tables = np.stack([play(np.array([0.0, 50.0, 200.0]), 30, rng).wins for _ in range(5)])
    together = fit_ratings(tables)
    assert together == pytest.approx(np.stack([fit_ratings(table) for table in tables]), abs=1e-6)


def test_players_who_never_met_do_not_disturb_the_fit() -> None:
    wins = np.zeros((4, 4))
    wins[0, 1] = wins[2, 3] = 30
    wins[1, 0] = wins[3, 2] = 10
    ratings = fit_ratings(wins)
    assert ratings[0] - ratings[1] == pytest.approx(ratings[2] - ratings[3], abs=1e-6)
    assert np.isfinite(ratings).all()


def test_pair_scores_add_up_wins_and_draws() -> None:
    scores = pair_scores(["a", "b"], [("a", "b", 1.0), ("b", "a", 0.5), ("b", "a", 1.0), ("b", "a", 1.0)])
    assert scores.wins.tolist() == [[0, 1.5], [2.5, 0]]
    assert scores.draws.tolist() == [[0, 1], [1, 0]]
    assert scores.games.tolist() == [[0, 4], [4, 0]]


def test_ratings_hang_on_the_anchor() -> None:
    scores = play(np.array([0.0, 200.0, 100.0]), 200, np.random.default_rng(2))
    rated = rate(scores, np.random.default_rng(3), anchor=Anchor("p0", 1500.0))
    by_name = {rating.player: rating for rating in rated.ratings}
    assert [rating.player for rating in rated.ratings] == ["p1", "p2", "p0"]
    assert by_name["p0"].low == by_name["p0"].rating == by_name["p0"].high == 1500
    assert by_name["p1"].low < by_name["p1"].rating < by_name["p1"].high
    assert rated.superiority[0][2] > 0.99
    assert rated.superiority[0][0] == 0.5
    assert rated.superiority[0][1] + rated.superiority[1][0] == pytest.approx(1)


def test_an_all_win_score_has_a_bound_and_no_rating() -> None:
    scores = pair_scores(["a", "b"], [("a", "b", 1.0)] * 100)
    winner, loser = rate(scores, np.random.default_rng(1), anchor=Anchor("b")).ratings
    assert (winner.rating, winner.high) == (None, None)
    assert winner.low == pytest.approx(elo_difference(0.025 ** (1 / 100)), abs=0.1)  # the exact bound of 95 %
    assert (loser.rating, loser.low, loser.high) == (0, 0, 0)
    (loser,) = rate(scores, np.random.default_rng(1), anchor=Anchor("a", 1000)).ratings[1:]
    assert loser.high == pytest.approx(1000 - winner.low, abs=0.1)
    assert (loser.rating, loser.low) == (None, None)


def groups(lost: int) -> PairScores:
    """Three players who won everything against three but for one of ``lost`` games, if any."""
    names = [f"p{number}" for number in range(6)]
    pairs = [(i, j) for i in range(6) for j in range(i)]
    games = [
        (names[i], names[j], 1.0 if i // 3 > j // 3 else float(number % 5 > 0))
        for i, j in pairs
        for number in range(60)
    ]
    return pair_scores(names, [*games, *[("p2", "p3", 1.0)] * lost])


def test_groups_that_no_win_connects_are_not_on_one_scale() -> None:
    rated = rate(groups(0), np.random.default_rng(0), anchor=Anchor("p2", 850))
    by_name = {rating.player: rating for rating in rated.ratings}
    assert [name for name, rating in by_name.items() if rating.rating is None] == ["p5", "p4", "p3"]
    assert all(by_name[name].high is None for name in ("p3", "p4", "p5"))
    assert 850 < by_name["p3"].low < by_name["p4"].low < by_name["p5"].low
    assert all(r.low <= r.rating <= r.high for r in rated.ratings if r.rating is not None)


def test_one_win_the_other_way_connects_them() -> None:
    rated = rate(groups(1), np.random.default_rng(0), anchor=Anchor("p2", 850))
    assert all(rating.low <= rating.rating <= rating.high for rating in rated.ratings)


def test_without_an_anchor_the_most_players_who_are_connected_are_the_reference() -> None:
    games = [("a", "b", 1.0), ("b", "a", 1.0), ("c", "a", 1.0), ("c", "b", 1.0), ("d", "e", 1.0)]
    rated = {r.player: r for r in rate(pair_scores(list("abcde"), games), np.random.default_rng(0)).ratings}
    assert rated["a"].rating == pytest.approx(-rated["b"].rating)
    assert rated["c"].rating is rated["c"].high is None
    assert rated["c"].low is not None
    assert [(rated[name].rating, rated[name].low, rated[name].high) for name in "de"] == [(None, None, None)] * 2


@pytest.mark.parametrize("lost", [0, 1, 5])
def test_what_keeps_the_fit_finite_decides_nothing_that_is_shown(lost: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def shown() -> list[object]:
        rated = rate(groups(lost), np.random.default_rng(0), anchor=Anchor("p2", 850)).ratings
        return [value for rating in rated for value in astuple(rating)]

    before = [pytest.approx(value, abs=0.5) if isinstance(value, float) else value for value in shown()]
    for ridge in (1e-4, 1e-8):
        monkeypatch.setattr(ratings, "_RIDGE", ridge)
        assert shown() == before


def test_resampled_tables_keep_the_number_of_games_and_the_mean() -> None:
    scores = play(np.array([0.0, 150.0]), 80, np.random.default_rng(5), draw_rate=0.3)
    tables = resample(scores, fit_ratings(scores.wins), 4000, np.random.default_rng(6))
    assert (tables + tables.swapaxes(1, 2))[:, 0, 1].tolist() == [80] * 4000
    assert tables[:, 0, 1].mean() == pytest.approx(scores.wins[0, 1], abs=0.6)


def test_more_draws_make_narrower_intervals() -> None:
    decided = PairScores(("a", "b"), np.array([[0, 50.0], [50.0, 0]]), np.zeros((2, 2)))
    drawn = PairScores(("a", "b"), decided.wins, np.array([[0, 80.0], [80.0, 0]]))
    wide, narrow = (rate(scores, np.random.default_rng(1)).ratings[0] for scores in (decided, drawn))
    assert narrow.high - narrow.low < 0.6 * (wide.high - wide.low)


@pytest.mark.parametrize(("games", "draw_rate"), [(40, 0.0), (100, 0.3)])
def test_intervals_cover_the_truth_as_often_as_they_say(games: int, draw_rate: float) -> None:
    truth = np.array([0.0, 120.0, -150.0])
    rng = np.random.default_rng(11)
    covered = []
    for _ in range(1000):
        scores = play(truth, games, rng, draw_rate)
        rated = rate(scores, rng, anchor=Anchor("p0", 0.0), samples=200)
        covered += [r.low <= truth[int(r.player[1:])] <= r.high for r in rated.ratings if r.player != "p0"]
    assert 0.93 <= np.mean(covered) <= 0.97
