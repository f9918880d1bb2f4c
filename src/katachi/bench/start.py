"""How soon commands answer: with nothing compiled (*cold*), and with all that they need on disk (*warm*).

Each command runs as a process of its own, as a user starts it, with a cache of its own. The wall time is that to the
answer; the processor time is that of the process until it has ended, which it is asked to do then, with its children.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from http.cookiejar import CookieJar
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple
from urllib.request import HTTPCookieProcessor, build_opener

from katachi.bench import BenchmarkError, Report, Row
from katachi.core.training import METRICS
from katachi.players.specs import bundled_players

SIZE: Final = 9
_POLL_SECONDS: Final = 0.01
_PATIENCE: Final = 600.0  # seconds for anything; what takes longer is an error


class RowError(ValueError):
    """A row that is not measured here."""


class Times(NamedTuple):
    """Seconds to the answer, seconds of processors to the end, and what else is part of the row's name."""

    wall: float
    cpu: float
    note: str = ""


class Place(NamedTuple):
    """Where a command runs: what it writes is here, kernels in a folder that stays for the next one."""

    cache: Path
    folder: Path


Measure = Callable[[Place], Times]


class Case(NamedTuple):
    """Something to wait for; ``fill`` compiles all that it needs where it does not do so by itself."""

    measure: Measure
    fill: Measure | None = None


def run(seconds: float = 0.4, rounds: int = 1, *, rows: Sequence[str] = ()) -> Report:  # noqa: ARG001 (once is enough)
    """Measure each case, or those named, once cold and once warm; ``seconds`` and ``rounds`` change nothing."""
    found: list[Row] = []
    for name, case in _choose(rows).items():
        with TemporaryDirectory() as cache:
            for state, times in _measure(case, Path(cache)):
                label = f"{name}{times.note}, {state}"
                found += [Row(f"{label}, wall", SIZE, 1, "seconds", times.wall)]
                found += [Row(f"{label}, cpu", SIZE, 1, "seconds", times.cpu)]
    return Report("start", found, [], [])


def _choose(rows: Sequence[str]) -> Mapping[str, Case]:
    for name in rows:
        if name not in CASES:
            raise RowError(f"there is no row {name!r}; known are {', '.join(CASES)}")
    return {name: CASES[name] for name in rows or CASES}


def _measure(case: Case, cache: Path) -> Iterator[tuple[str, Times]]:
    yield "cold", _run_in(case.measure, cache)
    if case.fill is not None:
        _run_in(case.fill, cache)
    yield "warm", _run_in(case.measure, cache)


def _run_in(measure: Measure, cache: Path) -> Times:
    with TemporaryDirectory() as folder:
        return measure(Place(cache, Path(folder)))


# Processes


@contextmanager
def _started(place: Place, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(place.cache)}
    command = [sys.executable, "-m", "katachi", *arguments]
    streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, env=environment, **streams) as process:  # type: ignore[call-overload]
        try:
            yield process
        finally:
            process.kill()


def _cpu_of_children() -> float:
    import resource  # there is none on Windows

    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _time(place: Place, arguments: Sequence[str], wait: Callable[[subprocess.Popen[bytes]], None]) -> Times:
    """Start a command, wait for its answer and for its end."""
    cpu, start = _cpu_of_children(), time.perf_counter()
    with _started(place, *arguments) as process:
        wait(process)
        wall = time.perf_counter() - start
        if process.stdin is not None:
            process.stdin.close()
        process.wait(_PATIENCE)
    return Times(wall, _cpu_of_children() - cpu)


def _time_command(*arguments: str) -> Measure:
    """A command that is done when it ends."""

    def wait(process: subprocess.Popen[bytes]) -> None:
        process.communicate(timeout=_PATIENCE)
        if process.returncode:
            raise BenchmarkError(f"katachi {' '.join(arguments)} ends with status {process.returncode}")

    return lambda place: _time(place, arguments, wait)


def _ask(process: subprocess.Popen[bytes], *commands: str) -> None:
    """Say GTP commands, and wait for the answer to the last."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("".join(f"{command}\n" for command in commands).encode())
    process.stdin.flush()
    answers = 0
    while answers < len(commands):
        line = process.stdout.readline()
        if not line or line.startswith(b"?"):
            raise BenchmarkError(f"the engine answers {line.decode()!r}")
        answers += line.startswith(b"=")


def _first_answer(player: str, place: Place) -> Times:
    return _time(place, ["gtp", player], lambda process: _ask(process, "name"))


def _first_move(player: str, place: Place) -> Times:
    return _time(place, ["gtp", player], lambda process: _ask(process, f"boardsize {SIZE}", "genmove b"))


def _slowest_answer(place: Place) -> Times:
    """The first answer of that bundled player which takes longest."""
    times = {player.name: _first_answer(player.name, place) for player in bundled_players()}
    name, slowest = max(times.items(), key=lambda item: item[1].cpu)
    return slowest._replace(note=f" ({name})")


def _first_page(place: Place) -> Times:
    def wait(process: subprocess.Popen[bytes]) -> None:
        assert process.stdout is not None
        address = process.stdout.readline().decode().split()
        if not address:
            raise BenchmarkError("the server did not start; katachi serve says why")
        with build_opener(HTTPCookieProcessor(CookieJar())).open(address[-1], timeout=_PATIENCE) as page:
            page.read()
        process.terminate()

    return _time(place, ["serve", "--no-open", "--port", "0", "--data", str(place.folder)], wait)


def _first_point(place: Place) -> Times:
    """The first point of a learning curve."""
    curve = place.folder / "run" / METRICS

    def wait(process: subprocess.Popen[bytes]) -> None:
        while process.poll() is None and not (curve.is_file() and curve.stat().st_size):
            time.sleep(_POLL_SECONDS)
        process.terminate()

    return _time(place, ["train", "shapes", "--size", "5", "--run", str(place.folder / "run")], wait)


def _gtp_cases(player: str) -> dict[str, Case]:
    move = partial(_first_move, player)
    return {
        f"gtp {player}: first answer": Case(partial(_first_answer, player), move),
        f"gtp {player}: first move": Case(move),
    }


CASES: Final[Mapping[str, Case]] = {
    "--help": Case(_time_command("--help")),
    "doctor": Case(_time_command("doctor")),
    **_gtp_cases("alp"),
    **_gtp_cases("strong-9"),
    "gtp: slowest first answer": Case(_slowest_answer),
    "serve: first page": Case(_first_page),
    "train shapes: first point": Case(_first_point),
    "match": Case(_time_command("match", "alp", "random", "--games", "2", "--size", "5")),
    "warmup": Case(_time_command("warmup")),
}
