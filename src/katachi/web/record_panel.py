"""The record beside the board: going through the moves, choosing variations, comments, repairs, saving."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from nicegui import ui

from katachi.go.points import format_vertex
from katachi.sgf import Node
from katachi.web import editing, texts
from katachi.web.open_record import OpenRecord, Variation
from katachi.web.sessions import Session
from katachi.web.settings import TableError
from katachi.web.table import Table
from katachi.web.widgets import icon_button, quiet_button

Do = Callable[[Callable[[Table], None]], None]

_STEPS: Final = {"back": -1, "forward": 1, "back10": -10, "forward10": 10, "first": -100_000, "last": 100_000}
_ICONS: Final = {"first": "first_page", "back": "chevron_left", "forward": "chevron_right", "last": "last_page"}
_MOST_CHIPS: Final = 12
_MOST_REPAIRS: Final = 50


class RecordPanel:
    """Where one is in the record, and the ways to go from there."""

    def __init__(self, session: Session, do: Do) -> None:
        self._session = session
        self._do = do
        self._chips_for: list[Variation] = []
        self._build_way()
        self._build_repairs()
        self._build_comment()
        with ui.element("div").classes("k-row"):
            ui.link(texts.SAVE_SGF, f"/game/{session.name}/record.sgf").props("download")

    def _build_way(self) -> None:
        with ui.element("nav").classes("k-nav").props(f'aria-label="{texts.MOVES_NAV}"'):
            self._buttons = [self._way("first"), self._way("back")]
            self._number = ui.label().classes("k-number")
            self._buttons += [self._way("forward"), self._way("last")]
        self._chips = ui.element("div").classes("k-row")

    def _way(self, command: str) -> ui.button:
        return icon_button(_ICONS[command], texts.WAYS[command], lambda: self.go(command))

    def _build_repairs(self) -> None:
        repairs = self._session.table.opened.record.repairs
        if repairs:
            with ui.expansion(texts.REPAIRS.format(count=len(repairs)), icon="build").props("dense").classes("k-card"):
                lines = [str(repair) for repair in repairs[:_MOST_REPAIRS]]
                ui.label("\n".join(lines)).classes("k-plain k-repairs")

    def _build_comment(self) -> None:
        self._comment = ui.label().classes("k-plain k-comment k-card")

    # Going about

    def go(self, command: str) -> None:
        """Go where a key or a button says."""
        if command in ("previous", "next"):
            self._change_branch(1 if command == "next" else -1)
        else:
            self._walk(lambda opened: opened.step(_STEPS[command]))

    def _walk(self, action: Callable[[OpenRecord], None]) -> None:
        def walk(table: Table) -> None:
            if not table.can_go_about:
                raise TableError(texts.CANNOT_GO_ABOUT)
            action(table.opened)

        self._do(walk)

    def _change_branch(self, direction: int) -> None:
        """Go to the variation beside this one."""

        def change(opened: OpenRecord) -> None:
            nodes = [variation.node for variation in opened.siblings()]
            opened.go_to(nodes[(nodes.index(opened.node) + direction) % len(nodes)])

        self._walk(change)

    # What is shown

    def refresh(self) -> None:
        opened = self._session.table.opened
        line = len(opened.line()) - 1
        here = len(opened.node.path()) - 1
        self._number.set_text(f"{here} / {line}")
        for button in self._buttons:
            button.set_enabled(self._session.table.can_go_about)
        comment = opened.node.text("C")[: editing.MAX_COMMENT]
        self._comment.set_text(comment)
        self._comment.set_visibility(bool(comment))
        self._show_variations(opened)

    def _show_variations(self, opened: OpenRecord) -> None:
        """A chip for every way to go on where there are several; built again only if they have changed."""
        found = opened.variations()
        shown = found[:_MOST_CHIPS] if len(found) > 1 else []
        if shown == self._chips_for:
            return
        self._chips_for = shown
        self._chips.clear()
        with self._chips:
            for letter, variation in zip("abcdefghijklmnopqrstuvwxyz", shown, strict=False):
                vertex = texts.EDIT_STEP if variation.move is None else format_vertex(variation.move, opened.size)
                self._add_chip(f"{letter} {vertex}", variation.node)

    def _add_chip(self, text: str, node: Node) -> None:
        quiet_button(text, lambda: self._walk(lambda opened: opened.go_to(node))).classes("k-chip")
