"""CRBMs and values over their features, as they are learned, and games that they play."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from functools import partial
from itertools import chain, combinations, product
from pathlib import Path
from typing import Any, ClassVar, Final

from katachi.arena.match import Ending
from katachi.arena.ratings import Anchor
from katachi.arena.records import GameRecord
from katachi.arena.settings import OpeningSettings, TournamentSettings
from katachi.core.linear import LinearModel
from katachi.core.models import load_model
from katachi.crbm.config import CrbmConfig, CrbmTraining
from katachi.crbm.value import (
    CENTERED_TEMPLATES,
    TEMPLATES,
    FormerSelfSettings,
    ValueLearner,
    ValueTraining,
    play_former_self,
    train_value,
)
from katachi.go.points import Symmetry
from katachi.papers.documents import (
    COLORS,
    LEAST_RUNS,
    Estimate,
    estimate,
    format_estimate,
    format_rounded,
    format_value,
    label_axes,
    plot,
    share,
    table,
)
from katachi.papers.experiment import Better, Budget, Json, Row, Run, Scope, Table, Workers, do_runs, planned, seed_of
from katachi.papers.tournaments import (
    Games,
    Pair,
    describe_games,
    distinct_games,
    format_won,
    games_of,
    gnugo_referee,
    has_gnugo,
    play_rounds,
    rate_games,
    require_games,
    rounds,
    write_players,
)
from katachi.players.specs import bundled_players

# The CRBMs of this paper and the linear values over features, each learned once for all tables of a run.
#
# ```
# RUN/learned/KIND-SEED-…/crbm/     a training run, which resumes after an interruption
# RUN/learned/KIND-SEED-…/value/    the same for the value over its features
# ```

LEARNED: Final = "learned"
PAPER_GAMES: Final = 1_000
EPSILON: Final = 0.1
KOMI: Final = 5.5
_KERNEL: Final = 3  # points a side
_BATCH: Final = 100  # boards of 9×9
_VALIDATION_POSITIONS: Final = 2048

_COMMAND: Final = "katachi reproduce largman2010"
_EVALUATIONS: Final = 10  # of each training


class Kind(StrEnum):
    """What boards are seen by."""

    CRBM = "crbm"
    ORIENTED = "oriented-crbm"  # kernels in any of their eight orientations
    REAL = "real-crbm"  # visible units are means
    TEMPLATES = TEMPLATES  # all of 2×2
    CENTERED = CENTERED_TEMPLATES  # less how often each is on, as features of a CRBM are
    SOFTMAX = "softmax-crbm"  # kernels in just one of their eight orientations, never off
    SQUARED = "crbm-squared"  # the gradient of the squared error, which is the paper's
    SQUARED_TEMPLATES = "templates-squared"

    @property
    def seen_by(self) -> Kind:
        """The kind whose features it has."""
        return {Kind.SQUARED: Kind.CRBM, Kind.SQUARED_TEMPLATES: Kind.TEMPLATES}.get(self, self)

    @property
    def is_crbm(self) -> bool:
        return self.seen_by not in (Kind.TEMPLATES, Kind.CENTERED)


@dataclass(frozen=True, slots=True)
class LearnedPlan:
    """How long is learned: positions of 9×9 by a CRBM, games and passes over them by a value."""

    positions: int
    games: int
    passes: int

    def boards(self, size: int) -> int:
        """How many a CRBM learns from on this size."""
        return round(self.positions * board_share(size))


def board_share(size: int) -> float:
    """How much less than on 9×9 is done with a larger board: it is windows that kernels learn, and it has more."""
    windows, usual = (max(1, lines - _KERNEL + 1) ** 2 for lines in (size, 9))
    return min(1.0, usual / windows)


LEARNED_PLANS: Final = {
    Budget.SMOKE: LearnedPlan(2_000, 20, 1),
    Budget.HOUR: LearnedPlan(30_000, PAPER_GAMES, 3),
    Budget.FULL: LearnedPlan(1_000_000, PAPER_GAMES, 10),
}


def how_long(games: Games, scope: Scope) -> str:
    """What tells the learning of one budget and set from that of others, in names."""
    plan = LEARNED_PLANS[scope.budget]
    return f"{plan.positions}-{plan.games}-{plan.passes}-{games.digest}"


@dataclass(frozen=True, slots=True)
class Subject:
    """Features, and the seed that they and their value are learned with."""

    kind: Kind
    seed: int = 0

    @property
    def name(self) -> str:
        return f"{self.kind.value}-{self.seed}"

    def folder(self, games: Games, scope: Scope) -> Path:
        """Where it is learned, whichever table asks."""
        return scope.folder.parent.resolve() / LEARNED / f"{self.name}-{how_long(games, scope)}"

    def features(self, games: Games, scope: Scope) -> str:
        """The features, as a value's training names them."""
        seen_by = Subject(self.kind.seen_by, self.seed)
        return str(seen_by.folder(games, scope) / "crbm" / "model") if self.kind.is_crbm else seen_by.kind.value

    def value(self, games: Games, scope: Scope) -> Path:
        """The model with the value."""
        return self.folder(games, scope) / "value" / "model"


