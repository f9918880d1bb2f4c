from __future__ import annotations

from dataclasses import asdict

from katachi.papers.documents import format_section
from katachi.papers.silver2007.extras import STARTS, Growing, Plan, grow

TABLE = Growing()

PLAN = Plan(games=40, games_on_smaller=20, test_every=20, test_games=4, final_games=4)


def test_growing_goes_through_all_sizes_and_the_curve_is_that_of_the_last():
    found = grow(smallest=7, seed=1, plan=asdict(PLAN))
    assert found["smaller"] == {"7": 20, "8": 20}
    assert len(found["curve"]) == 3  # after 0, 20 and 40 games on 9×9
    assert grow(smallest=9, seed=1, plan=asdict(PLAN))["smaller"] == {}


def make_results(grown: list[list[int]], from_nothing: list[list[int]]) -> dict:
    ends = {"smaller": {"5": 7}, "final": [[1, 1]] * 2, "averaged": [[2, 2]] * 2}
    runs = {"grown": [{"curve": grown} | ends] * 2, "from nothing": [{"curve": from_nothing} | ends] * 2}
    starts = {start: TABLE._sum_up(runs[start], PLAN) for start in STARTS}
    return {"plan": asdict(PLAN), "runs": 2, "starts": starts}


def test_games_until_both_win_nine_of_ten():
    results = make_results([[4, 4], [4, 4], [4, 4]], [[0, 4], [3, 4], [4, 4]])
    by_id = {row.id: row.ours for row in TABLE.rows(results)}
    assert by_id["growing/grown/mastered"] == 0
    assert by_id["growing/from-nothing/mastered"] == 40
    never = make_results([[0, 0]] * 3, [[0, 0]] * 3)
    assert never["starts"]["grown"]["mastered after"] == [None, None]


def test_the_text_comes_from_the_results(tmp_path):
    text = format_section(TABLE, make_results([[4, 4]] * 3, [[0, 0], [0, 0], [4, 4]]), tmp_path)
    assert "| grown | 0 | 2 of 2 | 50.0 | 100.0 |" in text
    assert "| from nothing | 40 | 2 of 2 | 50.0 | 100.0 |" in text
    assert "played 7 games on average" in text
    assert (tmp_path / "growing.svg").exists()
