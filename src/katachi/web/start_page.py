"""The first page: a new game, the games that one has, and records from elsewhere."""

from __future__ import annotations

import asyncio
from datetime import datetime
from typing import Any, Final

from nicegui import events, ui
from starlette.requests import Request

from katachi.go.points import max_fixed_handicap
from katachi.go.rules import NAMED_RULES
from katachi.players.specs import default_player
from katachi.sgf import SgfGame
from katachi.web import texts
from katachi.web.sessions import MAX_UPLOAD, MOST_GAMES, App, ListedTable, Upload, read_upload
from katachi.web.table import DEFAULT_RULES, SIZES, Opponent, Seats, TableError, TableSettings, check_settings
from katachi.web.widgets import enter_game, icon_button, main_button, number, page_frame, quiet_button, select, user_of

_USUAL_SIZES: Final = (9, 13, 19)


async def build_start_page(application: App, request: Request) -> None:
    """Everything on the first page."""
    user = user_of(request)
    tables = await asyncio.to_thread(application.store.list_tables, user)
    with page_frame(request, "", here="/"), ui.element("main").classes("k-main"):
        ui.label(texts.WELCOME).classes("k-title")
        ui.label(texts.WELCOME_MORE).classes("k-soft")
        with ui.element("div").classes("k-columns"):
            NewGameForm(application, user)
            with ui.element("div").classes("k-stack"):
                _Records(application, user)
                _GameList(application, user, tables)


class NewGameForm:
    """The card where a game is set up."""

    def __init__(self, application: App, user: str) -> None:
        self._app = application
        with ui.element("section").classes("k-card k-stack").props('aria-label="new game"'):
            ui.label(texts.NEW_GAME).classes("k-sub")
            sizes = (*_USUAL_SIZES, *(size for size in SIZES if size not in _USUAL_SIZES))
            self._size = select({size: f"{size} × {size}" for size in sizes}, 9, texts.BOARD).classes("w-full")
            self._player = select({}, None, texts.OPPONENT)
            self._about = ui.label().classes("k-soft k-small").style("min-height: 2.6em")
            self._seats = (
                ui.toggle({"black": texts.PLAY_BLACK, "white": texts.PLAY_WHITE}, value="black")
                .props("no-caps unelevated spread toggle-color=primary")
                .classes("w-full")
            )
            with ui.expansion(texts.MORE_SETTINGS).classes("w-full").props("dense"):
                self._build_more()
            main_button(texts.BEGIN, lambda: enter_game(lambda: application.begin(user, self._read())))
        self._size.on_value_change(self._list_players)
        self._player.on_value_change(self._describe)
        self._list_players()

    def _build_more(self) -> None:
        with ui.element("div").classes("k-fields"):
            self._handicap = select([0], 0, texts.HANDICAP)
            self._komi = number(texts.KOMI, 7.5, step=0.5)
            self._rules = select(list(NAMED_RULES), DEFAULT_RULES, texts.RULES)
            self._time = select(texts.TIME_KINDS, "none", texts.CLOCK)
            self._minutes = number(texts.MINUTES, 10, min=0.1, max=600)
            self._seconds = number(texts.SECONDS, 20, min=1, max=3600)
            self._periods = number(texts.PERIODS, 3, min=1, max=100, precision=0)
        self._handicap.on_value_change(self._suit_komi)
        _show_for(self._minutes, self._time, "absolute", "byoyomi", "fischer")
        _show_for(self._seconds, self._time, "byoyomi", "fischer")
        _show_for(self._periods, self._time, "byoyomi")

    def _list_players(self) -> None:
        """List those who play on the chosen board, and the handicaps that it has places for."""
        size = int(self._size.value)
        opponents = [opponent for opponent in self._app.opponents.values() if opponent.plays(size)]
        default = _choose_default(opponents, size)
        chosen = self._player.value if self._player.value in {opponent.name for opponent in opponents} else default
        self._player.set_options({opponent.name: _title(opponent, size) for opponent in opponents}, value=chosen)
        most = max_fixed_handicap(size)
        self._handicap.set_options([0, *range(2, most + 1)], value=min(int(self._handicap.value), most))
        self._describe()

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


def _title(opponent: Opponent, size: int) -> str:
    """``Level 3 · about 20k · Elo 1310``."""
    is_level = opponent.name.startswith("level-")
    name = texts.LEVEL.format(number=opponent.name.removeprefix("level-")) if is_level else opponent.name
    if (rating := opponent.rating_on(size)) is None:
        return name
    rank = [texts.ABOUT_RANK.format(rank=rating.rank)] if rating.rank else []
    return " · ".join([name, *rank, f"Elo {rating.value}"])


class _Records:
    """Where a file is dropped, or an empty board is taken."""

    def __init__(self, application: App, user: str) -> None:
        self._app = application
        self._user = user
        with ui.element("section").classes("k-card k-stack").props('aria-label="records"'):
            ui.label(texts.RECORDS).classes("k-sub")
            self._upload = (
                ui.upload(label=texts.DROP, auto_upload=True, max_file_size=MAX_UPLOAD, on_upload=self._take)
                .props('accept=".sgf,.mgt,.gz,.zip" flat')
                .on("rejected", lambda: ui.notify(texts.TOO_LARGE, type="warning"))
            )
            with ui.element("div").classes("k-row"):
                quiet_button(texts.EMPTY_BOARD, self._open_empty, icon="grid_on")
                self._size = select(list(SIZES), 19, texts.BOARD).style("width: 6rem")
        self._choice = ui.dialog()

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


class _GameList:
    """The games that a user has, with the way back to each."""

    def __init__(self, application: App, user: str, tables: list[ListedTable]) -> None:
        self._app = application
        self._user = user
        with ui.element("section").classes("k-card").props('aria-label="your games"'):
            ui.label(texts.YOUR_GAMES).classes("k-sub")
            with ui.element("div").classes("k-games"):
                for table in tables:
                    self._add(table)
            if not tables:
                ui.label(texts.NO_GAMES_YET).classes("k-soft k-small")

    def _add(self, table: ListedTable) -> None:
        with ui.element("div").classes("k-game-row") as row:
            ui.link(f"{table.black or '?'} – {table.white or '?'}", f"/game/{table.name}")
            when = datetime.fromtimestamp(table.changed).strftime("%d %b %H:%M")
            facts = [f"{table.size}×{table.size}", table.result or texts.MOVES.format(count=table.moves), when]
            ui.label(" · ".join(facts)).classes("k-soft k-small")
            icon_button("close", texts.DELETE, lambda: self._delete(table.name, row))

    def _delete(self, name: str, row: ui.element) -> None:
        self._app.delete(self._user, name)
        row.delete()
