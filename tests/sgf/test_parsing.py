from __future__ import annotations

from typing import NamedTuple

import pytest

from katachi.sgf import Limits, RepairKind, SgfError, SgfGame, parse_sgf
from katachi.sgf.repairs import MOST_REPAIRS

K = RepairKind


class Dirty(NamedTuple):
    """A faulty record, its main line as it must be read, and the kinds of repairs, in order."""

    text: str
    line: str
    repairs: list[RepairKind]


DIRTY = {
    "clean": Dirty("(;SZ[9];B[ee];W[])", ";SZ[9];B[ee];W[]", []),
    "spaces and line breaks": Dirty(" (\n ; SZ [9]\r\n;\tB\n[ee] ) \n", ";SZ[9];B[ee]", []),
    "last bracket missing": Dirty("(;SZ[9];B[ee]", ";SZ[9];B[ee]", [K.STRUCTURE]),
    "variation cut off": Dirty("(;SZ[9](;B[ee];W[aa](;B[bb]", ";SZ[9];B[ee];W[aa];B[bb]", [K.STRUCTURE]),
    "value cut off": Dirty("(;SZ[9];B[ee]C[and the", ";SZ[9];B[ee]C[and the]", [K.VALUE, K.STRUCTURE]),
    "cut off in an escape": Dirty("(;C[a\\", ";C[a]", [K.VALUE, K.STRUCTURE]),
    "cut off after a name": Dirty("(;SZ[9];B", ";SZ[9];", [K.JUNK, K.STRUCTURE]),
    "mail header": Dirty("From: a@b.c\nSubject: game; B [1]\n\n(;SZ[9])", ";SZ[9]", [K.JUNK]),
    "text after": Dirty("(;SZ[9])\nGood game!", ";SZ[9]", [K.JUNK]),
    "one bracket too many": Dirty("(;SZ[9]))", ";SZ[9]", [K.JUNK]),
    "brackets twice": Dirty("((;SZ[9];B[ee]))", ";SZ[9];B[ee]", [K.JUNK] * 2),
    "byte order mark in text": Dirty("\ufeff(;SZ[9])", ";SZ[9]", []),
    "first semicolon missing": Dirty("(SZ[9];B[ee])", ";SZ[9];B[ee]", [K.STRUCTURE]),
    "first bracket missing": Dirty(";SZ[9];B[ee])", ";SZ[9];B[ee]", [K.STRUCTURE]),
    "long names": Dirty("(;GaMe[1]SiZe[9];Black[ee];White[aa])", ";GM[1]SZ[9];B[ee];W[aa]", [K.NAME] * 4),
    "lower case": Dirty("(;SZ[9];b[ee];w[aa])", ";SZ[9];B[ee];W[aa]", [K.NAME] * 2),
    "name with a digit": Dirty("(;SZ[9]X1[y])", ";SZ[9]X1[y]", []),
    "long name with a digit": Dirty("(;a1SZ[9]b2[x])", ";SZ[9]B2[x]", [K.NAME] * 2),
    "unknown properties": Dirty("(;SZ[9]ZZ[a][b]KGSDE[aa])", ";SZ[9]ZZ[a][b]KGSDE[aa]", []),
    "escapes stay": Dirty("(;C[a\\]b\\\\c\\:d])", ";C[a\\]b\\\\c\\:d]", []),
    "semicolons and brackets in text": Dirty("(;C[a;b(c)d [e];B[ee])", ";C[a;b(c)d [e];B[ee]", []),
    "soft line break": Dirty("(;C[one\\\ntwo])", ";C[one\\\ntwo]", []),
    "bracket not escaped": Dirty("(;C[see [a] there];B[ee])", ";C[see [a\\] there];B[ee]", [K.VALUE]),
    "two brackets not escaped": Dirty("(;C[[a] or [b] it]N[x];B[ee])", ";C[[a\\] or [b\\] it]N[x];B[ee]", [K.VALUE]),
    "a smile": Dirty("(;B[ee]C[good :-] thanks]\n;W[aa])", ";B[ee]C[good :-\\] thanks];W[aa]", [K.VALUE]),
    "rank in a name": Dirty("(;PB[Bob [3k]]PW[Al])", ";PB[Bob [3k\\]]PW[Al]", [K.VALUE]),
    "junk, not text": Dirty("(;C[a] junk ;B[ee])", ";C[a];B[ee]", [K.JUNK]),
    "junk between nodes": Dirty("(;SZ[9];B[ee]---;W[aa])", ";SZ[9];B[ee];W[aa]", [K.JUNK]),
    "word without a value": Dirty("(;SZ[9];KO B[ee])", ";SZ[9];B[ee]", [K.JUNK]),
    "value without a name": Dirty("(;SZ[9];[aa]B[ee])", ";SZ[9];B[ee]", [K.VALUE]),
    "unclosed value without a name": Dirty("(;SZ[9];[aa", ";SZ[9];", [K.VALUE, K.STRUCTURE]),
    "stones twice": Dirty("(;SZ[9]AB[aa]AB[bb])", ";SZ[9]AB[aa][bb]", [K.DUPLICATE]),
    "comment twice": Dirty("(;C[a]GM[1]C[b])", ";C[a][b]GM[1]", [K.DUPLICATE]),
    "node after variations": Dirty("(;SZ[9](;B[ee])(;B[dd]);B[cc])", ";SZ[9];B[ee]", [K.STRUCTURE]),
    "property after variations": Dirty("(;SZ[9](;B[ee])C[x])", ";SZ[9]C[x];B[ee]", [K.STRUCTURE]),
    "empty variation": Dirty("(;SZ[9]();B[ee])", ";SZ[9];B[ee]", [K.STRUCTURE] * 2),
    "empty nodes": Dirty("(;;SZ[9];)", ";;SZ[9];", []),
    "size with a colon": Dirty("(;SZ[9:9])", ";SZ[9:9]", [K.INFORMATION]),
    "size that is none": Dirty("(;SZ[big])", ";SZ[big]", [K.INFORMATION]),
    "komi with a comma": Dirty("(;KM[6,5])", ";KM[6,5]", [K.INFORMATION]),
    "komi in hundredths": Dirty("(;KM[375])", ";KM[375]", [K.INFORMATION]),
    "komi that is none": Dirty("(;KM[none])", ";KM[none]", [K.INFORMATION]),
    "handicap that is none": Dirty("(;HA[对子])", ";HA[对子]", [K.INFORMATION]),
    "handicap and stones differ": Dirty("(;HA[3]AB[dd][pp])", ";HA[3]AB[dd][pp]", [K.HANDICAP]),
    "nul characters": Dirty("(;\x00SZ[9]\x00;B[ee])", ";SZ[9];B[ee]", [K.JUNK] * 2),
    "plain moves with more values": Dirty("(;SZ[9];B[aa];W[bb][cc];B[])", ";SZ[9];B[aa];W[bb][cc];B[]", []),
}  # fmt: skip


