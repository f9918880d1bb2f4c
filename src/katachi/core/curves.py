"""A picture of learning curves: win rates against the average liberty player by games."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

from katachi.core.disk import write_atomically
from katachi.core.training import MetricLine


def draw_curves(runs: Sequence[Sequence[MetricLine]], path: Path) -> None:
    """Draw the curve of every run as SVG: the mean of its agents by all its games so far, one color for each size."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    sizes = sorted({line.size for lines in runs for line in lines})
    with rc_context({"svg.hashsalt": "katachi"}):  # the same curves give the same bytes
        figure = Figure(figsize=(7, 4), layout="constrained")
        axes = figure.subplots()
        for lines in runs:
            for size, (games, rates) in _by_size(lines).items():
                axes.plot(games, rates, color=f"C{sizes.index(size)}", label=f"{size}×{size}", linewidth=1.2)
        axes.set(xlabel="games of self-play", ylabel="wins against alp, %", ylim=(0, 101), xlim=(0, None))
        axes.grid(alpha=0.3)
        unique = dict(zip(*reversed(axes.get_legend_handles_labels()), strict=True))
        axes.legend(unique.values(), unique.keys())
        picture = io.BytesIO()
        figure.savefig(picture, format="svg", metadata={"Date": None})
    write_atomically(path, picture.getvalue())


def _by_size(lines: Sequence[MetricLine]) -> dict[int, tuple[list[int], list[float]]]:
    """Games since the beginning of the run, and percents, for each size."""
    curves: dict[int, tuple[list[int], list[float]]] = {}
    before = last = 0
    for line in lines:
        if line.size not in curves:
            curves[line.size] = ([], [])
            before += last
        last = line.games
        games, rates = curves[line.size]
        games.append(before + line.games)
        rates.append(100 * sum(line.win_rates) / len(line.win_rates))
    return curves
