"""A server of its own, and a browser."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from helpers.web_pages import wait_until_live


class RunningServer:
    """``katachi serve`` as a process, which can be stopped and started again."""

    def __init__(self, data: Path, katachi: Sequence[str] = ("-m", "katachi"), **variables: str) -> None:
        self._data = data
        self._katachi = katachi
        self._environment = {**os.environ, **variables}
        self.log = data.with_name(f"{data.name}.log")
        self.port = 0
        self.start()

    def start(self) -> None:
        command = [sys.executable, *self._katachi, "serve", "--no-open", "--port", str(self.port)]
        with self.log.open("a") as log:
            self._process = subprocess.Popen(
                [*command, "--data", str(self._data)],
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                env=self._environment,
            )
        line = self._process.stdout.readline()
        assert "http" in line, "the server did not start"
        self.url = line.split()[-1]
        self.port = urlsplit(self.url).port

    def stop(self) -> None:
        """Kill it, as a power cut would."""
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()
        self._process.stdout.close()

    def engines(self) -> list[int]:
        """The processes that think for it."""
        children = Path(f"/proc/{self._process.pid}/task/{self._process.pid}/children").read_text().split()
        return [int(pid) for pid in children if b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()]

    def files(self) -> dict[Path, bytes]:
        """All that it keeps on disk; not what is just being written."""
        found = {}
        for path in self._data.rglob("*"):
            with suppress(FileNotFoundError, IsADirectoryError):
                found[path] = path.read_bytes()
        return found

    def at(self, path: str) -> str:
        return f"http://127.0.0.1:{self.port}{path}"


@pytest.fixture(scope="session")
def server(tmp_path_factory) -> Iterator[RunningServer]:
    running = RunningServer(tmp_path_factory.mktemp("web"))
    yield running
    running.stop()


@pytest.fixture(scope="module")
def browser(chromium):
    """Debian's chromium. Its driver runs an event loop, beside which tests of other modules could have none."""
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture
def visit(server, browser) -> Iterator[Callable]:
    """A page as another person opens it; what goes wrong in the browser fails the test."""
    contexts, faults = [], []

    def open_page(path: str = "/", **options):
        context = browser.new_context(**options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(150_000)
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("dialog", lambda dialog: (faults.append(f"dialog {dialog.message}"), dialog.dismiss()))
        page.goto(server.url)
        if path != "/":
            page.goto(server.at(path))
        wait_until_live(page)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert faults == []
