"""``katachi bench``: speed, beside peers."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from katachi.bench import BENCHMARKS
from katachi.cli._commands import (
    MANY,
    PLAYER,
    AllowCommands,
    AsJson,
    DataFolder,
    check_programs,
    interruptible,
    number,
)
from katachi.core.registry import resolve, suggest

_MANY = 100  # units per second, of which parts are not worth showing


def _known(name: str) -> str:
    if name not in BENCHMARKS:
        raise typer.BadParameter(f"there is no {name}; {suggest(name, BENCHMARKS)}")
    return name


def bench(
    what: Annotated[
        str,
        typer.Argument(
            help="What to measure: " + "; ".join(f"{name}, {one.help}" for name, one in BENCHMARKS.items()) + ".",
            callback=_known,
            autocompletion=lambda incomplete: [name for name in BENCHMARKS if name.startswith(incomplete)],
        ),
    ] = "playouts",
    seconds: Annotated[
        float, number(0.001, 60, "Seconds a round of one contestant, an analysis or a move lasts.")
    ] = 0.4,
    rounds: Annotated[int, number(1, 10_000, "Rounds, of which the best counts, or games.")] = 15,
    player: Annotated[
        str | None, typer.Option(metavar="PLAYER", help=f"Who is measured by clock, latency and memory: {PLAYER}.")
    ] = None,
    busy: Annotated[int | None, number(0, 1000, "How many processes keep the cores busy meanwhile, in these.")] = None,
    people: Annotated[int | None, number(1, 1000, "How many play at once, in web.")] = None,
    reviews: Annotated[int | None, number(0, 1000, "How many have games reviewed meanwhile, in web.")] = None,
    abandoned: Annotated[int | None, number(0, 1000, "How many leave a table where somebody thinks, in web.")] = None,
    models: Annotated[
        list[str] | None,
        typer.Option("--model", help="A network that inference measures: a bundled name or a folder; may be repeated."),
    ] = None,
    data: DataFolder = None,
    positions: Annotated[
        int | None, number(1, MANY, "Positions of its test games that are predicted; 20,000 without it.")
    ] = None,
    rows: Annotated[
        list[str] | None, typer.Option("--row", help="A row that start measures, such as --help; may be repeated.")
    ] = None,
    allow_commands: AllowCommands = False,
    as_json: AsJson = False,
) -> None:
    """Measure speed beside peers, in one run: the contestants take turns, and the best of their rounds counts.

    Run it in the repository to see the C++ twin too, and with katachi[bench] installed to see OpenSpiel. Clock, latency
    and memory measure an engine as its controller sees it.

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
      katachi bench start --row "gtp strong-9: first answer"
      katachi bench web --people 20 --seconds 1 --rounds 300
      katachi bench web --reviews 2 --abandoned 10
    """
    given: dict[str, Any] = {"player": player, "busy": busy, "people": people, "models": models}
    given |= {"reviews": reviews, "abandoned": abandoned, "data": data, "positions": positions, "rows": rows}
    options = {name: value for name, value in given.items() if value is not None}
    for name in options:
        if name not in BENCHMARKS[what].options:
            singular = {"models": "model", "rows": "row"}
            raise typer.BadParameter(f"{what} has no such option", param_hint=f"--{singular.get(name, name)}")
    check_programs(allow_commands, player)
    with interruptible(lambda: "nothing was measured to the end, and nothing is kept", then="repeat"):
        report = resolve(BENCHMARKS[what].run)(seconds=seconds, rounds=rounds, **options)
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
    targets = Table("ratio", "size", "measured", "wanted", "reached", title="targets")
    for target in report.targets:
        reached = "yes" if target.ratio >= target.at_least else "no"
        targets.add_row(
            target.text, f"{target.size}×{target.size}", f"{target.ratio:.2f}", f"≥ {target.at_least:g}", reached
        )
    Console().print(rates, *([targets] if report.targets else []))
