"""Features by themselves: their number, what kernels look for (D4, D5), and how well they predict winners (D3)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from katachi.core.contracts import FeatureSet
from katachi.core.disk import write_atomically
from katachi.crbm.config import CrbmConfig
from katachi.crbm.drawing import DrawnKernel, NamedCrbm, draw_kernels, rank_kernels
from katachi.crbm.evaluator import SavedCrbm, load_crbm
from katachi.crbm.features import Templates
from katachi.crbm.winners import (
    PAPER_FILTERS,
    Stage,
    SvmChoice,
    WinnerAccuracy,
    baselines,
    predict_winners,
    winner_boards,
)
from katachi.data.dataset import Dataset
from katachi.papers.documents import Estimate, estimate, format_interval, format_rounded, format_value, table
from katachi.papers.experiment import Budget, ExperimentError, Json, Row, Run, Scope, Table, do_runs
from katachi.papers.largman2010.play import Kind, Subject, how_long, learn_features
from katachi.papers.tournaments import require_games
from katachi.sgf.files import Split

# How many features there are: those of the paper's CRBM, and all templates as their baseline.

PUBLISHED: Final = {"CRBM, 105 kernels of 3×3": 5_145, "all 2×2 templates": 5_184}


class Counts(Table):
    name = "counts"
    title = "The number of features"

    def measure(self, scope: Scope) -> Json:  # noqa: ARG002 — counting takes no budget
        """Count the features of all sets on 9×9."""
        crbm, templates = PUBLISHED
        return {
            "features": {
                crbm: CrbmConfig().feature_count,
                "the same, kernels in any orientation": CrbmConfig(units="oriented-or-off").feature_count,
                templates: Templates(9).size,
                "all 3×3 templates": Templates(9, side=3).size,
            }
        }

    def rows(self, results: Json) -> list[Row]:
        """The size of every feature set."""
        return [
            Row(f"{self.name}/{number}", f"{name}: features on 9×9", PUBLISHED.get(name), count, None)
            for number, (name, count) in enumerate(results["features"].items(), start=1)
        ]

    def section(self, results: Json) -> str:
        """The counts beside the paper's."""
        lines = [
            (name, format_value(PUBLISHED.get(name)), format_value(count))
            for name, count in results["features"].items()
        ]
        return f"""
A feature is a kernel, or a template, at one place of the board; nothing is shared between places.

{table(("features on 9×9", "paper", "ours"), lines)}
"""


# What kernels look for (D4, D5): pictures of multinomial and real-valued units, and how much free points matter.

TITLES: Final = {Kind.CRBM: "multinomial", Kind.REAL: "real-valued"}
SHOWN: Final = 16

_FREE: Final = 2  # the channel


