"""How well networks predict: top-n accuracy, learning curves, depth and width, other datasets; winners and owners."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from katachi.analysis.judges import has_value
from katachi.core.cards import mean_interval
from katachi.core.contracts import Doubles, Evaluator, Floats, OutcomeEvaluator, OwnershipEvaluator
from katachi.core.evaluators import count_owners
from katachi.core.models import open_model
from katachi.core.training import METRICS
from katachi.data.batches import area_komi
from katachi.data.dataset import Dataset
from katachi.go.board import Board
from katachi.go.playouts import run_playouts
from katachi.go.points import BLACK, EMPTY
from katachi.papers.documents import (
    COLORS,
    NOTHING,
    format_rounded,
    format_value,
    label_axes,
    plot,
    share,
    table,
)
from katachi.papers.experiment import Budget, ExperimentError, Json, Row, Run, Scope, Table, Workers, do_runs
from katachi.papers.maddison2014.nets import (
    MAIN,
    NETS,
    Net,
    accuracy,
    ask_pretrained,
    describe_tested,
    learn,
    model_key,
    name_models,
    predict_test_games,
    pretrained_networks,
    valuing_models,
)
from katachi.papers.maddison2014.tables import LearnedTable, published
from katachi.papers.tournaments import Games, describe_set, open_games, require_games
from katachi.policy.config import PolicyConfig
from katachi.policy.measure import PHASES, TOP, phase_starts
from katachi.sgf.files import Split

# How many parameters, connections and hidden units the paper's networks have.

LARGEST: Final = "12x128"
SHAPES: Final = ("3x16", "3x64", "3x128", "6x128", "6x192", "10x128", LARGEST)
# Of the largest network.
COUNTS_PUBLISHED: Final = {"parameters": "2.3 million", "connections": "630 million", "units": "550,000"}


class Counts(Table):
    name = "counts"
    title = "The size of the networks"
    own_differences = (
        "The paper has position-dependent biases and pads with zeros, and says neither whether filters share these "
        "biases nor whether the 5×5 layer counts as one of the layers. All three of its figures fit one reading: it "
        "does, and every filter has a bias of its own for each point.",
        "The size of the output's filters is not given. We take 3×3; with 1×1 there would be 2,048 parameters fewer, "
        "which fits as well.",
    )

    def measure(self, scope: Scope) -> Json:  # noqa: ARG002 — counting takes no budget
        """Count everything."""
        return {"nets": {shape: self._count(*map(int, shape.split("x"))) for shape in SHAPES}}

    def _count(self, layers: int, filters: int) -> Json:
        net = PolicyConfig.maddison(layers, filters)
        counts = (net.parameter_count(), net.connection_count(), net.unit_count())
        return dict(zip(COUNTS_PUBLISHED, counts, strict=True))

    def rows(self, results: Json) -> list[Row]:
        """The counts of every network; the paper gives those of the largest, rounded."""
        return [
            Row(
                f"{self.name}/{shape}/{what}",
                f"{self._title(shape)}: {what}",
                COUNTS_PUBLISHED[what] if shape == LARGEST else None,
                count,
                None,
            )
            for shape, counts in results["nets"].items()
            for what, count in counts.items()
        ]

    def _title(self, shape: str) -> str:
        return shape.replace("x", "×")

    def section(self, results: Json) -> str:
        """The table, and how the counts settle what the paper leaves open."""
        lines = [
            (self._title(shape), *(f"{count:,}" for count in found.values()))
            for shape, found in results["nets"].items()
        ]
        return f"""
Networks of so many layers × filters on 19×19 with 36 planes. The first layer has filters of 5×5, all others of 3×3, and
every filter has a bias for each point. A connection is one product in a convolution, a unit one output of a hidden
layer. The paper's figures are those of {self._title(LARGEST)}:
{", ".join(f"{n} {what}" for what, n in COUNTS_PUBLISHED.items())}.

