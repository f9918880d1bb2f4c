"""Sessions: tables that are open on the server, with whoever thinks at them and whoever watches them.

All of this happens in the event loop, so that no two things happen to a table at once. Thinking is done by the
engines, writing to disk by a thread; both tell the loop when they are through.
"""

from __future__ import annotations

import asyncio
import json
import re
import shutil
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from threading import Event
from typing import Final, NamedTuple

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from katachi.core.cards import Metric, Training
from katachi.core.contracts import Analysis, Decision, Floats, Limit, LinearEvaluator
from katachi.core.disk import write_atomically
from katachi.core.drawing import describe_shape, draw_shape, format_weight
from katachi.core.linear import LinearModel, describe_linear, save_linear
from katachi.core.models import describe_card, open_model, pretrained_models
from katachi.crbm.drawing import NamedCrbm, draw_kernels
from katachi.crbm.evaluator import CrbmCard, load_crbm
from katachi.go.game import Game
from katachi.go.points import PASS
from katachi.go.rules import Rules
from katachi.go.scoring import estimate_status
from katachi.policy.drawing import draw_policy, evaluate_position
from katachi.sgf import SgfGame
from katachi.shapes.alp import play_against_alp
from katachi.shapes.drawing import largest_shapes
from katachi.shapes.learner import TdLearner, TdSettings
from katachi.web import texts
from katachi.web.engines import DecideJob, EngineError, EnginePool, Position, Reporter, Review
from katachi.web.store import GameStore, format_table
from katachi.web.table import Opponent, Phase, Table, TableError, TableSettings, check_settings
from katachi.web.widgets import draw_chart, read_curves

# What a shipped model has learned, as pictures: shapes, kernels, or moves on the empty board, and its curves.

_PER_SET: Final = 12
_USUAL_SIZE: Final = 9  # of the empty board for a model of all sizes


class Figure(NamedTuple):
    """A picture, which is markup of ours, and the number below it, if there is one."""

    svg: str
    number: str = ""


class Section(NamedTuple):
    """Pictures that belong together."""

    title: str
    figures: tuple[Figure, ...]


class Learned(NamedTuple):
    """All that a page tells of a model; ``card`` is words and values."""

    name: str
    lead: str
    card: tuple[tuple[str, str], ...]
    sections: tuple[Section, ...]


def model_names() -> list[str]:
    """The models that ship."""
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
    """Draw what a model has learned; raises TableError if none of that name ships. It takes a second or two."""
    path = _find(name)
    learned = _draw_kind(name, path)
    curves = read_curves(path)
    if not curves:
        return learned
    return learned._replace(sections=(*learned.sections, Section(texts.CURVES, (Figure(draw_chart(curves)),))))


def _draw_kind(name: str, path: Path) -> Learned:
    saved = open_model(path)
    card = tuple(describe_card(saved.card))
    if isinstance(saved.card, CrbmCard):
        figure = Figure(draw_kernels([NamedCrbm(name, load_crbm(path)[0])]))
        return Learned(name, texts.KERNELS_LEAD, card, (Section(texts.KERNELS, (figure,)),))
    model = saved.load()
    if isinstance(model, LinearEvaluator):
        return Learned(name, texts.SHAPES_LEAD, card, _draw_shapes(model))
    game = Game(saved.card.board_size or _USUAL_SIZE)
    figure = Figure(draw_policy(evaluate_position(model, game)))
    return Learned(name, texts.POLICY_LEAD, card, (Section(texts.EMPTY_BOARD, (figure,)),))


def _draw_shapes(model: LinearEvaluator) -> tuple[Section, ...]:
    sets = largest_shapes(model.features, model.weights, _PER_SET)
    return tuple(
        Section(
            row.name,
            tuple(
                Figure(draw_shape(learned.shape, describe_shape(learned)), format_weight(learned.weight))
                for learned in row.shapes
            ),
        )
        for row in sets
    )


