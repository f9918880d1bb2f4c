"""A table: a record, the settings of the game that is played there, and how far it is. It knows no browser.

While a game is *played*, clicks are moves. After two passes it is *counted*: the dead stones are estimated, and
clicks correct them. It is *finished* by an agreed count, a resignation or the clock; then everybody may try
variations.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from katachi.go import scoring
from katachi.go.points import BLACK, EMPTY, PASS, WHITE, GameResult, Reason, format_sgf_point
from katachi.go.rules import Scoring
from katachi.go.scoring import Status
from katachi.sgf import SgfGame, game_to_tree
from katachi.web import texts
from katachi.web.clocks import TableClock
from katachi.web.open_record import OpenRecord
from katachi.web.settings import Seats, TableError, TableSettings


class Phase(StrEnum):
    PLAYING = "playing"
    COUNTING = "counting"
    FINISHED = "finished"


class Table:
    """One game and everything that is agreed about it."""

    def __init__(self, settings: TableSettings, record: SgfGame | None = None) -> None:
        """Begin a game, or open a record; raises SgfError if that cannot be played here."""
        self.settings = settings
        self.phase = Phase.PLAYING
        self.clock = TableClock(settings.time.control)
        self.dead: set[int] = set()
        self.is_estimated = False  # whether somebody has looked which stones are dead
        self._seki: list[int] = []
        self.opened = OpenRecord(_new_record(settings) if record is None else record)

    # Who may do what

    @property
    def is_players_color(self) -> bool:
        """Whether the player, and no person, moves for whose turn it is."""
        return self.phase is Phase.PLAYING and self.settings.is_players_turn(self.opened.game.to_play)

    @property
    def is_players_turn(self) -> bool:
        """Whether the player is to move now: not where one only looks at what was played."""
        return self.is_players_color and not (self.opened.game.is_over or self.opened.node.children)

    @property
    def can_go_about(self) -> bool:
        """Whether one may look at other positions: not while the board is counted, nor while a clock runs."""
        return self.phase is Phase.FINISHED or (self.phase is Phase.PLAYING and not self.clock.is_used)

    @property
    def can_undo(self) -> bool:
        node = self.opened.node
        return self.phase is not Phase.COUNTING and node.parent is not None and not node.children

    @property
    def result(self) -> GameResult | None:
        return self.opened.record.result

    # The game

    def play(self, move: int) -> None:
        """Play a move of whoever's turn it is; two passes lead to the count."""
        if self.phase is Phase.COUNTING:
            raise TableError(texts.COUNT_FIRST)
        self.opened.play(move)
        if self.phase is Phase.PLAYING and self.opened.game.is_over:
            self.begin_count()

    def undo(self) -> None:
        """Take back the last move, and so many more that it is a person's turn again."""
        if not self.can_undo:
            raise TableError(texts.NOTHING_TO_UNDO)
        self._reopen()
        self.opened.remove()
        while self.is_players_color and self.opened.game.moves and not self.opened.node.children:
            self.opened.remove()

    def resign(self, color: int | None = None) -> None:
        """End the game: a color gives up, by default whose turn it is, or the person if there is one."""
        loser = self._person() if color is None else color
        self._finish(GameResult(-loser, None, Reason.RESIGNATION))

    def lose_on_time(self) -> None:
        """End the game: whose turn it is has no time left."""
        color = self.opened.game.to_play
        self._finish(GameResult(-color, None, Reason.TIME))
        self.clock.run_out(color)

    def _person(self) -> int:
        to_play = self.opened.game.to_play
        return {Seats.BLACK: BLACK, Seats.WHITE: WHITE}.get(self.settings.seats, to_play)

    def _finish(self, result: GameResult) -> None:
        self.clock.stop()
        self.phase = Phase.FINISHED
        self.opened.record.root.set_text("RE", str(result))

    def _reopen(self) -> None:
        """Go on with a game that was finished."""
        if self.phase is Phase.FINISHED:
            self.phase = Phase.PLAYING
            self.opened.record.root.properties.pop("RE", None)

    # The count

    def begin_count(self) -> None:
        """Count the board as it stands."""
        self.phase = Phase.COUNTING
        self.dead = set()
        self.is_estimated = False

    def mark_dead(self, status: Status) -> None:
        """Believe an estimate of what is dead, unless the rules say that dead stones must be captured."""
        self.is_estimated = True
        self._seki = status.seki_stones
        comes_off = self.opened.game.rules.friendly_pass_ok or "RU" not in self.opened.record.root.properties
        self.dead = set(status.dead_stones) if comes_off else set()

    def toggle_dead(self, point: int) -> None:
        """Say of a chain that it is dead, or that it is not."""
        board = self.opened.game.board
        if self.phase is Phase.COUNTING and board[point] != EMPTY:
            self.dead ^= set(board.chain(point))

    def owners(self) -> NDArray[np.int8]:
        """Whose each point is in the count, [n²]: under area rules with the stones, else territory alone."""
        game = self.opened.game
        if game.rules.scoring is Scoring.AREA:
            return scoring.area(game.board, self.dead)
        return scoring.territory(game.board, self.dead, self._living_seki())

    def count(self) -> GameResult:
        """The result of the count as the dead stones are marked now."""
        return GameResult.by_score(self.opened.game.score(self.dead, self._living_seki()))

    def _living_seki(self) -> list[int]:
        return [point for point in self._seki if point not in self.dead]

    def accept_count(self) -> None:
        """Agree to the count: it becomes the result, and the record shows whose each point is."""
        if self.phase is not Phase.COUNTING:
            raise TableError(texts.NO_COUNT)
        owners = self.owners()
        owners[(self.opened.game.board.stones != EMPTY) & ~_mask(self.dead, owners.size)] = EMPTY
        for name, color in (("TB", BLACK), ("TW", WHITE)):
            points = np.flatnonzero(owners == color).tolist()
            if points:
                self.opened.node.properties[name] = [format_sgf_point(point, self.opened.size) for point in points]
        self._finish(self.count())

    def play_on(self) -> None:
        """Leave the count and go on with the game: the last two passes are taken back."""
        if self.phase is not Phase.COUNTING:
            raise TableError(texts.NO_COUNT)
        self.phase = Phase.PLAYING
        while self.opened.game.last_move == PASS and not self.opened.node.children:
            self.opened.remove()

    # On disk

    def state(self) -> dict[str, Any]:
        """Everything but the record, as JSON."""
        return {
            "settings": self.settings.model_dump(mode="json"),
            "phase": self.phase.value,
            "place": self.opened.place,
            "dead": sorted(self.dead),
            "seki": self._seki,
            "clock": self.clock.to_json(),
        }

    @classmethod
    def restore(cls, state: dict[str, Any], record: SgfGame) -> Table:
        """A table as ``state`` has told of it; raises ValueError or KeyError if it is no such thing."""
        table = cls(TableSettings.model_validate(state["settings"]), record)
        table.opened.follow(state["place"])
        table.phase = Phase(state["phase"])
        points = range(table.opened.size**2)
        table.dead = {point for point in state["dead"] if point in points and table.opened.game.board[point] != EMPTY}
        table._seki = [point for point in state["seki"] if point in points]
        table.is_estimated = table.phase is Phase.COUNTING
        table.clock.restore(state["clock"])
        return table


def _new_record(settings: TableSettings) -> SgfGame:
    record = SgfGame(game_to_tree(settings.new_game()))
    names = {"PB": texts.YOU, "PW": texts.YOU}
    if settings.seats is Seats.BLACK:
        names["PW"] = settings.player
    elif settings.seats is Seats.WHITE:
        names["PB"] = settings.player
    for name, text in names.items():
        record.root.set_text(name, text)
    return record


def _mask(points: set[int], size: int) -> NDArray[np.bool_]:
    mask = np.zeros(size, dtype=bool)
    mask[list(points)] = True
    return mask
