"""Sessions: tables that are open on the server, with whoever thinks at them and whoever watches them.

All of this happens in the event loop, so that no two things happen to a table at once. Thinking is done by the
engines, writing to disk by a thread; both report to the loop when they are through.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import os
import re
import secrets
import shutil
import zlib
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event
from typing import Final, NamedTuple

from katachi.analysis.records import LEAST_BLUNDER, PositionRecord
from katachi.core.cards import Strict
from katachi.core.contracts import Analysis, Decision, Limit
from katachi.core.disk import write_atomically
from katachi.core.registry import find, references
from katachi.core.training import Choices as LessonChoices
from katachi.core.training import Lesson, LessonProgress, list_pupils
from katachi.go.points import PASS
from katachi.go.scoring import estimate_status
from katachi.players.specs import SpecError, find_spec
from katachi.sgf import FoundGame, Limits, Node, SgfError, SgfGame, format_sgf, game_to_tree, iter_sgf, load_sgf
from katachi.web import texts
from katachi.web.engines import CheckJob, DecideJob, EngineError, EnginePool, Position, PrepareJob, Progress, Reporter
from katachi.web.review import Reviewing
from katachi.web.security import show_plainly
from katachi.web.table import Opponent, Phase, Table, TableError, TableSettings, check_settings
from katachi.web.widgets import find_run

# The store: the tables of every user on disk, so that they outlive the server.
#
# DATA/token                             what lets one in, readable by its owner alone
# DATA/visitors/USER/choices.json        what this user has chosen for games and boards
# DATA/visitors/USER/TABLE/record.sgf    the game with all its variations
# DATA/visitors/USER/TABLE/table.json    settings, how far it is, clocks
# DATA/visitors/USER/TABLE/review.json   its review as far as it is
# DATA/visitors/USER/pupil/              the player that this user teaches
#
# Names come from us, never from a file or a user: what does not look like one of ours is not there.

_RECORD: Final = "record.sgf"
_STATE: Final = "table.json"
_REVIEW: Final = "review.json"
_REVIEW_PART: Final = "review-part.json"
_CHOICES: Final = "choices.json"
_TOKEN: Final = "token"
_NAME: Final = re.compile(r"[0-9a-f]{16}([0-9a-f]{16})?")
MOST_TABLES: Final = 200  # of one user


class ListedTable(NamedTuple):
    """A table in the list of a user's."""

    name: str
    black: str
    white: str
    size: int
    moves: int
    result: str
    changed: float  # seconds since the epoch
    stones: tuple[int, ...]  # at the end
    is_reviewed: bool


class SavedTable(NamedTuple):
    """The content of both files."""

    record: str
    state: str


class Choices(Strict):
    """What a user has chosen: the settings of the next game, and how boards look and sound."""

    settings: TableSettings | None = None
    coordinates: bool = True
    sound: bool = True
    motion: bool = True
    teach: bool = False


