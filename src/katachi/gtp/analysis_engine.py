"""Any player as an engine of KataGo's analysis protocol: JSON queries in, JSON answers out, a line each.

One position is analyzed at a time, since players use all cores by themselves: of those that wait, one of the highest
priority, the earliest of these. Lines are read on a thread of their own, so that a query can come, or be terminated,
at any time. Every turn that a query asks for ends with exactly one answer that is not ``isDuringSearch``, or an
error.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from itertools import count
from threading import Condition, Event, Lock, Thread
from typing import Any, BinaryIO, Final

from katachi.core.contracts import Player
from katachi.gtp.analysis_answers import Answer, describe_analysis, describe_nothing
from katachi.gtp.analysis_queries import Defaults, Query, QueryError, parse_query
from katachi.gtp.commands.admin import engine_version
from katachi.gtp.protocol import Line
from katachi.gtp.serving import describe_error, read_lines, write_all
from katachi.players.asking import describe_models, find_evaluator, watch_analyses

MAX_LINE: Final = 1 << 22  # bytes

Send = Callable[[Answer], None]


@dataclass(order=True, slots=True)
class Task:
    """A turn of a query that is to be analyzed."""

    order: tuple[int, int]  # what comes first is least
    query: Query = field(compare=False)
    turn: int = field(compare=False)
    stop: Event = field(default_factory=Event, compare=False)

    def is_meant(self, query_id: str | None, turns: Iterable[int] | None) -> bool:
        """Whether somebody who terminates these turns of that query means this task; None means all."""
        return query_id in (None, self.query.id) and (turns is None or self.turn in turns)


class TaskQueue:
    """The tasks that wait, and the one at work."""

    def __init__(self) -> None:
        self._waiting: list[Task] = []
        self._current: Task | None = None
        self._is_closed = False
        self._changed = Condition()
        self._numbers = count()

    def add(self, query: Query) -> None:
        """Let every turn of a query wait."""
        with self._changed:
            for turn, priority in query.turns.items():
                heappush(self._waiting, Task((-priority, next(self._numbers)), query, turn))
            self._changed.notify()

    def take(self) -> Task | None:
        """Wait for the next task; None when the queue is closed and empty."""
        with self._changed:
            self._current = None
            while not self._waiting and not self._is_closed:
                self._changed.wait()
            self._current = heappop(self._waiting) if self._waiting else None
            return self._current

    def terminate(self, query_id: str | None = None, turns: Iterable[int] | None = None) -> list[Task]:
        """Stop the task at work if it is meant; give back those that were still waiting, in their order."""
        with self._changed:
            if self._current is not None and self._current.is_meant(query_id, turns):
                self._current.stop.set()
            meant = sorted(task for task in self._waiting if task.is_meant(query_id, turns))
            self._waiting = [task for task in self._waiting if not task.is_meant(query_id, turns)]
            heapify(self._waiting)
            return meant

    def close(self) -> None:
        """Nothing more will be added."""
        with self._changed:
            self._is_closed = True
            self._changed.notify()


class AnalysisEngine:
    """Serves two streams. ``defaults`` hold where a query does not say how long to look, and whose numbers to tell."""

    def __init__(self, player: Player, defaults: Defaults | None = None) -> None:
        self._player = player
        self._defaults = defaults or Defaults()

    def serve(self, stdin: BinaryIO, stdout: BinaryIO, *, waits: bool = True) -> None:
        """Answer until the input has ended and, if it ``waits``, everything is analyzed; or Ctrl-C, or nobody reads."""
        queue, lock = TaskQueue(), Lock()

        def send(answer: Answer) -> None:
            with lock:
                write_all(stdout, json.dumps(answer, sort_keys=True, separators=(",", ":")).encode() + b"\n")

        Thread(target=self._read, args=(stdin, queue, send, waits), name="analysis-input", daemon=True).start()
        try:
            while (task := queue.take()) is not None:
                self._analyze(task, send)
        except (KeyboardInterrupt, BrokenPipeError):
            return

    def _read(self, stdin: BinaryIO, queue: TaskQueue, send: Send, waits: bool) -> None:
        try:
            for line in read_lines(stdin, MAX_LINE):
                if line.content.strip():
                    self.answer(line, queue, send)
        except BrokenPipeError:
            queue.terminate()
        if not waits:
            queue.terminate()
        queue.close()

    def answer(self, line: Line, queue: TaskQueue, send: Send) -> None:
        """Obey a line: put its query into the queue, or act at once. Whatever it holds, nothing is raised."""
        try:
            given = _read_object(line)
            if "action" in given:
                self._act(given, queue, send)
                return
            query = parse_query(line.content, self._defaults)
        except QueryError as error:
            send(_describe_query_error(error, line))
            return
        for message, name in query.warnings:
            send({"warning": message, "field": name, "id": query.id})
        queue.add(query)

    def _act(self, given: dict[str, Any], queue: TaskQueue, send: Send) -> None:
        action = given["action"]
        if action == "query_version":
            send(given | {"version": engine_version(), "git_hash": "<omitted>"})
        elif action == "query_models":
            send(given | {"models": describe_models(self._player)})
        elif action == "clear_cache":
            send(given)  # a player that keeps something between moves keeps it by position: nothing can be stale
        elif action in ("terminate", "terminate_all"):
            query_id = _read_terminated(given) if action == "terminate" else None
            dropped = queue.terminate(query_id, _read_turns(given))
            send(given)
            for task in dropped:
                send(describe_nothing(task.query, task.turn))
        else:
            known = "query_version, query_models, clear_cache, terminate or terminate_all"
            raise QueryError(f"'action' field must be {known}", "action")

    def _analyze(self, task: Task, send: Send) -> None:
        try:
            self._report(task, send)
        except BrokenPipeError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever goes wrong with one position must not end the others
            send({"error": describe_error(error), "id": task.query.id, "turnNumber": task.turn})

    def _report(self, task: Task, send: Send) -> None:
        query, game = task.query, task.query.position(task.turn)
        evaluator = find_evaluator(self._player)
        interval = float("inf") if query.report_every is None else query.report_every
        due, last = time.monotonic() + interval, None
        for last in watch_analyses(self._player, game.copy(), query.limit, task.stop, query.bans):
            if time.monotonic() >= due and not task.stop.is_set():
                send(describe_analysis(query, task.turn, game, last, evaluator, is_during_search=True))
                due = time.monotonic() + interval
        if last is None:
            send(describe_nothing(query, task.turn))
        else:
            send(describe_analysis(query, task.turn, game, last, evaluator, is_during_search=False))


# Lines


def _read_object(line: Line) -> dict[str, Any]:
    """The JSON object of a line, with its id; raises QueryError."""
    if line.too_long:
        raise QueryError(f"Input line is longer than {MAX_LINE} bytes", "")
    try:
        given = json.loads(line.content, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise QueryError(f"Could not parse input line as json: {error}", "") from None
    if not isinstance(given, dict):
        raise QueryError("Input line is no json object", "")
    if not isinstance(given.get("id"), str):
        raise QueryError("Request must have a string 'id'", "id")
    return given


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no number")


def _describe_query_error(error: QueryError, line: Line) -> Answer:
    """The error with its field and the id of the query, if there are such."""
    answer: Answer = {"error": str(error)}
    if error.field_name:
        answer["field"] = error.field_name
    try:
        given = json.loads(line.content)
    except (ValueError, RecursionError):
        return answer
    known = isinstance(given, dict) and isinstance(given.get("id"), str)
    return answer | {"id": given["id"]} if known else answer


def _read_terminated(given: dict[str, Any]) -> str:
    query_id = given.get("terminateId")
    if not isinstance(query_id, str):
        raise QueryError("Must be a string", "terminateId")
    return query_id


def _read_turns(given: dict[str, Any]) -> list[int] | None:
    turns = given.get("turnNumbers")
    if turns is None or (isinstance(turns, list) and all(type(turn) is int for turn in turns)):
        return turns
    raise QueryError("Must be a list of turns", "turnNumbers")
