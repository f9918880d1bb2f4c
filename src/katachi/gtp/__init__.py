"""The Go Text Protocol on both sides: any player as an engine, any engine as a player.

``protocol`` and ``serving`` know lines and commands, and no Go; ``engine`` serves a player; ``client`` is a player that
asks a program; ``analysis_engine`` serves a player to tools that speak KataGo's analysis protocol instead.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from katachi.gtp.client import EngineFailure, GtpPlayer
    from katachi.gtp.engine import GtpEngine
    from katachi.gtp.protocol import GtpError

_HOMES = {"GtpPlayer": "client", "GtpEngine": "engine", "EngineFailure": "client", "GtpError": "protocol"}

PLAYER_KINDS = {"gtp": "katachi.gtp.client:GtpSpec"}  # for ``players/specs.py``

__all__ = ["EngineFailure", "GtpEngine", "GtpError", "GtpPlayer"]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for, so that the package itself costs nothing."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