class GameStore:
    """Tables on disk, by user and name."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        (folder / "visitors").mkdir(parents=True, exist_ok=True)

    def token(self) -> str:
        """The token of this store. It stays the same, so that an open page finds its server again."""
        path = self._folder / _TOKEN
        if path.is_file() and len(token := path.read_text(encoding="ascii").strip()) >= 32:
            return token
        token = secrets.token_urlsafe(32)
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            file.write(token)
        return token

    def new_name(self) -> str:
        return secrets.token_hex(8)

    def save(self, user: str, name: str, content: SavedTable) -> None:
        """Write both files; each is seen whole or as it was."""
        folder = self._path(user, name)
        if not folder.exists() and len(self._names(user)) >= MOST_TABLES:
            raise TableError(texts.TOO_MANY_TABLES.format(most=MOST_TABLES))
        folder.mkdir(parents=True, exist_ok=True)
        write_atomically(folder / _RECORD, content.record)
        write_atomically(folder / _STATE, content.state)

    def load(self, user: str, name: str) -> Table:
        """A table; raises TableError if there is none that can be read."""
        folder = self._path(user, name)
        try:
            state = json.loads((folder / _STATE).read_text(encoding="utf-8"))
            return Table.restore(state, load_sgf(folder / _RECORD)[0])
        except FileNotFoundError:
            raise TableError(texts.NO_TABLE) from None
        except (OSError, SgfError, ValueError, KeyError, TypeError) as error:
            raise TableError(texts.DAMAGED_TABLE.format(reason=error)) from None

    def save_review(self, user: str, name: str, text: str, is_done: bool) -> None:
        """Write a review; one that is not done is resumed when the server starts again."""
        folder = self._path(user, name)
        write_atomically(folder / (_REVIEW if is_done else _REVIEW_PART), text)
        if is_done:
            (folder / _REVIEW_PART).unlink(missing_ok=True)

    def load_review(self, user: str, name: str) -> str | None:
        """The review of a table, None if there is none; the one that is being made comes before one that is done."""
        for file in (_REVIEW_PART, _REVIEW):
            with contextlib.suppress(OSError, UnicodeDecodeError):
                return (self._path(user, name) / file).read_text(encoding="utf-8")
        return None

    def delete_review(self, user: str, name: str) -> None:
        for file in (_REVIEW_PART, _REVIEW):
            (self._path(user, name) / file).unlink(missing_ok=True)

    def unfinished_reviews(self) -> list[tuple[str, str]]:
        """The users and names of all tables whose review was interrupted."""
        found = (self._folder / "visitors").glob(f"*/*/{_REVIEW_PART}")
        names = [(path.parent.parent.name, path.parent.name) for path in found]
        return [(user, name) for user, name in names if _NAME.fullmatch(user) and _NAME.fullmatch(name)]

    def save_choices(self, user: str, choices: Choices) -> None:
        """Remember what a user has chosen."""
        folder = self._user_folder(user)
        folder.mkdir(parents=True, exist_ok=True)
        write_atomically(folder / _CHOICES, choices.model_dump_json(indent=1) + "\n")

    def load_choices(self, user: str) -> Choices:
        """What a user chose last, or what is usual."""
        try:
            return Choices.model_validate_json((self._user_folder(user) / _CHOICES).read_bytes())
        except (OSError, ValueError):
            return Choices()

    def delete(self, user: str, name: str) -> None:
        shutil.rmtree(self._path(user, name), ignore_errors=True)

    def list_tables(self, user: str) -> list[ListedTable]:
        """The tables of a user, the last changed first; what cannot be read is left out."""
        found = [self._describe(user, name) for name in self._names(user)]
        return sorted((one for one in found if one is not None), key=lambda one: -one.changed)

    def _describe(self, user: str, name: str) -> ListedTable | None:
        path = self._path(user, name) / _RECORD
        try:
            record = load_sgf(path)[0]
            moves = sum(not {"B", "W"}.isdisjoint(node.properties) for node in record.main_line())
            result = str(record.result or "")
            stones = tuple(record.replay(until=list(record.main_line())[-1]).board.stones.tolist())
            is_reviewed = (path.parent / _REVIEW).exists()
            names = (name, record.black, record.white)
            return ListedTable(*names, record.size, moves, result, path.stat().st_mtime, stones, is_reviewed)
        except (OSError, SgfError, IndexError):
            return None

    def pupil_folder(self, user: str) -> Path:
        """Where what a user teaches is kept; it need not be there."""
        return self._user_folder(user) / "pupil"

    def _names(self, user: str) -> list[str]:
        folder = self._user_folder(user)
        return [path.name for path in folder.iterdir() if _NAME.fullmatch(path.name)] if folder.is_dir() else []

    def _path(self, user: str, name: str) -> Path:
        if not _NAME.fullmatch(name):
            raise TableError(texts.NO_TABLE)
        return self._user_folder(user) / name

    def _user_folder(self, user: str) -> Path:
        if not _NAME.fullmatch(user):
            raise TableError(texts.NO_TABLE)
        return self._folder / "visitors" / user


def format_table(table: Table) -> SavedTable:
    """A table as what is kept of it."""
    return SavedTable(format_sgf(table.opened.record), json.dumps(table.state(), indent=1) + "\n")


# Records that users upload: read under the limits of the SGF layer, archives too, from a file that is gone after.

MAX_UPLOAD: Final = 16 << 20  # bytes
MOST_GAMES: Final = 100  # of a collection to choose from
_LIMITS: Final = Limits(size=MAX_UPLOAD, nodes=100_000, depth=20_000, entries=1_000)
_MOST_SHARED: Final = 6_000  # letters of an address
_UPLOAD_NAME: Final = "record"  # whatever the user calls it


class Upload(NamedTuple):
    """The games of a file that can be opened here, and whether something of it was left out."""

    games: list[SgfGame]
    is_cut: bool


def share_path(record: SgfGame) -> str:
    """An address that opens a record, which it holds itself; a long one loses its variations and comments."""
    text = format_sgf(record).encode()
    if len(packed := _pack(text)) > _MOST_SHARED:
        line = game_to_tree(record.replay(until=list(record.main_line())[-1]))
        packed = _pack(format_sgf(SgfGame(line)).encode())
    return f"/open?record={packed}"


def read_shared(packed: str) -> SgfGame:
    """The record of such an address; raises TableError if there is none."""
    try:
        unpacker = zlib.decompressobj()
        content = unpacker.decompress(base64.urlsafe_b64decode(packed), MAX_UPLOAD)
    except (ValueError, zlib.error):
        raise TableError(texts.UNREADABLE.format(reason=texts.NO_GAME)) from None
    return read_upload(content).games[0]


def _pack(text: bytes) -> str:
    return base64.urlsafe_b64encode(zlib.compress(text, 9)).decode()


def file_name(record: SgfGame, ending: str) -> str:
    """What a game is called as a file: ``2026-11-18-you-level-3-B+2.5.sgf``."""
    parts = (record.root.text("DT")[:10], record.black, record.white, str(record.result or ""))
    name = "-".join(re.sub(r"[^A-Za-z0-9+.-]+", "-", part).strip("-.")[:40] for part in parts if part)
    return f"{re.sub('-+', '-', name).strip('-') or 'katachi'}.{ending}"


def read_upload(content: bytes, limits: Limits = _LIMITS) -> Upload:
    """Read what a user has sent; raises TableError with the reason if there is no game in it.

    Games are read one after the other until there are many, or many nodes in all: memory is bounded by that, and not
    by what a file of 16 MB can hold.
    """
    if len(content) > limits.size:
        raise TableError(texts.TOO_LARGE)
    with TemporaryDirectory(prefix="katachi-") as folder:
        path = Path(folder) / _UPLOAD_NAME
        path.write_bytes(content)
        games: list[SgfGame] = []
        nodes = 0
        reason: SgfError | None = None
        for number, found in enumerate(iter_sgf([path], limits)):
            if number >= MOST_GAMES or nodes > limits.nodes:
                return Upload(_check_any(games, reason, path), is_cut=True)
            try:
                games.append(_check_playable(found))
                nodes += sum(1 for _ in games[-1].root.walk())
            except SgfError as error:
                reason = reason or error
        return Upload(_check_any(games, reason, path), is_cut=bool(games) and reason is not None)


def _check_playable(found: FoundGame) -> SgfGame:
    """A game that can be replayed, with the repairs that this takes; raises SgfError if there is none."""
    if found.game is None:
        raise found.error or SgfError(texts.NO_GAME)
    found.game.replay()
    return found.game


def _check_any(games: list[SgfGame], reason: SgfError | None, path: Path) -> list[SgfGame]:
    """The games, if there are any; else raises TableError with the reason, in which names are ours or shown plainly."""
    if not games:
        said = str(reason or texts.NO_GAME).removeprefix(f"{path}: ").replace(str(path), _UPLOAD_NAME)
        raise TableError(texts.UNREADABLE.format(reason=show_plainly(said)))
    return games


# Lessons of all users: one pupil each, taught one after the other by a worker of their own

PUPIL: Final = "pupil"
_RUN_PREFIX: Final = "run:"
SUBJECT: Final = next(iter(references("lessons")))  # the lesson on the page


def find_lesson(subject: str = SUBJECT) -> Lesson:
    """What a system teaches."""
    lesson: Lesson = find("lessons", subject)
    return lesson


@dataclass(frozen=True, slots=True)
class LessonJob:
    """Teach a pupil in a folder; reports LessonProgress whenever one looks at it."""

    choices: LessonChoices
    folder: Path
    subject: str = SUBJECT

    def run(self, report: Reporter, stop: Event) -> LessonProgress:
        return find_lesson(self.subject).teach(self.choices, self.folder, report, stop)


@dataclass(eq=False)
class Teaching:
    """What is known of a user's lesson."""

    progress: list[LessonProgress] = field(default_factory=list)
    notice: str = ""
    watchers: list[Callable[[], None]] = field(default_factory=list)
    task: asyncio.Task[None] | None = None

    @property
    def is_running(self) -> bool:
        return self.task is not None and not self.task.done()

    def take(self, progress: LessonProgress) -> None:
        self.progress.append(progress)
        self.notify()

    def notify(self) -> None:
        for watcher in tuple(self.watchers):
            watcher()


