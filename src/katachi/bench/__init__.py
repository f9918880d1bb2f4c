"""Speed, measured beside peers in one run.

``katachi bench`` lists and runs what stands in ``BENCHMARKS``: a new benchmark is a function that returns a ``Report``,
and a line here. The functions are given by references, so that the list costs nothing.

Contestants take turns in several rounds, so that a noisy machine disturbs all of them alike. The rate of each is that
of its best round: whatever else the machine does can only slow a round down.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import time
from collections.abc import Callable, Sequence
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any, Final, NamedTuple


class Benchmark(NamedTuple):
    """Something to measure: ``run``, a reference to a function of seconds and rounds, and of these options."""

    run: str  # "package.module:name"
    help: str
    options: tuple[str, ...] = ()


_ENGINE: Final = ("player", "busy")

BENCHMARKS: Final = {
    "playouts": Benchmark("katachi.bench.search:run_playouts_bench", "playouts per second"),
    "mcts": Benchmark("katachi.bench.search:run_mcts", "simulations of the tree search per second"),
    "td": Benchmark("katachi.bench.shapes:run_td", "games of self-play learned from per second"),
    "shapes": Benchmark("katachi.bench.shapes:run_shapes", "moves that shapes evaluate per second"),
    "crbm": Benchmark("katachi.bench.shapes:run_crbm", "moves that CRBM features evaluate per second"),
    "planes": Benchmark("katachi.bench.search:run_planes", "positions encoded as planes per second"),
    "inference": Benchmark(
        "katachi.bench.networks:run_inference",
        "positions that networks evaluate per second",
        ("models", "data", "positions"),
    ),
    "training": Benchmark("katachi.bench.networks:run_training", "positions that networks learn from per second"),
    "territory": Benchmark("katachi.bench.networks:run_territory", "the same of the territory network, beside torch"),
    "clock": Benchmark("katachi.bench.engines:run_clock", "losses of an engine on time", _ENGINE),
    "latency": Benchmark("katachi.bench.engines:run_latency", "how soon an engine stops", _ENGINE),
    "memory": Benchmark("katachi.bench.engines:run_memory", "how much memory an engine holds", _ENGINE),
    "start": Benchmark("katachi.bench.start:run", "how soon commands answer, cold and warm", ("rows",)),
    "web": Benchmark(
        "katachi.bench.web:run",
        "how soon a click is a stone when many play at once",
        ("people", "reviews", "abandoned"),
    ),
}


class Contestant(NamedTuple):
    """Something that does ``count`` units of work in ``run(size, count, seed)``. ``weight`` scales its count."""

    name: str
    threads: int
    run: Callable[[int, int, int], Any]
    weight: float = 1.0


class Row(NamedTuple):
    """The measured rate of one contestant on one board size, in units per second."""

    name: str
    size: int
    threads: int
    unit: str
    rate: float


class Target(NamedTuple):
    """A ratio of two rates that we want to reach."""

    text: str
    size: int
    ratio: float
    at_least: float


class Report(NamedTuple):
    bench: str
    rows: list[Row]
    targets: list[Target]
    notes: list[str]

    def to_json(self) -> dict[str, Any]:
        """The rows alone, as ``--json`` prints them."""
        return {"bench": self.bench, "rows": [row._asdict() for row in self.rows]}


def measure(contestants: Sequence[Contestant], size: int, unit: str, counts: int, rounds: int) -> list[Row]:
    """Let the contestants take turns; ``counts`` is what one of weight 1 does in a round."""
    rates: dict[tuple[str, int], list[float]] = {(c.name, c.threads): [] for c in contestants}
    for seed in range(rounds):
        for contestant in contestants:
            count = max(1, round(counts * contestant.weight)) * contestant.threads
            start = time.perf_counter()
            contestant.run(size, count, seed)
            rates[contestant.name, contestant.threads].append(count / (time.perf_counter() - start))
    return [Row(name, size, threads, unit, max(found)) for (name, threads), found in rates.items()]


# Twins in the repository's folder ``benchmarks``, beside which our kernels are measured: the same algorithms in C++,
# compiled with ``g++ -O3 -march=native``, or in torch.

_OPTIONS = ("-O3", "-march=native", "-ffp-contract=off", "-std=c++17", "-shared", "-fPIC")


class BenchmarkError(RuntimeError):
    """A benchmark whose numbers would not mean what they say."""


def load_twin(name: str, folder: Path, notes: list[str]) -> ctypes.CDLL | None:
    """Compile ``benchmarks/NAME.cpp`` into a folder and load it, or note why not. Its calls let go of the GIL."""
    source = find_source(f"{name}.cpp")
    compiler = shutil.which("g++")
    if source is None or compiler is None:
        why = "its source is in the repository alone" if source is None else "there is no g++"
        notes.append(f"cpp is left out: {why}")
        return None
    library = folder / f"{name}.so"
    subprocess.run([compiler, *_OPTIONS, "-o", str(library), str(source)], check=True)
    return ctypes.CDLL(str(library))


def import_twin(name: str) -> ModuleType | None:
    """Import ``benchmarks/NAME.py``; None if it is not found."""
    source = find_source(f"{name}.py")
    spec = None if source is None else spec_from_file_location(name, source)
    if spec is None or spec.loader is None:
        return None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def find_source(file: str) -> Path | None:
    """The source of a twin, if katachi runs from its repository or inside it."""
    places = (Path.cwd(), *Path.cwd().parents, *Path(__file__).parents)
    sources = (place / "benchmarks" / file for place in places)
    return next((source for source in sources if source.is_file()), None)