{table(("net", *COUNTS_PUBLISHED), lines)}
"""


TIMES: Final = 10  # more positions
_SAID: Final = f"{TIMES} times the positions"


def promise(curve: list[list[float]]) -> tuple[float, float] | None:
    """What ten times the positions promise, in percent: by a power law of the top-1 error, and by a straight line.

    Both are fitted over the logarithm of positions, to the last tenfold of them; None if there are too few.
    """
    positions, shares = np.array(curve).T
    late = positions >= positions[-1] / TIMES
    if np.count_nonzero(late) < 3:  # two of them are any line
        return None
    seen, then = np.log(positions[late]), np.log(positions[-1] * TIMES)
    missed = np.polyval(np.polyfit(seen, np.log(1 - shares[late]), 1), then)
    straight = np.polyval(np.polyfit(seen, shares[late], 1), then)
    return 100 * (1 - float(np.exp(missed))), 100 * float(straight)


class Curve(LearnedTable):
    name = "curve"
    title = "What more positions would bring"
    own_differences = (
        "The paper has no such curve. A promise is not a measurement: within a schedule the learning rate falls, "
        "which lifts the end of every curve, and a network of a given size has a ceiling that neither law knows of.",
        "Held-out positions are few: a point of a curve is uncertain by a percent or so.",
    )

    def measure(self, scope: Scope) -> Json:
        """The curves of the bundled networks, and of those that this run has learned so far."""
        games = require_games(scope)
        learned = sorted((scope.folder.parent / NETS).glob(f"*-{games.digest}"))
        folders = {f"`{name}`": path for name, path in pretrained_networks(games.size).items()}
        folders |= {path.name.removesuffix(f"-{games.digest}"): path for path in learned}
        curves = {title: self._read(path / METRICS) for title, path in folders.items()}
        return {"data": games.describe(), "nets": {title: found for title, found in curves.items() if found}}

    def _read(self, metrics: Path) -> list[list[float]]:
        """Positions, and the top-1 accuracy on held-out moves."""
        if not metrics.is_file():
            return []
        lines = [json.loads(line) for line in metrics.read_text(encoding="utf-8").splitlines()]
        return [[line["positions"], line["validation_top_1"]] for line in lines]

    def rows(self, results: Json) -> list[Row]:
        """The last accuracy of every network, and what it promises."""
        return [row for title, curve in results["nets"].items() for row in self._rows(title, curve)]

    def _rows(self, title: str, curve: list[list[float]]) -> list[Row]:
        name, (positions, share) = title.strip("`"), curve[-1]
        what = f"{title} after {format_value(positions)} positions: held-out top-1 accuracy, %"
        found = [Row(f"{self.name}/{name}", what, None, round(100 * share, 1), None, note="of one run")]
        promised = promise(curve)
        if promised is not None:
            what = f"{title} after {_SAID}: promised by a power law, %"
            found.append(Row(f"{self.name}/{name}/promised", what, None, round(promised[0], 1), None, note="a fit"))
        return found

    def section(self, results: Json) -> str:
        """The curves, what they promise, and how far to trust it."""
        header = (
            "net",
            "positions",
            "held-out top-1 accuracy, %",
            "promised by a power law, %",
            "by a straight line, %",
        )
        return f"""
{describe_set(results["data"])} Top-1 accuracy in the course of training on a few thousand moves of games that are
neither learned from nor tested with.

![Top-1 accuracy by positions seen](maddison2014/{self.name}.svg)

What {_SAID} promise is read off the last tenfold of the curve: if the top-1 error falls by
a power law of positions, or if top-1 accuracy grows by their logarithm.

