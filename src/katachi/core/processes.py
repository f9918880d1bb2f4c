"""Worker processes end when the process that started them is gone, even if it was killed and could tell nobody."""

from __future__ import annotations

import os
import time
from functools import cache
from threading import Thread
from typing import Final

_SECONDS_BETWEEN_LOOKS: Final = 0.5


@cache  # once in a process is enough
def end_with_parent(parent: int) -> None:
    """Watch, in a thread, whether ``parent`` is still the parent of this process; if not, end at once.

    Does nothing in the parent itself. A worker writes no files, so that nothing is lost.
    """
    if os.getpid() != parent:
        Thread(target=_watch, args=(parent,), daemon=True, name="end with parent").start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_SECONDS_BETWEEN_LOOKS)
    os._exit(1)
