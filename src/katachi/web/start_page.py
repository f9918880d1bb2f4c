"""The first page: a new game, the games that one has, and records from elsewhere."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Iterable
from datetime import datetime
from typing import Any, Final
from urllib.parse import urlencode

import numpy as np
from nicegui import events, ui
from starlette.requests import Request

from katachi.go.diagrams import Diagram, draw_svg
from katachi.go.points import max_fixed_handicap
from katachi.go.rules import NAMED_RULES
from katachi.players.specs import bundled_players, default_player
from katachi.sgf import SgfGame
from katachi.web import texts
from katachi.web.sessions import MAX_UPLOAD, MOST_GAMES, App, ListedTable, Session, Upload, read_upload
from katachi.web.table import (
    SIZES,
    BoardElement,
    Look,
    Opponent,
    Seats,
    Table,
    TableError,
    TableSettings,
    check_settings,
    draw_table,
)
from katachi.web.widgets import (
    ask,
    enter_game,
    heading,
    icon_button,
    main_button,
    number,
    page_frame,
    quiet_button,
    section,
    select,
    user_of,
)

_USUAL_SIZES: Final = (9, 13, 19)


_RECENT: Final = 4  # games that the first page shows


async def build_start_page(application: App, request: Request) -> None:
    """Everything on the first page: a board that can be played on at once, and what else one may want."""
    user = user_of(request)
    tables = await asyncio.to_thread(application.store.list_tables, user)
    with page_frame(request, "", here="/"), ui.element("div").classes("k-table k-start"):
        with ui.element("div").classes("k-board"):
            heading(texts.WELCOME, 1, "kb-spoken")
            board = ui.element("div")
        with ui.element("div").classes("k-side"):
            NewGameForm(application, user, board)
            _Records(application, user)
            with section(texts.YOUR_GAMES, "k-card k-stack k-tight"):
                heading(texts.YOUR_GAMES, 2)
                GameCards(application, user, tables[:_RECENT])
                if len(tables) > _RECENT:
                    ui.link(texts.ALL_GAMES.format(count=len(tables)), "/games")


async def build_games_page(application: App, request: Request) -> None:
    """All games of a user, with a field to find one."""
    user = user_of(request)
    tables = await asyncio.to_thread(application.store.list_tables, user)
    with page_frame(request, texts.GAMES_PAGE, here="/games"), ui.element("div").classes("k-main k-stack"):
        heading(texts.GAMES_PAGE, 1, "k-title")
        field = ui.input(texts.FIND).props("outlined dense clearable").classes("k-find")
        cards = GameCards(application, user, tables)
        field.on_value_change(lambda: cards.find(field.value or ""))


class NewGameForm:
    """The card where a game is set up, and the board where it begins with the first stone."""

    def __init__(self, application: App, user: str, board: ui.element) -> None:
        self._app = application
        self._user = user
        self._last = application.store.load_choices(user).settings or TableSettings()
        with board:
            self._board = BoardElement(self._play_first)
        with section(texts.NEW_GAME, "k-card k-stack"):
            heading(texts.NEW_GAME, 2)
            sizes = (*_USUAL_SIZES, *(size for size in SIZES if size not in _USUAL_SIZES))
            with ui.element("div").classes("k-row k-nowrap"):
                self._size = select({size: f"{size} × {size}" for size in sizes}, self._last.size, texts.BOARD)
                self._player = select({}, None, texts.OPPONENT).classes("k-grow")
            self._about = ui.label().classes("k-soft k-small").style("min-height: 1.3em")
            seats = "white" if self._last.seats is Seats.WHITE else "black"
            self._seats = (
                ui.toggle({"black": texts.PLAY_BLACK, "white": texts.PLAY_WHITE}, value=seats)
                .props("no-caps unelevated spread toggle-color=primary")
                .classes("w-full")
            )
            with ui.expansion(texts.MORE_SETTINGS).classes("w-full").props("dense"):
                self._build_more()
            main_button(texts.BEGIN, lambda: enter_game(self._begin))
            ui.label(texts.OR_PLAY).classes("k-soft k-small")
        self._size.on_value_change(self._list_players)
        self._laboratory.on_value_change(self._list_players)
        self._player.on_value_change(self._describe)
        for field in (self._seats, self._handicap):
            field.on_value_change(self._draw)
        self._list_players()

    def _begin(self) -> Session:
        settings = self._read()
        session = self._app.begin(self._user, settings)
        store = self._app.store
        store.save_choices(self._user, store.load_choices(self._user).model_copy(update={"settings": settings}))
        return session

    def _play_first(self, point: int) -> None:
        """Begin with a stone, if the first one is the user's."""

        def begin() -> Session:
            session = self._begin()
            if not session.table.is_players_color:
                session.click(point)
            return session

        enter_game(begin)

    def _draw(self) -> None:
        with contextlib.suppress(TableError):
            self._board.show(draw_table(Table(self._read()), Look(sound=False)))

    def _build_more(self) -> None:
        last = self._last
        with ui.element("div").classes("k-fields"):
            self._handicap = select([0, last.handicap], last.handicap, texts.HANDICAP)
            self._komi = number(texts.KOMI, last.komi, step=0.5)
            self._rules = select(list(NAMED_RULES), last.rules, texts.RULES)
            self._time = select(texts.TIME_KINDS, last.time.kind, texts.CLOCK)
            self._minutes = number(texts.MINUTES, last.time.minutes, min=0.1, max=600)
            self._seconds = number(texts.SECONDS, last.time.seconds, min=1, max=3600)
            self._periods = number(texts.PERIODS, last.time.periods, min=1, max=100, precision=0)
        is_research = last.player in self._app.opponents and not _is_on_ladder(last.player, last.size)
        self._laboratory = ui.switch(texts.LABORATORY, value=is_research).props("dense")
        ui.label(texts.LABORATORY_MORE).classes("k-soft k-small")
        self._handicap.on_value_change(self._suit_komi)
        _show_for(self._minutes, self._time, "absolute", "byoyomi", "fischer")
        _show_for(self._seconds, self._time, "byoyomi", "fischer")
        _show_for(self._periods, self._time, "byoyomi")

    def _list_players(self) -> None:
        """List those who play on the chosen board, and the handicaps that it has places for."""
        size = int(self._size.value)
        opponents = list_ladder(self._app.opponents.values(), size, with_research=bool(self._laboratory.value))
        names = [opponent.name for opponent in opponents]
        wanted = (self._player.value, self._last.player)
        chosen = next((name for name in wanted if name in names), _choose_default(opponents, size))
        self._player.set_options({opponent.name: _title(opponent, size) for opponent in opponents}, value=chosen)
        most = max_fixed_handicap(size)
        self._handicap.set_options([0, *range(2, most + 1)], value=min(int(self._handicap.value), most))
        self._describe()
        self._draw()

    def _describe(self) -> None:
        opponent = self._app.opponents.get(self._player.value)
        self._about.set_text(opponent.description if opponent else "")

    def _suit_komi(self) -> None:
        self._komi.value = 0.5 if self._handicap.value else 7.5

    def _read(self) -> TableSettings:
        values: dict[str, Any] = {
            "kind": self._time.value,
            "minutes": self._minutes.value,
            "seconds": self._seconds.value,
            "periods": None if self._periods.value is None else int(self._periods.value),
        }
        time = {key: float(value) if key in ("minutes", "seconds") else value for key, value in values.items() if value}
        return check_settings(
            player=self._player.value,
            seats=self._seats.value,
            size=self._size.value,
            handicap=self._handicap.value,
            komi=float(self._komi.value or 0.0),
            rules=self._rules.value,
            time=time,
        )


