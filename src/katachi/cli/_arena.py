"""What ``match`` and ``tournament`` share: where a run goes, who is called what, and how it is shown."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import typer
from rich.console import Console

from katachi.arena.ratings import Standings
from katachi.arena.records import GameRecord, unfinished_directory
from katachi.arena.report import TournamentProgress, print_report
from katachi.arena.settings import GTP_PREFIX, TournamentSettings
from katachi.arena.tournament import check_players, play_tournament

RUNS = Path("runs")


def default_run(name: str, settings: TournamentSettings) -> Path:
    """The run of these settings that is not finished, or a new one."""
    readable = re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-")[:60]
    return unfinished_directory(RUNS / f"{readable}-{settings.digest()[:8]}")


def name_players(a: str, b: str) -> tuple[str, str]:
    """Short names for two players, not the same even if the players are."""
    first, second = _short_name(a), _short_name(b)
    return (first, second) if first != second else (f"{first} 1", f"{second} 2")


def _short_name(text: str) -> str:
    if text.startswith(GTP_PREFIX):
        program = text.removeprefix(GTP_PREFIX).split()
        return Path(program[0]).name if program else text
    return Path(text).stem if text.endswith(".toml") else text


def play_and_watch(settings: TournamentSettings, directory: Path) -> Standings:
    """Play with a progress display, and say on standard error where the games are kept."""
    check_players(settings)
    typer.echo(f"katachi: games are kept in {directory}", err=True)
    played = 0

    def watch(record: GameRecord) -> None:
        nonlocal played
        played += 1
        progress.add(record)

    try:
        with TournamentProgress(settings) as progress:
            return play_tournament(settings, directory, watch)
    except KeyboardInterrupt:
        typer.echo(f"katachi: stopped after {played} games; the same command goes on", err=True)
        raise


def show_report(standings: Standings) -> None:
    """The tables on standard output, as wide as they need to be where that is no terminal."""
    console = Console()
    print_report(standings, console if console.is_terminal else Console(width=160))


def print_json(values: Mapping[str, Any]) -> None:
    """One object on standard output, and nothing else there."""
    sys.stdout.write(json.dumps(values, ensure_ascii=False) + "\n")
