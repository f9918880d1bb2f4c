"""Learning who will own each point: one step of a DAG-RNN, and what it knows of held-out positions.

Two recipes: plain gradient descent, a step after every ten positions (Wu and Baldi 2006, whose step size is not
known), and Adam over larger batches (Kingma and Ba 2015). The loss is the relative entropy of targets and outputs,
summed over the points of a board.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any, Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from katachi.core.contracts import Floats, Ints
from katachi.core.evaluators import count_owners
from katachi.core.training import Batch, Count, Seed, name_weights, part_of, step_share, weights_of
from katachi.data.batches import compute_ahead
from katachi.data.dataset import Dataset, DatasetError
from katachi.features.influence import GroupKind
from katachi.go.kernels.board import new_boards
from katachi.go.kernels.replay import WHITE_BIT
from katachi.go.points import BLACK, Symmetry
from katachi.sgf.files import Split
from katachi.territory.inputs import PointInputs, Propensity
from katachi.territory.kernels.gradient import fill_examples
from katachi.territory.network import DIAGONAL, DagRnn, DagRnnConfig, Gradient

# Positions to learn territory from: random positions of random games, and who owned their points in the end.
#
# Batch ``k`` depends on the dataset, the settings and ``k`` alone, whoever computes it, and a run resumes by
# starting at ``k``. Propensities are counted from the training games first, and from no others.

# What seeds are drawn for, so that no two draws are alike.
_TRAINING: Final = 0
_HELD_OUT: Final = 1

_PART: Final = 128  # positions at a time


class Positions(NamedTuple):
    """B positions on boards of size n."""

    inputs: Floats  # [B, n², d]
    targets: Floats  # [B, n²], the probability that Black owns a point, as it is to be learned
    owned: NDArray[np.int8]  # [B, n²], who owned it in the end
    played: Ints  # [B], the next move, n² more if White made it, −1 for none and for a pass
    stones: Ints  # [B], on the board
    leads: Floats  # [B], by how much Black won in the end, komi included; NaN if komi is not known

    def part(self, chosen: slice) -> Positions:
        """Some of the positions."""
        return Positions._make(array[chosen] for array in self)


class TargetSettings(NamedTuple):
    """What is to be learned of a point t moves after the start (Wu and Baldi 2006, section 3.1).

    (1 − share) · A(end) + share · A(t + ahead), where A is 1, 0 or ½ for Black's, White's and nobody's. Before the end
    points are of those whose stones stand there; A(t + ahead) is A(end) from the end on.
    """

    share: float = 0.25
    ahead: int = 2


class Draw(NamedTuple):
    """Which positions are taken, and how; all [B]."""

    games: Ints
    plies: Ints  # how many moves were made
    turns: Ints  # 1: mirrored in the diagonal
    exchanged: Ints  # 1: Black and White change places


class Examples(NamedTuple):
    """What is to be learned of positions, as ``Positions`` has it."""

    owned: NDArray[np.int8]
    targets: Floats
    played: Ints


class TerritoryBatches:
    """The endless sequence of batches from the labeled games of a set; ``batches[k]`` is the k-th."""

    def __init__(
        self,
        dataset: Dataset,
        inputs: PointInputs,
        batch: int,
        seed: int = 0,
        target: TargetSettings = TargetSettings(),  # noqa: B008
        *,
        turns: bool = True,
        exchanges: bool = True,
        by_mover: bool = False,
        weakest: str | None = None,
    ) -> None:
        """Choose the games; raises DatasetError if there are none, LabelError if nobody knows who owned their points.

        ``turns`` mirrors half of the positions in the diagonal (networks see flips alike anyway), ``exchanges`` lets
        the colors of half of them change places; ``by_mover`` lets those change places where it is Black's turn, in
        held-out positions too: then Black has always just moved. ``weakest``, a rank such as ``1d``, leaves out games
        with a weaker player or one of unknown rank.
        """
        self.dataset = dataset
        self.inputs = inputs
        self.batch = batch
        self.seed = seed
        self.target = target
        self.turns = turns
        self.exchanges = exchanges
        self.by_mover = by_mover
        self.size = dataset.only_size("import each size into a set of its own")
        self._games = {split: dataset.select(self.size, split, weakest, labeled=True) for split in Split}
        self.propensity: Floats | None = None
        for split in (Split.TRAINING, Split.VALIDATION):
            if not self._games[split].size:
                raise DatasetError(f"{dataset.path} has no games for {split} of which it is known who owned what")

    @property
    def games(self) -> int:
        """How many games there are to learn from."""
        return self._games[Split.TRAINING].size

    def games_of(self, split: Split) -> Ints:
        """The numbers of the games of a split."""
        return self._games[split]

    @property
    def epoch(self) -> int:
        """How many positions there are to learn from."""
        return int(self.dataset.games["moves"][self._games[Split.TRAINING]].sum()) + self.games

    def count_propensity(self, tick: Callable[[int], None] = lambda _: None) -> Floats:
        """Count propensities over all training games; ``tick`` hears how many are done. Batches need them."""
        propensity = Propensity()
        for done, game in enumerate(self._games[Split.TRAINING].tolist()):
            moves, colors = self.dataset.moves_of(game)
            propensity.count_game(self.dataset.start(game), moves, colors, self.dataset.labels[game])
            tick(done + 1)
        self.propensity = propensity.table()
        return self.propensity

    def __getitem__(self, number: int) -> Positions:
        """Batch ``number``, computed here and now."""
        rng = np.random.default_rng((self.seed, _TRAINING, number))
        games, plies = self._draw(rng, Split.TRAINING, self.batch)
        turns, exchanged = rng.integers(2, size=(2, self.batch))
        exchanged = self._black_to_play(games, plies) if self.by_mover else exchanged * self.exchanges
        return self.positions(Draw(games, plies, turns * self.turns, exchanged))

    def stream(self, start: int = 0, workers: int = 0) -> Iterator[Positions]:
        """Batches in order, from ``start`` on and without end; so many workers compute ahead (0: nobody does)."""
        return compute_ahead(self.__getitem__, start, workers)

    def held_out(self, count: int, split: Split = Split.VALIDATION) -> Positions:
        """So many positions of other games, as they were played; the same ones whatever is learned."""
        return self._as_played(*self._draw(np.random.default_rng((_HELD_OUT, count)), split, count))

    def held_out_parts(self, count: int, split: Split, *, ended: bool = False) -> Iterator[Positions]:
        """The same, some at a time to save memory; ``ended``: so many games, or all, after their last moves."""
        games, plies = self._draw(np.random.default_rng((_HELD_OUT, count)), split, count)
        if ended:
            games = self._games[split][:count]
            plies = self.dataset.games["moves"][games].astype(np.int64)
        for first in range(0, games.size, _PART):
            yield self._as_played(games[first : first + _PART], plies[first : first + _PART])

    def _as_played(self, games: Ints, plies: Ints) -> Positions:
        nothing = np.zeros(games.size, dtype=np.int64)
        exchanged = self._black_to_play(games, plies) if self.by_mover else nothing
        return self.positions(Draw(games, plies, nothing, exchanged))

    def _black_to_play(self, games: Ints, plies: Ints) -> Ints:
        """Whether it is Black's turn, [B] of 0 and 1: whose next move it is, or would be after the last one."""
        rows = self.dataset.games[games]
        first, count = rows["first_move"].astype(np.int64), rows["moves"].astype(np.int64)
        moved = self.dataset.moves[np.maximum(0, first + np.minimum(plies, count - 1))]
        is_black = np.where(count > 0, ((moved & WHITE_BIT) != 0) == (plies == count), rows["to_play"] == BLACK)
        return np.asarray(is_black, dtype=np.int64)

    def _draw(self, rng: np.random.Generator, split: Split, count: int) -> tuple[Ints, Ints]:
        """Random games, and a random ply in each of them, from before the first move to after the last."""
        games = rng.choice(self._games[split], count)
        return games, rng.integers(self.dataset.games["moves"][games].astype(np.int64) + 1)

    def positions(self, draw: Draw) -> Positions:
        """The positions that were drawn."""
        if self.propensity is None:
            raise ValueError("propensities must be counted before there are batches")
        labels = np.ascontiguousarray(self.dataset.labels[draw.games])
        boards, examples = replay(self.dataset, labels, draw, self.target)
        inputs = np.empty((*examples.targets.shape, self.inputs.d), dtype=np.float32)
        self.inputs.fill(boards, self.propensity, inputs)
        komi = self.dataset.games["komi"][draw.games]
        leads = ((labels.sum(axis=1) - komi) * np.where(draw.exchanged, -1, 1)).astype(np.float32)
        stones = self.size**2 - boards["empty_count"].astype(np.int64)
        return Positions(inputs, examples.targets, examples.owned, examples.played, stones, leads)


