r"""The text inside property values: escapes, soft line breaks, and the two types Text and SimpleText of FF4.

A *raw* value is what stands between the brackets; trees keep raw values, so that writing one returns what was read.

>>> unescape_text("a \\] b \\\\ c \\\nd")
'a ] b \\ c d'
>>> escape("[1k]: a\\b")
'[1k\\]: a\\\\b'
"""

from __future__ import annotations

import re
from typing import Final

_ESCAPE: Final = re.compile(r"\\(?:\n|(.))", re.DOTALL)
_LINE_BREAK: Final = re.compile(r"\r\n|\n\r|\r")
_SPECIAL: Final = re.compile(r"[\\\]]")
_ESCAPED_OR_BRACKET: Final = re.compile(r"\\.|\]", re.DOTALL)
_RAW: Final = re.compile(r"[^\]\\]*+(?:\\.[^\]\\]*+)*+", re.DOTALL)


def escape(text: str) -> str:
    """The raw value of a text."""
    return _SPECIAL.sub(r"\\\g<0>", text)


def unescape_text(raw: str) -> str:
    r"""The text of a raw Text value: line breaks are ``\n``, soft ones are gone."""
    if "\\" not in raw and "\r" not in raw:
        return raw
    # Line breaks first: an escaped "\r\n" must still be one break.
    return _ESCAPE.sub(lambda found: found[1] or "", _LINE_BREAK.sub("\n", raw))


def unescape_simple(raw: str) -> str:
    """The text of a raw SimpleText value: one line, no space around it."""
    return unescape_text(raw).replace("\n", " ").strip()


def is_raw(value: str) -> bool:
    """Whether a value can stand between brackets as it is."""
    return _RAW.fullmatch(value) is not None


def mend_raw(value: str) -> str:
    """Make a raw value of text in which a bracket was not escaped or the last escape escapes nothing."""
    mended = _ESCAPED_OR_BRACKET.sub(lambda found: "\\]" if found[0] == "]" else found[0], value)
    return mended if is_raw(mended) else mended[:-1]