def _show_for(field: ui.number, time: ui.select, *kinds: str) -> None:
    """Show a field for some kinds of clock alone."""
    field.bind_visibility_from(time, "value", backward=lambda kind: kind in kinds)


def _choose_default(opponents: list[Opponent], size: int) -> str:
    """A player that a beginner can beat, if there is one, else whoever learned on this board."""
    names = [opponent.name for opponent in opponents]
    return next((name for name in ("level-1", default_player(size)) if name in names), names[0])


_STRONGEST: Final = "strong-"
_LEVEL: Final = "level-"


def _is_on_ladder(name: str, size: int) -> bool:
    return name.startswith(_LEVEL) or name == f"{_STRONGEST}{size}"


def list_ladder(opponents: Iterable[Opponent], size: int, *, with_research: bool) -> list[Opponent]:
    """Those who play on a board, from the weakest level on; then what was named on the command line, then research."""
    fitting = [one for one in opponents if one.plays(size)]
    bundled = {player.name for player in bundled_players()}
    ladder = [one for one in fitting if _is_on_ladder(one.name, size)]
    named = [one for one in fitting if one.name not in bundled]
    research = [one for one in fitting if one.name in bundled and not _is_on_ladder(one.name, size)]
    return [*named, *ladder, *(research if with_research or not ladder else ())]