# A lesson: a pupil learns 5×5 Go from nothing by self-play, and can be played against while it learns.
#
# The lesson is a job for a worker process. After every piece of it the pupil is put on disk as a model and a player, in
# files of their own, because somebody may just be playing against the one before.

SIZE: Final = 5
SHAPES: Final = {1: ("1x1",), 2: ("1x1", "2x1", "2x2"), 3: ("1x1", "2x1", "2x2", "3x2", "3x3")}
_FIRST_GAMES: Final = 100  # before one looks at the pupil for the first time
_GROWTH: Final = 0.35  # so many of the games so far come before one looks again
_TEST_GAMES: Final = 200
_TEST_PLIES: Final = 2  # random moves before a test game: greedy players would repeat themselves
_SHOWN: Final = 10  # shapes
_PLAYER: Final = re.compile(r"player-(\d+)\.toml")


class LessonSettings(BaseModel):
    """What a teacher may choose."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    games: int = Field(default=20_000, ge=_FIRST_GAMES, le=1_000_000)
    step_size: float = Field(default=0.3, gt=0, le=10)
    largest: int = Field(default=2, ge=1, le=3)  # the largest shapes have so many lines across
    seed: int = Field(default=0, ge=0)

    def learning(self) -> TdSettings:
        """The same as the learner wants it: our own recipe."""
        sets = tuple(f"{place} {size}" for place in ("LI", "LD") for size in SHAPES[self.largest])
        return TdSettings(
            size=SIZE,
            sets=sets,
            agents=1,
            gradient="logistic",
            step_size=self.step_size,
            average_from=0.5,
            seed=self.seed,
        )


class Progress(NamedTuple):
    """How far a lesson is: games played, the share won against the average liberty player, the strongest shapes."""

    games: int
    wins: float
    figures: tuple[Figure, ...]


@dataclass(frozen=True, slots=True)
class LessonJob:
    """Teach a pupil in a folder; reports Progress whenever one looks at it."""

    settings: LessonSettings
    folder: Path

    def run(self, report: Reporter, stop: Event) -> Progress:
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        learner = TdLearner(self.settings.learning(), self.settings.games)
        while True:
            piece = max(_FIRST_GAMES, int(_GROWTH * learner.games))
            learner.train(min(piece, self.settings.games - learner.games))
            progress = self._look(learner)
            if learner.games >= self.settings.games or stop.is_set():
                return progress
            report(progress)

    def _look(self, learner: TdLearner) -> Progress:
        weights: Floats = learner.averaged_weights[0]
        seed = int(np.random.SeedSequence((self.settings.seed, learner.games)).generate_state(1)[0])
        won = play_against_alp(learner.features, weights, _TEST_GAMES, seed, random_plies=_TEST_PLIES)
        progress = Progress(learner.games, won / _TEST_GAMES, _draw(learner, weights))
        _keep(self.folder, LinearModel(learner.features, weights), progress, self.settings)
        return progress


def _draw(learner: TdLearner, weights: Floats) -> tuple[Figure, ...]:
    """The shapes that may lie anywhere, the strongest first, whatever their size."""
    names = [name for name in learner.settings.sets if name.startswith("LI")]
    shapes = [shape for row in largest_shapes(learner.features, weights, _SHOWN, names) for shape in row.shapes]
    strongest = sorted(shapes, key=lambda shape: -abs(shape.weight))[:_SHOWN]
    return tuple(
        Figure(draw_shape(shape.shape, describe_shape(shape)), format_weight(shape.weight)) for shape in strongest
    )


def _keep(folder: Path, model: LinearModel, progress: Progress, settings: LessonSettings) -> None:
    """Put the pupil on disk; the player comes last, and of the older ones the last stays."""
    older = _players(folder)[:-1]
    path = folder / f"model-{progress.games}"
    training = Training(games=progress.games, seed=settings.seed, data="self-play", settings=settings.model_dump())
    metrics = {"win rate against alp, one ply": Metric(value=progress.wins)}
    save_linear(path, model, describe_linear(model, Rules(), training, metrics))
    spec = f'kind = "search"\nname = "pupil"\n[evaluator]\nmodel = {json.dumps(str(path.resolve()))}\n'
    write_atomically(folder / f"player-{progress.games}.toml", spec)
    for player in older:
        player.unlink(missing_ok=True)
        shutil.rmtree(folder / player.stem.replace("player", "model"), ignore_errors=True)


def _players(folder: Path) -> list[Path]:
    """The players of a lesson, the latest last."""
    found = [(int(match[1]), path) for path in folder.glob("player-*.toml") if (match := _PLAYER.fullmatch(path.name))]
    return [path for _, path in sorted(found)]


def find_pupil(folder: Path) -> Path | None:
    """The latest player of a lesson, None if there is none."""
    players = _players(folder)
    return players[-1] if players else None


# Lessons of all visitors: one pupil each, taught one after the other by a worker of their own.

PUPIL = "pupil"


@dataclass(eq=False)
class Lesson:
    """What is known of a visitor's lesson."""

    progress: list[Progress] = field(default_factory=list)
    notice: str = ""
    watchers: list[Callable[[], None]] = field(default_factory=list)
    task: asyncio.Task[None] | None = None

    @property
    def is_running(self) -> bool:
        return self.task is not None and not self.task.done()

    def take(self, progress: Progress) -> None:
        self.progress.append(progress)
        self.tell()

    def tell(self) -> None:
        for watcher in tuple(self.watchers):
            watcher()


