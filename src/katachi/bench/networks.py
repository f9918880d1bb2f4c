"""Networks: positions per second that they evaluate and learn from.

Inference is on one thread: onnxruntime in fp32 and int8, and torch where it is installed. They are given the planes of
the same positions, from random games, one at a time or 32. ``evaluate`` is what a player waits for in fp32: planes,
network and policy. Of torch only the speed is measured: its weights have learned nothing.

With a dataset it is also measured what int8 costs: how often each precision predicts moves of the test games,
and the difference, with its interval of 95 % by pairs.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from itertools import cycle, islice
from pathlib import Path
from statistics import NormalDist
from string import ascii_lowercase
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from katachi.bench import BenchmarkError, Contestant, Report, Row, Target, import_twin, measure
from katachi.bench.shapes import random_positions
from katachi.core.cards import CONFIDENCE, ModelError
from katachi.core.contracts import Doubles, Floats
from katachi.core.disk import usable_cores
from katachi.core.models import SavedModel, find_model, open_model, pretrained_models
from katachi.core.registry import EXTRAS, is_installed, require
from katachi.data.batches import AnyBatches, Batch
from katachi.data.dataset import Dataset
from katachi.data.importing import import_games
from katachi.features.planes import HIGHEST_RANK, Planes
from katachi.go.board import Board
from katachi.go.points import BLACK
from katachi.policy.config import PolicyConfig, PolicyTraining
from katachi.policy.evaluator import INT8, ONNX, OnnxNetwork, PolicyCard, name_inputs
from katachi.policy.measure import Predictor
from katachi.policy.planes import PLANES
from katachi.sgf.files import Split
from katachi.territory.inputs import TABLE_SHAPE, PointInputs
from katachi.territory.network import DagRnn, DagRnnConfig

BATCHES: Final = (1, 32)
UNIT: Final = "positions/s"
_ANY_SIZE: Final = 19  # what is measured of a network for all sizes
_POSITIONS: Final = max(BATCHES)
_FILES: Final = {"fp32": ONNX, "int8": INT8}
_NO_TORCH: Final = f"torch is left out: {EXTRAS['torch'].command} brings it"

Evaluate = Callable[[slice], Any]  # of some of the positions


def run_inference(
    seconds: float = 0.4,
    rounds: int = 15,
    *,
    models: Sequence[str] = (),
    data: Path | None = None,
    positions: int = 20_000,
) -> Report:
    """Measure the models of these names, or all bundled networks; a round of one of them lasts about ``seconds``.

    With a dataset, each predicts so many moves of it.
    """
    names = models or [path.name for path in pretrained_models() if open_model(path).card.kind == "policy"]
    if not names:
        raise BenchmarkError("no network is bundled: name one by --model")
    notes = [] if is_installed("torch") else [_NO_TORCH]
    rows: list[Row] = []
    for name in names:
        saved = open_model(find_model(name))
        evaluators = dict(_evaluators(saved))
        size = saved.card.board_size or _ANY_SIZE
        counts = max(1, round(seconds * _rate(evaluators["fp32"]) / _POSITIONS)) * _POSITIONS
        rows += measure(list(_inference_contestants(name, evaluators)), size, UNIT, counts, rounds)
        if data is not None:
            rows += _predicted(name, saved, Dataset.open(data), size, positions)
    return Report("inference", rows, list(_inference_targets(rows)), notes)


def _evaluators(saved: SavedModel[Any]) -> Iterator[tuple[str, Evaluate]]:
    """Everything that is to evaluate the positions, by name."""
    card = saved.card
    if not isinstance(card, PolicyCard):
        raise ModelError(f"{saved.path}: this model is a {card.kind}, not a network")
    records = random_positions(card.board_size or _ANY_SIZE)[:_POSITIONS]
    boards = [Board.wrap(records[i : i + 1]) for i in range(_POSITIONS)]
    planes = PLANES[card.config.planes].encode(boards)
    for name, file in _FILES.items():
        if file in card.files:
            yield name, partial(_run_onnx, OnnxNetwork(saved.read(file)), card.config, planes)
    if is_installed("torch"):
        yield "torch", _torch_evaluator(card.config, planes)
    evaluator = saved.load()
    yield "evaluate", lambda part: evaluator.evaluate(boards[part])


def _run_onnx(network: OnnxNetwork, config: PolicyConfig, planes: Planes, part: slice) -> None:
    some = planes[part]
    network.run(name_inputs(config, some, _ranks(some), np.zeros(len(some), dtype=np.float32)), ["policy"])


def _torch_evaluator(config: PolicyConfig, planes: Planes) -> Evaluate:
    import torch  # takes seconds

    from katachi.policy.network import GlobalInputs, PolicyNetwork

    torch.set_num_threads(1)
    network, tensors = PolicyNetwork.new(config, seed=0), torch.from_numpy(planes)
    ranks, komi = torch.from_numpy(_ranks(planes)), torch.zeros(len(planes))

    def evaluate(part: slice) -> None:
        with torch.inference_mode():
            network.predict(tensors[part], GlobalInputs(ranks[part], komi[part]))

    return evaluate


def _ranks(planes: Planes) -> NDArray[np.int64]:
    return np.full(len(planes), HIGHEST_RANK, dtype=np.int64)


def _rate(evaluate: Evaluate) -> float:
    """About how many positions it evaluates per second: how much work makes a round."""
    evaluate(slice(_POSITIONS))
    start = time.perf_counter()
    evaluate(slice(_POSITIONS))
    return _POSITIONS / (time.perf_counter() - start)


def _inference_contestants(model: str, evaluators: dict[str, Evaluate]) -> Iterator[Contestant]:
    for name, evaluate in evaluators.items():
        evaluate(slice(_POSITIONS))  # compiles
        for batch in BATCHES:
            yield Contestant(f"{model} {name}, batch {batch}", 1, partial(_evaluate_all, evaluate, batch))


def _evaluate_all(evaluate: Evaluate, batch: int, size: int, count: int, seed: int) -> None:  # noqa: ARG001 (as measured)
    for first in range(0, count, batch):
        start = first % _POSITIONS
        evaluate(slice(start, start + batch))


def _predicted(name: str, saved: SavedModel[Any], dataset: Dataset, size: int, positions: int) -> Iterator[Row]:
    """The top-1 accuracy in each precision, and what is lost by eight bits."""
    hits: dict[str, Doubles] = {}
    for precision, file in _FILES.items():
        if file in saved.card.files:
            network = Predictor.open(saved.path, precision=precision)
            found = network.predict(network.held_out(dataset, Split.TEST, size, positions))
            hits[precision] = 100.0 * (found.places == 0)
            unit = f"% of {found.places.size:,} moves"
            yield Row(f"{name} {precision}, top-1", size, 1, unit, float(hits[precision].mean()))
    if len(hits) == len(_FILES):
        lost = hits["int8"] - hits["fp32"]
        half = NormalDist().inv_cdf((1 + CONFIDENCE) / 2) * lost.std() / math.sqrt(lost.size)
        yield Row(f"{name} int8 less fp32, top-1", size, 1, f"± {half:.2f} points", float(lost.mean()))


def _inference_targets(rows: Sequence[Row]) -> Iterator[Target]:
    speeds = [row for row in rows if row.unit == UNIT]
    rates = {row.name: row.rate for row in speeds}
    for row in speeds:
        for ours, other in (("fp32", "torch"), ("int8", "fp32")):
            base = row.name.replace(f" {ours},", f" {other},")
            if base != row.name and base in rates:
                text = row.name.replace(f" {ours},", f" {ours} / {other},")
                yield Target(text, row.size, row.rate / rates[base], 1.0)


# Positions per second that a DAG-RNN learns from and evaluates, ours beside the same network in torch, one thread each.
#
# Learning is the gradient over a batch of 128 9×9 boards with 69 inputs a point; the steps of the two optimizers are
# left out. ``katachi-strong`` is our own stronger network, ``inputs`` what the inputs of the same positions cost.

SIZES: Final = (9, 19)
TERRITORY_WANTED: Final = 1.4  # times as fast as torch in learning, on 9×9

_TERRITORY_BATCH: Final = {9: 128, 19: 32}
_GUESSED_RATE: Final = {9: 5000, 19: 1000}  # how much work makes a round; it need not be right

Work = Callable[[], Any]  # on one batch


def run_territory(seconds: float = 0.4, rounds: int = 15) -> Report:
    """Measure all contestants; a round of one of them lasts about ``seconds``."""
    rows: list[Row] = []
    notes = [] if is_installed("torch") else [_NO_TORCH]
    twins = None if notes else import_twin("torch_dag_rnn")
    if not notes and twins is None:
        notes.append("torch is left out: its source is in the repository alone")
    for size in SIZES:
        contestants = [
            Contestant(name, 1, _repeat(work, _TERRITORY_BATCH[size]))
            for name, work in _works(size, _TERRITORY_BATCH[size], twins)
        ]
        rows += measure(
            contestants, size, UNIT, max(_TERRITORY_BATCH[size], round(_GUESSED_RATE[size] * seconds)), rounds
        )
    return Report("territory", rows, list(_territory_targets(rows)), notes)


def _repeat(work: Work, batch: int) -> Callable[[int, int, int], None]:
    """Batch after batch until there were so many positions; it is compiled here."""
    work()

    def repeat(_: int, count: int, __: int) -> None:
        for _ in range(-(-count // batch)):
            work()

    return repeat


def _works(size: int, batch: int, twins: ModuleType | None) -> Iterator[tuple[str, Work]]:
    inputs = PointInputs()
    records = random_positions(size)
    records = records[np.arange(batch) % records.size]
    table = np.zeros(TABLE_SHAPE, dtype=np.float32)
    encoded = np.empty((batch, size * size, inputs.d), dtype=np.float32)
    yield "inputs", lambda: inputs.fill(records, table, encoded)
    targets = (records["stone"][:, : size * size] / 2 + 0.5).astype(np.float32)
    for name, config in (("", DagRnnConfig()), ("-strong", DagRnnConfig.strong())):
        net = DagRnn.new(config, inputs, seed=0)
        yield f"katachi{name} learning", partial(net.gradient, encoded, size, targets)
        yield f"katachi{name} evaluating", partial(net.logits, encoded, size)
    if twins is not None:
        yield from _torch_works(twins, DagRnn.new(DagRnnConfig(), inputs, seed=0), encoded, size, targets)


def _torch_works(
    twins: ModuleType, net: DagRnn, inputs: Floats, size: int, targets: Floats
) -> Iterator[tuple[str, Work]]:
    import torch

    torch.set_num_threads(1)
    twin = twins.TorchDagRnn(net.config, net.inputs, net.arrays())
    no_moves: NDArray[np.int64] = np.full(len(inputs), -1)

    def learn() -> None:
        for weight in twin.weights.values():
            weight.grad = None
        twin.loss(inputs, size, targets, no_moves, 0.0).backward()

    def evaluate() -> None:
        with torch.no_grad():
            twin.logits(inputs, size)

    yield "torch learning", learn
    yield "torch evaluating", evaluate


def _territory_targets(rows: list[Row]) -> Iterator[Target]:
    rates = {(row.name, row.size): row.rate for row in rows}
    for size in SIZES:
        if ("torch learning", size) in rates:
            ratio = rates["katachi learning", size] / rates["torch learning", size]
            yield Target("katachi learning / torch learning", size, ratio, TERRITORY_WANTED)


# Positions per second that networks learn from. Those of the paper: batches computed on the fly, beside the same
# ready-made. Ours with all heads but ownership: our convolutions in both precisions beside torch's, and as many
# processes as there are cores.
#
# All learn with one thread, in turns; on the fly, another thread computes batches ahead, as ``katachi train policy``
# does. The games are random ones, whose planes take longer than those of people's games.

SIZE: Final = 19
PAPER_SHAPES: Final = ((3, 64), (6, 128))  # layers and filters
OWN_FILTERS: Final = {64: 1.25, 96: 1.35, 128: 1.7}  # of nine layers, and how much faster bfloat16 is to be
PROCESSES_WANTED: Final = 1.8  # by two of them; more are not measured here
TRAINING_WANTED: Final = 0.9  # of the speed with ready-made batches

_PAPER_BATCH: Final = 128
_KINDS: Final = ("float32", "bfloat16", "torch", "torch autocast")  # of products; the last two by torch's convolutions
_READY: Final = 4  # batches
_APART: Final = 8  # times as long as others processes learn in a round, because they meet at its end
_GAMES: Final = 40
_PLIES: Final = 200


def run_training(seconds: float = 0.4, rounds: int = 15) -> Report:
    """Measure all networks; a round of one of them lasts about ``seconds``, but for a batch at least."""
    require("torch")
    import torch  # takes seconds

    torch.set_num_threads(1)
    rows: list[Row] = []
    with TemporaryDirectory() as folder:
        games = random_games(Path(folder))
        for settings in _networks(games):
            guessed_rate = 4e6 / (settings.layers * settings.filters**2)  # it need not be right
            counts = max(1, round(seconds * guessed_rate / settings.batch)) * settings.batch
            with ExitStack() as stack:
                contestants = list(_training_contestants(settings, counts, stack))
                rows += measure(contestants, SIZE, UNIT, counts, rounds)
    notes = [] if _has_bfloat16() else ["bfloat16 is left out: this CPU does not multiply it"]
    return Report("training", rows, list(_training_targets(rows)), notes)


def random_games(folder: Path) -> Dataset:
    """A dataset of random games."""
    rng = np.random.default_rng(1)
    (folder / "games.sgf").write_text("\n".join(_random_game(rng) for _ in range(_GAMES)))
    return import_games([folder / "games.sgf"], folder / "set")


def _random_game(rng: np.random.Generator) -> str:
    board, moves = Board(SIZE), []
    for _ in range(_PLIES):
        move = int(rng.choice(np.flatnonzero(board.legal_moves()[:-1])))
        row, column = divmod(move, SIZE)
        moves.append(f";{'B' if board.to_play == BLACK else 'W'}[{ascii_lowercase[column]}{ascii_lowercase[row]}]")
        board.play(move)
    return f"(;SZ[{SIZE}]{''.join(moves)})"


def _networks(games: Dataset) -> Iterator[PolicyTraining]:
    """The paper's, and ours with its heads."""
    for layers, filters in PAPER_SHAPES:
        yield PolicyTraining.maddison(
            layers, filters, data=str(games.path), batch=_PAPER_BATCH, optimizer="sgd", step_size=1e-3
        )
    for filters in OWN_FILTERS:
        yield PolicyTraining(
            data=str(games.path), filters=filters, optimizer="muon", pooling=True, komi=True, value=True, score=True
        )


