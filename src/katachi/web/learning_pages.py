"""The pages about learning: a pupil that is taught, what the models have learned, and runs that are watched."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from functools import lru_cache, partial
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from nicegui import ui
from starlette.requests import Request

from katachi.analysis.explaining import find_region
from katachi.analysis.records import MoveRecord, PositionRecord
from katachi.core.contracts import Limit
from katachi.core.drawing import DrawRequest, Figure, Layer, Section, draw_model
from katachi.core.models import describe_card, open_model, pretrained_models
from katachi.core.registry import system_of_card, systems
from katachi.core.training import Choice
from katachi.go.diagrams import draw_svg
from katachi.go.game import Game
from katachi.go.points import BLACK, EMPTY, PASS, WHITE, format_vertex, parse_vertex
from katachi.sgf import SgfError, load_sgf
from katachi.sgf.record import parse_grade
from katachi.web import texts, widgets
from katachi.web.engines import EngineError, LayersJob, Position, Seen
from katachi.web.game_page import draw_layer
from katachi.web.review import Lost, Review, list_alternatives
from katachi.web.security import show_plainly
from katachi.web.sessions import PUPIL, App, GameStore, find_lesson
from katachi.web.table import BoardElement, Opponent, Picture, Seats, Spot, TableError, TableSettings
from katachi.web.widgets import heading

_MOST_MARKERS: Final = 10  # of a slider
_SPEEDS: Final = (2.0, 1.0, 0.5, 0.2)  # seconds between moves that are watched
_RANDOM_MOVES: Final = 2


# The page where one teaches: a few sliders, the learning curve, what was learned so far, and a game against the pupil


def build_lesson_page(application: App, request: Request) -> None:
    """Everything on the page."""
    with widgets.page_frame(request, texts.LEARN_PAGE, here="/learn"), ui.element("div").classes("k-main"):
        heading(texts.LEARN_TITLE, 1, "k-title")
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
        self._slider.props(f'aria-label="{choice.name.replace("_", " ")}"')
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
            self._curve = ui.html("", sanitize=False).classes("k-chart")  # drawn by us, every text in it escaped
        with ui.element("section").classes("k-card k-stack"):
            LiveBoard(application, user)
            self._strongest = heading(texts.STRONGEST, 2)
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
        self._curve.set_visibility(bool(points))
        self._strongest.set_visibility(bool(points))
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


class LiveBoard:
    """The pupil as it is now, playing against itself slowly enough to be watched, with its shapes and its values."""

    def __init__(self, application: App, user: str) -> None:
        self._app = application
        self._user = user
        self._game = Game(find_lesson().size)
        self._is_asking = False
        self._rng = np.random.default_rng()
        heading(texts.LIVE, 2)
        self._said = ui.label(texts.LIVE_LATER).classes("k-soft k-small")
        with ui.element("div").classes("k-live"):
            self._board = BoardElement(lambda _: None)
        ui.label(texts.SPEED).classes("k-small")
        speed = ui.slider(min=1, max=len(_SPEEDS), value=2).props(f'snap markers aria-label="{texts.SPEED}"')
        self._timer = ui.timer(_SPEEDS[1], self._step)
        speed.on_value_change(lambda: setattr(self._timer, "interval", _SPEEDS[int(speed.value) - 1]))
        self._show(None)

    async def _step(self) -> None:
        """A move of the pupil's, if there is one; the next does not come before this one is made."""
        pupil = self._app.lessons.opponent(self._user)
        if pupil is None or self._is_asking:
            return
        self._is_asking = True
        try:
            job = LayersJob(pupil.spec, Position.of(self._game), Limit(simulations=1), None)
            seen: Seen = await self._app.engines.run(job, user=self._user)
            self._play(seen)
        except EngineError:
            self._game = Game(find_lesson().size)  # the pupil has just been replaced by a better one
        finally:
            self._is_asking = False

    def _play(self, seen: Seen) -> None:
        """Show what it thinks, and let it move; its first moves are random, so that games differ."""
        self._show(seen)
        legal = np.flatnonzero(self._game.legal_moves()[:-1])
        is_random = len(self._game.moves) < _RANDOM_MOVES and len(legal)
        best = seen.analysis.candidates[0].move if seen.analysis.candidates else PASS
        self._game.play(int(self._rng.choice(legal)) if is_random else best)
        if self._game.is_over or len(self._game.moves) > 3 * self._game.size**2:
            self._game = Game(self._game.size)

    def _show(self, seen: Seen | None) -> None:
        picture = replace(_draw_position(self._game, None), ghost=EMPTY, coordinates=False, description=texts.LIVE)
        layers = {} if seen is None else {one.name: one for one in seen.layers}
        if "shapes" in layers and "wins" in layers:
            labels = enumerate(layers["wins"].labels or ())
            over = [Spot(point, "#fdfcf6", 0.6, text, radius=12.0) for point, text in labels if text]
            picture = replace(picture, under=draw_layer(layers["shapes"])[0], over=over)
            self._said.set_text(texts.LIVE_MORE)
        self._board.show(picture)


