"""Engines: a bounded number of worker processes that think for all tables, so that no board waits for a thought.

A worker that dies takes no game with it: whoever waited for it gets EngineStopped with what happened, and the next
job starts another one. One that shows no sign of life any more is ended, so that it counts as dead.
"""

from __future__ import annotations

import asyncio
import contextlib
import multiprocessing
import os
import signal
import time
from collections.abc import Callable
from ctypes import c_ulong
from dataclasses import dataclass, field, replace
from functools import lru_cache
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from queue import SimpleQueue
from threading import Event, Thread
from typing import Any, Final, NamedTuple, Protocol
from weakref import WeakValueDictionary

from katachi.analysis.batches import JudgeSettings, default_models, describe_game, review_game
from katachi.analysis.explaining import evaluate_turn, link_turns
from katachi.analysis.judges import last_turn
from katachi.analysis.layers import layers_of
from katachi.analysis.records import GameRecord, PositionRecord
from katachi.analysis.report import strip
from katachi.core.contracts import (
    Analysis,
    Decision,
    Evaluator,
    Limit,
    Player,
    PreparingPlayer,
    RankedEvaluator,
)
from katachi.core.drawing import Layer
from katachi.core.models import open_model, pretrained_models
from katachi.go.compiling import compiling
from katachi.go.game import Game, Step
from katachi.go.rules import Rules
from katachi.players.asking import find_evaluator, watch_analyses, watch_decisions
from katachi.players.specs import load_player
from katachi.sgf import parse_sgf
from katachi.web import texts

# The process that thinks: it takes jobs from a pipe, one after the other, and reports what it finds.
#
# It holds players, which hold no game, so any game can be handed to any worker. It ends when the pipe does.

_SECONDS_BETWEEN_REPORTS: Final = 0.25
STOP: Final = "stop"


@dataclass(frozen=True, slots=True)
class Report:
    """Something that was found on the way."""

    content: Any


@dataclass(frozen=True, slots=True)
class Done:
    """The end of a job: its result, or in a sentence why there is none."""

    content: Any = None
    error: str | None = None


def serve(pipe: Connection, life: c_ulong, seconds: float) -> None:
    """Do jobs until the pipe closes. What a player raises is reported, and the next job is served.

    ``life`` is counted up every so many seconds.
    """
    jobs: SimpleQueue[Any] = SimpleQueue()
    stop = Event()
    Thread(target=_listen, args=(pipe, jobs, stop), daemon=True).start()
    Thread(target=_show_life, args=(life, seconds), daemon=True).start()
    while True:
        job = jobs.get()
        try:
            pipe.send(Done(job.run(Reporter(pipe), stop)))
        except Exception as error:  # noqa: BLE001 - whatever a player does must not end the worker
            is_ours = type(error).__module__.split(".")[0] == "katachi"
            pipe.send(Done(error=str(error) if is_ours else f"{type(error).__name__}: {error}"))


def _show_life(life: c_ulong, seconds: float) -> None:
    while True:
        life.value += 1
        time.sleep(seconds)


def _listen(pipe: Connection, jobs: SimpleQueue[Any], stop: Event) -> None:
    while True:
        try:
            message = pipe.recv()
        except (EOFError, OSError):
            os._exit(0)  # the server is gone; a search may be in the middle of something
        if message == STOP:
            stop.set()
        else:
            stop.clear()
            jobs.put(message)


class Reporter:
    """Reports to the server through the pipe; ``is_due`` says whether the last time was long enough ago."""

    def __init__(self, pipe: Connection) -> None:
        self._pipe = pipe
        self._last = time.monotonic()

    @property
    def is_due(self) -> bool:
        return time.monotonic() - self._last >= _SECONDS_BETWEEN_REPORTS

    def __call__(self, content: object) -> None:
        self._last = time.monotonic()
        self._pipe.send(Report(content))


# Jobs for the engines: decide on a move, say what is known of a position, go through a whole game.
#
# A job travels to a worker process and runs there. What it finds on the way it reports when a report is due.

_MOST_KEPT: Final = 4  # players, and sets of evaluators, at a time


class Job(Protocol):
    """Something to do in a worker; it ends soon after ``stop`` is set."""

    def run(self, report: Reporter, stop: Event) -> object: ...


@dataclass(frozen=True, slots=True)
class Position:
    """A game as it travels to another process."""

    size: int
    rules: Rules
    steps: tuple[Step, ...]
    to_play: int

    @classmethod
    def of(cls, game: Game) -> Position:
        return cls(game.size, game.rules, tuple(game.steps), game.to_play)

    def replay(self) -> Game:
        game = Game.of_steps(self.size, self.rules, self.steps)
        game.to_play = self.to_play
        return game


