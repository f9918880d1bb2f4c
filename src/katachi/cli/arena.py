"""``katachi match`` and ``katachi tournament``: games between players, their score and ratings with intervals."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from katachi.cli import _commands as common
from katachi.core.execution import Backend, use_cluster

if TYPE_CHECKING:
    from katachi.arena.ratings import Standings
    from katachi.arena.settings import TournamentSettings

RUNS: Final = Path("runs")


def match(
    a: Annotated[str, typer.Argument(help=f"The first player: {common.PLAYER}.", metavar="A", show_default=False)],
    b: Annotated[str, typer.Argument(help="The second player.", metavar="B", show_default=False)],
    games: common.GameCount = 100,
    size: common.BoardSize = None,
    komi: common.Komi = None,
    rules: common.RulesName = "katachi",
    seconds: common.Seconds = None,
    simulations: common.Simulations = None,
    seed: common.Seed = 0,
    random_plies: common.RandomPlies = 2,
    from_line: common.FromLine = 1,
    book: Annotated[Path | None, typer.Option(help="Game records to begin from, instead of random moves.")] = None,
    book_plies: Annotated[int | None, typer.Option(help="Moves to take from each line of the book.")] = None,
    max_moves: common.MostMoves = None,
    jobs: common.Jobs = 1,
    backend: common.OnBackend = Backend.LOCAL,
    cluster: common.OnCluster = None,
    referee: common.Referee = "estimate",
    check_referee: Annotated[str | None, typer.Option(help="A second referee; disagreements are reported.")] = None,
    exclude_duplicates: Annotated[bool, typer.Option(help="Count a repeated game once.")] = False,
    lose_on_time: Annotated[bool, typer.Option(help="Taking longer than the limit loses the game.")] = False,
    sprt: Annotated[
        tuple[float, float] | None,
        common.number(-2000, 2000, "Stop when it is clear which of two Elo differences is true."),
    ] = None,
    run: common.RunFolder = None,
    allow_commands: common.AllowCommands = False,
    as_json: common.AsJson = False,
) -> None:
    """Let two players play a match.

    Colors alternate, and every opening is played with both. All games are kept in the run folder (by default a folder
    in runs/ that is named after the match). The same command resumes a match that was interrupted.

    Examples:
      katachi match alp random --games 100 --size 9
      katachi match alp "gtp:gnugo --mode gtp --level 0 --chinese-rules --seed {seed}" --games 40 --jobs 2
      katachi match alp influence --games 200 --random-plies 4 --exclude-duplicates --json
      katachi match expert-9 policy-9 --games 200 --from-line 3
      katachi match new.toml old.toml --games 5000 --sprt 0 30
      katachi match new.toml old.toml --games 5000 --backend ray --cluster head:6379 --jobs 0
      katachi match "policy-19 evaluator.rank=9" "policy-19 evaluator.rank=1" --games 20
    """
    from katachi.arena.settings import parse_settings
    from katachi.players.specs import choose_size

    common.check_programs(allow_commands, a, b)
    first, second = name_players(a, b)
    openings = {
        "random_plies": random_plies,
        "from_line": from_line,
        "book": str(book) if book else None,
        "book_plies": book_plies,
    }
    values = {
        "players": {first: a, second: b},
        "games": games,
        "size": choose_size((a, b), size),
        "komi": komi,
        "rules": rules,
        "seed": seed,
        "max_moves": max_moves,
        "referee": referee,
        "check_referee": check_referee,
        "limit": {"seconds": seconds, "simulations": simulations, "lose_on_time": lose_on_time},
        "openings": openings,
        "sprt": {"elo0": sprt[0], "elo1": sprt[1]} if sprt else None,
        "report": {"exclude_duplicates": exclude_duplicates},
    }
    settings = parse_settings(values)
    directory = run or default_run(f"match-{first}-{second}", settings)
    with common.interruptible(partial(count_kept, directory), "--run", directory):
        standings = play_and_watch(settings, directory, jobs, backend, cluster)
    if as_json:
        print_json(match_json(a, b, standings) | {"run": str(directory)})
    else:
        show_report(standings)
        common.name_next_step(f"katachi analyze {directory / 'games'}")


def match_json(a: str, b: str, standings: Standings) -> dict[str, Any]:
    """The result as ``a`` sees it."""
    pair, values = standings.pairs[0], standings.to_json()
    score, elo = pair.score, {rating.player: rating.rating for rating in standings.ratings.ratings}
    first, second = elo[pair.first], elo[pair.second]
    return {
        "a": a,
        "b": b,
        "games": score.games,
        "wins_a": score.wins,
        "wins_b": score.losses,
        "draws": score.draws,
        "duplicates": pair.duplicates,
        "win_rate_a": score.rate,
        "interval_a": list(score.interval),
        "played": pair.played,
        "with_black": asdict(pair.with_black),
        "with_white": asdict(pair.with_white),
        "elo_a": None if first is None or second is None else first - second,  # one side won all: unknown
        "incidents": values["incidents"],
        "sprt": values["sprt"],
        "notes": values["notes"],
        "checked": standings.checks.games,
        "disagreements": values["disagreements"],
    }


def tournament(
    file: Annotated[Path, typer.Argument(help="The tournament file.", metavar="FILE", show_default=False)],
    run: common.RunFolder = None,
    jobs: Annotated[
        int | None,
        common.number(0, 10_000, "How many games at the same time; without it, as the file says.", "--jobs", "-j"),
    ] = None,
    backend: common.OnBackend = Backend.LOCAL,
    cluster: common.OnCluster = None,
    html: Annotated[Path | None, typer.Option(help="Write the report as a page, too.")] = None,
    markdown: Annotated[Path | None, typer.Option(help="Write the report as Markdown, too.")] = None,
    title: Annotated[str | None, typer.Option(help="What the report is called.")] = None,
    dry_run: Annotated[bool, typer.Option(help="Show all settings and play nothing.")] = False,
    allow_commands: common.AllowCommands = False,
    as_json: common.AsJson = False,
) -> None:
    """Let many players play each other, and rate them.

    The file names the players and says how they play; examples/tournament.toml explains every setting. All games are
    kept in the run folder (by default one in runs/ that is named after the file). The same command resumes a
    tournament that was interrupted; --run shows a finished one again.

    Examples:
      katachi tournament examples/tournament.toml
      katachi tournament examples/tournament.toml --jobs 2 --run runs/mine --json
      katachi tournament examples/tournament.toml --markdown ratings.md --html ratings.html
      katachi tournament examples/tournament.toml --backend dask --cluster tcp://head:8786 --jobs 0
      katachi tournament examples/tournament.toml --dry-run
    """
    from katachi.arena.records import pairings
    from katachi.arena.report import format_html, format_markdown
    from katachi.arena.settings import read_settings
    from katachi.arena.tournament import check_players
    from katachi.core.disk import write_atomically
    from katachi.players.specs import choose_size

    settings = read_settings(file)
    common.check_tournament(allow_commands, file, settings)
    if "size" not in settings.model_fields_set:
        settings = settings.model_copy(update={"size": choose_size(list(settings.players.values()))})
    directory = run or default_run(file.stem, settings)
    if dry_run:
        check_players(settings)
        settings = settings.model_copy(update={"jobs": jobs} if jobs else {})
        typer.echo(f"# {len(pairings(settings))} pairs, {settings.games} games each, to be kept in {directory}")
        typer.echo(settings.resolved().to_toml(), nl=False)
        return
    with common.interruptible(partial(count_kept, directory), "--run", directory):
        standings = play_and_watch(settings, directory, settings.jobs if jobs is None else jobs, backend, cluster)
    title = title or file.stem
    if html:
        write_atomically(html, format_html(standings, title))
    if markdown:
        write_atomically(markdown, format_markdown(standings, title))
    if as_json:
        print_json(standings.to_json() | {"run": str(directory)})
    else:
        show_report(standings)
        common.name_next_step(
            f"open {html or directory / 'report.html'} in a browser, or katachi analyze {directory / 'games'}"
        )


# What both share, and others that play games: where a run goes, who is called what, and how it is shown.


def default_run(name: str, settings: TournamentSettings) -> Path:
    """The run of these settings that is not finished, or a new one."""
    from katachi.arena.records import find_directory, unfinished_directory

    readable = re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-")[:60]
    return unfinished_directory(find_directory(RUNS / f"{readable}-{settings.digest()[:8]}", settings))


def name_players(a: str, b: str) -> tuple[str, str]:
    """Short names for two players, not the same even if the players are."""
    first, second = _short_name(a), _short_name(b)
    return (first, second) if first != second else (f"{first} 1", f"{second} 2")


def _short_name(text: str) -> str:
    from katachi.arena.settings import GTP_PREFIX
    from katachi.players.specs import find_spec

    return find_spec(text).name or Path(text.removeprefix(GTP_PREFIX).split()[0]).name


def play_and_watch(
    settings: TournamentSettings,
    directory: Path,
    jobs: int,
    backend: Backend = Backend.LOCAL,
    cluster: str | None = None,
) -> Standings:
    """Play with a progress display, and say on standard error where the games are kept."""
    from katachi.arena import tournament
    from katachi.arena.report import TournamentProgress

    for note in tournament.check_players(settings):
        typer.echo(f"katachi: {note}", err=True)
    typer.echo(f"katachi: games are kept in {directory}", err=True)
    with use_cluster(backend, cluster, jobs) as count:
        settings = settings.model_copy(update={"jobs": count})
        with TournamentProgress(settings) as progress:
            return tournament.play_tournament(settings, directory, progress.add)


def count_kept(directory: Path) -> str:
    """What is kept of a run that was interrupted."""
    from katachi.arena.records import games_kept

    return f"{games_kept(directory)} games are kept in {directory}"


def show_report(standings: Standings) -> None:
    """The tables on standard output."""
    from katachi.arena.report import print_report

    print_report(standings, common.wide_console(160))


def print_json(values: Mapping[str, Any]) -> None:
    """One object on standard output, and nothing else there."""
    sys.stdout.write(json.dumps(values, ensure_ascii=False) + "\n")
