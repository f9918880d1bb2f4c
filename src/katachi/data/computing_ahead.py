"""Computing ahead: what will be needed next is made by other threads, in order, and never more than a few of it.

Threads, not processes: what is worth computing ahead is compiled and holds no interpreter lock, so that threads run
side by side with the caller, hand over their results without a copy, and end with him however he ends.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import count
from typing import Final, TypeVar

T = TypeVar("T")

_AHEAD: Final = 3  # results for each worker that may wait to be fetched, or be in the making


def compute_ahead(compute: Callable[[int], T], start: int, workers: int) -> Iterator[T]:
    """The results for ``start``, ``start`` + 1 and so on; what a worker raises is raised where its result would be."""
    if not workers:
        yield from map(compute, count(start))
    pool = ThreadPoolExecutor(workers, "computing-ahead")
    waiting: deque[Future[T]] = deque()
    numbers = count(start)
    try:
        while True:
            while len(waiting) < _AHEAD * workers:
                waiting.append(pool.submit(compute, next(numbers)))
            yield waiting.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)
