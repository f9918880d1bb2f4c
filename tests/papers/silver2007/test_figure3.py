from __future__ import annotations

import pytest

from katachi.papers.documents import format_section
from katachi.papers.silver2007 import figures as figure3
from katachi.papers.silver2007.figures import Figure3

TABLE = Figure3()

RESULTS = TABLE.measure(None)


def test_all_counts_of_the_paper_are_ours():
    published = [row for row in TABLE.rows(RESULTS) if row.published is not None]
    assert len(published) == 27
    assert all(row.ours == row.published for row in published)


@pytest.mark.parametrize(
    ("name", "five", "nine", "tied_nine"),
    [
        ("LI 1x1", 3, 3, 2),
        ("LI 2x1", 6, 6, 4),
        ("LI 2x2", 21, 21, 13),
        ("LI 3x2", 216, 216, 116),
        ("LI 3x3", 2_862, 2_862, 1_444),
        ("LI 4x3", 134_865, 134_865, 67_625),
        ("LI 4x4", 5_398_083, 5_398_083, 2_700_373),
        ("LD 1x1", 18, 45, 30),
        ("LD 2x1", 54, 180, 100),
        ("LD 2x2", 189, 702, 358),
        ("LD 3x2", 2_268, 10_368, 5_200),
        ("LD 3x3", 23_274, 123_147, 61_630),
        ("LD 4x3", 800_442, 5_589_972, 2_795_052),
        ("LD 4x4", 21_552_885, 193_798_818, 96_899_958),
        ("LI 5x5", 105_918_450_471, 105_918_450_471, 52_959_273_304),
    ],
)
def test_distinct_weights(name, five, nine, tied_nine):
    counts = RESULTS["sets"][name]
    assert counts["distinct"] == {"5": five, "9": nine}
    assert counts["distinct up to inversion"]["9"] == tied_nine


def test_a_difference_is_told(tmp_path, monkeypatch):
    assert "Of the paper's 27 counts 27 are ours." in format_section(TABLE, RESULTS, tmp_path)
    monkeypatch.setitem(figure3.PUBLISHED, (1, 1), (26, 3, 27))
    assert "Of the paper's 27 counts 26 are ours." in format_section(TABLE, RESULTS, tmp_path)
