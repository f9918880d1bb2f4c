from __future__ import annotations

import json
import os
import tomllib
from pathlib import Path

import pytest

from katachi.core import disk
from katachi.core.disk import (
    NotAFile,
    append,
    open_log,
    open_regular,
    parse_json,
    parse_toml,
    read_regular,
    temporary_path,
    usable_cores,
    write_atomically,
)


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


# What somebody else wrote


def open_descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))  # noqa: PTH208 - a Path would need a descriptor itself


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="this system does not count descriptors")
def test_what_is_not_a_regular_file_is_refused_and_leaves_nothing_open(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    before = open_descriptors()
    with pytest.raises(IsADirectoryError):
        open_regular(tmp_path)
    for path in (tmp_path / "pipe", Path("/dev/zero"), Path("/dev/null")):
        with pytest.raises(NotAFile, match="it is not a regular file") as caught:
            open_regular(path)
        assert caught.value.filename == str(path)
    with pytest.raises(FileNotFoundError):
        open_regular(tmp_path / "nothing")
    assert open_descriptors() == before


@pytest.mark.parametrize("path", ["/proc/self/mem", "/proc/kmsg"])
def test_a_file_that_says_it_is_empty_is_not_read(path: str) -> None:
    if not os.access(path, os.R_OK):
        pytest.skip("this system has no such file for us")
    assert read_regular(Path(path), 100) == b""


def test_a_file_is_read_up_to_a_limit(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"12345")
    assert read_regular(tmp_path / "file", 5) == b"12345"
    with pytest.raises(NotAFile, match="larger than 4 bytes"):
        read_regular(tmp_path / "file", 4)


def test_a_log_waits_for_nobody(tmp_path: Path) -> None:
    with open_log(tmp_path / "log") as file:
        file.write(b"1")
    with open_log(tmp_path / "log") as file:
        file.write(b"2")
    assert (tmp_path / "log").read_bytes() == b"12"
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="No such device"):
        open_log(tmp_path / "pipe")


LONG_KEYS = [".".join("a" * 50_000), " . ".join("a" * 20_000), '."a"' * 20_000, "'a'." * 20_000 + "a"]


@pytest.mark.parametrize("text", [f"[{LONG_KEYS[0]}]", f"x = {{{LONG_KEYS[0]} = 1}}", *LONG_KEYS], ids=range(6))
def test_long_dotted_keys_are_refused_before_they_are_read(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tomllib, "loads", None)  # which would take a minute
    with pytest.raises(tomllib.TOMLDecodeError, match="a dotted key has more than 32 parts"):
        parse_toml(text)


def test_toml_that_is_too_much() -> None:
    for text, reason in [
        ("a = " + "9" * 5000, "a number has more than 4,300 digits"),
        ("a = " + "[" * 100_000, "nested too deeply"),
        ("#" * 2_000_000, "longer than 1,048,576 characters"),
        ("a = ", "Invalid value"),
    ]:
        with pytest.raises(tomllib.TOMLDecodeError, match=reason):
            parse_toml(text)
    assert parse_toml(f"{'.'.join('a' * 32)} = 1\nb = [{'0.1, ' * 1000}]\nc = '{'e. g. ' * 15}'")["b"][999] == 0.1


def test_json_that_is_too_much() -> None:
    assert parse_json('{"a": [1, 2.5, null, "\u00e9"]}') == {"a": [1, 2.5, None, "é"]}
    for text in ("1e999", "-1e999", "NaN", "[Infinity]", "9" * 5000, "[" * 202 + "]" * 202, "{", "", '"\\ud800"'):
        with pytest.raises(ValueError):  # noqa: PT011 - in the words of the reader
            parse_json(text)
    assert json.dumps(parse_json("[" * 199 + "]" * 199)) == "[" * 199 + "]" * 199