# Puzzles made of one's own mistakes


class Puzzle(NamedTuple):
    """A position before a mistake, and the mistake."""

    table: str
    before: PositionRecord
    move: MoveRecord


def find_puzzles(store: GameStore, user: str) -> list[Puzzle]:
    """The mistakes in a user's reviewed games, the biggest first; those of a player at the table are left out."""
    found: list[Puzzle] = []
    for listed in store.list_tables(user):
        if listed.is_reviewed:
            with contextlib.suppress(TableError):
                found += _puzzles_of(store, user, listed.name)
    return sorted(found, key=lambda one: -(one.move.sure_loss or 0.0))


def _puzzles_of(store: GameStore, user: str, name: str) -> Iterator[Puzzle]:
    table = store.load(user, name)
    review = Review.of_json(store.load_review(user, name) or "", table.opened.record)
    for turn in [] if review is None else review.mistakes():
        assert review is not None
        move = review.positions[turn].move
        if move is not None and move.best not in (None, "pass"):
            color = BLACK if move.color == "black" else WHITE
            if not table.settings.is_players_turn(color):
                yield Puzzle(name, review.positions[turn - 1], move)


def judge_answer(puzzle: Puzzle, vertex: str) -> tuple[bool, str]:
    """Whether an answer is as good as the best move, and what is said of it."""
    candidates = {one.move: one for one in list_alternatives(puzzle.before)}
    if vertex in candidates:
        lost = Lost.between(puzzle.before, candidates[vertex])
        if not lost.text:
            return True, texts.PUZZLE_RIGHT.format(move=vertex)
        return False, texts.PUZZLE_WRONG.format(move=vertex, what=lost.words)
    if vertex == puzzle.move.move:
        return False, texts.PUZZLE_PLAYED.format(move=vertex, what=Lost.of_move(puzzle.move).words)
    return False, texts.PUZZLE_UNKNOWN.format(move=vertex)


async def build_puzzles_page(application: App, request: Request) -> None:
    """One puzzle after the other."""
    user = widgets.user_of(request)
    puzzles = await asyncio.to_thread(find_puzzles, application.store, user)
    with widgets.page_frame(request, texts.PUZZLES_PAGE, here="/puzzles"):
        if puzzles:
            with ui.element("div").classes("k-table"):
                PuzzleView(application.store, user, puzzles)
            return
        with ui.element("div").classes("k-main k-stack"):
            heading(texts.PUZZLES_TITLE, 1, "k-title")
            ui.label(texts.NO_PUZZLES)
            ui.link(texts.PUZZLES_WAY, "/games")


