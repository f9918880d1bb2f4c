"""GNU Go as an opponent and a referee: how it is started, and whether it is here."""

from __future__ import annotations

import os
import shutil
from typing import Final

from katachi.papers.experiment import ExperimentError

_DEBIAN_GAMES: Final = "/usr/games"  # not on everybody's PATH


def gnugo(level: int) -> str:
    """The player spec of a level: area rules, everything played out, and a seed of its own in every game."""
    return f"gtp:gnugo --mode gtp --level {level} --chinese-rules --capture-all-dead --seed {{seed}}"


def gnugo_referee(level: int) -> str:
    """A level as a referee: it says which stones are dead, and counts the area."""
    return f"gtp:gnugo --mode gtp --level {level} --chinese-rules"


def gnugo_name(level: int) -> str:
    """What a level is called in tables."""
    return f"GNU Go level {level}"


def has_gnugo() -> bool:
    """Whether it is installed."""
    return shutil.which("gnugo", path=os.pathsep.join((os.environ.get("PATH", ""), _DEBIAN_GAMES))) is not None


def require_gnugo() -> None:
    """Raise ExperimentError if it is not installed."""
    if not has_gnugo():
        raise ExperimentError("this table is measured against GNU Go, and it is not here (Debian: apt install gnugo)")
