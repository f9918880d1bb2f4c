"""Figure 4: each set of shapes alone, and with all sets that are as or more general, on 5×5.

36 learners: nine sizes, location independent (LI) and dependent (LD), alone and cumulative; in each a number of
runs of two agents that learn for 100,000 games.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from katachi.core.drawing import Shape
from katachi.features.windows import PAPER_SIZES, TABLE_SIZES
from katachi.go.points import EMPTY
from katachi.papers.documents import (
    COLORS,
    NOTHING,
    Estimate,
    estimate,
    format_mean,
    format_value,
    label_axes,
    plot,
    table,
)
from katachi.papers.experiment import Better, Budget, Json, Row, Run, Scope, Table, Value, do_runs, scaled, seed_of
from katachi.shapes.learner import TdLearner, TdSettings
from katachi.shapes.self_play import play_by_color
from katachi.shapes.sets import Location, ShapeSet

# One learning run as the paper makes it: a pair learns by self-play, and is tested against the average liberty player.
#
# Every so many games each agent plays test games, and more of them at the end; there the mean of its weights over the
# second half of the games is tested too. The paper knows no such mean, and taking it does not touch the learning.

_AVERAGE_FROM = 0.5


@dataclass(frozen=True, slots=True)
class Protocol:
    """How long a pair learns and how it is tested; the defaults are the paper's."""

    games: int = 100_000
    test_every: int = 500
    test_games: int = 100  # of each agent
    final_games: int = 1_000

    @property
    def arguments(self) -> Json:
        return asdict(self)

    @property
    def tests(self) -> list[int]:
        """The games after which the agents are tested."""
        return [
            min(games, self.games) for games in range(self.test_every, self.games + self.test_every, self.test_every)
        ]


def learn(
    sets: Sequence[str], size: int, komi: float, seed: int, protocol: Json, mode: str, cascade: bool = False
) -> Json:
    """Train a pair, and count its wins: in the tests along the way, and at the end by color.

    ``curve`` has a row for every test, ``final`` and ``averaged`` a row for each agent: wins as Black and as White.
    """
    plan = Protocol(**protocol)
    options: dict[str, Any] = {"sets": tuple(sets), "size": size, "komi": komi, "mode": mode, "cascade": cascade}
    settings = TdSettings(**options, seed=seed, average_from=_AVERAGE_FROM)
    learner = TdLearner(settings, plan.games)
    curve = []
    for games in plan.tests:
        learner.train(games - learner.games)
        curve.append(count_wins(learner, plan.test_games))
    return {"curve": curve} | test_at_the_end(learner, plan.final_games)


def count_wins(learner: TdLearner, games: int) -> list[float]:
    """What each agent wins of so many test games, as its weights are now."""
    return [sum(wins) for wins in _test(learner, learner.weights, games)]


def test_at_the_end(learner: TdLearner, games: int) -> Json:
    """What each agent wins with its last weights, and with their mean."""
    return {
        "final": _test(learner, learner.weights, games),
        "averaged": _test(learner, learner.averaged_weights, games),
    }


def _test(learner: TdLearner, weights: NDArray[Any], games: int) -> list[tuple[float, float]]:
    """What each agent wins as Black and as White."""
    settings = learner.settings
    seeds = [seed_of(settings.seed, learner.games, agent) for agent in range(settings.agents)]
    return [
        play_by_color(learner.features, of_agent, games, seed, settings.komi)
        for of_agent, seed in zip(weights, seeds, strict=True)
    ]


def mean_rates(curve: Sequence[Sequence[float]], test_games: int) -> NDArray[np.float64]:
    """The share of the test games that both agents won, [tests]."""
    rates: NDArray[np.float64] = np.mean(curve, axis=1) / test_games
    return rates


