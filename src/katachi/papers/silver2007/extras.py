"""Figure 4's key learners, and what the paper describes without figures: online cascade (section 8), growing (7)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

import numpy as np

from katachi.core.training import MetricLine
from katachi.papers.documents import COLORS, NOTHING, Estimate, estimate, format_mean, label_axes, plot, table
from katachi.papers.experiment import (
    Better,
    Budget,
    ExperimentError,
    Json,
    Row,
    Run,
    Scope,
    Table,
    Value,
    do_runs,
    scaled,
    seed_of,
)
from katachi.papers.silver2007.figure4 import (
    EARLY,
    KOMI,
    LEARNERS,
    PROTOCOLS,
    SIZE,
    UP_TO_3X3,
    Protocol,
    count_wins,
    learn,
    mean_curve,
    percent_won,
    sum_up,
    test_at_the_end,
)
from katachi.shapes.learner import GrowingLearner, TdSettings, growing_stages

# The online cascade on and off (section 8), on 5×5 with all shapes up to 3×3.

CASCADE_RUNS: Final = {Budget.SMOKE: 2, Budget.HOUR: 3, Budget.FULL: 10}
_WAYS: Final = {"off": False, "on": True}


def _cascade_run(way: str, number: int, protocol: Protocol) -> Run:
    arguments = {
        "sets": list(UP_TO_3X3),
        "size": SIZE,
        "komi": KOMI,
        "seed": seed_of(Cascade.name, number),  # the same for both ways
        "protocol": protocol.arguments,
        "mode": "online",
        "cascade": _WAYS[way],
    }
    return Run(f"{way} {number:02d}", learn, arguments, protocol.games)


class Cascade(Table):
    name = "cascade"
    title = "Online cascade"
    hours = scaled(CASCADE_RUNS)

    def measure(self, scope: Scope) -> Json:
        """Do all runs, or what is missing; the paper's exact update in both."""
        protocol, count = PROTOCOLS[scope.budget], scope.runs or CASCADE_RUNS[scope.budget]
        runs = [_cascade_run(way, number, protocol) for number in range(count) for way in _WAYS]
        results = do_runs(runs, scope.folder, scope.workers, scope.watch)
        summaries = {way: sum_up(results[first :: len(_WAYS)], protocol) for first, way in enumerate(_WAYS)}
        return {"protocol": protocol.arguments, "runs": count, "cascade": summaries}

    def rows(self, results: Json) -> Iterator[Row]:
        """Win rates with and without; the paper gives no figures."""
        words = {"early": "after 1,000 games", "final": "at the end", "averaged": "at the end, averaged weights"}
        for way, found in results["cascade"].items():
            for key, when in words.items():
                if found[key]:
                    mean, interval, n = estimate(found[key])
                    what = f"cascade {way}: win rate against ALP {when}, %"
                    yield Row(f"{self.name}/{way}/{key}", what, None, round(mean, 2), interval, n=n)

    def draw(self, results: Json, pictures: Path) -> None:
        """Draw both learning curves."""
        protocol = Protocol(**results["protocol"])
        with plot(pictures / "cascade.svg") as (axes,):
            for (way, found), color in zip(results["cascade"].items(), (COLORS[4], COLORS[5]), strict=True):
                axes.plot(protocol.tests, found["curve"], color=color, linewidth=1, label=f"cascade {way}")
            axes.set_xscale("log")
            axes.set_ylim(0, 100)
            label_axes(axes, "Online cascade, mean over runs", "games", "win rate against ALP, %")

    def section(self, results: Json) -> str:
        """What it does, the curves, and the win rates."""
        header = ("cascade", "final, %", "averaged, %", "better agent, %")
        keys = ("final", "averaged", "better agent")
        lines = [
            (way, *(format_mean(estimate(found[key])) for key in keys)) for way, found in results["cascade"].items()
        ]
        return f"""
With the cascade each set of shapes learns from an error of its own, that of the value which only the sets as or
more general give; so the general shapes take what they can explain. The paper introduces it for the sake of growing
boards and gives no figures. Here all {len(UP_TO_3X3)} sets up to 3×3 learn on {SIZE}×{SIZE}, otherwise as in Figure
4, in {results["runs"]} runs each.

![Online cascade on and off](silver2007/cascade.svg)

{table(header, lines)}
"""


