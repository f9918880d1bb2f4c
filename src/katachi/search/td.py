"""TD search: learn about the position on the board from games that begin there, then play what was learned.

Simulations play on from the position, and a memory of its shapes learns from them by temporal differences
(``search/kernels/td.py``); there is no tree. The move is the greedy one by what the memory says in the end. With a
model of local shapes the memory begins with what the model knows (Dyna-2), else with nothing. Silver, Sutton and
Müller 2008 and 2012.

One thread searches; a seed and a number of simulations give the same result every time. What was learned is a private
cache: when the next call is about the same game a move or two later, learning continues from there.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from functools import cached_property
from threading import Event
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from katachi.core.contracts import Evaluation, Evaluator, Floats, Ints, Limit, WindowValues
from katachi.core.evaluators import DEFAULT_TEMPERATURE, CompiledValue, WrongBoardSize, after, softmax_policy
from katachi.features.windows import CODES, SIDE, TABLE_SIZES, find_windows
from katachi.go.board import Board
from katachi.go.game import Game, Step
from katachi.go.kernels.board import OFF
from katachi.go.kernels.playouts import random_state
from katachi.go.rules import Rules
from katachi.search.kernels import td as kernels
from katachi.search.one_ply import (
    GreedySearch,
    PlayoutResult,
    komi_of,
    passes_before,
    playable,
    root_moves,
    sensible_moves,
)
from katachi.search.playouts import new_playouts, window_values_of
from katachi.search.settings import TdSearchSettings

# The memory of TD search: a weight for everything that can stand in each small window of one board.
#
# *Short-term memory* learns about one game, in which no corner is like another. So its weights are not shared: every
# window has its own, for every way in which its points can be empty, the mover's or the opponent's. *Long-term memory*
# is what a model of local shapes has learned from many games. It needs no table beside the other: short-term memory
# begins with the value that the model gives to each 3×3 window (``WindowEvaluator``), and from then on learns; the
# value of a board is the sum of both all the time (Dyna-2: Silver, Sutton and Müller 2008).
#
# The memory is an evaluator itself, compiled, so that other searches can be steered by what was learned.

Size = tuple[int, int]
_LARGEST: Final = (SIDE, SIDE)


class TdMemory(CompiledValue):
    """The weights of the windows of some sizes on boards of one size."""

    compiled = kernels

    def __init__(self, board_size: int, sizes: Sequence[Size], long_term: WindowValues | None = None) -> None:
        if long_term is not None and long_term.board_size != board_size:
            size = long_term.board_size
            raise WrongBoardSize(f"this model evaluates {size}×{size} boards, not {board_size}×{board_size}")
        self.board_size = board_size
        learned = [size for size in TABLE_SIZES if size in sizes and max(size) <= board_size]
        if not learned:
            raise ValueError(f"no window that is to be learned fits on a {board_size}×{board_size} board")
        tabled = learned if long_term is None or _LARGEST in learned else [*learned, _LARGEST]
        windows = [cells for size in tabled for cells in find_windows(board_size, *size).cells.tolist()]
        self.most_contacts = sum(width * height * (1 + (width != height)) for width, height in learned)
        self.learned_windows = sum(len(find_windows(board_size, *size).cells) for size in learned)
        bases = np.cumsum([0, *(3 ** len(cells) for cells in windows)])
        self._begin: Floats = np.zeros(int(bases[-1]), dtype=np.float32)
        if long_term is not None:  # the largest windows are the last
            self._begin[-len(long_term.cells) * CODES :] = long_term.values[long_term.class_of].ravel()
        # The weights change when the memory learns.
        self.parameters = _lay_out(board_size, windows, bases[:-1]), self._begin.copy()

    def forget(self) -> None:
        """Go back to long-term memory, or to nothing."""
        self.parameters[1][:] = self._begin

    def evaluate(self, boards: Sequence[Board]) -> Evaluation:
        """The value of each board, and the values of its afterstates as a policy."""
        sweeps = [self.evaluate_afterstates(board) for board in boards]
        wins = [kernels.value(board.record, self.parameters) for board in boards]
        policies = [
            softmax_policy(sweep, board.to_play, DEFAULT_TEMPERATURE)
            for board, sweep in zip(boards, sweeps, strict=True)
        ]
        return Evaluation(np.array(wins, dtype=np.float32), np.stack(policies))

    def _check_board(self, board: Board) -> None:
        if board.size != self.board_size:
            size = self.board_size
            raise WrongBoardSize(f"this memory is of {size}×{size} boards, not of {board.size}×{board.size}")


def _lay_out(board_size: int, windows: list[list[int]], bases: Ints) -> NDArray[np.int32]:
    """One array of header, bases, where the contacts of each point begin, and contacts."""
    contacts: list[list[int]] = [[] for _ in range(board_size**2)]
    for window, cells in enumerate(windows):
        for cell, point in enumerate(cells):
            contacts[point] += [window, 3**cell]
    starts = np.cumsum([0, *(len(around) // 2 for around in contacts)])
    sections = [bases, starts, np.concatenate(contacts)]
    begins = kernels.HEADER + np.cumsum([0, *(section.size for section in sections)])
    return np.concatenate([[len(windows)], begins[:3], *sections]).astype(np.int32)


# The search

_ENDLESS: Final = 1 << 62
_LINE_PLIES: Final = 8  # of the variation that is reported
_REPORT_SECONDS: Final = 0.1  # between the results of ``deepen``
_SLICE_SECONDS: Final = 0.003  # how long compiled code may run before the clock is looked at


class TdSearch:
    """The search, with long-term memory or without."""

    def __init__(self, evaluator: Evaluator | None = None, settings: TdSearchSettings | None = None) -> None:
        self.evaluator = evaluator
        self._long_term = None if evaluator is None else window_values_of(evaluator)
        self.settings = settings or TdSearchSettings()
        if self.settings.playouts.shapes:
            window_values_of(evaluator)  # raises if playouts cannot choose by its shapes
        self._workspace = None if self._long_term is None else self._new_workspace(self._long_term.board_size)
        self._steps: list[Step] = []
        self._rules: Rules | None = None
        self._slice = 1

    @cached_property
    def _playouts(self) -> NDArray[Any]:
        """Made at the first search, because it compiles."""
        return new_playouts(self.settings.playouts, 1, seed=0, evaluator=self.evaluator)

    def prepare(self, size: int) -> None:
        """Compile what the first search on a board of that size would wait for."""
        twin = TdSearch(self.evaluator, self.settings)  # what it learns is forgotten with it
        twin.search(Game(size), Limit(simulations=1), np.random.default_rng(0))

    def search(self, game: Game, limit: Limit, rng: np.random.Generator) -> PlayoutResult:
        """The best move by what was learned; ``visits`` count the simulations that began with each move."""
        *_, workspace = self._run(game, limit, rng)
        return workspace.result(game, rng)

    def deepen(
        self, game: Game, limit: Limit, rng: np.random.Generator, stop: Event | None = None
    ) -> Iterator[PlayoutResult]:
        """Yield a result ten times a second until the limit is reached or ``stop`` is set."""
        for workspace in self._run(game, limit, rng, stop, _REPORT_SECONDS):
            yield workspace.result(game, rng)

    @property
    def memory(self) -> TdMemory:
        """What was learned so far, for others to search with; raises ValueError if there was neither model nor game."""
        if self._workspace is None:
            raise ValueError("there is no memory without a model before the first game")
        return self._workspace.memory

    def adapt(self, game: Game, limit: Limit, rng: np.random.Generator, stop: Event | None = None) -> None:
        """Learn about a game's position until the limit is reached or ``stop`` is set."""
        for _ in self._run(game, limit, rng, stop):
            pass

    def _run(
        self, game: Game, limit: Limit, rng: np.random.Generator, stop: Event | None = None, pause: float = float("inf")
    ) -> Iterator[_Workspace]:
        """Simulate and learn; yields from time to time and at the end."""
        started = time.monotonic()
        deadline = float("inf") if limit.seconds is None else started + limit.seconds
        report_due = started + pause
        usual = self.settings.simulations if limit.seconds is None else _ENDLESS
        left = usual if limit.simulations is None else max(1, limit.simulations)
        workspace = self._begin(game, rng)
        while left > 0:
            left -= self._run_slice(game, workspace, left)
            now = time.monotonic()
            if now >= deadline or (stop is not None and stop.is_set()):
                break
            if now >= report_due:
                report_due = now + pause
                yield workspace
        yield workspace

    def _run_slice(self, game: Game, workspace: _Workspace, most: int) -> int:
        """Some milliseconds of simulations; how many that is, is learned from the last slice. Returns how many."""
        count = min(self._slice, most)
        start = time.perf_counter()
        workspace.run(game, self._playouts, count)
        elapsed = max(time.perf_counter() - start, 1e-6)
        self._slice = int(np.clip(count * _SLICE_SECONDS / elapsed, 1, 4 * count))
        return count

    def _begin(self, game: Game, rng: np.random.Generator) -> _Workspace:
        """Room for a game, its memory as it was if the game has gone on since the last time."""
        if self._workspace is None or self._workspace.memory.board_size != game.size:
            self._workspace = self._new_workspace(game.size)
        elif not (self.settings.reuse and self._has_gone_on(game)):
            self._workspace.memory.forget()
        self._steps, self._rules = game.steps, game.rules
        self._playouts["random"] = random_state(rng.integers(1 << 63, dtype=np.uint64))
        self._playouts["reply"] = OFF
        self._workspace.begin(game, rng)
        return self._workspace

    def _new_workspace(self, board_size: int) -> _Workspace:
        return _Workspace(board_size, self.settings, self._long_term)

    def _has_gone_on(self, game: Game) -> bool:
        """Whether this is the game of the last call, a move or two later: every game begins with the empty board."""
        steps, count = game.steps, len(self._steps)
        return self._rules == game.rules and 0 < len(steps) - count <= 2 and steps[:count] == self._steps