class PuzzleView:
    """The board of a puzzle, and what helps."""

    def __init__(self, store: GameStore, user: str, puzzles: Sequence[Puzzle]) -> None:
        self._store, self._user = store, user
        self._puzzles, self._number = puzzles, 0
        with ui.element("div").classes("k-board"):
            self._board = BoardElement(self._answer)
        with ui.element("div").classes("k-side"), widgets.section(texts.PUZZLES_TITLE, "k-card k-stack"):
            heading(texts.PUZZLES_TITLE, 1)
            self._task = ui.label().classes("k-status")
            self._said = ui.label().classes("k-plain k-sentence").props("aria-live=polite")
            with ui.element("div").classes("k-bar"):
                widgets.quiet_button(texts.HINT, self._hint)
                widgets.quiet_button(texts.PUZZLE_SHOW, self._show_answer)
                widgets.main_button(texts.PUZZLE_NEXT, self._next)
            self._link = ui.link(texts.PUZZLE_GAME, "/").classes("k-small")
        self._open()

    @property
    def _puzzle(self) -> Puzzle:
        return self._puzzles[self._number]

    def _open(self) -> None:
        """Set the board up."""
        record = self._store.load(self._user, self._puzzle.table).opened.record
        self._game = record.replay(until=list(record.main_line())[self._puzzle.before.node])
        self._tries: dict[int, str] = {}
        self._ghosts: dict[int, int] = {}
        numbers = {"number": self._number + 1, "all": len(self._puzzles)}
        self._task.set_text(texts.PUZZLE_TASK.format(color=texts.COLORS[self._game.to_play], **numbers))
        self._said.set_text("")
        self._link.props(f'href="/game/{self._puzzle.table}"')
        self._draw()

    def _draw(self) -> None:
        game = self._game
        ghost = EMPTY if self._ghosts else game.to_play
        shown = Picture(game.size, game.board.stones, game.last_move, ghost, marks=self._tries, ghosts=self._ghosts)
        self._board.show(replace(shown, description=self._task.text))

    def _answer(self, point: int) -> None:
        if self._game.why_illegal(point) is not None:
            return
        is_right, said = judge_answer(self._puzzle, format_vertex(point, self._game.size))
        self._said.set_text(said)
        if is_right:
            self._ghosts = {point: self._game.to_play}
        else:
            self._tries[point] = "cross"
        self._draw()

    def _best(self) -> int:
        return parse_vertex(self._puzzle.move.best or "pass", self._game.size)

    def _hint(self) -> None:
        size = self._game.size
        where, _ = find_region(np.eye(1, size * size, self._best())[0], size)
        self._said.set_text(texts.PUZZLE_HINT.format(where=where, move=self._puzzle.move.move))

    def _show_answer(self) -> None:
        self._ghosts = {self._best(): self._game.to_play}
        self._said.set_text(texts.HINT_IS.format(move=self._puzzle.move.best))
        self._draw()

    def _next(self) -> None:
        self._number = (self._number + 1) % len(self._puzzles)
        self._open()


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


def group_models() -> dict[str, list[str]]:
    """The names of the models, by the titles of the systems that they are of."""
    groups: dict[str, list[str]] = {system.title: [] for system in systems().values()}
    for name in model_names():
        groups[system_of_card(open_model(_find(name)).card.kind).title].append(name)
    return {title: names for title, names in groups.items() if names}


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


def build_models_page(application: App, request: Request) -> None:
    """All models."""
    with widgets.page_frame(request, texts.MODELS_PAGE, here="/models"), ui.element("div").classes("k-main k-stack"):
        heading(texts.MODELS_PAGE, 1, "k-title")
        ui.label(texts.MODELS_LEAD).classes("k-soft")
        FourBoards(application, widgets.user_of(request))
        for title, names in group_models().items():
            with widgets.section(title, "k-card k-games"):
                heading(title, 2)
                for name in names:
                    with ui.element("div").classes("k-game-row"):
                        ui.link(name, f"/models/{name}")
                        opponent = application.opponents.get(name)
                        about = opponent.description if opponent else describe_card(open_model(_find(name)).card)[0][1]
                        ui.label(about).classes("k-soft k-small")


