"""Getting a player ready beside everything else: kernels are compiled, weights read, before a decision needs them.

Loading a player compiles nothing and finds whatever is wrong with its file; ``prepare`` takes the rest of the time,
half a minute where nothing has been compiled yet. Who serves a player begins at once with a ``Preparation``, answers
what can be answered, and waits where the player has to think.
"""

from __future__ import annotations

import gc
import os
import sys
from contextlib import suppress
from threading import Event, Lock, Thread
from typing import Final

from katachi.core.contracts import Player, PreparingPlayer
from katachi.go import game as rules
from katachi.go.compiling import compiling

_SILENT_SECONDS: Final = 2.0  # who waits longer than that is told what for
_POLL_SECONDS: Final = 0.05


class Preparation:
    """Prepares a player in a thread, for one size of boards after the other. Nobody else may use it meanwhile.

    Without a player, the board alone is prepared.
    """

    def __init__(self, player: Player | None = None) -> None:
        self._player = player
        self.title = "the board" if player is None else player.name  # what it is called where somebody waits
        self._wanted: int | None = None
        self._tried: set[int] = set()
        self._lock = Lock()
        self._is_idle = Event()
        self._is_idle.set()

    @property
    def is_running(self) -> bool:
        return not self._is_idle.is_set()

    def begin(self, size: int) -> None:
        """Prepare for boards of a size, once; a size that has not had its turn is no longer wanted."""
        with self._lock:
            self._wanted = None if size in self._tried else size
            if self._wanted is not None and not self.is_running:
                self._is_idle.clear()
                Thread(target=self._run, name="preparation", daemon=True).start()

    def wait(self, stop: Event | None = None) -> bool:
        """Wait until all is ready, and say so if that is long; False if ``stop`` was set before."""
        if not self._is_idle.wait(_SILENT_SECONDS):
            self._announce()
        while stop is not None and not stop.is_set() and not self._is_idle.wait(_POLL_SECONDS):
            pass
        return self._is_idle.wait(0 if stop is not None else None)

    def wait_briefly(self, seconds: float) -> None:
        """Give it a moment, as where a clock will run next."""
        self._is_idle.wait(seconds)

    def _announce(self) -> None:
        now = compiling()
        known = "" if now is None else f", at least {max(1.0, now.seconds - now.done):.0f} s, once"
        print(f"katachi: preparing {self.title}{known}", file=sys.stderr, flush=True)  # noqa: T201

    def _run(self) -> None:
        with suppress(Exception):
            rules.warmup()  # first of all: every command about the board waits for it
        while (size := self._next_size()) is not None:
            self._prepare(size)

    def _next_size(self) -> int | None:
        with self._lock:
            size, self._wanted = self._wanted, None
            if size is None:
                self._is_idle.set()
            else:
                self._tried.add(size)
            return size

    def _prepare(self, size: int) -> None:
        """Prepare, and keep the garbage collector off all that.

        Compiled code comes with so many objects that to walk over them takes longer than the lag of a fast game.
        """
        if isinstance(self._player, PreparingPlayer):
            with suppress(Exception):  # whatever is wrong, the first decision will say so
                self._player.prepare(size)
            gc.collect()
            gc.freeze()


def leave(preparation: Preparation, code: int = 0) -> None:
    """End the process at once if something is still being compiled: the interpreter could not end beside that.

    What is kept on disk is written under another name and renamed, so that nothing is left half done.
    """
    if preparation.is_running:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
