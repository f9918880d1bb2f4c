"""How the weights of a DAG-RNN lie in the arrays of its kernels, and what each number there is made of.

A network is described by weights for inputs and planes as they are. The kernels want them in the basis of the flips'
characters (``territory/kernels/network.py``), with zeros where a network sees nothing. Every number there is a sum of
shares of weights, so one list of shares leads from the weights to the kernels, and from their gradients back.

What a DAG-RNN is made of: its networks, their weights by name and shape, and how many there are.

A DAG-RNN says of every point who will own it (Wu and Baldi 2006). From each corner of the board a *plane* of hidden
states spreads to the opposite one: the state of a point is made of its inputs and of the states of its two
predecessors, those of its neighbors that are nearer to that corner. The outputs of a point are made of its inputs and
of its states in the four planes, so every point hears of the whole board. Each of these steps is a small network
with one hidden layer; the same ones serve all points and all four planes, and so boards of any size.

```
inputs → sweep 0: interior, side or corner network, in four planes → … → output network → ownership of the point
                                                                                        → policies of Black and White
```

The paper has one sweep. A further sweep is given the states of the earlier ones beside the inputs.

>>> DagRnnConfig().parameter_count(inputs=69), DagRnnConfig(borders="full").parameter_count(inputs=69)
(5801, 6185)

A DAG-RNN: who will own each point of a board, of any size (Wu and Baldi 2006); ``territory/network.py`` says how.

>>> from katachi.go.board import Board
>>> inputs = PointInputs()
>>> net = DagRnn.new(DagRnnConfig(), inputs, seed=0)
>>> net.ownership(inputs.encode([Board(5)]), size=5).shape, net.ownership(inputs.encode([Board(9)]), size=9).shape
((1, 25), (1, 81))
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator, Mapping
from functools import cache, cached_property
from typing import Any, Final, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from katachi.core.cards import Strict
from katachi.core.contracts import Doubles, Floats, Ints
from katachi.go.points import Symmetry
from katachi.territory.inputs import PointInputs
from katachi.territory.kernels.gradient import add_gradient
from katachi.territory.kernels.network import BLOCK, CORNER, FLIPS, INTERIOR, SIDE, Grid, Layout, Memory, mix, predict

# Dag rnn config

KINDS: Final = ("interior", "side", "corner")  # points with two predecessors, with one, and with none
PLANES: Final = 4
MAX_SWEEPS: Final = 4
Shape = tuple[int, ...]


class DagRnnConfig(Strict):
    """A network without its weights; the defaults are the paper's."""

    hidden: int = Field(default=16, ge=8, le=256, multiple_of=8)  # units in the hidden layer of each network
    channels: int = Field(default=8, ge=8, le=256, multiple_of=8)  # numbers in the state of a point in one plane
    sweeps: int = Field(default=1, ge=1, le=MAX_SWEEPS)
    # logistic: all units are. gated: hidden units are rectified, and a state is a mean of its predecessors and of
    # something new, weighted by a gate, so that news travel far.
    cell: Literal["logistic", "gated"] = "logistic"
    # What the side and corner networks see. reduced: the predecessors that there are; full: zeros for those missing.
    borders: Literal["reduced", "full"] = "reduced"
    # Whether both predecessors are seen alike, and with them each point and its mirror image in the diagonal. Then all
    # eight symmetries of a board give those of the output; otherwise its four flips do.
    diagonal: bool = False
    # Whether boards are shown as the player who has just moved sees them, own stones black, so that the network knows
    # whose turn it is. The paper tells its network nothing of that.
    by_mover: bool = False
    policy: bool = False  # whether the output network also tells the logits of the next move, of Black and of White

    @classmethod
    def strong(cls) -> DagRnnConfig:
        """Our own, stronger than the paper's."""
        return cls(hidden=32, channels=16, sweeps=2, cell="gated", diagonal=True, by_mover=True)

    @property
    def ends(self) -> int:
        """The outputs of a network that makes states: the state itself, or a gate and a proposal for each number."""
        return self.channels * (2 if self.cell == "gated" else 1)

    @property
    def outputs(self) -> int:
        """The outputs of the output network."""
        return 3 if self.policy else 1

    def predecessors(self, kind: str) -> int:
        """How many predecessors a network of a kind sees."""
        return 2 if self.borders == "full" else 2 - KINDS.index(kind)

    def weight_shapes(self, inputs: int) -> dict[str, Shape]:
        """All arrays of weights by name, for so many inputs a point.

        ``hidden`` of a network is [hidden, seen]: the inputs, then the states in the four planes of every earlier
        sweep (or of all, for the output network), then those of the predecessors, above and left of the point when
        the plane's corner is the upper left.
        """
        shapes: dict[str, Shape] = {}
        for sweep in range(self.sweeps):
            seen = inputs + PLANES * self.channels * sweep
            for kind in KINDS:
                width = seen + self.channels * self.predecessors(kind)
                shapes |= self._network(f"sweeps.{sweep}.{kind}", width, self.ends)
        return shapes | self._network("output", inputs + PLANES * self.channels * self.sweeps, self.outputs)

    def _network(self, name: str, seen: int, ends: int) -> dict[str, Shape]:
        return {
            f"{name}.hidden": (self.hidden, seen),
            f"{name}.hidden_bias": (self.hidden,),
            f"{name}.output": (ends, self.hidden),
            f"{name}.output_bias": (ends,),
        }

    def parameter_count(self, inputs: int) -> int:
        """How many numbers are learned."""
        return sum(math.prod(shape) for shape in self.weight_shapes(inputs).values())


