"""Pages to watch what runs: a training with its curves, a match with its score and its latest game."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Final

from nicegui import ui
from starlette.requests import Request

from katachi.go.diagrams import draw_svg
from katachi.web import texts
from katachi.web.chart import draw_chart
from katachi.web.settings import TableError
from katachi.web.shell import page_frame, show_error
from katachi.web.watched_runs import WatchedRun, find_run, list_runs, read_curves

_SECONDS_BETWEEN_LOOKS: Final = 2.0


def build_runs_page(folder: Path, request: Request) -> None:
    """All runs of the folder that the server watches."""
    with page_frame(request, texts.RUNS_PAGE, here="/runs"), ui.element("main").classes("k-main k-stack"):
        ui.label(texts.RUNS_PAGE).classes("k-title")
        ui.label(texts.RUNS_LEAD).classes("k-soft")
        runs = list_runs(folder)
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
    run = find_run(folder, name)
    if run is None:
        show_error(request, TableError(texts.NO_RUN))
        return
    with page_frame(request, name, here="/runs"), ui.element("main").classes("k-main k-stack"):
        ui.label(name).classes("k-title")
        _RunView(folder, run)


class _RunView:
    """What a run shows now."""

    def __init__(self, folder: Path, run: WatchedRun) -> None:
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
        run = find_run(self._folder, self._run.name)
        if run is not None and (run.changed, run.status) != (self._run.changed, self._run.status):
            self._run = run
            self._show()

    def _show(self) -> None:
        self._status.set_text(self._run.status)
        if not self._run.is_match:
            self._picture.set_content(draw_chart(read_curves(self._run.path)))
            return
        lines = [texts.SCORE.format(name=s.name, wins=f"{s.wins:g}", games=s.games) for s in self._run.scores()]
        self._scores.set_text("\n".join(lines))
        record = self._run.last_game()
        if record is not None:
            game = record.replay()
            self._picture.set_content(draw_svg(game.board.diagram, last_move=game.last_move))
