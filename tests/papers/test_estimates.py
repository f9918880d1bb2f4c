from __future__ import annotations

import numpy as np

from katachi.papers.documents import estimate


def test_the_interval_holds_the_mean_about_as_often_as_it_says():
    rng = np.random.default_rng(1)
    intervals = [estimate(rng.normal(10, 2, size=30).tolist()).interval for _ in range(60)]
    held = np.mean([low < 10 < high for low, high in intervals])
    assert 0.85 < held < 1


def test_two_runs_are_too_few_for_an_interval():
    assert estimate([110.0, 110.0]) == (110.0, None, 2)
    assert estimate([110.0, 110.0, 120.0]).interval is not None


def test_more_runs_make_a_narrower_interval():
    rng = np.random.default_rng(2)
    widths = []
    for count in (5, 20, 80):
        low, high = estimate(rng.normal(0, 1, size=count).tolist()).interval
        widths.append(high - low)
    assert widths == sorted(widths, reverse=True)
