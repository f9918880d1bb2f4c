"""One scheduled game, from its settings to its record, in whatever process it is played.

Everything is made anew for each game: players with the seeds of the game, engines as fresh processes. So a game never
depends on the games before it.
"""

from __future__ import annotations

from contextlib import ExitStack, closing
from dataclasses import dataclass

import numpy as np

from katachi.arena.match import (
    Conditions,
    EstimateReferee,
    PlayedGame,
    Referee,
    TimeUse,
    Verdict,
    explain_difference,
    load_referee,
    play_game,
)
from katachi.arena.records import CheckRecord, GameRecord, ScheduledGame, SideRecord, fingerprint
from katachi.arena.settings import TournamentSettings
from katachi.core.contracts import ClosingPlayer, Player
from katachi.go.game import Game
from katachi.go.points import BLACK, WHITE
from katachi.go.results import GameResult
from katachi.gtp import GtpError, GtpPlayer
from katachi.players.specs import load_player
from katachi.sgf import game_to_sgf

SEED_PLACEHOLDER = "{seed}"


@dataclass(frozen=True, slots=True)
class FinishedGame:
    """A game's line in the table of the run, and its SGF."""

    record: GameRecord
    sgf: str


def play_scheduled(settings: TournamentSettings, scheduled: ScheduledGame) -> FinishedGame:
    """Play one game of a tournament and count it."""
    seeds = scheduled.seeds
    conditions = Conditions(
        settings.limit.limit, settings.move_limit, settings.limit.grace, settings.limit.lose_on_time
    )
    with ExitStack() as stack:
        black = _load(settings.players[scheduled.black], seeds.black, stack)
        white = _load(settings.players[scheduled.white], seeds.white, stack)
        game = scheduled.opening.start(settings.size, settings.game_rules)
        played = play_game(black, white, game, conditions)
        referee = stack.enter_context(closing(load_referee(settings.referee)))
        verdict = _judge(played, referee)
        check = _check(settings, played, verdict, (black, white))
    record = _record(scheduled, played, verdict.result, check)
    return FinishedGame(record, _sgf(record, game))


def _load(text: str, seed: int, stack: ExitStack) -> Player:
    player = load_player(text.replace(SEED_PLACEHOLDER, str(seed)), seed=seed)
    if isinstance(player, ClosingPlayer):
        stack.callback(player.close)
    return player


def _judge(played: PlayedGame, referee: Referee) -> Verdict:
    """The result; if a program that should count fails, our own estimate with a word about it."""
    try:
        return played.judged_by(referee)
    except GtpError as error:
        played.detail = f"counted by estimate, because the referee failed: {error}"
        return EstimateReferee().judge(played.game)


def _check(
    settings: TournamentSettings, played: PlayedGame, verdict: Verdict, players: tuple[Player, Player]
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


def _second_opinion(text: str, game: Game, verdict: Verdict) -> tuple[str, list[str]]:
    """The result that the second referee finds, and what there is to say if it is another one."""
    with closing(load_referee(text)) as referee:
        try:
            second = referee.judge(game)
        except GtpError as error:
            return "", [f"{referee.name} failed: {error}"]
    if second.result == verdict.result:
        return str(second.result), []
    return str(second.result), [f"{referee.name} says {second.result}", explain_difference(game, verdict, second)]


def _has_same_stones(player: Player, game: Game) -> bool:
    """False only for an engine that shows another board; one that shows none or has gone cannot be asked."""
    if not isinstance(player, GtpPlayer) or player.pid is None:
        return True
    try:
        return bool(np.array_equal(player.stones(game), game.board.stones))
    except GtpError:
        return True


def _record(scheduled: ScheduledGame, played: PlayedGame, result: GameResult, check: CheckRecord | None) -> GameRecord:
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


def _side(name: str, seed: int, time_use: TimeUse) -> SideRecord:
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
