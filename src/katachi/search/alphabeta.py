"""Full-width alpha-beta with iterative deepening.

Every sensible move is looked at, to depth 1, 2, 3 …; each depth is searched in the order that the last one suggests,
so that most of it is cut off, and the value is that of plain minimax. A transposition table, killer and history moves
and the evaluator's own values give the order. At depth 0 the evaluator is asked, or, with ``quiescence``, captures are
played out first. A side passes only where it has no sensible move; two passes end the game by its score.

With a ``CompiledEvaluator`` all of it runs compiled (``CompiledTree``), else in Python (``PythonTree``): the same
values, some hundred times slower. The clock is looked at every few milliseconds.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from threading import Event
from typing import Any, Final, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from katachi.core.contracts import CompiledEvaluator, Doubles, Evaluator, Ints, Limit, SearchResult
from katachi.core.evaluators import after, moves_of, sweep_afterstates
from katachi.go.board import Board
from katachi.go.game import Game
from katachi.go.kernels import board as board_kernels
from katachi.go.kernels.values import SWEEP, VALUE
from katachi.go.points import PASS
from katachi.go.scoring import area_score
from katachi.search.kernels import alphabeta as kernels
from katachi.search.one_ply import (
    at_komi_of,
    komi_of,
    passes_before,
    playable,
    root_moves,
    sensible_captures,
    sensible_moves,
)
from katachi.search.settings import MAX_DEPTH, AlphaBetaSettings

ShouldStop = Callable[[], bool]


# A tree is that below one position, compiled or in Python. Each ``run`` to a depth goes deeper and profits from those
# before it, and returns whether that was completed before a limit ended it. ``line`` is the best line that the last run
# found, even an incomplete one, empty if there is none; ``black_wins`` is its value. ``nodes`` and ``visits``, [n²+1],
# are counted over all runs: how many were looked at, and how many of them lay behind each move of the root.

# The compiled tree, for evaluators that compiled code can call.
#
# All of them have the same types: ``kernel(records, parameters)`` with a pair of parameters, an int32 array and a
# float32 array. So the search is compiled once, whatever evaluator it is handed.

_SLICE_SECONDS: Final = 0.003  # how long compiled code may run before the clock is looked at
_FIRST_SLICE: Final = 16  # nodes
_TIE_BREAK: Final = 1e-9


@runtime_checkable
class SweepingEvaluator(CompiledEvaluator, Protocol):
    """A compiled evaluator that values all moves at once: ``sweep_kernel(records, parameters, values)``.

    It writes P(Black wins) after each move to ``values`` [n²+1] float64, the pass last, NaN where a move is illegal.
    """

    @property
    def sweep_kernel(self) -> Any: ...


def compile_for(evaluator: CompiledEvaluator) -> None:
    """Compile what an evaluator hands to the tree, or load it from the cache."""
    for function, kind in ((evaluator.kernel, VALUE), (_sweep_kernel(evaluator), SWEEP)):
        if hasattr(function, "compile"):  # not where the compiler is switched off
            function.compile(kind.signature)


def _sweep_kernel(evaluator: CompiledEvaluator) -> Any:
    return evaluator.sweep_kernel if isinstance(evaluator, SweepingEvaluator) else kernels.no_sweep


class CompiledTree:
    """A game's tree in record arrays; ``run`` searches it to a depth."""

    def __init__(
        self, evaluator: CompiledEvaluator, game: Game, rng: np.random.Generator, settings: AlphaBetaSettings
    ) -> None:
        evaluator.evaluate([game.board])  # raises if it cannot evaluate such boards; its kernels would not
        self._size = game.size
        self._value = evaluator.kernel
        self._sweep = _sweep_kernel(evaluator)
        self._parameters = evaluator.parameters
        self._boards = np.repeat(game.board.record, kernels.MAX_PLY + 2)  # the last is a spare
        self._frames = np.zeros(kernels.MAX_PLY + 1, dtype=kernels.FRAME)
        self._table = np.zeros(1 << settings.table_bits, dtype=kernels.ENTRY)
        self._work = np.empty(kernels.MOVES, dtype=np.float64)
        self._passes = passes_before(game)
        self._slice = _FIRST_SLICE
        self._tree = tree = np.zeros(1, dtype=kernels.TREE)
        tree["komi"] = komi_of(game)
        tree["quiescence"] = settings.quiescence
        tree["has_sweep"] = self._sweep is not kernels.no_sweep
        considered = root_moves(game)
        tree["considered"][0, : considered.size - 1] = considered[:-1]
        tree["tie_break"] = _TIE_BREAK * rng.random(kernels.MOVES)
        tree["killers"] = board_kernels.OFF
        self._frames["best_move"][0] = board_kernels.OFF

    @property
    def nodes(self) -> int:
        return int(self._tree["nodes"][0])

    def run(self, depth: int, node_limit: int | None, should_stop: ShouldStop) -> bool:
        root = self._frames[0]
        root["entered"] = False
        root["depth"], root["passes"] = depth, self._passes
        root["alpha"], root["beta"] = -np.inf, np.inf
        self._tree["ply"] = 0
        while not self._run_slice(node_limit):
            if should_stop() or (node_limit is not None and self.nodes >= node_limit):
                return False
        return True

    def _run_slice(self, node_limit: int | None) -> bool:
        """Some milliseconds of nodes; how many that is, is learned from the last slice."""
        budget = self._slice if node_limit is None else min(self._slice, max(node_limit - self.nodes, 0))
        start = time.perf_counter()
        done = kernels.run_nodes(
            self._frames,
            self._boards,
            self._table,
            self._work,
            self._tree,
            self._value,
            self._sweep,
            self._parameters,
            budget,
        )
        elapsed = time.perf_counter() - start
        if not done:  # one that came to its end says nothing about how long its budget would have taken
            self._slice = int(np.clip(self._slice * _SLICE_SECONDS / max(elapsed, 1e-6), 1, 4 * self._slice))
        return bool(done)

    @property
    def line(self) -> list[int]:
        line = self._frames["line"][0, : self._frames["line_length"][0]].tolist()
        return [PASS if point == board_kernels.OFF else point for point in line]

    @property
    def black_wins(self) -> float:
        return abs(float(self._frames["best"][0]))

    @property
    def visits(self) -> Ints:
        visits = self._tree["visits"][0]
        points = self._size**2
        return np.append(visits[:points], visits[board_kernels.OFF])