def replay(
    dataset: Dataset, labels: NDArray[np.int8], draw: Draw, target: TargetSettings
) -> tuple[NDArray[Any], Examples]:
    """The boards [B] of positions that were drawn, and what is to be learned of them, from their games' labels [B, n²].

    Raises DatasetError if one of the games cannot be played.
    """
    count, points = labels.shape
    size = math.isqrt(points)
    rows = dataset.games[draw.games]
    tables = np.stack([symmetry.points(size) for symmetry in (Symmetry.IDENTITY, DIAGONAL)]).astype(np.uint16)
    boards, later = new_boards(count, size), new_boards(1, size)
    examples = Examples(np.empty_like(labels), np.empty((count, points), dtype=np.float32), np.empty(count, np.int64))
    if (
        fill_examples(boards, later, rows, dataset.moves, dataset.stones, labels, draw, tables, target, examples)
        < count
    ):
        raise DatasetError(f"{dataset.path} has a game with moves that cannot be played: it is damaged")
    return boards, examples


# Territory

_BETAS: Final = (0.9, 0.99)
_TINY: Final = 1e-8
PHASES: Final = (0.15, 0.3, 0.45, 0.6)  # of the points of a board that hold stones: where one phase ends
_POINTS: Final = np.geomspace(0.5, 100, 200)  # among which the worth of a point is sought


