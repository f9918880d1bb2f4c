"""Ranks as numbers: grades, in which every rank has its place, and the nine dan ranks that networks are told.

>>> grade_of("3k"), grade_of("1k"), grade_of("1d"), grade_of("2p"), grade_of(None)
(-2, 0, 1, 11, -128)
>>> dans(np.array([-2, 6, 11, UNKNOWN], dtype=np.int8)).tolist()
[1, 6, 9, 0]
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

UNKNOWN: Final = -128
MOST_DAN: Final = 9

_MOST_GRADE: Final = 127  # grades are kept in a byte


def grade_of(rank: str | None) -> int:
    """The grade of a rank as records have it (``3k``, ``6d``, ``9p``): 1k is 0, 1d is 1, 1p follows 9d."""
    if rank is None:
        return UNKNOWN
    number = int(rank[:-1])
    grade = 1 - number if rank.endswith("k") else number + (MOST_DAN if rank.endswith("p") else 0)
    return min(grade, _MOST_GRADE)


def format_grade(grade: int) -> str:
    """The rank of a grade, ``?`` if it is unknown."""
    if grade == UNKNOWN:
        return "?"
    if grade > MOST_DAN:
        return f"{grade - MOST_DAN}p"
    return f"{grade}d" if grade > 0 else f"{1 - grade}k"


def dans(grades: NDArray[np.int8]) -> NDArray[np.int8]:
    """What networks are told: 1 to 9 dan, 0 if unknown. Weaker players count as 1 dan, professionals as 9."""
    return np.where(grades == UNKNOWN, 0, np.clip(grades, 1, MOST_DAN)).astype(np.int8)
