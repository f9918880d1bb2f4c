"""What all pages are made of: their frame, buttons and fields, and charts of runs that are watched."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from html import escape
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from nicegui import ui
from starlette.requests import Request

from katachi.core.training import METRICS
from katachi.go.diagrams import STONE_DEFS
from katachi.sgf import SgfError, SgfGame, load_sgf
from katachi.web import texts
from katachi.web.security import read_user
from katachi.web.table import TableError

if TYPE_CHECKING:
    from katachi.web.sessions import Session

# Runs that can be watched: what a training or a match has written so far. They are read and never touched.

_GAMES: Final = "games.jsonl"
_MOST_BYTES: Final = 32 << 20
_SHARES: Final = (
    "validation_top_1",
    "validation_top_5",
    "validation_value_hits",
    "validation_right",
    "top_1",
)  # of a network, 0 to 1
_STEPS: Final = ("games", "positions")  # how far a training is


class Curve(NamedTuple):
    """A measurement by steps of training."""

    name: str
    points: tuple[tuple[float, float], ...]


class Score(NamedTuple):
    """A player in a match: games won, and played."""

    name: str
    wins: float
    games: int


class WatchedRun(NamedTuple):
    """A run directory: a training has curves, a match has scores."""

    name: str
    path: Path
    status: str
    changed: float  # seconds since the epoch

    @property
    def is_match(self) -> bool:
        return (self.path / _GAMES).is_file()

    def scores(self) -> list[Score]:
        """Who won how many games so far."""
        wins: Counter[str] = Counter()
        played: Counter[str] = Counter()
        for line in _read_lines(self.path / _GAMES):
            names = {"B": str(line["black"]["name"]), "W": str(line["white"]["name"])}
            played.update(names.values())
            winner = names.get(str(line["result"])[:1])
            if winner is not None:
                wins[winner] += 1
        return [Score(name, wins[name], count) for name, count in sorted(played.items())]

    def games(self) -> list[Path]:
        """The games of a match, the latest first."""
        return sorted((self.path / "games").glob("*.sgf"), key=lambda path: -path.stat().st_mtime)

    def last_game(self) -> SgfGame | None:
        """The latest game of a match."""
        files = self.games()
        try:
            return load_sgf(files[0])[0] if files else None
        except (SgfError, IndexError):
            return None


def read_curves(folder: Path) -> list[Curve]:
    """What was measured during a training, each by how far it was; nothing where that is not known."""
    found: dict[str, list[tuple[float, float]]] = {}
    for line in _read_lines(folder / METRICS):
        step = next((float(line[name]) for name in _STEPS if name in line), None)
        if step is None:
            continue
        for name, value in _shares(line):
            found.setdefault(name, []).append((step, value))
    return [Curve(name, tuple(points)) for name, points in found.items()]


def list_runs(folder: Path) -> list[WatchedRun]:
    """The runs in a folder, the last changed first."""
    paths = folder.iterdir() if folder.is_dir() else ()
    found = [run for path in paths if not path.is_symlink() and (run := _describe(path)) is not None]
    return sorted(found, key=lambda run: -run.changed)


def find_run(folder: Path, name: str) -> WatchedRun | None:
    """A run by its name: one that is in the list, so that a name is never a path."""
    return next((run for run in list_runs(folder) if run.name == name), None)


def _describe(path: Path) -> WatchedRun | None:
    for name in (METRICS, _GAMES):
        file = path / name
        if file.is_file():
            return WatchedRun(path.name, path, _read_status(path / "run.json"), file.stat().st_mtime)
    return None


def _read_status(path: Path) -> str:
    try:
        return str(json.loads(path.read_text(encoding="utf-8"))["status"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""


def _read_lines(path: Path) -> Iterator[dict[str, Any]]:
    """The whole lines of a file that somebody may be writing."""
    try:
        if path.stat().st_size > _MOST_BYTES:
            return
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return
    for line in text.splitlines():
        try:
            values = json.loads(line)
        except ValueError:
            continue
        if isinstance(values, dict):
            yield values


def _shares(line: dict[str, Any]) -> Iterator[tuple[str, float]]:
    rates = line.get("win_rates")
    if isinstance(rates, list) and rates:
        yield "wins against alp", sum(map(float, rates)) / len(rates)
    for name in _SHARES:
        if isinstance(line.get(name), int | float):
            yield name.replace("_", " "), float(line[name])


# Curves as a small SVG: shares by steps, with a few numbers on the axes. Every text is escaped.

_WIDTH: Final = 480
_HEIGHT: Final = 200  # of the frame itself
_LEFT: Final = 54
_LINE: Final = 19  # of text
_COLORS: Final = ("--score", "--bad", "--accent", "--warn-ink")  # of the style: color-blind people can tell them apart


def draw_chart(curves: Sequence[Curve]) -> str:
    """All curves in one frame, from 0 to 100 %; above it what each is, and where it stands."""
    furthest = max((x for curve in curves for x, _ in curve.points), default=1.0) or 1.0
    top = _LINE * (len(curves) + 1)
    bottom = top + _HEIGHT
    box = f"0 0 {_WIDTH + 6} {bottom + _LINE + 8}"
    parts = [f'<svg class="kc" viewBox="{box}" role="img" aria-label="{escape(texts.CURVES)}">']
    for percent in range(0, 101, 25):
        y = bottom - _HEIGHT * percent / 100
        parts.append(f'<path class="kc-line" d="M{_LEFT} {y:.1f}H{_WIDTH}"/>')
        parts.append(f'<text class="kc-text" x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{percent} %</text>')
    parts.append(f'<text class="kc-text" x="{_LEFT}" y="{bottom + _LINE}">0</text>')
    parts.append(f'<text class="kc-text" x="{_WIDTH}" y="{bottom + _LINE}" text-anchor="end">{furthest:,.0f}</text>')
    for number, curve in enumerate(curves):
        parts.append(_draw_curve(curve, furthest, bottom, number))
    return "".join([*parts, "</svg>"])


def _draw_curve(curve: Curve, furthest: float, bottom: int, number: int) -> str:
    color = f"var({_COLORS[number % len(_COLORS)]})"
    places = [(_LEFT + (_WIDTH - _LEFT) * x / furthest, bottom - _HEIGHT * y) for x, y in curve.points]
    line = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
    x, y = places[-1]
    last = f"{escape(curve.name)} {100 * curve.points[-1][1]:.0f} %"
    return (
        f'<path d="{line}" style="fill:none;stroke:{color};stroke-width:2.4;stroke-linejoin:round"/>'
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" style="fill:{color}"/>'
        f'<text class="kc-text" x="{_LEFT}" y="{_LINE * (number + 1) - 4}" style="fill:{color}">{last}</text>'
    )


# Widgets

FIELD: Final = "outlined dense options-dense"  # the props of a field

OnClick = Callable[[], Any]


def main_button(text: str, on_click: OnClick) -> ui.button:
    """What one most likely wants to do."""
    return ui.button(text, on_click=on_click, color=None).props("unelevated no-caps").classes("k-main-button")


def quiet_button(text: str, on_click: OnClick, icon: str | None = None) -> ui.button:
    """Something that one may do."""
    return ui.button(text, on_click=on_click, icon=icon, color=None).props("unelevated no-caps").classes("k-quiet")


def heading(text: str, level: int, classes: str = "k-sub") -> ui.label:
    """A heading, as readers who see none find it too."""
    return ui.label(text).classes(classes).props(f"role=heading aria-level={level}")


@contextmanager
def section(name: str, classes: str) -> Iterator[ui.element]:
    """A part of a page with a name."""
    with ui.element("section").classes(classes).props(f'aria-label="{name}"') as made:
        yield made


def icon_button(icon: str, name: str, on_click: OnClick) -> ui.button:
    """A button that shows a picture; its name is for readers who see none, and for who points at it."""
    button = ui.button(icon=icon, on_click=on_click, color=None).props(f'flat round dense aria-label="{name}"')
    with button.classes("k-icon"):
        ui.tooltip(name).props('anchor="top middle" self="bottom middle"')  # what is below is read meanwhile
    return button


def select(options: Any, value: Any, label: str) -> ui.select:
    """A field where one of several things is chosen."""
    return ui.select(options, value=value, label=label).props(FIELD)


def number(label: str, value: float, **limits: Any) -> ui.number:
    """A field for a number."""
    return ui.number(label, value=value, **limits).props("outlined dense")


def enter_game(begin: Callable[[], Session]) -> None:
    """Begin a game and go to its page, or say why that cannot be."""
    try:
        session = begin()
    except TableError as error:
        ui.notify(str(error), type="warning")
    else:
        ui.navigate.to(f"/game/{session.name}")


def ask(question: str, yes: str, action: OnClick) -> None:
    """Do something that takes something away, if the user says so once more."""
    with ui.dialog() as dialog, ui.element("div").classes("k-card k-stack"):
        ui.label(question).classes("k-plain")
        with ui.element("div").classes("k-bar"):
            main_button(yes, lambda: (dialog.close(), action()))
            quiet_button(texts.CANCEL, dialog.close)
    dialog.open()


def mark_chosen(button: ui.button, is_chosen: bool) -> None:
    """Show whether a button is the one in force."""
    button.classes(**{"add" if is_chosen else "remove": "k-on"})


# The frame of every page: its style, the head with the ways to go, light and dark.

_THEME_COOKIE: Final = "katachi-theme"
_THEMES: Final = {"light": False, "dark": True}
_STYLE: Final = (resources.files("katachi.web") / "katachi.css").read_text(encoding="utf-8")
_PAGES: Final = {
    "/": texts.PLAY_PAGE,
    "/games": texts.GAMES_PAGE,
    "/puzzles": texts.PUZZLES_PAGE,
    "/models": texts.MODELS_PAGE,
    "/runs": texts.RUNS_PAGE,
    "/learn": texts.LEARN_PAGE,
}


def user_of(request: Request) -> str:
    """Who asks; the middleware lets nobody in who has no number."""
    user = read_user(request.cookies)
    assert user is not None
    return user


@contextmanager
def page_frame(request: Request, title: str, here: str = "") -> Iterator[None]:
    """A page with its head; what is built inside comes below it."""
    ui.page_title(f"{title} · katachi" if title else "katachi")
    ui.add_css(_STYLE)
    ui.colors(primary="#2b665a")
    dark = ui.dark_mode(_THEMES.get(request.cookies.get(_THEME_COOKIE, "")))
    ui.html(f'<svg class="kb-spoken" aria-hidden="true">{STONE_DEFS}</svg>', sanitize=False)  # before all pictures
    with ui.element("header").classes("k-head"):
        with ui.link(target="/").classes("k-mark").props(f'aria-label="katachi: {texts.PLAY_PAGE}"'):
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
    with page_frame(request, texts.SORRY), ui.element("div").classes("k-main k-stack"):
        heading(texts.SORRY, 1, "k-title")
        ui.label(str(error)).classes("k-plain")
        ui.link(texts.BACK, "/")
