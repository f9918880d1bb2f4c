"""``katachi doctor``, ``cluster doctor`` and ``warmup``: check the set-up, here or everywhere, and compile it now."""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, metadata, requires, version
from pathlib import Path
from typing import Annotated, Any, Final, NamedTuple

import typer

from katachi.cli._commands import AsJson, OnBackend, OnCluster, interruptible, show_progress
from katachi.core.disk import usable_cores
from katachi.core.execution import (
    Backend,
    Cluster,
    ExecutionError,
    cluster_in_use,
    program_digest,
    store_folder,
    use_cluster,
)
from katachi.core.registry import Reference, resolve, warmups

_MIN_PYTHON: Final = (3, 11)
_MIN_FREE_BYTES: Final = 200_000_000
_MOST_SKEW: Final = 2.0  # seconds between clocks: files of a node that are older than they are would go too early
_SAME_EVERYWHERE: Final = ("numpy", "numba", "onnxruntime")  # by which results may differ in the last bit


class Finding(NamedTuple):
    """One thing that was looked at. What is not essential may be missing."""

    what: str
    found: str
    ok: bool
    essential: bool = True


def doctor(as_json: AsJson = False) -> None:
    """Check the set-up: Python, processor, libraries, caches, other programs. Exit code 1 if something essential fails.

    Examples:
      katachi doctor
      katachi doctor --json
    """
    _report([finding for check in CHECKS for finding in check()], as_json=as_json)


def _report(findings: list[Finding], *, as_json: bool) -> None:
    """Show what was found; exits with 1 if something essential is wrong."""
    healthy = all(finding.ok or not finding.essential for finding in findings)
    if as_json:
        typer.echo(json.dumps({"ok": healthy, "findings": [finding._asdict() for finding in findings]}))
    else:
        _print_table(findings)
    if not healthy:
        raise typer.Exit(1)


def _print_table(findings: list[Finding]) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    table = Table("", "what", "found")
    for finding in findings:
        mark = "ok" if finding.ok else "FAILS" if finding.essential else "–"
        table.add_row(mark, finding.what, escape(finding.found))
    Console().print(table)


def _machine() -> Iterator[Finding]:
    running = f"{platform.python_version()} ({platform.python_implementation()}, {platform.platform(terse=True)})"
    yield Finding("Python", running, sys.version_info >= _MIN_PYTHON)
    yield Finding("processor", f"{_cpu_name()} ({platform.machine()})", ok=True)
    yield Finding("threads", f"{usable_cores()} of {os.cpu_count()}", ok=True)


def _cpu_name() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or "unknown"
    return next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), "unknown")


def _libraries() -> Iterator[Finding]:
    yield Finding("katachi", version("katachi"), ok=True)
    for name, requirement in _requirements():
        installed = _installed(name)
        yield Finding(name, installed or f"missing ({requirement})", installed is not None)


def _extras() -> Iterator[Finding]:
    for extra in metadata("katachi").get_all("Provides-Extra") or []:
        missing = ", ".join(name for name, _ in _requirements(extra) if _installed(name) is None)
        found = f"pip install 'katachi[{extra}]' brings {missing}" if missing else "installed"
        yield Finding(f"extra {extra}", found, not missing, essential=False)


def _requirements(extra: str = "") -> Iterator[tuple[str, str]]:
    """What katachi requires, or an extra of it: the name of each library, and the whole requirement."""
    for requirement in requires("katachi") or []:
        found = re.search(r"\bextra == ['\"]([\w-]+)", requirement)
        if (found[1] if found else "") == extra:
            yield re.split(r"[^\w.-]", requirement)[0], requirement


