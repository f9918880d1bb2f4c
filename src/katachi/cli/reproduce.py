"""``katachi reproduce``: experiments, with what was published beside ours."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from math import isinf
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from katachi.cli._commands import (
    AllowCommands,
    AsJson,
    Jobs,
    NowAndThen,
    OnBackend,
    OnCluster,
    check_programs,
    count_jobs,
    format_seconds,
    interruptible,
    show_progress,
    wide_console,
)
from katachi.cli.arena import RUNS, print_json
from katachi.core.execution import Backend, use_cluster
from katachi.core.registry import require
from katachi.papers import experiment as experiments

_OPPONENT_OF: Final = re.compile(r"^[\w-]+=")  # what some tables take before a player: whose opponent it is


def reproduce(
    experiment: Annotated[str | None, typer.Argument(help="A paper, such as silver2007, or search.")] = None,
    table: Annotated[str, typer.Option(help="One of its tables or figures, such as figure4.")] = "all",
    everything: Annotated[bool, typer.Option("--all", help="All papers, or all of one, until the time is up.")] = False,
    budget: Annotated[
        experiments.Amount,
        typer.Option(help="Seconds, an hour of two cores, or as much as the paper did; for --all, the time."),
    ] = experiments.Amount.SMOKE,
    runs: Annotated[int | None, typer.Option(min=1, help="Runs of each experiment, instead of the budget's.")] = None,
    jobs: Jobs = 1,
    data: Annotated[
        list[Path] | None,
        typer.Option(metavar="SET", help="Games to learn from, made by katachi data import; some tables take several."),
    ] = None,
    model: Annotated[
        list[str] | None,
        typer.Option(metavar="MODEL", help="What to ask instead of the bundled models; some tables take several."),
    ] = None,
    backend: OnBackend = Backend.LOCAL,
    cluster: OnCluster = None,
    run: Annotated[Path | None, typer.Option(help="Where results are kept; the same folder resumes.")] = None,
    status: Annotated[
        bool, typer.Option("--status", help="Measure nothing: show what was reached and what it takes to do it again.")
    ] = False,
    plan: Annotated[
        bool, typer.Option("--plan", help="Measure nothing: show what --all would measure, and how long it takes.")
    ] = False,
    write_docs: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Measure nothing: write the document there, from the results that there are."),
    ] = None,
    write_cards: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Measure nothing: write ratings into the player files there, from the run."),
    ] = None,
    allow_commands: AllowCommands = False,
    as_json: AsJson = False,
) -> None:
    """Measure what a paper published, or what a part of katachi is worth, and show both side by side.

    Every run is kept as soon as it is through; the same command resumes after an interruption.

    Examples:
      katachi reproduce silver2007
      katachi reproduce silver2007 --status
      katachi reproduce silver2007 --table figure4 --budget full --jobs 2
      katachi reproduce silver2007 --run runs/silver2007 --write-docs docs
      katachi reproduce search --table doubling --budget hour --jobs 2
      katachi reproduce maddison2014 --data runs/games --budget hour
      katachi reproduce maddison2014 --data runs/labeled19 --table outcomes --model runs/policy --model playouts
      katachi reproduce largman2010 --data runs/games --table play --budget hour
      katachi reproduce wu2006 --data runs/labeled9 --data runs/games19 --budget hour
      katachi reproduce search --run runs/search --write-cards src/katachi/players/shipped
      katachi reproduce --all --budget day --plan
    """
    from katachi.papers.documents import write_document
    from katachi.players.specs import player_file

    first, more = (data[0], tuple(data[1:])) if data else (None, ())
    models, workers = tuple(model or ()), experiments.Workers(count_jobs(jobs), anywhere=True)

    def scope(folder: Path, show: experiments.Watcher) -> experiments.Scope:
        given: dict[str, Any] = {"data": first, "more_data": more, "models": models}
        return experiments.Scope(folder, budget.budget, show, runs, workers, **given)

    if everything or plan:
        names = [experiment] if experiment else experiments.experiment_names()
        with use_cluster(Backend.LOCAL if plan else backend, None if plan else cluster, jobs) as count:
            workers = experiments.Workers(count, anywhere=True)
            _reproduce_all(names, budget, run, scope, is_plan=plan, as_json=as_json)
        return
    if experiment is None:
        raise experiments.ExperimentError(f"name one of {', '.join(experiments.experiment_names())}, or give --all")
    wanted = experiments.load_experiment(experiment)
    if status:
        show_status(wanted, run or default_folder(wanted, experiments.Budget.FULL), as_json=as_json)
        return
    if budget in (experiments.Amount.DAY, experiments.Amount.WEEK):
        raise experiments.ExperimentError(f"--budget {budget} is a time for --all: give smoke, hour or full")
    if write_docs is not None:
        typer.echo(f"katachi: {write_document(wanted, run, write_docs)} is written", err=True)
        return
    folder = run or default_folder(wanted, budget.budget)
    if write_cards is not None:
        if wanted.write_cards is None:
            raise experiments.ExperimentError(f"{wanted.name} rates no players")
        rated = wanted.write_cards(experiments.read_results(folder), write_cards)
        typer.echo(f"katachi: rated are {', '.join(rated)}", err=True)
        return
    require(*(module for each in wanted.find(table) for module in each.needs))
    players = (_OPPONENT_OF.sub("", text) for text in models)
    check_programs(allow_commands, *(text for text in players if player_file(text).suffix == ".toml"))
    typer.echo(f"katachi: results are kept in {folder}", err=True)
    kept = interruptible(lambda: f"what was measured is kept in {folder}", "--run", folder)
    with kept, _show_runs() as show, use_cluster(backend, cluster, jobs) as count:
        workers = experiments.Workers(count, anywhere=True)
        results = experiments.measure(wanted, table, scope(folder, show))
    show_rows(wanted, results, as_json=as_json)
    typer.echo(f"katachi: write the report: katachi reproduce {experiment} --run {folder} --write-docs DIR", err=True)


def _reproduce_all(
    names: Iterable[str],
    amount: experiments.Amount,
    run: Path | None,
    scope: Callable[[Path, experiments.Watcher], experiments.Scope],
    *,
    is_plan: bool,
    as_json: bool,
) -> None:
    """Show what there is to measure, and measure it until the time is up."""
    wanted = [experiments.load_experiment(name) for name in names]
    folders = {each.name: run / each.name if run else default_folder(each, amount.budget) for each in wanted}
    steps = experiments.plan_all({each: _known(each, folders[each.name]) for each in wanted}, amount)
    if as_json:
        print_json(
            {"hours": None if isinf(amount.hours) else amount.hours, "steps": [step.to_json() for step in steps]}
        )
    else:
        _show_plan(steps, amount)
    if is_plan:
        return
    with interruptible(lambda: "what was measured is kept"), _show_runs() as show:
        scopes = {name: scope(folder, show) for name, folder in folders.items()}
        for step, why in experiments.measure_all(steps, scopes, amount.hours):
            name = f"{step.experiment.name}/{step.table.name}"
            typer.echo(f"katachi: {name}: {why or f'kept in {folders[step.experiment.name]}'}", err=True)


def _known(experiment: experiments.Experiment, folder: Path) -> dict[str, Any]:
    """What was measured: results that the documents of this checkout are made from, and those of a folder."""
    documents = Path(__file__).parents[3] / "docs" / experiment.name
    return experiments.read_results(documents) | experiments.read_results(folder)


def _show_plan(steps: Iterable[experiments.Step], amount: experiments.Amount) -> None:
    from rich.table import Table

    shown = Table("table", "open figures", "hours", "", title=f"All papers, budget {amount}")
    for step in steps:
        wanting = "all" if step.wanting >= experiments.ALL_OPEN else str(step.wanting)
        state = "done" if step.is_done else "now" if step.fits else "later"
        shown.add_row(f"{step.experiment.name}/{step.table.name}", wanting, _format_hours(step.hours), state)
    wide_console(140).print(shown)


def _format_hours(hours: float | None) -> str:
    return "–" if hours is None else f"{hours:.1f}" if hours >= 0.1 or hours == 0 else "< 0.1"


def show_status(experiment: experiments.Experiment, folder: Path, *, as_json: bool) -> None:
    """What was published, ours, the verdict, and the hours that the table of each figure takes."""
    from rich.table import Table

    from katachi.papers.documents import format_count, format_estimate, format_value

    known = _known(experiment, folder)
    hours = {}
    for each in experiment.tables:
        results = known.get(each.name)
        again = experiments.Budget(results["budget"]) if results else experiments.Budget.FULL
        hours[f"{experiment.name}/{each.name}"] = experiments.hours_of(each, again, results)
    rows = experiment.rows(known)
    missing = [each.name for each in experiment.tables if each.name not in known]
    if as_json:
        values = [row.to_json() | {"hours": hours[row.run]} for row in rows]
        print_json({"paper": experiment.name, "rows": values, "not_measured": missing})
        return
    shown = Table("what", experiment.baseline, "ours (95 %)", "n", "verdict", "hours", title=experiment.title)
    for row in (row for row in rows if row.published is not None):
        ours, published = format_estimate(row.ours, row.interval), format_value(row.published)
        verdict = row.verdict or f"from {row.source}"
        shown.add_row(row.what, published, ours, format_count(row), verdict, _format_hours(hours[row.run]))
    for name in missing:
        shown.add_row(name, "", "", "", "not measured", _format_hours(hours[f"{experiment.name}/{name}"]))
    wide_console(140).print(shown)


def default_folder(experiment: experiments.Experiment, budget: experiments.Budget) -> Path:
    """Where results go if nobody says; the runs of an hour are also the first of all runs."""
    return RUNS / (f"{experiment.name}-smoke" if budget is experiments.Budget.SMOKE else experiment.name)


@contextmanager
def _show_runs() -> Iterator[Callable[[experiments.Progress], None]]:
    """Runs, games/s and the time left on standard error: a bar in a terminal, else a line now and then."""
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn

    columns = (TextColumn("{task.fields[name]}"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"))
    lines = NowAndThen()

    def show(done: experiments.Progress) -> None:
        text = _describe(done)
        if not bars.disable:
            bars.update(task, total=done.all_runs, completed=done.runs, name=done.name, description=text)
        else:
            is_last = done.runs == done.all_runs
            lines.say(lambda: f"{done.name}: {done.runs} of {done.all_runs}, {text}", at_once=is_last)

    with show_progress(*columns) as bars:
        task = bars.add_task("", total=None, name="")
        yield show


def _describe(done: experiments.Progress) -> str:
    """``5,210 games/s, 12 min left``; slow games are counted by the hour."""
    rate = done.games_per_second
    shown = f"{rate:,.0f} {done.unit}/s" if rate >= 1 else f"{3600 * rate:,.0f} {done.unit}/h"
    left = "" if done.seconds_left is None else f", {format_seconds(done.seconds_left)} left"
    return shown + left


def show_rows(experiment: experiments.Experiment, results: Mapping[str, Any], *, as_json: bool) -> None:
    """The rows of what was measured, as a table or as one JSON object."""
    from rich.table import Table

    from katachi.papers.documents import format_count, format_estimate, format_value

    rows = experiment.rows(results)
    if as_json:
        print_json({"paper": experiment.name, "rows": [row.to_json() for row in rows]})
        return
    shown = Table("what", experiment.baseline, "ours (95 %)", "n", "verdict", title=experiment.title)
    for row in rows:
        ours, published = format_estimate(row.ours, row.interval), format_value(row.published)
        shown.add_row(row.what, published, ours, format_count(row), row.verdict or "")
    wide_console(140).print(shown)