@pytest.mark.parametrize("name", DIRTY)
def test_dirty_records_are_read_and_every_repair_is_told(name: str) -> None:
    dirty = DIRTY[name]
    (game,) = parse_sgf(dirty.text)
    assert _main_line(game) == dirty.line
    assert [repair.kind for repair in game.repairs] == dirty.repairs
    assert _main_line(parse_sgf(dirty.text.encode())[0]) == dirty.line


def _main_line(game: SgfGame) -> str:
    nodes = (node.properties.items() for node in game.main_line())
    return "".join(";" + "".join(f"{name}[{']['.join(values)}]" for name, values in node) for node in nodes)


@pytest.mark.parametrize("text", ["", " ", "hello", "()", "(((", "[", "\0" * 50, "<html>", "{}", ";"])
def test_what_is_no_record_is_refused(text: str) -> None:
    with pytest.raises(SgfError, match="not SGF"):
        parse_sgf(text)


def test_a_collection_with_variations() -> None:
    games = parse_sgf("(;GM[1]SZ[9];B[aa](;W[bb];B[cc])(;W[dd]))\n\n(;SZ[13])(;SZ[19])")
    assert [game.size for game in games] == [9, 13, 19]
    first_move = games[0].root.children[0]
    assert [child.properties["W"] for child in first_move.children] == [["bb"], ["dd"]]
    assert first_move.children[1].path() == [games[0].root, first_move, first_move.children[1]]
    assert all(child.parent is first_move for child in first_move.children)
    assert [node.properties for node in games[0].root.walk()] == [
        {"GM": ["1"], "SZ": ["9"]}, {"B": ["aa"]}, {"W": ["bb"]}, {"B": ["cc"]}, {"W": ["dd"]},
    ]  # fmt: skip


