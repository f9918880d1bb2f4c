"""Where work is done: in this process, in several of this machine, or on a cluster of Ray or Dask.

Whoever has much to do hands out calls of one function with ``hand_out`` and takes the results as they come. Everything
inside a ``use_cluster`` goes to that cluster, so that ``--backend``, ``--cluster`` and ``--jobs`` mean the same in all
commands. A call gets its work and its arguments as bytes and returns bytes; this process alone writes results.

No disk is shared. Files that work reads travel to each node once, by their content, and ``here`` says where a path of
this machine lies there. A call whose worker is lost is made again: there is one result of every call, and since work
depends on its arguments and seeds alone, it is the same everywhere.
"""

from __future__ import annotations

import hashlib
import importlib
import os
import pickle
import shutil
import signal
import socket
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path
from threading import Thread, current_thread, main_thread
from typing import Any, Final, NamedTuple, Protocol, TypeVar

from katachi.core.disk import usable_cores

Result = TypeVar("Result")

_MOST_LOSSES: Final = 10  # of workers by one call: then it is the call that ends them
_SECONDS_OF_A_WAIT: Final = 1.0  # after which it is seen whether the cluster has grown
_DAYS_KEPT: Final = 30  # of files that no work has read on a node
_SECONDS_BETWEEN_LOOKS: Final = 0.5
_SECONDS_TO_ANSWER: Final = 10.0


class ExecutionError(ValueError):
    """Work that cannot be handed out, and why."""


class Backend(StrEnum):
    """Where work is done: on this machine, or on a cluster of Ray or Dask."""

    LOCAL = "local"
    RAY = "ray"
    DASK = "dask"


def hand_out(
    work: Callable[..., Result],
    calls: Iterable[tuple[Any, ...]],
    jobs: int,
    *,
    in_order: bool = False,
    reads: Iterable[Path | str] = (),
) -> Iterator[Result]:
    """What ``work`` returns for each of some arguments, as it comes or in order.

    By this process, by ``jobs`` processes of this machine, or by the cluster in use. Calls are taken as they are
    needed. ``reads`` are the files and folders that the work reads; what it raises is raised here.
    """
    if _in_use is not None:
        numbered = _in_use.run(work, calls, jobs, _digest_files(reads))
        yield from _sort(numbered) if in_order else (result for _, result in numbered)
    elif jobs == 1:
        yield from (work(*arguments) for arguments in calls)
    else:
        from joblib import Parallel, delayed  # loads multiprocessing, which a single process does without

        parallel = Parallel(n_jobs=jobs, batch_size=1, return_as="generator" if in_order else "generator_unordered")
        yield from parallel(delayed(_work_for)(os.getpid(), work, arguments) for arguments in calls)


@contextmanager
def use_cluster(backend: Backend, address: str | None = None, jobs: int = 0) -> Iterator[int]:
    """Hand out to a cluster whatever is handed out inside; gives the number of jobs, for 0 as many as it has cores.

    Without an address Ray or Dask is started on this machine, and ended again. Raises ExecutionError if the engine is
    not installed, or does not answer.
    """
    global _in_use
    if backend is Backend.LOCAL:
        if address is not None:
            raise ExecutionError("--cluster is the address of a Ray or Dask cluster: say --backend ray or dask, too")
        yield jobs or usable_cores()
        return
    engine = (_Ray if backend is Backend.RAY else _Dask)(address, jobs)
    _in_use = Cluster(engine, takes_all=not jobs)
    try:
        yield jobs or max(1, engine.cores())
    finally:
        _in_use = None
        engine.close()


def cluster_in_use() -> Cluster | None:
    """The cluster that work is handed out to; None if it stays here."""
    return _in_use


@contextmanager
def at_home() -> Iterator[None]:
    """Hand out to processes of this machine whatever is handed out inside: for work that writes files of a run."""
    global _in_use
    cluster, _in_use = _in_use, None
    try:
        yield
    finally:
        _in_use = cluster


def _sort(numbered: Iterable[tuple[int, Result]]) -> Iterator[Result]:
    early: dict[int, Result] = {}
    wanted = 0
    for number, result in numbered:
        early[number] = result
        while wanted in early:
            yield early.pop(wanted)
            wanted += 1


# Processes of this machine. They end when the process that started them is gone, even if it was killed and could tell
# nobody. A cluster looks after its own.