{table(header, (self._line(*net) for net in results["nets"].items()))}
"""

    def _line(self, title: str, curve: list[list[float]]) -> tuple[str, ...]:
        positions, share = curve[-1]
        promised = promise(curve) or (None, None)
        return title, f"{positions:,}", *(format_value(value and round(value, 1)) for value in (100 * share, *promised))

    def draw(self, results: Json, pictures: Path) -> None:
        """Draw the picture."""
        with plot(pictures / f"{self.name}.svg") as (axes,):
            for number, (title, curve) in enumerate(results["nets"].items()):
                color = COLORS[(number + 1) % len(COLORS)]
                positions, shares = np.array(curve).T
                axes.plot(positions, 100 * shares, color=color, label=self._label(title))
                promised = promise(curve)
                if promised is not None:
                    axes.plot([positions[-1], positions[-1] * TIMES], [100 * shares[-1], promised[0]], ":", color=color)
            axes.set_xscale("log")
            label_axes(axes, "Top-1 accuracy by positions seen", "positions", "%")

    def _label(self, title: str) -> str:
        """A name that is short enough for a legend: the plot shows how many positions were seen."""
        return title.strip("`") if title.startswith("`") else title.rpartition("-")[0]


# Figure 1: top-n accuracy, also by rank and phase.

FIGURE1_PUBLISHED: Final = {1: 55.2, 10: 94.0}  # percent among so many, of the network of 12 layers
SHOWN: Final = (1, 2, 3, 5, 10, 20)
_SPARE_COLORS: Final = COLORS[1:]  # black is the paper's


class Figure1(LearnedTable):
    name = "figure1"
    title = "Figure 1: top-n accuracy"
    own_differences = (
        "The paper draws its curve without figures; only those two are in its text.",
        "Phases and ranks are ours: the paper does not tell them apart.",
    )

    def measure(self, scope: Scope) -> Json:
        """Learn and test the network of the budget, and test the bundled ones."""
        games = require_games(scope)
        main = MAIN[scope.budget]
        nets = [learn([main], games, scope)[main], *ask_pretrained(games, scope)]
        return {"data": games.describe(), "nets": [net.to_json() for net in nets]}

    def rows(self, results: Json) -> list[Row]:
        """The points of the curve that a reader asks for, for every network."""
        return [self._row(net, places) for net in results["nets"] for places in SHOWN]

    def _row(self, net: Json, places: int) -> Row:
        found = accuracy(net["tested"], places)
        what = f"{net['title']}: top-{places} accuracy, %"
        name = f"{self.name}/{net['title'].strip('`').replace('×', 'x')}/top-{places}"
        paper = FIGURE1_PUBLISHED.get(places) if net["title"].replace("×", "x") == LARGEST else None
        return Row.measured(name, what, paper, found)

    def section(self, results: Json) -> str:
        """The curve, its points, and top-1 accuracy by phase and by rank."""
        header = ("net", "positions", *(f"top-{places}, %" for places in SHOWN), "loss")
        return f"""
{describe_set(results["data"])} How often the move that was played was among a network's n most probable ones,
in {describe_tested(results["nets"][0]["tested"])}. The paper says that of its network of 12 layers for n = 10
({FIGURE1_PUBLISHED[10]:g} %) and n = 1 ({FIGURE1_PUBLISHED[1]:g} %).

![Top-n accuracy](maddison2014/{self.name}.svg)

{table(header, map(self._line, results["nets"]))}

Top-1 accuracy by phase of the game (on 19×19 they begin with moves 61 and 151) and by the rank of the player to move:

{table(("", *(f"{net['title']}, %" for net in results["nets"])), self._parts(results))}
"""

    def _line(self, net: Json) -> tuple[str, ...]:
        tested = net["tested"]
        shares = (format_value(round(100 * tested["top"][places - 1] / tested["positions"], 1)) for places in SHOWN)
        return net["title"], format_value(net["positions"]), *shares, f"{tested['loss']:.3f}"

    def _parts(self, results: Json) -> Iterator[tuple[str, ...]]:
        """A line for every phase and every rank that there is; all networks met the same positions."""
        for kind in ("phases", "ranks"):
            for part in results["nets"][0]["tested"][kind]:
                yield part, *(format_rounded(accuracy(net["tested"][kind][part])) for net in results["nets"])

    def draw(self, results: Json, pictures: Path) -> None:
        """Draw the picture."""
        with plot(pictures / f"{self.name}.svg") as (axes,):
            for net, color in zip(results["nets"], _SPARE_COLORS, strict=False):
                self._draw_curve(axes, net, color)
            axes.plot(*zip(*FIGURE1_PUBLISHED.items(), strict=True), "o", color=COLORS[0], label="paper, 12×128")
            axes.set_ylim(0, 100)
            label_axes(axes, "Top-n accuracy", "n", "%")

    def _draw_curve(self, axes: Any, net: Json, color: str) -> None:
        shares = [100 * hits / net["tested"]["positions"] for hits in net["tested"]["top"]]
        axes.plot(range(1, TOP + 1), shares, color=color, marker=".", label=net["title"].strip("`"))


# What depth and width are worth where all networks see as many positions: the paper's rows that are too slow to end.
#
# On small boards a network learns several times as fast, so that this is best asked with games of 9×9.

_PAPER: Final = ((3, 16), (3, 128), (6, 128), (10, 128), (12, 128))
TREND_NETS: Final = {
    Budget.SMOKE: [Net(*shape, 6_400, adamw=True) for shape in ((3, 16), (6, 16))],
    Budget.HOUR: [Net(*shape, 200_000, adamw=True) for shape in ((3, 16), (3, 64), (3, 128), (6, 128))],
    Budget.FULL: [Net(*shape, 2_000_000, adamw=True) for shape in _PAPER],
}


class Trend(LearnedTable):
    name = "trend"
    title = "Depth and width after as many positions"
    own_differences = (
        "Ours learn by AdamW, with smaller steps for wider networks. Larger networks gain more from more positions "
        "than these have seen: it is the order that can be compared, not the distance.",
    )

    def measure(self, scope: Scope) -> Json:
        """Learn and test all of them."""
        games = require_games(scope)
        learned = learn(TREND_NETS[scope.budget], games, scope)
        nets = [
            {"parameters": PolicyConfig.maddison(net.layers, net.filters, size=games.size).parameter_count()}
            | found.to_json()
            for net, found in learned.items()
        ]
        return {"data": games.describe(), "nets": nets}

    def rows(self, results: Json) -> list[Row]:
        """The top-1 accuracy of every network."""
        return [self._row(net, results["data"]["size"]) for net in results["nets"]]

    def _row(self, net: Json, size: int) -> Row:
        found = accuracy(net["tested"])
        what = f"{net['title']} after {net['positions']:,} positions of {size}×{size}: top-1 accuracy, %"
        return Row.measured(f"{self.name}/{self._shape(net).replace('×', 'x')}", what, None, found)

    def _shape(self, net: Json) -> str:
        return str(net["title"]).partition(", ")[0]

    def section(self, results: Json) -> str:
        """How they learned, and the table."""
        header = ("net", "parameters", "positions", "top-1, %", "loss", "paper on 19×19: top-1, %")
        return f"""
{describe_set(results["data"])} Networks of layers × filters with the paper's 36 planes all learn from the same
positions, by AdamW with a learning rate that falls along a cosine.