class Progress(NamedTuple):
    """How far a worker is with something that has to be compiled."""

    share: float  # of the kernel that was called; at 1 it is put together, which takes its time


@dataclass(frozen=True, slots=True)
class PrepareJob:
    """Get a player ready for boards of a size; reports Progress while something is compiled."""

    player: str
    size: int

    def run(self, report: Reporter, stop: Event) -> None:  # noqa: ARG002 (nobody can stop the compiler)
        is_ready = Event()

        def watch() -> None:
            while not is_ready.wait(_SECONDS_BETWEEN_REPORTS):
                now = compiling()
                if now is not None and now.seconds:
                    report(Progress(now.done / now.seconds))

        watcher = Thread(target=watch, daemon=True)
        watcher.start()
        try:
            load_prepared(self.player, self.size)
        finally:
            is_ready.set()
            watcher.join()  # two threads must not write into one pipe


@dataclass(frozen=True, slots=True)
class DecideJob:
    """Decide on a move; reports analyses."""

    player: str
    position: Position
    limit: Limit

    def run(self, report: Reporter, stop: Event) -> Decision:
        player = load_prepared(self.player, self.position.size)
        decision = Decision()
        for decision in watch_decisions(player, self.position.replay(), self.limit, stop):
            if decision.analysis is not None and report.is_due:
                report(decision.analysis)
        return decision


class Seen(NamedTuple):
    """What is known of a position, and the lowest rank that a network knows people of, if one was asked."""

    analysis: Analysis
    layers: tuple[Layer, ...]
    lowest_rank: int | None


@dataclass(frozen=True, slots=True)
class LayersJob:
    """Say what a player and the models of its board size think of a position; reports what it has Seen so far."""

    player: str
    position: Position
    limit: Limit
    rank: int | None  # the grade of the people whom a network is asked about

    def run(self, report: Reporter, stop: Event) -> Seen:
        player = load_prepared(self.player, self.position.size)
        evaluators = _at_rank(find_evaluators(player, self.player, self.position.size), self.rank)
        known = [one.lowest_rank for one in evaluators.values() if isinstance(one, RankedEvaluator)]
        lowest = min((rank for rank in known if rank is not None), default=None)
        game = self.position.replay()
        analysis = Analysis(())
        for analysis in watch_analyses(player, game, self.limit, stop):
            if report.is_due:
                report(Seen(analysis, tuple(layers_of(game, analysis, evaluators)), lowest))
        return Seen(analysis, tuple(layers_of(game, analysis, evaluators)), lowest)


REVIEW_SIMULATIONS: Final = 200  # per position, whoever reviews: as ``katachi analyze`` does


def _review_settings(player: str, size: int) -> JudgeSettings:
    return JudgeSettings(player=player, models=default_models(size), simulations=REVIEW_SIMULATIONS)


@dataclass(frozen=True, slots=True)
class ReviewJob:
    """Go through the main line of a record as ``katachi analyze`` does; reports ReviewSteps, several as one.

    What is known already is not analysed again: so a review resumes.
    """

    player: str
    record: str  # SGF
    known: tuple[PositionRecord, ...] = ()

    def run(self, report: Reporter, stop: Event) -> GameRecord:
        record = strip(parse_sgf(self.record)[0])
        settings = _review_settings(self.player, record.size)
        new: dict[int, PositionRecord] = {}
        for step in review_game(record, settings, self.known, stop):
            new |= {position.turn: position for position in step.changed}
            if report.is_due or step.seconds_left is None or step.done == step.total:
                report(replace(step, changed=tuple(new.values())))
                new = {}
        with settings.judges(record.size, "", 0) as judges:
            return describe_game(record, judges)


@dataclass(frozen=True, slots=True)
class CheckJob:
    """Say what the last move of a game was worth: the positions before and after it."""

    player: str
    position: Position

    def run(self, report: Reporter, stop: Event) -> tuple[PositionRecord, PositionRecord]:  # noqa: ARG002 (soon over)
        game = self.position.replay()
        with _review_settings(self.player, game.size).judges(game.size, "", 0) as judges:
            after = evaluate_turn(judges, last_turn(game))
            game.undo()
            before = evaluate_turn(judges, last_turn(game))
        return before, link_turns(before, after)


@lru_cache(maxsize=_MOST_KEPT)
def load_prepared(spec: str, size: int) -> Player:
    """A player, ready for boards of a size."""
    player = load_player(spec, size=size)
    if isinstance(player, PreparingPlayer):
        player.prepare(size)
    return player