def mean_curve(curves: Sequence[Sequence[Sequence[float]]], test_games: int) -> list[float]:
    """The mean over runs of what both agents won, in percent, short enough to be kept."""
    mean: list[float] = np.mean([100 * mean_rates(curve, test_games) for curve in curves], axis=0).round(2).tolist()
    return mean


def percent_won(wins: Sequence[Sequence[float]], games: int, *, color: int | None = None, best: bool = False) -> float:
    """What both agents won of so many games each, or the better one; with both colors, or as Black (0) or White (1)."""
    counts = np.array(wins)
    of_each = counts.sum(axis=1) / games if color is None else counts[:, color] / (games / 2)
    return round(100 * float(of_each.max() if best else of_each.mean()), 4)


def games_until(
    curve: Sequence[Sequence[float]], tests: Sequence[int], wins: float, *, in_a_row: int = 1
) -> int | None:
    """The games after which every agent first wins more than so many test games, as a mean of tests in a row.

    None if that never happens.
    """
    for end in range(in_a_row, len(curve) + 1):
        if (np.mean(curve[end - in_a_row : end], axis=0) > wins).all():
            return tests[end - 1]
    return None


SIZE: Final = 5
KOMI: Final = 7.5
ALONE: Final = "alone"
CUMULATIVE: Final = "cumulative"
EARLY: Final = 1_000  # games after which the paper already saw the 2×2 shapes win 25 %
LEARNED: Final = 0.5  # the win rate that both agents must exceed
SMOOTHED: Final = 5  # tests in a row, in the second definition of learning time

PROTOCOLS: Final = {
    Budget.SMOKE: Protocol(games=200, test_every=100, test_games=20, final_games=20),
    Budget.HOUR: Protocol(),
    Budget.FULL: Protocol(),
}
RUNS: Final = {Budget.SMOKE: 2, Budget.HOUR: 5, Budget.FULL: 10}

ALL_SETS: Final = tuple(ShapeSet(*size, location) for location in Location for size in PAPER_SIZES)


@dataclass(frozen=True, slots=True)
class Learner:
    """One column of the figure: a set of shapes, alone or with all sets as or more general."""

    shape_set: ShapeSet
    how: str

    @property
    def name(self) -> str:
        return f"{self.shape_set.name} {self.how}"

    @property
    def sets(self) -> tuple[ShapeSet, ...]:
        if self.how == ALONE:
            return (self.shape_set,)
        return tuple(other for other in ALL_SETS if other.is_as_general_as(self.shape_set))

    def run(self, number: int, protocol: Protocol, mode: str | None = None) -> Run:
        """One run; without a mode in the fast one, where that can be had."""
        arguments = {
            "sets": [shape_set.name for shape_set in self.sets],
            "size": SIZE,
            "komi": KOMI,
            "seed": seed_of(Figure4.name, self.name, number),
            "protocol": protocol.arguments,
            "mode": mode or ("online" if self.shape_set.is_hashed else "fast"),
        }
        name = self.name if mode is None else f"{self.name} {mode}"
        return Run(f"{name} {number:02d}", learn, arguments, protocol.games)


LEARNERS: Final = tuple(Learner(shape_set, how) for how in (ALONE, CUMULATIVE) for shape_set in ALL_SETS)


def _runs(count: int, protocol: Protocol) -> list[Run]:
    """The first run of every learner comes before the second of any, so that a part of them is balanced."""
    return [learner.run(number, protocol) for number in range(count) for learner in LEARNERS]


def sum_up(results: Sequence[Json], protocol: Protocol) -> Json:
    """What is kept of the runs of one learner: figures of each run, rates in percent, and the mean curve."""
    curves = [result["curve"] for result in results]
    games, wins = protocol.final_games, LEARNED * protocol.test_games
    return {
        "final": [percent_won(result["final"], games) for result in results],
        "averaged": [percent_won(result["averaged"], games) for result in results],
        "as Black": [percent_won(result["final"], games, color=0) for result in results],
        "as White": [percent_won(result["final"], games, color=1) for result in results],
        "better agent": [percent_won(result["final"], games, best=True) for result in results],
        "early": [_early(curve, protocol) for curve in curves if EARLY in protocol.tests],
        "learned after": [games_until(curve, protocol.tests, wins) for curve in curves],
        "learned after, smoothed": [games_until(c, protocol.tests, wins, in_a_row=SMOOTHED) for c in curves],
        "curve": mean_curve(curves, protocol.test_games),
    }


