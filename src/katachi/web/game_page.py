"""The page of one table: its board, who plays, what can be done, and the record with its variations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from nicegui import events, ui
from starlette.requests import Request

from katachi.go.points import BLACK, WHITE, GameResult, Reason
from katachi.sgf import SgfError
from katachi.web import editing, texts
from katachi.web.board import BoardElement
from katachi.web.clocks import format_left
from katachi.web.editing import Tool
from katachi.web.editor_panel import EditorPanel
from katachi.web.judge_choice import JudgeChoice
from katachi.web.layer_panel import LayerPanel
from katachi.web.picture import Look, draw_table
from katachi.web.record_panel import RecordPanel
from katachi.web.review_panel import ReviewPanel
from katachi.web.sessions import Session
from katachi.web.settings import Seats, TableError
from katachi.web.shell import page_frame
from katachi.web.table import Phase
from katachi.web.widgets import icon_button, quiet_button

_SECONDS_BETWEEN_TICKS: Final = 0.5


def build_game_page(session: Session, request: Request) -> None:
    """Everything on the page of a table; it looks again whenever something happens there."""
    record = session.table.opened.record
    title = f"{record.black or '?'} – {record.white or '?'}"
    with page_frame(request, title):
        view = GameView(session)
    session.watchers.append(view.refresh)
    ui.context.client.on_delete(view.close)


class GameView:
    """One browser's view of a table."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._look = Look()
        with ui.element("main").classes("k-table"):
            with ui.element("div").classes("k-board"):
                self._board = BoardElement(self._click, self._command)
            with ui.element("div").classes("k-side"):
                self._build_side()
        if session.table.clock.is_used:
            ui.timer(_SECONDS_BETWEEN_TICKS, self._show_clocks)
        self.refresh()

    def _build_side(self) -> None:
        with ui.element("div").classes("k-players"):
            self._plates = {color: _Plate(color) for color in (BLACK, WHITE)}
        self._status = ui.label().classes("k-status").props("aria-live=polite")
        with ui.element("div").classes("k-notice k-stack") as self._notice:
            self._notice_text = ui.label().classes("k-plain")
            self._again = quiet_button(texts.ASK_AGAIN, self._ask_again)
        with ui.element("div").classes("k-bar"):
            self._pass = quiet_button(texts.PASS, self._pass_turn)
            self._undo = quiet_button(texts.UNDO, lambda: self._do(lambda table: table.undo()))
            self._resign = quiet_button(texts.RESIGN, lambda: self._do(lambda table: table.resign()))
            self._count = quiet_button(texts.COUNT, lambda: self._do(lambda table: table.begin_count()))
            self._accept = quiet_button(texts.ACCEPT, lambda: self._do(lambda table: table.accept_count()))
            self._play_on = quiet_button(texts.PLAY_ON, lambda: self._do(lambda table: table.play_on()))
            self._accept.classes("k-on")
        self._record_panel = RecordPanel(self._session, self._do)
        judge = JudgeChoice(self._session, self.refresh)
        self._layers = LayerPanel(self._session, judge, self.refresh)
        self._review = ReviewPanel(self._session, judge, self._do, self.refresh)
        self._editor = EditorPanel(self._session, self._look, self._do, self.refresh)
        with ui.element("div").classes("k-row"):
            self._numbers = self._switch(texts.NUMBERS, "numbers")
            self._switch(texts.COORDINATES, "coordinates")
            ui.element("div").classes("k-space")
            icon_button("keyboard", texts.KEYS, _build_keys().open)

    def _switch(self, text: str, name: str) -> ui.switch:
        """A switch for something that is shown or not."""

        def change(event: events.ValueChangeEventArguments[bool | None]) -> None:
            setattr(self._look, name, bool(event.value))
            self.refresh()

        return ui.switch(text, value=getattr(self._look, name), on_change=change).props("dense")

    # What comes in

    def _do(self, action: Callable[..., None]) -> None:
        """Do something at the table, or say why not."""
        self._try(lambda: self._session.act(action))

    def _try(self, action: Callable[[], None]) -> None:
        try:
            action()
        except (TableError, SgfError) as error:
            ui.notify(str(error), type="warning", position="top", timeout=2500)

    def _click(self, point: int) -> None:
        if self._look.tool is Tool.PLAY or self._session.table.phase is Phase.COUNTING:
            self._try(lambda: self._session.click(point))
        else:
            self._do(lambda table: editing.use_tool(table.opened, self._look.tool, point))

    def _pass_turn(self) -> None:
        self._try(self._session.pass_turn)

    def _ask_again(self) -> None:
        """Let a player that failed try again."""
        self._do(lambda _: None)

    def _command(self, command: str) -> None:
        """A key."""
        if command == "pass":
            self._pass_turn()
        elif command == "undo":
            self._do(lambda table: table.undo())
        elif command == "numbers":
            self._numbers.set_value(not self._numbers.value)
        elif command == "edit":
            self._editor.toggle()
        else:
            self._record_panel.go(command)

    # What is shown

    def refresh(self) -> None:
        """Look at the table again."""
        session, table = self._session, self._session.table
        self._layers.follow()
        self._board.show(self._layers.draw_over(draw_table(table, self._look)))
        self._status.set_text(describe_status(session))
        self._notice.set_visibility(bool(session.notice))
        self._notice_text.set_text(session.notice)
        self._again.set_visibility(table.is_players_turn)
        self._show_players()
        self._show_buttons()
        self._record_panel.refresh()
        self._review.refresh()
        self._editor.refresh()

    def close(self) -> None:
        """Look no more: the page is gone."""
        self._session.watchers.remove(self.refresh)
        self._layers.stop()
        self._review.stop()

    def _show_players(self) -> None:
        table = self._session.table
        record, game = table.opened.record, table.opened.game
        names = {BLACK: record.black, WHITE: record.white}
        ranks = {BLACK: record.black_rank, WHITE: record.white_rank}
        for color, plate in self._plates.items():
            is_turn = table.phase is Phase.PLAYING and game.to_play == color
            plate.show(names[color] or texts.COLORS[color], ranks[color], game.board.captured(-color), is_turn)
        self._show_clocks()

    def _show_clocks(self) -> None:
        clock = self._session.table.clock
        for color, plate in self._plates.items():
            plate.clock.set_text(format_left(clock.left(color)) if clock.is_used else "")

    def _show_buttons(self) -> None:
        table = self._session.table
        phase = table.phase
        is_counting = phase is Phase.COUNTING
        self._pass.set_visibility(phase is Phase.PLAYING)
        self._pass.set_enabled(not table.is_players_turn)
        self._undo.set_visibility(not is_counting)
        self._undo.set_enabled(table.can_undo)
        self._resign.set_visibility(phase is Phase.PLAYING and table.settings.seats is not Seats.BOTH)
        self._count.set_visibility(phase is not Phase.COUNTING and table.settings.seats is Seats.BOTH)
        self._accept.set_visibility(is_counting)
        self._play_on.set_visibility(is_counting)