# The basis in which flips of the board are signs: what they do to the inputs of a point, by their four characters.
#
# The flips are a group of four that commute, so numbers that they permute have a basis of vectors that each flip leaves
# alone or negates; which flips negate it is the vector's *character*. Inputs that flips exchange with each other, one,
# two or four of them, are replaced by their sums and differences.

# Flip f mirrors columns if bit 0 is set, and rows if bit 1 is. They are all their own inverses.
FLIP_SYMMETRIES: Final = (Symmetry.IDENTITY, Symmetry.MIRROR, Symmetry.MIRROR_TURN_180, Symmetry.TURN_180)
CHARACTERS: Final = np.array([[1, 1, 1, 1], [1, -1, 1, -1], [1, 1, -1, -1], [1, -1, -1, 1]])  # [character, flip]


class InputShares(NamedTuple):
    """The vectors of the basis, number by number: so much of an input is in a place."""

    places: Ints
    inputs: Ints
    shares: Doubles


class InputBasis(NamedTuple):
    """The inputs of a point by characters: where each vector of the basis has its place."""

    counts: Ints  # [4]: how many places each character has, filled up to a multiple of ``BLOCK``
    shares: InputShares

    def shift(self, places: Ints, by: int) -> Ints:
        """Places in a row that has so many more numbers after those of each character."""
        starts = np.cumsum(self.counts) - self.counts
        return np.asarray(places + (np.searchsorted(starts, places, side="right") - 1) * by)

    def groups(self, length: int) -> Ints:
        """Inputs that flips exchange, so many at a time, and after them the places of their vectors; [., 2 · length].

        The first is exchanged with the second by mirroring columns where there are four, and by any flip where there
        are two. Places are in the order of the characters.
        """
        members: dict[int, list[int]] = {}
        for place, number in zip(self.shares.places.tolist(), self.shares.inputs.tolist(), strict=True):
            members.setdefault(place, []).append(number)
        places: dict[tuple[int, ...], list[int]] = {}
        for place, group in members.items():
            places.setdefault(tuple(group), []).append(place)
        rows = [[*group, *there] for group, there in places.items() if len(group) == length]
        return np.array(rows, dtype=np.int64).reshape(-1, 2 * length)


