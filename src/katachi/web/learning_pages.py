"""The pages about learning: a pupil that is taught, what the models have learned, and runs that are watched."""

from __future__ import annotations

import asyncio
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple

from nicegui import ui
from starlette.requests import Request

from katachi.core.drawing import DrawRequest, Figure, Section, draw_model
from katachi.core.models import describe_card, open_model, pretrained_models
from katachi.core.training import Choice
from katachi.go.diagrams import draw_svg
from katachi.web import texts, widgets
from katachi.web.sessions import PUPIL, App, find_lesson
from katachi.web.table import Seats, TableError, TableSettings

_MOST_MARKERS: Final = 10  # of a slider


# The page where one teaches: a few sliders, the learning curve, what was learned so far, and a game against the pupil


def build_lesson_page(application: App, request: Request) -> None:
    """Everything on the page."""
    with widgets.page_frame(request, texts.LEARN_PAGE, here="/learn"), ui.element("main").classes("k-main"):
        ui.label(texts.LEARN_TITLE).classes("k-title")
        ui.label(find_lesson().lead).classes("k-soft")
        with ui.element("div").classes("k-columns"):
            view = LessonView(application, widgets.user_of(request))
    ui.context.client.on_delete(view.close)


class ChoiceSlider:
    """A slider over the values of a choice, and above it what the chosen one means."""

    def __init__(self, choice: Choice) -> None:
        self._choice = choice
        self._text = ui.label().classes("k-small")
        last = len(choice.values) - 1
        self._slider = ui.slider(min=0, max=last, value=choice.values.index(choice.default), step=1)
        if last < _MOST_MARKERS:
            self._slider.props("snap markers")
        self._slider.on_value_change(self._describe)
        self._describe()

    @property
    def value(self) -> float:
        return self._choice.values[int(self._slider.value)]

    def _describe(self) -> None:
        self._text.set_text(self._choice.text.format(value=self.value))


class LessonView:
    """One browser's view of its user's lesson."""

    def __init__(self, application: App, user: str) -> None:
        self._app = application
        self._user = user
        self._lesson = application.lessons.of(user)
        with ui.element("section").classes("k-card k-stack"):
            self._sliders = {choice.name: ChoiceSlider(choice) for choice in find_lesson().choices}
            self._status = ui.label().classes("k-status")
            with ui.element("div").classes("k-bar"):
                self._begin = widgets.main_button(texts.TEACH, self._teach)
                self._stop = widgets.quiet_button(texts.STOP, self._end)
                self._play = widgets.quiet_button(texts.PLAY_PUPIL, self._play_pupil)
        with ui.element("section").classes("k-card k-stack"):
            self._curve = ui.html("", sanitize=False).classes("k-chart")  # drawn by us, every text in it escaped
            ui.label(texts.STRONGEST).classes("k-sub")
            self._shapes = ui.element("div").classes("k-figures")
        self._lesson.watchers.append(self.refresh)
        self.refresh()

    def _teach(self) -> None:
        self._app.lessons.begin(self._user, {name: slider.value for name, slider in self._sliders.items()})

    def _end(self) -> None:
        self._app.lessons.stop(self._user)
        self.refresh()

    def _play_pupil(self) -> None:
        settings = TableSettings(player=PUPIL, seats=Seats.BLACK, size=find_lesson().size)
        widgets.enter_game(lambda: self._app.begin(self._user, settings))

    def refresh(self) -> None:
        """Show how far the lesson is."""
        lesson = self._lesson
        self._begin.set_enabled(not lesson.is_running)
        self._stop.set_visibility(lesson.is_running)
        self._play.set_enabled(self._app.lessons.opponent(self._user) is not None)
        self._status.set_text(lesson.notice or self._describe())
        points = tuple((float(one.games), one.wins) for one in lesson.progress)
        self._curve.set_content(widgets.draw_chart([widgets.Curve(texts.WINS_AGAINST_ALP, points)] if points else []))
        self._shapes.clear()
        with self._shapes:
            for figure in lesson.progress[-1].figures if lesson.progress else ():
                _add_figure(figure)

    def _describe(self) -> str:
        lesson = self._lesson
        if not lesson.progress:
            return texts.LESSON_BEGINS if lesson.is_running else ""
        last = lesson.progress[-1]
        text = texts.LESSON_SO_FAR.format(games=last.games, wins=f"{100 * last.wins:.0f}")
        return text if lesson.is_running else texts.LESSON_OVER.format(what=text)

    def close(self) -> None:
        self._lesson.watchers.remove(self.refresh)


# The pages of the bundled models: a list of them, and for each what it learned, and how.

_USUAL_SIZE: Final = 9  # of the empty board for a model of all sizes


class Learned(NamedTuple):
    """All that a page shows of a model; ``card`` is words and values."""

    lead: str
    card: tuple[tuple[str, str], ...]
    sections: tuple[Section, ...]


def model_names() -> list[str]:
    """The models that come with katachi."""
    return [path.name for path in pretrained_models()]


def describe_model(name: str) -> str:
    """What a model is, in a line."""
    return describe_card(open_model(_find(name)).card)[0][1]