{table(header, map(self._line, results["nets"]))}
"""

    def _line(self, net: Json) -> tuple[str, ...]:
        tested, paper = net["tested"], published(net["title"])
        return (
            self._shape(net),
            f"{net['parameters']:,}",
            f"{net['positions']:,}",
            format_rounded(accuracy(tested)),
            f"{tested['loss']:.3f}",
            format_value(paper and paper.top_1),
        )


# The moves of several datasets, predicted by one network alone and averaged over the symmetries of the board.

SETS_POSITIONS: Final = {Budget.SMOKE: 100, Budget.HOUR: 10_000, Budget.FULL: 50_000}  # of each set
SETS_TOP: Final = (1, 5, 10)
WAYS: Final = {"alone": False, "averaged": True}


class Sets(Table):
    name = "sets"
    title = "Several datasets"
    own_differences = ("The paper asks about games of one server.",)

    def measure(self, scope: Scope) -> Json:
        """Ask every network about test games of every set; ``--runs`` is the positions of each set."""
        if not scope.sets:
            raise ExperimentError("this table asks about test games: give --data SET, once for each set")
        sets = [open_games(path, [Split.TEST]) for path in scope.sets]
        results: Json = {"sets": [games.describe() for games in sets], "nets": {}}
        for name, path in name_models(scope.models or pretrained_networks(sets[0].size)).items():
            results["nets"][name] = [self._ask(path, games, scope) for games in sets]
            scope.keep(results)
        return results

    def _ask(self, model: Path, games: Games, scope: Scope) -> Json:
        if open_model(model).card.board_size not in (games.size, None):
            board = f"{games.size}×{games.size}"
            raise ExperimentError(f"{model} is not for boards of {board}: give another --model, or another --data")
        arguments = {"test_positions": scope.runs or SETS_POSITIONS[scope.budget]}
        work = partial(predict_test_games, path=model, games=games, threads=scope.workers.jobs)
        name = f"{model_key(model)}-{games.digest}-of-{arguments['test_positions']}"
        runs = [
            Run(f"{name}-{way}", work, arguments | {"averaged": averaged}, arguments["test_positions"])
            for way, averaged in WAYS.items()
        ]
        return dict(zip(WAYS, do_runs(runs, scope.folder, Workers(), scope.watch), strict=True))

    def rows(self, results: Json) -> list[Row]:
        """Top-n accuracy of every network on every set."""
        return [
            self._row(name, games["name"], way, top, asked[way])
            for name, tested in results["nets"].items()
            for games, asked in zip(results["sets"], tested, strict=True)
            for way in WAYS
            for top in SETS_TOP
        ]

    def _row(self, name: str, games: str, way: str, top: int, tested: Json) -> Row:
        what = f"`{name}`, {way}, on `{games}`, {describe_tested(tested)}: top-{top} accuracy, %"
        return Row.measured(f"{self.name}/{name}/{games}/{way}/top-{top}", what, None, accuracy(tested, top))

    def section(self, results: Json) -> str:
        """For every network all sets, then their phases and ranks."""
        names = [games["name"] for games in results["sets"]]
        tables = "\n".join(self._tables(name, names, tested) for name, tested in results["nets"].items())
        return f"""