async def build_model_page(application: App, name: str, request: Request) -> None:
    """One model: a board to play on, and what it has learned."""
    try:
        learned = await asyncio.to_thread(draw_learned, name)
    except TableError as error:
        widgets.show_error(request, error)
        return
    with widgets.page_frame(request, name, here="/models"), ui.element("div").classes("k-main k-stack"):
        heading(texts.LEARNED.format(name=name), 1, "k-title")
        ui.label(learned.lead).classes("k-soft")
        opponent = application.opponents.get(name)
        with ui.element("div").classes("k-columns" if opponent else ""):
            if opponent is not None:
                TryBoard(application, widgets.user_of(request), opponent)
            with ui.element("div").classes("k-card k-facts"):
                for word, value in learned.card:
                    ui.label(word).classes("k-soft k-small")
                    ui.label(value).classes("k-plain k-small")
        for section in learned.sections:
            with ui.element("section").classes("k-card"):
                heading(section.title, 2)
                with ui.element("div").classes("k-figures"):
                    for figure in section.figures:
                        _add_figure(figure)


_SECONDS_TO_SEE: Final = 0.5
_FIRST_LAYERS: Final = ("shapes", "policy", "territory", "wins")  # what is shown before somebody chooses


class TryBoard:
    """A board to put stones on, black and white in turn: after each it shows what a model makes of the position."""

    def __init__(self, application: App, user: str, opponent: Opponent) -> None:
        self._app, self._user, self._opponent = application, user, opponent
        self._game = Game(opponent.size or _USUAL_SIZE)
        self._seen: Seen | None = None
        self._layer = ""
        self._asked = 0
        with widgets.section(texts.TRY, "k-card k-stack k-tight k-model-board"):
            heading(texts.TRY, 2)
            ui.label(opponent.description).classes("k-soft k-small")
            self._board = BoardElement(self._play)
            self._legend = ui.label(texts.TRY_MORE).classes("k-small").props("aria-live=polite")
            self._chips = ui.element("div").classes("k-layers")
            with ui.element("div").classes("k-bar"):
                widgets.main_button(texts.PLAY_MODEL, self._begin)
                widgets.quiet_button(texts.CLEAR, self._clear)
        self._draw()

    def _begin(self) -> None:
        settings = TableSettings(player=self._opponent.name, seats=Seats.BLACK, size=self._game.size)
        widgets.enter_game(lambda: self._app.begin(self._user, settings))

    def _clear(self) -> None:
        self._game, self._seen = Game(self._game.size), None
        self._draw()

    async def _play(self, point: int) -> None:
        if self._game.why_illegal(point) is not None:
            return
        self._game.play(point)
        self._seen = None
        self._draw()
        self._asked += 1
        asked = self._asked
        job = LayersJob(self._opponent.spec, Position.of(self._game), Limit(seconds=_SECONDS_TO_SEE), None)
        try:
            seen: Seen = await self._app.engines.run(job, user=self._user)
        except EngineError as error:
            self._legend.set_text(texts.PLAYER_FAILED.format(player=self._opponent.name, reason=error))
            return
        if asked == self._asked:  # what comes late is about another position
            self._seen = seen
            self._draw()

    def _choose(self, name: str) -> None:
        self._layer = name
        self._draw()

    def _draw(self) -> None:
        layers = {} if self._seen is None else {one.name: one for one in self._seen.layers}
        shown = next((name for name in (self._layer, *_FIRST_LAYERS) if name in layers), None)
        if shown is not None:
            self._legend.set_text(layers[shown].legend)
        self._board.show(_draw_position(self._game, layers.get(shown or "")))
        self._chips.clear()
        with self._chips:
            for name, layer in layers.items():
                chip = widgets.quiet_button(layer.title, partial(self._choose, name)).classes("k-chip")
                widgets.mark_chosen(chip, name == shown)


