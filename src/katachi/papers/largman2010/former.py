"""A value that goes on learning in games against its frozen former self (D2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Final

from katachi.core.models import load_model
from katachi.crbm.value import ValueLearner, ValueTraining, play_former_self
from katachi.papers.documents import (
    COLORS,
    Estimate,
    estimate,
    format_rounded,
    format_value,
    label_axes,
    numbered,
    plot,
    share,
    table,
)
from katachi.papers.experiment import Budget, Json, Row, Run, Scope, Table, do_runs, seed_of
from katachi.papers.games import require_games
from katachi.papers.largman2010.learned import EPSILON, KOMI, Kind, Subject, learn_values
from katachi.shapes.model import LinearModel

NAME: Final = "former"
RUN: Final = f"largman2010/{NAME}"
PUBLISHED_GAMES: Final = 110
CONSISTENTLY: Final = 60.0  # percent won in a test and all later ones
SEEDS: Final = {Budget.SMOKE: 1, Budget.HOUR: 3, Budget.FULL: 3}


@dataclass(frozen=True, slots=True)
class Plan:
    """How many games are learned from, and how it is tested after every so many."""

    games: int = 1_100
    test_every: int = PUBLISHED_GAMES
    test_games: int = 200

    @property
    def tests(self) -> list[int]:
        return list(range(self.test_every, self.games + 1, self.test_every))


PLANS: Final = {Budget.SMOKE: Plan(4, 2, 4), Budget.HOUR: Plan(330), Budget.FULL: Plan()}


def measure(scope: Scope) -> Json:
    """Learn values from records, and on from there; ``--runs`` is the number of seeds."""
    games, plan = require_games(scope), PLANS[scope.budget]
    subjects = [Subject(Kind.CRBM, seed) for seed in range(scope.runs or SEEDS[scope.budget])]
    learn_values(subjects, games, scope)
    runs = [
        Run(
            f"{subject.folder(games, scope).name} {plan.games}",
            partial(_go_on, features=subject.features(games, scope), first=str(subject.value(games, scope))),
            {"seed": subject.seed, "size": games.size, "plan": asdict(plan)},
            plan.games + len(plan.tests) * plan.test_games,
        )
        for subject in subjects
    ]
    found = do_runs(runs, scope.folder, scope.workers, scope.watch)
    return {"data": games.describe(), "plan": asdict(plan), "tests": [run["tests"] for run in found]}


def _go_on(seed: int, size: int, plan: Json, features: str, first: str) -> Json:
    """Learn from games against the former self, and test now and then: games won, and games with a winner."""
    wanted = Plan(**plan)
    learner = ValueLearner(
        ValueTraining(
            features=features,
            first_model=first,
            size=size,
            self_play=wanted.games,
            epsilon=EPSILON,
            komi=KOMI,
            seed=seed,
        )
    )
    former, _ = load_model(first)
    assert isinstance(former, LinearModel)  # the learner has begun with it
    tests = []
    while not learner.is_finished:
        learner.learn_game()
        if learner.games in wanted.tests:
            tests.append(_test(learner, former, wanted.test_games))
    return {"tests": tests}


def _test(learner: ValueLearner, former: LinearModel, games: int) -> list[int]:
    """How many games the learner wins, of how many with a winner; both explore alike, and nobody learns."""
    settings = learner.settings.model_copy(update={"final_epsilon": EPSILON})
    now = LinearModel(former.features, learner.learner.weights)
    seed = seed_of(NAME, settings.seed, learner.games)
    played = [play_former_self(now, former, settings, settings.size, number, seed) for number in range(games)]
    return [sum(game.learner_won for game in played), sum(game.winner is not None for game in played)]


def games_needed(tests: Sequence[Sequence[int]], plan: Plan) -> int | None:
    """The games after which the learner wins often enough in a test and all later ones; None if never."""
    needed = None
    for games, (won, decided) in zip(reversed(plan.tests), reversed(tests), strict=True):
        if not decided or 100 * won < CONSISTENTLY * decided:
            break
        needed = games
    return needed


def final(results: Json) -> Estimate | None:
    """What the learners win in their last tests, in percent, all seeds together."""
    last = [tests[-1] for tests in results["tests"]]
    decided = sum(count for _, count in last)
    return share(sum(won for won, _ in last), decided) if decided else None


def rows(results: Json) -> list[Row]:
    """Games until it consistently beats its former self, and what it wins at the end."""
    plan, found = Plan(**results["plan"]), final(results)
    needed = [games_needed(tests, plan) for tests in results["tests"]]
    reached = [float(games) for games in needed if games is not None]
    mean, interval = estimate(reached) if reached else (None, None)
    what = f"games until it consistently beats its former self ({len(reached)} of {len(needed)} seeds do)"
    won, won_interval = (None, None) if found is None else (round(found.mean, 1), found.interval)
    return [
        Row(f"{NAME}/games", what, PUBLISHED_GAMES, mean, interval, RUN),
        Row(f"{NAME}/won", f"won against it after {plan.games:,} games, %", None, won, won_interval, RUN),
    ]


def section(results: Json, pictures: Path) -> str:
    """What was done, the curves, and the differences."""
    plan, found = Plan(**results["plan"]), final(results)
    _draw(results, plan, pictures / f"{NAME}.svg")
    lines = [
        (f"{seed}", format_value(games_needed(tests, plan)), _percents(tests))
        for seed, tests in enumerate(results["tests"])
    ]
    at_last = "no game of which had a winner at last" if found is None else f"{format_rounded(found)} % won at last"
    return f"""
A value over CRBM features that learned from records goes on learning in {plan.games:,} games against itself as it was;
its ε falls from {EPSILON} to almost nothing, that of its former self stays. After every {plan.test_every} games both
play {plan.test_games} test games with ε = {EPSILON}, from which nothing is learned: {at_last}.

![Games won against the former self](largman2010/{NAME}.svg)

{table(("seed", f"games until {CONSISTENTLY:.0f} % for good", "won in each test, %"), lines)}

Differences from the paper:

{numbered(_DIFFERENCES)}
"""


def _percents(tests: Sequence[Sequence[int]]) -> str:
    return ", ".join(f"{100 * won / decided:.0f}" if decided else "–" for won, decided in tests)


def _draw(results: Json, plan: Plan, path: Path) -> None:
    with plot(path) as (axes,):
        for seed, tests in enumerate(results["tests"]):
            shares = [100 * won / max(1, decided) for won, decided in tests]
            axes.plot(plan.tests, shares, color=COLORS[1 + seed % (len(COLORS) - 1)], marker="o", label=f"seed {seed}")
        axes.axhline(CONSISTENTLY, color="#888888", linestyle=":", linewidth=1)
        axes.set_ylim(0, 100)
        label_axes(axes, "Against the former self", "games", "won, %")


_DIFFERENCES: Final = (
    f"The paper says that the learner consistently wins after {PUBLISHED_GAMES} iterations. We take an iteration for a "
    f"game, and consistently for {CONSISTENTLY:.0f} % or more in a test and all later ones.",
    "Nobody fills a simple eye of his own, and all stones on the board are taken for alive when both have passed.",
    "Both chains of afterstates teach, the learner's and that of its former self.",
)

TABLE: Final = Table(NAME, "Learning on against the former self", measure, rows, section)
