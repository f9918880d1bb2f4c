"""Sessions: tables that are open on the server, with whoever thinks at them and whoever watches them.

All of this happens in the event loop, so that no two things happen to a table at once. Thinking is done by the
engines, writing to disk by a thread; both tell the loop when they are through.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from katachi.core.contracts import Analysis, Decision, Limit
from katachi.go.points import PASS
from katachi.go.scoring import estimate_status
from katachi.sgf import SgfGame
from katachi.web import texts
from katachi.web.engines import DecideJob, EngineError, EnginePool, Position, Review
from katachi.web.lessons import PUPIL, Lessons
from katachi.web.offers import Offer
from katachi.web.settings import TableError, TableSettings, check_settings
from katachi.web.store import Shelf, format_table
from katachi.web.table import Phase, Table

MOST_OPEN: Final = 200  # sessions that are kept in memory though nobody watches


@dataclass(eq=False)
class Session:
    """A table and what goes on at it. ``notice`` is what its people should be told, ``analysis`` what was thought."""

    visitor: str
    name: str
    table: Table
    house: House
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
        offer = self.house.find_offer(self.visitor, table.settings.player)
        if offer is None:
            self._say(texts.PLAYER_GONE.format(player=table.settings.player))
            return
        seconds = table.clock.seconds_for_move(game.to_play, size=game.size, moves=len(game.moves) // 2)
        job = DecideJob(offer.spec, Position.of(game), Limit(seconds=seconds))
        task = self._thinking

        def show(analysis: Analysis) -> None:
            if self._thinking is task:  # what comes late is about another position
                self.analysis = analysis
                self.tell()

        try:
            decision = await self.house.engines.run(job, show)
        except EngineError as error:
            self._say(texts.PLAYER_FAILED.format(player=offer.name, reason=error))
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
                await asyncio.to_thread(self.house.shelf.save, self.visitor, self.name, content)
        except (OSError, TableError) as error:
            self.notice = texts.NOT_SAVED.format(reason=error)
            self.tell()
        finally:
            self._saving = None
            if self.is_deleted:
                self.house.shelf.delete(self.visitor, self.name)

    async def close(self) -> None:
        """Stop what goes on, and wait until everything is on disk."""
        self.stop_thinking()
        if self._flag is not None:
            self._flag.cancel()
        if self._saving is not None:
            await self._saving


class House:
    """All open sessions, the engines that think for them, the players on offer and the shelf."""

    def __init__(self, shelf: Shelf, offers: dict[str, Offer], engines: EnginePool) -> None:
        self.shelf = shelf
        self.offers = offers
        self.engines = engines
        self.lessons = Lessons(shelf)
        self._sessions: OrderedDict[tuple[str, str], Session] = OrderedDict()

    def find_offer(self, visitor: str, player: str) -> Offer | None:
        """A player by its name: the visitor's own pupil, or one of those that everybody is offered."""
        return self.lessons.offer(visitor) if player == PUPIL else self.offers.get(player)

    def begin(self, visitor: str, settings: TableSettings) -> Session:
        """Begin a game; raises TableError if its player cannot play it."""
        offer = self.find_offer(visitor, settings.player)
        if settings.player and offer is None:
            raise TableError(texts.PLAYER_GONE.format(player=settings.player))
        if offer is not None and not offer.plays(settings.size):
            raise TableError(texts.WRONG_SIZE.format(player=offer.name, size=offer.size))
        return self._begin(visitor, Table(settings))

    def open_record(self, visitor: str, record: SgfGame) -> Session:
        """Open a record that a visitor has brought; raises TableError if its board is none of ours."""
        return self._begin(visitor, Table(check_settings(size=record.size), record))

    def _begin(self, visitor: str, table: Table) -> Session:
        session = self._add(Session(visitor, self.shelf.new_name(), table, self))
        session.go_on()
        return session

    def find(self, visitor: str, name: str) -> Session:
        """A visitor's session, from disk if need be; raises TableError if there is none of his by that name."""
        session = self._sessions.get((visitor, name))
        if session is None:
            session = self._add(Session(visitor, name, self.shelf.load(visitor, name), self))
            session.go_on(is_changed=False)
        self._sessions.move_to_end((visitor, name))
        return session

    def delete(self, visitor: str, name: str) -> None:
        """Throw a visitor's table away."""
        session = self._sessions.pop((visitor, name), None)
        if session is not None:
            session.stop_thinking()
            session.is_deleted = True  # what is just being written goes, too
        self.shelf.delete(visitor, name)

    def _add(self, session: Session) -> Session:
        self._sessions[session.visitor, session.name] = session
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
