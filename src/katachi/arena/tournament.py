"""A tournament: every scheduled game that is not yet in the run directory is played, kept and counted.

A match is a tournament of two. Games are played one after another, in several processes or on a cluster
(``core/execution.py``); in any case this process alone writes, and the tables come out the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import cache
from itertools import chain, takewhile
from pathlib import Path

import numpy as np

from katachi.arena import match
from katachi.arena.ratings import Score, Standings, count_standings, sprt_outcome
from katachi.arena.records import (
    CheckRecord,
    GameRecord,
    RunDirectory,
    ScheduledGame,
    SideRecord,
    fingerprint,
    schedule,
)
from katachi.arena.report import format_html, format_score
from katachi.arena.settings import GTP_PREFIX, ArenaError, TournamentSettings, parse_settings
from katachi.core.contracts import ClosingPlayer, EvaluatingPlayer, Limit, Player, PreparingPlayer
from katachi.core.evaluators import WrongBoardSize
from katachi.core.execution import hand_out, is_elsewhere
from katachi.go.board import Board
from katachi.go.game import Game
from katachi.go.points import BLACK, EMPTY, WHITE, GameResult, Reason
from katachi.gtp import EngineFailure, GtpError, GtpPlayer
from katachi.players.specs import files_of_player, load_player
from katachi.sgf import game_to_sgf

# One scheduled game, from its settings to its record, in whatever process it is played.
#
# Everything is made anew for each game: players with the seeds of the game, engines as fresh processes. So a game never
# depends on the games before it.

SEED_PLACEHOLDER = "{seed}"


@dataclass(frozen=True, slots=True)
class FinishedGame:
    """A game's line in the table of the run, and its SGF."""

    record: GameRecord
    sgf: str


def play_scheduled(settings: TournamentSettings, scheduled: ScheduledGame) -> FinishedGame:
    """Play one game of a tournament and count it."""
    if is_elsewhere():
        _check_once(settings.model_dump_json())
    seeds = scheduled.seeds
    conditions = match.Conditions(
        settings.limit.limit, settings.move_limit, settings.limit.grace, settings.limit.lose_on_time
    )
    with ExitStack() as stack:
        black = _load(settings.players[scheduled.black], seeds.black, settings.size, stack)
        white = _load(settings.players[scheduled.white], seeds.white, settings.size, stack)
        game = scheduled.opening.start(settings.size, settings.game_rules)
        played = match.play_game(black, white, game, conditions)
        referee = stack.enter_context(closing(match.load_referee(settings.referee)))
        verdict = _verdict(played, referee)
        check = _check(settings, played, verdict, (black, white))
    record = _record(scheduled, played, verdict.result, check)
    return FinishedGame(record, _sgf(record, game))


def _load(text: str, seed: int, size: int, stack: ExitStack) -> Player:
    player = load_player(text.replace(SEED_PLACEHOLDER, str(seed)), seed, size)
    if isinstance(player, ClosingPlayer):
        stack.callback(player.close)
    return player


def _verdict(played: match.PlayedGame, referee: match.Referee) -> match.Verdict:
    """The result; if a program that should count fails, our own estimate with a word about it."""
    try:
        return played.verdict(referee)
    except GtpError as error:
        played.detail = f"counted by estimate, because the referee failed: {error}"
        return match.EstimateReferee().count(played.game)


def _check(
    settings: TournamentSettings, played: match.PlayedGame, verdict: match.Verdict, players: tuple[Player, Player]
) -> CheckRecord | None:
    """What a second referee says, if one is asked for, and whether the engines have our stones on their boards."""
    if settings.check_referee is None:
        return None
    lost = (player for player in players if not _has_same_stones(player, played.game))
    notes = [f"{player.name} has other stones on its board" for player in lost]
    result = ""
    if played.ending.is_counted:
        result, objections = _second_opinion(settings.check_referee, played.game, verdict)
        notes += objections
    return CheckRecord(referee=settings.check_referee, result=result, agrees=not notes, note="; ".join(notes))


def _second_opinion(text: str, game: Game, verdict: match.Verdict) -> tuple[str, list[str]]:
    """The result that the second referee finds, and what there is to say if it is another one."""
    with closing(match.load_referee(text)) as referee:
        try:
            second = referee.count(game)
        except GtpError as error:
            return "", [f"{referee.name} failed: {error}"]
    if second.result == verdict.result:
        return str(second.result), []
    return str(second.result), [f"{referee.name} says {second.result}", match.explain_difference(game, verdict, second)]