def _early(curve: list[list[float]], protocol: Protocol) -> float:
    return 100 * float(mean_rates(curve, protocol.test_games)[protocol.tests.index(EARLY)])


def of(results: Json, learner: Learner, key: str) -> list[Any]:
    """One figure of every run of a learner."""
    found: list[Any] = results["experiments"][learner.name][key]
    return found


def learning_time(results: Json, learner: Learner, key: str = "learned after") -> Estimate:
    """The mean number of games until both agents exceed 50 %; runs that never did count as all their games."""
    games = results["protocol"]["games"]
    return estimate([games if found is None else found for found in of(results, learner, key)])


def reached(results: Json, learner: Learner) -> int:
    """How many runs had both agents exceed 50 % in one test."""
    return sum(found is not None for found in of(results, learner, "learned after"))


# Figure 4 drawn: win rates and learning times by size, learning curves, and learning time by number of sets.

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


class Figure4(Table):
    name = "figure4"
    title = "Figure 4: shapes on 5×5, alone and together"
    hours = scaled(RUNS)

    def measure(self, scope: Scope) -> Json:
        """Do all runs, or what is missing, and sum them up by learner."""
        protocol, count = PROTOCOLS[scope.budget], scope.runs or RUNS[scope.budget]
        results = do_runs(_runs(count, protocol), scope.folder, scope.workers, scope.watch)
        # The runs of one learner are as far apart as there are learners.
        summaries = {
            learner.name: sum_up(results[first :: len(LEARNERS)], protocol) for first, learner in enumerate(LEARNERS)
        }
        return {"protocol": protocol.arguments, "runs": count, "experiments": summaries}

    def _find(self, name: str, how: str) -> Learner:
        return Learner(ShapeSet.parse(name), how)

    def _name(self, learner: Learner) -> str:
        return learner.name.replace("x", "×")

    def rows(self, results: Json) -> Iterator[Row]:
        """The paper's statements first, then the figures of all learners."""
        yield from self._statements(results)
        for learner in LEARNERS:
            yield from self._figures(results, learner)

    def _row(self, name: str, what: str, published: Value, found: Estimate | str | None, **more: Any) -> Row:
        if isinstance(found, Estimate):
            interval = found.interval and (round(found.interval[0], 2), round(found.interval[1], 2))
            return Row(f"{self.name}/{name}", what, published, round(found.mean, 2), interval, n=found.n, **more)
        return Row(f"{self.name}/{name}", what, published, found, None, **more)

    def _statements(self, results: Json) -> Iterator[Row]:
        best_alone, combined = self._find("LI 2x2", ALONE), self._find("LI 3x3", CUMULATIVE)
        early = of(results, best_alone, "early")
        what = f"{self._name(best_alone)}: win rate against ALP after {EARLY:,} games, %"
        yield self._row("LI-2x2-alone/early", what, 25, estimate(early) if early else None)
        for learner, published in ((best_alone, "over 80"), (combined, "over 90")):
            final = estimate(of(results, learner, "final"))
            yield self._row(
                f"{self._slug(learner)}/statement", f"{self._name(learner)}: final win rate, %", published, final
            )
        alone = {e: estimate(of(results, e, "final")) for e in LEARNERS if e.how == ALONE}
        best, second = sorted(alone, key=lambda e: -alone[e].mean)[:2]
        lowest, highest = (alone[best].interval or (0.0,))[0], (alone[second].interval or (100.0,))[-1]
        is_best = (best.shape_set.width, best.shape_set.height) == (2, 2) if lowest > highest else None
        words = self._name(best).removesuffix(f" {ALONE}")
        yield self._row("best-alone", "the best set alone", "2×2", words, n=results["runs"], holds=is_best)
        faster = f"{sum(self._is_li_faster(results, size) for size in TABLE_SIZES)} of {len(TABLE_SIZES)}"
        yield self._row("LI-faster", "sizes up to 3×3 at which LI alone learns faster than LD", "small shapes", faster)
        yield self._row(
            "linear", "learning time against number of sets: R² of a line", "about linear", self._linearity(results)
        )

    def _is_li_faster(self, results: Json, size: tuple[int, int]) -> bool:
        times = [learning_time(results, Learner(ShapeSet(*size, location), ALONE)).mean for location in Location]
        return times[0] < times[1]

    def _linearity(self, results: Json) -> Estimate | None:
        """How much of the learning time of cumulative sets a line over their number explains; None if few learned."""
        sets, times = self._times_by_sets(results)
        if len(times) < 3 or np.ptp(times) == 0:
            return None
        return Estimate(float(np.corrcoef(sets, times)[0, 1] ** 2), None)

    def _times_by_sets(self, results: Json) -> tuple[list[int], list[float]]:
        """Of the cumulative learners all of whose runs learned."""
        learned = [e for e in LEARNERS if e.how == CUMULATIVE and reached(results, e) == results["runs"]]
        return [len(e.sets) for e in learned], [learning_time(results, e).mean for e in learned]

    def _slug(self, learner: Learner) -> str:
        return learner.name.replace(" ", "-")

    def _figures(self, results: Json, learner: Learner) -> Iterator[Row]:
        slug, name = self._slug(learner), self._name(learner)
        for key, words in (("final", "final win rate, %"), ("averaged", "final win rate of averaged weights, %")):
            yield self._row(f"{slug}/{key}", f"{name}: {words}", None, estimate(of(results, learner, key)))
        for color in ("as Black", "as White"):
            found = estimate(of(results, learner, color))
            yield self._row(f"{slug}/{color.split()[1].lower()}", f"{name}: final win rate {color}, %", None, found)
        count = reached(results, learner)
        what = f"{name}: games until both agents exceed 50 %, in {count} of {results['runs']} runs"
        time = learning_time(results, learner) if count else None
        yield self._row(f"{slug}/learned", what, None, time, better=Better.LOWER)

    def draw(self, results: Json, pictures: Path) -> None:
        """Draw all pictures of the figure."""
        _plot_sizes(results, pictures / "figure4.svg")
        _plot_curves(results, pictures / "figure4-curves.svg")
        _plot_times(results, pictures / "figure4-sets.svg")

    def section(self, results: Json) -> str:
        """What was measured, the plots, and a table of all learners."""
        protocol = results["protocol"]
        return f"""
Each set of shapes alone, and together with all sets that are as or more general: {len(LEARNERS)} learners of
{results["runs"]} runs. In each run a pair of agents learns from {protocol["games"]:,} games on {SIZE}×{SIZE} with a
komi of {KOMI}. Every {protocol["test_every"]:,} games each agent plays {protocol["test_games"]:,} test games
against ALP, at the end {protocol["final_games"]:,}; half of them with each color, greedily and from the empty
board. Rates are means of both agents; ± is half the width of the 95 % interval over runs (Student's).

![Each set alone](silver2007/figure4.svg)

![Cumulative sets](silver2007/figure4-cumulative.svg)

*Learning time* is the number of games after which both agents first exceed 50 % in one test, as in the paper. A
test has but {protocol["test_games"]} games and the agents of a pair take turns at being the stronger, so *smoothed*
asks for the mean of {SMOOTHED} tests in a row. A run in which it never happens counts as all of its games, *learned*
says in how many it did, and points with a white inside are such lower bounds.

![Learning curves](silver2007/figure4-curves.svg)

![Learning time against the number of sets](silver2007/figure4-sets.svg)

{self._big_table(results)}
"""

    def _big_table(self, results: Json) -> str:
        header = (
            "sets",
            "final, %",
            "averaged, %",
            "better agent",
            "as Black",
            "as White",
            "learned",
            "after games",
            "smoothed",
        )
        return table(header, (self._table_row(results, learner) for learner in LEARNERS))

    def _table_row(self, results: Json, learner: Learner) -> list[str]:
        rates = [estimate(of(results, learner, key)) for key in ("final", "averaged")]
        plain = [estimate(of(results, learner, key)).mean for key in ("better agent", "as Black", "as White")]
        times = [self._format_time(results, learner, key) for key in ("learned after", "learned after, smoothed")]
        count = f"{reached(results, learner)} of {results['runs']}"
        return [self._name(learner), *map(format_mean, rates), *(f"{rate:.0f}" for rate in plain), count, *times]

    def _format_time(self, results: Json, learner: Learner, key: str) -> str:
        """The mean, a lower bound if some runs never learned, nothing if none did."""
        missing = [found is None for found in of(results, learner, key)]
        if all(missing):
            return NOTHING
        return ("≥ " if any(missing) else "") + format_value(round(learning_time(results, learner, key).mean))


