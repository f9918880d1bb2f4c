"""Ctrl-C in long commands: a line about what is kept, the command that resumes, exit code 130, nothing lost.

Every command runs as a process group of its own, as in a terminal, and gets the signal once it shows a sign of progress.
"""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import pytest
from helpers.random_records import random_collection

from katachi.data.importing import import_games

LONG = 300  # seconds until a test gives up on a sign of progress

TINY_SHAPES = ["--size", "5", "--set", "test_games=2", "--set", "sets=['LI 2x2']"]


class Stopped(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def resume(self) -> list[str]:
        """The arguments of the command that it names."""
        words = shlex.split(self.err.splitlines()[-1].partition(": to resume: ")[2])
        assert words[0] == "katachi"
        return words[1:]


def start(*arguments: str, folder: Path) -> subprocess.Popen[str]:
    restore = lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)  # noqa: E731 — what runs in the background ignores it
    with (folder / "out").open("w") as out, (folder / "err").open("w") as err:
        return subprocess.Popen(
            [sys.executable, "-m", "katachi", *arguments],
            stdout=out,
            stderr=err,
            cwd=folder,
            text=True,
            start_new_session=True,
            preexec_fn=restore,  # noqa: PLW1509
        )


def interrupt(*arguments: str, folder: Path, sign: str) -> Stopped:
    """Run a command until a file of this pattern, or a line with this text on standard error, is there; then Ctrl-C."""
    process = start(*arguments, folder=folder)
    until = time.monotonic() + LONG
    while not any(folder.glob(sign)) and sign not in (folder / "err").read_text():
        assert process.poll() is None, (folder / "err").read_text()
        assert time.monotonic() < until
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGINT)
    code = process.wait(LONG)
    stopped = Stopped(code, (folder / "out").read_text(), (folder / "err").read_text())
    assert "Traceback" not in stopped.err
    assert stopped.code == 130, stopped.err
    return stopped


def run(*arguments: str, folder: Path) -> Stopped:
    code = start(*arguments, folder=folder).wait(LONG)
    return Stopped(code, (folder / "out").read_text(), (folder / "err").read_text())
