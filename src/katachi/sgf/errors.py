"""What the SGF layer raises, and the limits beyond which it refuses a file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


class SgfError(ValueError):
    """A record that cannot be read, replayed or written, and why."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a reader accepts before it takes a file for hostile. Nothing here is recursive, whatever the depth."""

    size: int = 16 << 20  # bytes of one record, or of a file that is loaded whole; a longer collection is streamed
    nodes: int = 1_000_000  # in one record or small collection
    depth: int = 250_000  # nested variations
    ratio: int = 100  # decompressed : compressed; real records reach 3 to 20
    entries: int = 50_000  # in one zip archive


DEFAULT_LIMITS: Final = Limits()
