"""How well a saved network predicts the moves of held-out games, by rank and phase, and how networks are released.

It is asked as in play: illegal points have no part in its policy. What was played is legal, or a dataset would not have
it. Moves of one game are alike: intervals are over games.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from katachi.core.cards import Metric, ModelError, effective_count, mean_interval, wilson_interval
from katachi.core.contracts import Floats
from katachi.core.models import WEIGHTS, SavedModel, load_weights, open_model
from katachi.core.training import Release, Request, describe_network
from katachi.data.batches import Batch, Batches
from katachi.data.dataset import Dataset
from katachi.features.planes import PlaneSet
from katachi.go.points import WHITE, Symmetry
from katachi.policy.config import TOP as RELEASED_TOP
from katachi.policy.config import TRAINING, PolicyConfig, PolicyTraining
from katachi.policy.evaluator import INT8, ONNX, OnnxNetwork, PolicyCard, PolicyOptions, name_inputs, save_policy
from katachi.policy.planes import PLANES
from katachi.sgf.files import Split
from katachi.sgf.record import format_grade, grade_of_code

TOP: Final = 20  # places that are counted
# When a phase starts, in moves for each point of the board: after 60 and 150 moves on 19×19.
PHASES: Final = {"opening": 0.0, "middle game": 1 / 6, "endgame": 5 / 12}

MAX_BYTES: Final = 5_000_000  # of a released model

_AT_ONCE: Final = 128  # positions
_SEED: Final = 1  # of the order in which held-out positions are taken


class Predicted(NamedTuple):
    """N moves that were played, and what was thought of them before."""

    places: NDArray[np.int64]  # [N], how many moves were held more probable
    losses: Floats  # [N], −log p
    ranks: NDArray[np.int8]  # [N], the code of the mover's rank, 0 if unknown
    plies: NDArray[np.int16]  # [N], how many moves were made before
    games: NDArray[np.int64]  # [N], which moves are of one game, and so alike

    def only(self, chosen: NDArray[np.bool_]) -> Predicted:
        """Some of them."""
        return Predicted._make(array[chosen] for array in self)

    def accuracy(self, top: int) -> Metric:
        """The share of moves among the ``top`` most probable, with an interval over games."""
        right = self.places < top
        share, count = float(right.mean()), effective_count(right, self.games)
        low, high = wilson_interval(share * count, count)
        return Metric(value=share, low=low, high=high, games=np.unique(self.games).size, positions=right.size)

    def tally(self) -> dict[str, Any]:
        """Counts that are small enough to be kept: ``top[n − 1]`` moves were among the n most probable.

        They are as certain as ``effective[n − 1]`` moves of as many games.
        """
        among = [self.places < places for places in range(1, TOP + 1)]
        return {
            "positions": self.places.size,
            "games": np.unique(self.games).size,
            "loss": float(self.losses.mean(dtype=np.float64)) if self.losses.size else None,
            "top": [int(right.sum()) for right in among],
            "effective": [round(effective_count(right, self.games), 1) for right in among],
        }

    def parts(self, size: int) -> dict[str, dict[str, Predicted]]:
        """Those of each rank, and of each phase of the game on boards of a size; what never came is left out."""
        ranks = np.unique(self.ranks).tolist()
        names = {rank: format_grade(grade_of_code(rank)) if rank else "unknown" for rank in ranks}
        phase = np.searchsorted(phase_starts(size), self.plies, side="right") - 1
        phases = {name: self.only(phase == number) for number, name in enumerate(PHASES)}
        return {
            "ranks": {name: self.only(self.ranks == rank) for rank, name in names.items()},
            "phases": {name: some for name, some in phases.items() if some.places.size},
        }

    def tally_all(self, size: int) -> dict[str, Any]:
        """The tally of all, and of each part."""
        parts = self.parts(size).items()
        return self.tally() | {kind: {name: some.tally() for name, some in part.items()} for kind, part in parts}


def phase_starts(size: int) -> list[int]:
    """How many moves were made when each phase of a game starts."""
    return [int(moves * size * size) for moves in PHASES.values()]


_NOTHING: Final = Predicted._make(np.zeros(0, dtype) for dtype in (np.int64, np.float32, np.int8, np.int16, np.int64))


class Predictor:
    """A network that is asked about batches."""

    def __init__(self, config: PolicyConfig, network: OnnxNetwork) -> None:
        self.config = config
        self.planes: PlaneSet = PLANES[config.planes]
        self._network = network

    @classmethod
    def open(cls, path: Path, threads: int = 1, precision: str = "fp32") -> Self:
        """The network of a model; raises ModelError if it is of another kind, damaged, or has no such precision."""
        saved = open_model(path, PolicyCard)
        options = PolicyOptions.model_validate({"threads": threads, "precision": precision})
        evaluator = saved.card.build(saved.read, options)
        return cls(evaluator.config, evaluator.network)

    def held_out(
        self, dataset: Dataset, split: Split, size: int, count: int, ranks: Collection[int] | None = None
    ) -> Iterator[Batch]:
        """So many positions of a split, or as many as there are, always the same; of movers of these ranks."""
        kyu = self.config.kyu_ranks
        batches = Batches(dataset, self.planes, _AT_ONCE, _SEED, split, symmetries=False, size=size, kyu_ranks=kyu)
        for number in range(-(-batches.epoch // _AT_ONCE)):
            batch = batches[number].only(slice(batches.epoch - number * _AT_ONCE))
            if ranks is not None:
                batch = batch.only(np.isin(batch.ranks, list(ranks)))
            batch = batch.only(slice(count))
            count -= batch.moves.size
            if batch.moves.size:
                yield batch
            if not count:
                return

    def predict(
        self, batches: Iterable[Batch], rank: int | None = None, symmetries: Collection[Symmetry] = (Symmetry.IDENTITY,)
    ) -> Predicted:
        """What is thought of all that was played, where every mover is taken for one of a rank, or for what they are.

        Of several symmetries of a position, the likelihoods are averaged.
        """
        found = [_NOTHING, *(self._predict(batch, rank, symmetries) for batch in batches)]
        return Predicted._make(np.concatenate(arrays) for arrays in zip(*found, strict=True))

    def _predict(self, batch: Batch, rank: int | None, symmetries: Collection[Symmetry]) -> Predicted:
        seen = [self._log_likelihoods(batch, rank, symmetry) for symmetry in symmetries]
        likely: Floats = np.logaddexp.reduce(seen) - np.log(np.float32(len(seen)))
        played = likely[np.arange(batch.moves.size), batch.moves]
        return Predicted((likely > played[:, None]).sum(axis=1), -played, batch.ranks, batch.plies, batch.games)

    def _log_likelihoods(self, batch: Batch, rank: int | None, symmetry: Symmetry) -> Floats:
        """Of all points, [B, n²], when the network sees the boards in a symmetry; −∞ where a move is illegal."""
        every = np.arange(batch.moves.size)
        inputs = self._inputs(batch, rank)
        inputs["planes"] = np.ascontiguousarray(symmetry.transform(inputs["planes"]))
        (policy,) = self._network.run(inputs, ["policy"])
        logits = policy[every, np.where(batch.colors == WHITE, self.config.outputs - 1, 0)]
        logits = logits[:, symmetry.points(batch.planes.shape[-1])]
        legal = batch.planes[:, self.planes.names.index("legal")].reshape(logits.shape) != 0
        legal[every, batch.moves] = True
        logits = np.where(legal, logits, np.float32(-np.inf))
        logits -= logits.max(axis=1, keepdims=True)
        likely: Floats = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
        return likely

    def _inputs(self, batch: Batch, rank: int | None) -> dict[str, NDArray[Any]]:
        planes, ranks = batch.planes, batch.ranks.astype(np.int64)
        if rank is not None:
            planes, ranks = describe_rank(planes, self.planes, rank), np.full_like(ranks, rank)
        return name_inputs(self.config, planes, ranks + self.config.rank_count * batch.servers, batch.komi)


def describe_rank(planes: NDArray[np.uint8], kind: PlaneSet, rank: int) -> NDArray[np.uint8]:
    """Planes [B, C, n, n] of the same positions in which every mover has a rank; without planes for it, as they are."""
    described = planes.copy()
    for number, name in enumerate(kind.names):
        if name.startswith("rank: "):
            described[:, number] = name == f"rank: {rank}d"
    return described


# How a network is released


class PolicyRelease(Release):
    """Measured by its accuracy on moves of test games: of all, by rank and phase, by all symmetries, in eight bits."""

    training = TRAINING
    search = "policy"

    def measure(self, settings: PolicyTraining, model: SavedModel[PolicyCard], request: Request) -> dict[str, Metric]:
        dataset = Dataset.open(settings.data)
        size = settings.size or dataset.only_size()

        def predict(network: Predictor, what: str, *symmetries: Symmetry) -> Predicted:
            with request.tools.bar(what, request.positions) as tick:
                held_out = network.held_out(dataset, Split.TEST, size, request.positions)
                return network.predict(_follow(held_out, tick), symmetries=symmetries or (Symmetry.IDENTITY,))

        network = Predictor.open(model.path, request.jobs)
        alone = predict(network, "predicting")
        loss, low, high = mean_interval(alone.losses, groups=alone.games)
        metrics = {"test loss": alone.accuracy(1).model_copy(update={"value": loss, "low": low, "high": high})}
        metrics |= _accuracies(alone, "test")
        for part in alone.parts(size).values():
            metrics |= {f"test top-1, {name}": some.accuracy(1) for name, some in part.items()}
        averaged = predict(network, "the same by symmetries", *Symmetry)
        metrics |= _accuracies(averaged, "test, averaged over symmetries:")
        if request.int8:
            rough = predict(Predictor.open(model.path, request.jobs, "int8"), "the same in eight bits")
            metrics |= _accuracies(rough, "test, in eight bits:")
        return metrics

    def save(self, path: Path, model: SavedModel[PolicyCard], metrics: Mapping[str, Metric], request: Request) -> None:
        """Save what play needs, and the weights from which training can resume if there is room for them."""
        card = model.card
        onnx, rough = model.read(ONNX), model.read(INT8) if request.int8 else None
        size = len(onnx) + len(rough or b"")
        if size > MAX_BYTES:
            raise ModelError(f"{model.path}: {size:,} bytes are too many to release; {MAX_BYTES:,} would do")
        weights = load_weights(model.path) if WEIGHTS in card.files else None
        if weights is not None and size + sum(array.nbytes for array in weights.values()) > MAX_BYTES:
            weights = None
            request.tools.note(f"its weights are left out, it would be larger than {MAX_BYTES:,} bytes")
        training = describe_network(request.name, card.training)
        save_policy(path, card.config, onnx, rough, weights, training, metrics, replace=True)

    def describe_player(self, settings: PolicyTraining) -> str:
        board = f"{settings.size}x{settings.size}" if settings.size else "boards of any size"
        return f"A network that learned from games of people, on {board}, without search (Maddison et al. 2014)"


def _follow(batches: Iterable[Batch], tick: Callable[[int], None]) -> Iterator[Batch]:
    """Batches, and how many of their positions are done."""
    done = 0
    for batch in batches:
        yield batch
        done += batch.moves.size
        tick(done)


def _accuracies(found: Predicted, kind: str) -> dict[str, Metric]:
    return {f"{kind} top-{top}": found.accuracy(top) for top in RELEASED_TOP}


RELEASE: Final = PolicyRelease()
