"""What is kept on disk, and what users upload."""

from __future__ import annotations

import gzip
import io
import stat
import zipfile

import pytest

from katachi.go.points import BLACK
from katachi.sgf import Limits, files, format_sgf, parse_sgf
from katachi.web.sessions import (
    MAX_UPLOAD,
    MOST_GAMES,
    MOST_TABLES,
    Choices,
    GameStore,
    file_name,
    format_table,
    read_shared,
    read_upload,
    share_path,
)
from katachi.web.table import Seats, Table, TableError, TableSettings

ANNA, BOB = "a" * 32, "b" * 32
NAME = "0123456789abcdef"
RECORD = b"(;SZ[9]PB[Anna];B[ee];W[cc])"


def kept(store: GameStore, user: str = ANNA, name: str = NAME) -> Table:
    table = Table(TableSettings(size=9))
    table.play(40)
    store.save(user, name, format_table(table))
    return table


def test_a_table_is_found_again(tmp_path):
    kept(GameStore(tmp_path))
    table = GameStore(tmp_path).load(ANNA, NAME)
    assert [tuple(play) for play in table.opened.game.moves] == [(BLACK, 40)]
    listed = GameStore(tmp_path).list_tables(ANNA)
    assert [(one.name, one.size, one.moves) for one in listed] == [(NAME, 9, 1)]


def test_nobody_finds_the_table_of_another(tmp_path):
    store = GameStore(tmp_path)
    kept(store)
    assert store.list_tables(BOB) == []
    with pytest.raises(TableError, match="no such game"):
        store.load(BOB, NAME)


@pytest.mark.parametrize("name", ["..", "../" + ANNA, "/etc/passwd", "", NAME + "/..", NAME.upper() + "G", "%2e%2e"])
def test_names_lead_nowhere_else(tmp_path, name):
    store = GameStore(tmp_path)
    kept(store)
    for user, table in ((ANNA, name), (name, NAME)):
        with pytest.raises(TableError, match="no such game"):
            store.load(user, table)
    with pytest.raises(TableError, match="no such game"):
        store.delete(ANNA, name)
    assert store.load(ANNA, NAME)


def test_a_damaged_table_is_a_sentence(tmp_path):
    store = GameStore(tmp_path)
    kept(store)
    (tmp_path / "visitors" / ANNA / NAME / "table.json").write_text('{"settings": {"size": 99}}', encoding="utf-8")
    with pytest.raises(TableError, match="cannot be read any more"):
        store.load(ANNA, NAME)


def test_a_visitor_cannot_fill_the_disk(tmp_path):
    store = GameStore(tmp_path)
    for number in range(MOST_TABLES):
        (tmp_path / "visitors" / ANNA / f"{number:016x}").mkdir(parents=True)
    with pytest.raises(TableError, match="delete some"):
        kept(store)
    store.delete(ANNA, f"{0:016x}")
    kept(store)


def test_the_token_stays_and_is_nobody_elses_business(tmp_path):
    token = GameStore(tmp_path).token()
    assert len(token) >= 32
    assert GameStore(tmp_path).token() == token
    assert stat.S_IMODE((tmp_path / "token").stat().st_mode) == 0o600


# What visitors bring


