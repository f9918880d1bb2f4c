from __future__ import annotations

import gzip
import io
import os
import struct
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from katachi.sgf import Limits, SgfError, iter_sgf, load_sgf
from katachi.sgf.files import find_files, iter_pieces
from katachi.sgf.parsing import WHOLE, split_games

GAME = b"(;GM[1]SZ[9]PB[a];B[ee];W[])"


def _collection(games: int, padding: int = 200) -> list[bytes]:
    """Games that differ, with brackets of all kinds inside their values and variations."""
    text = "x" * padding
    return [
        f"(;GM[1]SZ[9]GN[{n}]C[{text} ) (;GM \\] \\\\];B[ee](;W[aa]C[:(]\n)\n(;W[bb]))".encode() for n in range(games)
    ]


def _names(path: Path, limits: Limits | None = None) -> list[str]:
    found = iter_sgf([path]) if limits is None else iter_sgf([path], limits)
    return [game.game.root.simple_text("GN") if game.game else f"{game.error}" for game in found]


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_long_collection_is_streamed_game_by_game(tmp_path: Path, pack: type[bytes]) -> None:
    games = _collection(6000)
    data = b"\n".join(games)
    assert len(data) > WHOLE
    path = tmp_path / "games.sgf"
    path.write_bytes(pack(data))
    pieces = [piece.data.strip() for piece in iter_pieces([path])]
    assert pieces == games
    assert _names(path) == [str(n) for n in range(6000)]
    assert len(load_sgf(path)) == 6000


