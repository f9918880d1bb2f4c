"""Replicas: processes of one machine that learn apart, each from batches of its own, and meet in the mean.

Every so many batches the weights, what the optimizers remember and the running means become the mean of all of them
(local SGD, Stich 2019). Between two meetings nobody waits for anybody, so that two cores learn from nearly twice as
many positions. Which batch is whose follows from its number: a run resumes to the same bytes, and Ctrl-C finds all
where they met.
"""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Sequence
from contextlib import closing
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from types import TracebackType
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray

from katachi.core.training import TrainingError, add_up
from katachi.data.batches import AnyBatches, compute_ahead
from katachi.policy.config import PolicyTraining
from katachi.policy.learner import Learner, Losses

State = dict[str, NDArray[Any]]


class Replicas:
    """A learner and its helpers, which take turns in nothing; a context manager that ends them."""

    def __init__(self, learner: Learner, batches: AnyBatches, workers: int) -> None:
        """Start the other processes; ``workers`` threads of each compute batches ahead."""
        self._learner, self._batches, self._workers = learner, batches, workers
        self._helpers: list[tuple[BaseProcess, Connection]] = []
        context = multiprocessing.get_context("spawn")
        for _ in range(1, learner.settings.replicas):
            here, there = context.Pipe()
            process = context.Process(target=_help, args=(there, learner.settings, workers), daemon=True)
            process.start()
            there.close()
            self._helpers.append((process, here))

    def update(self) -> Losses:
        """Learn from as many batches as all replicas do until they meet, or from what is left."""
        settings, first = self._learner.settings, self._learner.step
        left = settings.steps - first
        counts = [min(settings.meet_every, -(-left // settings.replicas))] * settings.replicas
        start = self._learner.state_dict()
        try:
            for number, (_, pipe) in enumerate(self._helpers, 1):
                pipe.send((start, first + number * counts[0], counts[number]))
            own = _learn(self._learner, self._batches, first, counts[0], self._workers)
            found = [(self._learner.state_dict(), own), *(pipe.recv() for _, pipe in self._helpers)]
        except (EOFError, OSError):
            raise TrainingError("a process that learns along has ended: give the same command again") from None
        states, losses = zip(*found, strict=True)
        met = average(states) | {"step": np.array([first + sum(counts)])}
        self._learner.load_state_dict(met)
        return add_up(losses)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for process, pipe in self._helpers:
            pipe.close()
            process.terminate()
            process.join()


def average(states: Sequence[State]) -> State:
    """The mean of every array of states."""
    every = {name: np.stack([state[name] for state in states]) for name in states[0]}
    return {name: np.asarray(arrays.mean(axis=0, dtype=arrays.dtype)) for name, arrays in every.items()}


def _help(pipe: Connection, settings: PolicyTraining, workers: int) -> None:
    """Learn what the first process asks for until it is gone."""
    from katachi.policy.train import open_batches

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # which is for the first process
    torch.set_num_threads(1)
    batches, learner = open_batches(settings), Learner(settings)
    while True:
        try:
            state, first, count = pipe.recv()
        except EOFError:
            return
        learner.load_state_dict(state)
        losses = _learn(learner, batches, first, count, workers)
        pipe.send((learner.state_dict(), losses))


def _learn(learner: Learner, batches: AnyBatches, first: int, count: int, workers: int) -> Losses:
    """Learn from so many batches, from one of a number on."""
    replicas = learner.settings.replicas
    with closing(compute_ahead(batches.__getitem__, first, workers)) as stream:
        return add_up([learner.update(next(stream), replicas) for _ in range(count)])