def zipped(entries: dict[str, bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return file.getvalue()


@pytest.mark.parametrize(
    "content",
    [RECORD, gzip.compress(RECORD), zipped({"../../evil.sgf": RECORD})],
    ids=["plain", "gzip", "zip"],  # archives hold the time: two test processes must agree on the names
)
def test_a_record_is_read_from_wherever_it_is(content, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (game,) = read_upload(content).games
    assert game.black == "Anna"
    assert list(tmp_path.rglob("*")) == []  # the name in the archive is no path


def test_repairs_are_told():
    (game,) = read_upload(b"mail header\n(;SZ[9]KM[6,5];B[ee];W[ee];B[zz]").games
    assert {repair.kind.value for repair in game.repairs} >= {
        "junk",
        "structure",
        "information",
        "illegal move",
        "point",
    }


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "cannot be opened"),
        (b"\x00\xff hello", "cannot be opened"),
        (b"(;SZ[25];B[aa])", "cannot be opened"),
        (bytes(MAX_UPLOAD + 1), "too large"),
        (gzip.compress(bytes(64 << 20)), "expands more than"),
        (zipped({"a.sgf": bytes(64 << 20)}), "expands more than"),
        (zipped({f"{number}.sgf": b"" for number in range(1_500)}), "entries"),
        (b"PK\x03\x04" + bytes(100), "damaged archive"),
    ],
    ids=["empty", "noise", "too wide a board", "too large", "gzip bomb", "zip bomb", "many entries", "damaged"],
)
def test_what_cannot_be_opened_is_a_sentence(content, sentence):
    with pytest.raises(TableError, match=sentence) as raised:
        read_upload(content)
    assert "/tmp" not in str(raised.value)


def test_of_a_large_collection_only_the_beginning_is_read(monkeypatch):
    parsed = []
    monkeypatch.setattr(files, "parse_sgf", lambda *given: parsed.append(1) or parse_sgf(*given))
    one = b"(;SZ[9]C[" + b"x" * 2_000 + b"];B[ee])\n"
    upload = read_upload(one * 5_000)
    assert (len(upload.games), upload.is_cut) == (MOST_GAMES, True)
    assert len(parsed) < 5_000 / 2, "the others were not even parsed"
    upload = read_upload(one * 5_000, Limits(nodes=20))
    assert (len(upload.games), upload.is_cut) == (11, True)  # of two nodes each: those before the limit, and one more


def test_what_cannot_be_read_of_a_file_is_told():
    upload = read_upload(zipped({"a.sgf": RECORD, "\x1b[2J.sgf": b"(;SZ[60])"}))
    assert (len(upload.games), upload.is_cut) == (1, True)
    with pytest.raises(TableError) as raised:
        read_upload(zipped({"\x1b[2J.sgf": b"(;SZ[60])"}))
    assert "\x1b" not in str(raised.value)


def test_a_link_holds_the_game_itself():
    record = parse_sgf("(;SZ[9]KM[6.5]PB[Ann];B[ee]C[a comment](;W[cc])(;W[gg]))")[0]
    shared = read_shared(share_path(record).removeprefix("/open?record="))
    assert format_sgf(shared) == format_sgf(record)
    record.root.set_text("C", "".join(map(chr, range(200, 20_000))))
    shared = read_shared(share_path(record).removeprefix("/open?record="))
    assert [play.move for play in shared.replay().moves] == [40, 20], "without comments it fits into an address"
    for nonsense in ("", "%", "AAAA", "eJwDAAAAAAE="):
        with pytest.raises(TableError, match="cannot be opened"):
            read_shared(nonsense)


def test_files_have_names_that_say_what_they_are():
    record = parse_sgf("(;SZ[9]DT[2026-11-18]PB[Ann <b>]PW[../x y]RE[B+2.5])")[0]
    assert file_name(record, "sgf") == "2026-11-18-Ann-b-x-y-B+2.5.sgf"
    assert file_name(parse_sgf("(;SZ[9])")[0], "svg") == "katachi.svg"


def test_what_a_user_chose_is_there_next_time(tmp_path):
    store = GameStore(tmp_path)
    assert store.load_choices("a" * 32) == Choices()
    chosen = Choices(settings=TableSettings(player="alp", seats=Seats.WHITE, size=13), sound=False, teach=True)
    store.save_choices("a" * 32, chosen)
    assert store.load_choices("a" * 32) == chosen
    next(tmp_path.rglob("choices.json")).write_text("{", encoding="utf-8")
    assert store.load_choices("a" * 32) == Choices(), "a damaged file is as good as none"
