"""What the transcripts cannot show: that refused files stay as they were, and names that no line can hold."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from katachi.gtp.engine import GtpEngine
from katachi.gtp.session import MAX_FILE_BYTES, Refused, confine, read_confined, write_confined
from katachi.players.specs import load_player


@pytest.mark.parametrize(
    "name",
    ["../outside/secret.sgf", "/etc/passwd", "link-out.sgf", "dir-out/secret.sgf", "zero.sgf", "/dev/zero", ".."],
)
def test_names_that_lead_out(sgf_folder, name):
    with pytest.raises(Refused, match="inside the working directory"):
        confine(sgf_folder, name)
    with pytest.raises(Refused):
        read_confined(sgf_folder, name)
    with pytest.raises(Refused):
        write_confined(sgf_folder, name, b"spoiled")
    assert (sgf_folder / "../outside/secret.sgf").read_bytes() == b"(;SZ[9];B[aa])"
    assert sorted(path.name for path in (sgf_folder / "../outside").iterdir()) == ["secret.sgf"]


@pytest.mark.parametrize("name", ["a\0b.sgf", "loop.sgf"])
def test_names_that_no_file_has(sgf_folder, name):
    with pytest.raises(Refused, match="no file can have this name"):
        read_confined(sgf_folder, name)


@pytest.mark.parametrize("name", ["x" * 300, "x/" * 3000])
def test_names_that_are_too_long(sgf_folder, name):
    with pytest.raises((Refused, OSError)):
        read_confined(sgf_folder, name)
    with pytest.raises((Refused, OSError)):
        write_confined(sgf_folder, name, b"")


def test_a_folder_that_is_a_link_itself(sgf_folder, tmp_path):
    link = tmp_path / "link"
    link.symlink_to(sgf_folder)
    assert read_confined(link, "game.sgf").startswith(b"(;FF[4]")
    assert read_confined(link, str(sgf_folder / "game.sgf")).startswith(b"(;FF[4]"), "an absolute name may lie inside"


def test_a_pipe_does_not_block(sgf_folder):
    with pytest.raises(Refused, match="not a regular file"):
        read_confined(sgf_folder, "pipe.sgf")
    with pytest.raises(Refused, match="not a regular file"):
        write_confined(sgf_folder, "pipe.sgf", b"")
    assert stat.S_ISFIFO((sgf_folder / "pipe.sgf").stat().st_mode)


def test_a_file_that_is_too_large(sgf_folder):
    with (sgf_folder / "big.sgf").open("wb") as file:
        file.truncate(MAX_FILE_BYTES + 1)
    with pytest.raises(Refused, match="larger than"):
        read_confined(sgf_folder, "big.sgf")


def test_a_link_inside_is_written_through(sgf_folder):
    write_confined(sgf_folder, "link-in.sgf", b"new")
    assert (sgf_folder / "game.sgf").read_bytes() == b"new"
    assert (sgf_folder / "link-in.sgf").is_symlink()


def test_writing_replaces_as_a_whole(sgf_folder, monkeypatch):
    def fail(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    before = sorted(path.name for path in Path(sgf_folder).iterdir())
    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="No space left"):
        write_confined(sgf_folder, "game.sgf", b"torn")
    assert (sgf_folder / "game.sgf").read_bytes().startswith(b"(;FF[4]")
    assert sorted(path.name for path in Path(sgf_folder).iterdir()) == before


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="this system does not count descriptors")
def test_no_descriptor_is_left_open(sgf_folder):
    engine = GtpEngine(load_player("random"), directory=sgf_folder)

    def ask_all() -> None:
        for name in (".", "sub", "pipe.sgf", "nothing.sgf", "../outside", "game.sgf"):
            engine.answer(f"loadsgf {name}")
            engine.answer(f"printsgf {name}")

    ask_all()
    before = os.listdir("/proc/self/fd")  # noqa: PTH208
    ask_all()
    assert os.listdir("/proc/self/fd") == before  # noqa: PTH208


def test_a_process_without_descriptors_says_so_and_continues(sgf_folder):
    resource = pytest.importorskip("resource")
    engine = GtpEngine(load_player("random"), directory=sgf_folder)
    assert engine.answer("loadsgf game.sgf").startswith(b"=")
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, limits[1]))
    try:
        answers = [engine.answer(line) for line in ("loadsgf game.sgf", "printsgf new.sgf", "genmove b")]
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    assert answers[0] == b"? cannot load file: Too many open files\n\n"
    assert answers[1] == b"? cannot write file: Too many open files\n\n"
    assert answers[2].startswith(b"= ")
