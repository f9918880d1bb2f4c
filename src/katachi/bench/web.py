"""How soon a stone is on the board: many people play at once at ``katachi serve``, each through a websocket.

The time is that from a click, as the browser sends it, to the message that draws the stone. Clicks go to points that
are always legal: empty ones beside an empty one.
"""

from __future__ import annotations

import asyncio
import html
import json
import random
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import TemporaryDirectory
from typing import Any, Final
from urllib.parse import urlsplit
from uuid import uuid4

import numpy as np

from katachi.bench import BenchmarkError, Report, Row, Target

PEOPLE: Final = 20
WANTED: Final = 0.1  # seconds, at the 95th centile
SIZE: Final = 19
_PLAYER: Final = "alp"
_PATIENCE: Final = 30.0  # seconds for anything; what takes longer is an error
_SECONDS_TO_START: Final = 300.0


def run(seconds: float = 0.4, rounds: int = 15, *, people: int = PEOPLE) -> Report:
    """Let people play ``rounds`` moves each, with a pause of about ``seconds`` between them."""
    with _running_server() as url:
        found = asyncio.run(_play_all(url, people, rounds, seconds))
    times = [took for one in found for took in one.times]
    if not times:
        raise BenchmarkError("no stone came to the board")
    values = {"median": np.median(times), "p95": np.quantile(times, 0.95), "longest": max(times)}
    rows = [_row(f"click to stone, {what}", "ms", 1000 * float(value)) for what, value in values.items()]
    counts = {"people": people, "stones": len(times), "errors": sum(one.errors for one in found)}
    rows += [_row(what, "", float(count)) for what, count in counts.items()]
    target = Target(f"{WANTED:g} s / p95 of {people} people", SIZE, WANTED / float(values["p95"]), 1.0)
    return Report("web", rows, [target], [f"everybody against {_PLAYER}"])


def _row(name: str, unit: str, value: float) -> Row:
    return Row(name, SIZE, 1, unit, value)


@contextmanager
def _running_server() -> Iterator[str]:
    """A server of its own; what is yielded is the address with the token."""
    with TemporaryDirectory() as data:
        command = [sys.executable, "-m", "katachi", "serve", "--no-open", "--port", "0", "--data", data]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            try:
                line = process.stdout.readline() if process.stdout else ""
                if "http" not in line:
                    raise BenchmarkError("the server did not start; katachi serve says why")
                yield line.split()[-1]
            finally:
                process.terminate()


async def _play_all(url: str, people: int, rounds: int, pause: float) -> list[_Person]:
    everybody = [_Person(url, number) for number in range(people)]
    try:
        await asyncio.gather(*(person.arrive() for person in everybody))
        await asyncio.gather(*(person.play(rounds, pause) for person in everybody))
    finally:
        await asyncio.gather(*(person.leave() for person in everybody))
    return everybody


class _Person:
    """Somebody with a browser, as far as the server can tell."""

    def __init__(self, url: str, seed: int) -> None:
        import httpx
        from socketio import AsyncClient

        parts = urlsplit(url)
        self._entrance = url
        self._base = f"{parts.scheme}://{parts.netloc}"
        self._random = random.Random(seed)
        self._http = httpx.AsyncClient(base_url=self._base, follow_redirects=True, timeout=_SECONDS_TO_START)
        self._socket = AsyncClient(reconnection=False)
        self._socket.on("update", self._take)
        self._changed = asyncio.Event()
        self._stones = ""
        self._is_my_turn = False
        self.times: list[float] = []
        self.errors = 0

    async def arrive(self) -> None:
        """Come in and begin a game."""
        await self._http.get(self._entrance)
        await self._begin()

    async def _begin(self) -> None:
        """Begin a game and connect to its page."""
        page = (await self._http.post(f"/new?player={_PLAYER}&size={SIZE}")).text
        query = json.loads(_find(r"query: (\{.*?\}),", page).replace("'", '"').replace("True", "true"))
        elements = json.loads(html.unescape(_find(r"String\.raw`(.*?)`", page)))
        self._board = next(key for key, element in elements.items() if "stones" in element.get("props", {}))
        events = elements[self._board]["events"]
        self._listener = next(event["listener_id"] for event in events if event["type"] == "point")
        self._client = query["client_id"]
        self._stones, self._is_my_turn = elements[self._board]["props"]["stones"], True
        asked = {**query, "implicit_handshake": "true", "tab_id": uuid4(), "document_id": uuid4()}
        cookies = "; ".join(f"{name}={value}" for name, value in self._http.cookies.items())
        await self._socket.connect(
            f"{self._base}?" + "&".join(f"{key}={value}" for key, value in asked.items()),
            headers={"Cookie": cookies, "Origin": self._base},
            transports=["websocket"],
            socketio_path="/_nicegui_ws/socket.io",
        )

    def _take(self, message: dict[str, Any]) -> None:
        """What the server draws anew."""
        board = message.get(self._board)
        if board is not None:
            self._stones = board["props"]["stones"]
            self._is_my_turn = board["props"]["ghost"] == "black"
            self._changed.set()

    async def play(self, rounds: int, pause: float) -> None:
        """Click, see the stone, let the opponent answer, wait a little, and again; on a full board begin another."""
        for _ in range(rounds):
            try:
                await asyncio.sleep(pause * self._random.uniform(0.5, 1.5))
                if not _free_points(self._stones):
                    await self._socket.disconnect()
                    await self._begin()
                point = self._random.choice(_free_points(self._stones))
                began = time.perf_counter()
                await self._click(point)
                await self._wait(lambda point=point: self._stones[point] == "X")
                self.times.append(time.perf_counter() - began)
                await self._wait(lambda: self._is_my_turn)
            except TimeoutError:
                self.errors += 1

    async def _click(self, point: int) -> None:
        message = {"id": int(self._board), "client_id": self._client, "listener_id": self._listener}
        await self._socket.emit("event", {**message, "args": [json.dumps(point)]})

    async def _wait(self, condition: Any) -> None:
        async with asyncio.timeout(_PATIENCE):
            while not condition():
                self._changed.clear()
                await self._changed.wait()

    async def leave(self) -> None:
        await self._socket.disconnect()
        await self._http.aclose()


def _find(pattern: str, text: str) -> str:
    found = re.search(pattern, text, re.DOTALL)
    if found is None:
        raise BenchmarkError("this page is not built as the benchmark knows it")
    return found[1]


def _free_points(stones: str) -> list[int]:
    """Empty points beside an empty point: neither suicide nor ko forbids them."""
    empty = {point for point, stone in enumerate(stones) if stone == "."}
    return [
        point
        for point in empty
        if (point + SIZE in empty) or (point - SIZE in empty) or (point % SIZE < SIZE - 1 and point + 1 in empty)
    ]