# The learners that the paper speaks of, in 50 runs as there: learning after each move, and after each game.

KEY_LEARNERS: Final = ("LI 2x2 alone", "LI 3x3 cumulative", "LD 2x2 alone", "LD 3x3 cumulative")
KEY_RUNS: Final = {Budget.SMOKE: 2, Budget.HOUR: 10, Budget.FULL: 50}
MODES: Final = {"online": "after each move", "fast": "after each game"}
_STATED: Final[dict[tuple[str, str], Value]] = {
    ("LI 2x2 alone", "early"): 25,
    ("LI 2x2 alone", "final"): "over 80",
    ("LI 3x3 cumulative", "final"): "over 90",
}


class KeyLearners(Table):
    name = "key-learners"
    title = "Figure 4: its key learners in full"
    hours = scaled(KEY_RUNS)

    def measure(self, scope: Scope) -> Json:
        """Do all runs, or what is missing; ``--model`` names learners instead of all of these."""
        protocol, count = PROTOCOLS[scope.budget], scope.runs or KEY_RUNS[scope.budget]
        if unknown := [name for name in scope.models if name not in KEY_LEARNERS]:
            raise ExperimentError(f"there is no learner {unknown[0]}: there are {', '.join(KEY_LEARNERS)}")
        chosen = [(name, mode) for name in scope.models or KEY_LEARNERS for mode in MODES]
        by_name = {learner.name: learner for learner in LEARNERS}
        runs = [by_name[name].run(number, protocol, mode) for number in range(count) for name, mode in chosen]
        results = do_runs(runs, scope.folder, scope.workers, scope.watch)
        found: Json = {name: {} for name, _ in chosen}
        for first, (name, mode) in enumerate(chosen):
            found[name][mode] = sum_up(results[first :: len(chosen)], protocol)
        return {"protocol": protocol.arguments, "runs": count, "learners": found}

    def rows(self, results: Json) -> Iterator[Row]:
        """The paper's statements, for both ways to learn."""
        for name, modes in results["learners"].items():
            for mode, found in modes.items():
                for key, words in (("early", f"win rate after {EARLY:,} games, %"), ("final", "final win rate, %")):
                    if found[key]:
                        published = _STATED.get((name, key))
                        what = f"{name.replace('x', '×')}, learning {MODES[mode]}: {words}"
                        row = f"{self.name}/{name.replace(' ', '-')}/{mode}/{key}"
                        yield Row.measured(row, what, published, estimate(found[key]))

    def section(self, results: Json) -> str:
        """How they learn, and how much it matters."""
        keys = {"early": f"after {EARLY:,} games, %", "final": "final, %", "averaged": "averaged, %"}
        lines = []
        for name, modes in results["learners"].items():
            for mode, found in modes.items():
                cells = (format_mean(estimate(found[key])) if found[key] else NOTHING for key in keys)
                lines.append((name.replace("x", "×"), MODES[mode], *cells))
            cells = (
                _difference(modes["fast"][key], modes["online"][key]) if modes["fast"][key] else NOTHING for key in keys
            )
            lines.append((name.replace("x", "×"), "the second less the first", *cells))
        return f"""
The learners that the paper speaks of, {results["runs"]} runs each (the paper's number is 50), learning after each move
as there, and after each game with tables that are renewed after every batch of games, as our other learners up to 3×3
do. Rates against ALP are means of both agents; ± is half the width of the 95 % interval over runs.

{table(("learner", "learns", *keys.values()), lines)}
"""


