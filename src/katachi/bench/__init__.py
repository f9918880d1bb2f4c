"""Speed, measured beside peers in one run.

``katachi bench`` lists and runs what stands in ``BENCHMARKS``: a new benchmark is a function that returns a ``Report``,
and a line here. The functions are given by references, so that the list costs nothing.
"""

from __future__ import annotations

from typing import Final

from katachi.bench.report import Benchmark

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
    "web": Benchmark("katachi.bench.web:run", "how soon a click is a stone when many play at once", ("people",)),
}
