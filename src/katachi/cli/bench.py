"""``katachi bench``: speed, beside peers."""

from __future__ import annotations

import json
from enum import StrEnum
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from katachi.cli._options import AsJson


class Bench(StrEnum):
    """What can be measured."""

    PLAYOUTS = "playouts"
    MCTS = "mcts"
    TD = "td"
    SHAPES = "shapes"
    CRBM = "crbm"
    PLANES = "planes"
    INFERENCE = "inference"
    TRAINING = "training"
    TERRITORY = "territory"
    CLOCK = "clock"
    LATENCY = "latency"
    MEMORY = "memory"
    WEB = "web"


_RUNS: Final = {
    Bench.PLAYOUTS: "katachi.bench.search:run_playouts_bench",
    Bench.MCTS: "katachi.bench.search:run_mcts",
    Bench.TD: "katachi.bench.shapes:run_td",
    Bench.SHAPES: "katachi.bench.shapes:run_shapes",
    Bench.CRBM: "katachi.bench.shapes:run_crbm",
    Bench.PLANES: "katachi.bench.search:run_planes",
    Bench.INFERENCE: "katachi.bench.networks:run_inference",
    Bench.TRAINING: "katachi.bench.networks:run_training",
    Bench.TERRITORY: "katachi.bench.networks:run_territory",
    Bench.CLOCK: "katachi.bench.engines:run_clock",
    Bench.LATENCY: "katachi.bench.engines:run_latency",
    Bench.MEMORY: "katachi.bench.engines:run_memory",
    Bench.WEB: "katachi.bench.web:run",
}
_ENGINES = (Bench.CLOCK, Bench.LATENCY, Bench.MEMORY)
_MANY = 100  # units a second, of which parts are not worth showing


def bench(
    what: Annotated[Bench, typer.Argument(help="What to measure.")] = Bench.PLAYOUTS,
    seconds: Annotated[
        float, typer.Option(min=0.001, max=60, help="Seconds a round of one contestant, an analysis or a move lasts.")
    ] = 0.4,
    rounds: Annotated[int, typer.Option(min=1, max=10_000, help="Rounds, of which the best counts, or games.")] = 15,
    player: Annotated[
        str | None, typer.Option(help="Who is measured by clock, latency and memory: a shipped name or a TOML file.")
    ] = None,
    busy: Annotated[
        int | None, typer.Option(min=0, max=1000, help="How many processes keep the cores busy meanwhile, in these.")
    ] = None,
    people: Annotated[int | None, typer.Option(min=1, max=1000, help="How many play at once, in web.")] = None,
    models: Annotated[
        list[str] | None,
        typer.Option("--model", help="A network that inference measures: a shipped name or a folder; may be repeated."),
    ] = None,
    data: Annotated[
        Path | None, typer.Option(metavar="SET", help="Games of which inference foretells moves, in floats and int8.")
    ] = None,
    positions: Annotated[int, typer.Option(min=1, help="Positions of its test games that are foretold.")] = 20_000,
    as_json: AsJson = False,
) -> None:
    """Measure speed beside peers, in one run: the contestants take turns, and the best of their rounds counts.

    Run it in the repository to see the C++ twin too, and with katachi[bench] installed to see OpenSpiel. Clock, latency
    and memory measure an engine as its controller sees it: losses on time, how soon it stops, and how much it holds.
    Web measures how soon a click is a stone when many play at once.

    Examples:
      katachi bench playouts
      katachi bench playouts --seconds 1 --rounds 31
      katachi bench mcts
      katachi bench td --json
      katachi bench shapes
      katachi bench crbm
      katachi bench planes
      katachi bench inference --model runs/cnn/model
      katachi bench inference --data runs/games --positions 20000
      katachi bench training --rounds 5
      katachi bench territory
      katachi bench clock --seconds 1 --rounds 300 --busy 2
      katachi bench latency --player my_player.toml
      katachi bench memory --rounds 40
      katachi bench web --people 20 --seconds 1 --rounds 300
    """
    options: dict[str, Any] = {name: value for name, value in (("player", player), ("busy", busy)) if value is not None}
    if options and what not in _ENGINES:
        raise typer.BadParameter(f"{what.value} measures no engine", param_hint=f"--{next(iter(options))}")
    if (models or data) and what is not Bench.INFERENCE:
        raise typer.BadParameter(f"{what.value} measures no networks", param_hint="--model" if models else "--data")
    if people is not None and what is not Bench.WEB:
        raise typer.BadParameter(f"{what.value} measures no people", param_hint="--people")
    options |= ({"models": models} if models else {}) | ({"people": people} if people is not None else {})
    options |= {"data": data, "positions": positions} if data else {}
    module, _, run = _RUNS[what].partition(":")
    report = getattr(import_module(module), run)(seconds=seconds, rounds=rounds, **options)
    for note in report.notes:
        typer.echo(f"katachi: {note}", err=True)
    if as_json:
        typer.echo(json.dumps(report.to_json()))
    else:
        _print_tables(report)


def _print_tables(report: Any) -> None:
    from rich.console import Console
    from rich.table import Table

    rates = Table("what", "size", "threads", "rate", title=report.bench)
    for row in report.rows:
        rate = f"{row.rate:,.0f}" if abs(row.rate) >= _MANY else f"{row.rate:,.2f}"
        rates.add_row(row.name, f"{row.size}×{row.size}", str(row.threads), f"{rate} {row.unit}")
    targets = Table("ratio", "size", "measured", "wanted", "reached", title="bars")
    for bar in report.targets:
        reached = "yes" if bar.ratio >= bar.at_least else "no"
        targets.add_row(bar.text, f"{bar.size}×{bar.size}", f"{bar.ratio:.2f}", f"≥ {bar.at_least:g}", reached)
    Console().print(rates, targets)
