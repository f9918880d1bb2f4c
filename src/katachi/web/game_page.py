"""The page of one table: its board, who plays, what can be done, and the record with its variations."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Final, NamedTuple

from nicegui import events, ui
from nicegui.element import Element
from starlette.requests import Request

from katachi.analysis.layers import LAYERS, LayerKind
from katachi.core.contracts import Analysis, Candidate, Limit
from katachi.core.drawing import Layer, Style
from katachi.go.game import Game
from katachi.go.points import BLACK, PASS, WHITE, GameResult, Reason, format_vertex
from katachi.sgf import Node, SgfError, SgfGame
from katachi.sgf.record import format_grade
from katachi.web import table as editing
from katachi.web import texts
from katachi.web.engines import EngineError, LayersJob, Position, Seen
from katachi.web.review import ReviewPanel, explain_mistake, show_alternatives
from katachi.web.sessions import Choices, Session, share_path
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
    Tally,
    Tool,
    Variation,
    can_judge,
    draw_table,
    format_left,
)
from katachi.web.widgets import (
    ask,
    enter_game,
    heading,
    icon_button,
    main_button,
    mark_chosen,
    page_frame,
    quiet_button,
    section,
    select,
)

Do = Callable[[Callable[[Table], None]], None]

_STEPS: Final = {"back": -1, "forward": 1, "back10": -10, "forward10": 10, "first": -100_000, "last": 100_000}
_ICONS: Final = {"first": "first_page", "back": "chevron_left", "forward": "chevron_right", "last": "last_page"}
_MOST_CHIPS: Final = 12
_MOST_REPAIRS: Final = 50
_MOST_IN_TREE: Final = 400  # nodes


class PlacedNode(NamedTuple):
    """A node of a tree, and where it is drawn; its parent by number."""

    node: Node
    x: int
    y: int
    parent: int | None


def lay_out(root: Node, most: int = _MOST_IN_TREE) -> list[PlacedNode]:
    """The game along the top, every variation on the highest line below its beginning that is free."""
    placed: list[PlacedNode] = []
    lowest: dict[int, int] = {}
    waiting: list[tuple[Node, int, int, int | None]] = [(root, 0, 0, None)]
    while waiting and len(placed) < most:
        start, depth, least, parent = waiting.pop()
        line = list(islice(start.main_line(), most - len(placed)))
        row = max(least, *(lowest.get(depth + step, -1) + 1 for step in range(len(line))))
        for step, node in enumerate(line):
            lowest[depth + step] = row
            placed.append(PlacedNode(node, depth + step, row, parent))
            parent = len(placed) - 1
            waiting += [(child, depth + step + 1, row + 1, parent) for child in node.children[1:]]
    return placed


class TreeElement(Element, component="tree.js"):
    """The moves of a record; a click goes to one."""

    def __init__(self, on_node: Callable[[Node], None]) -> None:
        super().__init__()
        self._on_node = on_node
        self._placed: list[PlacedNode] = []
        self._props["label"] = texts.TREE
        self._props["nodes"] = []
        self.on("node", self._take)

    def show(self, opened: OpenRecord) -> None:
        """Draw the tree if it has changed, and where one is."""
        self._placed = lay_out(opened.record.root)
        nodes = [self._describe(one, opened) for one in self._placed]
        here = next((number for number, one in enumerate(self._placed) if one.node is opened.node), None)
        if (nodes, here) != (self._props.get("nodes"), self._props.get("here")):
            self._props["nodes"], self._props["here"] = nodes, here
            self.update()

    @staticmethod
    def _describe(one: PlacedNode, opened: OpenRecord) -> dict[str, object]:
        color = next((word for name, word in (("B", "black"), ("W", "white")) if name in one.node.properties), "")
        move = opened.move_of(one.node)
        name = f"{one.x} {format_vertex(move, opened.size)}" if color and move is not None else texts.EDIT_STEP
        return {"x": one.x, "y": one.y, "parent": one.parent, "color": color, "number": one.x, "name": name}

    def _take(self, event: events.GenericEventArguments) -> None:
        if type(event.args) is int and 0 <= event.args < len(self._placed):
            self._on_node(self._placed[event.args].node)


class RecordPanel:
    """Where one is in the record, and the ways to go from there."""

    def __init__(self, session: Session, do: Do) -> None:
        self._session = session
        self._do = do
        self._chips_for: list[Variation] = []

    def build_nav(self) -> None:
        """The buttons to go on and back."""
        with ui.element("nav").classes("k-nav").props(f'aria-label="{texts.MOVES_NAV}"'):
            self._buttons = [self._way("first"), self._way("back")]
            self._number = ui.label().classes("k-number k-place")
            self._buttons += [self._way("forward"), self._way("last")]

    def build(self) -> None:
        """What is known of the game, its variations and comments, and the ways to take it away."""
        session = self._session
        self._chips = ui.element("div").classes("k-row")
        with ui.expansion(texts.TREE).props("dense").classes("k-card k-tree") as self._tree_place:
            self._tree = TreeElement(lambda node: self._walk(lambda opened: opened.go_to(node)))
        self._comment = ui.label().classes("k-plain k-comment k-card")
        if repairs := session.table.opened.record.repairs:
            with ui.expansion(texts.REPAIRS.format(count=len(repairs)), icon="build").props("dense").classes("k-card"):
                ui.label("\n".join(map(str, repairs[:_MOST_REPAIRS]))).classes("k-plain k-repairs")
        self._facts = ui.label().classes("k-soft k-small k-plain")
        with ui.element("div").classes("k-row k-small"):
            ui.link(texts.SAVE_SGF, f"/game/{session.name}/record.sgf").props("download")
            ui.link(texts.SAVE_PICTURE, f"/game/{session.name}/board.svg").props("download")
            quiet_button(texts.COPY_LINK, self._copy_link).classes("k-chip")

    def _copy_link(self) -> None:
        path = share_path(self._session.table.opened.record)
        ui.run_javascript(f"navigator.clipboard.writeText(location.origin + {json.dumps(path)})")
        ui.notify(texts.LINK_COPIED, position="top", timeout=2500)

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
        self._facts.set_text(describe_record(opened.record))
        self._tree_place.set_visibility(bool(opened.record.root.children))
        self._tree.show(opened)
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


def describe_record(record: SgfGame) -> str:
    """What was agreed about a game, and how it ended: ``9×9 · komi 7 · chinese · B+2.5``."""
    handicap = texts.HANDICAP_OF.format(count=record.handicap) if record.handicap else ""
    komi = texts.KOMI_OF.format(komi=f"{record.rules.komi:g}")
    facts = (f"{record.size}×{record.size}", handicap, komi, record.rules.name, str(record.result or ""))
    return " · ".join(filter(None, (*facts, record.root.text("DT")[:40])))


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
                remove = partial(self._do, lambda table: table.opened.remove())
                ask_first = partial(ask, texts.ASK_DELETE_BRANCH, texts.DELETE_BRANCH, remove)
                quiet_button(texts.DELETE_BRANCH, ask_first).classes("k-chip")
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
    """A field with everybody who can value positions on boards of this size."""

    def __init__(self, session: Session) -> None:
        self._opponents = session.application.opponents
        size = session.table.opened.size
        fitting = [opponent for opponent in self._opponents.values() if opponent.plays(size)]
        names = [opponent.name for opponent in fitting if can_judge(opponent.spec, size)]
        self._names = names or [opponent.name for opponent in fitting]
        self._name = _USUAL if _USUAL in self._names else self._names[0]

    def build(self, on_change: Callable[[], None]) -> None:
        """The field."""

        def change(event: events.ValueChangeEventArguments[str | None]) -> None:
            self._name = str(event.value)
            on_change()

        select(self._names, self._name, texts.ANALYST).on_value_change(change)

    @property
    def opponent(self) -> Opponent:
        return self._opponents[self._name]


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
        self._is_hint = False
        with ui.element("div").classes("k-layers"):
            self._buttons = {kind: self._build_button(kind) for kind in LAYERS.values()}
        with ui.element("div").classes("k-stack k-tight") as self._details:
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
            self._rank = ui.slider(min=1, max=_HIGHEST_RANK, value=_HIGHEST_RANK)
            self._rank.props(f'snap label aria-label="{texts.RANK_SLIDER}"')
            self._rank.on_value_change(self._refresh_all)

    def _switch(self, kind: LayerKind) -> None:
        self._is_hint = False
        self._kind = None if kind == self._kind else kind
        self._refresh_all()

    def switch_hint(self) -> None:
        """Show where to play, until something is played."""
        self._is_hint, self._kind = not self._is_hint, None
        self._refresh_all()

    def switch_estimate(self) -> None:
        """Show who owns what, and what that adds up to."""
        self._switch(LAYERS["territory"])

    @property
    def estimate(self) -> str:
        """What the territory adds up to, in a sentence; empty if it is not shown."""
        if self._kind is not LAYERS["territory"] or self._seen is None:
            return ""
        return describe_estimate(self._seen.analysis, self._session.table.opened.game)

    @property
    def hint(self) -> str:
        """The hint in a sentence; empty if none is shown."""
        if not self._is_hint:
            return ""
        if self._seen is None or not self._seen.analysis.candidates:
            return self._notice or texts.LOOKING
        best = self._seen.analysis.candidates[0].move
        return texts.HINT_IS.format(move=format_vertex(best, self._session.table.opened.size))

    # What is asked

    def follow(self) -> None:
        """Ask about the position that is on the board now, if anybody wants to see something of it."""
        table = self._session.table
        position = Position.of(table.opened.game)
        if self._is_hint and self._asked and self._asked[0] != position:
            self._is_hint = False
        wanted = (self._kind is not None or self._is_hint) and not table.is_players_turn
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
        if self._is_hint:
            self._show_details(None)
            return self._draw_hint(picture)
        layer, analysis = self._find()
        self._show_details(layer)
        if layer is None or analysis is None:
            return picture
        under, over = draw_layer(layer)
        return replace(picture, under=under, over=over, notes=_notes(layer, analysis, picture.size))

    def _draw_hint(self, picture: Picture) -> Picture:
        best = self._seen.analysis.candidates[0].move if self._seen and self._seen.analysis.candidates else PASS
        return picture if best == PASS else replace(picture, ghosts={best: self._session.table.opened.game.to_play})

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


_EVEN: Final = 1.5  # points: less is within the error


def describe_estimate(analysis: Analysis, game: Game) -> str:
    """Who is ahead by about how much, and what that is made of; nothing is claimed within the error."""
    if analysis.ownership is None:
        return ""
    owned = analysis.ownership.astype(float)
    black, white = float((1 + owned).sum() / 2), float((1 - owned).sum() / 2)
    lead = black - white - game.komi
    leader = texts.COLORS[BLACK if lead > 0 else WHITE]
    said = texts.ABOUT_EVEN if abs(lead) < _EVEN else texts.AHEAD.format(color=leader, lead=f"{abs(lead):.0f}")
    return texts.ESTIMATE_IS.format(said=said, black=f"{black:.0f}", white=f"{white:.0f}", komi=f"{game.komi:g}")


# The cards that come when something has happened: a blunder in teaching, the end of a game


class TeachCard:
    """Shown while a blunder waits: why it is one, and the way back."""

    def __init__(self, session: Session, do: Do) -> None:
        self._session = session
        with ui.element("section").classes("k-notice k-stack").props('role="alert"') as self._card:
            self._text = ui.label().classes("k-plain")
            with ui.element("div").classes("k-bar"):
                main_button(texts.TAKE_BACK, lambda: do(lambda table: table.undo()))
                quiet_button(texts.KEEP_MOVE, session.keep_move)

    def draw_over(self, picture: Picture) -> Picture:
        held = self._session.held
        if held is None or held[1].move is None:
            return picture
        return show_alternatives(picture, held[0], held[1].move)

    def refresh(self) -> None:
        held = self._session.held
        self._card.set_visibility(held is not None)
        if held is not None and held[1].move is not None:
            self._text.set_text(f"{explain_mistake(held[1].move)} {texts.WHAT_NOW}")


class EndCard:
    """Shown when a game is over: its result, what that is made of, and what one may want next."""

    def __init__(self, session: Session, review: Callable[[], None]) -> None:
        self._session = session
        with section(texts.GAME_OVER, "k-card k-stack k-end") as self._card:
            self._result = heading("", 2)
            self._parts = ui.element("div").classes("k-tally")
            with ui.element("div").classes("k-bar"):
                self._review = main_button(texts.REVIEW_NOW, review)
                self._rematch = quiet_button(texts.REMATCH, self._begin_rematch)
        self._shown: object = None

    def _begin_rematch(self) -> None:
        session = self._session
        enter_game(lambda: session.application.begin(session.user, session.table.settings))

    def refresh(self) -> None:
        table, reviewing = self._session.table, self._session.reviewing
        is_elsewhere = reviewing.review is not None and bool(table.opened.node.children)  # the review is read there
        self._card.set_visibility(table.phase is Phase.FINISHED and table.result is not None and not is_elsewhere)
        if table.result is None:
            return
        self._result.set_text(describe_result(table.result))
        self._review.set_visibility(reviewing.review is None)
        tally = table.tally() if table.result.reason is Reason.SCORE and not table.opened.node.children else None
        if tally != self._shown:
            self._shown = tally
            self._parts.clear()
            with self._parts:
                self._show_tally(tally or {})

    def _show_tally(self, tally: Mapping[int, Tally]) -> None:
        """A row of parts for each side, those that are nothing left out."""
        for color, one in tally.items():
            parts = [f"{getattr(one, name):g} {word}" for name, word in texts.TALLY.items() if getattr(one, name)]
            ui.label(texts.COLORS[color])
            ui.label(" + ".join(parts)).classes("k-soft")
            ui.label(f"{one.total:g}").classes("k-clock")


# Game page

_SECONDS_BETWEEN_TICKS: Final = 0.5
_LOW_TIME: Final = 10.0  # seconds
_MANY_NEUTRAL: Final = 6  # points of nobody: borders are open


def build_game_page(session: Session, request: Request) -> None:
    """Everything on the page of a table; it looks again whenever something happens there."""
    record = session.table.opened.record
    with page_frame(request, _title(record)):
        view = GameView(session)
    client = ui.context.client
    # Not before the page is live: who only fetches it changes nothing. And not while it is away: others want to think.
    client.on_connect(lambda: session.watch(view.refresh))
    client.on_disconnect(lambda: None if client.has_socket_connection else session.leave(view.refresh))
    client.on_delete(view.close)


def _title(record: SgfGame) -> str:
    return f"{record.black or '?'} – {record.white or '?'}"


class GameView:
    """One browser's view of a table."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._choices = session.application.store.load_choices(session.user)
        self._look = Look(self._choices.coordinates, sound=self._choices.sound, motion=self._choices.motion)
        session.teaches = self._choices.teach
        self._record_panel = RecordPanel(session, self._do)
        with ui.element("div").classes("k-table"):
            with ui.element("div").classes("k-board"):
                heading(_title(session.table.opened.record), 1, "kb-spoken")
                self._board = BoardElement(self._click, self._command)
                self._record_panel.build_nav()
                self._graph_place = ui.element("div").classes("k-graph")
            with ui.element("div").classes("k-side"):
                self._build_side()
        if session.table.clock.is_used:
            ui.timer(_SECONDS_BETWEEN_TICKS, self._show_clocks)
        self.refresh()

    def _build_side(self) -> None:
        session = self._session
        with ui.element("div").classes("k-players"):
            self._plates = {color: _Plate(color) for color in (BLACK, WHITE)}
        self._status = ui.label().classes("k-status").props("role=status aria-live=polite")
        with ui.element("div").classes("k-stack") as self._preparing:
            self._preparing_text = ui.label().classes("k-soft k-small").props("aria-live=polite")
            self._preparing_bar = ui.linear_progress(show_value=False).props(f'aria-label="{texts.PREPARING}"')
        with ui.element("div").classes("k-notice k-stack") as self._notice:
            self._notice_text = ui.label().classes("k-plain")
            self._again = quiet_button(texts.ASK_AGAIN, lambda: self._do(lambda _: None))
        self._teach_card = TeachCard(session, self._do)
        self._end_card = EndCard(session, lambda: self._review.begin())
        self._build_bar()
        self._said = ui.label().classes("k-plain k-said").props("aria-live=polite")
        analyst = AnalystChoice(session)
        self._review = ReviewPanel(session, lambda: analyst.opponent, self._do, self.refresh)
        with self._graph_place:
            self._review.build_graph()
        with section(texts.LAYERS, "k-card k-stack k-tight"):
            heading(texts.LAYERS, 2)
            self._layers = LayerPanel(session, analyst, self.refresh)
            analyst.build(self.refresh)
        self._record_panel.build()
        self._editor = EditorPanel(session, self._look, self._do, self.refresh)
        self._build_switches()

    def _build_bar(self) -> None:
        with ui.element("div").classes("k-bar k-actions"):
            self._pass = quiet_button(texts.PASS, lambda: self._try(self._session.pass_turn))
            self._undo = quiet_button(texts.UNDO, lambda: self._command("undo"))
            self._redo = quiet_button(texts.REDO, lambda: self._command("redo"))
            self._hint = quiet_button(texts.HINT, lambda: self._command("hint"))
            self._estimate = quiet_button(texts.ESTIMATE, lambda: self._command("estimate"))
            self._count = quiet_button(texts.COUNT, partial(self._do, Table.begin_count))
            resign, reopen = (partial(self._do, action) for action in (Table.resign, Table.reopen))
            self._resign = quiet_button(texts.RESIGN, partial(ask, texts.ASK_RESIGN, texts.RESIGN, resign))
            self._reopen = quiet_button(texts.REOPEN, partial(ask, texts.ASK_REOPEN, texts.REOPEN, reopen))
            self._accept = quiet_button(texts.ACCEPT, self._accept_count)
            self._play_on = quiet_button(texts.PLAY_ON, partial(self._do, Table.play_on))
            self._accept.classes("k-on")

    def _build_switches(self) -> None:
        with ui.element("div").classes("k-row k-switches"):
            self._numbers = self._switch(texts.NUMBERS, "numbers")
            self._switch(texts.COORDINATES, "coordinates")
            self._switch(texts.SOUND, "sound")
            self._switch(texts.MOTION, "motion")
            self._teach = ui.switch(texts.TEACH_MODE, value=self._session.teaches, on_change=self._switch_teaching)
            self._teach.props("dense").tooltip(texts.TEACH_MODE_MORE)
            ui.element("div").classes("k-space")
            icon_button("keyboard", texts.KEYS, _build_keys().open)

    def _switch(self, text: str, name: str) -> ui.switch:
        """A switch for something that is shown or not; it is remembered."""

        def change(event: events.ValueChangeEventArguments[bool | None]) -> None:
            setattr(self._look, name, bool(event.value))
            if name in Choices.model_fields:
                self._remember(**{name: bool(event.value)})
            self.refresh()

        return ui.switch(text, value=getattr(self._look, name), on_change=change).props("dense")

    def _switch_teaching(self, event: events.ValueChangeEventArguments[bool | None]) -> None:
        self._session.teaches = bool(event.value)
        self._remember(teach=bool(event.value))

    def _remember(self, **changes: bool) -> None:
        store, user = self._session.application.store, self._session.user
        self._choices = store.load_choices(user).model_copy(update=changes)
        store.save_choices(user, self._choices)

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
        if self._review.continuation is not None:
            self._review.leave_line()
        elif self._look.tool is Tool.PLAY or self._session.table.phase is Phase.COUNTING:
            self._try(lambda: self._session.click(point))
        else:
            self._do(lambda table: editing.use_tool(table.opened, self._look.tool, point))

    def _command(self, command: str) -> None:
        """A key, or the button that does the same."""
        commands: dict[str, Callable[[], object]] = {
            "pass": lambda: self._try(self._session.pass_turn),
            "undo": lambda: self._do(lambda table: table.undo()),
            "redo": lambda: self._do(lambda table: table.redo()),
            "numbers": lambda: self._numbers.set_value(not self._numbers.value),
            "edit": self._editor.toggle,
            "hint": self._layers.switch_hint,
            "estimate": self._layers.switch_estimate,
            "leave": lambda: None,
        }
        if not self._review.go(command):
            commands.get(command, lambda: self._record_panel.go(command))()

    def _accept_count(self) -> None:
        result, accept = self._session.table.result, partial(self._do, Table.accept_count)
        if result is None:
            accept()
        else:
            ask(texts.ASK_NEW_RESULT.format(result=result), texts.ACCEPT, accept)

    # What is shown

    def refresh(self) -> None:
        """Look at the table again."""
        session, table = self._session, self._session.table
        self._layers.follow()
        self._review.refresh()
        picture = draw_table(table, self._look)
        if table.phase is not Phase.COUNTING:
            picture = self._teach_card.draw_over(self._review.draw_over(picture))
            picture = picture if self._review.continuation else self._layers.draw_over(picture)
        self._board.show(picture)
        self._status.set_text(describe_status(session))
        said = self._layers.hint or self._layers.estimate
        self._said.set_text(said)
        self._said.set_visibility(bool(said))
        self._show_preparing()
        self._notice.set_visibility(bool(session.notice))
        self._notice_text.set_text(session.notice)
        self._again.set_visibility(table.is_players_turn)
        self._show_players()
        self._show_buttons()
        self._teach_card.refresh()
        self._end_card.refresh()
        self._record_panel.refresh()
        self._editor.refresh()

    def close(self) -> None:
        """Look no more: the page is gone; a review continues."""
        self._session.leave(self.refresh)
        self._layers.stop()

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
            left = clock.left(color)
            plate.clock.set_text(format_left(left) if clock.is_used else "")
            plate.warn(clock.is_used and left.seconds < _LOW_TIME and left.stones <= 1)

    def _show_buttons(self) -> None:
        table = self._session.table
        phase = table.phase
        is_counting, is_against = phase is Phase.COUNTING, table.settings.seats is not Seats.BOTH
        self._pass.set_visibility(phase is Phase.PLAYING)
        self._pass.set_enabled(not table.is_players_color)
        for button, is_enabled in ((self._undo, table.can_undo), (self._redo, table.can_redo)):
            button.set_visibility(not is_counting)
            button.set_enabled(is_enabled)
        for button in (self._hint, self._estimate):
            button.set_visibility(not is_counting)
            button.set_enabled(not table.is_players_turn)
        self._resign.set_visibility(phase is Phase.PLAYING and is_against)
        self._count.set_visibility(phase is Phase.PLAYING and bool(table.opened.game.moves))
        self._reopen.set_visibility(phase is Phase.FINISHED)
        self._accept.set_visibility(is_counting)
        self._play_on.set_visibility(is_counting)
        self._teach.set_visibility(is_against and phase is Phase.PLAYING)


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

    def warn(self, is_low: bool) -> None:
        """Show that there is little time, or that there is not."""
        self.clock.classes(**{"add" if is_low else "remove": "k-low"})

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
        neutral = table.count_neutral()
        open_points = texts.STILL_OPEN.format(count=neutral) if neutral >= _MANY_NEUTRAL else ""
        return texts.COUNTING.format(result=describe_result(table.count())) + open_points
    if table.phase is Phase.FINISHED and table.result is not None:
        return describe_result(table.result)
    if session.held is not None:
        return texts.BLUNDER
    if table.is_players_turn:
        is_thinking = session.is_thinking and not session.is_preparing
        return texts.THINKING.format(player=table.settings.player) if is_thinking else texts.WAITING
    to_play = texts.COLORS[table.opened.game.to_play]
    text = texts.TO_PLAY.format(color=to_play)
    if table.opened.game.last_move == PASS:
        text = texts.PASSED.format(color=texts.COLORS[-table.opened.game.to_play], what=text)
    return texts.YOUR_TURN.format(what=text) if table.settings.seats is not Seats.BOTH else text


def describe_result(result: GameResult) -> str:
    """A result as a sentence."""
    if result.winner == 0:
        return texts.DRAW
    color = texts.COLORS[result.winner]
    if result.reason is Reason.SCORE and result.margin is not None:
        return texts.WINS_BY_POINTS.format(color=color, margin=f"{result.margin:g}")
    return texts.WINS[result.reason.value].format(color=color)