@cache  # once in a process is enough
def end_with_parent(parent: int) -> None:
    """Watch, in a thread, whether ``parent`` is still the parent of this process; if not, end at once.

    Does nothing in the parent itself. A worker writes no files, so that nothing is lost. Ctrl-C, which a terminal sends
    to all processes, is the business of the parent alone.
    """
    if os.getpid() != parent:
        if current_thread() is main_thread():
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        Thread(target=_watch, args=(parent,), daemon=True, name="end with parent").start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_SECONDS_BETWEEN_LOOKS)
    os._exit(1)


def _work_for(parent: int, work: Callable[..., Result], arguments: tuple[Any, ...]) -> Result:
    end_with_parent(parent)
    return work(*arguments)


# A cluster: calls go out, answers come in, whatever the engine.


class Lost(Exception):
    """A worker that is gone before it answered, and what is known of its end."""


class Engine(Protocol):
    """What is needed of Ray or Dask. A future is whatever it calls one; a node, whatever it knows one by."""

    def cores(self) -> int: ...

    def nodes(self) -> list[str]: ...

    def submit(self, payload: bytes, node: str | None = None) -> Any:
        """Let any node answer a payload (``perform``), or this one."""
        ...

    def wait(self, futures: Sequence[Any], seconds: float) -> Sequence[Any]:
        """Those that are through, as soon as there is one; none when the time is up."""
        ...

    def result(self, future: Any) -> bytes:
        """What was answered; raises Lost if the worker is, and ExecutionError if a node cannot answer anything."""
        ...

    def cancel(self, futures: Sequence[Any]) -> None: ...

    def close(self) -> None:
        """Leave nothing that runs, nor, if it was started here, the cluster itself."""
        ...


@dataclass(slots=True, eq=False)
class _Call:
    number: int
    payload: bytes
    losses: int = 0


class _Delivery(NamedTuple):
    """Files on their way to a node, for which some calls wait."""

    node: str