@pytest.mark.parametrize("chunk", [WHOLE + 1, 97, 1000])
def test_pieces_do_not_depend_on_how_the_bytes_arrive(chunk: int) -> None:
    class Slow(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            return super().read(min(chunk, size or 0))

    games = _collection(30, padding=WHOLE // 20)
    assert [piece.strip() for piece in split_games(Slow(b"\n".join(games)), Limits())] == games


def test_a_stream_with_a_header_and_unclosed_games() -> None:
    games = _collection(40, padding=WHOLE // 20)
    broken = [b"Games (of mine):\n\n" + games[0], games[1][:-1], games[2][:-1], *games[3:]]
    pieces = [piece.strip() for piece in split_games(io.BytesIO(b"\n".join(broken)), Limits())]
    assert pieces == broken


def test_variations_that_begin_like_games_stay_in_theirs() -> None:
    padding = "x" * (WHOLE // 20)
    games = [f"(;SZ[9]C[{padding}]\n(;GM[1]C[{n}])\n(;FF[4]))".encode() for n in range(40)]
    assert [piece.strip() for piece in split_games(io.BytesIO(b"\n".join(games)), Limits())] == games


def test_a_long_stream_in_utf16() -> None:
    text = "".join(f"(;GM[1]GN[{n}]PB[古力]C[{'棋' * 1000}])\n" for n in range(2000))
    pieces = list(split_games(io.BytesIO(text.encode("utf-16")), Limits()))
    assert len(pieces) == 2000
    assert "GN[1999]PB[古力]" in pieces[-1].decode()


def test_a_stream_that_ends_in_junk_reports_it(tmp_path: Path) -> None:
    path = tmp_path / "games.sgf"
    path.write_bytes(b"\n".join(_collection(6000)) + b"\nthat was all\n")
    *games, last = iter_sgf([path])
    assert len(games) == 6000
    assert "no game found" in str(last.error)
    with pytest.raises(SgfError, match="no game found"):
        load_sgf(path)


def test_one_record_that_is_too_long_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "long.sgf"
    path.write_bytes(b"(;GM[1]C[" + b"x" * (3 << 20) + b"])")
    (found,) = iter_sgf([path], Limits(size=2 << 20))
    assert "larger than" in str(found.error)
    with pytest.raises(SgfError, match="larger than"):
        load_sgf(path, Limits(size=2 << 20))
    assert len(load_sgf(path)) == 1


def test_loading_a_long_collection_whole_is_refused_with_advice(tmp_path: Path) -> None:
    path = tmp_path / "games.sgf"
    path.write_bytes(b"\n".join(_collection(6000)))
    with pytest.raises(SgfError, match="iter_sgf"):
        load_sgf(path, Limits(size=WHOLE))


def test_what_cannot_be_read_is_named_and_the_rest_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Damaged(io.BytesIO):
        def read(self, *_: object) -> bytes:
            raise OSError(5, "Input/output error")

    def open_some(path: Path) -> io.BytesIO:
        return Damaged() if path.name == "a.sgf" else io.BytesIO(path.read_bytes())

    for name in ("a.sgf", "b.sgf"):
        (tmp_path / name).write_bytes(GAME)
    monkeypatch.setattr("katachi.sgf.files.open_regular", open_some)
    bad, good = iter_sgf([tmp_path])
    assert str(bad.error) == f"{tmp_path / 'a.sgf'}: cannot be opened: Input/output error"
    assert good.game is not None


def test_a_folder_that_cannot_be_listed_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def walk(top: Path, onerror: Callable[[OSError], None]) -> Iterator[tuple[str, list[str], list[str]]]:
        yield str(top), ["sub"], ["a.sgf"]
        onerror(PermissionError(13, "Permission denied", str(top / "sub")))

    (tmp_path / "a.sgf").write_bytes(GAME)
    (tmp_path / "sub").mkdir()
    monkeypatch.setattr(os, "walk", walk)
    good, bad = iter_sgf([tmp_path])
    assert good.game is not None
    assert bad.source == str(tmp_path / "sub")
    assert "cannot be opened" in str(bad.error)


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="this system does not count descriptors")
def test_no_descriptor_is_left_open(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.sgf")
    (tmp_path / "bad.zip").write_bytes(b"PK\x03\x04")
    (tmp_path / "bad.sgf.gz").write_bytes(b"\x1f\x8b")
    (tmp_path / "game.sgf").write_bytes(GAME)
    before = os.listdir("/proc/self/fd")  # noqa: PTH208
    found = list(iter_sgf([tmp_path, "/dev/zero", "/proc/self/mem", "nothing"]))
    assert [game.game is not None for game in found].count(True) == 1
    assert len(found) == 7
    assert os.listdir("/proc/self/fd") == before  # noqa: PTH208


def test_a_zip_of_records(tmp_path: Path) -> None:
    path = tmp_path / "games.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a/1.sgf", GAME)
        archive.writestr("../../2.SGF", GAME + GAME)
        archive.writestr("readme.txt", "not a game")
        archive.writestr("inner.zip", b"PK\x03\x04")
        archive.writestr("bad.sgf", b"nothing")
        archive.writestr("3.mgt", GAME)
    found = list(iter_sgf([path]))
    assert [game.source.split("/")[-1].split(":")[-1] for game in found] == [
        "1.sgf",
        "2.SGF",
        "2.SGF",
        "bad.sgf",
        "3.mgt",
    ]
    assert [game.error is None for game in found] == [True, True, True, False, True]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["games.zip"]  # nothing is unpacked


@pytest.mark.parametrize("shift", [0, 40])
def test_entries_of_a_zip_that_share_bytes_are_refused_before_they_are_read(tmp_path: Path, shift: int) -> None:
    path = tmp_path / "games.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("0.sgf", GAME * 20)
        for number in range(1, 1000):
            archive.filelist.append(copy := zipfile.ZipInfo(f"{number}.sgf"))
            first = archive.filelist[0]
            copy.header_offset, copy.CRC = first.header_offset + shift, first.CRC
            copy.compress_size, copy.file_size = first.compress_size, first.file_size
    (found,) = iter_sgf([path])
    assert str(found.error) == f"{path}: damaged archive: its entries overlap"


def test_folders_are_walked_in_order_and_other_files_left_alone(tmp_path: Path) -> None:
    for name in ("b.sgf", "a.SGF", "deep/er/c.sgf.gz", "deep/d.zip", "notes.txt", "deep/x.sgf.bak"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(GAME)
    names = [str(path.relative_to(tmp_path)) for path in find_files([tmp_path])]
    assert names == ["a.SGF", "b.sgf", "deep/d.zip", "deep/er/c.sgf.gz"]
    assert len([game for game in iter_sgf([tmp_path]) if game.game]) == 4


def test_the_first_bytes_tell_what_a_file_is(tmp_path: Path) -> None:
    path = tmp_path / "game.sgf"
    path.write_bytes(gzip.compress(GAME))
    assert load_sgf(path)[0].black == "a"
    assert load_sgf(str(path))[0].black == "a"


def test_what_cannot_be_opened_is_an_error_with_its_name(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.sgf")
    for name, reason in (("missing.sgf", "No such file"), ("pipe.sgf", "regular"), ("nul\0.sgf", "opened")):
        with pytest.raises(SgfError, match=reason) as caught:
            load_sgf(tmp_path / name)
        assert name.split("\0")[0] in str(caught.value)
    with pytest.raises(SgfError, match="regular"):
        load_sgf("/dev/zero")


def test_a_fault_does_not_stop_the_other_files(tmp_path: Path) -> None:
    (tmp_path / "1.sgf").write_bytes(b"no game")
    (tmp_path / "2.sgf").write_bytes(b"")
    (tmp_path / "3.sgf").write_bytes(GAME)
    found = list(iter_sgf([tmp_path, tmp_path / "missing.sgf"]))
    assert [game.game is not None for game in found] == [False, False, True, False]


# Hostile and damaged archives


def test_a_gzip_bomb_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bomb.sgf.gz"
    path.write_bytes(gzip.compress(b" " * (64 << 20)))
    (found,) = iter_sgf([path])
    assert "expands" in str(found.error)


def test_a_zip_bomb_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bomb.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for n in range(20):
            archive.writestr(f"{n}.sgf", b" " * (4 << 20))
    found = list(iter_sgf([path]))
    assert found
    assert all(game.game is None for game in found)
    assert "expands" in str(found[-1].error)


def test_entries_that_each_are_small_but_overlap_are_refused(tmp_path: Path) -> None:
    """A thousand directory entries that all point to the same data."""
    path = tmp_path / "overlap.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("0.sgf", b"(;GM[1]C[" + os.urandom(2000).hex().encode() * 200 + b"])")
        first = archive.infolist()[0]
        for n in range(1, 1000):
            entry = zipfile.ZipInfo(f"{n}.sgf")
            for name in ("compress_type", "CRC", "compress_size", "file_size", "header_offset", "flag_bits"):
                setattr(entry, name, getattr(first, name))
            archive.filelist.append(entry)
    *_, last = iter_sgf([path])
    assert last.game is None  # by our meter, or by what newer versions of zipfile notice themselves


def test_a_zip_of_too_many_entries_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "many.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for n in range(50):
            archive.writestr(f"{n}.sgf", GAME)
    assert len(list(iter_sgf([path], Limits(entries=50)))) == 50
    (found,) = iter_sgf([path], Limits(entries=49))
    assert "more than 49 entries" in str(found.error)


@pytest.mark.parametrize("sixty_four", [False, True])
def test_a_huge_directory_is_refused_unread(tmp_path: Path, sixty_four: bool) -> None:
    size = 60 << 20
    end_64 = struct.pack("<4sQ2H2L4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, 1 << 20, 1 << 20, size, 0)
    locator = struct.pack("<4sLQL", b"PK\x06\x07", 0, size, 1)
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 10, 10, 100 if sixty_four else size, 0, 0)
    path = tmp_path / "huge.zip"
    with path.open("wb") as file:
        file.write(b"PK\x03\x04")
        file.seek(size)
        file.write((end_64 + locator if sixty_four else b"") + end)
    (found,) = iter_sgf([path])
    assert "entries" in str(found.error)


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_other_ways_of_compression_are_refused(tmp_path: Path, method: int) -> None:
    path = tmp_path / "games.zip"
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr("1.sgf", GAME)
    (found,) = iter_sgf([path])
    assert "method" in str(found.error)


def test_archives_cut_off_anywhere_give_errors_only(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("1.sgf", GAME * 5)
    path = tmp_path / "cut"
    for data in (gzip.compress(GAME * 5), buffer.getvalue()):
        for length in range(len(data)):
            path.write_bytes(data[:length])
            assert all(found.error for found in iter_sgf([path]))
        for position in range(len(data)):
            path.write_bytes(data[:position] + bytes([data[position] ^ 0xFF]) + data[position + 1 :])
            list(iter_sgf([path]))  # a result or an SgfError, nothing else


def test_what_was_read_before_a_gzip_breaks_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "cut.sgf.gz"
    data = b"\n".join(game + os.urandom(300).hex().encode() for game in _collection(6000))
    path.write_bytes(gzip.compress(data)[:-20])
    *games, last = iter_sgf([path])
    assert len(games) > 1000
    assert all(game.game for game in games)
    assert "damaged" in str(last.error)