class Kernels(Table):
    name = "kernels"
    needs = ("torch",)
    title = "Kernels"
    own_differences = (
        "The paper examines kernels by eye. Which states matter, we count.",
        "The paper's text and its captions disagree about which figure shows which units; we go by the text.",
        "The paper says nothing of step sizes, of sparsity, and of how kernels begin. We pull towards no sparsity. "
        "Kernels of multinomial units begin with a spread of 0.3 and take steps of 0.05: from a spread of 0.01 they "
        "all learned the same, or turned off.",
        "Real-valued units begin with a spread of 0.01 and take steps of 0.001.",
    )

    def measure(self, scope: Scope) -> Json:
        """Learn one CRBM of each kind, and keep what is drawn and counted of it."""
        games = require_games(scope)
        subjects = {title: Subject(kind) for kind, title in TITLES.items()}
        learn_features(subjects.values(), games, scope)
        found = {title: self._describe(subject.features(games, scope)) for title, subject in subjects.items()}
        return {"data": games.describe(), "crbms": found}

    def _describe(self, path: str) -> Json:
        crbm, card = load_crbm(path)
        every = rank_kernels(crbm, crbm.config.kernels)
        return {
            "reconstruction error": card.metrics["validation reconstruction error"].value,
            "free": [round(self._share_of_free(kernel), 4) for kernel in every],
            "shown": [self._to_json(kernel) for kernel in every[:SHOWN]],
        }

    def _share_of_free(self, kernel: DrawnKernel) -> float:
        """How much of a kernel's squared weights is for or against free points; a third if all states matter alike."""
        squares: NDArray[Any] = (kernel.channels.astype(np.float64) ** 2).sum(axis=(1, 2))
        return float(squares[_FREE] / max(squares.sum(), np.finfo(float).tiny))

    def _to_json(self, kernel: DrawnKernel) -> Json:
        return {"use": round(kernel.use or 0.0, 4), "channels": np.round(kernel.channels, 3).tolist()}

    def _share(self, found: Json) -> Estimate:
        return estimate([100 * share for share in found["free"]])

    def rows(self, results: Json) -> Iterator[Row]:
        """The share of free points in the weights of each kind."""
        for title, found in results["crbms"].items():
            what = f"{title} units: share of kernels' weight for or against free points, %"
            yield Row.measured(f"{self.name}/{title}/free", what, None, self._share(found))

    def draw(self, results: Json, pictures: Path) -> None:
        """Draw the kernels of both kinds side by side."""
        named = [NamedCrbm(title, self._restore(found["shown"])) for title, found in results["crbms"].items()]
        pictures.mkdir(parents=True, exist_ok=True)
        write_atomically(pictures / f"{self.name}.svg", draw_kernels(named, SHOWN))

    def section(self, results: Json) -> str:
        """The pictures side by side, and what can be counted."""
        lines = [
            (title, format_rounded(self._share(found)), format_value(found["reconstruction error"]))
            for title, found in results["crbms"].items()
        ]
        header = ("visible units", "weight for or against free points, %", "reconstruction error")
        return f"""
The {SHOWN} kernels that are on most often, as the CRBMs learned them from `{results["data"]["name"]}`. On wood each
point shows the state that has the largest weight there, own stones black. The three small squares are the weights for
own stones, the opponent's and free points, green above the mean of the three and red below.

![Kernels of multinomial and of real-valued units](largman2010/{self.name}.svg)

The paper found the kernels of multinomial units more meaningful, and more sensitive to free points; it shows a
pinwheel, peeps in two orientations and a part of an eye. If all three states mattered alike, a third of the weight, in
squares, would be for or against free points:

{table(header, lines)}
"""

    def _restore(self, shown: list[Json]) -> SavedCrbm:
        """As much of a CRBM as is drawn."""
        kernels = np.array([kernel["channels"] for kernel in shown], dtype=np.float32)
        config = CrbmConfig(kernels=len(shown), kernel_size=kernels.shape[-1], size=max(2, kernels.shape[-1]))
        return SavedCrbm(config, {"first.kernels": kernels}, np.array([kernel["use"] for kernel in shown], np.float32))


# Who won, predicted from one board by support vector machines over all feature sets.

KINDS: Final = (Kind.CRBM, Kind.ORIENTED)
BOARDS: Final = {Budget.SMOKE: 60, Budget.HOUR: 2_000, Budget.FULL: 5_000}
FOLDS: Final = {Budget.SMOKE: 2, Budget.HOUR: 5, Budget.FULL: 10}
FILTERS: Final = {Budget.SMOKE: 8, Budget.HOUR: PAPER_FILTERS, Budget.FULL: PAPER_FILTERS}

_LEARNED_FROM: Final = 500  # boards that filters are made from, of other games


def _predict(stage: str, boards: int, folds: int, filters: int, data: str, size: int, crbms: dict[str, str]) -> Json:
    """How often each feature set predicts the winner of the same boards of test games; raises ExperimentError."""
    dataset = Dataset.open(data)
    asked = winner_boards(dataset, Stage(stage), boards, split=Split.TEST, size=size)
    others = winner_boards(dataset, Stage(stage), _LEARNED_FROM, split=Split.TRAINING, size=size).boards
    sets: list[FeatureSet] = list(baselines(size, others, filters))
    sets += [load_crbm(path)[0].features() for path in crbms.values()]
    try:
        return {"sets": [asdict(predict_winners(features, asked, folds=folds, inner_folds=2)) for features in sets]}
    except ValueError as error:
        raise ExperimentError(f"{data} has too few test games: {error}") from None