class Cluster:
    """Hands out to an engine."""

    def __init__(self, engine: Engine, *, takes_all: bool = False) -> None:
        """``takes_all``: work is on as many cores as there are, those of nodes that join later included."""
        self._engine, self._takes_all = engine, takes_all
        self.deliveries: list[tuple[str, int]] = []  # the nodes that got files, and how many

    def run(
        self, work: Callable[..., Any], calls: Iterable[tuple[Any, ...]], jobs: int, files: Mapping[str, str]
    ) -> Iterator[tuple[int, Any]]:
        """The number and the result of every call, as they come."""
        orders = (_Call(number, _pack(work, arguments, files)) for number, arguments in enumerate(calls))
        again: deque[_Call] = deque()
        parked: dict[str, list[_Call]] = {}
        pending: dict[Any, _Call | _Delivery] = {}
        paths = {digest: path for path, digest in files.items()}
        try:
            while True:
                room = self._width(jobs) - len(pending)
                for _ in range(room):
                    call = again.popleft() if again else next(orders, None)
                    if call is None:
                        break
                    pending[self._engine.submit(call.payload)] = call
                if not pending:
                    return
                for future in self._engine.wait(list(pending), _SECONDS_OF_A_WAIT):
                    task = pending.pop(future)
                    answer = self._answer(future, task)
                    if isinstance(task, _Delivery):
                        again.extend(parked.pop(task.node))
                    elif answer is None:
                        again.append(task)
                    elif answer.missing:
                        if answer.node not in parked:
                            pending[self._deliver(answer, paths)] = _Delivery(answer.node)
                        parked.setdefault(answer.node, []).append(task)
                    else:
                        yield task.number, answer.result
        finally:
            self._engine.cancel(list(pending))

    def nodes(self) -> list[str]:
        """The nodes that work, as the engine knows them."""
        return self._engine.nodes()

    def ask_every_node(self, work: Callable[[], Result], only: str = "") -> dict[str, Result | ExecutionError]:
        """What each node says, or why it says nothing; all of them, or one."""
        asked = {node: self._engine.submit(_pack(work, (), {}), node) for node in ([only] if only else self.nodes())}
        found: dict[str, Result | ExecutionError] = {}
        for node, future in asked.items():
            try:
                while not self._engine.wait([future], _SECONDS_OF_A_WAIT):
                    pass
                found[node] = self._read(future).result
            except (Lost, ExecutionError) as error:
                found[node] = ExecutionError(str(error))
        return found

    def _width(self, jobs: int) -> int:
        """How many calls are out at a time: some more than cores, if all are meant, so that none waits for us."""
        cores = self._engine.cores()
        return max(jobs, cores + cores // 4 + 1) if self._takes_all else jobs

    def _answer(self, future: Any, task: _Call | _Delivery) -> _Answer | None:
        """None if the worker was lost."""
        try:
            return self._read(future)
        except Lost as loss:
            if isinstance(task, _Call):
                task.losses += 1
                if task.losses >= _MOST_LOSSES:
                    raise ExecutionError(f"a call has ended {_MOST_LOSSES} workers, the last one so: {loss}") from None
            return None

    def _read(self, future: Any) -> _Answer:
        answer: _Answer = pickle.loads(self._engine.result(future))  # noqa: S301 — what our own workers say
        if answer.error is not None:
            if hasattr(answer.error, "add_note"):
                answer.error.add_note(f"on {answer.host}")
            raise answer.error
        return answer

    def _deliver(self, answer: _Answer, paths: Mapping[str, str]) -> Any:
        """Send a node the files that it has not."""
        contents = {digest: Path(paths[digest]).read_bytes() for digest in answer.missing}
        self.deliveries.append((answer.node, len(contents)))
        return self._engine.submit(_pack(_keep_files, (contents,), {}), answer.node)


_in_use: Cluster | None = None  # by ``use_cluster``


# What a worker does: see that it is of the same program, have the files that are read, call, and answer.


class _Answer(NamedTuple):
    node: str  # as the engine knows it
    host: str
    result: Any = None
    error: Exception | None = None
    missing: tuple[str, ...] = ()  # digests of files that the node must be sent first


class _Order(NamedTuple):
    work: Callable[..., Any]
    arguments: tuple[Any, ...]
    folder: str  # that paths are seen from
    files: Mapping[str, str]


class _Place(NamedTuple):
    """Where the files of the machine that hands out lie on this node: below ``root``, by their full paths there."""

    root: Path
    folder: str


_place: ContextVar[_Place | None] = ContextVar("_place", default=None)


def here(path: Path | str) -> Path:
    """Where a file or folder lies on this node; the path itself if it has not travelled."""
    place = _place.get()
    if place is None:
        return Path(path)
    absolute = Path(os.path.abspath(os.path.join(place.folder, path)))  # noqa: PTH100, PTH118 — as it was there
    found = place.root.joinpath(*absolute.parts[1:])
    return found if found.exists() else Path(path)


def is_elsewhere() -> bool:
    """Whether this is a worker of a cluster: what was checked where work is handed out may be otherwise here."""
    return _place.get() is not None


@cache
def program_digest() -> str:
    """What tells this program from one with other sources."""
    package = Path(__file__).parents[1]
    contents = hashlib.sha256()
    for file in sorted(package.rglob("*.py")):
        contents.update(f"{file.relative_to(package).as_posix()} ".encode() + file.read_bytes())
    return contents.hexdigest()[:16]


def _pack(work: Callable[..., Any], arguments: tuple[Any, ...], files: Mapping[str, str]) -> bytes:
    order = pickle.dumps(_Order(work, arguments, os.getcwd(), files))  # noqa: PTH109
    return pickle.dumps((program_digest(), order))


def perform(payload: bytes, node: str) -> bytes:
    """Answer an order, on whatever node this is."""
    try:
        answer = _Answer(node, socket.gethostname(), *_obey(payload))
        return pickle.dumps(answer)
    except Exception as error:  # noqa: BLE001 — it is raised where the order comes from
        return pickle.dumps(_Answer(node, socket.gethostname(), error=_portable(error)))


def _obey(payload: bytes) -> tuple[Any, None, tuple[str, ...]]:
    program, order = pickle.loads(payload)  # noqa: S301 — what our own process sends
    if program != program_digest():
        raise ExecutionError(
            f"{socket.gethostname()} has another version of katachi: install the same on every node "
            "(katachi cluster doctor names them)"
        )
    work, arguments, folder, files = pickle.loads(order)  # noqa: S301
    root, missing = _lay_out(files)
    if missing:
        return None, None, missing
    token = _place.set(_Place(root, folder))
    try:
        return work(*arguments), None, ()
    finally:
        _place.reset(token)


def _portable(error: Exception) -> Exception:
    """An error that survives the way; one that does not becomes words."""
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301
    except Exception:  # noqa: BLE001 — whatever its class does
        return ExecutionError(f"{type(error).__name__}: {error}")
    return error


# Files on a node: each under the digest of its content, and linked to where the work of one job looks for them.


def _digest_files(paths: Iterable[Path | str]) -> dict[str, str]:
    """The digests of files, and of all files of folders, by their full paths."""
    found: dict[str, str] = {}
    for path in map(os.path.abspath, paths):
        files = [path] if os.path.isfile(path) else [str(file) for file in Path(path).rglob("*") if file.is_file()]  # noqa: PTH113
        for name in files:
            with open(name, "rb") as file:  # noqa: PTH123
                found[name] = hashlib.file_digest(file, "sha256").hexdigest()
    return found


def store_folder() -> Path:
    """Where files of others are kept on this machine."""
    from katachi.go.compiling import cache_folder

    return cache_folder().with_name("carried")


def _lay_out(files: Mapping[str, str]) -> tuple[Path, tuple[str, ...]]:
    """The folder below which files lie by their paths, and the digests of those that must come first."""
    store = store_folder()
    name = hashlib.sha256(repr(sorted(files.items())).encode()).hexdigest()
    root = store / "jobs" / name
    if root.is_dir() or not files:
        return root, ()
    missing = tuple(sorted({digest for digest in files.values() if not (store / digest).exists()}))
    if not missing:
        root.parent.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(dir=root.parent))
        for path, digest in files.items():
            place = made.joinpath(*Path(path).parts[1:])
            place.parent.mkdir(parents=True, exist_ok=True)
            os.link(store / digest, place)
        try:
            made.rename(root)
        except OSError:  # another worker was faster
            shutil.rmtree(made)
    return root, missing


