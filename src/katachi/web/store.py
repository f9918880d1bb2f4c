"""The store: the tables of every user on disk, so that they outlive the server.

```
DATA/token                             what lets one in, readable by its owner alone
DATA/visitors/USER/TABLE/record.sgf    the game with all its variations
DATA/visitors/USER/TABLE/table.json    settings, how far it is, clocks
DATA/visitors/USER/pupil/              the player that this user teaches
```

Names come from us, never from a file or a user: what does not look like one of ours is not there.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

from katachi.core.disk import write_atomically
from katachi.sgf import FoundGame, Limits, SgfError, SgfGame, format_sgf, iter_sgf, load_sgf
from katachi.web import texts
from katachi.web.security import show_plainly
from katachi.web.table import Table, TableError

_RECORD: Final = "record.sgf"
_STATE: Final = "table.json"
_TOKEN: Final = "token"
_NAME: Final = re.compile(r"[0-9a-f]{16}([0-9a-f]{16})?")
MOST_TABLES: Final = 200  # of one user


class ListedTable(NamedTuple):
    """A table in the list of a user's."""

    name: str
    black: str
    white: str
    size: int
    moves: int
    result: str
    changed: float  # seconds since the epoch


class SavedTable(NamedTuple):
    """The content of both files."""

    record: str
    state: str


class GameStore:
    """Tables on disk, by user and name."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        (folder / "visitors").mkdir(parents=True, exist_ok=True)

    def token(self) -> str:
        """The token of this store. It stays the same, so that an open page finds its server again."""
        path = self._folder / _TOKEN
        if path.is_file() and len(token := path.read_text(encoding="ascii").strip()) >= 32:
            return token
        token = secrets.token_urlsafe(32)
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            file.write(token)
        return token

    def new_name(self) -> str:
        return secrets.token_hex(8)

    def save(self, user: str, name: str, content: SavedTable) -> None:
        """Write both files; each is seen whole or as it was."""
        folder = self._path(user, name)
        if not folder.exists() and len(self._names(user)) >= MOST_TABLES:
            raise TableError(texts.TOO_MANY_TABLES.format(most=MOST_TABLES))
        folder.mkdir(parents=True, exist_ok=True)
        write_atomically(folder / _RECORD, content.record)
        write_atomically(folder / _STATE, content.state)

    def load(self, user: str, name: str) -> Table:
        """A table; raises TableError if there is none that can be read."""
        folder = self._path(user, name)
        try:
            state = json.loads((folder / _STATE).read_text(encoding="utf-8"))
            return Table.restore(state, load_sgf(folder / _RECORD)[0])
        except FileNotFoundError:
            raise TableError(texts.NO_TABLE) from None
        except (OSError, SgfError, ValueError, KeyError, TypeError) as error:
            raise TableError(texts.DAMAGED_TABLE.format(reason=error)) from None

    def delete(self, user: str, name: str) -> None:
        shutil.rmtree(self._path(user, name), ignore_errors=True)

    def list_tables(self, user: str) -> list[ListedTable]:
        """The tables of a user, the last changed first; what cannot be read is left out."""
        found = [self._describe(user, name) for name in self._names(user)]
        return sorted((one for one in found if one is not None), key=lambda one: -one.changed)

    def _describe(self, user: str, name: str) -> ListedTable | None:
        path = self._path(user, name) / _RECORD
        try:
            record = load_sgf(path)[0]
            moves = sum(not {"B", "W"}.isdisjoint(node.properties) for node in record.main_line())
            result = str(record.result or "")
            return ListedTable(name, record.black, record.white, record.size, moves, result, path.stat().st_mtime)
        except (OSError, SgfError, IndexError):
            return None

    def pupil_folder(self, user: str) -> Path:
        """Where what a user teaches is kept; it need not be there."""
        return self._user_folder(user) / "pupil"

    def _names(self, user: str) -> list[str]:
        folder = self._user_folder(user)
        return [path.name for path in folder.iterdir() if _NAME.fullmatch(path.name)] if folder.is_dir() else []

    def _path(self, user: str, name: str) -> Path:
        if not _NAME.fullmatch(name):
            raise TableError(texts.NO_TABLE)
        return self._user_folder(user) / name

    def _user_folder(self, user: str) -> Path:
        if not _NAME.fullmatch(user):
            raise TableError(texts.NO_TABLE)
        return self._folder / "visitors" / user


def format_table(table: Table) -> SavedTable:
    """A table as what is kept of it."""
    return SavedTable(format_sgf(table.opened.record), json.dumps(table.state(), indent=1) + "\n")


# Records that users upload: read under the limits of the SGF layer, archives too, from a file that is gone after.

MAX_UPLOAD: Final = 16 << 20  # bytes
MOST_GAMES: Final = 100  # of a collection to choose from
_LIMITS: Final = Limits(size=MAX_UPLOAD, nodes=100_000, depth=20_000, entries=1_000)
_UPLOAD_NAME: Final = "record"  # whatever the user calls it


class Upload(NamedTuple):
    """The games of a file that can be opened here, and whether something of it was left out."""

    games: list[SgfGame]
    is_cut: bool


def read_upload(content: bytes, limits: Limits = _LIMITS) -> Upload:
    """Read what a user has sent; raises TableError with the reason if there is no game in it.

    Games are read one after the other until there are many, or many nodes in all: memory is bounded by that, and not
    by what a file of 16 MB can hold.
    """
    if len(content) > limits.size:
        raise TableError(texts.TOO_LARGE)
    with TemporaryDirectory(prefix="katachi-") as folder:
        path = Path(folder) / _UPLOAD_NAME
        path.write_bytes(content)
        games: list[SgfGame] = []
        nodes = 0
        reason: SgfError | None = None
        for number, found in enumerate(iter_sgf([path], limits)):
            if number >= MOST_GAMES or nodes > limits.nodes:
                return Upload(_check_any(games, reason, path), is_cut=True)
            try:
                games.append(_check_playable(found))
                nodes += sum(1 for _ in games[-1].root.walk())
            except SgfError as error:
                reason = reason or error
        return Upload(_check_any(games, reason, path), is_cut=bool(games) and reason is not None)


def _check_playable(found: FoundGame) -> SgfGame:
    """A game that can be replayed, with the repairs that this takes; raises SgfError if there is none."""
    if found.game is None:
        raise found.error or SgfError(texts.NO_GAME)
    found.game.replay()
    return found.game


def _check_any(games: list[SgfGame], reason: SgfError | None, path: Path) -> list[SgfGame]:
    """The games, if there are any; else raises TableError with the reason, in which names are ours or shown plainly."""
    if not games:
        said = str(reason or texts.NO_GAME).removeprefix(f"{path}: ").replace(str(path), _UPLOAD_NAME)
        raise TableError(texts.UNREADABLE.format(reason=show_plainly(said)))
    return games