def make_basis(orders: Ints) -> InputBasis:
    """The basis for inputs of which flip f makes ``inputs[orders[f]]``; orders are [4, d]."""
    vectors: list[list[dict[int, float]]] = [[] for _ in range(FLIPS)]
    for first in np.flatnonzero(orders.min(axis=0) == orders[0]):
        orbit = orders[:, first].tolist()
        for character, signs in enumerate(CHARACTERS):
            vector = {number: float(signs[np.equal(orbit, number)].sum()) for number in orbit}
            length = math.hypot(*vector.values())
            if length > 0:
                vectors[character].append({number: value / length for number, value in vector.items()})
    counts = np.array([-(-len(found) // BLOCK) * BLOCK for found in vectors])
    shares = [
        (int(start) + place, number, value)
        for start, found in zip(np.cumsum(counts) - counts, vectors, strict=True)
        for place, vector in enumerate(found)
        for number, value in vector.items()
    ]
    places, inputs, values = zip(*shares, strict=True)
    return InputBasis(counts, InputShares(np.array(places), np.array(inputs), np.array(values)))


# What the kernels of a DAG-RNN need for boards of one size: which step of which flip is where, and room to work in.


@cache
def make_grid(size: int) -> Grid:
    """The tables of a board size."""
    points = size * size
    row, column = np.divmod(np.arange(points), size)
    missing = (row == 0).astype(np.int64) + (column == 0)
    kinds = np.array([INTERIOR, SIDE, CORNER])[missing]
    frame_width = size + 1
    frames = (row + 1) * frame_width + column + 1
    steps = np.stack([symmetry.points(size) for symmetry in FLIP_SYMMETRIES])
    places = _places(steps, kinds)
    at_work = [np.flatnonzero((rows < FLIPS * points).any(axis=0)) for rows in places]
    seen = [np.concatenate([found, np.full(-found.size % BLOCK, points)]) for found in at_work]
    order = np.argsort(kinds, kind="stable")
    return Grid(
        points=points,
        frame_width=frame_width,
        steps=steps,
        kinds=kinds,
        frames=frames,
        places=places,
        seen=np.concatenate(seen),
        seen_first=_starts([found.size for found in seen]),
        seen_count=np.array([found.size for found in at_work]),
        rows=_rows(order),
        above=_rows(frames[order] - frame_width),
        left=_rows(frames[order] - 1),
        rows_first=_starts([FLIPS * int((kinds == kind).sum()) for kind in (INTERIOR, SIDE, CORNER)]),
    )


def _places(steps: Ints, kinds: Ints) -> Ints:
    """Step and flip of each point in each flip, for every network, [4, 4, n²]; those of the output network by point."""
    flips, points = steps.shape
    rows = steps * flips + np.arange(flips)[:, None]
    places = [np.where(kinds[steps] == kind, rows, flips * points) for kind in (INTERIOR, SIDE, CORNER)]
    return np.stack([*places, np.arange(points) * flips + np.arange(flips)[:, None]])


def _rows(places: Ints) -> Ints:
    """Place and flip, as one number."""
    return np.asarray((places[:, None] * FLIPS + np.arange(FLIPS)).ravel())


def _starts(counts: list[int]) -> Ints:
    return np.cumsum([0, *counts])


def make_memory(net: Layout, grid: Grid, weights: int) -> Memory:
    """Room for one board, for a network whose kernels take so many weights."""
    points, frame, sweeps = grid.points, grid.frame_width**2, net.sweeps
    return Memory(
        seen=_zeros((points + 1) * net.width),
        units=_zeros((sweeps + 1) * points * FLIPS * net.hidden),
        ends=_zeros(sweeps * points * FLIPS * net.ends if net.gated else 0),
        states=_zeros(sweeps * frame * FLIPS * net.channels),
        means=_zeros(points * net.hidden),
        logits=_zeros(points * net.outputs),
        scratch=_zeros(2 * FLIPS * max(BLOCK * net.hidden, net.channels)),
        turned=_zeros(weights),
        unit_gradients=_zeros((points * FLIPS + 1) * net.hidden),
        end_gradients=_zeros(points * FLIPS * net.ends),
        state_gradients=_zeros(frame * FLIPS * net.channels),
        spectrum=_zeros(FLIPS * (points + 1) * net.hidden),
        seen_gradients=_zeros((points + 1) * FLIPS * sweeps * net.channels),
    )


def _zeros(count: int) -> Floats:
    return np.zeros(count, dtype=np.float32)


# Dag rnn layout

DIAGONAL: Final = Symmetry.MIRROR_TURN_270  # rows become columns
_TURNED_PLANES: Final = np.array([0, 2, 1, 3])  # where the diagonal takes the planes


class Shares(NamedTuple):
    """Numbers that are sums of shares of others."""

    to: Ints
    come_from: Ints
    shares: Floats


class DagRnnLayout:
    """The arrays of the kernels for one network."""

    def __init__(self, config: DagRnnConfig, orders: Ints) -> None:
        """``orders``, [8, d], says which input of a point becomes which when a symmetry turns the board.

        Input k of the point to which a symmetry g takes a point is input ``orders[g, k]`` of that point.
        """
        self.config = config
        self.inputs = orders.shape[1]
        self._orders = orders
        self._basis = make_basis(orders[list(FLIP_SYMMETRIES)])
        self.shapes = config.weight_shapes(self.inputs)
        sizes = [math.prod(shape) for shape in self.shapes.values()]
        self.first = dict(zip(self.shapes, np.cumsum([0, *sizes[:-1]]).tolist(), strict=True))
        self.count = sum(sizes)
        self.net, self.kernel_count = self._lay_out()
        self._shares = self._share()

    def to_kernels(self, weights: Floats) -> Floats:
        """The array of weights that the kernels take, from all weights one after another."""
        out = np.zeros(self.kernel_count, dtype=np.float32)
        mix(out, self._shares.to, weights, self._shares.come_from, self._shares.shares)
        return out

    def from_kernels(self, gradient: Floats) -> Floats:
        """The gradient of all weights, from that of what the kernels take."""
        out = np.zeros(self.count, dtype=np.float32)
        mix(out, self._shares.come_from, gradient, self._shares.to, self._shares.shares)
        return out

    def _lay_out(self) -> tuple[Layout, int]:
        config, own = self.config, self._basis.counts
        widths = own + config.sweeps * config.channels
        networks = [0]
        for sweep in range(config.sweeps):
            networks += [networks[-1] + self._network_size(sweep) * (kind + 1) for kind in range(len(KINDS))]
        last = self._seen(config.sweeps) * config.hidden + config.hidden + config.outputs * (config.hidden + 1)
        net = Layout(
            inputs=self.inputs,
            hidden=config.hidden,
            channels=config.channels,
            ends=config.ends,
            outputs=config.outputs,
            sweeps=config.sweeps,
            gated=config.cell == "gated",
            width=int(widths.sum()),
            parts=np.cumsum(widths) - widths,
            own=own,
            networks=np.array(networks),
            alone=self._place(1),
            pairs=self._place(2),
            fours=self._place(4),
        )
        return net, networks[-1] + last

    def _network_size(self, sweep: int) -> int:
        config = self.config
        seen = self._seen(sweep) + 2 * config.channels
        return (seen + 1) * config.hidden + (config.hidden + 1) * config.ends

    def _seen(self, sweep: int) -> int:
        """How many numbers a network of a sweep sees of a point, the zeros that fill up included."""
        return int(self._basis.counts.sum()) + FLIPS * sweep * self.config.channels

    def _place(self, length: int) -> Ints:
        """Inputs that flips exchange, and the places of their vectors in the whole row of what is seen."""
        groups = self._basis.groups(length)
        groups[:, length:] = self._basis.shift(groups[:, length:], self.config.sweeps * self.config.channels)
        return groups

    # Shares

    def _share(self) -> Shares:
        parts = [*self._all_shares()]
        return Shares._make(np.concatenate(columns) for columns in zip(*parts, strict=True))

    def _all_shares(self) -> Iterator[Shares]:
        config = self.config
        for sweep in range(config.sweeps):
            for kind, name in enumerate(KINDS):
                first = int(self.net.networks[3 * sweep + kind])
                yield from self._network_shares(f"sweeps.{sweep}.{name}", first, sweep, config.predecessors(name))
        yield from self._network_shares("output", int(self.net.networks[-1]), config.sweeps, None)

    def _network_shares(self, name: str, first: int, sweep: int, predecessors: int | None) -> Iterator[Shares]:
        """The shares of one network, array after array; None: it is the output network."""
        config, hidden = self.config, self.config.hidden
        rows, columns, shares = self._rows(sweep, predecessors)
        units = np.arange(hidden)
        to = first + rows[:, None] * hidden + units
        come_from = self.first[f"{name}.hidden"] + columns[:, None] + units * self.shapes[f"{name}.hidden"][1]
        yield Shares(to.ravel(), come_from.ravel(), np.repeat(shares, hidden))
        first += self._seen(sweep) * hidden
        yield _copy(first, self.first[f"{name}.hidden_bias"], units)
        first += hidden if predecessors is None else (1 + 2 * config.channels) * hidden
        matrix = np.arange(hidden * self.shapes[f"{name}.output"][0])
        if predecessors is not None:  # the kernels have it transposed
            matrix = matrix.reshape(-1, hidden).T.ravel()
        yield _copy(first, self.first[f"{name}.output"], matrix)
        first += matrix.size
        yield _copy(first, self.first[f"{name}.output_bias"], np.arange(matrix.size // hidden))

    def _rows(self, sweep: int, predecessors: int | None) -> tuple[Ints, Ints, Floats]:
        """What the rows of a network's first matrix are sums of: (row, column of its weights, share) one by one.

        Rows of predecessors come after the hidden bias, which has the length of one row.
        """
        channels = self.config.channels
        states = FLIPS * sweep * channels
        parts = [self._input_rows(sweep)]
        parts += [self._plane_rows(sweep, earlier) for earlier in range(sweep)]
        if predecessors:
            rows = self._seen(sweep) + 1 + np.arange(2 * channels)
            columns = self.inputs + states + np.arange(2 * channels) % (predecessors * channels)
            parts.append((rows, columns, np.ones(2 * channels)))
        rows, columns, shares = (np.concatenate(column) for column in zip(*parts, strict=True))
        if self.config.diagonal:
            turned = self._turned_columns(sweep, predecessors)[columns]
            rows, columns, shares = np.tile(rows, 2), np.concatenate([columns, turned]), np.tile(shares / 2, 2)
        return rows, columns, shares.astype(np.float32)

    def _input_rows(self, sweep: int) -> tuple[Ints, Ints, Doubles]:
        places, inputs, shares = self._basis.shares
        return self._basis.shift(places, sweep * self.config.channels), inputs, shares

    def _plane_rows(self, sweep: int, earlier: int) -> tuple[Ints, Ints, Doubles]:
        channels, counts = self.config.channels, self._basis.counts
        ends = np.cumsum(counts) + np.arange(FLIPS) * sweep * channels  # of the inputs of each character
        character, plane, channel = np.indices((FLIPS, FLIPS, channels)).reshape(3, -1)
        rows = ends[character] + earlier * channels + channel
        columns = self.inputs + (earlier * FLIPS + plane) * channels + channel
        return rows, columns, CHARACTERS[character, plane] / 2

    def _turned_columns(self, sweep: int, predecessors: int | None) -> Ints:
        """Where the diagonal takes what a network sees."""
        channels = self.config.channels
        planes = np.arange(sweep * FLIPS * channels).reshape(sweep, FLIPS, channels)[:, _TURNED_PLANES]
        before = np.arange((predecessors or 0) * channels).reshape(-1, channels)[::-1]
        parts = [planes.ravel(), before.ravel() + planes.size]
        return np.concatenate([self._orders[DIAGONAL], self.inputs + np.concatenate(parts)])


def _copy(to: int, come_from: int, order: Ints) -> Shares:
    return Shares(to + np.arange(order.size), come_from + order, np.ones(order.size, dtype=np.float32))


# Dag rnn

_LOGISTIC_GAIN: Final = 4.0  # of Glorot's uniform distribution: the gradient of a logistic unit is a quarter at most


class Gradient(NamedTuple):
    """The sum over some boards of the gradients of the loss, and of the loss."""

    gradients: Floats  # of all weights, one after another
    ownership: float  # relative entropy, over all points
    moves: float  # −log p of what was played, if there are policies


class DagRnn:
    """A network with its weights. May be asked from several threads at once, but not while its weights change."""

    def __init__(self, config: DagRnnConfig, inputs: PointInputs, weights: Mapping[str, NDArray[Any]]) -> None:
        """Raises ValueError if these are not the weights of such a network."""
        self.config = config
        self.inputs = inputs
        self._layout = DagRnnLayout(config, np.stack([inputs.flip_order(symmetry) for symmetry in Symmetry]))
        if {name: array.shape for name, array in weights.items()} != self._layout.shapes:
            raise ValueError("these weights are not those of this network: their names or shapes differ")
        self._workspace = threading.local()
        self.load(np.concatenate([weights[name].ravel() for name in self._layout.shapes]).astype(np.float32))

    @classmethod
    def new(cls, config: DagRnnConfig, inputs: PointInputs, seed: int) -> Self:
        """A network with random weights: Glorot's uniform distribution for logistic units, He's for rectified ones."""
        rng = np.random.default_rng(seed)
        weights = {}
        for name, shape in config.weight_shapes(inputs.d).items():
            if config.cell == "logistic":
                bound = _LOGISTIC_GAIN * math.sqrt(6 / sum(shape))
            else:
                bound = math.sqrt((6 if name.endswith("hidden") else 3) / shape[-1])
            weights[name] = rng.uniform(-bound, bound, shape) * (len(shape) == 2)
        return cls(config, inputs, weights)

    @property
    def weights(self) -> Floats:
        """All weights, one after another; not to be written to."""
        return self._weights

    def load(self, weights: Floats) -> None:
        """Go on with other weights."""
        self._weights = weights
        self.__dict__.pop("_kernel_weights", None)

    @cached_property
    def _kernel_weights(self) -> Floats:
        """Made when they are first needed, because that compiles."""
        return self._layout.to_kernels(self._weights)

    def arrays(self) -> dict[str, Floats]:
        """The weights by name."""
        first, shapes = self._layout.first, self._layout.shapes
        return {name: self._weights[first[name] :][: math.prod(shape)].reshape(shape) for name, shape in shapes.items()}

    def ownership(self, inputs: Floats, size: int) -> Floats:
        """The probability that Black owns each point in the end, [B, n²], from inputs [B, n², d]."""
        logits = self.logits(inputs, size)[:, :, 0]
        return np.asarray(1 / (1 + np.exp(-logits)))

    def logits(self, inputs: Floats, size: int) -> Floats:
        """Of Black's ownership, and of the next move of Black and of White if there are policies; [B, n², 1 or 3]."""
        grid, memory = self._prepare(size)
        boards = self._check(inputs, size)
        out = np.empty((len(boards), size * size * self.config.outputs), dtype=np.float32)
        predict(self._layout.net, grid, self._kernel_weights, boards, memory, out)
        return out.reshape(len(boards), size * size, self.config.outputs)

    def gradient(
        self, inputs: Floats, size: int, targets: Floats, moves: Ints | None = None, policy_loss: float = 0.0
    ) -> Gradient:
        """The gradient of the loss, summed over boards, with respect to all weights.

        Targets, [B, n²], are probabilities that Black owns a point. ``moves``, [B], are played next, n² more if White
        did, or −1; they count ``policy_loss`` times.
        """
        grid, memory = self._prepare(size)
        boards = self._check(inputs, size)
        if targets.shape != (len(boards), size * size) or targets.dtype != np.float32:
            raise ValueError(f"the targets of these boards are an array [{len(boards)}, {size * size}] of float32")
        played = np.full(len(boards), -1) if moves is None else moves
        gradients, losses = np.zeros(self._layout.kernel_count, dtype=np.float32), np.zeros(2)
        add_gradient(
            self._layout.net,
            grid,
            self._kernel_weights,
            boards,
            targets,
            played,
            np.float32(policy_loss),
            memory,
            gradients,
            losses,
        )
        return Gradient(self._layout.from_kernels(gradients), *losses.tolist())

    def _prepare(self, size: int) -> tuple[Grid, Memory]:
        """The tables of a board size, and room to work in, of which each thread has its own."""
        grid = make_grid(size)
        rooms: dict[int, Memory] = self._workspace.__dict__.setdefault("rooms", {})
        if size not in rooms:
            rooms[size] = make_memory(self._layout.net, grid, self._layout.kernel_count)
        return grid, rooms[size]

    def _check(self, inputs: Floats, size: int) -> Floats:
        """Inputs as the kernels take them."""
        if inputs.shape != (len(inputs), size * size, self.inputs.d) or inputs.dtype != np.float32:
            shape = f"[B, {size * size}, {self.inputs.d}]"
            raise ValueError(f"inputs of {size}×{size} boards are an array {shape} of float32")
        return np.ascontiguousarray(inputs).reshape(len(inputs), -1)


def warmup() -> None:
    """Compile inputs, network, gradient and the making of examples."""
    from katachi.data.batches import tiny_dataset
    from katachi.go.board import Board
    from katachi.territory.inputs import Propensity, propensity_of
    from katachi.territory.learner import Draw, TargetSettings, replay

    board, owners, propensity, inputs = Board(5), np.zeros(25, dtype=np.int8), Propensity(), PointInputs()
    propensity.count([board], owners[None])
    propensity.count_game(board, np.zeros(1, dtype=np.int64), np.ones(1, dtype=np.int8), owners)
    propensity_of(board, propensity.table())
    net, boards = DagRnn.new(DagRnnConfig(), inputs, seed=0), inputs.encode([board])
    net.ownership(boards, 5)
    net.gradient(boards, 5, np.zeros((1, 25), dtype=np.float32))
    first = np.zeros(1, dtype=np.int64)
    with tiny_dataset() as games:
        replay(games, np.zeros((1, 25), dtype=np.int8), Draw(first, first, first, first), TargetSettings())
