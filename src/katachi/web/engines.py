"""Engines: a bounded number of worker processes that think for all tables, so that no board waits for a thought.

A worker that dies takes no game with it: whoever waited for it gets EngineStopped with what happened, and the next
job starts another one.
"""

from __future__ import annotations

import asyncio
import contextlib
import multiprocessing
import signal
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any, Final

from katachi.web import texts
from katachi.web.engine_worker import STOP, Done, Report, serve
from katachi.web.jobs import DecideJob, Job

_PATIENCE: Final = 5.0  # seconds for a player that was told to stop; then its process is ended


class EngineError(ValueError):
    """A player that cannot do what it is asked for."""


class EngineStopped(EngineError):
    """A worker that ended in the middle of a job."""


class _Worker:
    """One process and the pipe to it."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        self._pipe: Connection = ours
        self.process: BaseProcess = context.Process(target=serve, args=(theirs,), daemon=True, name="katachi-engine")
        self.process.start()
        theirs.close()

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


class EnginePool:
    """At most so many workers, each with one job at a time; who comes when all are busy waits in line."""

    def __init__(self, most: int) -> None:
        self._free = asyncio.Semaphore(most)
        self._free_for_looking = asyncio.Semaphore(max(1, most - 1))
        self._idle: list[_Worker] = []
        self._busy: set[_Worker] = set()

    @property
    def pids(self) -> list[int]:
        """The processes of all workers."""
        return [worker.process.pid or 0 for worker in (*self._idle, *self._busy)]

    async def run(self, job: Job, report: Callable[[Any], None] = lambda _: None) -> Any:
        """The result of a job. Cancelling stops it; raises EngineError if it fails, EngineStopped if the worker dies.

        ``report`` is called in the event loop with what is found on the way. One worker is left for those who play.
        """
        if isinstance(job, DecideJob):
            return await self._run(job, report)
        async with self._free_for_looking:
            return await self._run(job, report)

    async def _run(self, job: Job, report: Callable[[Any], None]) -> Any:
        async with self._free:
            worker = self._take()
            loop = asyncio.get_running_loop()

            def tell(content: Any) -> None:
                loop.call_soon_threadsafe(report, content)

            asking = loop.run_in_executor(None, worker.ask, job, tell)
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
        """Wait for a worker that was told to stop; one that does not is ended."""
        try:
            await asyncio.wait_for(asyncio.shield(asking), _PATIENCE)
            self._put_back(worker)
        except (TimeoutError, EngineStopped, asyncio.CancelledError):
            self._drop(worker)

    def _take(self) -> _Worker:
        while self._idle:
            worker = self._idle.pop()
            if worker.process.is_alive():
                break
            worker.end()
        else:
            worker = _Worker()
        self._busy.add(worker)
        return worker

    def _put_back(self, worker: _Worker) -> None:
        self._busy.discard(worker)
        self._idle.append(worker)

    def _drop(self, worker: _Worker) -> None:
        self._busy.discard(worker)
        worker.end()

    def close(self) -> None:
        """End all workers."""
        for worker in (*self._idle, *self._busy):
            worker.end()
        self._idle, self._busy = [], set()