def _difference(first: Sequence[float], second: Sequence[float]) -> str:
    """How much larger the mean of the first is, with an interval (Welch's, by normal quantiles)."""
    gap = float(np.mean(first) - np.mean(second))
    if min(len(first), len(second)) < 3:
        return f"{gap:+.1f}"
    error = math.sqrt(np.var(first, ddof=1) / len(first) + np.var(second, ddof=1) / len(second))
    return f"{gap:+.1f} ± {1.96 * error:.1f}"


# 9×9 learned after 5×5, 6×6, 7×7 and 8×8, against 9×9 learned from nothing.

SMALLEST: Final = 5
GROWING_SIZE: Final = 9
MASTERED: Final = 0.9  # the win rate of both agents at which the board grows
_RATE: Final = f"{100 * MASTERED:.0f} %"
GROWING_RUNS: Final = {Budget.SMOKE: 2, Budget.HOUR: 4, Budget.FULL: 10}
STARTS: Final = {"grown": SMALLEST, "from nothing": GROWING_SIZE}


@dataclass(frozen=True, slots=True)
class Plan:
    """How long to learn on the last size, and at most on each smaller one; how often to test, and how well."""

    games: int = 50_000
    games_on_smaller: int = 50_000
    test_every: int = 500
    test_games: int = 200  # of each agent
    final_games: int = 1_000


PLANS: Final = {
    Budget.SMOKE: Plan(games=200, games_on_smaller=100, test_every=50, test_games=10, final_games=20),
    Budget.HOUR: Plan(),
    Budget.FULL: Plan(),
}


def grow(smallest: int, seed: int, plan: Json) -> Json:
    """Learn on one size after another with the paper's settings; the curve is that of the last size, from 0 games on.

    ``smaller`` has the games that were played on each smaller size.
    """
    wanted = Plan(**plan)
    settings = TdSettings(size=GROWING_SIZE, sets=UP_TO_3X3, seed=seed, average_from=0.5)
    growing = GrowingLearner(growing_stages(settings, wanted.games, smallest, wanted.games_on_smaller), MASTERED)
    smaller = {}
    while growing.size < GROWING_SIZE:
        growing.train_until(wanted.test_every)
        size, games = growing.size, growing.learner.games
        rates = [won / wanted.test_games for won in count_wins(growing.learner, wanted.test_games)]
        growing.grow(MetricLine({"size": size, "games": games, "win_rates": rates}))
        smaller[str(size)] = games
    curve = [count_wins(growing.learner, wanted.test_games)]
    while not growing.is_finished:
        growing.train_until(wanted.test_every)
        curve.append(count_wins(growing.learner, wanted.test_games))
    return {"smaller": smaller, "curve": curve} | test_at_the_end(growing.learner, wanted.final_games)


def time_to_master(results: Json, start: str) -> Estimate:
    """Mean games on the last size; runs that never got there count as all their games."""
    found = results["starts"][start]["mastered after"]
    return estimate([results["plan"]["games"] if games is None else games for games in found])


