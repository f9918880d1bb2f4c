"""The tools of the board editor, and what is said of a position."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from nicegui import events, ui

from katachi.go.points import BLACK
from katachi.web import editing, texts
from katachi.web.editing import Tool
from katachi.web.picture import Look
from katachi.web.record_panel import Do
from katachi.web.sessions import Session
from katachi.web.settings import Seats
from katachi.web.table import Phase
from katachi.web.widgets import mark_chosen, quiet_button

_SIGNS: Final = {
    Tool.PLAY: "◐",
    Tool.BLACK: "●",
    Tool.WHITE: "○",
    Tool.ERASE: "⌫",
    Tool.TRIANGLE: "△",
    Tool.SQUARE: "□",
    Tool.CIRCLE: "◯",
    Tool.CROSS: "✕",
    Tool.LABEL: "A",
}


class EditorPanel:
    """Opened by its button; while it is closed, clicks are moves."""

    def __init__(self, session: Session, look: Look, do: Do, refresh: Callable[[], None]) -> None:
        self._session = session
        self._look = look
        self._do = do
        self._refresh_all = refresh
        self._is_open = False
        self._open_button = quiet_button(texts.EDITOR, self.toggle, icon="edit")
        with ui.element("div").classes("k-card k-stack") as self._panel:
            with ui.element("div").classes("k-tools"):
                self._tools = {tool: self._build_tool(tool) for tool in Tool}
            with ui.element("div").classes("k-row"):
                self._turn = quiet_button("", self._change_turn).classes("k-chip")
                quiet_button(texts.DELETE_BRANCH, self._delete_branch).classes("k-chip")
            self._comment = ui.textarea(texts.COMMENT).props("outlined dense autogrow")
            self._comment.on("blur", self._keep_comment)
        self._panel.set_visibility(False)

    def _build_tool(self, tool: Tool) -> ui.button:
        name = texts.TOOLS[tool.name]
        return quiet_button(_SIGNS[tool], lambda: self._choose(tool)).props(f'dense aria-label="{name}"').tooltip(name)

    def toggle(self) -> None:
        """Open the editor, or close it and go on playing."""
        if self._is_open or not self._may_edit():
            self._close()
        else:
            self._is_open = True
            self._panel.set_visibility(True)
        self._refresh_all()

    def _close(self) -> None:
        self._is_open = False
        self._look.tool = Tool.PLAY
        self._panel.set_visibility(False)

    def _may_edit(self) -> bool:
        """A game against a player is edited after it, not while it is played."""
        table = self._session.table
        return table.phase is Phase.FINISHED or (table.phase is Phase.PLAYING and table.settings.seats is Seats.BOTH)

    def _choose(self, tool: Tool) -> None:
        self._look.tool = tool
        self._refresh_all()

    def _change_turn(self) -> None:
        self._do(lambda table: editing.set_turn(table.opened, -table.opened.game.to_play))

    def _delete_branch(self) -> None:
        self._do(lambda table: table.opened.remove())

    def _keep_comment(self, _: events.GenericEventArguments) -> None:
        text = self._comment.value or ""
        self._do(lambda table: editing.set_comment(table.opened, text))

    def refresh(self) -> None:
        """Show the tools, or close them where nothing may be edited any more."""
        if self._is_open and not self._may_edit():
            self._close()
        self._open_button.set_visibility(self._may_edit())
        self._open_button.set_text(texts.CLOSE_EDITOR if self._is_open else texts.EDITOR)
        if not self._is_open:
            return
        for tool, button in self._tools.items():
            mark_chosen(button, tool is self._look.tool)
        opened = self._session.table.opened
        self._turn.set_text(texts.BLACK_TO_PLAY if opened.game.to_play == BLACK else texts.WHITE_TO_PLAY)
        self._comment.set_value(opened.node.text("C"))
