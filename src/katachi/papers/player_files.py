"""Players that an experiment makes up, as the TOML files that a tournament reads; and ratings in those that ship."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from katachi.core.disk import write_atomically
from katachi.papers.experiment import Json
from katachi.players.specs import RatingTable, read_spec

_RATING: Final = re.compile(r"^\[rating\]\n(?:[^\[].*\n?)*", re.MULTILINE)


def write_players(players: Mapping[str, Json], folder: Path) -> dict[str, str]:
    """Write the spec of each player to a file of its name; returns the files by name.

    A run that was begun with other specs notices that its files have changed, and refuses to go on.
    """
    folder.mkdir(parents=True, exist_ok=True)
    files = {}
    for name, values in players.items():
        path = folder / f"{name.replace(' ', '-')}.toml"
        write_atomically(path, format_toml(values))
        files[name] = str(path)
    return files


def read_player(name: str) -> Json:
    """The values of a player that ships."""
    return tomllib.loads(read_spec(name)[0])


def write_rating(path: Path, rating: RatingTable) -> None:
    """Put a rating into a player's file, in the place of an earlier one; the rest stays as it is."""
    kept = _RATING.sub("", path.read_text(encoding="utf-8")).rstrip("\n")
    write_atomically(path, f"{kept}\n{format_toml({'rating': rating.model_dump()})}")


def format_toml(values: Json) -> str:
    """Plain values and tables of them as TOML.

    >>> print(format_toml({"kind": "search", "search": {"rave": 0.0, "playouts": {"nakade": False}}}), end="")
    kind = "search"
    [search]
    rave = 0.0
    [search.playouts]
    nakade = false
    """
    return "".join(f"{line}\n" for line in _lines(values, ""))


def _lines(values: Json, table: str) -> Iterator[str]:
    for key, value in values.items():
        if not isinstance(value, dict):
            yield f"{key} = {json.dumps(value, ensure_ascii=False)}"
    for key, value in values.items():
        if isinstance(value, dict):
            name = f"{table}.{key}" if table else key
            yield f"[{name}]"
            yield from _lines(value, name)
