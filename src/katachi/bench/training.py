"""Positions a second that the paper's networks learn from: batches computed on the fly, beside the same ready-made.

Both learn from the same batches with one thread, in turns; on the fly, another thread computes them ahead, as
``katachi train cnn`` does. The games are random ones, whose planes take longer than those of people's games.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.util import find_spec
from itertools import cycle, islice
from pathlib import Path
from typing import Final

import numpy as np

from katachi.bench.report import Bar, Contestant, Report, Row, measure
from katachi.bench.twins import BenchmarkError
from katachi.core.contracts import Ints
from katachi.data.batches import Batch, Batches
from katachi.data.dataset import GAME, SPLITS, Dataset, DatasetCard, encode_moves
from katachi.go.board import Board
from katachi.policy.planes import PLANES
from katachi.sgf.splits import Split

SIZE: Final = 19
UNIT: Final = "positions/s"
SHAPES: Final = ((3, 64), (6, 128))  # layers and filters
WANTED: Final = 0.9  # of the speed with ready-made batches

_BATCH: Final = 128
_READY: Final = 4  # batches
_GAMES: Final = 40
_PLIES: Final = 200


def run(seconds: float = 0.4, rounds: int = 15) -> Report:
    """Measure all networks; a round of one of them lasts about ``seconds``, but for a batch at least."""
    if find_spec("torch") is None:
        raise BenchmarkError("training is measured with torch, which is not here: pip install 'katachi[train]'")
    import torch  # takes seconds

    torch.set_num_threads(1)
    batches = Batches(random_games(), PLANES["maddison-36"], _BATCH)
    rows: list[Row] = []
    for layers, filters in SHAPES:
        contestants = list(_contestants(layers, filters, batches))
        guessed_rate = 4e6 / (layers * filters**2)  # it need not be right
        counts = max(1, round(seconds * guessed_rate / _BATCH)) * _BATCH
        rows += measure(contestants, SIZE, UNIT, counts, rounds)
    return Report("training", rows, list(_bars(rows)), [])


def random_games() -> Dataset:
    """A set of games that were played at random, in memory alone."""
    rng = np.random.default_rng(1)
    played = [_random_moves(rng) for _ in range(_GAMES)]
    colors = np.where(np.arange(_PLIES) % 2 == 0, 1, -1).astype(np.int8)
    games = np.zeros(_GAMES, dtype=GAME)
    games["first_move"] = np.arange(_GAMES) * _PLIES
    games["moves"] = games["plays"] = _PLIES
    games["lines"], games["to_play"], games["split"] = SIZE, 1, SPLITS.index(Split.TRAINING)
    moves = np.concatenate([encode_moves(points, colors) for points in played])
    card = DatasetCard(
        games=_GAMES, moves=moves.size, unique=True, sources=[], repeated=0, skipped={}, cut={}, examples=[], files={}
    )
    return Dataset(Path("random games"), card, games, moves, np.zeros(0, dtype=np.uint16))


def _random_moves(rng: np.random.Generator) -> Ints:
    board, moves = Board(SIZE), np.empty(_PLIES, dtype=np.int64)
    for ply in range(_PLIES):
        moves[ply] = rng.choice(np.flatnonzero(board.legal_moves()[:-1]))
        board.play(int(moves[ply]))
    return moves


def _contestants(layers: int, filters: int, batches: Batches) -> Iterator[Contestant]:
    ready = [batches[number] for number in range(_READY)]
    for name, source in (("on the fly", batches.stream(workers=1)), ("ready-made", cycle(ready))):
        yield Contestant(f"{layers}×{filters}, {name}", 1, _learning(layers, filters, source))


def _learning(layers: int, filters: int, source: Iterator[Batch]) -> Callable[[int, int, int], None]:
    """A function that learns from so many positions of a source; what it needs is compiled here."""
    from katachi.policy.supervised import CnnTraining, Learner

    settings = CnnTraining.maddison(layers, filters, data="", batch=_BATCH, optimizer="sgd", step_size=1e-3)
    learner = Learner(settings)

    def learn(size: int, count: int, seed: int) -> None:  # noqa: ARG001 (as measured)
        for batch in islice(source, count // _BATCH):
            learner.update(batch)

    learn(SIZE, _BATCH, 0)
    return learn


def _bars(rows: list[Row]) -> Iterator[Bar]:
    rates = {row.name: row.rate for row in rows}
    for layers, filters in SHAPES:
        name = f"{layers}×{filters}"
        ratio = rates[f"{name}, on the fly"] / rates[f"{name}, ready-made"]
        yield Bar(f"{name}: on the fly / ready-made", SIZE, ratio, WANTED)
