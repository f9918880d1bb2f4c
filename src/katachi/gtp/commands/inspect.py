"""Questions about the game that change nothing, and what GoGui draws over the stones."""

from __future__ import annotations

import json
from collections.abc import Iterable
from copy import deepcopy
from threading import Event
from typing import Final

import numpy as np

from katachi.core.contracts import (
    Analysis,
    AnalyzingPlayer,
    ClosingPlayer,
    Evaluator,
    Limit,
    LinearEvaluator,
    OwnershipEvaluator,
)
from katachi.go.board import Board
from katachi.go.game import Game, Play
from katachi.go.points import BLACK, EMPTY, PASS, WHITE, GameResult, Symmetry, format_color, format_vertex
from katachi.go.scoring import area, estimate_status
from katachi.gtp.analysis import ask_analysis
from katachi.gtp.protocol import GtpError
from katachi.gtp.serving import CommandTable
from katachi.gtp.session import (
    Session,
    blend,
    format_labels,
    format_numbers,
    gfx_colors,
    gfx_labels,
    read_color,
    read_int,
    read_move,
    read_point,
    win_rate,
)
from katachi.players.asking import describe_models, find_evaluator, watch_analyses

# What the player's evaluator says of the position by itself, before any search.

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
    """The evaluator, as KataGo lists its networks: empty if the player has none."""
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
        boards = [board, *(board.copy() for _ in points)]
        for point, after in zip(points, boards[1:], strict=True):
            after.place(empty=[point])
        black_wins = evaluator.evaluate(boards).black_wins
        values[points] = black_wins[0] - black_wins[1:]
    return format_numbers(values, board.size)


@table.command("katachi-shapes")
def shapes(session: Session) -> str:
    """The features on the board that count most for the player who has just moved, and what each adds to the logit."""
    evaluator = _evaluator(session)
    if not isinstance(evaluator, LinearEvaluator):
        raise GtpError(f"{session.player.name} is not a sum of features")
    indices, occurrences = evaluator.features.active(session.game.board)
    worth = evaluator.weights[indices] * occurrences
    largest = np.argsort(-np.abs(worth), kind="stable")[:_SHAPES_SHOWN].tolist()
    return "\n".join(f"{worth[number]:+.3f} {evaluator.features.describe(int(indices[number]))}" for number in largest)


def _evaluator(session: Session) -> Evaluator:
    evaluator = find_evaluator(session.ready_player())
    if evaluator is None:
        raise GtpError(f"{session.player.name} has no evaluator that could be asked")
    return evaluator


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


# What is on the board.


@table.command("showboard")
def showboard(session: Session) -> str:
    game = session.game
    black, white = game.board.captured(WHITE), game.board.captured(BLACK)
    return f"\n{game.board}\nBlack has captured {black}, White {white}; komi {game.komi:g}, rules {game.rules.name}"


@table.command("list_stones")
def list_stones(session: Session, color: str) -> str:
    return format_points(session, np.flatnonzero(session.game.board.stones == read_color(color)))


@table.command("is_legal")
def is_legal(session: Session, color: str, move: str) -> str:
    legal = session.game.is_legal(read_move(move, session.game.size), read_color(color))
    return "1" if legal else "0"


@table.command("all_legal")
def all_legal(session: Session, color: str) -> str:
    return format_points(session, np.flatnonzero(session.game.legal_moves(read_color(color))[:-1]))


@table.command("captures")
def captures(session: Session, color: str) -> str:
    """How many stones a color has captured."""
    return str(session.game.board.captured(-read_color(color)))


@table.command("countlib")
def countlib(session: Session, vertex: str) -> str:
    point = read_point(vertex, session.game.size)
    if session.game.board[point] == EMPTY:
        raise GtpError(f"{vertex} is empty")
    return str(session.game.board.liberty_count(point))


@table.command("last_move")
def last_move(session: Session) -> str:
    moves = session.game.moves
    if not moves:
        raise GtpError("no previous move known")
    return _format_play(session, moves[-1])


@table.command("move_history")
def move_history(session: Session) -> str:
    """All moves, the latest first."""
    return "\n".join(_format_play(session, play) for play in reversed(session.game.moves))


def _format_play(session: Session, play: Play) -> str:
    move = "PASS" if play.move == PASS else format_vertex(play.move, session.game.size)
    return f"{format_color(play.color)} {move}"


def format_points(session: Session, points: Iterable[int]) -> str:
    """Vertices on one line."""
    return " ".join(format_vertex(int(point), session.game.size) for point in points)


# Who has won, and which stones are dead: an estimate by playouts, as ``go.scoring`` makes it.

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
        board = session.game.board
        standing = board.stones != EMPTY
        standing[fate.dead_stones] = False
        owned = area(board, fate.dead_stones) == _OWNERS[wanted]
        return format_points(session, np.flatnonzero(owned & ~standing))
    if wanted not in ("alive", "dead", "seki"):
        raise GtpError("invalid status: say alive, dead, seki, black_territory, white_territory or dame")
    chains = {"alive": fate.alive, "dead": fate.dead, "seki": fate.seki}[wanted]
    return "\n".join(format_points(session, chain) for chain in chains)


# What GoGui draws: values, territory, variations, liberties; and the list by which it finds them.

