"""Which games are for training and which for testing: decided by each record itself, so it never changes.

The first eight hexadecimal digits of the SHA-256 of a record's bytes, modulo 20: 0 is test, 1 validation, the rest
training. Whoever learns from a collection looks at its training games alone.
"""

from __future__ import annotations

import hashlib
from enum import StrEnum
from typing import Final

_PARTS: Final = 20


class Split(StrEnum):
    """What a game may be used for."""

    TRAINING = "training"
    VALIDATION = "validation"
    TEST = "test"


def split_of(record: bytes) -> Split:
    """The split of a record, given as it stands in its collection without white space around it."""
    part = int(hashlib.sha256(record).hexdigest()[:8], 16) % _PARTS
    return Split.TEST if part == 0 else Split.VALIDATION if part == 1 else Split.TRAINING
