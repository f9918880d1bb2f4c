"""What can go wrong in the arena before a game is played; what goes wrong in a game is its result."""

from __future__ import annotations


class ArenaError(ValueError):
    """A match or tournament that cannot be played as asked."""


class SettingsError(ArenaError):
    """A tournament file that is wrong, with the setting and what would be right."""


class RunError(ArenaError):
    """A run directory that cannot be used: other settings, in use, or damaged."""


class OpeningError(ArenaError):
    """An opening book that offers nothing to play from."""