def learn_features(subjects: Iterable[Subject], games: Games, scope: Scope) -> None:
    """Learn CRBMs, or those that are missing."""
    boards = LEARNED_PLANS[scope.budget].boards(games.size)
    crbms = dict.fromkeys(Subject(each.kind.seen_by, each.seed) for each in subjects if each.kind.is_crbm)
    runs = [
        Run(
            f"{subject.folder(games, scope).name} crbm",
            partial(_learn_crbm, data=str(games.dataset.path), size=games.size, path=subject.folder(games, scope)),
            {"kind": subject.kind.value, "seed": subject.seed, "positions": boards},
            boards,
        )
        for subject in crbms
    ]
    do_runs(runs, scope.folder.parent / LEARNED, Workers(scope.workers.jobs), scope.watch)


def learn_values(subjects: Iterable[Subject], games: Games, scope: Scope) -> None:
    """Learn what the features are worth from recorded games, and first the features."""
    subjects = list(subjects)
    learn_features(subjects, games, scope)
    runs = [_value_run(subject, games, scope) for subject in subjects]
    do_runs(runs, scope.folder.parent / LEARNED, Workers(scope.workers.jobs), scope.watch)


def _value_run(subject: Subject, games: Games, scope: Scope) -> Run:
    plan, folder = LEARNED_PLANS[scope.budget], subject.folder(games, scope)
    work = partial(
        _learn_value,
        features=subject.features(games, scope),
        data=str(games.dataset.path),
        size=games.size,
        path=folder / "value",
    )
    arguments: Json = {"seed": subject.seed, "games": plan.games, "passes": plan.passes}
    if subject.kind is not subject.kind.seen_by:
        arguments["gradient"] = "squared"
    return Run(f"{folder.name} value", work, arguments, plan.games * plan.passes)