def _title(opponent: Opponent, size: int) -> str:
    """``24 kyu · level 3``; a level whose rank was not measured on this board is its number."""
    if opponent.name == f"{_STRONGEST}{size}":
        return texts.STRONGEST_PLAYER
    if not opponent.name.startswith(_LEVEL):
        return opponent.name
    level = opponent.name.removeprefix(_LEVEL)
    rating = opponent.rating_on(size)
    rank = texts.BEGINNER if level == "1" else _spell(rating.rank) if rating is not None else ""
    return f"{rank} · {texts.LEVEL.format(number=level)}" if rank else texts.LEVEL_OF.format(number=level)


def _spell(rank: str) -> str:
    """``24 kyu`` for 24k."""
    words = {"k": "kyu", "d": "dan"}
    return texts.ABOUT_RANK.format(rank=f"{rank[:-1]} {words[rank[-1]]}") if rank[-1:] in words else rank


# Quasar's button around the field for a file has no name, and two things that can be focused: the field is enough.
_NAME_UPLOAD: Final = """
for (const field of document.querySelectorAll(".q-uploader__input")) {
  field.setAttribute("aria-label", NAME); field.tabIndex = 0;
  const button = field.closest("a"); button.setAttribute("role", "none"); button.removeAttribute("tabindex");
}"""


