"""Analyses of whole games: of one, or of many files, in processes side by side and through any interruption.

A batch is a few turns of one game. Batches do not depend on each other, so any process may analyse them; the main
process alone compares the turns and writes, in the order of the games.

>>> from katachi.players.specs import load_player
>>> from katachi.sgf import parse_sgf
>>> record = parse_sgf("(;SZ[5];B[cc];W[aa];B[bb])")[0]
>>> analysis = analyze_game(record, Judges(load_player("level-3", seed=1)))
>>> [position.move.move for position in analysis.positions[1:]]
['C3', 'A5', 'B4']
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from importlib.metadata import version
from itertools import accumulate, islice
from pathlib import Path
from threading import Event
from typing import Any, Final, NamedTuple, Self

from pydantic import Field

from katachi.analysis.explaining import evaluate_turn, glance_turn, link_turns
from katachi.analysis.judges import Judges, Turn, count_turns, turns_of
from katachi.analysis.records import (
    LEAST_MISTAKE,
    GameRecord,
    Line,
    MoveRecord,
    PositionRecord,
    find_mistakes,
    format_line,
    parse_line,
)
from katachi.analysis.report import STYLE, annotate, content_of, draw_game, format_report, keep_original, strip
from katachi.analysis.words import say
from katachi.core.cards import Strict, provenance
from katachi.core.contracts import ClosingPlayer, Evaluator, Limit, Player, TunablePlayer
from katachi.core.disk import DirectoryLock, append, temporary_path, write_atomically
from katachi.core.evaluators import WrongBoardSize
from katachi.core.execution import hand_out
from katachi.core.models import PRETRAINED, load_model, pretrained_models
from katachi.core.registry import require
from katachi.go.board import Board
from katachi.go.game import Game
from katachi.players.specs import files_of_player, find_model_of, load_player
from katachi.sgf import SgfError, SgfGame, format_sgf, game_to_tree, iter_sgf, parse_sgf, save_sgf

# Games


@dataclass(frozen=True, slots=True)
class GameAnalysis:
    """A record, and the records of its positions."""

    record: SgfGame
    game: GameRecord
    positions: tuple[PositionRecord, ...]

    def mistakes(self, least: float = LEAST_MISTAKE) -> list[MoveRecord]:
        """The moves that lost at least so much of the chance to win, the biggest first."""
        return find_mistakes(self.positions, least)

    def annotated(self) -> SgfGame:
        """The record with the analysis written into it."""
        return annotate(self.record, self.game, self.positions)

    def to_sgf(self) -> str:
        """The same as text."""
        return format_sgf(self.annotated())

    def to_json_lines(self) -> str:
        """The game and its positions, a line each."""
        return "".join([format_line(self.game), *map(format_line, self.positions)])

    def to_html(self) -> str:
        """The game as a section of a page."""
        return draw_game(self.record, self.game, self.positions)

    def _repr_html_(self) -> str:
        return f"<style>{STYLE}</style>{self.to_html()}"


def analyze_game(game: Game | SgfGame, judges: Judges) -> GameAnalysis:
    """Analyse every position of a game; of a record it is the main line.

    Raises SgfError if a record cannot be played, and WrongBoardSize if an evaluator is for boards of another size.
    """
    record = strip(game) if isinstance(game, SgfGame) else SgfGame(game_to_tree(game))
    positions = accumulate((evaluate_turn(judges, turn) for turn in turns_of(record)), link_turns)
    return GameAnalysis(record, describe_game(record, judges), tuple(positions))


# A review: a first look at the whole game, then a search of every position, long where it matters.
#
# A network values all positions of a game within seconds. Most moves of strong players are those that it expects, which
# are never called mistakes (``records.MoveRecord.can_be_mistake``): before and after all others a position is searched
# in full, first where the network's value falls most; elsewhere by a fraction of that. How long depends on the first
# look alone: neither the order nor an interruption changes a result, and no mistake is missed.

SHALLOW: Final = 8  # in how many parts a full search is divided where nothing happens
_OVERHEAD: Final = 20  # simulations that would take as long as explaining a position


@dataclass(frozen=True, slots=True)
class ReviewStep:
    """What is new of a review: records that take the place of those of the same turn, and how far it is."""

    changed: tuple[PositionRecord, ...]  # linked; all of them at first
    done: int  # positions searched
    total: int
    seconds_left: float | None = None  # None until one is searched


def review_game(
    record: SgfGame,
    settings: JudgeSettings,
    known: Iterable[PositionRecord] = (),
    stop: Event | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[ReviewStep]:
    """Review the main line of a record: every position has a value at once, then they are searched, suspicious first.

    The first step has all positions, if a network can value them, and those that are ``known``: their searches are not
    repeated, so a review resumes. Each of the others has the one that was searched and the one after it. Ends early if
    ``stop`` is set. The result is that of ``analyze_files``. Raises SgfError if a record cannot be played, SpecError or
    ModelError if a player or a model cannot be loaded.
    """
    record = strip(record)
    digest, turns = digest_game(record), _copy_turns(record)
    first, depths = _look_at(turns, settings, digest)
    positions: list[PositionRecord | None] = list(first) or [None] * len(turns)
    searched = {each.turn: each for each in known if not each.is_first_look and each.turn < len(turns)}
    for turn, position in searched.items():
        positions[turn] = position
    linked = [_link(positions, turn) for turn in range(len(turns))]
    yield ReviewStep(tuple(each for each in linked if each), len(searched), len(turns))
    order = sorted(range(len(turns)), key=lambda turn: (depths[turn] is not None, -_fall(first, turn), turn))
    waiting = [turn for turn in order if turn not in searched]
    full = SHALLOW * max((depth for depth in depths if depth), default=1)
    costs = [(depth or full) + _OVERHEAD for depth in depths]
    start, paid, all_costs = clock(), 0, sum(costs[turn] for turn in waiting)
    for done, turn in enumerate(waiting, len(searched) + 1):
        if stop is not None and stop.is_set():
            return
        positions[turn] = _search_turn(turns[turn], settings, digest, depths[turn])
        changed = [_link(positions, each) for each in (turn, turn + 1) if each < len(turns) and positions[each]]
        paid += costs[turn]
        left = (clock() - start) / paid * (all_costs - paid)
        yield ReviewStep(tuple(each for each in changed if each), done, len(turns), left)


def _copy_turns(record: SgfGame) -> list[Turn]:
    return [turn._replace(game=turn.game.copy()) for turn in turns_of(record)]


def _look_at(
    turns: Sequence[Turn], settings: JudgeSettings, digest: str, name: str = ""
) -> tuple[tuple[PositionRecord, ...], tuple[int | None, ...]]:
    """A first look at a game, nothing if no network can, and how long each of its positions is to be searched."""
    with settings.judges(turns[0].game.size, digest, 0) as judges:
        first = () if settings.evenly else tuple(look_first(turns, judges, name))
        return first, tuple(choose_depths(first, judges.limit_in_force, len(turns)))


def _search_turn(turn: Turn, settings: JudgeSettings, digest: str, depth: int | None, name: str = "") -> PositionRecord:
    """A position as it is searched, by so many simulations or in full; its randomness is its own."""
    with settings.judges(turn.game.size, digest, turn.turn, depth) as judges:
        return evaluate_turn(judges, turn, name, in_full=depth is None)


def _link(positions: list[PositionRecord | None], turn: int) -> PositionRecord | None:
    """Compare a position with the one before, if both are there."""
    before, position = positions[turn - 1] if turn else None, positions[turn]
    if before is not None and position is not None:
        positions[turn] = link_turns(before, position)
    return positions[turn]


def look_first(turns: Sequence[Turn], judges: Judges, game_name: str = "") -> Iterator[PositionRecord]:
    """All positions as a network values them without search, linked; nothing if no network can."""
    found = judges.glance([turn.game for turn in turns]) or []
    records = (glance_turn(turn, analysis, game_name) for turn, analysis in zip(turns, found, strict=bool(found)))
    return accumulate(records, link_turns)


def choose_depths(first: Sequence[PositionRecord], limit: Limit, turns: int) -> list[int | None]:
    """How many simulations each position is worth, None if a full search; that is all if no number limits a search."""
    if not first or limit.simulations is None or limit.seconds is not None:
        return [None] * turns
    may = [each.move is not None and each.move.can_be_mistake for each in first]
    matters = [here or after for here, after in zip(may, [*may[1:], False], strict=True)]
    return [None if each else max(1, limit.simulations // SHALLOW) for each in matters]


def _fall(first: Sequence[PositionRecord], turn: int) -> float:
    """How far the network's value falls by the moves before and after a position."""
    moves = [each.move for each in first[turn : turn + 2] if each.move is not None]
    return max((move.loss or 0.0 for move in moves), default=0.0)


