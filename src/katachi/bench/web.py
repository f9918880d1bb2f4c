"""How soon a stone is on the board: many people play at once at ``katachi serve``, each through a websocket.

The time is that from a click, as the browser sends it, to the message that draws the stone. Clicks go to points that
are always legal: empty ones beside an empty one. Others may have games reviewed meanwhile. Then some leave tables where
a strong player has just started to think, and one more person wants an answer.
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
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from tempfile import TemporaryDirectory
from typing import Any, Final
from urllib.parse import urlsplit
from uuid import uuid4

import numpy as np

from katachi.bench import BenchmarkError, Report, Row, Target
from katachi.core.contracts import Limit
from katachi.go.game import Game
from katachi.players.specs import load_player
from katachi.sgf import SgfGame, format_sgf, game_to_tree

PEOPLE: Final = 20
WANTED: Final = 0.1  # seconds, at the 95th centile
DELAY: Final = 1.0  # seconds, by tables that were left
MEMORY: Final = 600.0  # megabytes
SIZE: Final = 19
MOVES: Final = 200  # of the game that is reviewed
_PLAYER: Final = "alp"
_PUPIL: Final = "level-6"
_STRONG: Final = "strong-19"  # who thinks for seconds
_ANSWERS: Final = 5
_REVIEW, _REVIEW_AGAIN = "Review the game", "Review again"  # as the button says
_PATIENCE: Final = 30.0  # seconds for anything; what takes longer is an error
_SECONDS_TO_START: Final = 300.0


def run(
    seconds: float = 0.4, rounds: int = 15, *, people: int = PEOPLE, reviews: int = 0, abandoned: int = 0
) -> Report:
    """Let people play ``rounds`` moves each, with a pause of about ``seconds`` between them."""
    record = _make_record() if reviews else ""
    with _running_server() as (url, pid):
        found, reviewed = asyncio.run(_play_all(url, people, rounds, seconds, [record] * reviews))
        delay = asyncio.run(_leave_tables(url, abandoned)) if abandoned else 0.0
        memory = {"server": _megabytes("-p", pid), "engines": _megabytes("--ppid", pid)}
    times = [took for one in found for took in one.times]
    if not times:
        raise BenchmarkError("no stone came to the board")
    values = {"median": np.median(times), "p95": np.quantile(times, 0.95), "longest": max(times)}
    rows = [_row(f"click to stone, {what}", "ms", 1000 * float(value)) for what, value in values.items()]
    counts = {"people": people, "stones": len(times), "errors": sum(one.errors for one in found)}
    rows += [_row(what, "", float(count)) for what, count in counts.items()]
    rows += [_row(f"memory, {what}", "MB", used) for what, used in memory.items()]
    for number, (first, whole) in enumerate(sorted(reviewed, key=lambda took: took[1]), 1):
        rows += [_row(f"review {number}, graph", "s", first), _row(f"review {number}, all", "s", whole)]
    ratios = {f"{WANTED:g} s / p95 of {people} people": WANTED / float(values["p95"])}
    ratios[f"{MEMORY:g} MB / memory of the server"] = MEMORY / memory["server"]
    if abandoned:
        rows.append(_row(f"delay of an answer by {abandoned} tables that were left", "s", delay))
        ratios[f"{DELAY:g} s / that delay"] = DELAY / max(delay, 1e-3)
    targets = [Target(what, SIZE, ratio, 1.0) for what, ratio in ratios.items()]
    return Report("web", rows, targets, [f"everybody against {_PLAYER}"])


def _make_record() -> str:
    """A game as people play, by a network, to be reviewed."""
    player, game = load_player(_PUPIL, seed=1, size=SIZE), Game(SIZE)
    while len(game.moves) < MOVES and not game.is_over:
        game.play(player.decide(game, Limit()).move)
    return format_sgf(SgfGame(game_to_tree(game)))


def _megabytes(whose: str, pid: int) -> float:
    shown = subprocess.run(["ps", "-o", "rss=", whose, str(pid)], check=False, capture_output=True, text=True)
    return sum(map(int, shown.stdout.split())) / 1000


def _row(name: str, unit: str, value: float) -> Row:
    return Row(name, SIZE, 1, unit, value)


@contextmanager
def _running_server() -> Iterator[tuple[str, int]]:
    """A server of its own; what is yielded is the address with the token, and its process."""
    with TemporaryDirectory() as data:
        command = [sys.executable, "-m", "katachi", "serve", "--no-open", "--port", "0", "--data", data]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            try:
                line = process.stdout.readline() if process.stdout else ""
                if "http" not in line:
                    raise BenchmarkError("the server did not start; katachi serve says why")
                yield line.split()[-1], process.pid
            finally:
                process.terminate()


async def _play_all(
    url: str, people: int, rounds: int, pause: float, records: list[str]
) -> tuple[list[_Person], list[tuple[float, float]]]:
    """Let people play and records be reviewed: until each review had a graph, and was made."""
    everybody = [_Person(url, number) for number in range(people)]
    reviewers = [_Reviewer(url, number) for number in range(len(records))]
    try:
        await asyncio.gather(*(person.arrive() for person in everybody))
        reviewing = asyncio.gather(*(one.review(record) for one, record in zip(reviewers, records, strict=True)))
        await asyncio.gather(*(person.play(rounds, pause) for person in everybody))
        return everybody, await reviewing
    finally:
        await asyncio.gather(*(person.leave() for person in (*everybody, *reviewers)))


async def _leave_tables(url: str, tables: int) -> float:
    """How much longer an answer takes when others have just left tables where somebody thinks."""
    patient, others = _Person(url, tables), [_Person(url, number, _STRONG) for number in range(tables)]
    await asyncio.gather(*(person.arrive() for person in (patient, *others)))
    await patient.play(_ANSWERS, 0.0)
    usual = float(np.median(patient.answers))
    await asyncio.gather(*(person.put(SIZE * SIZE // 2) for person in others))
    await asyncio.gather(*(person.leave() for person in others))
    await patient.play(_ANSWERS, 0.0)
    await patient.leave()
    return max(patient.answers[_ANSWERS:], default=_PATIENCE) - usual


class _Person:
    """Somebody with a browser, as far as the server can tell."""

    def __init__(self, url: str, seed: int, opponent: str = _PLAYER) -> None:
        import httpx
        from socketio import AsyncClient

        parts = urlsplit(url)
        self._entrance, self._opponent = url, opponent
        self._base = f"{parts.scheme}://{parts.netloc}"
        self._random = random.Random(seed)
        self._http = httpx.AsyncClient(base_url=self._base, follow_redirects=True, timeout=_SECONDS_TO_START)
        self._socket = AsyncClient(reconnection=False)
        self._socket.on("update", self._take)
        self._changed = asyncio.Event()
        self._stones = ""
        self._is_my_turn = False
        self.times: list[float] = []
        self.answers: list[float] = []
        self.errors = 0

    async def arrive(self) -> None:
        """Come in and begin a game."""
        await self._http.get(self._entrance)
        await self._begin()

    async def _begin(self) -> None:
        """Begin a game and connect to its page."""
        await self._connect((await self._http.post(f"/new?player={self._opponent}&size={SIZE}")).text)

    async def _connect(self, page: str) -> None:
        query = json.loads(_find(r"query: (\{.*?\}),", page).replace("'", '"').replace("True", "true"))
        elements = json.loads(html.unescape(_find(r"String\.raw`(.*?)`", page)))
        self._elements: dict[str, Any] = elements
        self._board = self._find_element(lambda props: "stones" in props)
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
                await self.put(point)
                self.times.append(time.perf_counter() - began)
                await self._wait(lambda: self._is_my_turn)
                self.answers.append(time.perf_counter() - began)
            except TimeoutError:
                self.errors += 1

    async def put(self, point: int) -> None:
        """Click on a point, and see the stone."""
        await self._send(self._board, "point", point)
        await self._wait(lambda: self._stones[point] == "X")

    def _find_element(self, has: Callable[[dict[str, Any]], bool]) -> str:
        return next(key for key, element in self._elements.items() if has(element.get("props", {})))

    async def _send(self, element: str, kind: str, *arguments: object) -> None:
        """What the browser sends when something happens to an element."""
        events = self._elements[element]["events"]
        listener = next(event["listener_id"] for event in events if event["type"] == kind)
        message = {"id": int(element), "client_id": self._client, "listener_id": listener}
        await self._socket.emit("event", {**message, "args": [json.dumps(one) for one in arguments]})

    async def _wait(self, condition: Callable[[], bool], seconds: float = _PATIENCE) -> None:
        async with asyncio.timeout(seconds):
            while not condition():
                self._changed.clear()
                await self._changed.wait()

    async def leave(self) -> None:
        await self._socket.disconnect()
        await self._http.aclose()


class _Reviewer(_Person):
    """Somebody who has a game reviewed."""

    async def review(self, record: str) -> tuple[float, float]:
        """Open a record, and have it reviewed: how long the graph takes, and all of it."""
        await self._http.get(self._entrance)
        path = (await self._http.post("/fetched", content=record.encode())).text
        await self._connect((await self._http.get(path)).text)
        graph = self._find_element(lambda props: "wins" in props)
        button = self._find_element(lambda props: props.get("label") == _REVIEW)
        began = time.perf_counter()
        await self._send(button, "click")
        await self._wait(lambda: any(self._elements[graph]["props"]["wins"]), float("inf"))
        first = time.perf_counter() - began
        await self._wait(lambda: self._elements[button]["props"]["label"] == _REVIEW_AGAIN, float("inf"))
        await self._wait(lambda: "hidden" not in self._elements[button].get("class", []), float("inf"))
        return first, time.perf_counter() - began

    def _take(self, message: dict[str, Any]) -> None:
        self._elements |= {key: one for key, one in message.items() if one is not None}
        self._changed.set()


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