class Growing(Table):
    name = "growing"
    title = "Board growing"
    hours = scaled(GROWING_RUNS)

    def measure(self, scope: Scope) -> Json:
        """Do all runs, or what is missing, and sum them up by where they began."""
        plan, count = PLANS[scope.budget], scope.runs or GROWING_RUNS[scope.budget]
        runs = [self._run(start, number, plan) for number in range(count) for start in STARTS]
        results = do_runs(runs, scope.folder, scope.workers, scope.watch)
        summaries = {start: self._sum_up(results[first :: len(STARTS)], plan) for first, start in enumerate(STARTS)}
        return {"plan": asdict(plan), "runs": count, "starts": summaries}

    def _run(self, start: str, number: int, plan: Plan) -> Run:
        arguments = {"smallest": STARTS[start], "seed": seed_of(self.name, start, number), "plan": asdict(plan)}
        return Run(
            f"{start} {number:02d}",
            grow,
            arguments,
            plan.games + (GROWING_SIZE - STARTS[start]) * plan.games_on_smaller,
        )

    def _sum_up(self, results: Sequence[Json], plan: Plan) -> Json:
        """What is kept of the runs that began alike."""
        curves = [result["curve"] for result in results]
        return {
            "mastered after": [self._games_to_master(curve, plan) for curve in curves],
            "smaller": [result["smaller"] for result in results],
            "final": [percent_won(result["final"], plan.final_games) for result in results],
            "averaged": [percent_won(result["averaged"], plan.final_games) for result in results],
            "curve": mean_curve(curves, plan.test_games),
        }

    def _games_to_master(self, curve: Sequence[Sequence[float]], plan: Plan) -> int | None:
        """The games on the last size before both agents first win so often in a test; None if never."""
        tests = range(0, plan.games + plan.test_every, plan.test_every)
        mastered = (games for games, won in zip(tests, curve, strict=True) if min(won) >= MASTERED * plan.test_games)
        return next(mastered, None)

    def rows(self, results: Json) -> Iterator[Row]:
        """Games on 9×9 until both agents win 90 %, and win rates; the paper gives no figures."""
        for start in STARTS:
            mean, interval, n = time_to_master(results, start)
            what = f"{start}: games on {GROWING_SIZE}×{GROWING_SIZE} until both agents win {_RATE} against ALP"
            name = f"{self.name}/{start.replace(' ', '-')}"
            yield Row(f"{name}/mastered", what, None, mean, interval, n=n, better=Better.LOWER)
            for key in ("final", "averaged"):
                mean, interval, n = estimate(results["starts"][start][key])
                games = f"{results['plan']['games']:,} games on {GROWING_SIZE}×{GROWING_SIZE}"
                what = f"{start}: {key} win rate against ALP after {games}, %"
                yield Row(f"{name}/{key}", what, None, round(mean, 2), interval, n=n)

    def draw(self, results: Json, pictures: Path) -> None:
        """Draw both learning curves."""
        plan = Plan(**results["plan"])
        with plot(pictures / "growing.svg") as (axes,):
            for (start, found), color in zip(results["starts"].items(), (COLORS[4], COLORS[5]), strict=True):
                games = range(0, plan.games + plan.test_every, plan.test_every)
                axes.plot(games, found["curve"], color=color, linewidth=1, label=start)
            axes.axhline(100 * MASTERED, color="#888888", linestyle=":", linewidth=1)
            axes.set_ylim(0, 100)
            label_axes(
                axes,
                f"{GROWING_SIZE}×{GROWING_SIZE}, grown and from nothing",
                f"games on {GROWING_SIZE}×{GROWING_SIZE}",
                "win rate against ALP, %",
            )

    def section(self, results: Json) -> str:
        """What was done, the curve, and how long it took."""
        plan = Plan(**results["plan"])
        return f"""
All {len(UP_TO_3X3)} sets up to 3×3 learn on {SMALLEST}×{SMALLEST} until both agents win {_RATE} of
{plan.test_games} test games against ALP, then on the next larger board, with the weights that they have, up to
{GROWING_SIZE}×{GROWING_SIZE}; or on {GROWING_SIZE}×{GROWING_SIZE} from the first game on. A smaller board is left
after {plan.games_on_smaller:,} games in any case. {results["runs"]} runs each, with the paper's settings but without
the cascade. On the smaller boards the grown pairs played {self._games_on_smaller(results):,.0f} games on average,
which are shorter ones.

![Win rate on 9×9, grown and from nothing](silver2007/growing.svg)

{self._summary(results)}
"""

    def _games_on_smaller(self, results: Json) -> float:
        return estimate([float(sum(smaller.values())) for smaller in results["starts"]["grown"]["smaller"]]).mean

    def _summary(self, results: Json) -> str:
        header = ("", f"games on {GROWING_SIZE}×{GROWING_SIZE} until {_RATE}", "reached", "final, %", "averaged, %")
        lines = []
        for start, found in results["starts"].items():
            reached = sum(games is not None for games in found["mastered after"])
            rates = [format_mean(estimate(found[key])) for key in ("final", "averaged")]
            time = format_mean(time_to_master(results, start), 0)
            lines.append((start, time, f"{reached} of {results['runs']}", *rates))
        return table(header, lines)