def describe_game(record: SgfGame, judges: Judges, name: str = "", source: str = "", seed: int = 0) -> GameRecord:
    """The line about a game and who analyses it."""
    limit = judges.limit_in_force
    return GameRecord(
        game=name,
        source=source,
        sha256=digest_game(record),
        size=record.size,
        komi=record.rules.komi,
        handicap=record.handicap,
        rules=record.rules.name,
        black=record.black,
        white=record.white,
        black_rank=record.black_rank,
        white_rank=record.white_rank,
        result=None if record.result is None else str(record.result),
        positions=count_turns(record),
        player=None if judges.player is None else judges.player.name,
        evaluators=tuple(judges.all_evaluators),
        simulations=limit.simulations,
        seconds=limit.seconds,
        seed=seed,
        program=f"katachi {version('katachi')}",
    )


def digest_game(record: SgfGame) -> str:
    """A text that changes with anything in a record but how it was written."""
    root = content_of(record)
    root.properties["CA"] = ["UTF-8"]
    return sha256(format_sgf(SgfGame(root)).encode(errors="surrogatepass")).hexdigest()


# Who analyses, by name: a player and models, for how long, and from which seed.
#
# The randomness at a position depends on the game and the turn alone, and a search runs on one thread. So neither the
# process, nor the order, nor an interruption changes a result; only limits of time do.