def _keep_files(contents: Mapping[str, bytes]) -> None:
    """Put files into the store of this node, whole or not at all; old ones go."""
    store = store_folder()
    store.mkdir(parents=True, exist_ok=True)
    for digest, content in contents.items():
        if hashlib.sha256(content).hexdigest() != digest:
            raise ExecutionError("a file has changed while it was in use: give the same command again")
        descriptor, name = tempfile.mkstemp(dir=store)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        os.replace(name, store / digest)  # noqa: PTH105
    old = time.time() - 86_400 * _DAYS_KEPT
    for path in (*store.iterdir(), *(store / "jobs").glob("*")):
        with suppress(OSError):
            if path.name != "jobs" and path.stat().st_mtime < old:
                shutil.rmtree(path) if path.is_dir() else path.unlink()


# Ray and Dask


def _import(name: str, extra: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        raise ExecutionError(f"the backend {extra} is not installed: pip install 'katachi[{extra}]'") from None


def _knock(address: str | None, what: str) -> None:
    """Raise ExecutionError if nobody answers at an address, which engines try for a minute."""
    host, _, port = (address or "").rpartition("/")[2].rpartition(":")
    if host and port.isdecimal():
        try:
            socket.create_connection((host.strip("[]"), int(port)), _SECONDS_TO_ANSWER).close()
        except (OSError, OverflowError) as error:
            raise ExecutionError(f"there is no {what} at {address}: {_first_line(error)}") from None


class _Ray:
    """Tasks of one core each. Ray would do a lost task again by itself; here it must not, so that it is seen."""

    _MEMORY: Final = 256 << 20  # of the store that Ray has for objects on this machine

    def __init__(self, address: str | None, jobs: int) -> None:
        self._ray = ray = _import("ray", "ray")
        _knock(address, "Ray cluster")
        self._is_ours = not ray.is_initialized()
        options: dict[str, Any] = {"address": address}
        if address is None and "RAY_ADDRESS" not in os.environ:
            options = {"num_cpus": jobs or usable_cores(), "object_store_memory": self._MEMORY}
            options |= {"include_dashboard": False, "address": "local"}
        if self._is_ours:
            os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # else Ray warns of the future
            try:
                ray.init(**options, log_to_driver=False, logging_level="ERROR")
            except (ConnectionError, RuntimeError, ValueError) as error:
                raise ExecutionError(f"there is no Ray cluster at {address}: {_first_line(error)}") from None
        self._task = ray.remote(num_cpus=1, max_retries=0)(_perform_on_ray)

    def cores(self) -> int:
        return int(self._ray.cluster_resources().get("CPU", 0))

    def nodes(self) -> list[str]:
        return [node["NodeID"] for node in self._ray.nodes() if node["Alive"] and node["Resources"].get("CPU")]

    def submit(self, payload: bytes, node: str | None = None) -> Any:
        if node is None:
            return self._task.remote(payload)
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        # Besides the work: whoever waits for files holds no core, and a node is asked how it is while it plays.
        placed = self._task.options(num_cpus=0, scheduling_strategy=NodeAffinitySchedulingStrategy(node, soft=False))
        return placed.remote(payload)

    def wait(self, futures: Sequence[Any], seconds: float) -> Sequence[Any]:
        done, _ = self._ray.wait(futures, num_returns=1, timeout=seconds)
        return self._ray.wait(futures, num_returns=len(futures), timeout=0)[0] if done else []

    def result(self, future: Any) -> bytes:
        errors = self._ray.exceptions
        try:
            answer: bytes = self._ray.get(future)
        except errors.RayTaskError as error:  # which ``perform`` never raises: there is none
            raise ExecutionError(f"a node cannot work: {_last_line(error)}") from None
        except errors.RayError as error:
            raise Lost(_first_line(error)) from None
        return answer

    def cancel(self, futures: Sequence[Any]) -> None:
        for future in futures:
            with suppress(Exception):
                self._ray.cancel(future, force=True)

    def close(self) -> None:
        if self._is_ours:
            self._ray.shutdown()


def _perform_on_ray(payload: bytes) -> bytes:
    import ray

    return perform(payload, ray.get_runtime_context().get_node_id())


class _Dask:
    """Tasks of workers with one thread each, which a nanny starts again; Dask itself repeats what is lost."""

    _DEAF: Final = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)"  # Ctrl-C is for the head, who ends all

    def __init__(self, address: str | None, jobs: int) -> None:
        self._dask = dask = _import("distributed", "dask")
        _knock(address, "Dask scheduler")
        self._cluster = None
        if address is None:
            count = jobs or usable_cores()
            options = {"threads_per_worker": 1, "dashboard_address": None, "silence_logs": 50, "memory_limit": 0}
            self._cluster = dask.LocalCluster(n_workers=count, processes=True, preload=self._DEAF, **options)
        try:
            self._client = dask.Client(self._cluster or address, timeout=30)
        except (OSError, ValueError) as error:
            raise ExecutionError(f"there is no Dask scheduler at {address}: {_first_line(error)}") from None

    def cores(self) -> int:
        return sum(self._client.nthreads().values())

    def nodes(self) -> list[str]:
        return sorted({_host_of(name) for name in self._client.nthreads()})

    def submit(self, payload: bytes, node: str | None = None) -> Any:
        return self._client.submit(_perform_on_dask, payload, pure=False, workers=None if node is None else [node])

    def wait(self, futures: Sequence[Any], seconds: float) -> Sequence[Any]:
        try:
            return list(self._dask.wait(futures, timeout=seconds, return_when="FIRST_COMPLETED").done)
        except TimeoutError:
            return []

    def result(self, future: Any) -> bytes:
        try:
            answer: bytes = future.result()
        except (self._dask.KilledWorker, self._dask.CancelledError) as error:
            raise Lost(_first_line(error)) from None
        except Exception as error:  # noqa: BLE001 — ``perform`` raises none: a node that cannot import it does
            raise ExecutionError(f"a node cannot work: {_last_line(error)}") from None
        return answer

    def cancel(self, futures: Sequence[Any]) -> None:
        """Forget what waits, and end the workers of what runs: a thread cannot be stopped. Nannies start others."""
        ours = {future.key for future in futures if not future.done()}
        if not ours:
            return
        with suppress(Exception):
            running = self._client.processing()
            self._client.cancel(list(futures), force=True)
            if self._cluster is None:
                busy = [name for name, keys in running.items() if keys and {str(key) for key in keys} <= ours]
                self._client.restart_workers(busy, raise_for_error=False) if busy else None

    def close(self) -> None:
        self._client.close()
        if self._cluster is not None:
            self._cluster.close()


def _perform_on_dask(payload: bytes) -> bytes:
    from distributed import get_worker

    return perform(payload, _host_of(get_worker().address))


def _host_of(address: str) -> str:
    """The node of a worker of Dask: ``10.0.0.7`` for ``tcp://10.0.0.7:41235``."""
    return address.rpartition("/")[2].rpartition(":")[0]


def _first_line(error: BaseException) -> str:
    return next(iter(str(error).strip().splitlines()), type(error).__name__)


def _last_line(error: BaseException) -> str:
    return next(iter(str(error).strip().splitlines()[::-1]), type(error).__name__)
