"""Plots for documents: small SVG files with colors that color-blind readers can tell apart; same data, same bytes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

# Okabe and Ito's palette: black, orange, sky blue, green, blue, vermilion, purple.
COLORS: Final = ("#000000", "#e69f00", "#56b4e9", "#009e73", "#0072b2", "#d55e00", "#cc79a7")

_STYLE: Final[dict[Any, Any]] = {
    "svg.fonttype": "none",  # text stays text
    "svg.hashsalt": "katachi",
    "path.simplify_threshold": 0.5,
    "font.family": "sans-serif",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#dddddd",
    "axes.axisbelow": True,
    "legend.frameon": False,
    "figure.constrained_layout.use": True,
}


@contextmanager
def plot(path: Path, columns: int = 1, height: float = 3.2) -> Iterator[list[Any]]:
    """Axes side by side to draw on, written to an SVG file at the end."""
    from matplotlib import rc_context  # takes longer to load than most commands to run
    from matplotlib.figure import Figure

    with rc_context(_STYLE):
        figure = Figure(figsize=(4.2 * columns + 0.6, height))
        yield list(figure.subplots(1, columns, squeeze=False)[0])
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, format="svg", metadata={"Date": None, "Creator": None})


def label_axes(axes: Any, title: str, x: str, y: str) -> None:
    """Say what a plot shows; the legend stands below it, where it hides nothing."""
    axes.set_title(title, loc="left")
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.yaxis.set_major_formatter("{x:,.0f}")
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=2)