def test_a_game_that_was_never_closed_does_not_swallow_the_next() -> None:
    games = parse_sgf("(;GM[1]SZ[9];B[aa](;W[bb]\n(;GM[1]SZ[13];B[cc])")
    assert [(game.size, len(list(game.main_line()))) for game in games] == [(9, 3), (13, 2)]
    assert [str(repair) for repair in games[0].repairs] == ['line 2, column 1: 2 ")" missing before the next game']
    assert not games[1].repairs


def test_a_variation_may_begin_like_a_game() -> None:
    text = "(;SZ[9];B[aa]\n(;GM[1]FF[4];W[bb])\n(;FF[4]W[cc]))(;SZ[13])"
    first, second = parse_sgf(text)
    assert len(first.root.children[0].children) == 2
    assert second.size == 13
    assert first.repairs == second.repairs == []


def test_repairs_say_where_and_what() -> None:
    game = parse_sgf("junk\n\n(;SZ[9]\n;SiZe[9]KM[6,5]AB[aa]AB[bb])")[0]
    assert [str(repair) for repair in game.repairs] == [
        "line 1, column 1: 'junk' skipped",
        "line 4, column 2: 'SiZe' read as SZ",
        "line 4, column 22: AB again in the same node; its values are joined",
    ]


def test_text_is_unescaped_as_the_standard_says() -> None:
    root = parse_sgf("(;C[a\\]\\\\b\\\r\nc\r\nd\ne]PB[ Lee\\\n \nSedol ]GC[x\\:y])")[0].root
    assert root.text("C") == "a]\\bc\nd\ne"
    assert root.simple_text("PB") == "Lee  Sedol"
    assert root.text("GC") == "x:y"
    assert root.text("XX") == ""
    assert parse_sgf("(;C[a]C[b])")[0].root.text("C") == "a\nb"


def test_the_number_of_repairs_listed_is_bounded() -> None:
    game = parse_sgf("(;SZ[9]" + ";b[ee]" * 1000 + ")")[0]
    assert len(game.repairs) == MOST_REPAIRS + 1
    assert "and 800 more" in game.repairs[-1].what


def test_limits() -> None:
    with pytest.raises(SgfError, match="more than 10 nodes"):
        parse_sgf("(" + ";" * 11 + ")", Limits(nodes=10))
    with pytest.raises(SgfError, match="more than 10 nodes"):
        parse_sgf("(;" + ";B[aa]" * 10 + ")", Limits(nodes=10))
    assert len(list(parse_sgf("(;" + ";B[aa]" * 9 + ")", Limits(nodes=10))[0].main_line())) == 10
    with pytest.raises(SgfError, match="nested more than 10"):
        parse_sgf("(;B[aa]" * 11, Limits(depth=10))
    with pytest.raises(SgfError, match="larger than 100 bytes"):
        parse_sgf(b"(;C[" + b"x" * 100, Limits(size=100))


def test_a_hundred_thousand_nested_variations() -> None:
    depth = 100_000
    (game,) = parse_sgf("(;B[aa]" * depth + ")" * depth)
    assert sum(1 for _ in game.main_line()) == depth
    assert game.root.is_same_tree(parse_sgf("(;B[aa]" * depth)[0].root)
    del game  # must not exhaust the stack


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "unit",
    [
        "C[a]!",
        "C[a] ",
        "(",
        ")",
        "[",
        "]",
        "\\",
        ";",
        "a ",
        "a[",
        "A",
        " ",
        "C[",
        "(;C[a]b",
        "AB[aa:ss]",
        "x]",
        ";C[]a;",
    ],
)
def test_repeated_nonsense_takes_linear_time(unit: str) -> None:
    """In quadratic time this would take hours."""
    (game, *_) = parse_sgf("(;SZ[9]" + unit * 50_000 + "\n(;GM[1]SZ[13])")
    assert game.root.properties["SZ"][0] == "9"
    assert len(game.repairs) <= MOST_REPAIRS + 2
