"""The board, its rules and clocks, the moves and the player's own moves."""

# ruff: noqa: ARG001 - a command takes the session and all arguments, whether or not it looks at them

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence

from katachi.go.board import Illegality, IllegalMove, NothingToUndo
from katachi.go.game import Game
from katachi.go.points import BLACK, EMPTY, PASS, WHITE, fixed_handicap_points, format_vertex, free_handicap_points
from katachi.go.rules import RulesError, check_komi, parse_rules
from katachi.go.scoring import estimate_status
from katachi.gtp.protocol import GtpError, refusing
from katachi.gtp.serving import CommandTable
from katachi.gtp.session import SIZES, Session, play_tolerantly, read_color, read_float, read_int, read_move, read_point
from katachi.search.clock import KINDS, TimeControl
from katachi.search.one_ply import capturing_move

# Time settings in the words of GTP, of KGS and of KataGo. New settings put the full time on both clocks.

table = CommandTable[Session]()

_FORMS: dict[str, tuple[str, ...]] = {  # what follows the kind; all but stones are seconds
    "none": (),
    "absolute": ("main",),
    "byoyomi": ("main", "period", "stones"),
    "canadian": ("main", "period", "stones"),
    "fischer": ("main", "increment"),
    "fischer-capped": ("main", "increment", "most", "most_per_move"),
}
_KGS_KINDS = ("none", "absolute", "byoyomi", "canadian")


@table.command("time_settings")
def time_settings(session: Session, main_time: str, byo_yomi_time: str, byo_yomi_stones: str) -> None:
    """A period without stones means no limit at all (GTP 2, section 4.2)."""
    main, period, stones = read_float(main_time), read_float(byo_yomi_time), read_int(byo_yomi_stones)
    control = _control("canadian" if period and stones else "absolute", main=main, period=period, stones=stones)
    unlimited = stones == 0 if period else main == 0
    session.set_time(TimeControl() if unlimited else control)


@table.command("time_left")
def time_left(session: Session, color: str, time: str, stones: str) -> None:
    with refusing("syntax error", ValueError):
        session.clock.set_left(read_color(color), read_float(time), read_int(stones))


@table.command("kgs-time_settings")
def kgs_time_settings(session: Session, kind: str, *numbers: str) -> None:
    if kind in KINDS and kind not in _KGS_KINDS:
        raise GtpError(f"unknown time control: KGS has {', '.join(_KGS_KINDS)}")
    _set_control(session, "kgs-time_settings", kind, numbers)


@table.command("kata-time_settings")
def kata_time_settings(session: Session, kind: str, *numbers: str) -> None:
    _set_control(session, "kata-time_settings", kind, numbers)


@table.command("kata-list_time_settings")
def list_time_settings(session: Session) -> str:
    return " ".join(KINDS)


def _set_control(session: Session, command: str, kind: str, numbers: Sequence[str]) -> None:
    kind = kind.lower().replace("byo-yomi", "byoyomi")
    if kind not in _FORMS:
        raise GtpError(f"unknown time control: known are {', '.join(KINDS)}")
    form = _FORMS[kind]
    if len(numbers) != len(form):
        raise GtpError(f"syntax error: usage is {' '.join((command, kind, *form))}")
    pairs = zip(form, numbers, strict=True)
    values = {name: read_int(text) if name == "stones" else read_float(text) for name, text in pairs}
    unused = [name for name in ("most", "most_per_move") if values.get(name, 0) < 0]  # as KataGo says it
    session.set_time(_control(kind, **{name: value for name, value in values.items() if name not in unused}))


def _control(kind: str, **values: float) -> TimeControl:
    stones = int(values.pop("stones", 0))
    with refusing("syntax error", ValueError):
        return TimeControl(kind, stones=stones, **values)


# Moves.


@table.command("boardsize")
def boardsize(session: Session, size: str) -> None:
    number = read_int(size)
    if number not in SIZES:
        raise GtpError("unacceptable size")
    session.new_game(number)


@table.command("rectangular_boardsize")
def rectangular_boardsize(session: Session, width: str, height: str) -> None:
    if read_int(width) != read_int(height):
        raise GtpError("unacceptable size: katachi plays on square boards only")
    boardsize(session, width)


@table.command("clear_board")
def clear_board(session: Session) -> None:
    """Komi, rules and time settings stay."""
    session.new_game()


@table.command("komi")
def komi(session: Session, new_komi: str) -> None:
    with refusing("unacceptable komi", RulesError):
        session.game.komi = check_komi(read_float(new_komi))


@table.command("get_komi")
def get_komi(session: Session) -> str:
    return f"{session.game.komi:g}"


@table.command("play")
def play(session: Session, color: str, move: str) -> None:
    """Play a move. When both have passed and play continues, the other side may repeat a position, superko or not.

    Few rules say what holds then; whoever sends the move has allowed it. Our own moves never repeat one.
    """
    player_color, point = read_color(color), read_move(move, session.game.size)
    try:
        if session.was_ended:
            play_tolerantly(session.game, point, player_color, (Illegality.SUPERKO,))
        else:
            session.game.play(point, player_color)
    except IllegalMove as error:
        raise GtpError(f"illegal move: {error.reason.value}") from None


@table.command("gogui-play_sequence")
def play_sequence(session: Session, *colors_and_moves: str) -> None:
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


@table.command("undo")
def undo(session: Session) -> None:
    gg_undo(session, "1")


