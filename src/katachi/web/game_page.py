"""The page of one table: its board, who plays, what can be done, and the record with its variations."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from nicegui import events, ui
from nicegui.element import Element
from nicegui.events import GenericEventArguments
from starlette.requests import Request

from katachi.analysis.judges import count_turns
from katachi.analysis.layers import LAYERS, LayerKind
from katachi.analysis.records import LEAST_MISTAKE, MoveRecord, PositionRecord, find_mistakes
from katachi.analysis.report import describe_models, describe_position, describe_value
from katachi.core.contracts import Analysis, Candidate, Limit
from katachi.core.drawing import Layer, Style
from katachi.go.points import BLACK, WHITE, GameResult, Reason, format_vertex
from katachi.sgf import Node, SgfError, format_sgf
from katachi.sgf.record import format_grade
from katachi.web import table as editing
from katachi.web import texts
from katachi.web.engines import EngineError, LayersJob, Position, Review, ReviewJob, Seen
from katachi.web.sessions import Session
from katachi.web.table import (
    BoardElement,
    Look,
    OpenRecord,
    Opponent,
    Phase,
    Picture,
    Seats,
    Spot,
    Table,
    TableError,
    Tool,
    Variation,
    draw_table,
    format_left,
)
from katachi.web.widgets import icon_button, mark_chosen, page_frame, quiet_button, select

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
        with ui.element("nav").classes("k-nav").props(f'aria-label="{texts.MOVES_NAV}"'):
            self._buttons = [self._way("first"), self._way("back")]
            self._number = ui.label().classes("k-number")
            self._buttons += [self._way("forward"), self._way("last")]
        self._chips = ui.element("div").classes("k-row")
        if repairs := session.table.opened.record.repairs:
            with ui.expansion(texts.REPAIRS.format(count=len(repairs)), icon="build").props("dense").classes("k-card"):
                ui.label("\n".join(map(str, repairs[:_MOST_REPAIRS]))).classes("k-plain k-repairs")
        self._comment = ui.label().classes("k-plain k-comment k-card")
        with ui.element("div").classes("k-row"):
            ui.link(texts.SAVE_SGF, f"/game/{session.name}/record.sgf").props("download")

    def _way(self, command: str) -> ui.button:
        return icon_button(_ICONS[command], texts.WAYS[command], lambda: self.go(command))

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


# The tools of the board editor, and what is said of a position.

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
                quiet_button(texts.DELETE_BRANCH, lambda: do(lambda table: table.opened.remove())).classes("k-chip")
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


# Who is asked about positions: one choice for the layers and the review of a page.

_USUAL: Final = "level-10"


class AnalystChoice:
    """A field with everybody who plays on boards of this size."""

    def __init__(self, session: Session, on_change: Callable[[], None]) -> None:
        self._opponents = session.application.opponents
        size = session.table.opened.size
        names = [opponent.name for opponent in self._opponents.values() if opponent.plays(size)]
        field = select(names, _USUAL if _USUAL in names else names[0], texts.ANALYST)
        field.on_value_change(on_change)
        self._field = field

    @property
    def opponent(self) -> Opponent:
        return self._opponents[str(self._field.value)]


# Layers as spots on the board: which color a number has, in maps that color-blind people can read too.
#
# What has a middle is Black's on one side of it and White's on the other: territory in the stones' own colors, all else
# in blue and crimson. What has none goes from pale yellow to dark blue, and gets darker all the way.

_Color = tuple[int, int, int]
_SEQUENCE: Final[Sequence[_Color]] = ((250, 240, 190), (160, 205, 160), (60, 140, 150), (35, 85, 135), (30, 35, 90))
_BLACKS: Final = "#1d5fa8"  # blue, for what is Black's
_WHITES: Final = "#b3224f"  # crimson, which wood does not swallow
_WOOD: Final = "#e3ba74"
_STONE_BLACK: Final = "#101014"
_STONE_WHITE: Final = "#fdfcf6"
_LEAST: Final = 0.06  # of the scale: what is nearer to the middle is not shown
_LARGEST: Final = 13.0  # half the side of a square


def draw_layer(layer: Layer) -> tuple[list[Spot], list[Spot]]:
    """What a layer shows under the stones, and over them."""
    mark = _MARKS[layer.style]
    spots = [spot for point in range(layer.values.size) if (spot := mark(layer, point)) is not None]
    return (spots, []) if layer.style == "tint" else ([], spots)


def _disc(layer: Layer, point: int) -> Spot | None:
    shade = layer.shade(point)
    if shade is None:
        return None
    text = layer.labels[point] if layer.labels else ""
    return Spot(point, _mix(shade), 0.92, text, "#fdfcf6" if shade > 0.45 else "#1c1a16")


def _square(layer: Layer, point: int) -> Spot | None:
    if (strength := _strength(layer, point)) is None:
        return None
    color = _STONE_BLACK if strength > 0 else _STONE_WHITE
    return Spot(point, color, 0.85, round=False, half=round(_LARGEST * abs(strength) ** 0.5, 1))


def _tint(layer: Layer, point: int) -> Spot | None:
    if (strength := _strength(layer, point)) is None:
        return None
    return Spot(point, _BLACKS if strength > 0 else _WHITES, round(0.75 * abs(strength), 3))


_MARKS: Final[dict[Style, Callable[[Layer, int], Spot | None]]] = {"disc": _disc, "square": _square, "tint": _tint}


def _strength(layer: Layer, point: int) -> float | None:
    """−1 to 1 on a scale with a middle, None too near to it."""
    shade = layer.shade(point)
    return None if shade is None or abs(2 * shade - 1) < _LEAST else 2 * shade - 1


def _mix(shade: float) -> str:
    """A color of the sequence, 0 to 1."""
    place = shade * (len(_SEQUENCE) - 1)
    low = min(int(place), len(_SEQUENCE) - 2)
    share = place - low
    mixed = (round(a + share * (b - a)) for a, b in zip(_SEQUENCE[low], _SEQUENCE[low + 1], strict=True))
    return "#" + "".join(f"{part:02x}" for part in mixed)


def gradient_of(layer: Layer) -> str:
    """The scale of a layer as a CSS background, the low end on the left."""
    stops = {
        "disc": [_mix(number / 8) for number in range(9)],
        "square": [_STONE_WHITE, _WOOD, _STONE_BLACK],
        "tint": [_WHITES, _WOOD, _BLACKS],
    }[layer.style]
    return f"linear-gradient(to right, {', '.join(stops)})"


# The layers beside the board: a switch for each, its legend, and who is asked.

_SECONDS: Final = 4.0  # that a position is looked at
_HIGHEST_RANK: Final = 9
_MOVES_LISTED: Final = 8


class LayerPanel:
    """One layer at a time lies over the board. It is asked for again whenever the position is another."""

    def __init__(self, session: Session, analyst: AnalystChoice, refresh: Callable[[], None]) -> None:
        self._session = session
        self._analyst = analyst
        self._refresh_all = refresh
        self._kind: LayerKind | None = None
        self._seen: Seen | None = None
        self._asked: tuple[object, ...] = ()
        self._asking: asyncio.Task[None] | None = None
        self._notice = ""
        self._knows_ranks = False
        with ui.element("section").classes("k-card k-stack").props(f'aria-label="{texts.LAYERS}"'):
            with ui.element("div").classes("k-layers"):
                self._buttons = {kind: self._build_button(kind) for kind in LAYERS.values()}
            with ui.element("div").classes("k-stack") as self._details:
                self._build_details()
        self._details.set_visibility(False)

    def _build_button(self, kind: LayerKind) -> ui.button:
        button = quiet_button(kind.button, lambda: self._switch(kind))
        return button.classes("k-chip").props(f'aria-pressed=false data-layer="{kind.name}"')

    def _build_details(self) -> None:
        self._legend = ui.label().classes("k-soft k-small")
        with ui.element("div") as self._scale:
            self._bar = ui.element("div").classes("k-legend-bar")
            with ui.element("div").classes("k-scale"):
                self._low = ui.label()
                self._high = ui.label()
        with ui.element("div").classes("k-stack") as self._ranks:
            self._rank_text = ui.label().classes("k-soft k-small")
            self._rank = ui.slider(min=1, max=_HIGHEST_RANK, value=_HIGHEST_RANK).props("snap label")
            self._rank.on_value_change(self._refresh_all)

    def _switch(self, kind: LayerKind) -> None:
        self._kind = None if kind == self._kind else kind
        self._refresh_all()

    # What is asked

    def follow(self) -> None:
        """Ask about the position that is on the board now, if anybody wants to see something of it."""
        table = self._session.table
        wanted = self._kind is not None and not table.is_players_turn
        position = Position.of(table.opened.game)
        asked = (position, self._analyst.opponent, self._rank.value) if wanted else ()
        if asked == self._asked:
            return
        self.stop()
        self._asked = asked
        if wanted:
            self._asking = asyncio.create_task(self._ask(position, asked))

    async def _ask(self, position: Position, asked: tuple[object, ...]) -> None:
        opponent = self._analyst.opponent
        job = LayersJob(opponent.spec, position, Limit(seconds=_SECONDS), int(self._rank.value))

        def take(seen: Seen) -> None:
            if self._asked is asked:  # what comes late is about another position
                self._seen = seen
                self._knows_ranks = seen.lowest_rank is not None
                if seen.lowest_rank is not None:
                    self._rank.props["min"] = seen.lowest_rank  # a number, as text would be joined instead of added
                self._refresh_all()

        try:
            take(await self._session.application.engines.run(job, take, user=self._session.user))
        except EngineError as error:
            self._notice = texts.PLAYER_FAILED.format(player=opponent.name, reason=error)
            self._refresh_all()

    def stop(self) -> None:
        """Ask nobody any more."""
        if self._asking is not None:
            self._asking.cancel()
        self._asking, self._seen, self._asked = None, None, ()
        self._notice = ""

    # What is shown

    def draw_over(self, picture: Picture) -> Picture:
        """The picture of the board with the chosen layer; its numbers are shown where one points."""
        layer, analysis = self._find()
        self._show_details(layer)
        if layer is None or analysis is None:
            return picture
        under, over = draw_layer(layer)
        return replace(picture, under=under, over=over, notes=_notes(layer, analysis, picture.size))

    def _find(self) -> tuple[Layer | None, Analysis | None]:
        """The chosen layer: of what was asked for, or of what the player who is thinking has found so far."""
        table, analysis = self._session.table, self._session.analysis
        if self._kind is None:
            return None, None
        if table.is_players_turn and analysis is not None:
            return self._kind.of_analysis(table.opened.game, analysis), analysis
        if self._seen is None:
            return None, None
        found = {layer.name: layer for layer in self._seen.layers}
        return found.get(self._kind.name), self._seen.analysis

    def _show_details(self, layer: Layer | None) -> None:
        for kind, button in self._buttons.items():
            mark_chosen(button, kind == self._kind)
            button.props(f"aria-pressed={'true' if kind == self._kind else 'false'}")
        self._details.set_visibility(self._kind is not None)
        self._scale.set_visibility(layer is not None)
        self._ranks.set_visibility(self._kind is not None and self._kind.by_rank and self._knows_ranks)
        rank = format_grade(int(self._rank.value))
        self._rank_text.set_text(texts.RANK.format(rank=rank))
        self._rank.props(f'label-value="{rank}"')
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
    """What is shown of each point: its vertex, its number, and how the search expects it to continue."""
    candidates = {candidate.move: candidate for candidate in analysis.candidates}
    notes = {}
    for point in range(layer.values.size):
        if number := layer.describe(point):
            lines = [f"{format_vertex(point, size)}: {number}", *_follow_up(candidates.get(point), size)]
            notes[point] = "\n".join(lines)
    return notes


def _follow_up(candidate: Candidate | None, size: int) -> list[str]:
    if candidate is None or len(candidate.variation) < 2:
        return []
    return [" ".join(format_vertex(move, size) for move in candidate.variation[:_MOVES_LISTED])]


# The graph of a game as an element of a page: win rate and score by turns; a click goes to a turn.


class GraphElement(Element, component="graph.js"):
    """A graph of as many turns as are analysed, in a frame for all turns of the game."""

    def __init__(self, on_turn: Callable[[int], None]) -> None:
        super().__init__()
        self._on_turn = on_turn
        self._analysed = 0
        self._props["label"] = texts.GRAPH
        self.show((), 0, None)
        self.on("turn", self._take)

    def show(self, positions: Sequence[PositionRecord], turns: int, here: int | None) -> None:
        """Draw these positions, and a line where one stands."""
        self._analysed = len(positions)
        self._props["wins"] = [position.black_wins for position in positions]
        self._props["leads"] = [position.black_lead for position in positions]
        self._props["mistakes"] = [turn for turn, position in enumerate(positions) if _is_mistake(position)]
        self._props["notes"] = [_describe(position) for position in positions]
        self._props["turns"] = max(turns, len(positions))
        self._props["here"] = here
        self.update()

    def _take(self, event: GenericEventArguments) -> None:
        if type(event.args) is int and 0 <= event.args < self._analysed:
            self._on_turn(event.args)


def _is_mistake(position: PositionRecord) -> bool:
    move = position.move
    return move is not None and (move.sure_loss or 0.0) >= LEAST_MISTAKE and position.black_wins is not None


def _describe(position: PositionRecord) -> str:
    move = position.move
    first = "" if move is None else f"{move.number} {move.move}: "
    return first + describe_value(position.black_wins, position.black_lead).rstrip(".")


# The review of a game: its graph, its biggest mistakes, and what is said of the move on the board.

_MISTAKES_SHOWN: Final = 8


class ReviewPanel:
    """Started by its button; then it grows position by position while one looks at something else."""

    def __init__(self, session: Session, analyst: AnalystChoice, do: Do, refresh: Callable[[], None]) -> None:
        self._session = session
        self._analyst = analyst
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
            with ui.expansion(texts.HOW_THE_MODEL_SEES_IT).props("dense").classes("k-small") as self._behind:
                self._models = ui.label().classes("k-plain k-small k-words")
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
        opponent = self._analyst.opponent
        try:
            job = ReviewJob(opponent.spec, record)
            review = await self._session.application.engines.run(job, self._take, user=self._session.user)
        except EngineError as error:
            self._asking = None
            self._notice = texts.PLAYER_FAILED.format(player=opponent.name, reason=error)
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
        """The moves that were analysed have been taken back."""
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
        self._words.set_text("" if turn is None else "\n".join(describe_position(self._positions[turn])))
        models = [] if turn is None else describe_models(self._positions[turn].move)
        self._models.set_text("\n".join(models))
        self._behind.set_visibility(bool(models))
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
        loss = f"{100 * (move.sure_loss or 0):.0f}"
        text = texts.MISTAKE.format(number=move.number, color=move.color.capitalize(), move=move.move, loss=loss)
        if move.best is not None and move.best != move.move:
            text += texts.BETTER.format(best=move.best)
        quiet_button(text, lambda: self._go(turn)).classes("k-mistake").props("align=left")


# Game page

_SECONDS_BETWEEN_TICKS: Final = 0.5


def build_game_page(session: Session, request: Request) -> None:
    """Everything on the page of a table; it looks again whenever something happens there."""
    record = session.table.opened.record
    with page_frame(request, f"{record.black or '?'} – {record.white or '?'}"):
        view = GameView(session)
    # Not before the page is live: who only fetches it changes nothing.
    ui.context.client.on_connect(lambda: session.watch(view.refresh))
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
        with ui.element("div").classes("k-stack") as self._preparing:
            self._preparing_text = ui.label().classes("k-soft k-small").props("aria-live=polite")
            self._preparing_bar = ui.linear_progress(show_value=False)
        with ui.element("div").classes("k-notice k-stack") as self._notice:
            self._notice_text = ui.label().classes("k-plain")
            self._again = quiet_button(texts.ASK_AGAIN, lambda: self._do(lambda _: None))
        with ui.element("div").classes("k-bar"):
            self._pass = quiet_button(texts.PASS, lambda: self._try(self._session.pass_turn))
            self._undo = quiet_button(texts.UNDO, lambda: self._do(lambda table: table.undo()))
            self._resign = quiet_button(texts.RESIGN, lambda: self._do(lambda table: table.resign()))
            self._count = quiet_button(texts.COUNT, lambda: self._do(lambda table: table.begin_count()))
            self._accept = quiet_button(texts.ACCEPT, lambda: self._do(lambda table: table.accept_count()))
            self._play_on = quiet_button(texts.PLAY_ON, lambda: self._do(lambda table: table.play_on()))
            self._accept.classes("k-on")
        self._record_panel = RecordPanel(self._session, self._do)
        analyst = AnalystChoice(self._session, self.refresh)
        self._layers = LayerPanel(self._session, analyst, self.refresh)
        self._review = ReviewPanel(self._session, analyst, self._do, self.refresh)
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

    def _command(self, command: str) -> None:
        """A key."""
        if command == "pass":
            self._try(self._session.pass_turn)
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
        self._show_preparing()
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
        self._session.leave(self.refresh)
        self._layers.stop()
        self._review.stop()

    def _show_preparing(self) -> None:
        progress = self._session.progress
        self._preparing.set_visibility(self._session.is_preparing)
        self._preparing_bar.set_visibility(progress is not None)
        self._preparing_text.set_text(texts.PREPARING if progress is None else texts.COMPILING)
        if progress is not None:
            self._preparing_bar.set_value(progress.share)
            is_open = progress.share >= 1
            self._preparing_bar.props(add="indeterminate" if is_open else "", remove="" if is_open else "indeterminate")

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
        is_thinking = session.is_thinking and not session.is_preparing
        return texts.THINKING.format(player=table.settings.player) if is_thinking else texts.WAITING
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