DEFAULT_PLAYER: Final = "level-10 limit.simulations=200"  # as the level plays, but it sees more
_THREADS: Final = "search.threads"


class JudgeSettings(Strict):
    """Names as ``load_player`` and ``find_model_of`` take them; without any, those for the size of a board."""

    player: str | None = None
    models: tuple[str, ...] = ()
    simulations: int | None = Field(default=None, ge=1)
    seconds: float | None = Field(default=None, gt=0)
    seed: int = 0
    evenly: bool = False  # whether all positions are searched as long

    @property
    def player_name(self) -> str | None:
        """The player that looks ahead, if one does."""
        return DEFAULT_PLAYER if self.player is None and not self.models else self.player

    @property
    def files(self) -> list[Path]:
        """What the player and the models are read from and is not bundled."""
        models = [path for name in self.models if (path := find_model_of(name)).parent != PRETRAINED]
        return [*models, *(files_of_player(self.player) if self.player else ())]

    @contextmanager
    def judges(self, size: int, game: str, turn: int, simulations: int | None = None) -> Iterator[Judges]:
        """Who analyses one position, to be let go afterwards; ``game`` is the digest of its record.

        Without ``simulations`` the position is searched in full.
        Raises SpecError or ModelError if one of them cannot be loaded.
        """
        name = self.player_name
        player = None if name is None else self._load_player(name, size, game, turn)
        is_default = self.player is None and not self.models
        names = default_models(size) if is_default else self.models
        loaded = {Path(name).name: _load_fitting(find_model_of(name), size) for name in names}
        models = {name: model for name, model in loaded.items() if model is not None}
        try:
            yield Judges(player, Limit(simulations=simulations or self.simulations, seconds=self.seconds), models)
        finally:
            if isinstance(player, ClosingPlayer):
                player.close()

    def _load_player(self, name: str, size: int, game: str, turn: int) -> Player:
        digest = sha256(f"{self.seed} {game} {turn}".encode()).digest()
        player = load_player(name, int.from_bytes(digest[:8], "big"), size)
        if isinstance(player, TunablePlayer) and _THREADS in player.parameters:
            player.set_parameter(_THREADS, "1")
        return player


def default_models(size: int) -> tuple[str, ...]:
    """The pretrained model of local shapes for boards of a size, if there is one."""
    name = f"shapes-{size}"
    return (name,) if any(path.name == name for path in pretrained_models()) else ()


@lru_cache(maxsize=8)
def _load_fitting(path: Path, size: int) -> Evaluator | None:
    """A model, None if it is for boards of another size."""
    model = load_model(path)
    try:
        model.evaluate([Board(size)])
    except WrongBoardSize:
        return None
    return model


# What an analysis of many games writes to disk, and how it continues after a kill at any moment.
#
# ```
# OUT/run.json           who analyses, and the version of the program
# OUT/analysis.jsonl     every game and its positions, a line each, in the order of the games (``analysis/records.py``)
# OUT/NAME.sgf           the games with their analyses written in
# OUT/report.html        all games as one page
# OUT/analysis.parquet   the positions as a table, if it was asked for
# ```
#
# The lines are the truth, and everything else is made from them. They are synced to the disk as they come; a line torn
# by a kill is dropped, and its position analysed again, to the same result. One process at a time holds a folder.

