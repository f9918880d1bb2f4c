"""``katachi play``: a person against a player, in the terminal, line by line.

Every command of the person is a method named after it. What is not understood gets one sentence and the game
continues; after every move the record is on disk.
"""

from __future__ import annotations

import io
import random
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from katachi.analysis.judges import Judges
from katachi.analysis.layers import LAYERS
from katachi.cli import _commands as common
from katachi.core.contracts import Candidate, ClosingPlayer, Decision, Limit, Player
from katachi.core.disk import write_atomically
from katachi.core.drawing import describe_layer, format_board
from katachi.go.board import Illegality
from katachi.go.game import Game
from katachi.go.points import (
    BLACK,
    PASS,
    WHITE,
    GameResult,
    fixed_handicap_points,
    format_color,
    format_vertex,
    parse_vertex,
)
from katachi.go.rules import parse_rules
from katachi.go.scoring import estimate_status
from katachi.players.specs import choose_size, default_player, load_player
from katachi.sgf import game_to_sgf

HELP = """\
D4           play there           score        count the board as it is now
pass         pass                 hint         what would the player do?
undo         take back your move  save FILE    write the record to a file
resign       give up              quit         stop (the record is kept)
layer NAME   color the board by {layers}
layer off    show the stones alone"""

_COMMANDS = ("pass", "undo", "resign", "score", "hint", "layer", "save", "help", "quit")
_WHY_NOT = {
    Illegality.OCCUPIED: "there is a stone already",
    Illegality.KO: "that would retake a ko at once",
    Illegality.SUPERKO: "that would repeat an earlier position",
    Illegality.SUICIDE: "that would be suicide",
}


@dataclass
class TerminalGame:
    """One game and those who play it. ``read_line`` takes a prompt, and raises EOFError when there is no more input."""

    game: Game
    player: Player
    human: int
    limit: Limit
    record: Path
    console: Console
    read_line: Callable[[str], str]
    _stopped: bool = field(default=False, init=False)
    _layer_name: str = field(default="", init=False)  # of the layer that is shown with every board

    def play(self) -> None:
        """Play until the game is over or the person stops; the record is on disk then, whatever happened."""
        self._say(f"You are {format_color(self.human)}; help lists what you can say.")
        try:
            if self.game.to_play == self.human:
                self._show_board()
            while not (self._stopped or self.game.is_over):
                if self.game.to_play == self.human:
                    self._take_line()
                else:
                    self._let_player_move()
            if self.game.is_over:
                self._say(f"Result: {self._result()}")
        finally:
            if self._keep_record():
                self._say(f"The record is in {self.record}")

    # The two sides

    def _take_line(self) -> None:
        try:
            line = self.read_line(f"{format_color(self.human)}> ").strip()
        except EOFError:
            self._stopped = True
            return
        word, _, argument = line.partition(" ")
        if word.lower() in _COMMANDS:
            getattr(self, f"_{word.lower()}")(argument.strip())
        elif line:
            self._move(line)

    def _let_player_move(self) -> None:
        decision = self.player.decide(self.game, self.limit)
        if decision.resign:
            self.game.resign()
            self._say(f"{self.player.name} resigns.")
            return
        self.game.play(decision.move)
        self._show_board()
        self._say(f"{self.player.name}: {self._vertex(decision.move)}" + _remark(decision))
        self._keep_record()

    # The commands

    def _move(self, text: str) -> None:
        try:
            move = parse_vertex(text, self.game.size)
        except ValueError as error:
            self._say(f"{error}; help lists what you can say.")
            return
        reason = self.game.why_illegal(move)
        if reason is not None:
            self._say(f"You cannot play {self._vertex(move)}: {_WHY_NOT[reason]}.")
            return
        self.game.play(move)
        self._keep_record()

    def _pass(self, _: str) -> None:
        self._move("pass")

    def _undo(self, _: str) -> None:
        if not any(play.color == self.human for play in self.game.moves):
            self._say("You have not moved yet.")
            return
        while True:
            undone = self.game.moves[-1]
            self.game.undo()
            if undone.color == self.human:
                break
        self._keep_record()
        self._show_board()

    def _resign(self, _: str) -> None:
        self.game.resign(self.human)

    def _score(self, _: str) -> None:
        fate = estimate_status(self.game.board)
        self._say(f"As it stands: {GameResult.by_score(self.game.score())}.")
        if fate.dead:
            stones = " ".join(self._vertex(point) for point in fate.dead_stones)
            result = GameResult.by_score(self.game.score(fate.dead_stones, fate.seki_stones))
            self._say(f"Without the stones that look dead ({stones}): {result}.")

    def _hint(self, _: str) -> None:
        decision = self.player.decide(self.game, self.limit)
        shown = decision.analysis.candidates[:3] if decision.analysis else ()
        moves = ", ".join(self._candidate(candidate) for candidate in shown) or self._vertex(decision.move)
        self._say("It would resign." if decision.resign else f"{self.player.name} would play {moves}.")

    def _layer(self, argument: str) -> None:
        name = argument.lower()
        if name not in (*LAYERS, "off"):
            self._say(f"Say layer and one of {', '.join(LAYERS)}, or off.")
            return
        self._layer_name = "" if name == "off" else name
        self._show_board()

    def _save(self, argument: str) -> None:
        if not argument:
            self._say("Say save and a file name.")
            return
        path = Path(argument)
        try:
            if path.exists():
                self._say(f"{path} is there already; choose another name.")
            else:
                write_atomically(path, self._sgf())
                self._say(f"Saved in {path}.")
        except (OSError, ValueError) as error:  # a name with a zero byte is a ValueError
            self._say(f"That cannot be written: {getattr(error, 'strerror', error)}.")

    def _help(self, _: str) -> None:
        *most, last = LAYERS
        self._say(HELP.format(layers=f"{', '.join(most)} or {last}"))

    def _quit(self, _: str) -> None:
        self._stopped = True

    # Showing and keeping

    def _say(self, text: str) -> None:
        self.console.print(text, markup=False, highlight=False, soft_wrap=True)

    def _show_board(self) -> None:
        layer = None
        if self._layer_name:
            judges = Judges(self.player, self.limit)
            layer = LAYERS[self._layer_name].make(self.game, judges.analyze(self.game), judges.all_evaluators)
        self.console.print(format_board(self.game.board, self.game.last_move, layer))
        if layer is not None:
            self._say(describe_layer(layer, self.game.size))
        elif self._layer_name:
            self._say(f"{self.player.name} has nothing to say about {self._layer_name}.")

    def _result(self) -> GameResult | None:
        """How the game ended. Dead stones come off only if the rules say that they do."""
        if not self.game.is_over:
            return None
        if not self.game.rules.friendly_pass_ok:
            return self.game.result()
        fate = estimate_status(self.game.board)
        return self.game.result(fate.dead_stones, fate.seki_stones)

    def _sgf(self) -> str:
        names = {self.human: "you", -self.human: self.player.name}
        return game_to_sgf(self.game, black=names[BLACK], white=names[-BLACK], result=self._result())

    def _keep_record(self) -> bool:
        """Write the record if there is anything to keep; a full disk must not end the game."""
        if not (self.game.moves or self.record.exists()):
            return False
        try:
            write_atomically(self.record, self._sgf())
        except OSError as error:
            self._say(f"The record cannot be written to {self.record}: {error.strerror}.")
            return False
        return True

    def _vertex(self, move: int) -> str:
        return format_vertex(move, self.game.size)

    def _candidate(self, candidate: Candidate) -> str:
        value = "" if candidate.black_wins is None else f" ({candidate.black_wins:.0%} for Black)"
        return self._vertex(candidate.move) + value