# What the paper reads in Figure 6, as questions that a program can answer about a shape.


def cuts(shape: Shape) -> bool:
    """Whether a stone touches stones of the other color that are not connected inside of the shape."""
    return any(_touches_two_groups(shape, cell) for cell, point in enumerate(shape.cells) if point.stone != EMPTY)


def _touches_two_groups(shape: Shape, cell: int) -> bool:
    around = [near for near in _neighbors(shape, cell) if shape.cells[near].stone == -shape.cells[cell].stone]
    return len({min(_group(shape, near)) for near in around}) > 1


def _group(shape: Shape, cell: int) -> set[int]:
    """The cells that are connected to this one and like it."""
    group, waiting = set(), [cell]
    while waiting:
        here = waiting.pop()
        if here not in group and shape.cells[here].stone == shape.cells[cell].stone:
            group.add(here)
            waiting += _neighbors(shape, here)
    return group


def makes_two_eyes(shape: Shape) -> bool:
    """Whether it lies in the corner and one color surrounds two empty points there.

    Points on its last lines do not count: what lies beyond them is not known.
    """
    owners = [_eye_owner(shape, cell) for cell, point in enumerate(shape.cells) if point.stone == EMPTY]
    return shape.place == (0, 0) and any(owners.count(color) > 1 for color in (-1, 1))


def _eye_owner(shape: Shape, cell: int) -> int:
    """The color of all neighbors of an empty cell, 0 if they differ or some lie outside of the shape."""
    row, column = divmod(cell, shape.width)
    if row == shape.height - 1 or column == shape.width - 1:
        return EMPTY
    colors = {shape.cells[near].stone for near in _neighbors(shape, cell)}
    return colors.pop() if len(colors) == 1 else EMPTY


def _neighbors(shape: Shape, cell: int) -> Iterator[int]:
    row, column = divmod(cell, shape.width)
    for down, across in ((-1, 0), (1, 0), (0, -1), (0, 1)):
        if 0 <= row + down < shape.height and 0 <= column + across < shape.width:
            yield (row + down) * shape.width + column + across


def matches(shape: Shape, stones: Sequence[int]) -> bool:
    """Whether a shape has these stones, row by row, and lies in the corner or anywhere."""
    return [cell.stone for cell in shape.cells] == list(stones) and shape.place in ((0, 0), None)


# The sets of the final agents: all shapes up to 3×3, location independent and dependent (section 10).

UP_TO_3X3: Final = tuple(ShapeSet(*size, location).name for location in Location for size in TABLE_SIZES)
