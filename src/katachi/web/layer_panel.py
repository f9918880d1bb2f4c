"""The layers beside the board: a switch for each, its legend, and who is asked."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from nicegui import ui

from katachi.analysis.layers import KINDS, Layer, ownership_of, priors_of, visits_of, wins_of
from katachi.core.contracts import Analysis, Candidate, Limit
from katachi.go.points import format_vertex
from katachi.web import texts
from katachi.web.board import Picture
from katachi.web.engines import EngineError, LayersJob, Position, Seen
from katachi.web.heat import draw_layer, gradient_of
from katachi.web.judge_choice import JudgeChoice
from katachi.web.sessions import Session
from katachi.web.widgets import mark_chosen, quiet_button

_SECONDS: Final = 4.0  # that a position is looked at
_HIGHEST_RANK: Final = 9
_MOVES_TOLD: Final = 8
_QUICK: Final = (wins_of, priors_of, visits_of, ownership_of)  # layers that an analysis alone is enough for


class LayerPanel:
    """One layer at a time lies over the board. It is asked for again whenever the position is another."""

    def __init__(self, session: Session, judge: JudgeChoice, refresh: Callable[[], None]) -> None:
        self._session = session
        self._judge = judge
        self._refresh_all = refresh
        self._kind: str | None = None
        self._seen: Seen | None = None
        self._asked: tuple[object, ...] = ()
        self._asking: asyncio.Task[None] | None = None
        self._notice = ""
        self._knows_ranks = False
        with ui.element("section").classes("k-card k-stack").props(f'aria-label="{texts.LAYERS}"'):
            with ui.element("div").classes("k-layers"):
                self._buttons = {kind: self._build_button(kind) for kind in KINDS}
            with ui.element("div").classes("k-stack") as self._details:
                self._build_details()
        self._details.set_visibility(False)

    def _build_button(self, kind: str) -> ui.button:
        button = quiet_button(texts.LAYER_NAMES[kind], lambda: self._switch(kind))
        return button.classes("k-chip").props(f'aria-pressed=false data-layer="{kind}"')

    def _build_details(self) -> None:
        self._legend = ui.label().classes("k-soft k-small")
        with ui.element("div") as self._scale:
            self._bar = ui.element("div").classes("k-legend-bar")
            with ui.element("div").classes("k-scale"):
                self._low = ui.label()
                self._high = ui.label()
        with ui.element("div").classes("k-stack") as self._ranks:
            self._rank_text = ui.label().classes("k-soft k-small")
            self._rank = ui.slider(min=1, max=_HIGHEST_RANK, value=_HIGHEST_RANK).props("snap markers label")
            self._rank.on_value_change(self._refresh_all)

    def _switch(self, kind: str) -> None:
        self._kind = None if kind == self._kind else kind
        self._refresh_all()

    # What is asked

    def follow(self) -> None:
        """Ask about the position that is on the board now, if anybody wants to see something of it."""
        table = self._session.table
        wanted = self._kind is not None and not table.is_players_turn
        position = Position.of(table.opened.game)
        asked = (position, self._judge.offer, self._rank.value) if wanted else ()
        if asked == self._asked:
            return
        self.stop()
        self._asked = asked
        if wanted:
            self._asking = asyncio.create_task(self._ask(position, asked))

    async def _ask(self, position: Position, asked: tuple[object, ...]) -> None:
        offer = self._judge.offer
        job = LayersJob(offer.spec, position, Limit(seconds=_SECONDS), int(self._rank.value))

        def take(seen: Seen) -> None:
            if self._asked is asked:  # what comes late is about another position
                self._seen = seen
                self._knows_ranks = seen.knows_ranks
                self._refresh_all()

        try:
            take(await self._session.house.engines.run(job, take))
        except EngineError as error:
            self._notice = texts.PLAYER_FAILED.format(player=offer.name, reason=error)
            self._refresh_all()

    def stop(self) -> None:
        """Ask nobody any more."""
        if self._asking is not None:
            self._asking.cancel()
        self._asking, self._seen, self._asked = None, None, ()
        self._notice = ""

    # What is shown

    def draw_over(self, picture: Picture) -> Picture:
        """The picture of the board with the chosen layer; its numbers are told where one points."""
        layer, analysis = self._find()
        self._show_details(layer)
        if layer is None or analysis is None:
            return picture
        under, over = draw_layer(layer)
        return replace(picture, under=under, over=over, notes=_notes(layer, analysis, picture.size))

    def _find(self) -> tuple[Layer | None, Analysis | None]:
        """The chosen layer: of what was asked for, or of what the player who is thinking has found so far."""
        table = self._session.table
        if table.is_players_turn and self._session.analysis is not None:
            analysis = self._session.analysis
            quick = (make(table.opened.game, analysis) for make in _QUICK)
            return next((layer for layer in quick if layer and layer.name == self._kind), None), analysis
        if self._seen is None:
            return None, None
        return next((layer for layer in self._seen.layers if layer.name == self._kind), None), self._seen.analysis

    def _show_details(self, layer: Layer | None) -> None:
        for kind, button in self._buttons.items():
            mark_chosen(button, kind == self._kind)
            button.props(f"aria-pressed={'true' if kind == self._kind else 'false'}")
        self._details.set_visibility(self._kind is not None)
        self._scale.set_visibility(layer is not None)
        self._ranks.set_visibility(self._kind == "policy" and self._knows_ranks)
        self._rank_text.set_text(texts.RANK.format(rank=int(self._rank.value)))
        if layer is None:
            is_waiting = self._seen is None and bool(self._asked)
            self._legend.set_text(self._notice or (texts.LOOKING if is_waiting else texts.NOTHING_TO_SHOW))
            return
        self._legend.set_text(layer.legend)
        self._bar.style(f"background: {gradient_of(layer)}")
        form = "{:+.2f} {}" if layer.is_diverging else "{:,.0f} {}"
        self._low.set_text(form.format(layer.low, layer.unit))
        self._high.set_text(form.format(layer.high, layer.unit))


def _notes(layer: Layer, analysis: Analysis, size: int) -> dict[int, str]:
    """What is told of each point: its vertex, its number, and how the search expects it to go on."""
    candidates = {candidate.move: candidate for candidate in analysis.candidates}
    notes = {}
    for point in range(layer.values.size):
        if number := layer.tell(point):
            lines = [f"{format_vertex(point, size)}: {number}", *_follow_up(candidates.get(point), size)]
            notes[point] = "\n".join(lines)
    return notes


def _follow_up(candidate: Candidate | None, size: int) -> list[str]:
    if candidate is None or len(candidate.variation) < 2:
        return []
    return [" ".join(format_vertex(move, size) for move in candidate.variation[:_MOVES_TOLD])]