class Lessons:
    """The lessons by user."""

    def __init__(self, store: GameStore) -> None:
        self._store = store
        self._teacher = EnginePool(1)
        self._lessons: dict[str, Teaching] = {}

    def of(self, user: str) -> Teaching:
        return self._lessons.setdefault(user, Teaching())

    def begin(self, user: str, choices: LessonChoices) -> None:
        """Teach a new pupil; the one before is forgotten."""
        self.stop(user)
        lesson = self.of(user)
        lesson.progress, lesson.notice = [], ""
        job = LessonJob(choices, self._store.pupil_folder(user))
        lesson.task = asyncio.create_task(self._teach(lesson, job))
        lesson.notify()

    async def _teach(self, lesson: Teaching, job: LessonJob) -> None:
        try:
            lesson.take(await self._teacher.run(job, lesson.take))
        except EngineError as error:
            lesson.notice = texts.LESSON_FAILED.format(reason=error)
        finally:
            lesson.task = None
            lesson.notify()

    def stop(self, user: str) -> None:
        """End a lesson; what the pupil knows by then stays."""
        lesson = self.of(user)
        if lesson.task is not None:
            lesson.task.cancel()
            lesson.task = None

    def opponent(self, user: str) -> Opponent | None:
        """The pupil of a user as it is now, to be played against."""
        pupils = list_pupils(self._store.pupil_folder(user))
        return Opponent(PUPIL, str(pupils[-1]), texts.PUPIL, size=find_lesson().size) if pupils else None

    def close(self) -> None:
        self._teacher.close()


