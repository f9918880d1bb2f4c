"""What the player's evaluator says of the position by itself, before any search."""

from __future__ import annotations

import json
from typing import Final

import numpy as np

from katachi.core.contracts import Evaluator, LinearEvaluator, OwnershipEvaluator
from katachi.go.board import Board
from katachi.go.points import BLACK, EMPTY, Symmetry
from katachi.gtp.boards import format_labels, format_numbers
from katachi.gtp.protocol import GtpError
from katachi.gtp.serving import CommandTable
from katachi.gtp.session import Session, read_color, read_int
from katachi.players.asking import describe_models, find_evaluator

table = CommandTable[Session]()

_SHAPES_SHOWN: Final = 20
_SYMMETRIES: Final = (  # by KataGo's numbers: 1 flips up and down, 2 left and right, then 4 swaps rows and columns
    Symmetry.IDENTITY,
    Symmetry.MIRROR_TURN_180,
    Symmetry.MIRROR,
    Symmetry.TURN_180,
    Symmetry.MIRROR_TURN_270,
    Symmetry.TURN_90,
    Symmetry.TURN_270,
    Symmetry.MIRROR_TURN_90,
)


@table.command("kata-raw-nn")
def raw_nn(session: Session, symmetry: str) -> str:
    """Its value, policy and ownership, as it sees the board after one of eight symmetries or ``all`` of them.

    Numbers and order are KataGo's: symmetry 0 is the board as it is, 1 flips it up and down, 2 left and right, 4 swaps
    rows and columns. The answers are turned back to the board as it is.
    """
    evaluator = _evaluator(session)
    wanted = range(8) if symmetry.lower() == "all" else [read_int(symmetry)]
    if not set(wanted) <= set(range(8)):
        raise GtpError("syntax error: a symmetry is 0 to 7 or all")
    return "\n".join(_raw(evaluator, session.game.board, number) for number in wanted)


@table.command("heatmap")
def heatmap(session: Session) -> str:
    """The policy in thousandths, a row of the board a line, and the value for the player to move (Leela Zero)."""
    game = session.game
    evaluation = _evaluator(session).evaluate([game.board])
    thousandths = np.rint(1000 * evaluation.policy[0]).astype(int)
    black_wins = float(evaluation.black_wins[0])
    wins = black_wins if game.to_play == BLACK else 1 - black_wins
    rows = [" ".join(f"{share:3d}" for share in row) for row in thousandths[:-1].reshape(game.size, -1).tolist()]
    return "\n".join([*rows, f"pass: {thousandths[-1]}", f"winrate: {wins:.6f}"])


@table.command("kata-get-models")
def get_models(session: Session) -> str:
    """What judges, as KataGo lists its networks: empty if the player has no evaluator."""
    return json.dumps(describe_models(session.player), separators=(",", ":"))


@table.command("katachi-policy")
def policy(session: Session, color: str) -> str:
    """Its policy in percent, where that is at least one, as labels for GoGui."""
    game = session.game_for(read_color(color))
    shares = _evaluator(session).evaluate([game.board]).policy[0, :-1].tolist()
    return format_labels(
        {point: f"{100 * share:.0f}" for point, share in enumerate(shares) if share >= 0.01}, game.size
    )


@table.command("katachi-stone_values")
def stone_values(session: Session) -> str:
    """How much more often Black wins because a stone stands there: a board of numbers for GoGui."""
    evaluator, board = _evaluator(session), session.game.board
    points = np.flatnonzero(board.stones != EMPTY).tolist()
    values = np.zeros(board.size**2)
    if points:
        black_wins = evaluator.evaluate([board, *(_without(board, point) for point in points)]).black_wins
        values[points] = black_wins[0] - black_wins[1:]
    return format_numbers(values, board.size)


@table.command("katachi-shapes")
def shapes(session: Session) -> str:
    """The features on the board that count most for the player who has just moved, and what each adds to his logit."""
    evaluator = _evaluator(session)
    if not isinstance(evaluator, LinearEvaluator):
        raise GtpError(f"{session.player.name} is no sum of features")
    indices, occurrences = evaluator.features.active(session.game.board)
    worth = evaluator.weights[indices] * occurrences
    largest = np.argsort(-np.abs(worth), kind="stable")[:_SHAPES_SHOWN].tolist()
    return "\n".join(f"{worth[number]:+.3f} {evaluator.features.describe(int(indices[number]))}" for number in largest)


def _evaluator(session: Session) -> Evaluator:
    evaluator = find_evaluator(session.player)
    if evaluator is None:
        raise GtpError(f"{session.player.name} has no evaluator that could be asked")
    return evaluator


def _without(board: Board, point: int) -> Board:
    after = board.copy()
    after.place(empty=[point])
    return after


def _raw(evaluator: Evaluator, board: Board, number: int) -> str:
    size, goes_to = board.size, _SYMMETRIES[number].points(board.size)
    seen = board.transformed(_SYMMETRIES[number])
    evaluation = evaluator.evaluate([seen])
    shares = evaluation.policy[0, goes_to].astype(np.float64)
    shares[~board.legal_moves()[:-1]] = np.nan
    black_wins = float(evaluation.black_wins[0])
    lines = [f"symmetry {number}", f"whiteWin {1 - black_wins:.6f}", f"whiteLoss {black_wins:.6f}", "noResult 0.000000"]
    lines += ["policy", format_numbers(shares, size, digits=6), f"policyPass {float(evaluation.policy[0, -1]):.6f}"]
    if isinstance(evaluator, OwnershipEvaluator):
        ownership = -evaluator.ownership([seen])[0, goes_to]
        lines += ["whiteOwnership", format_numbers(ownership, size, digits=6)]
    return "\n".join(lines)