def accuracies(sets: list[Json]) -> list[WinnerAccuracy]:
    """What was measured at one stage; the templates, which are the baseline, come first."""
    return [
        WinnerAccuracy(**one | {"folds": tuple(one["folds"]), "choices": tuple(SvmChoice(**c) for c in one["choices"])})
        for one in sets
    ]


_DATA: Final = "The paper asked about games of professionals; ours are of `{name}`, on {size}×{size}."


class Winners(Table):
    name = "winners"
    needs = ("torch", "sklearn", "scipy")
    title = "Predicting the winner from one board"
    own_differences = (
        "Random filters, principal components, k-means and frequent 3×3 templates are ours; the paper compared with "
        "2×2 templates alone.",
        "The boards that are asked about are of test games; filters and CRBMs learned from others.",
        "Intervals are Student's over folds, as if these were independent.",
    )

    def measure(self, scope: Scope) -> Json:
        """Learn CRBMs, and ask all feature sets at both stages of the game."""
        games = require_games(scope)
        subjects = [Subject(kind) for kind in KINDS]
        learn_features(subjects, games, scope)
        crbms = {subject.kind.value: subject.features(games, scope) for subject in subjects}
        work = partial(_predict, data=str(games.dataset.path), size=games.size, crbms=crbms)
        settings = {"boards": BOARDS[scope.budget], "folds": FOLDS[scope.budget], "filters": FILTERS[scope.budget]}
        name = f"{how_long(games, scope)} {settings['boards']}"
        runs = [Run(f"{stage.value} {name}", work, {"stage": stage.value} | settings, 1) for stage in Stage]
        found = do_runs(runs, scope.folder, scope.workers, scope.watch)
        stages = {stage.value: result["sets"] for stage, result in zip(Stage, found, strict=True)}
        return {"data": games.describe(), "stages": stages}

    def _percent(self, found: WinnerAccuracy) -> Estimate:
        low, high = found.interval
        return Estimate(100 * found.accuracy, (100 * max(low, 0.0), 100 * min(high, 1.0)), len(found.folds))

    def rows(self, results: Json) -> Iterator[Row]:
        """How often each feature set is right, at both stages; the paper's figures were in a chart that is lost."""
        for stage, sets in results["stages"].items():
            for number, found in enumerate(accuracies(sets), start=1):
                what = f"{stage} board, {found.name}: winner predicted, %"
                yield Row.measured(f"{self.name}/{stage}/{number}", what, None, self._percent(found))

    def section(self, results: Json) -> str:
        """How it was asked, both tables, and the differences."""
        parts = [f"{self._title(stage, sets)}\n\n{self._table(sets)}" for stage, sets in results["stages"].items()]
        return f"""
Support vector machines predict from the features of a single board who won. Kernel and C are chosen by cross-validation
within the folds that are learned from. The paper found that no CRBM did better than all 2×2 templates, and that
oriented kernels generalized clearly better than plain ones; its figures were in a chart that is not in the text.

{(chr(10) * 2).join(parts)}
"""

    def differences(self, results: Json) -> tuple[str, ...]:
        """The data, and what is the same for all."""
        return _DATA.format(**results["data"]), *self.own_differences

    def _title(self, stage: str, sets: list[Json]) -> str:
        boards, majority = sets[0]["boards"], sets[0]["majority"]
        when = "In the middle of games" if stage == Stage.MIDDLE.value else "At the end of games"
        return f"{when}, {boards:,} boards; always saying the same would be right in {100 * majority:.1f} %:"

    def _table(self, sets: list[Json]) -> str:
        found = accuracies(sets)
        lines = []
        for one in found:
            low, high = one.difference(found[0])
            more = "" if one is found[0] else format_interval((round(100 * low, 1), round(100 * high, 1)))
            lines.append((one.name, f"{one.features:,}", format_rounded(self._percent(one)), more))
        return table(("features", "number", "winner predicted, %", f"more than {found[0].name}, %"), lines)