_ANALYZE_COMMANDS: Final = (
    "gfx/Win Rates/katachi-win_rates %c",
    "varc/Principal Variation/katachi-variation %c",
    "dboard/Value of Moves/katachi-values %c",
    "sboard/Prior of Moves/katachi-priors %c",
    "dboard/Ownership/katachi-ownership %c",
    "dboard/Territory/katachi-territory",
    "gfx/Liberties/katachi-liberties",
    "sboard/Policy of the Evaluator/katachi-policy %c",
    "dboard/Value of Stones to the Evaluator/katachi-stone_values",
    "hstring/Shapes on the Board/katachi-shapes",
    "plist/Legal Moves/all_legal %c",
    "plist/Dead Stones/final_status_list dead",
    "plist/Stones in Seki/final_status_list seki",
    "plist/Stones/list_stones %c",
    "string/Liberties of a Chain/countlib %p",
    "string/Final Score/final_score",
    "string/Rules/kata-get-rules",
    "string/Clocks/katachi-clock",
    "string/Processor Time/cputime",
    "param/Parameters/katachi-param",
)
_FEW_LIBERTIES: Final = {1: "red", 2: "yellow"}


@table.command("gogui-analyze_commands")
def analyze_commands(session: Session) -> str:
    """Those that have something to draw with this player; all of them while it is not ready to be asked."""
    lacking = set() if session.preparation.is_running else _find_lacking(session)
    return "\n".join(line for line in _ANALYZE_COMMANDS if line.split("/")[-1].split()[0] not in lacking)


def _find_lacking(session: Session) -> set[str]:
    """The commands that a player knows no answer to."""
    evaluator, analysis = find_evaluator(session.player), _glance(session)
    candidates = analysis.candidates
    lacks = {
        "katachi-variation": not candidates,
        "katachi-win_rates": all(candidate.black_wins is None for candidate in candidates),
        "katachi-priors": all(candidate.prior is None for candidate in candidates),
        "katachi-ownership": analysis.ownership is None,
        "katachi-policy": evaluator is None,
        "katachi-stone_values": evaluator is None,
        "katachi-shapes": not isinstance(evaluator, LinearEvaluator),
    }
    lacks["katachi-values"] = lacks["katachi-win_rates"]
    return {name for name, is_lacking in lacks.items() if is_lacking}


def _glance(session: Session) -> Analysis:
    """What the player says of an empty board at once; a copy is asked, so that no later move depends on it."""
    player, game = session.player, Game(session.game.size, session.game.rules)
    silent = Analysis(())
    try:
        if isinstance(player, AnalyzingPlayer):
            return next(iter(watch_analyses(player, game, Limit(simulations=1, depth=1), Event())), silent)
        if isinstance(player, ClosingPlayer):
            return silent
        return deepcopy(player).decide(game, Limit()).analysis or silent
    except Exception:  # noqa: BLE001 - whoever fails here has nothing to show
        return silent


@table.command("katachi-territory")
def territory(session: Session) -> str:
    """Who will own each point, from -1 for White to 1 for Black, by playouts."""
    size = session.game.size
    return format_numbers(estimate_status(session.game.board).ownership[: size * size], size, digits=2)


@table.command("katachi-ownership")
def ownership(session: Session, color: str) -> str:
    """The same as the player sees it when that color is to play; raises GtpError if it does not say."""
    owners = ask_analysis(session, read_color(color)).ownership
    if owners is None:
        raise GtpError(f"{session.player.name} does not say who will own the points")
    return format_numbers(owners, session.game.size, digits=2)


@table.command("katachi-values")
def values(session: Session, color: str) -> str:
    """The win rate of each candidate for its player as -1 to 1, 0 elsewhere."""
    board = np.zeros(session.game.size**2)
    for point, wins in _win_rates(session, read_color(color)).items():
        board[point] = 2 * wins - 1
    return format_numbers(board, session.game.size)


@table.command("katachi-win_rates")
def win_rates(session: Session, color: str) -> str:
    """The win rate of each candidate in percent on a color from red to green, relative to the worst and the best."""
    rates = _win_rates(session, read_color(color))
    worst, best = min(rates.values(), default=0.0), max(rates.values(), default=1.0)
    shares = {point: (wins - worst) / (best - worst) if best > worst else 1.0 for point, wins in rates.items()}
    lines = [*gfx_labels({point: f"{100 * wins:.0f}" for point, wins in rates.items()}, session.game.size)]
    lines += gfx_colors({point: blend(share) for point, share in shares.items()}, session.game.size)
    return "\n".join([*lines, f"TEXT {len(rates)} moves were considered, the best wins {100 * best:.1f} %"])


@table.command("katachi-priors")
def priors(session: Session, color: str) -> str:
    """The prior of each candidate in percent."""
    candidates = ask_analysis(session, read_color(color)).candidates
    labels = {
        candidate.move: f"{100 * candidate.prior:.0f}"
        for candidate in candidates
        if candidate.move != PASS and candidate.prior is not None
    }
    return format_labels(labels, session.game.size)


@table.command("katachi-variation")
def variation(session: Session, color: str) -> str:
    """The moves that the player expects, its own first."""
    best = ask_analysis(session, read_color(color)).candidates[0]
    return " ".join(format_vertex(move, session.game.size) for move in best.variation or (best.move,))


@table.command("katachi-liberties")
def liberties(session: Session) -> str:
    """How many liberties the chain of every stone has; chains in atari and with two liberties in color."""
    board = session.game.board
    counts = {point: board.liberty_count(point) for point in np.flatnonzero(board.stones != EMPTY).tolist()}
    colors = {point: _FEW_LIBERTIES[count] for point, count in counts.items() if count in _FEW_LIBERTIES}
    labels = {point: str(count) for point, count in counts.items()}
    return "\n".join([*gfx_labels(labels, board.size), *gfx_colors(colors, board.size)])


def _win_rates(session: Session, color: int) -> dict[int, float]:
    """The win rate of each candidate that is a point, best first."""
    analysis = ask_analysis(session, color)
    candidates = [candidate for candidate in analysis.candidates if candidate.move != PASS]
    return {candidate.move: win_rate(analysis, candidate, color) for candidate in candidates}