class Lessons:
    """The lessons by visitor."""

    def __init__(self, store: GameStore) -> None:
        self._store = store
        self._teacher = EnginePool(1)
        self._lessons: dict[str, Lesson] = {}

    def of(self, user: str) -> Lesson:
        return self._lessons.setdefault(user, Lesson())

    def begin(self, user: str, settings: LessonSettings) -> None:
        """Teach a new pupil; the one before is forgotten."""
        self.stop(user)
        lesson = self.of(user)
        lesson.progress, lesson.notice = [], ""
        job = LessonJob(settings, self._store.pupil_folder(user))
        lesson.task = asyncio.create_task(self._teach(lesson, job))
        lesson.tell()

    async def _teach(self, lesson: Lesson, job: LessonJob) -> None:
        try:
            lesson.take(await self._teacher.run(job, lesson.take))
        except EngineError as error:
            lesson.notice = texts.LESSON_FAILED.format(reason=error)
        finally:
            lesson.task = None
            lesson.tell()

    def stop(self, user: str) -> None:
        """End a lesson; what the pupil knows by then stays."""
        lesson = self.of(user)
        if lesson.task is not None:
            lesson.task.cancel()
            lesson.task = None

    def opponent(self, user: str) -> Opponent | None:
        """The pupil of a visitor as it is now, to be played against."""
        player = find_pupil(self._store.pupil_folder(user))
        return None if player is None else Opponent(PUPIL, str(player), texts.PUPIL, size=5)

    def close(self) -> None:
        self._teacher.close()


# Sessions

MOST_OPEN: Final = 200  # sessions that are kept in memory though nobody watches


