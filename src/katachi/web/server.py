"""The server: pages, middleware and engines put together, and run until they are stopped."""

from __future__ import annotations

import asyncio
import socket
from base64 import b64encode
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Final

import uvicorn
from fastapi import FastAPI
from nicegui import app as pages
from nicegui import ui
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import ASGIApp

from katachi.analysis.report import annotate
from katachi.core.disk import DirectoryInUse, DirectoryLock, usable_cores
from katachi.go.diagrams import draw_svg
from katachi.players.asking import Preparation, leave
from katachi.sgf import SgfGame, format_sgf
from katachi.web import texts
from katachi.web.engines import MOST_PER_USER, EnginePool
from katachi.web.game_page import build_game_page
from katachi.web.learning_pages import (
    build_lesson_page,
    build_model_page,
    build_models_page,
    build_puzzles_page,
    build_run_page,
    build_runs_page,
)
from katachi.web.security import (
    TOKEN_KEY,
    Address,
    AuthMiddleware,
    BoundedProtocol,
    ConnectionLimits,
    QuietLog,
    show_plainly,
)
from katachi.web.sessions import App, GameStore, file_name, read_shared, read_upload
from katachi.web.start_page import build_games_page, build_start_page
from katachi.web.table import TableError, check_settings, list_opponents
from katachi.web.widgets import show_error, user_of

