"""The review of a game: its graph, its biggest mistakes, and what is said of the move on the board."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

from nicegui import ui

from katachi.analysis.judges import count_turns
from katachi.analysis.records import MoveRecord, PositionRecord, find_mistakes
from katachi.analysis.report import tell_position
from katachi.sgf import Node, format_sgf
from katachi.web import texts
from katachi.web.engines import EngineError, Review, ReviewJob
from katachi.web.graph import GraphElement
from katachi.web.judge_choice import JudgeChoice
from katachi.web.record_panel import Do
from katachi.web.sessions import Session
from katachi.web.widgets import quiet_button

_MISTAKES_SHOWN: Final = 8


class ReviewPanel:
    """Begun by its button; then it grows position by position while one looks at something else."""

    def __init__(self, session: Session, judge: JudgeChoice, do: Do, refresh: Callable[[], None]) -> None:
        self._session = session
        self._judge = judge
        self._do = do
        self._refresh_all = refresh
        self._positions: list[PositionRecord] = []
        self._nodes: list[Node] = []
        self._turns = 0
        self._notice = ""
        self._asking: asyncio.Task[None] | None = None
        self._begin_button = quiet_button(texts.REVIEW, self._begin, icon="insights")
        with ui.element("section").classes("k-card k-stack").props(f'aria-label="{texts.REVIEW}"') as self._panel:
            self._graph = GraphElement(self._go)
            self._progress = ui.label().classes("k-soft k-small")
            self._mistakes = ui.element("div").classes("k-games")
            self._words = ui.label().classes("k-plain k-small k-words")
            self._save = ui.link(texts.SAVE_ANALYZED, f"/game/{session.name}/analyzed.sgf").props("download")
        self._panel.set_visibility(False)
        if session.review is not None:
            self._take_all(session.review)

    # Asking

    def _begin(self) -> None:
        record = self._session.table.opened.record
        self._prepare()
        self._asking = asyncio.create_task(self._ask(format_sgf(record)))
        self._refresh_all()

    def _prepare(self) -> None:
        record = self._session.table.opened.record
        self._positions = []
        self._notice = ""
        self._nodes = list(record.main_line())
        self._turns = count_turns(record)
        self._panel.set_visibility(True)

    async def _ask(self, record: str) -> None:
        offer = self._judge.offer
        try:
            review = await self._session.house.engines.run(ReviewJob(offer.spec, record), self._take)
        except EngineError as error:
            self._asking = None
            self._notice = texts.PLAYER_FAILED.format(player=offer.name, reason=error)
            self._refresh_all()
            return
        self._session.review = review
        self._take_all(review)
        self._refresh_all()

    def _take(self, positions: tuple[PositionRecord, ...]) -> None:
        if self._asking is not None:
            self._positions += positions
            self._refresh_all()

    def _take_all(self, review: Review) -> None:
        self._prepare()
        self._positions = list(review.positions)
        self._asking = None
        self._show_mistakes()

    def stop(self) -> None:
        """Ask nobody any more."""
        if self._asking is not None:
            self._asking.cancel()
            self._asking = None

    def _forget(self) -> None:
        """The moves that were judged have been taken back."""
        self.stop()
        self._session.review = None
        self._positions, self._nodes = [], []
        self._panel.set_visibility(False)

    # Showing

    def refresh(self) -> None:
        """Draw what is known; where one stands is marked if that is on the main line."""
        opened = self._session.table.opened
        if self._nodes != list(opened.record.main_line())[: len(self._nodes)]:
            self._forget()
        self._begin_button.set_visibility(bool(opened.record.root.children) and self._asking is None)
        if not self._panel.visible:
            return
        turn = self._turn_of(opened.node)
        self._graph.show(self._positions, self._turns, turn)
        done, turns = len(self._positions), self._turns
        self._progress.set_text(self._notice or ("" if done >= turns else texts.REVIEWED.format(done=done, all=turns)))
        self._words.set_text("" if turn is None else "\n".join(tell_position(self._positions[turn])))
        self._save.set_visibility(self._session.review is not None)

    def _turn_of(self, node: Node) -> int | None:
        for turn, position in enumerate(self._positions):
            if position.node < len(self._nodes) and self._nodes[position.node] is node:
                return turn
        return None

    def _go(self, turn: int) -> None:
        node = self._nodes[self._positions[turn].node]
        self._do(lambda table: table.opened.go_to(node))

    def _show_mistakes(self) -> None:
        self._mistakes.clear()
        with self._mistakes:
            for move in find_mistakes(self._positions)[:_MISTAKES_SHOWN]:
                self._add_mistake(move)

    def _add_mistake(self, move: MoveRecord) -> None:
        turn = next(number for number, position in enumerate(self._positions) if position.move == move)
        loss = f"{100 * (move.loss or 0):.0f}"
        text = texts.MISTAKE.format(number=move.number, color=move.color.capitalize(), move=move.move, loss=loss)
        if move.best is not None and move.best != move.move:
            text += texts.BETTER.format(best=move.best)
        quiet_button(text, lambda: self._go(turn)).classes("k-mistake").props("align=left")
