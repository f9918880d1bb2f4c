r"""From text to trees: a lenient reader of FF1 to FF4.

One compiled expression finds the tokens and a loop with its own stack builds the trees. The reader is ours because
sgfmill, the usual one, refuses a file whose last bracket is missing and could not say what it had to mend.

A fault is mended where the intent is plain, and every repair is reported with its line and column:

>>> game, = parse_sgf("Hello,\n\n(SZ[9];B[aa]C[look [here] please];W[bb")
>>> [node.properties for node in game.main_line()]
[{'SZ': ['9']}, {'B': ['aa'], 'C': ['look [here\\] please']}, {'W': ['bb']}]
>>> for repair in game.repairs:
...     print(repair)
line 1, column 1: 'Hello,' skipped
line 3, column 2: ';' missing before the first property
line 3, column 15: "]" in C was not escaped
line 3, column 35: value of W not closed
line 3, column 39: 1 ")" missing at the end
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterator
from re import Match
from typing import Final, NamedTuple, Protocol

from charset_normalizer import from_bytes

from katachi.sgf.record import SgfGame, check_information
from katachi.sgf.repairs import (
    DEFAULT_LIMITS,
    Limits,
    LineFinder,
    RepairKind,
    RepairLog,
    Report,
    SgfError,
    ignore,
    shorten,
)
from katachi.sgf.tree import Node, mend_raw

# From bytes to text: byte order marks, CA, and detection where CA is missing or wrong.
#
# FF4 says that a record without CA is Latin-1. Real ones are UTF-8 or an East Asian encoding, so the declared encoding
# is taken only if it fits, UTF-8 if the bytes are UTF-8, and else charset-normalizer ranks what the bytes can be. For
# a few bytes, two names perhaps, its ranking is a toss-up; characters that records are full of break the tie.

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
    """The most probable of the encodings that these bytes can be."""
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


# From text to trees.

_VALUE: Final = r"[^\]\\]*+(?:\\.[^\]\\]*+)*+"
# The groups, by number: whole properties are by far the most frequent, so one match takes a semicolon, a name and a
# value at once. All repeats are possessive (no backtracking): a hostile text costs no more than a kind one.
_TOKEN: Final = re.compile(
    rf"""\s*+(?:
        (;)?+ \s*+ ([A-Z]++) \s*+ \[({_VALUE})\]    # 1, 2, 3
      | \[({_VALUE})\]                              # 4
      | (;)                                         # 5
      | (\()                                        # 6
      | (\))                                        # 7
      | ([A-Za-z][A-Za-z0-9]*+)                     # 8
      | (\[)                                        # 9: is never closed
      | ([^\s;()\[A-Za-z]++)                        # 10
    )""",
    re.DOTALL | re.VERBOSE,
)
# A run of nodes with one plain move each: nearly all of most records, and worth a way of its own.
_RUN: Final = re.compile(r"(?:\s*+;[BW]\[(?:[a-z][a-z])?+\])++")
_MOVE: Final = re.compile(r"([BW])\[([a-z]*+)")
_NEXT_VALUE: Final = re.compile(rf"\s*+\[({_VALUE})\]", re.DOTALL)
_OPEN_VALUE: Final = re.compile(r"\s*+\[")

_GAME_START: Final = re.compile(r"\(\s*+(?:;|[A-Z]{1,2}+\s*+\[)")
_BARE_START: Final = re.compile(r";\s*+[A-Z]{1,2}+\s*+\[")
_NEXT_GAME: Final = re.compile(r"\(\s*+;\s*+(?:FF|GM)\s*+\[")

_FREE_TEXT: Final = frozenset(
    ("AN", "AP", "BT", "C", "CP", "EV", "GC", "GN", "N", "ON", "OT", "PB", "PC", "PW", "RO", "SO", "US", "WT")
)
# What may follow a value. Where something else does, the text went on: its bracket was not escaped.
_FOLLOWS: Final = (
    r"\s*+(?:\Z|\[|[A-Z][A-Za-z0-9]*+\s*+\[|;\s*+(?:\Z|[;()]|[A-Z][A-Za-z0-9]*+\s*+\[)"
    r"|\(\s*+(?:;|[A-Z]{1,2}+\[)|\)(?:\s*+(?:\Z|[();])|[^\S\n]*+\n))"
)
_ENDS_WELL: Final = re.compile(_FOLLOWS)
_TRUE_END: Final = re.compile(rf"(;\s*+[A-Z]{{1,2}}+\[)|\](?={_FOLLOWS})")


def parse_sgf(source: str | bytes, limits: Limits = DEFAULT_LIMITS) -> list[SgfGame]:
    """All games of a record or collection; raises SgfError if there is none or a limit is passed."""
    if len(source) > limits.size:
        raise SgfError(f"the record is larger than {limits.size} bytes")
    log = RepairLog()
    text = source.removeprefix("\ufeff") if isinstance(source, str) else decode(source, log).text
    games = _Parser(text, limits).parse()
    for game in games:
        game.repairs[:0] = log.repairs
    return games


class _Parser:
    """Reads one text. The state is the position, the node being filled, and the nodes at which variations began."""

    def __init__(self, text: str, limits: Limits) -> None:
        self._text = text
        self._limits = limits
        self._lines = LineFinder(text)
        self._games: list[SgfGame] = []
        self._position = 0
        self._nodes_left = limits.nodes
        self._no_true_end_before = 0
        self._trusts_brackets = True
        self._begin_game()
        self._handlers: dict[int | None, Callable[[Match[str]], None]] = {
            3: self._property,
            4: self._further_value,
            5: self._new_node,
            6: self._open,
            7: self._close,
            8: self._word,
            9: self._stray_bracket,
            10: self._junk,
        }

    def _begin_game(self) -> None:
        self._log = RepairLog()
        self._root: Node | None = None
        self._node: Node | None = None
        self._stack: list[Node | None] = []
        self._after_variation = False
        self._saw_next_game = False
        self._forget_property()

    def _forget_property(self) -> None:
        self._name = ""
        self._values: list[str] = []

    def _report(self, kind: RepairKind, position: int, what: str) -> None:
        self._log(kind, self._lines.where(position), what)

    def parse(self) -> list[SgfGame]:
        before = self._position, self._nodes_left
        while self._find_game():
            self._read_game()
            if self._stack and self._saw_next_game:
                # Never closed, and another game seems to begin inside: once more, and no longer trusting the brackets.
                self._trusts_brackets = False
                self._position, self._nodes_left = before
                self._begin_game()
                continue
            self._end_game()
            before = self._position, self._nodes_left
        if not self._games:
            raise SgfError("no game found: this is not SGF")
        self._games[-1].repairs.extend(self._log.repairs)  # of what stands after the last game
        return self._games

    def _find_game(self) -> bool:
        """Go to the next game and skip what is before it; a text without any bracket may still be a bare game."""
        start = _GAME_START.search(self._text, self._position)
        if start is None and not self._games:
            start = _BARE_START.search(self._text)
        self._skip_junk(start.start() if start else len(self._text))
        return start is not None

    def _skip_junk(self, stop: int) -> None:
        junk = self._text[self._position : stop].strip()
        if junk:
            self._report(RepairKind.JUNK, self._text.index(junk[0], self._position), f"{shorten(junk)} skipped")
        self._position = stop

    def _read_game(self) -> None:
        text, match, match_run, handlers = self._text, _TOKEN.match, _RUN.match, self._handlers
        if text[self._position] == ";":
            self._report(RepairKind.STRUCTURE, self._position, '"(" missing at the beginning')
            self._stack.append(None)
        while token := match(text, self._position):
            if token[1] and self._node and not self._after_variation and (run := match_run(text, self._position)):
                self._read_run(run)
                continue
            self._position = token.end()
            handlers[token.lastindex](token)
            if not self._stack:
                return
        self._position = len(text)
        self._report(RepairKind.STRUCTURE, len(text), f'{len(self._stack)} ")" missing at the end')

    def _end_game(self) -> None:
        if self._root is not None:
            check_information(self._root, self._log)
            self._games.append(SgfGame(self._root, self._log.repairs))
        self._begin_game()

    # Nodes

    def _new_node(self, token: Match[str]) -> None:
        self._forget_property()
        self._add_node(token.start(5))

    def _add_node(self, position: int) -> Node:
        self._count_nodes(1)
        parent = self._node
        node = self._node = Node(None, parent)
        if parent is None:
            self._root = node
        else:
            parent.children.append(node)
            if self._after_variation:
                self._report(RepairKind.STRUCTURE, position, "node after a variation taken for one more variation")
                self._after_variation = False
        return node

    def _read_run(self, run: Match[str]) -> None:
        node = self._node
        assert node is not None
        moves = _MOVE.findall(run[0])
        self._count_nodes(len(moves))
        for name, value in moves:
            before, node = node, Node({name: [value]}, node)
            before.children.append(node)
        self._node = node
        self._name, self._values = moves[-1][0], node.properties[moves[-1][0]]
        self._position = run.end()

    def _count_nodes(self, count: int) -> None:
        self._nodes_left -= count
        if self._nodes_left < 0:
            raise SgfError(f"more than {self._limits.nodes} nodes")

    def _open(self, token: Match[str]) -> None:
        if self._stack and _NEXT_GAME.match(self._text, token.start(6)):
            if not self._trusts_brackets:
                self._end_unclosed_game(token.start(6))
                return
            self._saw_next_game = True
        if len(self._stack) >= self._limits.depth:
            raise SgfError(f"variations nested more than {self._limits.depth} deep")
        self._stack.append(self._node)
        self._after_variation = False
        self._forget_property()

    def _end_unclosed_game(self, position: int) -> None:
        self._position = position
        self._report(RepairKind.STRUCTURE, position, f'{len(self._stack)} ")" missing before the next game')
        self._stack.clear()

    def _close(self, token: Match[str]) -> None:
        before = self._stack.pop()
        if self._node is before:
            self._report(RepairKind.STRUCTURE, token.start(7), "variation without a node of its own left out")
        self._node = before
        self._after_variation = True
        self._forget_property()

    # Properties

    def _property(self, token: Match[str]) -> None:
        semicolon, name, value = token.group(1, 2, 3)
        if semicolon:
            self._add_node(token.start(1))
        self._set_property(name, value, token.start(2), token.start(3))

    def _set_property(self, name: str, value: str, name_start: int, value_start: int) -> None:
        node = self._node
        if node is None:
            self._report(RepairKind.STRUCTURE, name_start, "';' missing before the first property")
            node = self._add_node(name_start)
        elif self._after_variation:
            self._report(RepairKind.STRUCTURE, name_start, f"{name} after a variation given to the node before it")
        values = node.properties.setdefault(name, [])
        if values:
            self._report(RepairKind.DUPLICATE, name_start, f"{name} again in the same node; its values are joined")
        self._first_value = value_start, len(values)
        values.append(value)
        self._name, self._values = name, values
        if name in _FREE_TEXT:
            self._check_end()

    def _further_value(self, token: Match[str]) -> None:
        if not self._name:
            self._report(RepairKind.VALUE, token.start(4), f"value {shorten(token[4])} of no property skipped")
            return
        self._values.append(token[4])
        if self._name in _FREE_TEXT:
            self._check_end()

    def _check_end(self) -> None:
        """If a text seems to go on after its bracket, find the true one, but never beyond the next node."""
        if self._position < self._no_true_end_before or _ENDS_WELL.match(self._text, self._position):
            return
        end = _TRUE_END.search(self._text, self._position)
        if end is None or end[1]:
            # Remembered, so that no stretch of text is searched twice.
            self._no_true_end_before = end.start() if end else len(self._text)
            return
        start, index = self._first_value
        self._values[index:] = [mend_raw(self._text[start : end.start()])]
        self._position = end.end()
        self._report(RepairKind.VALUE, start, f'"]" in {self._name} was not escaped')

    def _word(self, token: Match[str]) -> None:
        """A name that is not plain capitals, or that has no closed value."""
        word, start = token[8], token.start(8)
        name = re.sub("[a-z]", "", word).lstrip("0123456789") or word.upper()
        if value := _NEXT_VALUE.match(self._text, self._position):
            self._position = value.end()
            if name != word:
                self._report(RepairKind.NAME, start, f"{shorten(word)} read as {name}")
            self._set_property(name, value[1], start, value.start(1))
        elif value := _OPEN_VALUE.match(self._text, self._position):
            self._position = len(self._text)
            self._set_property(name, mend_raw(self._text[value.end() :]), start, value.end())
            self._report(RepairKind.VALUE, start, f"value of {name} not closed")
        else:
            self._report(RepairKind.JUNK, start, f"{shorten(word)} skipped")

    def _stray_bracket(self, token: Match[str]) -> None:
        self._position = len(self._text)
        self._report(RepairKind.VALUE, token.start(9), "unclosed value of no property skipped")

    def _junk(self, token: Match[str]) -> None:
        self._report(RepairKind.JUNK, token.start(10), f"{shorten(token[10])} skipped")


# A long collection as a stream of pieces, each a game or a few, so that no more than a game need be in memory.
#
# Works on bytes, before the encoding is known. In Shift-JIS and its like a byte of a character may look like a bracket,
# so a piece may hold two games, or have text before its game; the parser takes both.

WHOLE: Final = 1 << 20  # what is not longer is one piece: a file has one encoding and few games

# One match leads from a bracket of a tree to the next, over values and all.
_NEXT_BRACKET: Final = re.compile(
    rb"[^()\[]*+(?:\[[^\]\\]*+(?:\\.[^\]\\]*+)*+\][^()\[]*+)*+([()])",
    re.DOTALL,
)
_PIECE_START: Final = re.compile(rb"\(\s{0,99}+(?:;|[A-Z]{1,2}+\s{0,9}+\[)")
_NEXT_PIECE: Final = re.compile(rb"\(\s{0,99}+;\s{0,99}+(?:FF|GM)\s{0,9}+\[")
_LOOK_AHEAD: Final = 256  # more than these two can match


class Reader(Protocol):
    """What bytes come from."""

    def read(self, size: int, /) -> bytes: ...


def split_games(reader: Reader, limits: Limits) -> Iterator[bytes]:
    """The pieces of a stream; raises SgfError when a single record passes the limit of size."""
    chunk = read_up_to(reader, WHOLE + 1)
    if len(chunk) <= WHOLE:
        yield chunk
        return
    recode = _recoder(chunk)
    splitter = _Splitter()
    while chunk:
        yield from splitter.feed(recode(chunk))
        if splitter.waiting > limits.size:
            raise SgfError(f"a record is larger than {limits.size} bytes")
        # As much again as is waiting, so that a long record is not searched many times over; never far past the limit.
        chunk = read_up_to(reader, max(WHOLE, min(splitter.waiting, limits.size + 1 - splitter.waiting)))
    yield from splitter.finish()


def cut_games(data: bytes) -> list[bytes]:
    """The games of a small collection, each with its own bytes, as far as brackets tell where one ends."""
    splitter = _Splitter()
    pieces = [*splitter.feed(data), *splitter.finish()]
    return [piece.strip() for piece in pieces]


def read_up_to(reader: Reader, size: int) -> bytes:
    """Exactly so many bytes, or what there is before the end."""
    parts: list[bytes] = []
    while size and (part := reader.read(size)):
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def _recoder(start: bytes) -> Callable[[bytes], bytes]:
    """What makes UTF-8 of a stream in UTF-16, whose brackets are two bytes wide, and leaves any other as it is."""
    if not start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return lambda chunk: chunk
    decoder = codecs.getincrementaldecoder("utf-16")(errors="replace")
    return lambda chunk: decoder.decode(chunk).encode("utf-8", errors="replace")


class _Splitter:
    """Counts brackets; a game ends where they balance.

    Where they do not for very long, although another game seems to begin on the way, brackets are no longer trusted,
    and from there on a game also ends where the next one plainly begins.
    """

    def __init__(self) -> None:
        self._buffer = b""
        self._start = 0  # of the piece that is being collected
        self._position = 0
        self._depth = 0
        self._trusts_brackets = True
        self._saw_next_game = False

    @property
    def waiting(self) -> int:
        """How many bytes belong to no piece yet."""
        return len(self._buffer) - self._start

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        self._buffer = self._buffer[self._start :] + chunk
        self._position -= self._start
        self._start = 0
        yield from self._pieces(len(self._buffer) - _LOOK_AHEAD)
        if self._saw_next_game and self.waiting > WHOLE:
            self._distrust_brackets()
            yield from self._pieces(len(self._buffer) - _LOOK_AHEAD)

    def finish(self) -> Iterator[bytes]:
        yield from self._pieces(len(self._buffer))
        if self._saw_next_game:
            self._distrust_brackets()
            yield from self._pieces(len(self._buffer))
        rest = self._buffer[self._start :]
        if rest.strip(b" \t\r\n\0\x1a"):
            yield rest

    def _distrust_brackets(self) -> None:
        """Begin the piece that is being collected once more."""
        self._trusts_brackets = False
        self._saw_next_game = False
        self._position = self._start
        self._depth = 0

    def _pieces(self, stop: int) -> Iterator[bytes]:
        buffer = self._buffer
        while (found := _NEXT_BRACKET.match(buffer, self._position)) and found.end() <= stop:
            bracket = found.start(1)
            self._position = found.end()
            if found[1] == b")":
                if self._depth == 1:
                    yield self._cut(self._position)
                self._depth = max(self._depth - 1, 0)
            elif not self._depth:
                self._depth = int(_PIECE_START.match(buffer, bracket) is not None)
            elif not _NEXT_PIECE.match(buffer, bracket):
                self._depth += 1
            elif self._trusts_brackets:
                self._depth += 1
                self._saw_next_game = True
            else:
                self._depth = 1
                yield self._cut(bracket)

    def _cut(self, end: int) -> bytes:
        piece = self._buffer[self._start : end]
        self._start = end
        self._saw_next_game = False
        return piece


def warmup() -> None:
    """Compile the replay of records."""
    parse_sgf("(;SZ[5];B[aa];W[bb];B[cc])")[0].replay_to_end()