def _build_keys() -> ui.dialog:
    """What the keys do."""
    with ui.dialog() as dialog, ui.element("div").classes("k-card k-facts"):
        for key, meaning in texts.KEY_LIST.items():
            ui.label(key).classes("k-clock")
            ui.label(meaning)
    return dialog


class _Plate:
    """A player: the color, the name, what was captured, the clock."""

    def __init__(self, color: int) -> None:
        with ui.element("div").classes("k-player") as self._frame:
            with ui.element("div").classes("k-name"):
                ui.element("div").classes("k-disc " + ("k-b" if color == BLACK else "k-w"))
                self._name = ui.label()
            with ui.element("div").classes("k-row"):
                self._captured = ui.label().classes("k-soft k-small")
                ui.element("div").classes("k-space")
                self.clock = ui.label().classes("k-clock")

    def show(self, name: str, rank: str | None, captured: int, is_turn: bool) -> None:
        self._name.set_text(f"{name} {rank}" if rank else name)
        self._captured.set_text(texts.CAPTURED.format(count=captured))
        self._frame.classes(add="k-turn" if is_turn else "", remove="" if is_turn else "k-turn")


def describe_status(session: Session) -> str:
    """What is the matter at a table, in a sentence."""
    table = session.table
    if table.phase is Phase.COUNTING:
        if not table.is_estimated:
            return texts.ESTIMATING
        return texts.COUNTING.format(result=describe_result(table.count()))
    if table.phase is Phase.FINISHED and table.result is not None:
        return describe_result(table.result)
    if table.is_players_turn:
        return texts.THINKING.format(player=table.settings.player) if session.is_thinking else texts.WAITING
    to_play = texts.COLORS[table.opened.game.to_play]
    text = texts.TO_PLAY.format(color=to_play)
    return texts.YOUR_TURN.format(what=text) if table.settings.seats is not Seats.BOTH else text


def describe_result(result: GameResult) -> str:
    """A result as a sentence."""
    if result.winner == 0:
        return texts.DRAW
    color = texts.COLORS[result.winner]
    if result.reason is Reason.SCORE and result.margin is not None:
        return texts.WINS_BY_POINTS.format(color=color, margin=f"{result.margin:g}")
    return texts.WINS[result.reason.value].format(color=color)