def find_evaluators(player: Player, spec: str, size: int) -> dict[str, Evaluator]:
    """What a player evaluates with, and the bundled models for boards of this size."""
    own = find_evaluator(player)
    return ({} if own is None else {spec: own}) | _bundled(size)


@lru_cache(maxsize=_MOST_KEPT)
def _bundled(size: int) -> dict[str, Evaluator]:
    saved = {path.name: open_model(path) for path in pretrained_models()}
    return {name: model.load() for name, model in saved.items() if model.card.board_size == size}


def _at_rank(evaluators: dict[str, Evaluator], rank: int | None) -> dict[str, Evaluator]:
    if rank is None:
        return evaluators
    return {
        name: evaluator.at_rank(rank) if isinstance(evaluator, RankedEvaluator) else evaluator
        for name, evaluator in evaluators.items()
    }


# Engines

_PATIENCE: Final = 5.0  # seconds for a player that was asked to stop; then its process is ended
_SECONDS_BETWEEN_LOOKS: Final = 1.5  # whether all workers are alive
_SILENT_WHEN_RESTING: Final = 2  # looks in a row
_SILENT_WHEN_WORKING: Final = 20  # a library that is being loaded may keep all other threads waiting for a while
MOST_PER_USER: Final = 2  # thoughts at a time: a move, and something to look at


class EngineError(ValueError):
    """A player that cannot do what it is asked for."""


class EngineStopped(EngineError):
    """A worker that ended in the middle of a job."""


class _Worker:
    """One process and the pipe to it."""

    def __init__(self, seconds: float) -> None:
        """Start it; it shows life several times in so many seconds."""
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        self._pipe: Connection = ours
        self._life: c_ulong = context.Value("L", 0, lock=False)
        self._seen = self._silent = 0
        self._used: int | None = None
        arguments = (theirs, self._life, seconds / 4)
        self.process: BaseProcess = context.Process(target=serve, args=arguments, daemon=True, name="katachi-engine")
        self.process.start()
        theirs.close()

    def is_lost(self) -> bool:
        """Whether it is dead, or has been silent for too many looks since it first showed life; this is one."""
        life = self._life.value
        self._silent = self._silent + 1 if 0 < life == self._seen else 0
        self._seen = life
        used, self._used = self._used, self._cpu_time()
        if not self.process.is_alive() or self._silent >= _SILENT_WHEN_WORKING:
            return True
        return self._silent >= _SILENT_WHEN_RESTING and used == self._used is not None

    def _cpu_time(self) -> int | None:
        """How much all of its threads have worked; None if one waits for a core or a disk, or nobody knows."""
        try:
            stats = [file.read_text(errors="replace") for file in Path(f"/proc/{self.process.pid}/task").glob("*/stat")]
        except OSError:
            return None
        threads = [stat.rpartition(")")[2].split() for stat in stats]  # state, …, user and system time
        if not threads or any(thread[0] in "RD" for thread in threads):
            return None
        return sum(int(thread[11]) + int(thread[12]) for thread in threads)

    def ask(self, job: Job, report: Callable[[Any], None]) -> Done:
        """Do a job; blocks, so it is called in a thread. Raises EngineStopped if the process ends."""
        try:
            self._pipe.send(job)
            while isinstance(message := self._pipe.recv(), Report):
                report(message.content)
        except (EOFError, OSError):
            raise EngineStopped(texts.ENGINE_STOPPED.format(how=self._how_it_ended())) from None
        assert isinstance(message, Done)
        return message

    def stop(self) -> None:
        with contextlib.suppress(OSError):
            self._pipe.send(STOP)

    def end(self) -> None:
        self.process.kill()
        self.process.join(_PATIENCE)  # whoever still listens to the pipe learns of its end before it is closed
        self._pipe.close()

    def _how_it_ended(self) -> str:
        self.process.join(1.0)
        code = self.process.exitcode
        if code is not None and code < 0:
            return signal.Signals(-code).name
        return texts.EXIT_STATUS.format(code=code)


@dataclass(eq=False, slots=True)
class _Preparation:
    task: asyncio.Task[None]
    watchers: list[Callable[[Progress], None]] = field(default_factory=list)