def _training_contestants(settings: PolicyTraining, counts: int, stack: ExitStack) -> Iterator[Contestant]:
    from katachi.policy.train import open_batches

    batches, name = open_batches(settings), _name(settings)
    if settings.optimizer == "sgd":
        ready = cycle([batches[number] for number in range(_READY)])
        for kind, source in (("on the fly", batches.stream(workers=1)), ("ready-made", ready)):
            yield Contestant(f"{name}, {kind}", 1, _training_learning(settings, source))
        return
    for kind in _KINDS if _has_bfloat16() else _KINDS[::2]:
        yield Contestant(f"{name}, {kind}", 1, _training_learning(settings, batches.stream(workers=1), kind))
    if (cores := usable_cores()) > 1:
        together = settings.model_copy(update={"replicas": cores, "products": "auto", "positions": 10**9})
        learning = _learning_together(together, _APART * counts, batches, stack)
        yield Contestant(f"{name}, processes", cores, learning, weight=_APART)


def _name(settings: PolicyTraining) -> str:
    return f"{settings.layers}×{settings.filters}"


def _has_bfloat16() -> bool:
    from katachi.policy.convolutions import products_type

    return str(products_type("auto")) == "torch.bfloat16"


def _training_learning(
    settings: PolicyTraining, source: Iterator[Batch], kind: str = "float32"
) -> Callable[[int, int, int], None]:
    """A function that learns from so many positions of a source; what it needs is compiled here."""
    import torch

    from katachi.policy.learner import Learner

    learner = Learner(settings)
    learner.net.products = {"float32": torch.float32, "bfloat16": torch.bfloat16}.get(kind)

    def learn(size: int, count: int, seed: int) -> None:  # noqa: ARG001 (as measured)
        with torch.autocast("cpu", torch.bfloat16, enabled=kind == "torch autocast"):
            for batch in islice(source, count // settings.batch):
                learner.update(batch)

    learn(SIZE, settings.batch, 0)
    return learn


def _learning_together(
    settings: PolicyTraining, counts: int, batches: AnyBatches, stack: ExitStack
) -> Callable[[int, int, int], None]:
    """The same by processes that meet once in a round."""
    from katachi.policy.learner import Learner, Replicas

    settings = settings.model_copy(update={"meet_every": counts // settings.batch})
    replicas = stack.enter_context(Replicas(Learner(settings), batches, workers=1))

    def learn(size: int, count: int, seed: int) -> None:  # noqa: ARG001 (as measured)
        replicas.update()

    learn(SIZE, counts, 0)
    return learn


def _training_targets(rows: list[Row]) -> Iterator[Target]:
    rates = {row.name: row.rate for row in rows}
    for layers, filters in PAPER_SHAPES:
        name = f"{layers}×{filters}"
        ratio = rates[f"{name}, on the fly"] / rates[f"{name}, ready-made"]
        yield Target(f"{name}: on the fly / ready-made", SIZE, ratio, TRAINING_WANTED)
    for filters, wanted in OWN_FILTERS.items():
        name = f"9×{filters}"
        if f"{name}, bfloat16" in rates:
            ratio = rates[f"{name}, bfloat16"] / rates[f"{name}, float32"]
            yield Target(f"{name}: bfloat16 / float32", SIZE, ratio, wanted)
        if f"{name}, processes" in rates:
            alone = rates[f"{name}, bfloat16" if _has_bfloat16() else f"{name}, float32"]
            yield Target(f"{name}: processes / one", SIZE, rates[f"{name}, processes"] / alone, PROCESSES_WANTED)
