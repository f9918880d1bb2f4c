"""What a territory network thinks of the moves that people made: the area that each legal move promised its player.

Moves are points here: a pass neither counts as played nor is one to choose from. A move is taken for the likelier the
more area it promises, in proportion to e^(E / temperature) (Wu and Baldi 2006); the paper does not say
which temperature, so the one that fits the moves of other games best is taken. Of a network with policies the logits
of these may be taken for the areas.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple

import numpy as np

from katachi.core.contracts import Doubles, Floats, Ints
from katachi.core.evaluators import after
from katachi.data.dataset import Dataset, DatasetError
from katachi.go.board import Board
from katachi.go.points import BLACK, PASS
from katachi.sgf.files import Split
from katachi.territory.evaluator import Territory, expected_areas
from katachi.territory.learner import (
    PHASES,
    Positions,
    TargetSettings,
    TerritoryBatches,
    count_known,
    phases_of,
    relative_entropies,
)
from katachi.territory.network import DagRnn

# What a territory network knows of test games: the loss, the ownership accuracy by phase of the game, and at its end.
#
# Points of one position say much the same, so that intervals count positions.

Ticker = Callable[[int], None]


class Known(NamedTuple):
    """What was known of P positions, [P] each."""

    losses: Doubles  # relative entropy of targets and outputs, over all points
    right: Ints  # points whose owner was the likelier one
    owned: Ints  # points that somebody owned
    phases: Ints

    @property
    def shares(self) -> Doubles:
        """The ownership accuracy in each position."""
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


# Territory moves

TEMPERATURES: Final = 0.02 * 1000 ** (np.arange(-150, 300) / 199)  # from 0.0001 to 650: the best of them is sought
_log = logging.getLogger(__name__)


class Asked(NamedTuple):
    """Moves of a set's games, [P] each: the game, and how many moves were made before."""

    games: Ints
    plies: Ints


class EvaluatedMoves(NamedTuple):
    """P moves that were played, and what each point promised their players."""

    areas: Doubles  # [P, n²], the area, or logit, that a move there promised its player; −∞ where it was illegal
    played: Ints  # [P]
    stones: Ints  # [P], on the board before

    @property
    def legal(self) -> Ints:
        """How many moves there were to choose from, [P]."""
        return np.asarray(np.isfinite(self.areas).sum(axis=1))

    def promised(self) -> Doubles:
        """The areas that those moves promised that were played, [P]."""
        return np.asarray(self.areas[np.arange(self.played.size), self.played])

    def places(self) -> Ints:
        """How many moves promised more than the one that was played, [P]."""
        return np.asarray((self.areas > self.promised()[:, None]).sum(axis=1))

    def log_likelihoods(self, temperature: float) -> Doubles:
        """The log of the probability of what was played, [P]."""
        best = self.areas.max(axis=1)
        totals = np.exp((self.areas - best[:, None]) / temperature).sum(axis=1)
        return np.asarray((self.promised() - best) / temperature - np.log(totals))

    def fit_temperature(self, *, mean_of_logs: bool = True) -> float:
        """The temperature by which what was played is most probable, in the geometric mean or in the arithmetic one.

        The best may be beyond all that are tried (``is_at_edge``): the arithmetic mean then is the top-1 rate.
        """
        logs = [self.log_likelihoods(temperature) for temperature in TEMPERATURES]
        means = [values.mean() if mean_of_logs else np.exp(values).mean() for values in logs]
        found = float(TEMPERATURES[int(np.argmax(means))])
        if is_at_edge(found):
            _log.warning(
                "no temperature fits %d moves better than %.2g, the last that was tried", len(self.played), found
            )
        return found


def is_at_edge(temperature: float) -> bool:
    """Whether none beyond a temperature was tried."""
    return temperature in (TEMPERATURES[0], TEMPERATURES[-1])


def pick_moves(dataset: Dataset, games: Ints, count: int, seed: int, plies: Sequence[int] | None = None) -> Asked:
    """So many moves at random, or as many as there are, always the same; ``plies`` are those to choose from.

    Each of them is once in the list. Raises DatasetError if there are none.
    """
    found = []
    for game in games.tolist():
        moves = dataset.moves_of(game).moves
        wanted = np.arange(moves.size) if plies is None else np.array([ply for ply in plies if ply < moves.size], int)
        found.append((game, wanted[moves[wanted] != PASS]))
    if not (total := sum(plies.size for _, plies in found)):
        raise DatasetError(f"{dataset.path} has no such moves to ask about")
    all_games = np.concatenate([np.full(plies.size, game) for game, plies in found])
    all_plies = np.concatenate([plies for _, plies in found])
    chosen = np.random.default_rng(seed).permutation(total)[:count]
    return Asked(all_games[chosen], all_plies[chosen])


def promise_areas(territory: Territory, board: Board) -> Doubles:
    """The area that the player to move can expect after a move at each point, [n²]; −∞ where it is illegal."""
    points = np.flatnonzero(board.legal_moves()[:-1])
    areas = np.full(board.size**2, -np.inf)
    if points.size:
        black = expected_areas(territory.logits([after(board, point) for point in points.tolist()]))
        areas[points] = black if board.to_play == BLACK else areas.size - black
    return areas


def promise_logits(territory: Territory, board: Board) -> Doubles:
    """The logits of a network's own policy of the player to move, [n²]; −∞ where a move is illegal."""
    logits = territory.logits([board])[0, :, 1 if board.to_play == BLACK else 2].astype(np.float64)
    return np.where(board.legal_moves()[:-1], logits, -np.inf)


def evaluate_moves(
    territory: Territory,
    dataset: Dataset,
    asked: Asked,
    promises: Callable[[Territory, Board], Doubles] = promise_areas,
    tick: Ticker = lambda _: None,
) -> EvaluatedMoves:
    """What a network thinks of moves, all on boards of one size; ``tick`` hears how many are done."""
    areas, played, stones = [], [], []
    for done, (game, ply) in enumerate(zip(asked.games.tolist(), asked.plies.tolist(), strict=True)):
        board = dataset.position(game, ply)
        areas.append(promises(territory, board))
        played.append(int(dataset.moves_of(game).moves[ply]))
        stones.append(int(np.count_nonzero(board.stones)))
        tick(done + 1)
    return EvaluatedMoves(np.stack(areas), np.array(played), np.array(stones))