# The tree in Python, for all other evaluators.
#
# It searches the same tree as ``search/kernels/alphabeta.py`` to the same values; that file says what a node's worth is
# and how depth counts. Moves are ordered by the table and the evaluator alone: killer and history moves save less than
# they cost here.

_MAX_ENTRIES: Final = 200_000

Position = tuple[int, int, int | None, int]  # hash, to_play, ko point, passes: with the depth, all that fixes a worth


class _Stopped(Exception):
    """The limit was reached inside the tree."""


class Entry(NamedTuple):
    """What is known of a node: its worth lies between these, and this line is best there."""

    low: float
    high: float
    line: list[int]


@dataclass
class Node:
    """A board in the tree, what is asked about it, and the best found so far."""

    board: Board
    depth: int
    passes: int  # in succession, up to this node
    alpha: float = -np.inf
    beta: float = np.inf
    best: float = -np.inf
    line: tuple[int, ...] = ()

    @property
    def position(self) -> Position:
        return self.board.hash, self.board.to_play, self.board.ko_point, self.passes

    def receive(self, worth: float, line: tuple[int, ...]) -> None:
        """Take the worth of a move and the line that begins with it."""
        if worth > self.best:
            self.best, self.line = worth, line
            self.alpha = max(self.alpha, worth)


