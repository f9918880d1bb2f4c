"""Positions a second that networks judge, on one thread: onnxruntime in fp32 and int8, and torch where it is
installed.

They are given the planes of the same positions, from random games, one at a time or 32. ``evaluate`` is what a player
waits for in fp32: planes, network and policy. Of torch only the speed is measured: its weights have learned nothing.

With a set of games it is also measured what int8 costs: how often each precision foretells moves of the test games,
and the difference, with its interval of 95 % by pairs.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from statistics import NormalDist
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from katachi.bench.report import Bar, Contestant, Report, Row, measure
from katachi.bench.shapes import random_positions
from katachi.bench.twins import BenchmarkError
from katachi.core.cards import ModelError
from katachi.core.contracts import Doubles
from katachi.core.models import SavedModel, find_model, open_model, shipped_models
from katachi.core.statistics import CONFIDENCE
from katachi.data.dataset import Dataset
from katachi.features.planes import HIGHEST_RANK, Planes
from katachi.go.board import Board
from katachi.policy.cnn_cards import INT8, ONNX, CnnCard
from katachi.policy.config import CnnConfig
from katachi.policy.measure import Foreteller
from katachi.policy.onnx_sessions import OnnxNetwork
from katachi.policy.planes import PLANES
from katachi.sgf.splits import Split

BATCHES: Final = (1, 32)
UNIT: Final = "positions/s"
_ANY_SIZE: Final = 19  # what is measured of a network that judges all sizes
_POSITIONS: Final = max(BATCHES)
_FILES: Final = {"fp32": ONNX, "int8": INT8}

Judge = Callable[[slice], Any]  # of some of the positions


def run(
    seconds: float = 0.4,
    rounds: int = 15,
    *,
    models: Sequence[str] = (),
    data: Path | None = None,
    positions: int = 0,
) -> Report:
    """Measure the models of these names, or all networks that ship; a round of one of them lasts about ``seconds``.

    With a set of games, so many positions of it are foretold by each.
    """
    names = models or [path.name for path in shipped_models() if open_model(path).card.kind == "cnn"]
    if not names:
        raise BenchmarkError("no network ships: name one by --model")
    notes = [] if find_spec("torch") else ["torch is left out: it is not installed"]
    rows: list[Row] = []
    for name in names:
        saved = open_model(find_model(name))
        judges = dict(_judges(saved))
        size = saved.card.board_size or _ANY_SIZE
        counts = max(1, round(seconds * _rate(judges["fp32"]) / _POSITIONS)) * _POSITIONS
        rows += measure(list(_contestants(name, judges)), size, UNIT, counts, rounds)
        if data is not None:
            rows += _foretold(name, saved, Dataset.open(data), size, positions)
    return Report("inference", rows, list(_bars(rows)), notes)


def _judges(saved: SavedModel) -> Iterator[tuple[str, Judge]]:
    """Everything that is to judge the positions, by name."""
    card = saved.card
    if not isinstance(card, CnnCard):
        raise ModelError(f"{saved.path}: this model is a {card.kind}, no network")
    records = random_positions(card.board_size or _ANY_SIZE)[:_POSITIONS]
    boards = [Board.wrap(records[i : i + 1]) for i in range(_POSITIONS)]
    planes = PLANES[card.config.planes].encode(boards)
    for name, file in _FILES.items():
        if file in card.files:
            yield name, partial(_run_onnx, OnnxNetwork(saved.read(file)), card.config, planes)
    if find_spec("torch"):
        yield "torch", _torch_judge(card.config, planes)
    evaluator = saved.load()
    yield "evaluate", lambda part: evaluator.evaluate(boards[part])


def _run_onnx(network: OnnxNetwork, config: CnnConfig, planes: Planes, part: slice) -> None:
    rank = {"rank": _ranks(planes[part])} if config.rank_embedding else {}
    network.run({"planes": planes[part], **rank}, ["policy"])


def _torch_judge(config: CnnConfig, planes: Planes) -> Judge:
    import torch  # takes seconds

    from katachi.policy.network import Cnn

    torch.set_num_threads(1)
    network, tensors, ranks = Cnn.new(config, seed=0), torch.from_numpy(planes), torch.from_numpy(_ranks(planes))

    def judge(part: slice) -> None:
        with torch.inference_mode():
            network.predict(tensors[part], ranks[part])

    return judge


def _ranks(planes: Planes) -> NDArray[np.int64]:
    return np.full(len(planes), HIGHEST_RANK, dtype=np.int64)


def _rate(judge: Judge) -> float:
    """About how many positions it judges a second: how much work makes a round."""
    judge(slice(_POSITIONS))
    start = time.perf_counter()
    judge(slice(_POSITIONS))
    return _POSITIONS / (time.perf_counter() - start)


def _contestants(model: str, judges: dict[str, Judge]) -> Iterator[Contestant]:
    for name, judge in judges.items():
        judge(slice(_POSITIONS))  # compiles
        for batch in BATCHES:
            yield Contestant(f"{model} {name}, batch {batch}", 1, partial(_judge_all, judge, batch))


def _judge_all(judge: Judge, batch: int, size: int, count: int, seed: int) -> None:  # noqa: ARG001 (as measured)
    for first in range(0, count, batch):
        start = first % _POSITIONS
        judge(slice(start, start + batch))


def _foretold(name: str, saved: SavedModel, dataset: Dataset, size: int, positions: int) -> Iterator[Row]:
    """The shares of moves that were foretold in each precision, and what is lost by eight bits."""
    hits: dict[str, Doubles] = {}
    for precision, file in _FILES.items():
        if file in saved.card.files:
            network = Foreteller.open(saved.path, precision=precision)
            found = network.foretell(network.held_out(dataset, Split.TEST, size, positions))
            hits[precision] = 100.0 * (found.places == 0)
            unit = f"% of {found.places.size:,} moves"
            yield Row(f"{name} {precision}, top-1", size, 1, unit, float(hits[precision].mean()))
    if len(hits) == len(_FILES):
        lost = hits["int8"] - hits["fp32"]
        half = NormalDist().inv_cdf((1 + CONFIDENCE) / 2) * lost.std() / math.sqrt(lost.size)
        yield Row(f"{name} int8 less fp32, top-1", size, 1, f"± {half:.2f} points", float(lost.mean()))


def _bars(rows: Sequence[Row]) -> Iterator[Bar]:
    speeds = [row for row in rows if row.unit == UNIT]
    rates = {row.name: row.rate for row in speeds}
    for row in speeds:
        for ours, other in (("fp32", "torch"), ("int8", "fp32")):
            base = row.name.replace(f" {ours},", f" {other},")
            if base != row.name and base in rates:
                text = row.name.replace(f" {ours},", f" {ours} / {other},")
                yield Bar(text, row.size, row.rate / rates[base], 1.0)