def crbm_training(kind: Kind, seed: int, positions: int, data: str, size: int) -> CrbmTraining:
    """How a CRBM of this kind learns; real units begin smaller and take smaller steps.

    Gradients are summed over a board's windows: batches and steps on larger boards are smaller, as there are more of
    them.
    """
    real, share = kind is Kind.REAL, board_share(size)
    paper = CrbmConfig().kernels
    return CrbmTraining(
        data=data,
        size=size,
        visible="real" if real else "multinomial",
        units="oriented-or-off" if kind is Kind.ORIENTED else "oriented" if kind is Kind.SOFTMAX else "binary",
        kernels=paper // len(Symmetry) if kind is Kind.SOFTMAX else paper,  # each is eight features there
        spread=0.01 if real else 0.3,
        step_size=(0.001 if real else 0.05) * share,
        positions=positions,
        batch=max(1, round(_BATCH * share)),
        validation_positions=round(_VALIDATION_POSITIONS * share),
        seed=seed,
        evaluate_every=max(1, positions // _EVALUATIONS),
    )


def _learn_crbm(kind: str, seed: int, positions: int, data: str, size: int, path: Path) -> Json:
    from katachi.crbm.train import train_crbm

    lines: list[dict[str, float]] = []
    settings = crbm_training(Kind(kind), seed, positions, data, size)
    train_crbm(settings, path / "crbm", lambda line: lines.append(dict(line.values)), _COMMAND)
    return lines[-1]


def _learn_value(path: Path, **settings: Any) -> Json:
    lines: list[dict[str, float]] = []
    every = max(1, settings["games"] * settings["passes"] // _EVALUATIONS)
    training = ValueTraining(komi=KOMI, epsilon=EPSILON, evaluate_every=every, **settings)
    train_value(training, path, lambda line: lines.append(dict(line.values)), _COMMAND)
    return lines[-1]


# A value that continues to learn in games against its frozen former self (D2).

FORMER_PUBLISHED_GAMES: Final = 110
CONSISTENTLY: Final = 60.0  # percent won in a test and all later ones
SEEDS: Final = {Budget.SMOKE: 1, Budget.HOUR: 3, Budget.FULL: 3}


@dataclass(frozen=True, slots=True)
class FormerPlan:
    """How many games are learned from, and how it is tested after every so many."""

    games: int = 1_100
    test_every: int = FORMER_PUBLISHED_GAMES
    test_games: int = 200

    @property
    def tests(self) -> list[int]:
        return list(range(self.test_every, self.games + 1, self.test_every))


FORMER_PLANS: Final = {Budget.SMOKE: FormerPlan(4, 2, 4), Budget.HOUR: FormerPlan(330), Budget.FULL: FormerPlan()}


def _continue(seed: int, size: int, plan: Json, features: str, first: str) -> Json:
    """Learn from games against the former self, and test now and then: games won, and games with a winner."""
    wanted = FormerPlan(**plan)
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
    former = load_model(first)
    assert isinstance(former, LinearModel)  # the learner started with it
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
    seed = seed_of(Former.name, settings.seed, learner.games)
    played = [play_former_self(now, former, settings, settings.size, number, seed) for number in range(games)]
    return [sum(game.learner_won for game in played), sum(game.winner is not None for game in played)]


def games_needed(tests: Sequence[Sequence[int]], plan: FormerPlan) -> int | None:
    """The games after which the learner wins often enough in a test and all later ones; None if never."""
    needed = None
    for games, (won, decided) in zip(reversed(plan.tests), reversed(tests), strict=True):
        if not decided or 100 * won < CONSISTENTLY * decided:
            break
        needed = games
    return needed


def over_seeds(values: Iterable[float]) -> Estimate | None:
    """The mean of one value a seed, and its interval over seeds if there are enough of them; None without values.

    Games of one seed are played by the same two values: what differs from seed to seed, more of its games do not show.
    """
    found = list(values)
    return estimate(found) if found else None


def final(results: Json) -> Estimate | None:
    """What the learners win in their last tests, in percent, over seeds."""
    return over_seeds(100 * won / decided for won, decided in (tests[-1] for tests in results["tests"]) if decided)


class Former(Table):
    name = "former"
    needs = ("torch",)
    title = "Learning on against the former self"
    own_differences = (
        f"The paper says that the learner consistently wins after {FORMER_PUBLISHED_GAMES} iterations. We take an "
        f"iteration for a game, and consistently for {CONSISTENTLY:.0f} % or more in a test and all later ones.",
        "Nobody fills a simple eye of their own, and all stones are taken for alive when both have passed.",
        "Both chains of afterstates teach, the learner's and that of its former self.",
        f"A game of {FormerSelfSettings.model_fields['move_cap'].default} moves ends without a winner; it teaches what "
        "its boards say of each other, and in a test it does not count. The paper gives a cap of 100 moves for its "
        "games of features against each other and none here.",
    )

    def measure(self, scope: Scope) -> Json:
        """Learn values from records, and on from there; ``--runs`` is the number of seeds."""
        games, plan = require_games(scope), FORMER_PLANS[scope.budget]
        subjects = [Subject(Kind.CRBM, seed) for seed in range(scope.runs or SEEDS[scope.budget])]
        learn_values(subjects, games, scope)
        runs = [
            Run(
                f"{subject.folder(games, scope).name} {plan.games}",
                partial(_continue, features=subject.features(games, scope), first=str(subject.value(games, scope))),
                {"seed": subject.seed, "size": games.size, "plan": asdict(plan)},
                plan.games + len(plan.tests) * plan.test_games,
            )
            for subject in subjects
        ]
        found = do_runs(runs, scope.folder, scope.workers, scope.watch)
        return {"data": games.describe(), "plan": asdict(plan), "tests": [run["tests"] for run in found]}

    def rows(self, results: Json) -> list[Row]:
        """Games until it consistently beats its former self, and what it wins at the end."""
        plan, found = FormerPlan(**results["plan"]), final(results)
        needed = [games_needed(tests, plan) for tests in results["tests"]]
        reached = [float(games) for games in needed if games is not None]
        games, interval, n = over_seeds(reached) or (None, None, None)
        what = f"games until it consistently beats its former self ({len(reached)} of {len(needed)} seeds do)"
        return [
            Row(f"{self.name}/games", what, FORMER_PUBLISHED_GAMES, games, interval, n=n, better=Better.LOWER),
            Row.measured(f"{self.name}/won", f"won against it after {plan.games:,} games, %", None, found),
        ]

    def section(self, results: Json) -> str:
        """What was done, the curves, and the differences."""
        plan, found = FormerPlan(**results["plan"]), final(results)
        lines = [
            (f"{seed}", format_value(games_needed(tests, plan)), self._percents(tests))
            for seed, tests in enumerate(results["tests"])
        ]
        at_last = "no game of which had a winner at last" if found is None else f"{format_rounded(found)} % won at last"
        return f"""
A value over CRBM features that learned from records learns on in {plan.games:,} games against itself as it was; its
ε falls from {EPSILON} to almost nothing, that of its former self stays. After every {plan.test_every} games both play
{plan.test_games} test games with ε = {EPSILON}, from which nothing is learned: {at_last}, in the mean of
{len(results["tests"])} seeds.

![Games won against the former self](largman2010/{self.name}.svg)

{table(("seed", f"games until {CONSISTENTLY:.0f} % for good", "won in each test, %"), lines)}
"""

    def _percents(self, tests: Sequence[Sequence[int]]) -> str:
        return ", ".join(f"{100 * won / decided:.0f}" if decided else "–" for won, decided in tests)

    def draw(self, results: Json, pictures: Path) -> None:
        """Draw the shares of games won."""
        plan = FormerPlan(**results["plan"])
        with plot(pictures / f"{self.name}.svg") as (axes,):
            for seed, tests in enumerate(results["tests"]):
                shares = [100 * won / max(1, decided) for won, decided in tests]
                axes.plot(
                    plan.tests, shares, color=COLORS[1 + seed % (len(COLORS) - 1)], marker="o", label=f"seed {seed}"
                )
            axes.axhline(CONSISTENTLY, color="#888888", linestyle=":", linewidth=1)
            axes.set_ylim(0, 100)
            label_axes(axes, "Against the former self", "games", "won, %")


# Games between values over different features (D1, D6): CRBM, its orientation-free kind, and all templates.

PUBLISHED_WON, PLAY_PUBLISHED_GAMES = 54, 63  # by the CRBM against templates
MAX_MOVES: Final = 100  # then there is no winner
EYES: Final = {"eyes may be filled": True, "no eye is filled": False}  # the paper's way, and ours
PLAY_GAMES: Final = {Budget.SMOKE: 2, Budget.HOUR: 140, Budget.FULL: 400}  # of each pair of one seed

_LEVEL: Final = 0  # of GNU Go as a referee


def won(scores: Iterable[Mapping[str, float]]) -> Estimate | None:
    """What the first won of the games with a winner, in percent, over seeds; None if there were none."""
    return over_seeds(100 * score["won"] / score["decided"] for score in scores if score["decided"])


class Play(Table):
    name = "play"
    needs = ("torch",)
    title = "Games: CRBM features against templates"
    own_differences = (
        "The paper gives neither step size nor number of passes. We scale each step by 1/‖φ‖², so that both sets "
        "learn at the same rate, and go over the games several times. We take the gradient of the logistic loss, not "
        "that of the squared error, which is the paper's; `--table arms` has both sides learn by it.",
        "Features of a CRBM are centered: less how often their kernel is on; without this the value learns many times "
        "slower. Templates are not: each is 1 or 0. The paper says nothing of either; `--table arms` has centered "
        "templates, too. A value has no bias of its own.",
        "The biases of a CRBM begin at −2 for hidden units, so that few are on, and at 0 for visible ones; the paper "
        "does not say how its begin.",
        "Positions are seen by the player who has just moved, with one weight vector for both colors; the paper does "
        "not say how it tells them apart.",
        "GNU Go counts, as in the paper; where it is not installed, our own estimate does.",
        "A pass is a move like others, valued by the board that it leaves. Our players also pass when the opponent has "
        "passed and counting would win.",
        "What the paper calls rotation-invariant is a softmax over orientations, of which one is always on. Ours has "
        "an off state, so that a kernel need not be on anywhere; `--table arms` has one without.",
    )
    groups: ClassVar[Sequence[Sequence[Kind]]] = ((Kind.CRBM, Kind.ORIENTED, Kind.TEMPLATES),)  # all play all in each

    def measure(self, scope: Scope) -> Json:
        """Learn and play; ``--runs`` is the number of seeds."""
        games = require_games(scope)
        seeds = range(scope.runs or SEEDS[scope.budget])
        learn_values([Subject(kind, seed) for seed in seeds for kind in chain(*self.groups)], games, scope)
        tournaments: dict[str, TournamentSettings] = {}
        for seed, (name, fills), kinds in product(seeds, EYES.items(), self.groups):
            template = self._tournament(seed, kinds, games, scope, fills=fills)
            found = rounds(template, dict.fromkeys(template.players, PLAY_GAMES[scope.budget]))
            tournaments |= {f"{name.replace(' ', '-')}-{seed}-{part}": settings for part, settings in found.items()}

        def count(records: Sequence[GameRecord]) -> Json:
            return {"data": games.describe(), "seeds": len(seeds), "scores": list(self._count(seeds, records))}

        return play_rounds(tournaments, scope, count)

    @property
    def _pairs(self) -> list[tuple[Kind, Kind]]:
        return [pair for kinds in self.groups for pair in combinations(kinds, 2)]

    def _tournament(
        self, seed: int, kinds: Sequence[Kind], games: Games, scope: Scope, *, fills: bool
    ) -> TournamentSettings:
        """Some kinds of one seed against each other, by the paper's protocol."""
        search = {"kind": "greedy", "epsilon": EPSILON, "fills_eyes": fills, "may_pass": True}
        specs = {
            self._player(kind, seed, fills=fills): {
                "kind": "search",
                "evaluator": {"model": str(Subject(kind, seed).value(games, scope))},
                "search": search,
            }
            for kind in kinds
        }
        return TournamentSettings(
            players=write_players(specs, scope.folder / f"players-{how_long(games, scope)}"),
            size=games.size,
            rules="chinese",
            komi=KOMI,
            max_moves=MAX_MOVES,
            referee=gnugo_referee(_LEVEL) if has_gnugo() else "estimate",
            jobs=scope.workers.jobs,
            openings=OpeningSettings(random_plies=0),
        )

    def _player(self, kind: Kind, seed: int, *, fills: bool) -> str:
        return f"{kind.value} {seed}{' filling' if fills else ''}"

    def _count(self, seeds: Iterable[int], records: Sequence[GameRecord]) -> Iterator[Json]:
        """What the first of each pair won with each seed, of the games with a winner."""
        for name, fills in EYES.items():
            for seed in seeds:
                for first, second in self._pairs:
                    names = self._player(first, seed, fills=fills), self._player(second, seed, fills=fills)
                    played = [record for record in records if {record.black.name, record.white.name} == set(names)]
                    decided = [record for record in played if record.ending != Ending.MOVE_LIMIT.value]
                    yield {
                        "eyes": name,
                        "seed": seed,
                        "first": first.value,
                        "second": second.value,
                        "games": len(played),
                        "decided": len(decided),
                        "won": sum(record.score_of(names[0]) for record in decided),
                    }

    def _scores(self, results: Json, eyes: str, first: Kind, second: Kind) -> list[Json]:
        wanted = (eyes, first.value, second.value)
        return [score for score in results["scores"] if (score["eyes"], score["first"], score["second"]) == wanted]

    def rows(self, results: Json) -> Iterator[Row]:
        """Every pair, in the mean of seeds, with both rules of eyes; and games that nobody won."""
        for (eyes, fills), (first, second) in product(EYES.items(), self._pairs):
            scores = self._scores(results, eyes, first, second)
            is_published = fills and (first, second) == (Kind.CRBM, Kind.TEMPLATES)
            paper = round(100 * PUBLISHED_WON / PLAY_PUBLISHED_GAMES, 1) if is_published else None
            name = f"{self.name}/{first.value}/{second.value}/{'filling' if fills else 'not-filling'}"
            what = f"{first.value} against {second.value}, {eyes}, mean of {len(scores)} seeds"
            yield Row.measured(f"{name}/won", f"{what}: won of games with a winner, %", paper, won(scores))
            if none := self._undecided(scores):
                yield Row.measured(f"{name}/no-winner", f"{what}: no winner, %", None, none)

    def _undecided(self, scores: Sequence[Json]) -> Estimate | None:
        """The share of games that nobody won, in percent, over seeds; None if there were no games."""
        return over_seeds(100 - 100 * score["decided"] / score["games"] for score in scores if score["games"])

    def section(self, results: Json) -> str:
        """How it was played, the scores of every seed, the paper's, and the differences."""
        header = ("", "eyes", "won, % of games with a winner: mean of seeds", "each seed, %", "no winner, %")
        return f"""
Values over each set of features learn by TD(0) from the same recorded games of `{results["data"]["name"]}`, and play
one ply deep with ε = {EPSILON}, komi {KOMI}, on {results["data"]["size"]}×{results["data"]["size"]}. Games that have
{MAX_MOVES} moves have no winner. Seeds: {results["seeds"]}; each learns its CRBM and its values anew. Intervals are
over seeds, which differ more than the games of one of them; fewer than {LEAST_RUNS} seeds have none, and with so many
it reaches from the least to the greatest.

{table(header, (self._line(results, eyes, *pair) for eyes in EYES for pair in self._pairs))}
{self._paper()}"""

    def _paper(self) -> str:
        published = share(PUBLISHED_WON, PLAY_PUBLISHED_GAMES)
        return f"""
In the paper the CRBM won {PUBLISHED_WON} of {PLAY_PUBLISHED_GAMES} games against templates,
{format_rounded(published)} %.
It says that features that are not oriented played better than those that are, without a number.
"""

    def _line(self, results: Json, eyes: str, first: Kind, second: Kind) -> tuple[str, ...]:
        scores = self._scores(results, eyes, first, second)
        found, none = won(scores), self._undecided(scores)
        shares = ((won([score]), score["decided"]) for score in scores)
        seeds = ("–" if one is None else f"{one.mean:.1f} of {decided}" for one, decided in shares)
        return (
            f"{first.value} against {second.value}",
            eyes,
            "" if found is None else format_rounded(found),
            ", ".join(seeds),
            "" if none is None else format_rounded(none),
        )

    def differences(self, results: Json) -> tuple[str, ...]:
        """The data, and what is the same for all."""
        data = results["data"]
        return (
            f"The paper learned from {PAPER_GAMES:,} games that GNU Go played against itself, and `katachi data "
            f"selfplay` can have it do that. Ours are of `{data['name']}`, which has {data['games']:,} games; values "
            f"learn from {PAPER_GAMES:,} of its training games at most.",
            *self.own_differences,
        )


class Arms(Play):
    """What is ours and not the paper's, each undone: is it why features of a CRBM win?"""

    name = "arms"
    title = "Games: centered templates, the squared error, and orientations that are never off"
    only_by_name = True
    groups = ((Kind.CRBM, Kind.CENTERED), (Kind.SQUARED, Kind.SQUARED_TEMPLATES), (Kind.SOFTMAX, Kind.TEMPLATES))

    def _paper(self) -> str:
        return ""


# The bundled learned players, one of each paper, against each other without search, and simple ones for scale.

SIZE: Final = 9
TOURNAMENT_LEARNED: Final = ("crbm-9", "shapes-9", "territory-9", "policy-9")
SIMPLE: Final = ("alp", "random")
ANCHOR: Final = Anchor("alp")
TOURNAMENT_GAMES: Final = {Budget.SMOKE: 2, Budget.HOUR: 20, Budget.FULL: 200}  # of each pair


class Tournament(Table):
    name = "tournament"
    title = "The four papers against each other"

    def measure(self, scope: Scope) -> Json:
        """Play all against all; ``--runs`` is the number of games of each pair."""
        bundled = {player.name for player in bundled_players()}
        names = [name for name in (*TOURNAMENT_LEARNED, *SIMPLE) if name in bundled]
        template = TournamentSettings(players={name: name for name in names}, size=SIZE, jobs=scope.workers.jobs)

        def count(records: Sequence[GameRecord]) -> Json:
            return describe_games(records) | rate_games(names, distinct_games(records), ANCHOR)

        return play_rounds(
            rounds(template, dict.fromkeys(names, scope.runs or TOURNAMENT_GAMES[scope.budget])), scope, count
        )

    def rows(self, results: Json) -> Iterator[Row]:
        """The rating of every player, and the score of every pair."""
        for name, (rating, low, high) in results["ratings"].items():
            what, n = f"{name}: Elo above {ANCHOR.player}", games_of(results, name)
            yield Row(f"{self.name}/{name}", what, None, rating, (low, high), n=n)
        for pair in (Pair(**pair) for pair in results["pairs"]):
            what = f"{pair.first} against {pair.second}: won, %"
            games = planned(results, TOURNAMENT_GAMES)
            yield Row.measured(f"{self.name}/{pair.first}/{pair.second}", what, None, pair.won, planned=games)

    def section(self, results: Json) -> str:
        """Ratings, and who won how much against whom."""
        ratings = [(name, format_estimate(rating, bounds)) for name, (rating, *bounds) in results["ratings"].items()]
        pairs = [Pair(**pair) for pair in results["pairs"]]
        lines = [(pair.first, pair.second, format_won(pair)) for pair in pairs]
        return f"""
The bundled players for {SIZE}×{SIZE} that learned by the four papers, as many of them as there are, with the average
liberty player and the random one; a *former* one was bundled in an earlier release. Nobody searches.
{results["games"]:,} games, of which {results["distinct"]:,} differ and count, each opening of two random moves played
with both colors. Ratings are Bradley–Terry's, above `{ANCHOR.player}`.

{table(("player", "Elo (95 %)"), ratings)}

{table(("player", "against", "won, %"), lines)}
"""
