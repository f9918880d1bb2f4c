from __future__ import annotations

from katachi.papers.documents import WIDTH, Estimate, format_estimate, format_mean, row_table, wrap
from katachi.papers.experiment import Row


def test_wrap_fills_paragraphs_and_items_and_leaves_the_rest():
    words = "a few words that go on " * 10
    code = "```\n" + "x" * (WIDTH + 10) + "\n```"
    grid = f"| {words} |\n| --- |"
    wrapped = wrap(f"{words}\n\n1. {words}\n2. short\n\n{code}\n\n{grid}")
    paragraph, items, kept_code, kept_grid = wrapped.split("\n\n")
    assert max(map(len, paragraph.splitlines())) <= WIDTH
    assert paragraph.split() == words.split()
    assert [line[:3] for line in items.splitlines()] == ["1. ", "   ", "2. "]
    assert (kept_code, kept_grid) == (code, grid)


def test_means():
    assert format_mean(Estimate(81.24, (79.0, 83.0))) == "81.2 ± 2.0"
    assert format_mean(Estimate(81.24, None)) == "81.2"
    assert format_estimate(81.24, (79.04, 83.0)) == "81.2 (79.0 … 83)"
    assert format_estimate(None, None) == "–"
    assert format_estimate(850, (850, 850)) == "850"
    assert [format_estimate(None, bounds) for bounds in ((1314, None), (None, 300), (None, None))] == [
        "≥ 1,314",
        "≤ 300",
        "–",
    ]


def test_rows():
    row = Row("a/b", "a win rate, %", "over 80", 81.24, (79.04, 83.01), "paper/a", n=34, planned=200)
    line = "| a win rate, % | over 80 | 81.2 (79.0 … 83.0) | 34 of 200 | unclear |"
    assert row_table([row], "paper").splitlines()[-1] == line


def test_values_from_elsewhere_have_a_column_of_their_own_and_no_verdict():
    rows = [Row("a", "x", 5, 5, None), Row("b", "y", 80.0, 81.0, (80.5, 81.5), n=100, source="a survey")]
    header, _, first, second = row_table(rows, "paper").splitlines()
    assert header == "| what | paper | elsewhere | ours (95 %) | n | verdict |"
    assert first == "| x | 5 | – | 5 | – | reached |"
    assert second == "| y | – | 80 (a survey) | 81 (80.5 … 81.5) | 100 | – |"