RUN: Final = "run.json"
LINES: Final = "analysis.jsonl"


class AnalysisError(ValueError):
    """An analysis that cannot start or continue, and why."""


class Journal:
    """The lines of an analysis, read and written in order; a context manager that lets the folder go."""

    def __init__(self, folder: Path, settings: JudgeSettings, *, resume: bool) -> None:
        """Start, or continue with ``resume``; raises AnalysisError if the folder holds something else."""
        self.folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._lock = DirectoryLock(folder)
        except OSError as error:
            raise AnalysisError(f"cannot write to {folder}: {error.strerror}") from None
        try:
            self._begin(settings, resume)
            self.kept = _drop_torn_line(folder / LINES)
            self._reader = (folder / LINES).open("rb")
            self._writer = (folder / LINES).open("ab")
        except BaseException:
            self._lock.release()
            raise

    def _begin(self, settings: JudgeSettings, resume: bool) -> None:
        if (self.folder / RUN).exists():
            if not resume:
                raise AnalysisError(f"{self.folder} holds an analysis: --resume continues it, or give another --out")
            self._refuse_other_settings(settings)
            return
        if (self.folder / LINES).exists():
            raise AnalysisError(f"{self.folder / LINES} is not of an analysis that can continue: give another --out")
        state = {"settings": settings.model_dump(mode="json"), "program": provenance()}
        write_atomically(self.folder / RUN, json.dumps(state, indent=2) + "\n")

    def _refuse_other_settings(self, settings: JudgeSettings) -> None:
        try:
            there = json.loads((self.folder / RUN).read_bytes())["settings"]
        except (ValueError, KeyError, TypeError) as error:
            raise AnalysisError(f"{self.folder / RUN} is damaged: give another --out ({error})") from None
        here = settings.model_dump(mode="json")
        changed = [key for key in {**there, **here} if there.get(key) != here.get(key)]
        if changed:
            others = ", another ".join(changed)
            raise AnalysisError(f"{self.folder} was started with another {others}: give that, or another --out")

    def read(self, game: GameRecord) -> list[PositionRecord]:
        """The positions of the next game that are there already; raises AnalysisError if another game is.

        If nothing is there, the game's own line is written.
        """
        if not self.kept:
            self.write([game])
            return []
        count = self.kept.pop(0)
        first, *positions = (_parse(line, self.folder) for line in islice(self._reader, count))
        if first != game:
            raise AnalysisError(f"{self.folder} holds an analysis of other games, or by others: give another --out")
        return [position for position in positions if isinstance(position, PositionRecord)]

    def write(self, records: Sequence[Line]) -> None:
        """Add lines; when this returns they survive a power cut."""
        append(self._writer, "".join(map(format_line, records)).encode())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._reader.close()
        self._writer.close()
        self._lock.release()


def read_lines(path: Path) -> Iterator[Line]:
    """The lines of an analysis; raises AnalysisError if one of them is none."""
    with path.open("rb") as file:
        yield from (_parse(line, path) for line in file)


def _parse(line: bytes, where: Path) -> Line:
    try:
        return parse_line(line)
    except ValueError:
        raise AnalysisError(f"{where}: a line of the analysis is damaged: give another --out") from None


def _drop_torn_line(path: Path) -> list[int]:
    """How many lines each game has, its own included; what follows the last line break is cut off."""
    counts: list[int] = []
    length = 0
    with path.open("a+b") as file:
        file.seek(0)
        for line in file:
            if not line.endswith(b"\n"):
                break
            length += len(line)
            if line.startswith(b'{"kind":"game"') or not counts:
                counts.append(0)
            counts[-1] += 1
        file.truncate(length)
    return counts


# Batches

TURNS: Final = 8  # in a batch: a kill loses no more of them for each process

Watcher = Callable[[int], None]  # is called with how many more turns are done
Shower = Callable[[GameAnalysis], None]  # is called with a first look at a game, soon


class NamedRecord(NamedTuple):
    """A game of a file without an analysis that it may carry, or what is wrong with the file."""

    name: str
    source: str
    record: SgfGame
    problem: str = ""