def _installed(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _kernel_cache() -> Iterator[Finding]:
    from katachi.go.compiling import cache_folder

    folder = cache_folder()
    writable = _is_writable(folder)
    yield Finding("kernel cache", f"{folder} is {'writable' if writable else 'not writable'}", writable)
    kept = sum(file.stat().st_size for file in folder.glob("*/*.nb?"))
    later = "none yet: compiled when they are needed, or by katachi warmup"
    yield Finding("compiled kernels", f"{kept / 1e6:.0f} MB" if kept else later, ok=True)


def _is_writable(folder: Path) -> bool:
    """By trying: permissions alone do not tell of full and read-only disks."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"katachi")
    except OSError:
        return False
    return True


def _surroundings() -> Iterator[Finding]:
    gnugo = shutil.which("gnugo", path=os.pathsep.join((os.environ.get("PATH", ""), "/usr/games")))
    yield Finding("GNU Go", gnugo or "not found: matches against it need it", gnugo is not None, essential=False)
    compiler = shutil.which("g++")
    yield Finding("g++", compiler or "not found: the C++ twin is not measured", compiler is not None, essential=False)
    free = shutil.disk_usage(Path.cwd()).free
    yield Finding("free disk here", f"{free / 1e9:.1f} GB", free >= _MIN_FREE_BYTES, essential=False)


CHECKS: Final = (_machine, _libraries, _kernel_cache, _surroundings, _extras)


# All nodes of a cluster.

cluster_app: Final = typer.Typer(add_completion=False, no_args_is_help=True, rich_markup_mode=None)


@cluster_app.callback()
def cluster_commands() -> None:
    """Look after a Ray or Dask cluster.

    Examples:
      katachi cluster doctor --backend ray --cluster head:6379
    """


@cluster_app.command("doctor")
def cluster_doctor(backend: OnBackend = Backend.RAY, cluster: OnCluster = None, as_json: AsJson = False) -> None:
    """Check every node of a cluster: sources, libraries, kernels, disk and clock. Exit code 1 if one cannot work.

    Nodes with other sources of katachi refuse to work; those with other libraries are named, because results may differ
    in the last bit there.

    Examples:
      katachi cluster doctor --backend ray --cluster head:6379
      katachi cluster doctor --backend dask --cluster tcp://head:8786 --json
    """
    with use_cluster(backend, cluster):
        nodes = cluster_in_use()
        if nodes is None:
            raise ExecutionError("katachi doctor checks this machine; for a cluster say --backend ray or dask")
        findings = list(_check_nodes(nodes))
    _report(findings, as_json=as_json)


def describe_node() -> dict[str, Any]:
    """What is to be known of the machine that this runs on."""
    folder = store_folder()
    folder.mkdir(parents=True, exist_ok=True)
    return {
        "host": platform.node(),
        "libraries": {name: version(name) for name in _SAME_EVERYWHERE},
        "python": platform.python_version(),
        "processor": _cpu_name(),
        "cores": usable_cores(),
        "kernels": next(finding.found for finding in _kernel_cache() if finding.what == "compiled kernels"),
        "free": shutil.disk_usage(folder).free,
        "time": time.time(),
    }


def _check_nodes(cluster: Cluster) -> Iterator[Finding]:
    here = describe_node()
    found: dict[str, Any] = {}
    skews: dict[str, float] = {}
    cluster.ask_every_node(describe_node)  # once, so that no node is just starting when its clock is read
    for name in cluster.nodes():
        asked = time.time()
        answers = cluster.ask_every_node(describe_node, only=name)
        found |= answers
        answer = answers[name]
        if isinstance(answer, dict):  # its clock, against the middle of question and answer, which take that long
            took = time.time() - asked
            skews[name] = max(0.0, abs(answer["time"] - asked - took / 2) - took / 2)
    yield Finding("nodes", str(len(found)), bool(found))
    for name, node in found.items():
        if not isinstance(node, dict):
            yield Finding(name[:12], str(node), ok=False)
            continue
        host = f"{node['host']} ({name[:12]})"
        yield Finding(f"{host} katachi", f"sources {program_digest()}", ok=True)  # else it had refused to answer
        other = [f"{key} {has}" for key, has in node["libraries"].items() if has != here["libraries"][key]]
        other += [node["python"]] if node["python"] != here["python"] else []
        yield Finding(f"{host} libraries", ", ".join(other) or "as here", not other, essential=False)
        yield Finding(f"{host} processor", f"{node['processor']}, {node['cores']} cores", ok=True)
        yield Finding(f"{host} kernels", node["kernels"], node["kernels"].endswith("MB"), essential=False)
        yield Finding(f"{host} free disk", f"{node['free'] / 1e9:.1f} GB", node["free"] >= _MIN_FREE_BYTES)
        yield Finding(f"{host} clock", f"{skews[name]:.2f} s off at least", skews[name] < _MOST_SKEW, essential=False)


def warmup(
    jobs: Annotated[int, typer.Option("--jobs", "-j", help="Processes; 0: as many as there are cores.", min=0)] = 0,
) -> None:
    """Compile all kernels now and keep them on disk, so that no later command waits for it.

    Examples:
      katachi warmup
      katachi warmup --jobs 1
    """
    from multiprocessing import get_context

    from katachi.go.compiling import cache_folder

    stages = list(warmups().items())[::-1]  # the systems first: they take longest
    start = time.perf_counter()
    kept = interruptible(lambda: f"what is compiled is kept in {cache_folder()}")
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for this process: workers inherit that
    workers = get_context("spawn").Pool(jobs or usable_cores())
    signal.signal(signal.SIGINT, handler)
    what = f"compiling {len(stages)} groups of kernels"
    with kept, workers, show_progress() as progress:
        task = progress.add_task(what, total=len(stages))
        if progress.disable:
            typer.echo(f"katachi: {what}", err=True)
        for name in workers.imap_unordered(_compile, stages):
            progress.advance(task)
            if progress.disable:
                typer.echo(f"katachi: compiled {name}", err=True)
    typer.echo(f"all kernels are compiled ({time.perf_counter() - start:.1f} s) and kept in {cache_folder()}")


def _compile(stage: tuple[str, Reference]) -> str:
    """Compile one group of kernels, in any process; returns its name."""
    from katachi.go.compiling import watch

    watch(None)  # the bar says it
    name, reference = stage
    resolve(reference)()
    return name