# Sessions

_TEACHER: Final = "level-10"
MOST_OPEN: Final = 200  # sessions that are kept in memory though nobody watches


@dataclass(eq=False)
class Session:
    """A table and what happens at it. ``notice`` is shown to its people, ``analysis`` is what was thought.

    ``progress`` is that of the compiler, while the player at this table is prepared.
    """

    user: str
    name: str
    table: Table
    application: App
    notice: str = ""
    analysis: Analysis | None = None
    held: tuple[PositionRecord, PositionRecord] | None = None  # before and after a move that is called a blunder
    teaches: bool = False
    is_deleted: bool = False
    watchers: list[Callable[[], None]] = field(default_factory=list)
    progress: Progress | None = None
    _preparing: asyncio.Task[None] | None = None
    _thinking: asyncio.Task[None] | None = None
    _saving: asyncio.Task[None] | None = None
    _flag: asyncio.Task[None] | None = None
    _unsaved: bool = False
    _checked: Node | None = None

    def __post_init__(self) -> None:
        self.reviewing = Reviewing(self)

    @property
    def is_thinking(self) -> bool:
        return self._thinking is not None and not self._thinking.done()

    @property
    def is_preparing(self) -> bool:
        """Whether the player is not ready to think, for the first time here."""
        return self._preparing is not None

    @property
    def is_saving(self) -> bool:
        return self._saving is not None

    # What people do

    def act(self, action: Callable[[Table], None]) -> None:
        """Do something at the table and let things continue; raises TableError, and nothing has happened then."""
        self.stop_thinking()
        try:
            action(self.table)
        finally:
            self.analysis = None
            self.held = None
            self.notice = ""
            self.proceed()

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

    # What happens by itself

    def proceed(self, *, is_changed: bool = True) -> None:
        """Keep what has changed, start whoever thinks next, estimate a count, and notify everybody."""
        if is_changed:
            self._save_soon()
        self._prepare()
        self._run_clock()
        if self.table.is_players_turn and not self.is_thinking and self.held is None:
            self._thinking = asyncio.create_task(self._check() if self._must_check() else self._think())
        if self.table.phase is Phase.COUNTING and not self.table.is_estimated and not self.is_thinking:
            self._thinking = asyncio.create_task(self._estimate())
        self.notify()

    def watch(self, watcher: Callable[[], None]) -> None:
        """Have somebody look whenever something happens; what waited for them continues."""
        if watcher not in self.watchers:
            self.watchers.append(watcher)
        self.proceed(is_changed=False)

    def leave(self, watcher: Callable[[], None]) -> None:
        """Look no more. Where nobody does, the player waits with its thoughts, unless its clock runs."""
        if watcher in self.watchers:
            self.watchers.remove(watcher)
        if not self.watchers and not self.table.clock.is_used:
            self.stop_thinking()

    def notify(self) -> None:
        """Let every watcher look again."""
        for watcher in tuple(self.watchers):
            watcher()

    def _prepare(self) -> None:
        """Have an engine get ready for the player, before it is its turn."""
        table = self.table
        opponent = self.application.find_opponent(self.user, table.settings.player)
        if opponent is None or table.phase is not Phase.PLAYING or self._preparing is not None:
            return
        job = PrepareJob(opponent.spec, table.settings.size)
        if self.application.engines.needs(job):
            self._preparing = asyncio.create_task(self._wait_until_prepared(job))

    async def _wait_until_prepared(self, job: PrepareJob) -> None:
        def show(progress: Progress) -> None:
            self.progress = progress
            self.notify()

        try:
            await self.application.engines.prepare(job, show)
        finally:
            self.progress = self._preparing = None
        self._run_clock()
        self.notify()

    async def _think(self) -> None:
        if self._preparing is not None:
            await asyncio.wait([self._preparing])  # which continues if this is cancelled
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
                self.notify()

        try:
            decision = await self.application.engines.run(job, show, user=self.user)
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
        self.proceed()

    # Teaching

    def _must_check(self) -> bool:
        """Whether a person's move is to be looked at before it is answered."""
        is_new = self.table.opened.node is not self._checked and bool(self.table.opened.game.moves)
        return self.teaches and is_new and not self.table.clock.is_used

    async def _check(self) -> None:
        """Look at the move that was just played: if it is a blunder, wait until its player has decided about it."""
        node, opponent = self.table.opened.node, self.application.teacher(self.table.opened.size)
        self._checked = node
        try:
            if opponent is not None:
                job = CheckJob(opponent.spec, Position.of(self.table.opened.game))
                before, after = await self.application.engines.run(job, user=self.user)
                is_blunder = after.move is not None and (after.move.sure_loss or 0.0) >= LEAST_BLUNDER
                self.held = (before, after) if is_blunder else None
        except EngineError as error:
            self.notice = texts.PLAYER_FAILED.format(player=_TEACHER, reason=error)
        self._thinking = None
        self.proceed(is_changed=False)

    def keep_move(self) -> None:
        """Let a blunder stand: it is answered."""
        self.held = None
        self.proceed(is_changed=False)

    async def _estimate(self) -> None:
        """Estimate which stones are dead; the kernel holds no lock, so a thread will do."""
        status = await asyncio.to_thread(estimate_status, self.table.opened.game.board.copy())
        self._thinking = None
        self.table.mark_dead(status)
        self.proceed()

    def _say(self, sentence: str) -> None:
        self._thinking = None
        self.notice = sentence
        self.notify()

    def stop_thinking(self) -> None:
        """Let nobody think at this table."""
        if self._thinking is not None:
            self._thinking.cancel()
            self._thinking = None

    # Clocks

    def _run_clock(self) -> None:
        """Let the clock of whoever is to move run, and look again when their time is up."""
        clock = self.table.clock
        if self._flag is not None:
            self._flag.cancel()
            self._flag = None
        if self.table.phase is not Phase.PLAYING or (self.table.is_players_turn and self.is_preparing):
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
        self.proceed()

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
            self.notify()
        finally:
            self._saving = None
            if self.is_deleted:
                self.application.store.delete(self.user, self.name)

    async def saved(self) -> None:
        """Wait until the table is on disk as it is now."""
        if self._saving is not None:
            await asyncio.shield(self._saving)

    async def close(self) -> None:
        """Stop what is happening, and wait until everything is on disk."""
        self.stop_thinking()
        self.reviewing.close()
        if self._preparing is not None:
            self._preparing.cancel()
        if self._flag is not None:
            self._flag.cancel()
        await self.saved()


