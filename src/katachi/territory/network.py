"""How the weights of a DAG-RNN lie in the arrays of its kernels, and what each number there is made of.

A network is described by weights for inputs and planes as they are. The kernels want them in the basis of the flips'
characters (``territory/kernels/network.py``), with zeros where a network sees nothing. Every number there is a sum of
shares of weights, so one list of shares leads from the weights to the kernels, and from their gradients back.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np

from katachi.core.contracts import Doubles, Floats, Ints
from katachi.go.points import Symmetry
from katachi.territory.dag_rnn_basis import CHARACTERS, FLIP_SYMMETRIES, make_basis
from katachi.territory.dag_rnn_config import KINDS, DagRnnConfig
from katachi.territory.kernels.network import FLIPS, Layout, mix

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
