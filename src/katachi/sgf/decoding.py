"""From bytes to text: byte order marks, CA, and detection where CA is missing or wrong.

FF4 says that a record without CA is Latin-1. Real ones are UTF-8 or an East Asian encoding, so the declared encoding
is taken only if it fits, UTF-8 if the bytes are UTF-8, and else charset-normalizer ranks what the bytes can be. For
a few bytes, two names perhaps, its ranking is a toss-up; characters that records are full of break the tie.
"""

from __future__ import annotations

import codecs
import re
from typing import Final, NamedTuple

from charset_normalizer import from_bytes

from katachi.sgf.repairs import RepairKind, Report, ignore, shorten

_BOMS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_DECLARED: Final = re.compile(rb"CA\s{0,8}\[\s{0,8}([A-Za-z0-9_.: -]{1,40}?)\s{0,8}\]")

# Names as people write them, without case and punctuation, to the widest codec that contains the encoding. A table of
# our own: Python would also accept names that mean no text (zip, rot13) or decode in quadratic time (punycode).
_CODECS: Final = {
    **dict.fromkeys(("utf8", "unicode"), "utf-8"),
    **dict.fromkeys(("gb2312", "gbk", "gb18030", "cp936", "euccn", "gb", "xgbk", "windows936"), "gb18030"),
    **dict.fromkeys(("big5", "big5hkscs", "cp950", "windows950"), "big5hkscs"),
    **dict.fromkeys(("shiftjis", "sjis", "xsjis", "cp932", "ms932", "windows31j"), "cp932"),
    **dict.fromkeys(("eucjp", "xeucjp"), "euc_jp"),
    **dict.fromkeys(("iso2022jp", "jis"), "iso2022_jp"),
    **dict.fromkeys(("euckr", "ksc5601", "ksc56011987", "cp949", "uhc", "windows949"), "cp949"),
    **dict.fromkeys(("ascii", "usascii", "latin1", "iso88591", "l1"), "latin-1"),
    **{f"iso8859{part}": f"iso8859-{part}" for part in (2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 14, 15, 16)},
    **{f"{prefix}{page}": f"cp{page}" for page in range(1250, 1259) for prefix in ("cp", "windows")},
    "koi8r": "koi8-r",
    "koi8u": "koi8-u",
    "tis620": "tis-620",
}

# In the order of preference among equals.
_CANDIDATES: Final = ("gb18030", "cp932", "cp949", "euc_jp", "big5hkscs", "cp1252", "cp1251", "koi8_r", "cp1250")
_FAMILIAR: Final = frozenset(
    "段级級단급黑白黒흑백胜勝승负負패目子半中盘盤局战戦戰전杯棋碁聖圣名人本因坊王天元十大赛賽회回第期期手"
    "一二三四五六七八九世小林田山川井木村石藤高武宮光治正太直"
    "李王张張刘劉陈陳杨楊黄黃赵趙周吴吳徐孙孫马馬朱胡郭何罗羅梁郑鄭谢謝宋唐许許韩韓曹柯古常孔时時聂聶俞江芈"
    "김이박최정강조윤장임한오서신권황안송유홍전고문양손배백허남심노하성차주우구민원진창호세돌현훈환"
    "あいうえおかがきくけこさしすせそたちつてでとなにのはまもやよらりるれをん"
    "アイウオカキクコサシスタテトニノマラリルレロンー"
)
_SAMPLE: Final = 1 << 16
_CLEAR_CHAOS: Final = 0.2  # charset-normalizer's measure of disorder; its own limit for "probably not"


class Decoded(NamedTuple):
    text: str
    encoding: str


def decode(data: bytes, report: Report = ignore) -> Decoded:
    """The text of a record, whatever its encoding; never fails, as a last resort every byte is a Latin-1 letter."""
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            report(RepairKind.ENCODING, "file", f"byte order mark of {encoding} removed")
            return _decode_wide(data[len(mark) :], encoding)
    if data[:1] + data[2:3] == b"\0\0" or data[1:2] + data[3:4] == b"\0\0":
        encoding = "utf-16-be" if data[:1] == b"\0" else "utf-16-le"
        report(RepairKind.ENCODING, "file", f"read as {encoding}")
        return _decode_wide(data, encoding)
    if b"\x1b$" in data and (text := _try(data, "iso2022_jp")) is not None:
        return Decoded(text, "iso2022_jp")
    if data.isascii():
        return Decoded(data.decode("ascii"), "ascii")
    return _decode_declared(data, report) or _detect(data, report)


def _decode_wide(data: bytes, encoding: str) -> Decoded:
    return Decoded(data.decode(encoding, errors="replace"), encoding)


def _try(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except ValueError:
        return None


def _decode_declared(data: bytes, report: Report) -> Decoded | None:
    """Decode as CA tells, None if there is no CA, or none that fits."""
    declared = _DECLARED.search(data)
    if declared is None:
        report(RepairKind.ENCODING, "file", "no encoding is declared")
        return None
    name = declared[1].decode("ascii")
    encoding = _CODECS.get(re.sub(r"[^a-z0-9]", "", name.lower()))
    text = None if encoding is None else _try(data, encoding)
    if encoding is None or text is None:
        report(
            RepairKind.ENCODING,
            "file",
            f"the declared encoding {shorten(name)} is {'wrong' if encoding else 'unknown'}",
        )
        return None
    if encoding == "latin-1" and _try(data, "utf-8") is not None:
        # Any bytes are Latin-1, but other bytes are hardly ever UTF-8 by chance.
        report(RepairKind.ENCODING, "file", f"the declared encoding {shorten(name)} is wrong")
        return None
    return Decoded(text, encoding)


def _detect(data: bytes, report: Report) -> Decoded:
    text, encoding = _try(data, "utf-8"), "utf-8"
    if text is None:
        encoding = _rank(data)
        text = _try(data, encoding)
    if text is None:
        encoding, text = "latin-1", data.decode("latin-1")
    report(RepairKind.ENCODING, "file", f"read as {encoding}")
    return Decoded(text, encoding)


def _rank(data: bytes) -> str:
    """The likeliest of the encodings that these bytes can be."""
    possible = {name: text for name in _CANDIDATES if (text := _try(data, name)) is not None}
    if not possible:
        return "latin-1"
    sample = _sample(data)
    matches = from_bytes(sample, cp_isolation=list(possible))
    chaos = {name: match.chaos for match in matches for name in match.could_be_from_charset}

    def strangeness(name: str) -> tuple[bool, int, float]:
        familiar = sum(character in _FAMILIAR for character in possible[name][:_SAMPLE])
        return chaos.get(name, 1.0) > _CLEAR_CHAOS, -familiar, chaos.get(name, 1.0)

    return min(possible, key=strangeness)


def _sample(data: bytes) -> bytes:
    """The first part of the bytes that are more than ASCII, cut where no character is."""
    start = next(position for position, byte in enumerate(data) if byte >= 0x80)
    start = data.rfind(b"\n", 0, start) + 1 if start > _SAMPLE else 0
    return data[start : start + _SAMPLE]