@table.command("gg-undo")
def gg_undo(session: Session, moves: str = "1") -> None:
    count = read_int(moves)
    if not 0 <= count <= len(session.game.steps):
        raise GtpError("cannot undo")
    try:
        for _ in range(count):
            session.game.undo()
    except NothingToUndo:
        raise GtpError("cannot undo") from None


@table.command("genmove")
def genmove(session: Session, color: str) -> str:
    """Ask the player and play what it says. A resignation is not a move: it leaves nothing to undo."""
    player_color = read_color(color)
    decision = session.decide(player_color)
    return "resign" if decision.resign else play_own_move(session, player_color, decision.move)


@table.command("reg_genmove")
def reg_genmove(session: Session, color: str) -> str:
    """What genmove would answer, without playing it; it costs no time of the game."""
    player_color = read_color(color)
    player = session.ready_player()
    decision = player.decide(session.game_for(player_color), session.move_limit(player_color))
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
    move = decision.move
    if gives_up:
        dead = [chain[0] for chain in estimate_status(session.game.board).dead]
        move = capturing_move(session.game, player_color, dead)
    return play_own_move(session, player_color, move)


def play_own_move(session: Session, color: int, move: int) -> str:
    check_own_move(session, color, move)
    session.play_own(color, move)
    return format_vertex(move, session.game.size)


def check_own_move(session: Session, color: int, move: int) -> None:
    reason = session.game.why_illegal(move, color)
    if reason is not None:
        raise GtpError(f"{session.player.name} wants to play {IllegalMove(move, reason, session.game.size)}")


# The rules of the game, in the words of KGS and of KataGo. A change leaves the position and the komi as they are.

_KGS_RULES = {"chinese": "chinese-kgs", "aga": "aga", "japanese": "japanese", "new_zealand": "new-zealand"}


@table.command("kata-get-rules")
def get_rules(session: Session) -> str:
    return json.dumps(session.game.rules.to_json(), sort_keys=True, separators=(",", ":"))


@table.command("kata-set-rules")
def set_rules(session: Session, *rules: str) -> None:
    """Rules by name or as JSON."""
    with refusing("bad rules", RulesError):
        session.set_rules(parse_rules(" ".join(rules)))


@table.command("kata-set-rule")
def set_rule(session: Session, key: str, value: str) -> None:
    """Change one of them, under its name in the JSON form."""
    rules = session.game.rules.to_json()
    rules[key] = {"true": True, "false": False}.get(value.lower(), value)
    set_rules(session, json.dumps(rules))


@table.command("kgs-rules")
def kgs_rules(session: Session, name: str) -> None:
    if name.lower() not in _KGS_RULES:
        raise GtpError(f"bad rules: KGS knows {', '.join(_KGS_RULES)}")
    set_rules(session, _KGS_RULES[name.lower()])


# Handicap stones, and positions that were not played.


@table.command("fixed_handicap")
def fixed_handicap(session: Session, stones: str) -> str:
    return _place_number(session, stones, fixed_handicap_points)


@table.command("place_free_handicap")
def place_free_handicap(session: Session, stones: str) -> str:
    return _place_number(session, stones, free_handicap_points)


@table.command("set_free_handicap")
def set_free_handicap(session: Session, *vertices: str) -> None:
    try:
        points = [read_point(vertex, session.game.size) for vertex in vertices]
    except GtpError as error:
        raise GtpError(f"bad vertex list: {error}") from None
    _place(session, points)


def _place_number(session: Session, stones: str, find_points: Callable[[int, int], list[int]]) -> str:
    """Place that many stones where the engine wants them; answers with the vertices."""
    with refusing("invalid number of stones", ValueError):
        points = find_points(session.game.size, read_int(stones))
    return _place(session, points)


def _place(session: Session, points: Sequence[int]) -> str:
    if session.game.steps:
        raise GtpError("board not empty")
    with refusing("bad vertex list", ValueError):
        session.game.place_handicap(points)
    return " ".join(format_vertex(point, session.game.size) for point in points)


@table.command("gogui-setup")
def gogui_setup(session: Session, *colors_and_vertices: str) -> None:
    """Put stones on the board: ``b C3 w D4``; ``e D4`` takes one away."""
    _set_up(session.game, dict(_stones(session, colors_and_vertices)))


@table.command("gogui-setup_player")
def gogui_setup_player(session: Session, color: str) -> None:
    session.game.setup(to_play=read_color(color))


@table.command("set_position")
def set_position(session: Session, *colors_and_vertices: str) -> None:
    """Begin again with these stones and no past."""
    pairs = list(_stones(session, colors_and_vertices))
    stones = dict(pairs)
    if len(stones) != len(pairs):
        raise GtpError("syntax error: a vertex is named twice")
    game = Game(session.game.size, session.game.rules)
    if stones:
        _set_up(game, stones)
    session.new_game()
    session.game = game


def _stones(session: Session, words: Sequence[str]) -> Iterator[tuple[int, int]]:
    """The pairs (point, color) of ``color vertex color vertex …``."""
    if len(words) % 2:
        raise GtpError("syntax error: every color needs a vertex")
    for color, vertex in zip(words[::2], words[1::2], strict=True):
        is_empty = color.lower() in ("e", "empty")
        yield read_point(vertex, session.game.size), EMPTY if is_empty else read_color(color)


def _set_up(game: Game, stones: dict[int, int]) -> None:
    by_color = {color: [point for point, stone in stones.items() if stone == color] for color in (BLACK, WHITE, EMPTY)}
    with refusing("cannot set up", ValueError):
        game.setup(by_color[BLACK], by_color[WHITE], by_color[EMPTY])
