"""The board, the moves and the player's own moves."""

from __future__ import annotations

from katachi.go.board import IllegalMove, NothingToUndo
from katachi.go.points import EMPTY, PASS, format_vertex
from katachi.go.rules import RulesError, check_komi
from katachi.go.scoring import estimate_status
from katachi.gtp.protocol import GtpError
from katachi.gtp.serving import CommandTable
from katachi.gtp.session import SIZES, Session, read_color, read_float, read_int, read_move

table = CommandTable[Session]()


@table.command("boardsize")
def boardsize(session: Session, size: str) -> str:
    number = read_int(size)
    if number not in SIZES:
        raise GtpError("unacceptable size")
    session.new_game(number)
    return ""


@table.command("clear_board")
def clear_board(session: Session) -> str:
    """Komi, rules and time settings stay."""
    session.new_game()
    return ""


@table.command("komi")
def komi(session: Session, new_komi: str) -> str:
    try:
        session.game.komi = check_komi(read_float(new_komi))
    except RulesError as error:
        raise GtpError(f"unacceptable komi: {error}") from None
    return ""


@table.command("get_komi")
def get_komi(session: Session) -> str:
    return f"{session.game.komi:g}"


@table.command("play")
def play(session: Session, color: str, move: str) -> str:
    _play(session, read_color(color), read_move(move, session.game.size))
    return ""


@table.command("gogui-play_sequence")
def play_sequence(session: Session, *colors_and_moves: str) -> str:
    """Play all of ``b C3 w D4 …``, or none of it if one move cannot be played."""
    if len(colors_and_moves) % 2:
        raise GtpError("syntax error: every color needs a move")
    before = session.game.copy()
    try:
        for color, move in zip(colors_and_moves[::2], colors_and_moves[1::2], strict=True):
            play(session, color, move)
    except GtpError:
        session.game = before
        raise
    return ""


@table.command("undo")
def undo(session: Session) -> str:
    return gg_undo(session, "1")


@table.command("gg-undo")
def gg_undo(session: Session, moves: str = "1") -> str:
    count = read_int(moves)
    if not 0 <= count <= len(session.game.steps):
        raise GtpError("cannot undo")
    try:
        for _ in range(count):
            session.game.undo()
    except NothingToUndo:
        raise GtpError("cannot undo") from None
    return ""


@table.command("genmove")
def genmove(session: Session, color: str) -> str:
    return play_decision(session, read_color(color))


@table.command("reg_genmove")
def reg_genmove(session: Session, color: str) -> str:
    """What genmove would answer, without playing it; it costs no time of the game."""
    player_color = read_color(color)
    decision = session.player.decide(session.game_for(player_color), session.move_limit(player_color))
    if decision.resign:
        return "resign"
    check_own_move(session, player_color, decision.move)
    return format_vertex(decision.move, session.game.size)


@table.command("kgs-genmove_cleanup")
def genmove_cleanup(session: Session, color: str) -> str:
    """Like genmove, but dead stones of the opponent are captured before we pass."""
    player_color = read_color(color)
    decision = session.decide(player_color)
    gives_up = decision.resign or decision.move == PASS
    move = _move_that_cleans_up(session, player_color) if gives_up else decision.move
    return play_own_move(session, player_color, move)


def play_decision(session: Session, color: int) -> str:
    """Ask the player and play what it says. A resignation is no move: it leaves nothing to undo."""
    decision = session.decide(color)
    return "resign" if decision.resign else play_own_move(session, color, decision.move)


def play_own_move(session: Session, color: int, move: int) -> str:
    check_own_move(session, color, move)
    session.play_own(color, move)
    return format_vertex(move, session.game.size)


def check_own_move(session: Session, color: int, move: int) -> None:
    reason = session.game.why_illegal(move, color)
    if reason is not None:
        raise GtpError(f"{session.player.name} wants to play {IllegalMove(move, reason, session.game.size)}")


def _play(session: Session, color: int, move: int) -> None:
    try:
        session.game.play(move, color)
    except IllegalMove as error:
        raise GtpError(f"illegal move: {error.reason.value}") from None


def _move_that_cleans_up(session: Session, color: int) -> int:
    """A liberty of the dead enemy chain nearest to capture, best one that is safe to play on; else a pass."""
    game = session.game
    dead = [chain[0] for chain in estimate_status(game.board).dead if game.board[chain[0]] == -color]
    legal = game.legal_moves(color)
    dead.sort(key=game.board.liberty_count)
    moves = [move for point in dead for move in game.board.liberties(point) if legal[move]]
    return max(moves, key=lambda move: _liberties_after(session, move, color) > 1, default=PASS)


def _liberties_after(session: Session, move: int, color: int) -> int:
    board = session.game.board.copy()
    board.play(move, color, suicide=session.game.rules.suicide)
    return 0 if board[move] == EMPTY else board.liberty_count(move)
