"""Who won, told from one board by support vector machines over all feature sets (D3)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Final

from katachi.core.contracts import FeatureSet
from katachi.core.models import load_crbm
from katachi.crbm.winners import PAPER_FILTERS, Stage, SvmChoice, WinnerAccuracy, baselines, tell_winners, winner_boards
from katachi.data.dataset import Dataset
from katachi.papers.documents import Estimate, format_interval, format_rounded, numbered, table
from katachi.papers.experiment import Budget, ExperimentError, Json, Row, Run, Scope, Table, do_runs
from katachi.papers.games import require_games
from katachi.papers.largman2010.learned import Kind, Subject, how_long, learn_features
from katachi.sgf.splits import Split

NAME: Final = "winners"
RUN: Final = f"largman2010/{NAME}"
KINDS: Final = (Kind.CRBM, Kind.ORIENTED)
BOARDS: Final = {Budget.SMOKE: 60, Budget.HOUR: 2_000, Budget.FULL: 5_000}
FOLDS: Final = {Budget.SMOKE: 2, Budget.HOUR: 5, Budget.FULL: 10}
FILTERS: Final = {Budget.SMOKE: 8, Budget.HOUR: PAPER_FILTERS, Budget.FULL: PAPER_FILTERS}

_LEARNED_FROM: Final = 500  # boards that filters are made from, of other games


def measure(scope: Scope) -> Json:
    """Learn CRBMs, and ask all feature sets at both stages of the game."""
    games = require_games(scope)
    subjects = [Subject(kind) for kind in KINDS]
    learn_features(subjects, games, scope)
    crbms = {subject.kind.value: subject.features(games, scope) for subject in subjects}
    work = partial(_tell, data=str(games.dataset.path), size=games.size, crbms=crbms)
    settings = {"boards": BOARDS[scope.budget], "folds": FOLDS[scope.budget], "filters": FILTERS[scope.budget]}
    name = f"{how_long(games, scope)} {settings['boards']}"
    runs = [Run(f"{stage.value} {name}", work, {"stage": stage.value} | settings, 1) for stage in Stage]
    found = do_runs(runs, scope.folder, scope.workers, scope.watch)
    stages = {stage.value: result["sets"] for stage, result in zip(Stage, found, strict=True)}
    return {"data": games.describe(), "stages": stages}


def _tell(stage: str, boards: int, folds: int, filters: int, data: str, size: int, crbms: dict[str, str]) -> Json:
    """How often each feature set tells the winner of the same boards of test games; raises ExperimentError."""
    dataset = Dataset.open(data)
    asked = winner_boards(dataset, Stage(stage), boards, split=Split.TEST, size=size)
    others = winner_boards(dataset, Stage(stage), _LEARNED_FROM, split=Split.TRAINING, size=size).boards
    sets: list[FeatureSet] = list(baselines(size, others, filters))
    sets += [load_crbm(path)[0].features() for path in crbms.values()]
    try:
        return {"sets": [asdict(tell_winners(features, asked, folds=folds, inner_folds=2)) for features in sets]}
    except ValueError as error:
        raise ExperimentError(f"{data} has too few test games: {error}") from None


def accuracies(sets: list[Json]) -> list[WinnerAccuracy]:
    """What was measured at one stage; the templates, which are the baseline, come first."""
    return [
        WinnerAccuracy(**one | {"folds": tuple(one["folds"]), "choices": tuple(SvmChoice(**c) for c in one["choices"])})
        for one in sets
    ]


def _percent(found: WinnerAccuracy) -> Estimate:
    low, high = found.interval
    return Estimate(100 * found.accuracy, (100 * max(low, 0.0), 100 * min(high, 1.0)))


def rows(results: Json) -> list[Row]:
    """How often each feature set is right, at both stages; the paper's figures were in a chart that is lost."""
    return list(_rows(results))


def _rows(results: Json) -> Iterator[Row]:
    for stage, sets in results["stages"].items():
        for number, found in enumerate(accuracies(sets), start=1):
            mean, interval = _percent(found)
            what = f"{stage} board, {found.name}: winner told, %"
            yield Row(f"{NAME}/{stage}/{number}", what, None, round(mean, 1), interval, RUN)


def section(results: Json, pictures: Path) -> str:  # noqa: ARG001 — the tables say it all
    """How it was asked, both tables, and the differences."""
    parts = [f"{_title(stage, sets)}\n\n{_table(sets)}" for stage, sets in results["stages"].items()]
    return f"""
Support vector machines tell from the features of a single board who won. Kernel and C are chosen by cross-validation
within the folds that are learned from. The paper found that no CRBM did better than all 2×2 templates, and that
oriented kernels generalized clearly better than plain ones; its figures were in a chart that is not in the text.

{(chr(10) * 2).join(parts)}

Differences from the paper:

{numbered((_DATA.format(**results["data"]), *_DIFFERENCES))}
"""


def _title(stage: str, sets: list[Json]) -> str:
    boards, majority = sets[0]["boards"], sets[0]["majority"]
    when = "In the middle of games" if stage == Stage.MIDDLE.value else "At the end of games"
    return f"{when}, {boards:,} boards; always saying the same would be right in {100 * majority:.1f} %:"


def _table(sets: list[Json]) -> str:
    found = accuracies(sets)
    lines = []
    for one in found:
        low, high = one.difference(found[0])
        more = "" if one is found[0] else format_interval((round(100 * low, 1), round(100 * high, 1)))
        lines.append((one.name, f"{one.features:,}", format_rounded(_percent(one)), more))
    return table(("features", "number", "winner told, %", f"more than {found[0].name}, %"), lines)


_DATA: Final = "The paper asked about games of professionals; ours are of `{name}`, on {size}×{size}."
_DIFFERENCES: Final = (
    "Random filters, principal components, k-means and frequent 3×3 templates are ours; the paper compared with "
    "2×2 templates alone.",
    "The boards that are asked about are of test games; filters and CRBMs learned from others.",
    "Intervals are Student's over folds, as if these were independent.",
)

TABLE: Final = Table(NAME, "Telling the winner from one board", measure, rows, section)
