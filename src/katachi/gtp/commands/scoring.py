"""Who has won, and which stones are dead: an estimate by playouts, as ``go.status`` makes it."""

from __future__ import annotations

import numpy as np

from katachi.go.points import BLACK, EMPTY, WHITE, GameResult
from katachi.go.scoring import Status, area, estimate_status
from katachi.gtp.commands.inspect import format_points
from katachi.gtp.protocol import GtpError
from katachi.gtp.serving import CommandTable
from katachi.gtp.session import Session

table = CommandTable[Session]()

_OWNERS = {"black_territory": BLACK, "white_territory": WHITE, "dame": EMPTY}


@table.command("final_score")
def final_score(session: Session) -> str:
    game = session.game
    fate = estimate_status(game.board)
    return str(GameResult.by_score(game.score(fate.dead_stones, fate.seki_stones)))


@table.command("final_status_list")
def final_status_list(session: Session, wanted: str) -> str:
    """Stones that are alive, dead or in seki, a chain a line; also black_territory, white_territory and dame."""
    fate = estimate_status(session.game.board)
    if wanted in _OWNERS:
        return format_points(session, _points_owned(session, fate, _OWNERS[wanted]))
    if wanted not in ("alive", "dead", "seki"):
        raise GtpError("invalid status: say alive, dead, seki, black_territory, white_territory or dame")
    chains = {"alive": fate.alive, "dead": fate.dead, "seki": fate.seki}[wanted]
    return "\n".join(format_points(session, chain) for chain in chains)


def _points_owned(session: Session, fate: Status, owner: int) -> list[int]:
    board = session.game.board
    owners = area(board, fate.dead_stones)
    standing = board.stones != EMPTY
    standing[fate.dead_stones] = False
    return np.flatnonzero((owners == owner) & ~standing).tolist()
