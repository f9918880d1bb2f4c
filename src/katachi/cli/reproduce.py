"""``katachi reproduce``: experiments, with what was published beside ours."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from katachi.cli._options import AsJson
from katachi.papers.experiment import Backend, Budget, Scope, Workers, load_experiment, measure


def reproduce(
    experiment: Annotated[str, typer.Argument(help="A paper, such as silver2007, or search.")],
    table: Annotated[str, typer.Option(help="One of its tables or figures, such as figure4.")] = "all",
    budget: Annotated[
        Budget, typer.Option(help="Seconds, an hour of two cores, or as much as the paper did.")
    ] = Budget.SMOKE,
    runs: Annotated[int | None, typer.Option(min=1, help="Runs of each experiment, instead of the budget's.")] = None,
    jobs: Annotated[int, typer.Option(min=1, help="How many runs at a time.")] = 1,
    data: Annotated[
        list[Path] | None,
        typer.Option(metavar="SET", help="Games to learn from, made by katachi data import; wu2006 takes several."),
    ] = None,
    backend: Annotated[Backend, typer.Option(help="Processes of this machine, or a Ray cluster.")] = Backend.LOKY,
    run: Annotated[Path | None, typer.Option(help="Where results are kept; the same folder goes on.")] = None,
    write_docs: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Measure nothing: write the document there, from the results that there are."),
    ] = None,
    write_cards: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Measure nothing: write ratings into the player files there, from the run."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Measure what a paper published, or what a part of katachi is worth, and show both side by side.

    Every run is kept as soon as it is through; the same command goes on after an interruption.

    Examples:
      katachi reproduce silver2007
      katachi reproduce silver2007 --table figure4 --budget full --jobs 2
      katachi reproduce silver2007 --run runs/silver2007 --write-docs docs
      katachi reproduce search --table doubling --budget hour --jobs 2
      katachi reproduce maddison2014 --data runs/games --budget hour
      katachi reproduce largman2010 --data runs/games --table play --budget hour
      katachi reproduce wu2006 --data runs/labeled9 --data runs/games19 --budget hour
      katachi reproduce search --run runs/search --write-cards src/katachi/players/shipped
    """
    from katachi.cli._reproducing import RunProgress, default_folder, show_rows, write_ratings
    from katachi.papers.documents import write_document

    wanted = load_experiment(experiment)
    if write_docs is not None:
        typer.echo(f"katachi: {write_document(wanted, run, write_docs)} is written", err=True)
        return
    folder = run or default_folder(wanted, budget)
    if write_cards is not None:
        typer.echo(f"katachi: rated are {', '.join(write_ratings(wanted, folder, write_cards))}", err=True)
        return
    typer.echo(f"katachi: results are kept in {folder}", err=True)
    with RunProgress() as progress:
        first, more = (data[0], tuple(data[1:])) if data else (None, ())
        scope = Scope(folder, budget, progress.show, runs, Workers(jobs, backend), data=first, more_data=more)
        results = measure(wanted, table, scope)
    show_rows(wanted, results, as_json=as_json)
