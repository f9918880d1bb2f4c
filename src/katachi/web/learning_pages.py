"""The page where one teaches: a few sliders, the learning curve, the shapes as they appear, and a game against it."""

from __future__ import annotations

from nicegui import ui
from starlette.requests import Request

from katachi.web import texts
from katachi.web.chart import draw_chart
from katachi.web.lesson import SHAPES, SIZE, LessonSettings
from katachi.web.lessons import PUPIL
from katachi.web.sessions import House
from katachi.web.settings import Seats, TableError, TableSettings
from katachi.web.shell import page_frame, visitor_of
from katachi.web.watched_runs import Curve
from katachi.web.widgets import main_button, quiet_button

_GAMES = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000)


def build_lesson_page(house: House, request: Request) -> None:
    """Everything on the page."""
    with page_frame(request, texts.LEARN_PAGE, here="/learn"), ui.element("main").classes("k-main"):
        ui.label(texts.LEARN_TITLE).classes("k-title")
        ui.label(texts.LEARN_LEAD).classes("k-soft")
        with ui.element("div").classes("k-columns"):
            view = LessonView(house, visitor_of(request))
    ui.context.client.on_delete(view.close)


class LessonView:
    """One browser's view of its visitor's lesson."""

    def __init__(self, house: House, visitor: str) -> None:
        self._house = house
        self._visitor = visitor
        self._lesson = house.lessons.of(visitor)
        with ui.element("section").classes("k-card k-stack"):
            self._build_sliders()
            self._build_buttons()
        with ui.element("section").classes("k-card k-stack"):
            self._curve = ui.html("", sanitize=False).classes("k-chart")  # drawn by us, every text in it escaped
            ui.label(texts.STRONGEST).classes("k-sub")
            self._shapes = ui.element("div").classes("k-figures")
        self._lesson.watchers.append(self.refresh)
        self.refresh()

    def _build_sliders(self) -> None:
        self._games_text = ui.label().classes("k-small")
        self._games = ui.slider(min=0, max=len(_GAMES) - 1, value=2, step=1).props("snap markers")
        self._step_text = ui.label().classes("k-small")
        self._step = ui.slider(min=0.05, max=1.0, value=0.3, step=0.05)
        self._size_text = ui.label().classes("k-small")
        self._size = ui.slider(min=1, max=max(SHAPES), value=2, step=1).props("snap markers")
        for slider in (self._games, self._step, self._size):
            slider.on_value_change(self._tell_sliders)
        self._tell_sliders()

    def _tell_sliders(self) -> None:
        self._games_text.set_text(texts.LESSON_GAMES.format(games=_GAMES[int(self._games.value)]))
        self._step_text.set_text(texts.LESSON_STEP.format(step=self._step.value))
        self._size_text.set_text(texts.LESSON_SHAPES.format(size=int(self._size.value)))

    def _build_buttons(self) -> None:
        self._status = ui.label().classes("k-status")
        with ui.element("div").classes("k-bar"):
            self._begin = main_button(texts.TEACH, self._teach)
            self._stop = quiet_button(texts.STOP, self._end)
            self._play = quiet_button(texts.PLAY_PUPIL, self._play_pupil)

    def _teach(self) -> None:
        settings = LessonSettings(
            games=_GAMES[int(self._games.value)], step_size=float(self._step.value), largest=int(self._size.value)
        )
        self._house.lessons.begin(self._visitor, settings)

    def _end(self) -> None:
        self._house.lessons.stop(self._visitor)
        self.refresh()

    def _play_pupil(self) -> None:
        try:
            session = self._house.begin(self._visitor, TableSettings(player=PUPIL, seats=Seats.BLACK, size=SIZE))
        except TableError as error:
            ui.notify(str(error), type="warning")
            return
        ui.navigate.to(f"/game/{session.name}")

    def refresh(self) -> None:
        """Show how far the lesson is."""
        lesson = self._lesson
        self._begin.set_enabled(not lesson.is_running)
        self._stop.set_visibility(lesson.is_running)
        self._play.set_enabled(self._house.lessons.offer(self._visitor) is not None)
        self._status.set_text(lesson.notice or self._describe())
        points = tuple((float(one.games), one.wins) for one in lesson.progress)
        self._curve.set_content(draw_chart([Curve(texts.WINS_AGAINST_ALP, points)] if points else []))
        self._shapes.clear()
        with self._shapes:
            for figure in lesson.progress[-1].figures if lesson.progress else ():
                with ui.element("figure").classes("k-figure"):
                    ui.html(figure.svg, sanitize=False)  # drawn by us, every text in it escaped
                    ui.label(figure.number).classes("k-small k-clock")

    def _describe(self) -> str:
        lesson = self._lesson
        if not lesson.progress:
            return texts.LESSON_BEGINS if lesson.is_running else ""
        last = lesson.progress[-1]
        text = texts.LESSON_SO_FAR.format(games=last.games, wins=f"{100 * last.wins:.0f}")
        return text if lesson.is_running else texts.LESSON_OVER.format(what=text)

    def close(self) -> None:
        self._lesson.watchers.remove(self.refresh)