_ICON: Final = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><circle cx="12" cy="16" r="10" fill="#17171a"/>'
    '<circle cx="21" cy="16" r="10" fill="#f4f2ec" stroke="#8a857a"/></svg>'
)
# Sent while the page is loading, the form takes the page's place in the history: going back begins no other game.
_BEGIN: Final = (
    f'<!doctype html><title>katachi</title><form method="post"><button>{texts.BEGIN}</button></form>'
    "<script>document.forms[0].submit()</script>"
)
# A record from elsewhere is fetched by the browser, not by the server, which could be sent to places that only it can
# reach. This page alone may connect to other sites; it shows nothing of them, and runs no script but its own.
_FETCH_SCRIPT: Final = """
const say = (text) => { document.querySelector("p").textContent = text; };
const address = new URLSearchParams(location.search).get("address");
fetch(address, { credentials: "omit", referrerPolicy: "no-referrer" })
  .then((found) => found.ok ? found.blob() : Promise.reject())
  .then((body) => fetch("/fetched", { method: "POST", body }))
  .then((answer) => answer.text().then((text) => answer.ok ? location.replace(text) : say(text)))
  .catch(() => say(document.body.dataset.refused));
"""
_FETCH: Final = (
    f'<!doctype html><html lang="en"><title>katachi</title><body data-refused="{texts.NOT_FETCHED}">'
    f'<p role="status">{texts.FETCHING}</p><a href="/">{texts.BACK}</a><script>{_FETCH_SCRIPT}</script>'
)
_FETCH_POLICY: Final = (
    f"default-src 'none'; script-src 'sha256-{b64encode(sha256(_FETCH_SCRIPT.encode()).digest()).decode()}'; "
    "connect-src 'self' https:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
DEFAULT_PORT: Final = 8361
_ANY_SIZE: Final = 9  # what is compiled for one board serves all
_SECONDS_TO_BUILD: Final = 60.0  # a page, on a busy machine
_RECONNECT_SECONDS: Final = 10.0  # a page that lost its server for longer is loaded again


class ServeError(ValueError):
    """A server that cannot be started, and why."""


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """Where to listen, who plays, and where things are kept. ``port`` 0 is any, None the usual one if it is free."""

    host: str = "127.0.0.1"
    port: int | None = None
    player: str | None = None
    data: Path = Path("katachi-data")
    runs: Path = Path("runs")
    connections: ConnectionLimits = field(default_factory=ConnectionLimits)


def serve(settings: ServerSettings, announce: Callable[[Address, str], None]) -> None:
    """Serve until Ctrl-C. ``announce`` gets the address and the URL to open once the server listens."""
    store = GameStore(settings.data)
    lock = _lock(settings.data)
    board = Preparation()
    try:
        _run(settings, store, board, announce)
    except KeyboardInterrupt:
        leave(board, 130)
        raise
    finally:
        lock.release()


def _run(
    settings: ServerSettings, store: GameStore, board: Preparation, announce: Callable[[Address, str], None]
) -> None:
    listener = _listen(settings)
    address = Address(settings.host, listener.getsockname()[1])
    application = App(
        store, list_opponents(settings.player), EnginePool(max(MOST_PER_USER + 1, usable_cores())), settings.runs
    )
    token = store.token()
    start = {} if settings.player is None else {"player": next(iter(application.opponents))}
    url = address.url("/new" if start else "/", **start, **{TOKEN_KEY: token})

    def begin() -> None:
        announce(address, url)
        board.begin(_ANY_SIZE)

    app = AuthMiddleware(build_app(application, settings.runs, begin), address, token)
    QuietLog().attach()
    asyncio.run(make_server(app, settings.connections).serve(sockets=[listener]))


def make_server(app: ASGIApp, limits: ConnectionLimits) -> uvicorn.Server:
    """What serves an application, with bounds on everything that comes from outside."""
    config = uvicorn.Config(
        app,
        http=BoundedProtocol.under(limits),
        backlog=limits.backlog,
        log_level="error",
        access_log=False,
        proxy_headers=False,
        ws_max_size=1 << 20,
        timeout_graceful_shutdown=2,
    )
    return uvicorn.Server(config)


def _lock(folder: Path) -> DirectoryLock:
    """Hold the data: two servers would overwrite each other's games."""
    try:
        return DirectoryLock(folder)
    except DirectoryInUse:
        raise ServeError(
            f"a board is served from {folder} already; use it, or give another folder with --data"
        ) from None


def _listen(settings: ServerSettings) -> socket.socket:
    """A socket that listens where it should; raises ServeError if it cannot."""
    wanted = [DEFAULT_PORT, 0] if settings.port is None else [settings.port]
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    for port in wanted:
        # Said to be TCP, so that asyncio sets TCP_NODELAY: without it every response waits for the acknowledgement.
        listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((settings.host, port))
            listener.listen()  # who comes before the server is ready waits, and is not refused
            return listener
        except OSError as error:
            listener.close()
            reason = error.strerror
    raise ServeError(f"cannot listen at {settings.host}, port {wanted[-1]}: {reason}; choose another with --port")


def build_app(application: App, runs: Path, on_start: Callable[[], None]) -> FastAPI:
    """All pages behind one application, not yet behind the middleware."""

    @asynccontextmanager
    async def live(_: FastAPI) -> AsyncIterator[None]:
        on_start()
        application.resume_reviews()
        yield
        await application.close()

    app = FastAPI(openapi_url=None, lifespan=live)
    _add_pages(application)
    _add_pages_about_learning(application, runs)
    ui.run_with(
        app,
        title="katachi",
        favicon=_ICON,
        dark=None,
        language="en-US",
        tailwind=False,
        binding_refresh_interval=None,
        reconnect_timeout=_RECONNECT_SECONDS,
        show_welcome_message=False,
    )
    return app


def _add_pages(application: App) -> None:
    @ui.page("/", response_timeout=_SECONDS_TO_BUILD)
    async def start(request: Request) -> None:
        await build_start_page(application, request)

    @ui.page("/games", response_timeout=_SECONDS_TO_BUILD)
    async def games(request: Request) -> None:
        await build_games_page(application, request)

    @ui.page("/game/{name}")
    def game(request: Request, name: str) -> None:
        try:
            session = application.find(user_of(request), name)
        except TableError as error:
            show_error(request, error)
            return
        build_game_page(session, request)

    @pages.get("/new")
    @pages.get("/open")
    async def confirm() -> Response:
        """Begin a game by its address alone, as the command line and bookmarks do: by a form that sends itself."""
        return HTMLResponse(_BEGIN)

    @pages.post("/new")
    async def new(request: Request, player: str, size: int = 9, seats: str = "black") -> Response:
        try:
            opponent = application.opponents.get(player)
            size = opponent.size if opponent is not None and opponent.size is not None else size
            session = application.begin(user_of(request), check_settings(player=player, size=size, seats=seats))
        except TableError as error:
            return Response(show_plainly(str(error)), status_code=400, media_type="text/plain")
        return RedirectResponse(f"/game/{session.name}", status_code=303)

    @pages.post("/open")
    async def open_shared(request: Request, record: str) -> Response:
        """Open a record that its address holds."""
        return await open_record(request, lambda: read_shared(record), 303)

    @pages.get("/fetch")
    async def fetch() -> Response:
        """Have the browser fetch a record from elsewhere, and send it to us."""
        return HTMLResponse(_FETCH, headers={"content-security-policy": _FETCH_POLICY})

    @pages.post("/fetched")
    async def open_fetched(request: Request) -> Response:
        """Open what the browser has fetched; of several games the first."""
        content = await request.body()
        return await open_record(request, lambda: read_upload(content).games[0], 200)

    async def open_record(request: Request, read: Callable[[], SgfGame], status: int) -> Response:
        try:
            async with application.reading:
                record = await asyncio.to_thread(read)
            path = f"/game/{application.open_record(user_of(request), record).name}"
        except TableError as error:
            return Response(show_plainly(str(error)), status_code=400, media_type="text/plain")
        return Response(path, status_code=status, headers={"location": path}, media_type="text/plain")

    @pages.get("/game/{name}/board.svg")
    async def picture(request: Request, name: str) -> Response:
        """The board as a picture."""
        try:
            opened = application.find(user_of(request), name).table.opened
        except TableError as error:
            return Response(str(error), status_code=404, media_type="text/plain")
        drawn = draw_svg(opened.game.board.diagram, last_move=opened.game.last_move, labels=opened.labels())
        headers = {"Content-Disposition": f'attachment; filename="{file_name(opened.record, "svg")}"'}
        return Response(drawn, media_type="image/svg+xml", headers=headers)

    @pages.get("/game/{name}/{kind}.sgf")
    async def record(request: Request, name: str, kind: str) -> Response:
        """The record as a file, with the review in it if that is asked for and there is one."""
        try:
            session = application.find(user_of(request), name)
        except TableError as error:
            return Response(str(error), status_code=404, media_type="text/plain")
        record = session.table.opened.record
        review = session.reviewing.review
        if kind == "analyzed" and review is not None and review.game is not None:
            record = annotate(record, review.game, review.positions)
        headers = {"Content-Disposition": f'attachment; filename="{file_name(record, "sgf")}"'}
        return Response(format_sgf(record).encode(), media_type="application/x-go-sgf", headers=headers)


def _add_pages_about_learning(application: App, runs: Path) -> None:
    @ui.page("/models")
    def models(request: Request) -> None:
        build_models_page(application, request)

    @ui.page("/models/{name}", response_timeout=_SECONDS_TO_BUILD)
    async def model(request: Request, name: str) -> None:
        await build_model_page(application, name, request)

    @ui.page("/runs")
    def all_runs(request: Request) -> None:
        build_runs_page(runs, request)

    @ui.page("/runs/{name}")
    def run(request: Request, name: str) -> None:
        build_run_page(application, runs, name, request)

    @ui.page("/puzzles", response_timeout=_SECONDS_TO_BUILD)
    async def puzzles(request: Request) -> None:
        await build_puzzles_page(application, request)

    @ui.page("/learn")
    def learn(request: Request) -> None:
        build_lesson_page(application, request)