class TerritoryRecipe(DagRnnConfig):
    """A network, and how it learns; the defaults are the paper's network, and our own recipe."""

    group: GroupKind = "chain"
    influence: Literal["exact", "stringent", "bouzy", "zobrist"] = "exact"
    target_share: float = Field(default=0.25, ge=0, le=1)  # of what stands soon in what is to be learned
    target_ahead: int = Field(default=2, ge=0, le=1000)  # how soon, in moves
    positions: Count = 1_000_000  # to learn from in all
    batch: Batch = 32
    optimizer: Literal["adam", "sgd"] = "adam"
    step_size: float = Field(default=0.003, gt=0, le=10, allow_inf_nan=False)
    warmup: float = Field(default=0.01, ge=0, lt=1)  # the share of positions in which the learning rate rises
    schedule: Literal["cosine", "constant"] = "cosine"  # to zero, or not at all
    policy_loss: float = Field(default=1.0, ge=0, le=1000)  # the weight of a move beside that of all points
    seed: Seed = 0

    @property
    def config(self) -> DagRnnConfig:
        """The network alone."""
        return part_of(self, DagRnnConfig)

    @property
    def inputs(self) -> PointInputs:
        """What the network sees."""
        return PointInputs.model_validate({"group": self.group, "influence": self.influence})

    @property
    def target(self) -> TargetSettings:
        return TargetSettings(self.target_share, self.target_ahead)

    @property
    def steps(self) -> int:
        """How many batches there are to learn from."""
        return -(-self.positions // self.batch)

    def step_size_at(self, step: int) -> float:
        """The learning rate of a step from 0 on."""
        return self.step_size * step_share(self.schedule, self.warmup, step, self.steps)


class TerritoryTraining(TerritoryRecipe):
    """How a network learns from a dataset."""

    data: str  # the folder of a dataset with labels
    weakest: str | None = None  # the lowest rank of both players whose games are learned from, such as 1d
    exchanges: bool = True  # whether colors change places at random, unless boards are shown by_mover
    evaluate_every: Count = 50_000  # positions
    validation_positions: Count = 1000
    first_model: str | None = None  # a run or a model whose weights to start from, for a new schedule


class Losses(NamedTuple):
    """Sums over some positions."""

    positions: int
    ownership: float  # relative entropy
    moves: float  # −log p of what was played


class TerritoryLearner:
    """A network that learns batch by batch; the same batches give the same weights to the last bit."""

    def __init__(
        self, settings: TerritoryRecipe, weights: Mapping[str, NDArray[Any]] | None = None, threads: int = 1
    ) -> None:
        """Start from the given weights or with new ones; raises ValueError if they do not fit.

        Several threads share every batch; their number changes how sums are rounded.
        """
        self.settings = settings
        config, inputs = settings.config, settings.inputs
        self.net = DagRnn.new(config, inputs, settings.seed) if weights is None else DagRnn(config, inputs, weights)
        self.step = 0
        self._threads = threads
        self._mean, self._square = np.zeros_like(self.net.weights), np.zeros_like(self.net.weights)

    @property
    def positions(self) -> int:
        """The positions that were learned from."""
        return self.step * self.settings.batch

    @property
    def is_finished(self) -> bool:
        return self.step >= self.settings.steps

    def update(self, batch: Positions) -> Losses:
        """Learn from a batch, and say what was known of it before."""
        gradient = self._gradient(batch)
        step_size = self.settings.step_size_at(self.step)
        self.step += 1
        if self.settings.optimizer == "sgd":
            change = step_size * gradient.gradients
        else:
            change = step_size * self._adam(gradient.gradients / np.float32(len(batch.inputs)))
        self.net.load((self.net.weights - change).astype(np.float32))
        return Losses(len(batch.inputs), gradient.ownership, gradient.moves)

    def _adam(self, gradients: Floats) -> Floats:
        """The direction in which Adam goes."""
        first, second = _BETAS
        self._mean += np.float32(1 - first) * (gradients - self._mean)
        self._square += np.float32(1 - second) * (gradients * gradients - self._square)
        mean = self._mean / np.float32(1 - first**self.step)
        square = self._square / np.float32(1 - second**self.step)
        return np.asarray(mean / (np.sqrt(square) + np.float32(_TINY)))

    def _gradient(self, batch: Positions) -> Gradient:
        if self._threads == 1:
            return self._gradient_of(batch)
        bounds = np.linspace(0, len(batch.inputs), self._threads + 1).astype(int)
        parts = [batch.part(slice(first, last)) for first, last in pairwise(bounds)]
        with ThreadPoolExecutor(self._threads) as pool:
            return _sum(pool.map(self._gradient_of, parts))

    def _gradient_of(self, part: Positions) -> Gradient:
        size = math.isqrt(part.targets.shape[1])
        return self.net.gradient(part.inputs, size, part.targets, part.played, self.settings.policy_loss)

    def state_dict(self) -> dict[str, NDArray[Any]]:
        """All that is needed to resume."""
        state = name_weights(self.net.arrays())
        return state | {"mean": self._mean, "square": self._square, "step": np.array([self.step])}

    def load_state_dict(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Resume from a state; raises ValueError if it is not one of these settings."""
        self.net = DagRnn(self.settings.config, self.settings.inputs, weights_of(state))
        try:
            self.step = int(state["step"][0])
            self._mean, self._square = state["mean"].copy(), state["square"].copy()
        except (KeyError, IndexError) as error:
            raise ValueError(f"it is not of these settings: {error} is missing") from None


def _sum(parts: Iterable[Gradient]) -> Gradient:
    gradients, ownership, moves = zip(*parts, strict=True)
    return Gradient(np.sum(gradients, axis=0, dtype=np.float32), sum(ownership), sum(moves))


# What is known of held-out positions


def validate(net: DagRnn, held_out: Positions) -> dict[str, float]:
    """The mean loss of a position, and the ownership accuracy, over all positions and by phase of the game.

    A point is known right if its owner in the end is the likelier one; points that nobody owned do not count.
    Phases are known by how full the board is, 0 being the emptiest; one without positions is left out.
    """
    size = math.isqrt(held_out.targets.shape[1])
    logits = net.logits(held_out.inputs, size)
    losses = relative_entropies(logits[:, :, 0].astype(np.float64), held_out.targets.astype(np.float64)).sum(axis=1)
    right, owned = count_known(logits, held_out)
    phases = phases_of(held_out)
    found = {"loss": float(losses.mean()), "right": float(right.sum() / max(1, owned.sum()))}
    for phase in np.unique(phases).tolist():
        here = phases == phase
        found[f"loss_{phase}"] = float(losses[here].mean())
        found[f"right_{phase}"] = float(right[here].sum() / max(1, owned[here].sum()))
    if net.config.policy:
        found |= _validate_moves(logits, held_out)
    return found | {"positions": len(losses), "points": int(owned.sum())}


def count_known(logits: Floats, held_out: Positions) -> tuple[Ints, Ints]:
    """How many points of each position are known right, and how many are owned by somebody, [B] each."""
    return count_owners(logits[:, :, 0], held_out.owned)


def phases_of(held_out: Positions) -> Ints:
    """The phase of the game of each position, [B], by how full the board is."""
    return np.asarray(np.searchsorted(PHASES, held_out.stones / held_out.targets.shape[1], side="right"))


def relative_entropies(logits: NDArray[np.float64], targets: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of targets and outputs, [B, n²]."""
    cross = np.logaddexp(0, logits) - targets * logits
    clipped = np.clip(targets, 1e-300, 1), np.clip(1 - targets, 1e-300, 1)
    entropy = -(targets * np.log(clipped[0]) + (1 - targets) * np.log(clipped[1]))
    return np.asarray(cross - entropy)


def _validate_moves(logits: Floats, held_out: Positions) -> dict[str, float]:
    points = held_out.targets.shape[1]
    known = np.flatnonzero(held_out.played >= 0)
    color, played = np.divmod(held_out.played[known], points)
    policies = logits[known, :, 1 + color].astype(np.float64)
    top = policies.max(axis=1, keepdims=True)
    totals = np.log(np.exp(policies - top).sum(axis=1)) + top[:, 0]
    losses = totals - policies[np.arange(known.size), played]
    return {"move_loss": float(losses.mean()), "top_1": float((policies.argmax(axis=1) == played).mean())}


def fit_points(net: DagRnn, held_out: Positions) -> float:
    """How many points of an expected lead make e : 1 of the odds of a win: what fits the winners best.

    The expected lead of a position counts ownership; komi is that of its game, and games without one do not count.
    """
    size = math.isqrt(held_out.targets.shape[1])
    komi = held_out.owned.sum(axis=1) - held_out.leads
    leads = (2 * net.ownership(held_out.inputs, size) - 1).sum(axis=1) - komi
    known = np.isfinite(held_out.leads) & (held_out.leads != 0)
    margins = (leads * np.sign(held_out.leads))[known]
    losses = [np.logaddexp(0, -margins / points).sum() for points in _POINTS]
    return float(_POINTS[int(np.argmin(losses))])
