"""Records that visitors bring: read under the limits of the SGF layer, archives too, from a file that is gone
after.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from katachi.sgf import Limits, SgfError, SgfGame, load_sgf
from katachi.web import texts
from katachi.web.settings import TableError

MAX_UPLOAD: Final = 16 << 20  # bytes
MOST_GAMES: Final = 100  # of a collection that is offered to choose from
_LIMITS: Final = Limits(size=MAX_UPLOAD, nodes=100_000, depth=20_000, entries=1_000)
_NAME: Final = "record"  # whatever the visitor calls it


def read_upload(content: bytes) -> list[SgfGame]:
    """The games of a file that can be opened here; raises TableError with the reason if there are none."""
    if len(content) > MAX_UPLOAD:
        raise TableError(texts.TOO_LARGE)
    with TemporaryDirectory(prefix="katachi-") as folder:
        path = Path(folder) / _NAME
        path.write_bytes(content)
        try:
            games = load_sgf(path, _LIMITS)
        except SgfError as error:
            reason = str(error).removeprefix(f"{path}: ").replace(str(path), _NAME)
            raise TableError(texts.UNREADABLE.format(reason=reason)) from None
    return _playable(games[:MOST_GAMES])


def _playable(games: list[SgfGame]) -> list[SgfGame]:
    """Those that can be replayed, each with the repairs that this takes."""
    kept = []
    reason: SgfError | None = None
    for game in games:
        try:
            game.replay()
            kept.append(game)
        except SgfError as error:
            reason = error
    if not kept:
        raise TableError(texts.UNREADABLE.format(reason=reason or texts.NO_GAME))
    return kept
