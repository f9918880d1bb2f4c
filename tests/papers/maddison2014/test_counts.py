from __future__ import annotations

from katachi.papers.documents import format_section
from katachi.papers.maddison2014.figures import Counts

TABLE = Counts()


def test_the_papers_figures_are_ours(make_scope, tmp_path):
    results = TABLE.measure(make_scope("counts", data=None))
    by_id = {row.id: row for row in TABLE.rows(results)}
    assert [(row.published, row.ours) for name, row in by_id.items() if "/12x128/" in name] == [
        ("2.3 million", 2_294_738),
        ("630 million", 627_966_720),
        ("550,000", 554_496),
    ]
    parameters = {shape: by_id[f"counts/{shape}/parameters"].ours for shape in results["nets"]}
    assert parameters == {
        "3x16": 37_346,
        "3x64": 202_514,
        "3x128": 551_762,
        "6x128": 1_132_754,
        "6x192": 2_251_730,
        "10x128": 1_907_410,
        "12x128": 2_294_738,
    }
    text = format_section(TABLE, results, tmp_path)
    assert "| 12×128 | 2,294,738 | 627,966,720 | 554,496 |" in text
    assert "\n1. The paper has position-dependent biases" in text
    assert TABLE.name == "counts"