class FoundGame(NamedTuple):
    """A game and its record, or why it cannot be analysed."""

    record: SgfGame
    game: GameRecord | None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Batch:
    """The turns of a game from ``first`` up to ``stop`` that are to be analysed; there may be none."""

    game: GameRecord
    sgf: str
    first: int
    stop: int
    depths: tuple[int | None, ...]  # simulations of each turn of the game
    begins: bool  # the game
    ends: bool


# Finding


def find_records(paths: Iterable[Path]) -> Iterator[NamedRecord]:
    """The games of files and folders in their order, each under a name of its own, that of its file if it can be."""
    taken: Counter[str] = Counter()
    for source, found, error, data in iter_sgf(paths):
        if found is None:
            yield NamedRecord("", source, SgfGame(), str(error))
        else:
            record = strip(found)
            keep_original(record, data if record.root.is_same_tree(found.root) else b"")
            record.root.properties["CA"] = ["UTF-8"]  # as it will be written: analysing that again is the same
            yield NamedRecord(_new_name(source, taken), source, record)


def find_games(paths: Iterable[Path], settings: JudgeSettings) -> Iterator[FoundGame]:
    """The same with their records; raises SpecError or ModelError if a player or a model cannot be loaded."""
    for name, source, record, problem in find_records(paths):
        if problem:
            yield FoundGame(record, None, problem)
            continue
        try:
            with settings.judges(record.size, digest_game(record), 0) as judges:
                judges.check(record.size)
                game = describe_game(record, judges, name, source, settings.seed)
            yield FoundGame(record, game.model_copy(update={"player": settings.player_name}))
        except (SgfError, WrongBoardSize) as error:
            yield FoundGame(record, None, f"{source}: {error}")


def _new_name(source: str, taken: Counter[str]) -> str:
    """The name of a file without its endings; a number follows where that is taken."""
    stem = Path(source).name.rpartition(":")[2]
    for ending in (".gz", ".sgf", ".mgt"):
        stem = stem.removesuffix(ending)
    name = stem
    while name in taken:
        taken[stem] += 1
        name = f"{stem}-{taken[stem]}"
    taken[name] += 1
    return name


# Analysing


def analyze_files(
    paths: Iterable[Path],
    settings: JudgeSettings,
    journal: Journal,
    *,
    jobs: int = 1,
    watch: Watcher | None = None,
    show: Shower | None = None,
) -> Iterator[GameAnalysis]:
    """Analyse all games that can be, or what is left of them; every game is yielded when it is complete.

    ``watch`` gets the turns as they are done, those of an earlier run too, and ``show`` a first look at each game.
    Raises AnalysisError if the journal is of other games.
    """
    positions: list[PositionRecord] = []
    plan = _plan(find_games(paths, settings), list(journal.kept), settings, show)
    calls = ((batch, settings) for batch in plan)
    for batch, found in hand_out(evaluate_batch, calls, jobs, in_order=True, reads=settings.files):
        if batch.begins:
            positions = journal.read(batch.game)
        done = len(positions) if batch.begins else 0
        for position in found:
            positions.append(link_turns(positions[-1], position) if positions else position)
        if found:
            journal.write(positions[-len(found) :])
        if watch is not None:
            watch(done + len(found))
        if batch.ends:
            yield GameAnalysis(parse_sgf(batch.sgf)[0], batch.game, tuple(positions))


def _plan(games: Iterable[FoundGame], kept: list[int], settings: JudgeSettings, show: Shower | None) -> Iterator[Batch]:
    """Batches for what is not kept; a game of which all is kept has an empty one. ``kept`` counts games' own lines."""
    for record, game, _ in games:
        if game is None:
            continue
        first = kept.pop(0) - 1 if kept else 0
        sgf = format_sgf(record)
        starts = list(range(first, game.positions, TURNS)) or [first]
        depths: tuple[int | None, ...] = ()
        if first < game.positions:
            looked, depths = _look_at(_copy_turns(record), settings, game.sha256, game.game)
            if looked and show is not None:
                show(GameAnalysis(record, game, looked))
        for start in starts:
            stop = min(start + TURNS, game.positions)
            yield Batch(game, sgf, start, stop, depths, start == first, start == starts[-1])


def evaluate_batch(batch: Batch, settings: JudgeSettings) -> tuple[Batch, list[PositionRecord]]:
    """The batch, and the records of its turns."""
    digest, name = batch.game.sha256, batch.game.game
    turns = islice(turns_of(parse_sgf(batch.sgf)[0]), batch.first, batch.stop)
    return batch, [_search_turn(turn, settings, digest, batch.depths[turn.turn], name) for turn in turns]


