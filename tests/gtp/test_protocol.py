from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from katachi.gtp.protocol import (
    Command,
    Line,
    LineSplitter,
    clean_text,
    format_response,
    format_stream_line,
    parse_command,
    parse_response_head,
)


@pytest.mark.parametrize(
    ("line", "command"),
    [
        (b"name", Command("", "name", ())),
        (b"7 name", Command("7", "name", ())),
        (b"  007\tplay  b\tC3  ", Command("007", "play", ("b", "C3"))),
        (b"play b C3\r", Command("", "play", ("b", "C3"))),
        (b"pl\x00a\x07y\x1b b\x7f C3\r\r", Command("", "play", ("b", "C3"))),
        (b"play b C3#comment", Command("", "play", ("b", "C3"))),
        (b"name # comment # more", Command("", "name", ())),
        (b"99999999999999999999999 name", Command("99999999999999999999999", "name", ())),
        (b"12", Command("12", "", ())),
        (b"12abc", Command("", "12abc", ())),
        (b"-3 name", Command("", "-3", ("name",))),
        ("٣ name".encode(), Command("", "٣", ("name",))),  # digits, but not those of GTP
        ("a\u00a0b\u2028c d".encode(), Command("", "a\u00a0b\u2028c", ("d",))),  # only the space separates
        (b"echo \xff\xfe", Command("", "echo", ("\udcff\udcfe",))),
    ],
)
def test_parse_command(line, command):
    assert parse_command(line) == command


@pytest.mark.parametrize("line", [b"", b"   \t ", b"# name", b"\r", b"\x00\x01", b"  # 1 name"])
def test_lines_without_a_command(line):
    assert parse_command(line) is None


@pytest.mark.parametrize(
    ("text", "command_id", "ok", "response"),
    [
        ("", "", True, b"= \n\n"),
        ("C3", "", True, b"= C3\n\n"),
        ("", "12", True, b"=12 \n\n"),
        ("unknown command", "3", False, b"?3 unknown command\n\n"),
        ("a\nb", "", True, b"= a\nb\n\n"),
        ("a\n\n\nb\n\n", "", True, b"= a\n \n \nb\n\n"),
        ("\n3 . .", "", True, b"= \n3 . .\n\n"),
        ("a\r\nb\x00\x07c\td", "", True, b"= a\nbc\td\n\n"),
        ("\udcff", "", True, b"= \xff\n\n"),
        ("\ud800", "", True, b"= ?\n\n"),
    ],
)
def test_format_response(text, command_id, ok, response):
    assert format_response(text, command_id, ok=ok) == response


@given(st.text(), st.booleans())
def test_a_response_ends_where_it_ends(text, ok):
    response = format_response(text, "5", ok=ok)
    assert response.endswith(b"\n\n")
    assert response.count(b"\n\n") == 1
    assert response.startswith(b"=5 " if ok else b"?5 ")


@given(st.text())
def test_a_stream_line_is_one_line(text):
    line = format_stream_line(text)
    assert line.count(b"\n") == 1
    assert line.endswith(b"\n")
    assert len(line) > 1


@pytest.mark.parametrize(
    ("line", "head"),
    [
        ("=1 C3", (True, "1", "C3")),
        ("= C3", (True, "", "C3")),
        ("=", (True, "", "")),
        ("?12", (False, "12", "")),
        ("?12 no such thing", (False, "12", "no such thing")),
        ("=== ready ===", None),
        ("=C3", None),
        ("C3", None),
        ("", None),
    ],
)
def test_parse_response_head(line, head):
    assert parse_response_head(line) == head


@given(st.binary(), st.lists(st.integers(0, 40), max_size=8))
def test_lines_do_not_depend_on_how_the_bytes_arrive(data, cuts):
    splitter = LineSplitter(limit=5)
    places = sorted({0, len(data), *(min(cut, len(data)) for cut in cuts)})
    chunks = [data[start:end] for start, end in pairwise(places)]
    lines = [line for chunk in chunks for line in splitter.feed(chunk)] + list(splitter.finish())
    parts = data.split(b"\n")
    whole = parts if parts[-1] else parts[:-1]
    assert lines == [Line(part[:5], len(part) > 5) for part in whole]


def test_a_long_line_takes_little_memory_and_ends_at_its_newline():
    splitter = LineSplitter(limit=10)
    for _ in range(1000):
        assert list(splitter.feed(b"x" * 1000)) == []
    assert list(splitter.feed(b"x\nname\n")) == [Line(b"x" * 10, too_long=True), Line(b"name")]


def test_an_answer_holds_no_control_characters() -> None:
    every = "".join(map(chr, range(160)))
    assert clean_text(every + "x") == "\t\n" + every[32:127] + every[128:] + "x"