Moves of test games of several datasets, predicted by a network that is asked once (*alone*), and by the mean of what
it says of the eight symmetries of a position (*averaged*). Both are asked about the same positions.

{tables}
"""

    def _tables(self, name: str, sets: list[str], tested: list[Json]) -> str:
        columns = [f"`{games}`, {way}" for games in sets for way in WAYS]
        asked = [ways[way] for ways in tested for way in WAYS]
        header = (f"`{name}`", "test positions", "games", *(f"top-{top}, %" for top in SETS_TOP), "loss")
        lines = [(column, *self._cells(found)) for column, found in zip(columns, asked, strict=True)]
        return f"{table(header, lines)}\n{table(('top-1 accuracy, %', *columns), self._parts(asked))}"

    def _cells(self, tested: Json) -> tuple[str, ...]:
        shares = (format_rounded(accuracy(tested, top)) for top in SETS_TOP)
        return f"{tested['positions']:,}", f"{tested['games']:,}", *shares, f"{tested['loss']:.3f}"

    def _parts(self, asked: list[Json]) -> Iterator[tuple[str, ...]]:
        """A line for every phase and every rank that one of them has."""
        for kind in ("phases", "ranks"):
            for part in dict.fromkeys(part for tested in asked for part in tested[kind]):
                parts = (tested[kind].get(part) for tested in asked)
                yield part, *(NOTHING if found is None else format_rounded(accuracy(found)) for found in parts)


# Who wins, by how much, and who owns what in the end: any models, and playouts, asked about the same positions.
#
# One position of each phase of a game is asked about, so that those of a phase are independent. Games are counted as
# area, whatever their rules.

OUTCOME_GAMES: Final = {Budget.SMOKE: 8, Budget.HOUR: 500, Budget.FULL: 5_000}
LAST: Final = "last position"
PLAYOUTS: Final = "playouts"  # asked like a model
PLAYOUTS_RUN: Final = 1000
MEASURES: Final = {  # with the digits after the point
    "winner": ("winner right, %", 1),
    "brier": ("Brier score", 3),
    "owners": ("ownership accuracy, %", 1),
    "score": ("score error, points", 1),
}
_SEED: Final = 1  # of the games and positions


class Answers(NamedTuple):
    """What is said of B boards; None where that is not known."""

    black_wins: Floats | None  # [B]
    black_lead: Floats | None  # [B], komi included
    ownership: Floats | None  # [B, n²], +1 is Black's


Ask = Callable[[Sequence[Board], float], Answers]  # boards of one game, and its komi


def run_all_playouts(boards: Sequence[Board], komi: float) -> Answers:
    """What playouts say."""
    found = [run_playouts(board, PLAYOUTS_RUN, _SEED, komi) for board in boards]
    wins, leads = np.array([(each.black_wins, each.black_lead) for each in found], dtype=np.float32).T
    return Answers(wins, leads, np.stack([each.ownership for each in found]))


def ask_evaluator(evaluator: Evaluator, boards: Sequence[Board], komi: float) -> Answers:
    """What an evaluator says; one that knows owners and no score expects the score of these."""
    if isinstance(evaluator, OutcomeEvaluator):
        found = evaluator.at_komi(komi).predict_outcome(boards)
        return Answers(found.black_wins, found.black_lead, found.ownership)
    wins = evaluator.evaluate(boards).black_wins if has_value(evaluator) else None
    if not isinstance(evaluator, OwnershipEvaluator):
        return Answers(wins, None, None)
    ownership = evaluator.ownership(boards)
    return Answers(wins, ownership.sum(axis=1) - np.float32(komi), ownership)


def open_ask(model: Path) -> Ask:
    """A model that is asked, at the komi of each game if it takes one."""
    saved = open_model(model)
    evaluator = saved.load()
    if isinstance(evaluator, OutcomeEvaluator) or "komi" not in saved.card.options.model_fields:
        return partial(ask_evaluator, evaluator)
    at_komi = cache(lambda komi: saved.load({"komi": komi}))
    return lambda boards, komi: ask_evaluator(at_komi(komi), boards, komi)


def _komi(dataset: Dataset, game: int) -> float:
    return float(area_komi(dataset, np.array([game]))[0])


def pick_plies(moves: int, size: int, rng: np.random.Generator) -> dict[str, int]:
    """After how many moves of a game it is asked about, by phase; a phase that it did not reach is left out."""
    starts = phase_starts(size)
    ends = [min(end, moves) for end in (*starts[1:], moves)]
    spans = zip(PHASES, starts, ends, strict=True)
    return {phase: int(rng.integers(low, high)) for phase, low, high in spans if low < high} | {LAST: moves}


def compare(answers: Answers, count: int, komi: float, winner: int, owners: NDArray[np.int8]) -> Doubles:
    """How right answers about B positions of a game are, [B, measures]; NaN where one side does not say."""
    found = np.full((count, len(MEASURES)), np.nan)
    if answers.black_wins is not None and winner != EMPTY:
        found[:, 0] = (answers.black_wins > 0.5) == (winner == BLACK)
        found[:, 1] = (answers.black_wins - (winner == BLACK)) ** 2
    if answers.ownership is not None:
        right, owned = count_owners(answers.ownership, owners[None])
        found[:, 2] = right / np.maximum(1, owned)
    if answers.black_lead is not None:
        found[:, 3] = np.abs(answers.black_lead - (owners.sum(dtype=np.int64) - komi))
    return found


def _estimate(measure: str, values: Doubles) -> list[float] | None:
    """The mean of a measure over games and its interval, shares in percent; None where nothing is known."""
    if not values.size:
        return None
    if measure == "winner":
        won, bounds, _ = share(values.sum(), values.size)
        return [won, *(bounds or ())]
    mean, low, high = mean_interval(values)
    return [100 * mean, 100 * low, 100 * min(1.0, high)] if measure == "owners" else [mean, low, high]


def _summarize(found: Doubles) -> Json:
    columns = {name: column[~np.isnan(column)] for name, column in zip(MEASURES, found.T, strict=True)}
    return {"positions": len(found)} | {name: _estimate(name, values) for name, values in columns.items()}


def _ask_about_games(model: str, chosen: Sequence[int], ask: Ask, games: Games) -> Json:  # noqa: ARG001 — the run's name
    """How right the answers are by phase, and how many seconds of a core a position takes."""
    dataset = games.dataset
    phases: dict[str, list[Doubles]] = {}
    seconds, positions = 0.0, 0
    for number, game in enumerate(chosen):
        row = dataset.games[game]
        plies = pick_plies(int(row["moves"]), games.size, np.random.default_rng((_SEED, game)))
        boards, komi = [dataset.position(game, ply) for ply in plies.values()], _komi(dataset, game)
        start = time.process_time()
        answers = ask(boards, komi)
        if number or len(chosen) == 1:  # what is loaded and compiled for the first does not count
            seconds, positions = seconds + time.process_time() - start, positions + len(boards)
        right = compare(answers, len(boards), komi, int(row["winner"]), dataset.labels[game])
        for phase, measures in zip(plies, right, strict=True):
            phases.setdefault(phase, []).append(measures)
    found = {phase: _summarize(np.stack(phases[phase])) for phase in (*PHASES, LAST) if phase in phases}
    return {"seconds": seconds / positions, "phases": found}


class Outcomes(Table):
    name = "outcomes"
    title = "Winners, scores and owners"
    own_differences = ("The paper predicts moves alone: all of this is ours.",)
    only_by_name = True

    def measure(self, scope: Scope) -> Json:
        """Ask all models, and playouts, about the same positions of a labeled set; ``--runs`` is the games."""
        if scope.data is None:
            raise ExperimentError("this table asks about labeled test games: give --data SET (see: katachi data label)")
        games = open_games(scope.data, [Split.TEST])
        chosen = self._choose(games, scope)
        results: Json = {"data": games.describe(), "games": len(chosen), "models": {}}
        results["agree"] = 100 * float(np.mean([self._agrees(games.dataset, game) for game in chosen]))
        names = list(scope.models) or [*valuing_models(games.size), PLAYOUTS]
        for name, path in name_models(name for name in names if name != PLAYOUTS).items():
            results["models"][name] = self._ask(model_key(path), open_ask(path), chosen, games, scope)
            scope.keep(results)
        if PLAYOUTS in names:
            key = f"{PLAYOUTS}-{PLAYOUTS_RUN}"
            results["models"][PLAYOUTS] = self._ask(key, run_all_playouts, chosen, games, scope)
        return results

    def _choose(self, games: Games, scope: Scope) -> list[int]:
        """So many labeled test games with a komi, always the same."""
        labeled = games.dataset.select(games.size, Split.TEST, labeled=True)
        labeled = labeled[~np.isnan(games.dataset.games["komi"][labeled])]
        if not labeled.size:
            raise ExperimentError(f"{scope.data} has no labeled test games: katachi data label {scope.data} finds more")
        wanted = scope.runs or OUTCOME_GAMES[scope.budget]
        return sorted(np.random.default_rng(_SEED).permutation(labeled)[:wanted].tolist())

    def _agrees(self, dataset: Dataset, game: int) -> bool:
        """Whether a game counted as area has the winner of its record."""
        lead = int(dataset.labels[game].sum(dtype=np.int64)) - _komi(dataset, game)
        return bool(np.sign(lead) == dataset.games["winner"][game])

    def _ask(self, key: str, ask: Ask, chosen: list[int], games: Games, scope: Scope) -> Json:
        work = partial(_ask_about_games, ask=ask, games=games)
        run = Run(f"{key}-{games.digest}-of-{len(chosen)}", work, {"model": key, "chosen": chosen}, len(chosen))
        return do_runs([run], scope.folder, Workers(), scope.watch)[0]

    def rows(self, results: Json) -> list[Row]:
        """Every measure of every model in every phase."""
        return [
            self._row(name, phase, measure, found)
            for name, asked in results["models"].items()
            for phase, found in asked["phases"].items()
            for measure in MEASURES
        ]

    def _row(self, name: str, phase: str, measure: str, found: Json) -> Row:
        title, digits = MEASURES[measure]
        mean, *bounds = (round(value, digits) for value in found[measure] or [np.nan])
        what = f"{self._title(name)}, {phase}, {found['positions']:,} positions: {title}"
        row_id = f"{self.name}/{name}/{phase.replace(' ', '-')}/{measure}"
        ours, interval = (mean, tuple(bounds)) if bounds else (None, None)
        return Row(row_id, what, None, ours, interval, n=found["positions"])

    def _title(self, name: str) -> str:
        return f"{PLAYOUTS_RUN:,} playouts" if name == PLAYOUTS else f"`{name}`"

    def section(self, results: Json) -> str:
        """A table for every phase."""
        phases = dict.fromkeys(phase for asked in results["models"].values() for phase in asked["phases"])
        tables = "\n".join(self._table(phase, results["models"]) for phase in phases)
        data = results["data"]
        return f"""
{results["games"]:,} labeled test games of `{data["name"]}` on {data["size"]}×{data["size"]}, and one position of each
phase of each: all are asked about the same ones, with the komi of the game and what the handicap adds to it. Games
are counted as area; {results["agree"]:.1f} % of them have the winner of the record then, which is the one to be named.
The Brier score is the mean square by which the probability of a win misses the outcome; a half for every position has
0.25. Ownership accuracy is the share of points whose owner in the end is the more probable one; points that nobody
owned do not count. The score error is the mean distance of the expected score and the one in the end.

{tables}
"""

    def _table(self, phase: str, models: Json) -> str:
        positions = max(asked["phases"][phase]["positions"] for asked in models.values())
        header = (f"{phase}, {positions:,} positions", *(title for title, _ in MEASURES.values()), "ms of a core")
        lines = []
        for name, asked in models.items():
            found = asked["phases"][phase]
            cells = (self._cell(found[measure], digits) for measure, (_, digits) in MEASURES.items())
            lines.append((self._title(name), *cells, f"{1000 * asked['seconds']:.1f}"))
        return table(header, lines)

    def _cell(self, found: list[float] | None, digits: int) -> str:
        if found is None:
            return NOTHING
        mean, low, high = (f"{value:.{digits}f}" for value in found)
        return f"{mean} ({low} … {high})"
