"""Positions a second that a DAG-RNN learns from and judges, ours beside the same network in torch, one thread each.

Learning is the gradient over a batch of 128 9×9 boards with 69 inputs a point; the steps of the two optimizers are
left out. ``katachi-strong`` is our own stronger network, ``inputs`` what the inputs of the same positions cost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from katachi.bench.report import Bar, Contestant, Report, Row, measure
from katachi.bench.shapes import random_positions
from katachi.core.contracts import Floats
from katachi.territory.dag_rnn import DagRnn
from katachi.territory.dag_rnn_config import DagRnnConfig
from katachi.territory.inputs import PointInputs
from katachi.territory.propensity import TABLE_SHAPE

SIZES: Final = (9, 19)
UNIT: Final = "positions/s"
WANTED: Final = 1.4  # times as fast as torch in learning, on 9×9

_BATCH: Final = {9: 128, 19: 32}
_GUESSED_RATE: Final = {9: 5000, 19: 1000}  # how much work makes a round; it need not be right

Work = Callable[[], Any]  # on one batch


def run(seconds: float = 0.4, rounds: int = 15) -> Report:
    """Measure all contestants; a round of one of them lasts about ``seconds``."""
    rows: list[Row] = []
    for size in SIZES:
        contestants = [Contestant(name, 1, _repeat(work, _BATCH[size])) for name, work in _works(size, _BATCH[size])]
        rows += measure(contestants, size, UNIT, max(_BATCH[size], round(_GUESSED_RATE[size] * seconds)), rounds)
    notes = [] if find_spec("torch") else ["torch is left out: it is not installed"]
    return Report("territory", rows, list(_bars(rows)), notes)


def _repeat(work: Work, batch: int) -> Callable[[int, int, int], None]:
    """Batch after batch until there were so many positions; it is compiled here."""
    work()

    def repeat(_: int, count: int, __: int) -> None:
        for _ in range(-(-count // batch)):
            work()

    return repeat


def _works(size: int, batch: int) -> Iterator[tuple[str, Work]]:
    inputs = PointInputs()
    records = random_positions(size)
    records = records[np.arange(batch) % records.size]
    table = np.zeros(TABLE_SHAPE, dtype=np.float32)
    encoded = np.empty((batch, size * size, inputs.d), dtype=np.float32)
    yield "inputs", lambda: inputs.fill(records, table, encoded)
    targets = (records["stone"][:, : size * size] / 2 + 0.5).astype(np.float32)
    for name, config in (("", DagRnnConfig()), ("-strong", DagRnnConfig.strong())):
        net = DagRnn.new(config, inputs, seed=0)
        yield f"katachi{name} learning", _learning(net, encoded, size, targets)
        yield f"katachi{name} judging", _judging(net, encoded, size)
    if find_spec("torch"):
        yield from _torch_works(DagRnn.new(DagRnnConfig(), inputs, seed=0), encoded, size, targets)


def _learning(net: DagRnn, inputs: Floats, size: int, targets: Floats) -> Work:
    return lambda: net.gradient(inputs, size, targets)


def _judging(net: DagRnn, inputs: Floats, size: int) -> Work:
    return lambda: net.logits(inputs, size)


def _torch_works(net: DagRnn, inputs: Floats, size: int, targets: Floats) -> Iterator[tuple[str, Work]]:
    import torch

    from katachi.bench.torch_dag_rnn import TorchDagRnn

    torch.set_num_threads(1)
    twin = TorchDagRnn(net.config, net.inputs, net.arrays())
    no_moves: NDArray[np.int64] = np.full(len(inputs), -1)

    def learn() -> None:
        for weight in twin.weights.values():
            weight.grad = None
        twin.loss(inputs, size, targets, no_moves, 0.0).backward()  # type: ignore[no-untyped-call]

    def judge() -> None:
        with torch.no_grad():
            twin.logits(inputs, size)

    yield "torch learning", learn
    yield "torch judging", judge


def _bars(rows: list[Row]) -> Iterator[Bar]:
    rates = {(row.name, row.size): row.rate for row in rows}
    for size in SIZES:
        if ("torch learning", size) in rates:
            ratio = rates["katachi learning", size] / rates["torch learning", size]
            yield Bar("katachi learning / torch learning", size, ratio, WANTED)