def _draw_position(game: Game, layer: Layer | None) -> Picture:
    picture = Picture(game.size, game.board.stones, game.last_move, game.to_play, description=texts.TRY)
    if layer is None:
        return picture
    under, over = draw_layer(layer)
    return replace(picture, under=under, over=over)


class _Way(NamedTuple):
    """A model, what its system learns, and the layer of the board that shows it best."""

    model: str
    layer: str
    text: str


_WAYS: Final = (
    _Way("shapes-9", "shapes", texts.LEARNED_SHAPES),
    _Way("policy-9", "policy", texts.LEARNED_MOVES),
    _Way("territory-9", "territory", texts.LEARNED_TERRITORY),
    _Way("crbm-9", "wins", texts.LEARNED_FEATURES),
)
_RANKS: Final = ("20k", "10k", "1d", "5d", "9d")
_OPENING: Final = ("E5", "C3", "G7", "C6", "F3", "C7")  # so that there is something to see


class FourBoards:
    """One position on four boards, each as a model of another system sees it; a stone on one is a stone on all."""

    def __init__(self, application: App, user: str) -> None:
        self._app, self._user, self._rank, self._asked = application, user, _RANKS[-1], 0
        self._game = Game(_USUAL_SIZE)
        for vertex in _OPENING:
            self._game.play(parse_vertex(vertex, _USUAL_SIZE))
        self._boards: dict[_Way, tuple[BoardElement, ui.label]] = {}
        self._chips: dict[str, ui.button] = {}
        with widgets.section(texts.FOUR_WAYS, "k-stack k-tight"):
            heading(texts.FOUR_WAYS, 2)
            ui.label(texts.FOUR_WAYS_MORE).classes("k-soft")
            with ui.element("div").classes("k-ways"):
                for way in _WAYS:
                    self._add_board(way)
            with ui.element("div").classes("k-bar"):
                widgets.quiet_button(texts.UNDO, self._undo)
                widgets.quiet_button(texts.CLEAR, self._clear)
        self._choose_rank(self._rank)

    def _add_board(self, way: _Way) -> None:
        with ui.element("div").classes("k-card k-stack k-tight"):
            self._boards[way] = BoardElement(self._play), ui.label().classes("k-small k-soft").props("aria-live=polite")
            heading(system_of_card(open_model(_find(way.model)).card.kind).title, 3)
            ui.label(way.text).classes("k-small")
            if way.layer == "policy":
                with ui.element("div").classes("k-layers"):
                    ui.label(texts.BY_RANK).classes("k-small")
                    for rank in _RANKS:
                        self._chips[rank] = widgets.quiet_button(rank, partial(self._choose_rank, rank)).classes(
                            "k-chip"
                        )
            ui.link(texts.LEARNED.format(name=way.model), f"/models/{way.model}").classes("k-small")

    def _choose_rank(self, rank: str) -> None:
        self._rank = rank
        for name, chip in self._chips.items():
            widgets.mark_chosen(chip, name == rank)
        self._begin_looking()

    def _play(self, point: int) -> None:
        if self._game.why_illegal(point) is None:
            self._game.play(point)
            self._begin_looking()

    def _undo(self) -> None:
        if self._game.steps:
            self._game.undo()
            self._begin_looking()

    def _clear(self) -> None:
        self._game = Game(self._game.size)
        self._begin_looking()

    def _begin_looking(self) -> None:
        for board, _ in self._boards.values():
            board.show(_draw_position(self._game, None))
        self._asked += 1
        ui.timer(0.0, partial(self._look, self._asked), once=True)

    async def _look(self, asked: int) -> None:
        """Ask one model after the other; whoever puts another stone meanwhile is not interested any more."""
        position = Position.of(self._game)
        for way, (board, legend) in self._boards.items():
            job = LayersJob(way.model, position, Limit(seconds=_SECONDS_TO_SEE), parse_grade(self._rank))
            try:
                seen: Seen = await self._app.engines.run(job, user=self._user)
            except EngineError as error:
                legend.set_text(texts.PLAYER_FAILED.format(player=way.model, reason=error))
                continue
            if asked != self._asked:
                return
            for layer in seen.layers:
                if layer.name == way.layer:
                    board.show(_draw_position(self._game, layer))
                    legend.set_text(layer.legend)


