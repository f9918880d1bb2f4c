"""What a tournament leaves on disk, how it resumes after a kill at any moment, and its schedule.

```
RUN/config.toml     the settings, all defaults written out; is itself a tournament file
RUN/run.json        versions, commit, seed, status, digests of the files that the players were read from
RUN/games.jsonl     one line for every finished game, synced to the disk before the next game counts
RUN/games/*.sgf     the game records
RUN/results.json    the tables and ratings, once all games are played
RUN/report.html     the same as a page
```

A game exists when its line is complete; its SGF is written before. A line torn by a kill is dropped, and its game
played again with the same seeds. One process at a time holds a run.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any, Final, Self

import numpy as np
from pydantic import BaseModel, ConfigDict, ValidationError

from katachi.arena.match import Opening, Openings
from katachi.arena.settings import RunError, SettingsError, TournamentSettings, digest_bytes, read_settings
from katachi.core.cards import format_program, provenance
from katachi.core.disk import LOCK_NAME, DirectoryLock, append, temporary_path, write_atomically
from katachi.go.game import Play, Step
from katachi.go.points import PASS, GameResult, Symmetry
from katachi.players.specs import player_file

_CONFIG: Final = "config.toml"
_RUN: Final = "run.json"
_GAMES: Final = "games.jsonl"
SGF_FOLDER: Final = "games"
_RESULTS: Final = "results.json"
_PAGE: Final = "report.html"
FORMAT: Final = 1


class _Record(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class SideRecord(_Record):
    """A player in one game, and the seconds that it took."""

    name: str
    seed: int
    moves: int
    seconds: float
    longest: float
    overruns: int


class CheckRecord(_Record):
    """What a second referee said about the game, and an explanation if it disagreed."""

    referee: str
    result: str
    agrees: bool
    note: str = ""


class GameRecord(_Record):
    """One line of games.jsonl: who played, how it ended, and what is needed to count and to repeat it."""

    id: str
    pairing: int
    number: int
    black: SideRecord
    white: SideRecord
    opening: str
    moves: int
    result: str
    ending: str
    detail: str = ""
    fingerprint: str
    check: CheckRecord | None = None

    @property
    def winner(self) -> int:
        return GameResult.parse(self.result).winner

    def score_of(self, player: str) -> float:
        """1, ½ or 0 for a player of this game."""
        color = 1 if self.black.name == player else -1
        return (1 + color * self.winner) / 2


class RunDirectory:
    """A run on disk, opened to be played on; a context manager that lets it go."""

    def __init__(self, path: Path, settings: TournamentSettings) -> None:
        """Start a run, or resume it; raises RunError if that is impossible, saying why."""
        self.path = path
        self.records: dict[str, GameRecord] = {}
        _refuse_other_folder(path)
        try:
            (path / SGF_FOLDER).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise RunError(f"cannot write to {path}: {error.strerror}") from None
        self._lock = DirectoryLock(path)
        try:
            self._state = self._resume(settings) if (path / _CONFIG).exists() else self._begin(settings)
            self._games = (path / _GAMES).open("ab")
        except BaseException:
            self._lock.release()
            raise

    def _begin(self, settings: TournamentSettings) -> dict[str, Any]:
        # config.toml comes last: a run exists from there on, and a kill before leaves nothing that matters.
        state = {
            "format": FORMAT,
            "status": "running",
            "seed": settings.seed,
            "inputs": settings.resolved().input_digests(),
            "sessions": [provenance()],
        }
        write_atomically(self.path / _RUN, _json(state))
        write_atomically(self.path / _CONFIG, settings.resolved().to_toml())
        return state

    def _resume(self, settings: TournamentSettings) -> dict[str, Any]:
        try:
            there = read_settings(self.path / _CONFIG)
        except SettingsError as error:
            raise RunError(f"the run cannot be resumed: {error}") from None
        state, here = _read_json(self.path / _RUN), settings.resolved()
        there = there.where_they_are(here, state["inputs"])
        if differences := there.differences(settings):
            raise RunError(f"{self.path} was started with other settings: {'; '.join(differences)}")
        now = here.input_digests()
        changed = [file for file, digest in state["inputs"].items() if now.get(file, digest) != digest]
        # A former run has digests of bytes.
        if changed := [file for file in changed if digest_bytes(player_file(file)) != state["inputs"][file]]:
            raise RunError(f"{self.path} cannot be resumed: {' and '.join(changed)} changed since the run began")
        self.records = _read_games(self.path / _GAMES)
        session = provenance()
        if state["sessions"][-1] != session:
            state["sessions"].append(session)
            write_atomically(self.path / _RUN, _json(state))
        return state

    @property
    def programs(self) -> tuple[str, ...]:
        """The versions of katachi that played, one after another; more than one if it changed in between."""
        return tuple(dict.fromkeys(format_program(session) for session in self._state["sessions"]))

    def add(self, record: GameRecord, sgf: str) -> None:
        """Keep a finished game; when this returns it survives a power cut."""
        write_atomically(self.path / SGF_FOLDER / f"{record.id}.sgf", sgf)
        append(self._games, record.model_dump_json().encode() + b"\n")
        self.records[record.id] = record

    def finish(self, results: Mapping[str, Any], page: str) -> None:
        """Write the results and their page, and mark the run as finished."""
        write_atomically(self.path / _RESULTS, _json(results))
        write_atomically(self.path / _PAGE, page)
        self._state["status"] = "finished"
        write_atomically(self.path / _RUN, _json(self._state))

    def close(self) -> None:
        self._games.close()
        self._lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def games_kept(path: Path) -> int:
    """How many games a run keeps."""
    return (path / _GAMES).read_bytes().count(b"\n") if (path / _GAMES).exists() else 0


def find_directory(path: Path, settings: TournamentSettings) -> Path:
    """A folder with the digest of settings in its name, or the one that has their former digest."""
    former = path.with_name(path.name.replace(settings.digest()[:8], settings.former_digest()[:8]))
    return former if former.exists() and not path.exists() else path


def unfinished_directory(base: Path) -> Path:
    """``base``, or ``base-2``, ``base-3`` …: the first that is not a finished run."""
    number = 1
    path = base
    while (path / _RUN).exists() and _read_json(path / _RUN)["status"] == "finished":
        number += 1
        path = base.with_name(f"{base.name}-{number}")
    return path


def _refuse_other_folder(path: Path) -> None:
    """Never write among files that are not a run's; what a kill left of a run's first moments is one."""
    if not path.exists() or (path / _CONFIG).exists():
        return
    if not path.is_dir():
        raise RunError(f"{path} is not a folder")
    unfinished = {temporary_path(path / name).name for name in (_RUN, _CONFIG)}
    first_files = {SGF_FOLDER, _RUN, LOCK_NAME} | unfinished
    if other := sorted(file.name for file in path.iterdir() if file.name not in first_files):
        raise RunError(f"{path} holds no run, but other files such as {other[0]}: give a new folder")


def _read_games(path: Path) -> dict[str, GameRecord]:
    """All complete lines; a torn last line is cut off the file, damage elsewhere is an error."""
    data = path.read_bytes() if path.exists() else b""
    lines = data.split(b"\n")
    torn = lines.pop()
    records: dict[str, GameRecord] = {}
    for number, line in enumerate(lines, 1):
        try:
            record = GameRecord.model_validate_json(line)
        except ValidationError as error:
            raise RunError(f"{path} is damaged in line {number}: {error.errors()[0]['msg']}") from None
        if record.id in records:
            raise RunError(f"{path} is damaged: game {record.id} is there twice")
        records[record.id] = record
    if torn:
        with path.open("r+b") as file:
            file.truncate(len(data) - len(torn))
            os.fsync(file.fileno())
    return records


def _read_json(path: Path) -> dict[str, Any]:
    try:
        values: dict[str, Any] = json.loads(path.read_bytes())
        if values["format"] != FORMAT:
            raise RunError(f"{path} has format {values['format']}, and this version reads format {FORMAT}")
        return values
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise RunError(f"{path} is not a record of a run: {error}") from None


def _json(values: Mapping[str, Any]) -> str:
    return json.dumps(values, indent=2, ensure_ascii=False) + "\n"


# The games of a run as one SGF collection, in the order of their numbers.


def write_collection(run: Path, path: Path) -> int:
    """Write all games of a run to a file, whole or not at all; returns how many they are."""
    games = [file.read_text(encoding="utf-8").strip() for file in sorted((run / SGF_FOLDER).glob("*.sgf"))]
    if not games:
        raise RunError(f"{run} has no games")
    write_atomically(path, "\n".join(games) + "\n")
    return len(games)


# Games that are the same game: equal moves, up to turning and mirroring the board.
#
# Deterministic players repeat themselves, and a hundred copies of one game say as much as one. A game is a duplicate if
# the same two players, with the same colors, have played it before in the order of the schedule.


def fingerprint(steps: Sequence[Step], size: int) -> str:
    """A text that is equal for equal games, turned and mirrored ones included."""
    tables = (symmetry.points(size).tolist() for symmetry in Symmetry)
    forms = (";".join(_step_text(step, table) for step in steps) for table in tables)
    return hashlib.sha256(f"{size};{min(forms)}".encode()).hexdigest()[:32]


def _step_text(step: Step, table: Sequence[int]) -> str:
    if isinstance(step, Play):
        return f"{step.color} {step.move if step.move == PASS else table[step.move]}"
    stones = (sorted(table[point] for point in points) for points in (step.black, step.white, step.empty))
    return " ".join(map(str, [*stones, step.to_play]))


def find_duplicates(records: Iterable[GameRecord]) -> set[str]:
    """The ids of the games that repeat an earlier one."""
    seen: set[tuple[str, str, str]] = set()
    duplicates: set[str] = set()
    for record in sorted(records, key=lambda record: (record.pairing, record.number)):
        key = (record.black.name, record.white.name, record.fingerprint)
        if key in seen:
            duplicates.add(record.id)
        seen.add(key)
    return duplicates


# Who plays whom, with which color, opening and seeds: all of it decided before the first game.
#
# A game's seeds come from the tournament's seed, its pairing and its number, so that they are the same in whatever
# order and in however many processes the games are played, and after every interruption.

_STREAM = 0  # keeps the random numbers of the players apart from those of the openings


@dataclass(frozen=True, slots=True)
class Pairing:
    """Two players who meet in a number of games; the first has Black in the games with even numbers."""

    number: int
    first: str
    second: str


@dataclass(frozen=True, slots=True)
class Seeds:
    """The random seeds of one game, 31 bits each, which every GTP program takes."""

    black: int
    white: int


@dataclass(frozen=True, slots=True)
class ScheduledGame:
    """One game to be played."""

    pairing: Pairing
    number: int  # within the pairing, from 0
    opening: Opening
    seeds: Seeds

    @property
    def id(self) -> str:
        return game_id(self.pairing, self.number)

    @property
    def black(self) -> str:
        return self.pairing.second if self.number % 2 else self.pairing.first

    @property
    def white(self) -> str:
        return self.pairing.first if self.number % 2 else self.pairing.second


def game_id(pairing: Pairing, number: int) -> str:
    """The name of a game in its run, both numbers counted from 1: ``02-0017``."""
    return f"{pairing.number + 1:02d}-{number + 1:04d}"


def pairings(settings: TournamentSettings) -> list[Pairing]:
    """All pairs for a round robin, those of the first player for a gauntlet, those of near players for a ladder."""
    names = list(settings.players)
    pairs = list(combinations(names, 2))
    if settings.scheme == "gauntlet":
        pairs = [(names[0], other) for other in names[1:]]
    elif settings.scheme == "ladder":  # where players stand in the order of their strength, far ones say little
        pairs = [(name, other) for number, name in enumerate(names) for other in names[number + 1 : number + 3]]
    return [Pairing(number, first, second) for number, (first, second) in enumerate(pairs)]


def schedule(
    settings: TournamentSettings, openings: Openings, played: Container[str] = frozenset()
) -> Iterator[ScheduledGame]:
    """The games that are still to be played, all pairings side by side."""
    for number in range(settings.games):
        opening = None
        for pairing in pairings(settings):
            if game_id(pairing, number) not in played:
                opening = opening or openings.opening(number // 2 if settings.openings.paired else number)
                sequence = np.random.SeedSequence(settings.seed, spawn_key=(_STREAM, pairing.number, number))
                seeds = Seeds(*(int(word) >> 1 for word in sequence.generate_state(2, np.uint32)))
                yield ScheduledGame(pairing, number, opening, seeds)
