"""``katachi serve`` whose engines are not ready before a file is there: ``KATACHI_TEST_GATE`` names it."""

from __future__ import annotations

import ctypes
import os
import time
from dataclasses import dataclass
from pathlib import Path
from threading import Event

from katachi.cli import main
from katachi.web import sessions
from katachi.web.engines import PrepareJob, Progress, Reporter

GATE = "KATACHI_TEST_GATE"


class HeldJob(PrepareJob):
    """As if something were compiled until the gate is open."""

    def run(self, report: Reporter, stop: Event) -> None:
        while not Path(os.environ[GATE]).exists():
            report(Progress(0.25))
            time.sleep(0.05)
        PrepareJob.run(self, report, stop)


def serve() -> None:
    sessions.PrepareJob = HeldJob
    main()


class HungJob(PrepareJob):
    """As if a library waited for something that never comes, and let no thread of Python run meanwhile."""

    def run(self, report: Reporter, stop: Event) -> None:
        report(Progress(0.25))
        ctypes.PyDLL(None).sleep(600)


@dataclass(frozen=True)
class LookingJob:
    """A job that looks at something until it is stopped."""

    def run(self, report, stop) -> str:
        report("begun")
        stop.wait(60)
        return "seen"