def _has_same_stones(player: Player, game: Game) -> bool:
    """False only for an engine that shows another board; one that shows none or has gone cannot be asked."""
    if not isinstance(player, GtpPlayer) or player.pid is None:
        return True
    try:
        return bool(np.array_equal(player.stones(game), game.board.stones))
    except GtpError:
        return True


def _record(
    scheduled: ScheduledGame, played: match.PlayedGame, result: GameResult, check: CheckRecord | None
) -> GameRecord:
    game = played.game
    return GameRecord(
        id=scheduled.id,
        pairing=scheduled.pairing.number,
        number=scheduled.number,
        black=_side(scheduled.black, scheduled.seeds.black, played.time_use[BLACK]),
        white=_side(scheduled.white, scheduled.seeds.white, played.time_use[WHITE]),
        opening=scheduled.opening.name,
        moves=len(game.moves),
        result=str(result),
        ending=played.ending.value,
        detail=played.detail,
        fingerprint=fingerprint(game.steps, game.size),
        check=check,
    )


def _side(name: str, seed: int, time_use: match.TimeUse) -> SideRecord:
    return SideRecord(
        name=name,
        seed=seed,
        moves=time_use.moves,
        seconds=round(time_use.total, 6),
        longest=round(time_use.longest, 6),
        overruns=time_use.overruns,
    )


def _sgf(record: GameRecord, game: Game) -> str:
    """The SGF of a game; nothing in it depends on when or how quickly it was played."""
    lines = [f"Opening: {record.opening}.", f"Ended by {record.ending}."]
    lines += [f"{record.detail}."] if record.detail else []
    lines += [f"Second referee: {record.check.note}."] if record.check and record.check.note else []
    return game_to_sgf(
        game,
        black=record.black.name,
        white=record.white.name,
        result=record.result,
        comments={0: " ".join(lines)},
        properties={"RO": record.id},
    )


# A match in a script: of Python objects, in this process, without a run directory.


@dataclass(frozen=True, slots=True)
class MatchResult:
    """What the first player scored against the second, and the games; the first has Black in every other one."""

    first: str
    second: str
    score: Score
    games: tuple[match.PlayedGame, ...]
    results: tuple[GameResult, ...]

    @property
    def win_rate(self) -> float:
        """The share of the points; a draw is half of one."""
        return self.score.points / self.score.games

    @property
    def interval(self) -> tuple[float, float]:
        """Of the win rate, 95 % (Wilson)."""
        return self.score.interval

    def __str__(self) -> str:
        lost = [played.detail for played in self.games if played.ending.reason is Reason.FORFEIT]
        forfeits = f"; {len(lost)} by forfeit, the first: {lost[0]}" if lost else ""
        return f"{self.first} against {self.second}: {format_score(self.score)}{forfeits}"


def play_match(
    first: Player | str,
    second: Player | str,
    games: int = 20,
    size: int = 9,
    *,
    limit: Limit | None = None,
    komi: float | None = None,
    rules: str = "katachi",
    random_plies: int = 2,
    referee: str = "estimate",
    seed: int = 0,
) -> MatchResult:
    """Let two players meet, each an object or what ``load_player`` takes; the colors change after every game.

    An opening is a few random moves, and is played twice. A player by name is made anew for each game, with a seed of
    its own; an object plays all of them, and what it raises is raised. Raises SettingsError and SpecError.

    >>> print(play_match("alp", "random", games=4, size=5))
    alp against random: 3–1, 75.0 % (30–95)
    """
    given = {"first": first, "second": second}
    names = {role: player if isinstance(player, str) else player.name for role, player in given.items()}
    openings = {"random_plies": random_plies}
    values = {"games": games, "size": size, "komi": komi, "rules": rules, "referee": referee, "seed": seed}
    plan = parse_settings({"players": names, "openings": openings, **values})
    score = Score()
    played: list[match.PlayedGame] = []
    results: list[GameResult] = []
    with closing(match.load_referee(plan.referee)) as counting:
        for game in schedule(plan, make_openings(plan)):
            ended = _play_in_match(plan, game, given, limit or Limit())
            result = _verdict(ended, counting).result
            score.add(0.5 if result.winner == EMPTY else float((result.winner == BLACK) == (game.black == "first")))
            played.append(ended)
            results.append(result)
    return MatchResult(names["first"], names["second"], score, tuple(played), tuple(results))


