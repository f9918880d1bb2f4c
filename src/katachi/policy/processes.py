"""Several processes that learn together, started by ``torchrun``: each has its share of every batch.

What they sum, they sum over gloo. A process that torchrun did not start is alone, and nothing here costs it anything.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from torch import Tensor, distributed

from katachi.data.batches import Batch


@contextmanager
def joined_processes() -> Iterator[None]:
    """Meet the other processes, if there are any, for as long as the block takes."""
    if int(os.environ.get("WORLD_SIZE", "1")) == 1:
        yield
        return
    distributed.init_process_group("gloo")
    try:
        yield
    finally:
        distributed.destroy_process_group()


def is_shared() -> bool:
    """Whether several processes learn together."""
    return distributed.is_available() and distributed.is_initialized()


def is_first() -> bool:
    """Whether this is the process that keeps the run."""
    return not is_shared() or distributed.get_rank() == 0


def own_share(batch: Batch) -> Batch:
    """The positions of a batch that this process learns from: all of them if it is alone."""
    if not is_shared():
        return batch
    rank, processes = distributed.get_rank(), distributed.get_world_size()
    return batch.only(slice(rank, None, processes))


def sum_over_processes(tensors: Iterable[Tensor]) -> None:
    """Put into each tensor the sum of all processes."""
    if is_shared():
        for tensor in tensors:
            distributed.all_reduce(tensor)


def tell_all(something: Any) -> Any:
    """What the first process has, in every process."""
    if not is_shared():
        return something
    told = [something]
    distributed.broadcast_object_list(told)
    return told[0]
