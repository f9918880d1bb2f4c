"""The process that thinks: it takes jobs from a pipe, one after the other, and tells what it finds.

It holds players, which hold no game, so any game can be handed to any worker. It ends when the pipe does.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from multiprocessing.connection import Connection
from queue import SimpleQueue
from threading import Event, Thread
from typing import Any, Final

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


def serve(pipe: Connection) -> None:
    """Do jobs until the pipe closes. What a player raises is told, and the next job is served."""
    jobs: SimpleQueue[Any] = SimpleQueue()
    stop = Event()
    Thread(target=_listen, args=(pipe, jobs, stop), daemon=True).start()
    while True:
        job = jobs.get()
        try:
            pipe.send(Done(job.run(_PipeReporter(pipe), stop)))
        except Exception as error:  # noqa: BLE001 - whatever a player does must not end the worker
            pipe.send(Done(error=str(error) if _is_ours(error) else f"{type(error).__name__}: {error}"))


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


class _PipeReporter:
    """Reports through the pipe, not too often."""

    def __init__(self, pipe: Connection) -> None:
        self._pipe = pipe
        self._last = time.monotonic()

    @property
    def is_due(self) -> bool:
        return time.monotonic() - self._last >= _SECONDS_BETWEEN_REPORTS

    def __call__(self, content: object) -> None:
        self._last = time.monotonic()
        self._pipe.send(Report(content))


def _is_ours(error: Exception) -> bool:
    return type(error).__module__.split(".")[0] == "katachi"