def _find(name: str) -> Path:
    for path in pretrained_models():
        if path.name == name:
            return path
    raise TableError(texts.NO_MODEL)


@lru_cache(maxsize=16)
def draw_learned(name: str) -> Learned:
    """Draw what a model has learned; raises TableError if there is none of that name. It takes a second or two."""
    saved = open_model(_find(name))
    drawing = draw_model(saved, DrawRequest(name, board_size=_USUAL_SIZE))
    curves = widgets.read_curves(saved.path)
    learning = (Section(texts.CURVES, (Figure(widgets.draw_chart(curves)),)),) if curves else ()
    return Learned(drawing.lead, tuple(describe_card(saved.card)), drawing.sections + learning)


def build_models_page(request: Request) -> None:
    """All models."""
    with widgets.page_frame(request, texts.MODELS_PAGE, here="/models"), ui.element("main").classes("k-main k-stack"):
        ui.label(texts.MODELS_PAGE).classes("k-title")
        ui.label(texts.MODELS_LEAD).classes("k-soft")
        with ui.element("div").classes("k-card k-games"):
            for name in model_names():
                with ui.element("div").classes("k-game-row"):
                    ui.link(name, f"/models/{name}")
                    ui.label(describe_model(name)).classes("k-soft k-small")


async def build_model_page(name: str, request: Request) -> None:
    """One model."""
    try:
        learned = await asyncio.to_thread(draw_learned, name)
    except TableError as error:
        widgets.show_error(request, error)
        return
    with widgets.page_frame(request, name, here="/models"), ui.element("main").classes("k-main k-stack"):
        ui.label(texts.LEARNED.format(name=name)).classes("k-title")
        ui.label(learned.lead).classes("k-soft")
        with ui.element("div").classes("k-card k-facts"):
            for word, value in learned.card:
                ui.label(word).classes("k-soft k-small")
                ui.label(value).classes("k-plain k-small")
        for section in learned.sections:
            with ui.element("section").classes("k-card"):
                ui.label(section.title).classes("k-sub")
                with ui.element("div").classes("k-figures"):
                    for figure in section.figures:
                        _add_figure(figure)


def _add_figure(figure: Figure) -> None:
    with ui.element("figure").classes("k-figure"):
        ui.html(figure.svg, sanitize=False)  # drawn by us, every text in it escaped
        if figure.caption:
            ui.label(figure.caption).classes("k-small k-clock")


# Pages to watch what runs: a training with its curves, a match with its score and its latest game.

_SECONDS_BETWEEN_LOOKS: Final = 2.0


def build_runs_page(folder: Path, request: Request) -> None:
    """All runs of the folder that the server watches."""
    with widgets.page_frame(request, texts.RUNS_PAGE, here="/runs"), ui.element("main").classes("k-main k-stack"):
        ui.label(texts.RUNS_PAGE).classes("k-title")
        ui.label(texts.RUNS_LEAD).classes("k-soft")
        runs = widgets.list_runs(folder)
        if not runs:
            ui.label(texts.NO_RUNS).classes("k-soft")
            return
        with ui.element("div").classes("k-card k-games"):
            for run in runs:
                with ui.element("div").classes("k-game-row"):
                    ui.link(run.name, f"/runs/{run.name}")
                    kind = texts.MATCH if run.is_match else texts.TRAINING
                    when = datetime.fromtimestamp(run.changed).strftime("%d %b %H:%M")
                    ui.label(" · ".join(filter(None, (kind, run.status, when)))).classes("k-soft k-small")


def build_run_page(folder: Path, name: str, request: Request) -> None:
    """One run, looked at again and again."""
    run = widgets.find_run(folder, name)
    if run is None:
        widgets.show_error(request, TableError(texts.NO_RUN))
        return
    with widgets.page_frame(request, name, here="/runs"), ui.element("main").classes("k-main k-stack"):
        ui.label(name).classes("k-title")
        _RunView(folder, run)


class _RunView:
    """What a run shows now."""

    def __init__(self, folder: Path, run: widgets.WatchedRun) -> None:
        self._folder = folder
        self._run = run
        self._status = ui.label().classes("k-soft")
        with ui.element("div").classes("k-card k-stack"):
            self._scores = ui.label().classes("k-plain k-clock")
            self._picture = ui.html("", sanitize=False).classes("k-chart")  # drawn by us, every text in it escaped
        self._show()
        ui.timer(_SECONDS_BETWEEN_LOOKS, self._look)

    def _look(self) -> None:
        """Look again, and draw if something is new."""
        run = widgets.find_run(self._folder, self._run.name)
        if run is not None and (run.changed, run.status) != (self._run.changed, self._run.status):
            self._run = run
            self._show()

    def _show(self) -> None:
        self._status.set_text(self._run.status)
        if not self._run.is_match:
            self._picture.set_content(widgets.draw_chart(widgets.read_curves(self._run.path)))
            return
        lines = [texts.SCORE.format(name=s.name, wins=f"{s.wins:g}", games=s.games) for s in self._run.scores()]
        self._scores.set_text("\n".join(lines))
        record = self._run.last_game()
        if record is not None:
            game = record.replay()
            self._picture.set_content(draw_svg(game.board.diagram, last_move=game.last_move))
