"""What a territory network knows of test games: the loss, the points known right by phase of the game, and at its
end.

Points of one position say much the same, so that intervals count positions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np

from katachi.core.contracts import Doubles, Floats, Ints
from katachi.data.dataset import Dataset
from katachi.sgf.files import Split
from katachi.territory.dag_rnn import DagRnn
from katachi.territory.evaluator import Territory
from katachi.territory.learner import (
    PHASES,
    Positions,
    TargetSettings,
    TerritoryBatches,
    count_known,
    phases_of,
    relative_entropies,
)

Ticker = Callable[[int], None]


class Known(NamedTuple):
    """What was known of P positions, [P] each."""

    losses: Doubles  # relative entropy of targets and outputs, over all points
    right: Ints  # points whose owner was the likelier one
    owned: Ints  # points that somebody owned
    phases: Ints

    @property
    def shares(self) -> Doubles:
        """The share of points known right in each position."""
        return np.asarray(self.right / np.maximum(1, self.owned))

    def by_phase(self) -> dict[str, Known]:
        """The same by how full the board was; a phase without positions is left out."""
        found = np.unique(self.phases).tolist()
        return {name_phase(phase): Known._make(array[self.phases == phase] for array in self) for phase in found}


def name_phase(phase: int) -> str:
    """How full the board is, in words.

    >>> [name_phase(phase) for phase in (0, 1, 4)]
    ['under 15 % full', '15 to 30 % full', 'over 60 % full']
    """
    if phase == 0:
        return f"under {PHASES[0]:.0%} full".replace("%", " %")
    if phase == len(PHASES):
        return f"over {PHASES[-1]:.0%} full".replace("%", " %")
    return f"{100 * PHASES[phase - 1]:.0f} to {100 * PHASES[phase]:.0f} % full"


def measure_territory(
    territory: Territory,
    dataset: Dataset,
    count: int,
    split: Split = Split.TEST,
    tick: Ticker = lambda _: None,
    *,
    ended: bool = False,
) -> Known:
    """What a network knows of so many positions of a split; ``ended``: of so many games after their last moves."""
    net = territory.net
    batches = TerritoryBatches(dataset, net.inputs, batch=1, target=TargetSettings(), by_mover=net.config.by_mover)
    batches.propensity = territory.propensity
    return know(net, batches.held_out_parts(count, split, ended=ended), tick)


def know(net: DagRnn, parts: Iterable[Positions], tick: Ticker = lambda _: None) -> Known:
    """What a network knows of positions; ``tick`` hears how many are done."""
    found = []
    for part in parts:
        size = round(part.targets.shape[1] ** 0.5)
        logits: Floats = net.logits(part.inputs, size)
        losses = relative_entropies(logits[:, :, 0].astype(np.float64), part.targets.astype(np.float64)).sum(axis=1)
        found.append(Known(losses, *count_known(logits, part), phases_of(part)))
        tick(sum(known.losses.size for known in found))
    return Known._make(np.concatenate(arrays) for arrays in zip(*found, strict=True))