# The positions of an analysis as a table in Parquet, a row each; pyarrow is an extra.
#
# Columns are those of the lines (``analysis/records.py``) that are numbers or texts; ``ownership`` is a list, and what
# is listed there in full is here as the best move and as sums.

_ROWS: Final = 1000  # in memory at a time
COLUMNS: Final = {
    "game": "text",
    "source": "text",
    "size": "whole",
    "turn": "whole",
    "to_play": "text",
    "black_wins": "real",
    "black_lead": "real",
    "best": "text",
    "ownership": "reals",
    "number": "whole",
    "color": "text",
    "move": "text",
    "loss": "real",
    "points_lost": "real",
    "order": "whole",
    "black_gain": "real",
    "logit_change": "real",
}


def write_parquet(path: Path, lines: Iterable[Line]) -> None:
    """Write a table of positions, whole or not at all; raises MissingExtra if pyarrow is not installed."""
    require("pyarrow")
    import pyarrow
    from pyarrow import parquet

    types = {"text": pyarrow.string(), "whole": pyarrow.int32(), "real": pyarrow.float64()}
    types["reals"] = pyarrow.list_(pyarrow.float32())
    schema = pyarrow.schema([(name, types[kind]) for name, kind in COLUMNS.items()])
    temporary = temporary_path(path)
    with parquet.ParquetWriter(temporary, schema) as writer:
        rows = _rows(lines)
        while chunk := list(islice(rows, _ROWS)):
            writer.write_table(pyarrow.Table.from_pylist(chunk, schema))
    temporary.replace(path)


def _rows(lines: Iterable[Line]) -> Iterator[dict[str, Any]]:
    game: GameRecord | None = None
    for line in lines:
        if isinstance(line, GameRecord):
            game = line
        elif game is not None:
            yield _row(game, line)


def _row(game: GameRecord, position: PositionRecord) -> dict[str, Any]:
    row: dict[str, Any] = {"game": game.game, "source": game.source, "size": game.size}
    row |= {name: getattr(position, name) for name in ("turn", "to_play", "black_wins", "black_lead", "ownership")}
    row["best"] = position.candidates[0].move if position.candidates else None
    move = position.move
    if move is not None:
        row |= {name: getattr(move, name) for name in ("number", "color", "move", "loss", "points_lost", "order")}
        row["black_gain"] = None if move.territory is None else move.territory.black_gain
        row["logit_change"] = move.shapes[0].logit_after - move.shapes[0].logit_before if move.shapes else None
    return row


# Everything that an analysis of many files writes, from the lines of its journal

REPORT: Final = "report.html"
TABLE: Final = "analysis.parquet"


@dataclass(frozen=True, slots=True)
class Outputs:
    """A folder, and what is wanted in it beside the lines and the records."""

    folder: Path
    html: bool = True
    parquet: bool = False

    def write(
        self,
        files: Sequence[Path],
        settings: JudgeSettings,
        *,
        resume: bool = False,
        jobs: int = 1,
        watch: Watcher | None = None,
    ) -> int:
        """Analyse the games of files, write it all, and return how many games there are.

        Raises AnalysisError if there is none, or the folder holds another analysis, or one that is not to be resumed.
        """
        if self.parquet:
            require("pyarrow")
        if not any(found.game for found in find_games(files, settings)):  # before there is a folder that is in the way
            raise AnalysisError("there is no game that can be analysed")
        sections: list[str] = []
        count = 0
        with Journal(self.folder, settings, resume=resume) as journal:
            found = analyze_files(files, settings, journal, jobs=jobs, watch=watch, show=self._show)
            for analysis in found:
                save_sgf(self.folder / f"{analysis.game.game}.sgf", analysis.annotated())
                sections += [analysis.to_html()] if self.html else []
                count += 1
            if self.html:
                write_atomically(self.folder / REPORT, format_report(say("page.title"), sections))
            if self.parquet:
                write_parquet(self.folder / TABLE, read_lines(self.folder / LINES))
        return count

    def _show(self, first: GameAnalysis) -> None:
        """Write a first look at a game, until it is searched; the page as long as no game is complete."""
        save_sgf(self.folder / f"{first.game.game}.sgf", first.annotated())
        if self.html and not (self.folder / REPORT).exists():
            write_atomically(self.folder / REPORT, format_report(say("page.title"), [first.to_html()]))
