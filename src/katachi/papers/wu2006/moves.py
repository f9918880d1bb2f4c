"""What networks think of the moves that people made: asked in blocks, each of which is kept as soon as it is through.

Temperatures are fitted to moves of validation games first, one for the geometric mean of probabilities and one for
the arithmetic mean; then moves of test games are asked about.

```
RUN/moves/NET-SIZE-PLIES-fit-N.json         the temperatures that fit N moves best
RUN/moves/NET-SIZE-PLIES-SET-BLOCK-N.json   what it thinks of a block of moves
```
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from katachi.core.models import load_dag_rnn
from katachi.data.dataset import Dataset
from katachi.papers.documents import mean_of_many
from katachi.papers.experiment import Budget, Json, Run, Scope, do_runs
from katachi.papers.wu2006.nets import Learned, even_games
from katachi.sgf.splits import Split
from katachi.territory.measure import Asked, JudgedMoves, judge_moves, pick_moves, promise_areas, promise_logits

FOLDER: Final = "moves"
FITTED: Final = {Budget.SMOKE: 5, Budget.HOUR: 100, Budget.FULL: 500}  # moves that a temperature is fitted to
_PROMISES: Final = {False: promise_areas, True: promise_logits}
TOP: Final = 60  # places that are counted
_BLOCK: Final = 250  # moves that are asked about before what is known is kept


@dataclass(frozen=True, slots=True)
class Question:
    """Which moves are asked about: those on boards of a size, all or only some of each game (from 1 on)."""

    size: int
    first: int = 1
    last: int | None = None

    @property
    def name(self) -> str:
        return f"{self.size}" if self.last is None else f"{self.size}-moves-{self.first}-{self.last}"

    def pick(self, games: Dataset, split: Split, count: int) -> Asked:
        """So many of these moves in even games of a split."""
        plies = None if self.last is None else range(self.first - 1, self.last)
        return pick_moves(games, even_games(games, self.size, split), count, seed=0, plies=plies)


def ask(net: Learned, question: Question, games: Dataset, count: int, scope: Scope) -> Json:
    """What a network thinks of so many moves of test games: their probability, and how many moves it liked better."""
    folder = scope.folder.parent / FOLDER
    about: Json = {
        "model": str(net.model),
        "by_policy": net.by_policy,
        "data": str(games.path),
        "question": [question.size, question.first, question.last],
    }
    name = f"{net.key}-{question.name}-{games.digest[:8]}"
    fitted = FITTED[scope.budget]
    fit = Run(f"{name}-fit-{fitted}", _fit, {**about, "count": fitted}, fitted)
    temperatures = do_runs([fit], folder, scope.workers, scope.watch)[0]["temperatures"]
    asked = question.pick(games, Split.TEST, count).games
    blocks = [
        Run(
            f"{name}-of-{count}-{first}",
            _judge,
            {**about, "temperatures": temperatures, "count": count, "first": first},
            min(_BLOCK, asked.size - first),
        )
        for first in range(0, asked.size, _BLOCK)
    ]
    found = do_runs(blocks, folder, scope.workers, scope.watch)
    return {"temperatures": temperatures, "games": int(np.unique(asked).size), **_summarize(found)}


def _fit(model: str, data: str, by_policy: bool, question: list[int | None], count: int) -> Json:
    games = Dataset.open(data)
    asked = _question(question).pick(games, Split.VALIDATION, count)
    judged = judge_moves(load_dag_rnn(Path(model))[0], games, asked, _PROMISES[by_policy])
    return {"temperatures": [judged.fit_temperature(mean_of_logs=of_logs) for of_logs in (True, False)]}


def _judge(
    model: str,
    data: str,
    by_policy: bool,
    question: list[int | None],
    temperatures: list[float],
    count: int,
    first: int,
) -> Json:
    games = Dataset.open(data)
    asked = _question(question).pick(games, Split.TEST, count)
    block = Asked(asked.games[first : first + _BLOCK], asked.plies[first : first + _BLOCK])
    judged = judge_moves(load_dag_rnn(Path(model))[0], games, block, _PROMISES[by_policy])
    return _tell(judged, temperatures)


def _question(values: list[int | None]) -> Question:
    size, first, last = values
    return Question(size or 0, first or 1, last)


def _tell(judged: JudgedMoves, temperatures: list[float]) -> Json:
    logs, others = (judged.log_likelihoods(temperature) for temperature in temperatures)
    return {
        "log_likelihoods": logs.round(4).tolist(),
        "likelihoods": np.exp(others).round(6).tolist(),
        "places": judged.places().tolist(),
        "legal": judged.legal.tolist(),
    }


def _summarize(blocks: list[Json]) -> Json:
    """Means and counts that are small enough to be kept: ``top[m − 1]`` moves were among the m best."""
    names = ("log_likelihoods", "likelihoods", "places", "legal")
    logs, likely, places, legal = (np.concatenate([block[name] for block in blocks]) for name in names)
    mean_log, mean = mean_of_many(logs), mean_of_many(likely)
    return {
        "moves": int(logs.size),
        "mean_log": mean_log.mean,
        "interval": mean_log.interval,
        "mean": mean.mean,
        "mean_interval": mean.interval,
        "random_log": float(-np.log(legal).mean()),
        "legal": float(legal.mean()),
        "top": [int((places < top).sum()) for top in range(1, TOP + 1)],
        "random_top": [float(np.minimum(1, top / legal).mean()) for top in range(1, TOP + 1)],
    }
