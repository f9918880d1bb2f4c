"""Training a linear value on disk: the loop with its checkpoints and measurements, the model and its player.

A run goes on to the same bytes.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from katachi.core.cards import Metric, Training, provenance
from katachi.core.contracts import Floats
from katachi.core.disk import write_atomically
from katachi.core.models import find_model, load_crbm, save_crbm, save_linear
from katachi.core.training import MetricLine, TrainingRun
from katachi.crbm.features import Templates
from katachi.crbm.linear_td import Chains
from katachi.crbm.value import TEMPLATES, ValueLearner, ValueTraining, load_saved_crbm, open_records
from katachi.data.dataset import DatasetError
from katachi.go.rules import Rules
from katachi.sgf.splits import Split
from katachi.shapes.linear_cards import describe_linear
from katachi.shapes.model import LinearModel

Watcher = Callable[[MetricLine], None]
Ticker = Callable[[int, int], None]


def _ignore(games: int, total: int) -> None: ...


def train_value(
    settings: ValueTraining, directory: Path, watch: Watcher, command: str = "", tick: Ticker = _ignore
) -> None:
    """Train in a run directory, or go on there, and save the model there at the end with a player's spec.

    ``watch`` sees every evaluation, those of an earlier run first; ``tick`` hears after every game how many are done.
    """
    learner = ValueLearner(settings)
    held_out = list(_held_out(learner))
    with TrainingRun(directory, settings) as run:
        run.restore(learner)
        for line in run.lines:
            watch(line)
        _train(learner, run, held_out, watch, tick)
        _save(directory / "model", learner, run.lines[-1], command)
        run.finish()


def _train(learner: ValueLearner, run: TrainingRun, held_out: list[Chains], watch: Watcher, tick: Ticker) -> None:
    """Learn game after game, and measure and keep everything now and then."""
    began = time.monotonic() - (run.lines[-1].values["seconds"] if run.lines else 0)
    since: Counter[str] = Counter()
    while not learner.is_finished:
        since.update(learner.learn_game())
        tick(learner.games, learner.total_games)
        if learner.games % learner.settings.evaluate_every == 0 or learner.is_finished:
            line = MetricLine(
                {
                    "games": learner.games,
                    "td_error": float(np.sqrt(since["squared_errors"] / max(since["updates"], 1))),
                    "seconds": round(time.monotonic() - began, 1),
                    **_against_former(since),
                    **_foresight(learner, held_out),
                }
            )
            run.keep(learner.state_dict(), line)
            watch(line)
            since = Counter()


def _against_former(since: Counter[str]) -> dict[str, float]:
    """The share of games that the learner won against its former self, of those with a winner."""
    if not since["played"]:
        return {}
    finished = since["played"] - since["unfinished"]
    return {"win_rate": since["won"] / max(finished, 1), "unfinished": since["unfinished"] / since["played"]}


def _held_out(learner: ValueLearner) -> Iterator[Chains]:
    """Some validation games whose winner is known; none without a set, or if it has none."""
    settings = learner.settings
    if settings.data is None:
        return
    try:
        games = open_records(settings, Split.VALIDATION, settings.validation_games)
    except DatasetError:
        return
    for number in range(games.games):
        chains = games.chains(learner.features, number)
        if not np.isnan(chains.rewards).any():
            yield chains


def _foresight(learner: ValueLearner, held_out: list[Chains]) -> dict[str, float]:
    """How well the value foretells who won held-out games, over all their afterstates."""
    if not held_out:
        return {}
    weights = learner.weights
    logits = np.concatenate([_logits(weights, chains) for chains in held_out])
    won = np.concatenate([chains.rewards for chains in held_out])
    loss = np.logaddexp(0, logits) - won * logits
    return {"validation_loss": float(loss.mean()), "validation_winners": float(((logits > 0) == (won > 0.5)).mean())}


def _logits(weights: Floats, chains: Chains) -> NDArray[np.float64]:
    products = weights[chains.indices].astype(np.float64) * chains.occurrences
    sums: NDArray[np.float64] = np.add.reduceat(products, chains.starts[:-1])
    return sums


def _save(path: Path, learner: ValueLearner, last: MetricLine, command: str) -> None:
    settings = learner.settings
    dataset = None if learner.records is None else learner.records.dataset
    training = Training(
        command=command,
        commit=provenance()["commit"],
        seed=settings.seed,
        games=learner.games,
        hours=round(last.values["seconds"] / 3600, 2),
        data="self-play" if dataset is None else f"{dataset.path.name} ({dataset.digest})",
        settings=settings.model_dump(mode="json"),
    )
    metrics = {}
    if "validation_winners" in last.values:
        metrics["validation winners known"] = Metric(value=last.values["validation_winners"])
    if isinstance(learner.features, Templates):
        model = LinearModel(learner.features, learner.weights)
        card = describe_linear(model, Rules(komi=settings.komi), training, metrics)
        save_linear(path, model, card, replace=True)
    else:
        _, of_features = load_crbm(find_model(settings.features))
        crbm = replace(load_saved_crbm(settings), value=learner.weights)
        save_crbm(path, crbm, of_features.training, training, {**of_features.metrics, **metrics}, replace=True)
    spec = f'kind = "search"\nname = {json.dumps(_player_name(learner))}\n[evaluator]\n'
    write_atomically(path.with_name("player.toml"), f"{spec}model = {json.dumps(str(path.resolve()))}\n")


def _player_name(learner: ValueLearner) -> str:
    return TEMPLATES if isinstance(learner.features, Templates) else "crbm"