def _remark(decision: Decision) -> str:
    if decision.comment:
        return f" ({decision.comment})"
    return "" if decision.move != PASS else " (your pass ends the game)"


class Side(StrEnum):
    BLACK = "black"
    WHITE = "white"
    RANDOM = "random"


class PlayError(ValueError):
    """A game that cannot begin like that."""


def play(
    player: Annotated[str | None, typer.Argument(metavar="PLAYER", help=common.PLAYER_HELP)] = None,
    size: common.BoardSize = None,
    color: Annotated[Side, typer.Option(help="Your color.")] = Side.BLACK,
    komi: common.Komi = None,
    handicap: Annotated[int, common.number(0, 9, "Black stones to begin with.")] = 0,
    rules: common.RulesName = "chinese-ogs",
    seconds: common.Seconds = None,
    simulations: common.Simulations = None,
    seed: common.AnySeed = None,
    sgf: Annotated[Path | None, typer.Option(help="Where the record is kept; else a new file here.")] = None,
    allow_commands: common.AllowCommands = False,
) -> None:
    """Play against a player in the terminal. The record is on disk after every move.

    Without a name it is the player that learned local shapes on boards of this size, or alp where none did. The rules
    are those of the board in the browser: dead stones come off at the end. Programs among themselves play games out.

    While you play: a vertex such as D4, pass, undo, resign, score, hint, layer NAME, save FILE, help, quit. A layer
    colors the board, as by territory or by shapes; help lists them all.

    Examples:
      katachi play
      katachi play shapes-alphabeta-9 --seconds 2
      katachi play influence --size 13 --color white
      katachi play "policy-19 evaluator.rank=1 search.temperature=0.5" --komi 6.5
      katachi play "gtp:gnugo --mode gtp --level 5" --size 19 --handicap 4 --komi 0.5
    """
    common.check_programs(allow_commands, player)
    size = choose_size([player] if player else [], size)
    game = _new_game(size, rules, komi, handicap)
    record = _new_record() if sgf is None else _check_record(sgf)
    human = {Side.BLACK: BLACK, Side.WHITE: WHITE}.get(color) or random.Random(seed).choice((BLACK, WHITE))
    opponent = load_player(player or default_player(size), seed, size)
    limit = Limit(simulations=simulations, seconds=seconds)
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")  # bytes that are not text are not a vertex either
    try:
        TerminalGame(game, opponent, human, limit, record, Console(), _read_line).play()
    finally:
        if isinstance(opponent, ClosingPlayer):
            opponent.close()
    if record.exists():
        common.name_next_step(f"katachi analyze {record}")


def _new_game(size: int, rules: str, komi: float | None, handicap: int) -> Game:
    game = Game(size, parse_rules(rules, komi))
    if handicap:
        try:
            game.place_handicap(fixed_handicap_points(size, handicap))
        except ValueError as error:
            raise PlayError(str(error)) from None
    return game


def _read_line(prompt: str) -> str:
    """A line of input; what comes from a pipe is shown, so that the transcript can be read."""
    if sys.stdin.isatty():
        return input(prompt)
    line = sys.stdin.readline()
    typer.echo(prompt + line.rstrip("\n"))
    if not line:
        raise EOFError
    return line


def _new_record() -> Path:
    """A name that no file here has."""
    stem = f"katachi-{datetime.now():%Y%m%d-%H%M%S}"
    names = (Path(f"{stem}{suffix}.sgf") for suffix in ("", *(f"-{number}" for number in range(2, 1000))))
    return next(name for name in names if not name.exists())


def _check_record(path: Path) -> Path:
    """Refuse before the first move what could not be written after it."""
    if path.exists():
        raise PlayError(f"{path} is there already: records are not overwritten")
    if not path.absolute().parent.is_dir():
        raise PlayError(f"{path.absolute().parent} is not a folder")
    return path
