"""A tournament: every scheduled game that is not yet in the run directory is played, kept and counted.

A match is a tournament of two. Games are played one after another, or in several processes through joblib; either way
this process alone writes, and the tables come out the same.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from pathlib import Path

from katachi.arena.match import OpeningBook, Openings, RandomOpenings, read_opening_book
from katachi.arena.ratings import Standings, count_standings, sprt_outcome
from katachi.arena.records import GameRecord, RunDirectory, ScheduledGame, schedule
from katachi.arena.report import format_html
from katachi.arena.settings import GTP_PREFIX, ArenaError, TournamentSettings
from katachi.arena.worker import SEED_PLACEHOLDER, FinishedGame, play_scheduled
from katachi.core.contracts import ClosingPlayer, EvaluatingPlayer
from katachi.core.evaluators import WrongBoardSize
from katachi.core.processes import end_with_parent
from katachi.go.board import Board
from katachi.go.game import Game
from katachi.gtp import EngineFailure, GtpError, GtpPlayer
from katachi.players.specs import load_player

Watcher = Callable[[GameRecord], None]


def play_tournament(settings: TournamentSettings, directory: Path, watch: Watcher | None = None) -> Standings:
    """Play a tournament in a run directory, or what is left of it, and count it.

    ``watch`` is called with each game, those of an earlier run first. Raises ValueError (ArenaError, SpecError,
    EngineFailure) if a player cannot take part, there are no openings, or the directory holds another run.
    """
    check_players(settings)
    openings = make_openings(settings)
    with RunDirectory(directory, settings) as run:
        for record in run.records.values():
            _tell(watch, record)
        for finished in _play(settings, _undecided(settings, openings, run.records)):
            run.add(finished.record, finished.sgf)
            _tell(watch, finished.record)
        standings = count_standings(settings, run.records.values(), programs=run.programs)
        run.finish(standings.to_json(), format_html(standings, directory.name))
    return standings


def _undecided(
    settings: TournamentSettings, openings: Openings, records: Mapping[str, GameRecord]
) -> Iterator[ScheduledGame]:
    """The games to play; a sequential test hands out no more as soon as those before have decided it."""
    for game in schedule(settings, openings, played=set(records)):
        if sprt_outcome(settings, records) is not None:
            return
        yield game


def _tell(watch: Watcher | None, record: GameRecord) -> None:
    if watch is not None:
        watch(record)


def _play(settings: TournamentSettings, games: Iterable[ScheduledGame]) -> Iterator[FinishedGame]:
    if settings.jobs == 1:
        yield from (play_scheduled(settings, game) for game in games)
        return
    from joblib import Parallel, delayed  # loads multiprocessing, which a single process does without

    parallel = Parallel(n_jobs=settings.jobs, return_as="generator_unordered")
    yield from parallel(delayed(_play_in_worker)(settings, game, os.getpid()) for game in games)


def _play_in_worker(settings: TournamentSettings, game: ScheduledGame, parent: int) -> FinishedGame:
    end_with_parent(parent)
    return play_scheduled(settings, game)


def make_openings(settings: TournamentSettings) -> Openings:
    """The openings that the settings ask for; raises OpeningError if a book has none."""
    wanted, rules = settings.openings, settings.game_rules
    if wanted.book is None:
        return RandomOpenings(settings.size, rules, wanted.random_plies, settings.seed)
    book: OpeningBook = read_opening_book(Path(wanted.book), settings.size, rules, wanted.book_plies)
    return book


def check_players(settings: TournamentSettings) -> None:
    """Raise an error now for a player or referee that could not take part, not in the middle of the night."""
    referees = (text for text in (settings.referee, settings.check_referee or "") if text.startswith(GTP_PREFIX))
    for text in (*settings.players.values(), *referees):
        player = load_player(text.replace(SEED_PLACEHOLDER, "0"), seed=0)
        if isinstance(player, GtpPlayer):
            with closing(player):
                _check_engine(player, settings.size)
            continue
        if isinstance(player, EvaluatingPlayer):
            _check_evaluator(text, player, settings.size)
        if isinstance(player, ClosingPlayer):
            player.close()


def _check_evaluator(text: str, player: EvaluatingPlayer, size: int) -> None:
    """Judge an empty board; raises ArenaError if it is of a size that the player cannot judge."""
    if player.evaluator is None:
        return
    try:
        player.evaluator.evaluate([Board(size)])
    except WrongBoardSize as error:
        raise ArenaError(f"{text} cannot take part: {error}") from None


def _check_engine(player: GtpPlayer, size: int) -> None:
    """Start a program and set up the board; raises EngineFailure if it cannot."""
    try:
        player.stones(Game(size))
    except EngineFailure:
        raise
    except GtpError:
        return  # it does not show its stones, but it answers
