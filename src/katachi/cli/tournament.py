"""``katachi tournament``: many players from a file, with ratings."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from katachi.cli._options import AsJson


def tournament(
    file: Annotated[Path, typer.Argument(help="The tournament file.", metavar="FILE", show_default=False)],
    run: Annotated[Path | None, typer.Option(help="Keep the games here; the same folder goes on.")] = None,
    jobs: Annotated[int | None, typer.Option(help="Games that are played at the same time.", min=1)] = None,
    html: Annotated[Path | None, typer.Option(help="Write the report as a page, too.")] = None,
    markdown: Annotated[Path | None, typer.Option(help="Write the report as Markdown, too.")] = None,
    title: Annotated[str | None, typer.Option(help="What the report is called.")] = None,
    dry_run: Annotated[bool, typer.Option(help="Show all settings and play nothing.")] = False,
    as_json: AsJson = False,
) -> None:
    """Let many players play each other, and rate them.

    The file names the players and says how they play; examples/tournament.toml explains every setting. All games are
    kept in the run folder (by default one in runs/ that is named after the file). A tournament that was interrupted
    goes on when the same command is given again; --run shows a finished one again.

    Examples:
      katachi tournament examples/tournament.toml
      katachi tournament examples/tournament.toml --jobs 2 --run runs/mine --json
      katachi tournament examples/tournament.toml --markdown ratings.md --html ratings.html
      katachi tournament examples/tournament.toml --dry-run
    """
    from katachi.arena.records import pairings
    from katachi.arena.report import format_html, format_markdown
    from katachi.arena.settings import read_settings
    from katachi.arena.tournament import check_players
    from katachi.cli._arena import default_run, play_and_watch, print_json, show_report
    from katachi.core.disk import write_atomically

    settings = read_settings(file)
    if jobs is not None:
        settings = settings.model_copy(update={"jobs": jobs})
    directory = run or default_run(file.stem, settings)
    if dry_run:
        check_players(settings)
        typer.echo(f"# {len(pairings(settings))} pairs, {settings.games} games each, to be kept in {directory}")
        typer.echo(settings.resolved().to_toml(), nl=False)
        return
    standings = play_and_watch(settings, directory)
    title = title or file.stem
    if html:
        write_atomically(html, format_html(standings, title))
    if markdown:
        write_atomically(markdown, format_markdown(standings, title))
    if as_json:
        print_json(standings.to_json() | {"run": str(directory)})
    else:
        show_report(standings)
