from __future__ import annotations

import re
from pathlib import Path

from katachi.core.training import MetricLine
from katachi.shapes.train import draw_curves


def line(size: int, games: int, *rates: float) -> MetricLine:
    return MetricLine({"size": size, "games": games, "win_rates": list(rates)})


def polylines(path: Path) -> list[list[tuple[float, float]]]:
    """The lines that are drawn with a color of the cycle, as points of the picture."""
    found = re.findall(
        r'<path d="([^"]*)" clip-path="[^"]*" style="fill: none; stroke: #(?:1f77b4|ff7f0e)', path.read_text()
    )
    return [[(float(x), float(y)) for x, y in re.findall(r"([\d.]+) ([\d.]+)", drawn)] for drawn in found]


def test_sizes_follow_each_other(tmp_path: Path) -> None:
    """Games go on counting where the board grows; the mean of a pair is drawn, higher up if it is more."""
    run = [line(5, 10, 0.2, 0.4), line(5, 20, 0.5, 0.7), line(6, 10, 0.1, 0.3), line(6, 30, 1.0, 1.0)]
    draw_curves([run], tmp_path / "curve.svg")
    small, large = polylines(tmp_path / "curve.svg")
    assert small[0][0] < small[1][0] < large[0][0] < large[1][0]
    assert large[1][1] < small[1][1] < small[0][1] < large[0][1]  # the picture's y goes down
    step = small[1][0] - small[0][0]  # ten games
    assert abs(large[0][0] - small[1][0] - step) < 0.01


def test_the_same_curves_give_the_same_bytes(tmp_path: Path) -> None:
    runs = [[line(5, games, games / (100 + seed)) for games in range(10, 100, 10)] for seed in range(3)]
    for name in ("first", "second"):
        draw_curves(runs, tmp_path / name)
    assert (tmp_path / "first").read_bytes() == (tmp_path / "second").read_bytes()
    assert len(polylines(tmp_path / "first")) == 3
