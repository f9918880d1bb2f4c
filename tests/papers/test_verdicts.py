"""What documents claim follows from results, and no claim is larger than its games allow."""

from __future__ import annotations

from pathlib import Path

import pytest

from katachi.arena.ratings import connections, pair_scores
from katachi.papers.documents import VERDICTS, format_document
from katachi.papers.experiment import (
    Better,
    Budget,
    Row,
    Verdict,
    experiment_names,
    load_experiment,
    read_results,
)

DOCS = Path(__file__).parents[2] / "docs"
PAPERS = experiment_names()


@pytest.mark.parametrize(
    ("published", "ours", "interval", "more", "verdict"),
    [
        (70, 80, (75, 85), {}, "beaten"),
        (70, 60, (55, 65), {}, "missed"),
        (70, 72, (66, 78), {}, "reached"),
        (70, 72, (50, 94), {}, "unclear"),
        (70, 72, None, {}, "unclear"),  # of two runs
        (15, 12, (11, 13), {"better": Better.LOWER}, "beaten"),
        (15, 22, (19, 27), {"better": Better.LOWER}, "missed"),
        (15, 15, (14, 16), {"better": Better.LOWER}, "reached"),
        (15, 15, (10, 20), {"better": Better.LOWER}, "unclear"),
        (700, 710, (680, 740), {"better": Better.SAME}, "reached"),
        (700, 800, (750, 850), {"better": Better.SAME}, "missed"),
        (700, 700, (500, 900), {"better": Better.SAME}, "unclear"),
        (1070, None, (1450, None), {}, "beaten"),
        (1070, None, (None, 900), {}, "missed"),
        (1070, None, (900, None), {}, "unclear"),
        (1070, None, (None, None), {}, "not measured"),
        ("over 80", 82, (78, 86), {}, "unclear"),
        ("≥ 80", 89, (84, 93), {}, "reached"),
        ("> 50", 40, (30, 49), {}, "missed"),
        (50, None, None, {}, "not measured"),
        (50, 50, (45, 55), {"source": "a survey"}, None),
        (None, 50, (45, 55), {}, None),
    ],
)
def test_a_verdict_follows_from_the_interval(published, ours, interval, more, verdict):
    assert Row("id", "what", published, ours, interval, **{"n": 100, **more}).verdict == verdict


@pytest.mark.parametrize(
    ("published", "ours", "more", "verdict"),
    [
        (78_732, 78_732, {}, "reached"),
        ("2.3 million", 2_294_738, {}, "reached"),
        ("550,000", 554_496, {}, "reached"),
        ("630 million", 700_000_000, {"better": Better.SAME}, "missed"),
        (281, 281.8, {"better": Better.SAME}, "reached"),
        (1, 1, {"better": Better.LOWER}, "reached"),
        (1, 4, {"better": Better.LOWER}, "missed"),
        (3, 2, {}, "missed"),
        ("h", "h", {}, "reached"),
        ("bad", -0.2, {"holds": True}, "reached"),
        ("good", -0.2, {"holds": False}, "missed"),
        ("about linear", 0.8, {}, "in words"),
        ("2×2", "LI 2×2", {"n": 10}, "unclear"),
        ("2×2", "LI 2×2", {"n": 10, "holds": True}, "reached"),
    ],
)
def test_what_is_counted_is_compared_as_it_is(published, ours, more, verdict):
    assert Row("id", "what", published, ours, None, **more).verdict == verdict


@pytest.mark.parametrize("paper", PAPERS)
def test_pages_are_made_from_results(paper, tmp_path):
    page = (DOCS / f"{paper}.md").read_text(encoding="utf-8")
    assert format_document(load_experiment(paper), read_results(DOCS / paper), tmp_path) == page
    before_the_first_heading = page.partition("\n## ")[0]
    assert "| verdict |" in before_the_first_heading
    assert " ".join(VERDICTS.split()) in " ".join(before_the_first_heading.split())


@pytest.mark.parametrize("paper", PAPERS)
def test_no_figure_claims_more_than_its_games_allow(paper):
    for row in load_experiment(paper).rows(read_results(DOCS / paper)):
        is_counted = row.n is None and row.interval is None
        low, high = row.interval or (None, None)
        if row.verdict in (Verdict.BEATEN, Verdict.REACHED, Verdict.MISSED) and not is_counted:
            assert row.n is not None, row
            assert row.n >= 3, row
            assert row.holds is not None or low is not None or high is not None, row
        if row.what.endswith((", %", " %")) and row.ours is not None:
            assert row.note or (row.n is not None and (row.interval is not None or row.n < 3)), row


@pytest.mark.parametrize("paper", PAPERS)
def test_ratings_are_only_those_that_games_carry(paper):
    def tables(found):
        if isinstance(found, dict):
            if found.get("pairs") and "ratings" in found:
                yield found
            for each in found.values():
                yield from tables(each)

    for found in tables(read_results(DOCS / paper)):
        anchor = next(name for name, (rating, low, high) in found["ratings"].items() if rating == low == high)
        games = [
            (pair["first"], pair["second"], score)
            for pair in found["pairs"]
            for score, times in ((1.0, pair["wins"]), (0.5, pair["draws"]))
            for _ in range(times)
        ]
        games += [
            (pair["first"], pair["second"], 0.0)
            for pair in found["pairs"]
            for _ in range(pair["games"] - pair["wins"] - pair["draws"])
        ]
        names = list(found["ratings"])
        chains, one = connections(pair_scores(names, games).wins), names.index(anchor)
        for number, (rating, low, high) in enumerate(found["ratings"].values()):
            assert (rating is not None) == (chains[number, one] and chains[one, number])
            assert (low is not None) == chains[number, one]
            assert (high is not None) == chains[one, number]


def test_every_table_knows_its_rows_in_every_budget():
    for paper in PAPERS:
        experiment, results = load_experiment(paper), read_results(DOCS / paper)
        for table in experiment.tables:
            if table.name in results:
                for budget in Budget:
                    assert list(table.rows(results[table.name] | {"budget": budget.value}))