class PythonTree:
    """A game's tree; ``run`` searches it to a depth by recursion."""

    def __init__(self, evaluator: Evaluator, game: Game, rng: np.random.Generator, settings: AlphaBetaSettings) -> None:
        self._evaluator = evaluator
        self._board = game.board.copy()
        self._moves = root_moves(game)
        self._passes = passes_before(game)
        self._tie_break = rng.random(self._moves.size)
        self._komi = komi_of(game)
        self._quiescence = settings.quiescence
        self._root = Node(self._board, 0, self._passes)
        self._entries: dict[tuple[Position, int], Entry] = {}
        self._hints: dict[Position, int] = {}  # the best move of whatever depth was searched last
        self.visits: Ints = np.zeros(self._moves.size, dtype=np.int64)
        self.nodes = 0

    @property
    def line(self) -> list[int]:
        return list(self._root.line)

    @property
    def black_wins(self) -> float:
        return abs(self._root.best)

    def run(self, depth: int, node_limit: int | None, should_stop: ShouldStop) -> bool:
        self._node_limit = node_limit
        self._should_stop = should_stop
        hint = self._root.line[:1]
        self._root = Node(self._board, depth, self._passes)
        try:
            self._count_node()
            sweep = sweep_afterstates(self._evaluator, self._board)
            for move in self._ordered(self._moves, sweep, self._board.to_play, hint, self._tie_break):
                before = self.nodes
                self._try(self._root, move, sweep)
                self.visits[move] += max(self.nodes - before, 1)
        except _Stopped:
            return False
        return True

    def _try(self, node: Node, move: int, sweep: Doubles) -> None:
        """Let a node receive what a move is worth."""
        board, color = node.board, node.board.to_play
        if move == PASS and node.passes == 1:
            node.receive(color * self._outcome(board), (move,))
            return
        static = float(sweep[move])
        if node.depth - 1 <= -self._quiescence:
            node.receive(color * static, (move,))
            return
        passes = node.passes + 1 if move == PASS else 0
        child = Node(after(board, move), node.depth - 1, passes, -node.beta, -node.alpha)
        self._search(child, static)
        node.receive(-child.best, (move, *child.line))

    def _search(self, node: Node, static: float) -> None:
        """Find a node's worth, exactly if it lies between alpha and beta, and its best line."""
        self._count_node()
        key = (node.position, node.depth)
        known = self._entries.get(key)
        if known is not None and (known.low == known.high or known.low >= node.beta or known.high <= node.alpha):
            node.best = known.low if np.isfinite(known.low) else known.high
            node.line = tuple(known.line)
            return
        floor = node.alpha
        quiet = node.depth <= 0
        if quiet:  # it may leave it at that
            node.receive(node.board.to_play * static, ())
        if node.best < node.beta:
            self._try_all(node, sensible_captures(node.board) if quiet else sensible_moves(node.board))
        self._remember(key, node, floor)

    def _try_all(self, node: Node, moves: NDArray[np.bool_]) -> None:
        if not moves.any():
            return
        sweep = sweep_afterstates(self._evaluator, node.board)
        hint = self._hints.get(node.position)
        for move in self._ordered(moves, sweep, node.board.to_play, () if hint is None else (hint,)):
            self._try(node, move, sweep)
            if node.best >= node.beta:
                return

    def _ordered(
        self,
        moves: NDArray[np.bool_],
        sweep: Doubles,
        color: int,
        hint: tuple[int, ...],
        tie_break: NDArray[np.float64] | None = None,
    ) -> list[int]:
        """The moves, the hint first, then by what the evaluator thinks of them."""
        ties = np.arange(moves.size) if tie_break is None else tie_break
        order = sorted(moves_of(moves), key=lambda move: (-color * sweep[move], ties[move]))
        return [*(move for move in order if move in hint), *(move for move in order if move not in hint)]

    def _remember(self, key: tuple[Position, int], node: Node, floor: float) -> None:
        if len(self._entries) >= _MAX_ENTRIES:
            self._entries.clear()
        low = node.best if node.best > floor else -np.inf
        high = node.best if node.best < node.beta else np.inf
        self._entries[key] = Entry(low, high, list(node.line))
        if node.line:
            self._hints[key[0]] = node.line[0]

    def _outcome(self, board: Board) -> float:
        """P(Black wins) when both have passed: by area, all stones alive."""
        score = area_score(board)
        return 1.0 if score > self._komi else 0.5 if score == self._komi else 0.0

    def _count_node(self) -> None:
        if self._should_stop() or (self._node_limit is not None and self.nodes >= self._node_limit):
            raise _Stopped
        self.nodes += 1


