"""Handing out work, by an engine that loses it, forgets files and answers in any order."""

from __future__ import annotations

import os
import pickle
import random
import sys
from operator import floordiv, mul
from pathlib import Path

import pytest

from katachi.core import execution
from katachi.core.execution import Backend, Cluster, ExecutionError, Lost, hand_out, here, perform, use_cluster


class Engine:
    """Does the work when it is waited for, one call at a time, drawn by chance; loses some of the answers."""

    def __init__(self, losses: float = 0.0) -> None:
        self.rng, self.losses = random.Random(5), losses
        self.performed: list[bytes] = []
        self.most_at_once = 0
        self.cancelled: list[int] = []
        self._futures: dict[int, bytes] = {}
        self._lost: set[int] = set()

    def cores(self) -> int:
        return 3

    def nodes(self) -> list[str]:
        return ["one", "two"]

    def submit(self, payload: bytes, node: str | None = None) -> int:
        number = len(self.performed) + len(self._futures) + 1000 * self.rng.randrange(1000)
        self._futures[number] = payload
        self.most_at_once = max(self.most_at_once, len(self._futures))
        return number

    def wait(self, futures, seconds):
        return [self.rng.choice(futures)]

    def result(self, future: int) -> bytes:
        payload = self._futures.pop(future)
        if self.rng.random() < self.losses:
            raise Lost("somebody pulled the plug")
        self.performed.append(payload)
        return perform(payload, "one")

    def cancel(self, futures) -> None:
        self.cancelled += futures

    def close(self) -> None:
        pass


@pytest.fixture
def use(monkeypatch, tmp_path):
    monkeypatch.setattr(execution, "store_folder", lambda: tmp_path / "store")

    def start(**options) -> Engine:
        engine = Engine(**options)
        monkeypatch.setattr(execution, "_in_use", Cluster(engine))
        return engine

    return start


CALLS = [(number, 7) for number in range(50)]


def test_every_call_has_one_result_though_workers_are_lost(use):
    engine = use(losses=0.4)
    assert sorted(hand_out(mul, CALLS, 4)) == [7 * number for number in range(50)]
    assert len(engine.performed) == 50
    assert engine.most_at_once == 4


def test_results_come_in_order_if_that_is_wanted(use):
    use(losses=0.2)
    assert list(hand_out(mul, CALLS, 4, in_order=True)) == [7 * number for number in range(50)]
    assert list(hand_out(mul, CALLS, 4)) != [7 * number for number in range(50)]


def test_calls_are_taken_as_they_are_needed(use):
    use()
    taken = []

    def calls():
        for number in range(100):
            taken.append(number)
            yield number, 1

    results = hand_out(mul, calls(), 3)
    next(results)
    assert len(taken) == 3


def test_a_call_that_ends_every_worker_is_an_error(use):
    use(losses=1.0)
    with pytest.raises(ExecutionError, match="has ended 10 workers, the last one so: somebody pulled the plug"):
        list(hand_out(mul, CALLS, 2))


def test_what_work_raises_is_raised_and_the_rest_is_cancelled(use):
    engine = use()
    with pytest.raises(ZeroDivisionError) as raised:
        list(hand_out(floordiv, [(1, 0), *CALLS], 4))
    assert raised.value.__notes__[0].startswith("on ")
    assert len(engine.cancelled) == 3


def test_an_error_that_cannot_travel_is_told_in_words(use):
    use()
    with pytest.raises(ExecutionError, match=r"^ModuleNotFoundError: gone"):
        list(hand_out(_raise_local, [()], 1))


def _raise_local() -> None:
    class Local(ModuleNotFoundError):
        """Of which no other process knows."""

    Local.__name__ = "ModuleNotFoundError"
    raise Local("gone")


def test_a_node_with_other_sources_refuses(use, monkeypatch):
    payload = execution._pack(mul, (1, 2), {})
    monkeypatch.setattr(execution, "program_digest", lambda: "other")
    answer = pickle.loads(perform(payload, "one"))  # noqa: S301
    assert "has another version of katachi: install the same on every node" in str(answer.error)


def test_files_travel_once_and_lie_by_their_paths(use, tmp_path, monkeypatch):
    use()
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "weights").write_bytes(b"12")
    (tmp_path / "same").write_bytes(b"12")
    (tmp_path / "player.toml").write_text("x")
    reads = ["model", tmp_path / "same", tmp_path / "player.toml"]
    calls = [("model/weights",), (str(tmp_path / "same"),), ("./player.toml",), ("model",), ("elsewhere",)]
    found = list(hand_out(here, calls * 3, 4, in_order=True, reads=reads))
    weights, same, player, folder, elsewhere = found[:5]
    assert found == found[:5] * 3
    store = tmp_path / "store"
    assert [path.is_relative_to(store) for path in found[:5]] == [True, True, True, True, False]
    assert (weights.read_bytes(), same.read_bytes(), player.read_text()) == (b"12", b"12", "x")
    assert folder == weights.parent
    assert elsewhere == Path("elsewhere")
    assert execution.cluster_in_use().deliveries == [("one", 2)]  # the two files of equal content are one
    (tmp_path / "player.toml").write_text("y")
    assert next(hand_out(here, calls[2:3], 1, reads=reads)).read_text() == "y"
    assert execution.cluster_in_use().deliveries == [("one", 2), ("one", 1)]
    assert here("model") == Path("model")  # nothing has travelled to where it comes from


def test_files_that_nobody_has_read_for_long_go(use, tmp_path):
    use()
    for name in ("old", "new"):
        (tmp_path / name).write_text(name)
        list(hand_out(here, [(name,)], 1, reads=[tmp_path / name]))
        if name == "old":
            for path in (tmp_path / "store").rglob("*"):
                os.utime(path, (0, 0))
    kept = [path.read_text() for path in (tmp_path / "store").iterdir() if path.is_file()]
    assert kept == ["new"]


def test_nodes_are_asked_each(use):
    use()
    assert execution.cluster_in_use().ask_every_node(os.getpid) == dict.fromkeys(("one", "two"), os.getpid())


def test_at_home_nothing_is_handed_to_the_cluster(use):
    engine = use()
    with execution.at_home():
        assert list(hand_out(mul, CALLS[:3], 1)) == [0, 7, 14]
    assert engine.performed == []
    assert list(hand_out(mul, CALLS[:3], 1, in_order=True)) == [0, 7, 14]
    assert len(engine.performed) == 3


@pytest.mark.parametrize(("backend", "module"), [(Backend.RAY, "ray"), (Backend.DASK, "distributed")])
def test_without_the_engine_there_is_one_clear_sentence(backend, module, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    wanted = rf"the backend {backend} is not installed: pip install 'katachi\[{backend}\]'"
    with pytest.raises(ExecutionError, match=wanted), use_cluster(backend):
        pass


def test_an_address_needs_a_backend():
    with pytest.raises(ExecutionError, match="say --backend ray or dask, too"), use_cluster(Backend.LOCAL, "head:1"):
        pass
