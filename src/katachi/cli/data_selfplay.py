"""``katachi data selfplay``: games of two players as one collection of records."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from katachi.cli._options import AsJson, BoardSize, GameCount, Komi, MostMoves, Referee, RulesName, Seconds, Simulations


def selfplay(
    a: Annotated[str, typer.Argument(help="A player.", metavar="A", show_default=False)],
    b: Annotated[str, typer.Argument(help="Its opponent, which may be the same.", metavar="B", show_default=False)],
    out: Annotated[Path, typer.Option("--out", "-o", help="The SGF file for the games.", dir_okay=False)],
    games: GameCount = 100,
    size: BoardSize = 9,
    komi: Komi = None,
    rules: RulesName = "katachi",
    seconds: Seconds = None,
    simulations: Simulations = None,
    seed: Annotated[int, typer.Option(help="The same seed plays the same games.")] = 0,
    random_plies: Annotated[int, typer.Option(help="Random moves that begin each game.")] = 2,
    max_moves: MostMoves = None,
    jobs: Annotated[int, typer.Option("--jobs", "-j", help="Games that are played at the same time.")] = 1,
    referee: Referee = "estimate",
    as_json: AsJson = False,
) -> None:
    """Let two players play games to learn from, and write them as one collection.

    Colors alternate, and every game begins otherwise. Games are kept in a folder beside the file, with the times and
    the score; the file comes when all are played. A command that was interrupted goes on when it is given again.

    Examples:
      katachi data selfplay alp influence --games 200 --out games.sgf
      katachi data selfplay alp "gtp:gnugo --mode gtp --level 0 --seed {seed}" --games 1000 --jobs 2 --out games.sgf
    """
    from katachi.arena.records import write_collection
    from katachi.arena.settings import RunError, parse_settings
    from katachi.cli._arena import name_players, play_and_watch, print_json

    run = out.with_name(f"{out.name}.run")
    if out.exists() and not run.exists():
        raise RunError(f"{out} exists already: give another name")
    first, second = name_players(a, b)
    values = {
        "players": {first: a, second: b},
        "games": games,
        "size": size,
        "komi": komi,
        "rules": rules,
        "seed": seed,
        "max_moves": max_moves,
        "jobs": jobs,
        "referee": referee,
        "limit": {"seconds": seconds, "simulations": simulations},
        "openings": {"random_plies": random_plies, "paired": False},
    }
    standings = play_and_watch(parse_settings(values), run)
    written = write_collection(run, out)
    pair = standings.pairs[0]
    wins = {first: pair.score.wins, second: pair.score.losses}
    if as_json:
        report = {"file": str(out), "games": written, "wins": wins, "draws": pair.score.draws}
        incidents = standings.to_json()["incidents"]
        print_json(report | {"duplicates": pair.duplicates, "incidents": incidents, "run": str(run)})
    else:
        won = ", ".join(f"{name} won {count}" for name, count in wins.items())
        typer.echo(f"{out}: games {written}, {won}, duplicates {pair.duplicates}")
        for name, incidents_of_one in standings.incidents.items():
            if incidents_of_one:
                typer.echo(f"katachi: not all games of {name} ended well: {incidents_of_one}", err=True)
