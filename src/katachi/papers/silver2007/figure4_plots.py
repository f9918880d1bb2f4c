"""Figure 4 drawn: win rates and learning times by size, learning curves, and learning time by number of sets."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from katachi.features.windows import PAPER_SIZES
from katachi.papers.documents import COLORS, Estimate, estimate, label_axes, plot
from katachi.papers.experiment import Json
from katachi.papers.silver2007.figure4 import ALONE, CUMULATIVE, Learner, learning_time, of, reached
from katachi.papers.silver2007.learning_run import Protocol
from katachi.shapes.sets import Location, ShapeSet

_STYLES: Final = {Location.INDEPENDENT: (COLORS[4], "o"), Location.DEPENDENT: (COLORS[5], "s")}
_WORDS: Final = {Location.INDEPENDENT: "location independent", Location.DEPENDENT: "location dependent"}
_CURVES: Final = (
    "LI 1x1 alone",
    "LI 2x2 alone",
    "LD 2x2 alone",
    "LI 3x3 alone",
    "LI 3x3 cumulative",
    "LD 3x3 cumulative",
)


def draw_plots(results: Json, pictures: Path) -> None:
    """Draw all pictures of the figure into a folder."""
    _plot_sizes(results, pictures / "figure4.svg")
    _plot_curves(results, pictures / "figure4-curves.svg")
    _plot_times(results, pictures / "figure4-sets.svg")


def _plot_sizes(results: Json, path: Path) -> None:
    """The figure itself; what it has above and below, win rate and learning time, is side by side here."""
    for how in (ALONE, CUMULATIVE):
        words = "each set alone" if how == ALONE else "with all more general sets"
        with plot(path.with_stem(path.stem if how == ALONE else f"{path.stem}-{how}"), columns=2) as (rates, times):
            for location in Location:
                own = [Learner(ShapeSet(*size, location), how) for size in PAPER_SIZES]
                _plot_points(rates, [estimate(of(results, e, "final")) for e in own], location, _WORDS[location])
                averaged = [estimate(of(results, e, "averaged")).mean for e in own]
                rates.plot(averaged, ":", color=_STYLES[location][0], label="the same, averaged weights")
                _plot_points(times, [learning_time(results, e) for e in own], location, _WORDS[location])
                _mark_unlearned(times, results, own, location)
            for axes in (rates, times):
                axes.set_xticks(range(len(PAPER_SIZES)), [f"{width}×{height}" for width, height in PAPER_SIZES])
            label_axes(rates, f"Final win rate, {words}", "size of shapes", "against ALP, %")
            label_axes(times, f"Learning time, {words}", "size of shapes", "games until both exceed 50 %")
            rates.set_ylim(0, 100)
            times.set_ylim(0)


def _plot_points(axes: Any, found: Sequence[Estimate], location: Location, label: str) -> None:
    color, marker = _STYLES[location]
    means = np.array([value.mean for value in found])
    bounds = np.array([value.interval or (value.mean, value.mean) for value in found])
    errors = np.abs(bounds - means[:, None]).T
    axes.errorbar(range(len(means)), means, errors, color=color, marker=marker, markersize=4, capsize=2, label=label)


def _mark_unlearned(axes: Any, results: Json, learners: Sequence[Learner], location: Location) -> None:
    """White inside, where some runs never learned and the mean is but a lower bound."""
    color, marker = _STYLES[location]
    for place, learner in enumerate(learners):
        if reached(results, learner) < results["runs"]:
            time = learning_time(results, learner).mean
            axes.plot(place, time, marker, color=color, markerfacecolor="white", markersize=5, zorder=3)


def _plot_curves(results: Json, path: Path) -> None:
    protocol = Protocol(**results["protocol"])
    with plot(path, height=3.8) as (axes,):
        for color, name in zip(COLORS, _CURVES, strict=False):
            curve = results["experiments"][name]["curve"]
            axes.plot(protocol.tests, curve, color=color, linewidth=1, label=name.replace("x", "×"))
        axes.set_xscale("log")
        axes.set_ylim(0, 100)
        label_axes(axes, "Learning curves, mean over runs", "games", "win rate against ALP, %")


def _plot_times(results: Json, path: Path) -> None:
    with plot(path) as (axes,):
        for location in Location:
            color, marker = _STYLES[location]
            own = [Learner(ShapeSet(*size, location), CUMULATIVE) for size in PAPER_SIZES]
            times = [learning_time(results, learner).mean for learner in own]
            axes.plot([len(e.sets) for e in own], times, marker, color=color, label=_WORDS[location])
        axes.set_ylim(0)
        axes.xaxis.get_major_locator().set_params(integer=True)
        label_axes(axes, "Learning time, cumulative sets", "number of sets", "games until both exceed 50 %")
