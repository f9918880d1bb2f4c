from __future__ import annotations

import codecs

import pytest

from katachi.sgf import RepairKind, parse_sgf
from katachi.sgf.parsing import decode

CHINESE = "(;GM[1]SZ[19]PB[古力]BR[九段]PW[常昊]C[黑中盘胜，白棋第50手是败着。])"
JAPANESE = "(;GM[1]SZ[19]PB[趙治勲]BR[九段]PW[小林光一]C[黒の中押し勝ち。この手は良くない。])"
KOREAN = "(;GM[1]SZ[19]PB[이세돌]BR[9단]PW[박정환]C[흑 불계승. 백 50은 실착.])"
TAIWANESE = "(;GM[1]SZ[19]PB[周俊勳]BR[九段]PW[張栩]C[黑中盤勝，白棋第一百手是敗著。])"
GERMAN = "(;GM[1]SZ[19]PB[Jürgen Übel]PW[Weiß]C[Weiß hätte früher zurückspielen können.])"
RUSSIAN = "(;GM[1]SZ[19]PB[Шикшин]PW[Динерштейн]C[Чёрные сдались])"


def _declaring(text: str, name: str) -> str:
    return text.replace("GM[1]", f"GM[1]CA[{name}]")


@pytest.mark.parametrize(
    ("text", "name", "encoding"),
    [
        (CHINESE, "UTF-8", "utf-8"),
        (CHINESE, "gb2312", "gb18030"),
        (CHINESE, "GBK", "gb18030"),
        (CHINESE, "gb18030", "gb18030"),
        (TAIWANESE, "Big5", "big5hkscs"),
        (JAPANESE, "Shift_JIS", "cp932"),
        (JAPANESE, "SJIS", "cp932"),
        (JAPANESE, "EUC-JP", "euc_jp"),
        (KOREAN, "EUC-KR", "cp949"),
        (KOREAN, "ks_c_5601-1987", "cp949"),
        (GERMAN, "ISO-8859-1", "latin-1"),
        (GERMAN, "windows-1252", "cp1252"),
        (RUSSIAN, "KOI8-R", "koi8-r"),
        (RUSSIAN, "iso-8859-5", "iso8859-5"),
    ],
)
def test_a_declared_encoding_that_fits_is_taken(text: str, name: str, encoding: str) -> None:
    declaring = _declaring(text, name)
    game = parse_sgf(declaring.encode(encoding))[0]
    assert game.root.text("C") == parse_sgf(text)[0].root.text("C")
    assert game.repairs == []
    assert decode(declaring.encode(encoding)).encoding == encoding


@pytest.mark.parametrize("name", [None, "UTF-8", "no-such-thing", "rot13", "punycode", "zip", "../../x", "US-ASCII2"])
@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (CHINESE, "gb18030"),
        (JAPANESE, "cp932"),
        (JAPANESE, "euc_jp"),
        (KOREAN, "cp949"),
        (TAIWANESE, "big5hkscs"),
        (GERMAN, "cp1252"),
        (RUSSIAN, "cp1251"),
    ],
)
def test_a_missing_or_wrong_declaration_is_replaced_by_detection(text: str, encoding: str, name: str | None) -> None:
    declaring = text if name is None else _declaring(text, name)
    game = parse_sgf(declaring.encode(encoding))[0]
    assert game.root.text("C") == parse_sgf(text)[0].root.text("C")
    assert game.black == parse_sgf(text)[0].black
    assert [repair.kind for repair in game.repairs] == [RepairKind.ENCODING] * 2
    assert encoding in game.repairs[1].what


@pytest.mark.parametrize(
    ("names", "encoding"),
    [
        ("PB[柯洁]PW[李世石]", "gb18030"),
        ("PB[张文东]PW[王一梁]", "gb18030"),
        ("PB[井山裕太]PW[羽根直樹]", "cp932"),
        ("PB[ソニー]PW[ポン]", "cp932"),
        ("PB[이창호]PW[조훈현]", "cp949"),
        ("PB[Müller]PW[José]", "cp1252"),
    ],
)
def test_a_few_bytes_are_enough(names: str, encoding: str) -> None:
    """Two names decide; in Shift-JIS their bytes include those of a backslash and brackets."""
    text = f"(;GM[1]SZ[19]{names};B[aa])"
    game = parse_sgf(text.encode(encoding))[0]
    assert f"PB[{game.black}]PW[{game.white}]" == names
    assert game.root.children[0].properties == {"B": ["aa"]}


def test_utf8_that_is_declared_as_latin1_or_not_at_all() -> None:
    for text in (CHINESE, _declaring(CHINESE, "ISO-8859-1")):
        game = parse_sgf(text.encode())[0]
        assert game.black == "古力"
        assert "read as utf-8" in str(game.repairs[-1])


@pytest.mark.parametrize(
    ("mark", "encoding"),
    [
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
        (codecs.BOM_UTF32_LE, "utf-32-le"),
        (b"", "utf-16-le"),
        (b"", "utf-16-be"),
    ],
)
def test_marks_and_wide_characters(mark: bytes, encoding: str) -> None:
    game = parse_sgf(mark + CHINESE.encode(encoding))[0]
    assert game.black == "古力"
    assert [repair.kind for repair in game.repairs] == [RepairKind.ENCODING]


def test_iso_2022_jp_has_brackets_and_escapes_inside_characters() -> None:
    game = parse_sgf(JAPANESE.encode("iso2022_jp"))[0]
    assert game.root.text("C") == parse_sgf(JAPANESE)[0].root.text("C")


def test_bytes_of_no_encoding_still_give_the_moves() -> None:
    game = parse_sgf(b"(;SZ[9]CA[UTF-8]PB[\xff\xfe\x81 \xc3\x28\x80];B[aa])")[0]
    assert game.root.children[0].properties == {"B": ["aa"]}
    assert game.repairs[0].kind is RepairKind.ENCODING


def test_ascii_needs_no_declaration() -> None:
    assert parse_sgf(b"(;SZ[9]PB[Bob])")[0].repairs == []
    assert decode(b"(;SZ[9])").encoding == "ascii"