class _Workspace:
    """What simulations on boards of one size need: a memory, a simulator, boards to play on."""

    def __init__(self, board_size: int, settings: TdSearchSettings, long_term: WindowValues | None) -> None:
        self.memory = TdMemory(board_size, settings.window_sizes, long_term)
        windows = self.memory.learned_windows
        self._simulator = np.zeros(1, dtype=kernels.SIMULATOR)
        self._simulator["explore"] = round(settings.epsilon * 2**32)
        self._simulator["guided_plies"] = settings.guided_plies
        self._simulator["learned_plies"] = settings.learned_plies
        self._simulator["step"] = settings.step_size / windows
        self._simulator["learned_windows"] = windows
        # Each ply puts down a stone, which may be taken later, as may those that stood there before.
        changes = 2 * settings.learned_plies + board_size**2
        self._spans = np.zeros((2 * (windows + changes * self.memory.most_contacts), 4), dtype=np.int32)
        self._boards, self._spare = Board(board_size).record, Board(board_size).record

    def begin(self, game: Game, rng: np.random.Generator) -> None:
        """Stand at a game's position, draw new random numbers, and count from there."""
        simulator = self._simulator
        for sums in ("simulations", "black_area", "ownership", "visits"):
            simulator[sums] = 0
        simulator["komi"] = komi_of(game)
        simulator["passes"] = passes_before(game)
        simulator["considered"][0, : game.size**2] = root_moves(game)[:-1]
        simulator["random"] = random_state(rng.integers(1 << 63, dtype=np.uint64))

    def run(self, game: Game, playouts: NDArray[Any], simulations: int) -> None:
        """Simulate, and learn."""
        kernels.run_simulations(
            self._simulator,
            game.board.record,
            self._boards,
            self._spare,
            playouts,
            self.memory.parameters,
            self._spans,
            simulations,
        )

    def result(self, game: Game, rng: np.random.Generator) -> PlayoutResult:
        """What the memory says now, and what the simulations came to."""
        best = GreedySearch(self.memory).search(game, Limit(), rng)
        points, simulator = game.size**2, self._simulator[0]
        count = int(simulator["simulations"])
        return PlayoutResult(
            best.move,
            best.black_wins,
            visits=np.append(simulator["visits"][:points], simulator["visits"][OFF]),
            variation=playable(game, self._line(game.board, best.move)),
            sweep=best.sweep,
            black_lead=float(simulator["black_area"]) / count - komi_of(game),
            ownership=(simulator["ownership"][:points] / count).astype(np.float32),
            simulations=count,
        )

    def _line(self, board: Board, move: int) -> list[int]:
        """What follows a move when both play what the memory likes best."""
        line = [move]
        for _ in range(_LINE_PLIES - 1):
            board = after(board, line[-1])
            worth = np.where(sensible_moves(board), self.memory.afterstate_log_odds(board), np.nan)
            line.append(int(np.nanargmax(board.to_play * worth)))
            if line[-1] == board.size**2:
                return line[:-1]
        return line
