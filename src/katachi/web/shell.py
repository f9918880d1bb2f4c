"""The frame of every page: its style, the head with the ways to go, light and dark."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import resources
from typing import Final

from nicegui import ui
from starlette.requests import Request

from katachi.web import texts
from katachi.web.security import read_visitor
from katachi.web.table import TableError
from katachi.web.widgets import icon_button

_THEME_COOKIE: Final = "katachi-theme"
_THEMES: Final = {"light": False, "dark": True}
_STYLE: Final = (resources.files("katachi.web") / "katachi.css").read_text(encoding="utf-8")
_PAGES: Final = {
    "/": texts.PLAY_PAGE,
    "/models": texts.MODELS_PAGE,
    "/runs": texts.RUNS_PAGE,
    "/learn": texts.LEARN_PAGE,
}


def visitor_of(request: Request) -> str:
    """Who asks; the gate lets nobody in who has no number."""
    visitor = read_visitor(request.cookies)
    assert visitor is not None
    return visitor


@contextmanager
def page_frame(request: Request, title: str, here: str = "") -> Iterator[None]:
    """A page with its head; what is built inside comes below it."""
    ui.page_title(f"{title} · katachi" if title else "katachi")
    ui.add_css(_STYLE)
    ui.colors(primary="#2b665a")
    dark = ui.dark_mode(_THEMES.get(request.cookies.get(_THEME_COOKIE, "")))
    with ui.element("header").classes("k-head"):
        with ui.link(target="/").classes("k-mark").props(f'aria-label="{texts.PLAY_PAGE}"'):
            ui.element("span").classes("k-logo")
            ui.label("katachi")
        for path, name in _PAGES.items():
            ui.link(name, path).classes("k-here" if path == here else "")
        ui.element("div").classes("k-space")
        icon_button("contrast", texts.THEME, lambda: _change_theme(dark))
    yield


def _change_theme(dark: ui.dark_mode) -> None:
    """From what the system says to light, then dark and light in turn; the browser remembers."""
    dark.value = not dark.value if dark.value is not None else True
    name = "dark" if dark.value else "light"
    ui.run_javascript(f"document.cookie = '{_THEME_COOKIE}={name}; path=/; max-age=31536000; samesite=strict'")


def show_error(request: Request, error: TableError) -> None:
    """A page that says what is wrong, with the way back."""
    with page_frame(request, texts.SORRY), ui.element("main").classes("k-main k-stack"):
        ui.label(texts.SORRY).classes("k-title")
        ui.label(str(error)).classes("k-plain")
        ui.link(texts.BACK, "/")