class _Records:
    """Where a file is dropped, or an empty board is taken."""

    def __init__(self, application: App, user: str) -> None:
        self._app = application
        self._user = user
        with section(texts.RECORDS, "k-card k-stack"):
            heading(texts.RECORDS, 2)
            self._upload = (
                ui.upload(label=texts.DROP, auto_upload=True, max_file_size=MAX_UPLOAD, on_upload=self._take)
                .props('accept=".sgf,.mgt,.gz,.zip" flat')
                .on("rejected", lambda: ui.notify(texts.TOO_LARGE, type="warning"))
            )
            with ui.element("div").classes("k-row k-nowrap"):
                self._address = ui.input(texts.FETCH).props("outlined dense type=url").classes("k-grow")
                self._address.on("keydown.enter", self._fetch)
                quiet_button(texts.OPEN, self._fetch)
            with ui.element("div").classes("k-row"):
                quiet_button(texts.EMPTY_BOARD, self._open_empty, icon="grid_on")
                self._size = select(list(SIZES), 19, texts.BOARD).style("width: 6rem")
        self._choice = ui.dialog()
        name = json.dumps(texts.DROP)
        ui.context.client.on_connect(lambda: ui.run_javascript(_NAME_UPLOAD.replace("NAME", name)))

    def _fetch(self) -> None:
        ui.navigate.to(f"/fetch?{urlencode({'address': (self._address.value or '').strip()})}")

    async def _take(self, event: events.UploadEventArguments) -> None:
        self._upload.reset()
        try:
            async with self._app.reading:
                upload = await asyncio.to_thread(read_upload, await event.file.read())
        except TableError as error:
            ui.notify(str(error), type="warning", multi_line=True)
            return
        if len(upload.games) == 1 and not upload.is_cut:
            self._open(upload.games[0])
        else:
            self._let_choose(upload)

    def _let_choose(self, upload: Upload) -> None:
        self._choice.clear()
        with self._choice, ui.element("div").classes("k-card k-stack"):
            ui.label(texts.WHICH_GAME).classes("k-sub")
            if upload.is_cut:
                ui.label(texts.LEFT_OUT.format(most=MOST_GAMES)).classes("k-soft k-small")
            with ui.element("div").classes("k-games k-repairs"):
                for game in upload.games:
                    title = f"{game.black or '?'} – {game.white or '?'} · {game.size}×{game.size} {game.result or ''}"
                    ui.button(title, on_click=lambda game=game: self._open(game)).props("flat no-caps align=left")
        self._choice.open()

    def _open(self, record: SgfGame) -> None:
        enter_game(lambda: self._app.open_record(self._user, record))

    def _open_empty(self) -> None:
        settings = TableSettings(seats=Seats.BOTH, size=int(self._size.value))
        enter_game(lambda: self._app.begin(self._user, settings))


class GameCards:
    """Games with a picture of how they stand, and the way back to each."""

    def __init__(self, application: App, user: str, tables: list[ListedTable]) -> None:
        self._app = application
        self._user = user
        self._cards: list[tuple[str, ui.element]] = []
        with ui.element("div").classes("k-cards"):
            for table in tables:
                self._add(table)
        self._nothing = ui.label(texts.NO_GAMES_YET).classes("k-soft k-small")
        self._nothing.set_visibility(not tables)

    def find(self, words: str) -> None:
        """Show the games that have all these words in what is said of them."""
        wanted = words.lower().split()
        found = [all(word in text for word in wanted) for text, _ in self._cards]
        for (_, card), is_found in zip(self._cards, found, strict=True):
            card.set_visibility(is_found)
        self._nothing.set_text(texts.NOTHING_FOUND if self._cards else texts.NO_GAMES_YET)
        self._nothing.set_visibility(not any(found))

    def _add(self, table: ListedTable) -> None:
        title = f"{table.black or '?'} – {table.white or '?'}"
        when = datetime.fromtimestamp(table.changed).strftime("%d %b %H:%M")
        outcome = table.result or texts.MOVES.format(count=table.moves)
        facts = " · ".join((f"{table.size}×{table.size}", outcome, *((texts.REVIEWED,) if table.is_reviewed else ())))
        with ui.element("div").classes("k-game") as card:
            with ui.link(target=f"/game/{table.name}").classes("k-thumb").props('tabindex="-1" aria-hidden="true"'):
                stones = Diagram(table.size, np.array(table.stones, np.int8))
                ui.html(draw_svg(stones, cell=10, coordinates=False), sanitize=False)  # drawn by us, without any text
            with ui.element("div").classes("k-game-text"):
                ui.link(title, f"/game/{table.name}")
                ui.label(facts).classes("k-soft k-small")
                ui.label(when).classes("k-soft k-small")
            icon_button("close", texts.DELETE, lambda: self._ask_delete(table, card))
        self._cards.append((f"{title} {facts} {when}".lower(), card))

    def _ask_delete(self, table: ListedTable, card: ui.element) -> None:
        def delete() -> None:
            self._app.delete(self._user, table.name)
            self._cards = [one for one in self._cards if one[1] is not card]
            card.delete()

        ask(texts.ASK_DELETE, texts.DELETE, delete)
