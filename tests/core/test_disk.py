from __future__ import annotations

import os
from pathlib import Path

import pytest

from katachi.core import disk
from katachi.core.disk import append, temporary_path, usable_cores, write_atomically


def test_text_and_bytes_are_written_as_they_are(tmp_path: Path) -> None:
    write_atomically(tmp_path / "text", "形\n")
    write_atomically(tmp_path / "bytes", b"\x00\r\n")
    assert (tmp_path / "text").read_bytes() == "形\n".encode()
    assert (tmp_path / "bytes").read_bytes() == b"\x00\r\n"


def test_a_full_disk_leaves_the_old_file_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    write_atomically(path, "old")

    def fail(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="No space") as caught:
        write_atomically(path, "new")
    assert caught.value.filename == str(path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_what_a_kill_left_behind_is_no_obstacle(tmp_path: Path) -> None:
    path = tmp_path / "file"
    temporary_path(path).write_text("torn, and longer than what comes")
    write_atomically(path, "new")
    assert path.read_text() == "new"


@pytest.mark.skipif(not hasattr(os, "O_NOFOLLOW"), reason="this system cannot refuse links")
def test_a_link_in_the_place_of_the_temporary_file_is_not_followed(tmp_path: Path) -> None:
    path, precious = tmp_path / "file", tmp_path / "precious"
    precious.write_text("precious")
    temporary_path(path).symlink_to(precious)
    with pytest.raises(OSError, match="symbolic"):
        write_atomically(path, "new")
    assert precious.read_text() == "precious"


def test_permissions_are_those_of_any_new_file(tmp_path: Path) -> None:
    (tmp_path / "plain").touch()
    write_atomically(tmp_path / "ours", "text")
    assert (tmp_path / "ours").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_what_cannot_be_added_to_or_replaced_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with (tmp_path / "lines").open("ab") as file:
        append(file, b"one\n")
        monkeypatch.setattr(os, "fsync", fail)
        with pytest.raises(OSError, match="lines") as caught:
            append(file, b"two\n")
        monkeypatch.undo()
    assert caught.value.filename == str(tmp_path / "lines")
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="folder") as caught:
        write_atomically(tmp_path / "folder", "text")
    assert (caught.value.filename, caught.value.filename2) == (str(tmp_path / "folder"), None)


def _allow(monkeypatch: pytest.MonkeyPatch, machine: int | None, affinity: int | None) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: machine)
    if affinity is None:
        monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    else:
        monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(affinity)), raising=False)


@pytest.mark.parametrize(
    ("machine", "affinity", "files", "cores"),
    [
        (8, 8, {}, 8),
        (8, 3, {}, 3),
        (8, None, {}, 8),  # as on macOS
        (None, None, {}, 1),
        (8, 8, {"": "0::/", "cpu.max": "150000 100000"}, 2),
        (8, 1, {"": "0::/", "cpu.max": "150000 100000"}, 1),
        (8, 8, {"": "0::/", "cpu.max": "10000 100000"}, 1),
        (2, 2, {"": "0::/", "cpu.max": "600000 100000"}, 2),
        (8, 8, {"": "0::/", "cpu.max": "max 100000"}, 8),
        (8, 8, {"": "0::/", "cpu.max": "nonsense"}, 8),
        (8, 8, {"": "0::/a/b", "a/b/cpu.max": "max 100000", "a/cpu.max": "300000 100000"}, 3),  # the outer group's
        (8, 8, {"": "0::/../c", "cpu.max": "300000 100000"}, 3),
        (8, 8, {"": "4:cpu,cpuacct:/", "cpu/cpu.cfs_quota_us": "250000", "cpu/cpu.cfs_period_us": "100000"}, 3),
        (8, 8, {"": "4:cpu:/host/path", "cpu/cpu.cfs_quota_us": "400000", "cpu/cpu.cfs_period_us": "100000"}, 4),
        (8, 8, {"": "4:cpu:/", "cpu/cpu.cfs_quota_us": "-1", "cpu/cpu.cfs_period_us": "100000"}, 8),
        (8, 8, {"": "5:memory:/\n3:cpuset:/", "cpu/cpu.cfs_quota_us": "1", "cpu/cpu.cfs_period_us": "1"}, 8),
    ],
)
def test_affinity_and_quotas_bound_the_cores(tmp_path, monkeypatch, machine, affinity, files, cores) -> None:
    _allow(monkeypatch, machine, affinity)
    for name, content in files.items():
        path = tmp_path / (f"sys/fs/cgroup/{name}" if name else "proc/self/cgroup")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{content}\n")
    assert usable_cores(tmp_path) == cores


def test_nothing_counts_processors_for_itself() -> None:
    """So that no command starts more threads than a container has."""
    source = Path(disk.__file__).parents[1]
    counting = {path.relative_to(source).as_posix() for path in source.rglob("*.py") if "cpu_count" in path.read_text()}
    assert counting <= {"core/disk.py", "cli/setup.py"}