class App:
    """All open sessions, the engines that think for them, the opponents and the store."""

    def __init__(
        self, store: GameStore, opponents: dict[str, Opponent], engines: EnginePool, runs: Path | None = None
    ) -> None:
        self.store = store
        self._runs = runs
        self.opponents = opponents
        self.engines = engines
        self.lessons = Lessons(store)
        self.reading = asyncio.Semaphore(1)  # uploads at a time, so that memory is bounded for all together
        self._sessions: OrderedDict[tuple[str, str], Session] = OrderedDict()

    def find_opponent(self, user: str, player: str) -> Opponent | None:
        """A player by its name: the user's own pupil, that of a run, or one of those that everybody may play."""
        if player.startswith(_RUN_PREFIX):
            return self.run_opponent(player.removeprefix(_RUN_PREFIX))
        return self.lessons.opponent(user) if player == PUPIL else self.opponents.get(player)

    def run_opponent(self, name: str) -> Opponent | None:
        """The latest player of a training, None if it has none yet, or one that runs another program."""
        run = None if self._runs is None else find_run(self._runs, name)
        if run is None or run.is_match:
            return None
        try:
            spec = find_spec(str(run.path))
        except SpecError:
            return None
        description = spec.description or texts.PLAYER_OF_RUN.format(name=name)
        found = Opponent(f"{_RUN_PREFIX}{name}", str(run.path), description, size=spec.board_size)
        return None if spec.program else found

    def teacher(self, size: int) -> Opponent | None:
        """Who looks at a pupil's moves."""
        opponent = self.opponents.get(_TEACHER)
        return opponent if opponent is not None and opponent.plays(size) else None

    def resume_reviews(self) -> None:
        """Continue the reviews that an end of the server has interrupted."""
        for user, name in self.store.unfinished_reviews():
            with contextlib.suppress(TableError):
                self.find(user, name).reviewing.resume()

    def begin(self, user: str, settings: TableSettings) -> Session:
        """Start a game; raises TableError if its player cannot play it."""
        opponent = self.find_opponent(user, settings.player)
        if settings.player and opponent is None:
            raise TableError(texts.PLAYER_GONE.format(player=settings.player))
        if opponent is not None and not opponent.plays(settings.size):
            raise TableError(texts.WRONG_SIZE.format(player=opponent.name, size=opponent.size))
        return self._begin(user, Table(settings))

    def open_record(self, user: str, record: SgfGame) -> Session:
        """Open a record that a user has uploaded; raises TableError if its board has another size than ours."""
        return self._begin(user, Table(check_settings(size=record.size), record))

    def _begin(self, user: str, table: Table) -> Session:
        session = self._add(Session(user, self.store.new_name(), table, self))
        session.proceed()
        return session

    def find(self, user: str, name: str) -> Session:
        """A user's session, from disk if need be; raises TableError if the user has none of that name."""
        session = self._sessions.get((user, name))
        if session is None:
            session = self._add(Session(user, name, self.store.load(user, name), self))
        self._sessions.move_to_end((user, name))
        return session

    def delete(self, user: str, name: str) -> None:
        """Throw a user's table away."""
        session = self._sessions.pop((user, name), None)
        if session is not None:
            session.stop_thinking()
            session.is_deleted = True  # what is just being written goes, too
            session.reviewing.close()
        self.store.delete(user, name)

    def _add(self, session: Session) -> Session:
        """Keep a session, and memory bounded: others that nobody watches are on disk, and can be opened again."""
        self._sessions[session.user, session.name] = session
        for key, other in list(self._sessions.items()):
            if len(self._sessions) <= MOST_OPEN:
                break
            if not (other.watchers or other.is_saving or other.reviewing.is_running):
                other.stop_thinking()
                del self._sessions[key]
        return session

    async def close(self) -> None:
        """Keep everything and end the engines."""
        for session in list(self._sessions.values()):
            await session.close()
        self.engines.close()
        self.lessons.close()