# Iterative deepening


class AlphaBetaSearch:
    """Iterative deepening over any evaluator. Of the limit's ``simulations`` each stands for a node."""

    def __init__(self, evaluator: Evaluator, settings: AlphaBetaSettings | None = None) -> None:
        self.evaluator = evaluator
        self.settings = settings or AlphaBetaSettings()
        self._is_compiled = False

    def prepare(self, size: int) -> None:
        """Compile what the first search would wait for; raises if the evaluator cannot evaluate such boards."""
        self.search(Game(size), Limit(depth=1), np.random.default_rng(0))

    def search(self, game: Game, limit: Limit, rng: np.random.Generator) -> SearchResult:
        """The result of the greatest depth that the limit allows; ``visits`` are nodes."""
        *_, last = self.deepen(game, limit, rng)
        return last

    def deepen(
        self, game: Game, limit: Limit, rng: np.random.Generator, stop: Event | None = None
    ) -> Iterator[SearchResult]:
        """Yield a result after each depth, and a last one when the limit is reached or ``stop`` is set."""
        should_stop = _stopper(limit, stop)
        tree = self._tree(game, rng)
        result = _first_guess(game)
        for depth in range(1, self._last_depth(limit) + 1):
            complete = tree.run(depth, limit.simulations, should_stop)
            # The best move of the last depth is searched first: what beats it in an incomplete run is better, too.
            if line := tree.line:
                result = SearchResult(line[0], tree.black_wins, tree.visits.copy(), playable(game, line))
            yield result
            is_forced = limit.depth is None and np.count_nonzero(result.visits) == 1  # the clock need not run for it
            if not complete or should_stop() or is_forced:
                return

    def _tree(self, game: Game, rng: np.random.Generator) -> CompiledTree | PythonTree:
        if isinstance(self.evaluator, CompiledEvaluator):
            if not self._is_compiled:
                compile_for(self.evaluator)
                self._is_compiled = True
            return CompiledTree(self.evaluator, game, rng, self.settings)
        return PythonTree(at_komi_of(self.evaluator, game), game, rng, self.settings)

    def _last_depth(self, limit: Limit) -> int:
        if limit.depth is not None:
            return max(1, min(limit.depth, MAX_DEPTH))
        return self.settings.depth if limit.seconds is None else MAX_DEPTH


def _stopper(limit: Limit, stop: Event | None) -> ShouldStop:
    deadline = None if limit.seconds is None else time.monotonic() + limit.seconds

    def should_stop() -> bool:
        return (stop is not None and stop.is_set()) or (deadline is not None and time.monotonic() >= deadline)

    return should_stop


def _first_guess(game: Game) -> SearchResult:
    """What to play if there was no time for a single move."""
    considered = root_moves(game)
    return SearchResult(moves_of(considered)[0], 0.5, np.zeros(considered.size, dtype=np.int64))


def warmup() -> None:
    """Compile what stands for a sweep; the search itself is compiled with an evaluator, by the systems."""
    parameters = (np.zeros(1, dtype=np.int32), np.zeros(1, dtype=np.float32))
    kernels.no_sweep(Game(5).board.record, parameters, np.zeros(26))