class EnginePool:
    """At most so many workers, each with one job at a time; who comes when all are busy waits in line."""

    def __init__(
        self, most: int, *, most_per_user: int = MOST_PER_USER, look_seconds: float = _SECONDS_BETWEEN_LOOKS
    ) -> None:
        self._most_per_user = most_per_user
        self._look_seconds = look_seconds
        self._looking: asyncio.Task[None] | None = None
        self._turns: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()  # of those who have jobs
        self._free = asyncio.Semaphore(most)
        self._free_for_looking = asyncio.Semaphore(max(1, most - 1))
        self._free_for_reviews = asyncio.Semaphore(max(1, most - 2))
        self._idle: list[_Worker] = []
        self._busy: set[_Worker] = set()
        self._preparations: dict[PrepareJob, _Preparation] = {}

    @property
    def pids(self) -> list[int]:
        """The processes of all workers."""
        return [worker.process.pid or 0 for worker in (*self._idle, *self._busy)]

    async def run(self, job: Job, report: Callable[[Any], None] = lambda _: None, *, user: str | None = None) -> Any:
        """The result of a job. Cancelling stops it; raises EngineError if it fails, EngineStopped if the worker dies.

        ``report`` is called in the event loop with what is found on the way. One worker is left for those who play,
        and another one for those who look while reviews are made.
        Of one ``user``, only so many jobs run at a time.
        """
        if user is not None:
            turns = self._turns.setdefault(user, asyncio.Semaphore(self._most_per_user))
            async with turns:
                return await self.run(job, report)
        if isinstance(job, DecideJob | PrepareJob):
            return await self._run(job, report)
        if isinstance(job, ReviewJob):
            async with self._free_for_reviews, self._free_for_looking:
                return await self._run(job, report)
        async with self._free_for_looking:
            return await self._run(job, report)

    async def _run(self, job: Job, report: Callable[[Any], None]) -> Any:
        async with self._free:
            worker = self._take()
            loop = asyncio.get_running_loop()

            def forward(content: Any) -> None:
                loop.call_soon_threadsafe(report, content)

            asking = loop.run_in_executor(None, worker.ask, job, forward)
            try:
                done = await asyncio.shield(asking)
            except asyncio.CancelledError:
                worker.stop()
                await self._settle(asking, worker)
                raise
            except EngineStopped:
                self._drop(worker)
                raise
            self._put_back(worker)
        if done.error is not None:
            raise EngineError(done.error)
        return done.content

    async def _settle(self, asking: asyncio.Future[Done], worker: _Worker) -> None:
        """Wait for a worker that was asked to stop; one that does not is ended."""
        try:
            await asyncio.wait_for(asyncio.shield(asking), _PATIENCE)
            self._put_back(worker)
        except (TimeoutError, EngineStopped, asyncio.CancelledError):
            self._drop(worker)

    async def _look_after_workers(self) -> None:
        """End every worker that is lost; whoever waits for it learns that from its pipe."""
        while True:
            await asyncio.sleep(self._look_seconds)
            lost = [worker for worker in (*self._idle, *self._busy) if worker.is_lost()]
            for worker in lost:
                worker.process.kill()
                if worker in self._idle:
                    self._idle.remove(worker)
                    worker.end()

    def _take(self) -> _Worker:
        if self._looking is None:
            self._looking = asyncio.create_task(self._look_after_workers())
        while self._idle:
            worker = self._idle.pop()
            if worker.process.is_alive():
                break
            worker.end()
        else:
            worker = _Worker(self._look_seconds)
        self._busy.add(worker)
        return worker

    def _put_back(self, worker: _Worker) -> None:
        self._busy.discard(worker)
        self._idle.append(worker)

    def _drop(self, worker: _Worker) -> None:
        self._busy.discard(worker)
        worker.end()

    async def prepare(self, job: PrepareJob, report: Callable[[Progress], None]) -> None:
        """Wait until a worker has done this once, whoever asked first; what goes wrong is for the next job to say."""
        if job not in self._preparations:
            self._preparations[job] = _Preparation(asyncio.create_task(self._prepare(job)))
        preparation = self._preparations[job]
        preparation.watchers.append(report)
        try:
            await asyncio.shield(preparation.task)
        finally:
            preparation.watchers.remove(report)

    async def _prepare(self, job: PrepareJob) -> None:
        def forward(progress: Progress) -> None:
            for watcher in tuple(self._preparations[job].watchers):
                watcher(progress)

        with contextlib.suppress(EngineError):
            await self.run(job, forward)

    def needs(self, job: PrepareJob) -> bool:
        """Whether nobody has waited for this to its end."""
        return job not in self._preparations or not self._preparations[job].task.done()

    def close(self) -> None:
        """End all workers."""
        if self._looking is not None:
            self._looking.cancel()
        for preparation in self._preparations.values():
            preparation.task.cancel()
        for worker in (*self._idle, *self._busy):
            worker.end()
        self._idle, self._busy = [], set()