@dataclass(eq=False)
class Session:
    """A table and what goes on at it. ``notice`` is what its people should be told, ``analysis`` what was thought."""

    user: str
    name: str
    table: Table
    application: App
    notice: str = ""
    analysis: Analysis | None = None
    review: Review | None = None
    is_deleted: bool = False
    watchers: list[Callable[[], None]] = field(default_factory=list)
    _thinking: asyncio.Task[None] | None = None
    _saving: asyncio.Task[None] | None = None
    _flag: asyncio.Task[None] | None = None
    _unsaved: bool = False

    @property
    def is_thinking(self) -> bool:
        return self._thinking is not None and not self._thinking.done()

    @property
    def is_saving(self) -> bool:
        return self._saving is not None

    # What people do

    def act(self, action: Callable[[Table], None]) -> None:
        """Do something at the table and let things go on; raises TableError, and nothing has happened then."""
        self.stop_thinking()
        try:
            action(self.table)
        finally:
            self.analysis = None
            self.notice = ""
            self.go_on()

    def click(self, point: int) -> None:
        """A click on the board: a move, or a correction of the count."""
        if self.table.phase is Phase.COUNTING:
            self.act(lambda table: table.toggle_dead(point))
        elif self.table.is_players_color:
            raise TableError(texts.NOT_YOUR_TURN)
        else:
            self.act(lambda table: table.play(point))

    def pass_turn(self) -> None:
        if self.table.is_players_color:
            raise TableError(texts.NOT_YOUR_TURN)
        self.act(lambda table: table.play(PASS))

    # What goes on by itself

    def go_on(self, *, is_changed: bool = True) -> None:
        """Keep what has changed, start whoever thinks next, estimate a count, and tell everybody."""
        if is_changed:
            self._save_soon()
        self._run_clock()
        if self.table.is_players_turn and not self.is_thinking:
            self._thinking = asyncio.create_task(self._think())
        if self.table.phase is Phase.COUNTING and not self.table.is_estimated:
            self._thinking = asyncio.create_task(self._estimate())
        self.tell()

    def tell(self) -> None:
        """Let every watcher look again."""
        for watcher in tuple(self.watchers):
            watcher()

    async def _think(self) -> None:
        table = self.table
        game = table.opened.game
        opponent = self.application.find_opponent(self.user, table.settings.player)
        if opponent is None:
            self._say(texts.PLAYER_GONE.format(player=table.settings.player))
            return
        seconds = table.clock.seconds_for_move(game.to_play, size=game.size, moves=len(game.moves) // 2)
        job = DecideJob(opponent.spec, Position.of(game), Limit(seconds=seconds))
        task = self._thinking

        def show(analysis: Analysis) -> None:
            if self._thinking is task:  # what comes late is about another position
                self.analysis = analysis
                self.tell()

        try:
            decision = await self.application.engines.run(job, show)
        except EngineError as error:
            self._say(texts.PLAYER_FAILED.format(player=opponent.name, reason=error))
            return
        self._take(decision)

    def _take(self, decision: Decision) -> None:
        """Let the player's decision happen."""
        self._thinking = None
        self.analysis = decision.analysis
        try:
            if decision.resign:
                self.table.resign(self.table.opened.game.to_play)
            else:
                self.table.play(decision.move)
        except TableError as error:
            self._say(texts.PLAYER_FAILED.format(player=self.table.settings.player, reason=error))
            return
        self.go_on()

    async def _estimate(self) -> None:
        """Estimate which stones are dead; the kernel holds no lock, so a thread will do."""
        status = await asyncio.to_thread(estimate_status, self.table.opened.game.board.copy())
        self._thinking = None
        self.table.mark_dead(status)
        self.go_on()

    def _say(self, sentence: str) -> None:
        self._thinking = None
        self.notice = sentence
        self.tell()

    def stop_thinking(self) -> None:
        """Let nobody think at this table."""
        if self._thinking is not None:
            self._thinking.cancel()
            self._thinking = None

    # Clocks

    def _run_clock(self) -> None:
        """Let the clock of whoever is to move run, and look again when his time is up."""
        clock = self.table.clock
        if self._flag is not None:
            self._flag.cancel()
            self._flag = None
        if self.table.phase is not Phase.PLAYING:
            clock.stop()
            return
        if clock.is_used and self.table.opened.game.moves:
            clock.start(self.table.opened.game.to_play)
            self._flag = asyncio.create_task(self._wait_for_flag())

    async def _wait_for_flag(self) -> None:
        left = self.table.clock.seconds_to_loss()
        while left is not None and left > 0:
            await asyncio.sleep(min(left, 3600.0) + 0.01)
            left = self.table.clock.seconds_to_loss()
        self._flag = None
        self.stop_thinking()
        self.table.lose_on_time()
        self.go_on()

    # Disk

    def _save_soon(self) -> None:
        """Write the table in a thread; changes that come meanwhile are written together, after it."""
        self._unsaved = True
        if self._saving is None:
            self._saving = asyncio.create_task(self._save())

    async def _save(self) -> None:
        try:
            while self._unsaved:
                self._unsaved = False
                content = format_table(self.table)
                await asyncio.to_thread(self.application.store.save, self.user, self.name, content)
        except (OSError, TableError) as error:
            self.notice = texts.NOT_SAVED.format(reason=error)
            self.tell()
        finally:
            self._saving = None
            if self.is_deleted:
                self.application.store.delete(self.user, self.name)

    async def close(self) -> None:
        """Stop what goes on, and wait until everything is on disk."""
        self.stop_thinking()
        if self._flag is not None:
            self._flag.cancel()
        if self._saving is not None:
            await self._saving


class App:
    """All open sessions, the engines that think for them, the players on offer and the shelf."""

    def __init__(self, store: GameStore, opponents: dict[str, Opponent], engines: EnginePool) -> None:
        self.store = store
        self.opponents = opponents
        self.engines = engines
        self.lessons = Lessons(store)
        self._sessions: OrderedDict[tuple[str, str], Session] = OrderedDict()

    def find_opponent(self, user: str, player: str) -> Opponent | None:
        """A player by its name: the visitor's own pupil, or one of those that everybody is offered."""
        return self.lessons.opponent(user) if player == PUPIL else self.opponents.get(player)

    def begin(self, user: str, settings: TableSettings) -> Session:
        """Begin a game; raises TableError if its player cannot play it."""
        opponent = self.find_opponent(user, settings.player)
        if settings.player and opponent is None:
            raise TableError(texts.PLAYER_GONE.format(player=settings.player))
        if opponent is not None and not opponent.plays(settings.size):
            raise TableError(texts.WRONG_SIZE.format(player=opponent.name, size=opponent.size))
        return self._begin(user, Table(settings))

    def open_record(self, user: str, record: SgfGame) -> Session:
        """Open a record that a visitor has brought; raises TableError if its board is none of ours."""
        return self._begin(user, Table(check_settings(size=record.size), record))

    def _begin(self, user: str, table: Table) -> Session:
        session = self._add(Session(user, self.store.new_name(), table, self))
        session.go_on()
        return session

    def find(self, user: str, name: str) -> Session:
        """A visitor's session, from disk if need be; raises TableError if there is none of his by that name."""
        session = self._sessions.get((user, name))
        if session is None:
            session = self._add(Session(user, name, self.store.load(user, name), self))
            session.go_on(is_changed=False)
        self._sessions.move_to_end((user, name))
        return session

    def delete(self, user: str, name: str) -> None:
        """Throw a visitor's table away."""
        session = self._sessions.pop((user, name), None)
        if session is not None:
            session.stop_thinking()
            session.is_deleted = True  # what is just being written goes, too
        self.store.delete(user, name)

    def _add(self, session: Session) -> Session:
        self._sessions[session.user, session.name] = session
        self._forget_some()
        return session

    def _forget_some(self) -> None:
        """Keep memory bounded: sessions that nobody watches are on disk, and can be opened again."""
        for key, session in list(self._sessions.items()):
            if len(self._sessions) <= MOST_OPEN:
                return
            if not session.watchers and not session.is_saving:
                session.stop_thinking()
                del self._sessions[key]

    async def close(self) -> None:
        """Keep everything and end the engines."""
        for session in list(self._sessions.values()):
            await session.close()
        self.engines.close()
        self.lessons.close()