def _play_in_match(
    settings: TournamentSettings, scheduled: ScheduledGame, given: Mapping[str, Player | str], limit: Limit
) -> match.PlayedGame:
    """One game; raises what a player that was given as an object raised."""
    players: list[Player] = []
    with ExitStack() as stack:
        for role, seed in ((scheduled.black, scheduled.seeds.black), (scheduled.white, scheduled.seeds.white)):
            named = given[role]
            player = _load(named, seed, settings.size, stack) if isinstance(named, str) else named
            if isinstance(player, EvaluatingPlayer):
                _check_evaluator(player.name, player, settings.size)
            players.append(player)
        game = scheduled.opening.start(settings.size, settings.game_rules)
        played = match.play_game(players[0], players[1], game, match.Conditions(limit, settings.move_limit))
    loser = None if played.loser is None else given[scheduled.black if played.loser == BLACK else scheduled.white]
    if played.error is not None and not isinstance(loser, str):
        raise played.error
    return played


# All games.

Watcher = Callable[[GameRecord], None]


def play_tournament(settings: TournamentSettings, directory: Path, watch: Watcher = lambda _: None) -> Standings:
    """Play a tournament in a run directory, or what is left of it, and count it.

    ``watch`` is called with each game, those of an earlier run first. Raises ValueError (ArenaError, SpecError,
    EngineFailure) if a player cannot take part, there are no openings, or the directory holds another run.
    """
    notes = check_players(settings)
    openings = make_openings(settings)
    with RunDirectory(directory, settings) as run:
        for record in run.records.values():
            watch(record)
        # A sequential test hands out no more games as soon as those before have decided it.
        games = takewhile(
            lambda _: sprt_outcome(settings, run.records) is None, schedule(settings, openings, set(run.records))
        )
        calls = ((settings, game) for game in games)
        files = chain(*map(files_of_player, settings.players.values()))
        for finished in hand_out(play_scheduled, calls, settings.jobs, reads=files):
            run.add(finished.record, finished.sgf)
            watch(finished.record)
        standings = count_standings(settings, run.records.values(), programs=run.programs, notes=notes)
        run.finish(standings.to_json(), format_html(standings, directory.name))
    return standings


def make_openings(settings: TournamentSettings) -> match.Openings:
    """The openings that the settings ask for; raises OpeningError if a book has none."""
    wanted, rules = settings.openings, settings.game_rules
    if wanted.book is None:
        return match.RandomOpenings(settings.size, rules, wanted.random_plies, settings.seed, wanted.from_line)
    return match.read_opening_book(Path(wanted.book), settings.size, rules, wanted.book_plies)


@cache
def _check_once(settings: str) -> None:
    """Raise an error if a player or a referee is missing on this node: it would lose games that it has not played."""
    check_players(TournamentSettings.model_validate_json(settings))


def check_players(settings: TournamentSettings) -> tuple[str, ...]:
    """Raise an error now for a player or referee that could not take part, not in the middle of the night.

    Returns sentences about programs that cannot be held to the time limit.
    """
    notes = []
    referees = {text: text for text in (settings.referee, settings.check_referee or "") if text.startswith(GTP_PREFIX)}
    for name, text in (*settings.players.items(), *referees.items()):
        player = load_player(text.replace(SEED_PLACEHOLDER, "0"), 0, settings.size)
        if isinstance(player, GtpPlayer):
            with closing(player):
                _check_engine(player, settings.size)
                seconds = settings.limit.seconds if name in settings.players else None
                if seconds is not None and (reason := player.why_untimed(seconds)):
                    notes.append(f"{name} cannot be held to {seconds:g} s per move: {reason}")
            continue
        if isinstance(player, EvaluatingPlayer):
            _check_evaluator(text, player, settings.size)
        if isinstance(player, ClosingPlayer):
            player.close()
    return tuple(notes)


def _check_evaluator(text: str, player: EvaluatingPlayer, size: int) -> None:
    """Evaluate an empty board; raises ArenaError if the player cannot evaluate boards of this size."""
    try:
        if isinstance(player, PreparingPlayer):
            player.prepare(size)  # it may have an evaluator for every size
        if player.evaluator is not None:
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