def _add_figure(figure: Figure) -> None:
    with ui.element("figure").classes("k-figure"):
        ui.html(figure.svg, sanitize=False)  # drawn by us, every text in it escaped
        if figure.caption:
            ui.label(figure.caption).classes("k-small k-clock")


# Pages to watch what runs: a training with its curves, a match with its score and its latest game.

_SECONDS_BETWEEN_LOOKS: Final = 2.0
_GAMES_LISTED: Final = 60


def build_runs_page(folder: Path, request: Request) -> None:
    """All runs of the folder that the server watches."""
    with widgets.page_frame(request, texts.RUNS_PAGE, here="/runs"), ui.element("div").classes("k-main k-stack"):
        heading(texts.RUNS_PAGE, 1, "k-title")
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


def build_run_page(application: App, folder: Path, name: str, request: Request) -> None:
    """One run, looked at again and again."""
    run = widgets.find_run(folder, name)
    if run is None:
        widgets.show_error(request, TableError(texts.NO_RUN))
        return
    with widgets.page_frame(request, name, here="/runs"), ui.element("div").classes("k-main k-stack"):
        heading(name, 1, "k-title")
        _RunView(folder, run)
        if run.is_match:
            _add_games(application, widgets.user_of(request), run)
        elif (opponent := application.run_opponent(name)) is not None:
            TryBoard(application, widgets.user_of(request), opponent)


def _add_games(application: App, user: str, run: widgets.WatchedRun) -> None:
    """The latest games of a match; each opens as a record of one's own."""

    def open_game(path: Path) -> None:
        try:
            record = load_sgf(path)[0]
        except (OSError, SgfError, IndexError) as error:
            ui.notify(show_plainly(str(error)), type="warning")
        else:
            widgets.enter_game(lambda: application.open_record(user, record))

    with widgets.section(texts.GAMES_PAGE, "k-card k-stack k-tight"):
        heading(texts.GAMES_PAGE, 2)
        with ui.element("div").classes("k-layers"):
            for path in run.games()[:_GAMES_LISTED]:
                widgets.quiet_button(path.stem, partial(open_game, path)).classes("k-chip")


class _RunView:
    """What a run shows now."""

    def __init__(self, folder: Path, run: widgets.WatchedRun) -> None:
        self._folder = folder
        self._run = run
        self._status = ui.label().classes("k-soft")
        others = [one.name for one in widgets.list_runs(folder) if not one.is_match and one.name != run.name]
        self._other = widgets.select(["", *others], "", texts.COMPARE).classes("k-find")
        self._other.set_visibility(not run.is_match and bool(others))
        self._other.on_value_change(lambda: self._show())
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

    def _curves(self) -> list[widgets.Curve]:
        """Those of this run, and those of the one beside it, each with its name."""
        own = widgets.read_curves(self._run.path)
        other = widgets.find_run(self._folder, str(self._other.value)) if self._other.value else None
        if other is None:
            return own
        beside = [curve._replace(name=f"{other.name}: {curve.name}") for curve in widgets.read_curves(other.path)]
        return [curve._replace(name=f"{self._run.name}: {curve.name}") for curve in own] + beside

    def _show(self) -> None:
        self._status.set_text(self._run.status)
        if not self._run.is_match:
            self._picture.set_content(widgets.draw_chart(self._curves()))
            return
        lines = [texts.SCORE.format(name=s.name, wins=f"{s.wins:g}", games=s.games) for s in self._run.scores()]
        self._scores.set_text("\n".join(lines))
        record = self._run.last_game()
        if record is not None:
            game = record.replay()
            self._picture.set_content(draw_svg(game.board.diagram, last_move=game.last_move))
