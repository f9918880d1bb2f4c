"""Lessons of all visitors: one pupil each, taught one after the other by a worker of their own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from katachi.web import texts
from katachi.web.engines import EngineError, EnginePool
from katachi.web.lesson import LessonJob, LessonSettings, Progress, find_pupil
from katachi.web.offers import Offer
from katachi.web.store import Shelf

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

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf
        self._teacher = EnginePool(1)
        self._lessons: dict[str, Lesson] = {}

    def of(self, visitor: str) -> Lesson:
        return self._lessons.setdefault(visitor, Lesson())

    def begin(self, visitor: str, settings: LessonSettings) -> None:
        """Teach a new pupil; the one before is forgotten."""
        self.stop(visitor)
        lesson = self.of(visitor)
        lesson.progress, lesson.notice = [], ""
        job = LessonJob(settings, self._shelf.pupil_folder(visitor))
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

    def stop(self, visitor: str) -> None:
        """End a lesson; what the pupil knows by then stays."""
        lesson = self.of(visitor)
        if lesson.task is not None:
            lesson.task.cancel()
            lesson.task = None

    def offer(self, visitor: str) -> Offer | None:
        """The pupil of a visitor as it is now, to be played against."""
        player = find_pupil(self._shelf.pupil_folder(visitor))
        return None if player is None else Offer(PUPIL, str(player), texts.PUPIL, size=5)

    def close(self) -> None:
        self._teacher.close()
