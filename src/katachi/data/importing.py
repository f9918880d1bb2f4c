"""Importing game records into a dataset, by processes side by side, through any interruption.

Each process makes *parts* of the dataset, the games of a few pieces of files, which are kept until the whole is put
together.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

import numpy as np
from numpy.lib import format as npy
from numpy.typing import DTypeLike, NDArray
from pydantic import Field, ValidationError

from katachi.core.cards import Strict
from katachi.core.disk import (
    LOCK_NAME,
    DirectoryLock,
    naming,
    sync_folder,
    temporary_path,
    write_atomically,
)
from katachi.core.execution import hand_out
from katachi.data.dataset import (
    BONUSES,
    CARD,
    ENDING,
    ENDINGS,
    GAME,
    GAMES,
    MARKS,
    MAX_SOURCES,
    MOVES,
    RESULTS,
    SCORINGS,
    SPLITS,
    STONES,
    TAXES,
    Dataset,
    DatasetCard,
    DatasetError,
    Source,
    checksum,
    encode_moves,
    game_key,
)
from katachi.go.board import Board
from katachi.go.kernels import board as kernels
from katachi.go.points import BLACK, PASS, WHITE, Reason
from katachi.go.rules import Rules
from katachi.sgf.files import Piece, batch_pieces, find_files, iter_pieces, parse_piece, split_of
from katachi.sgf.parsing import cut_games
from katachi.sgf.record import MOST_STEPS, SgfGame, grade_of, read_rules
from katachi.sgf.repairs import DEFAULT_LIMITS, RepairLog, SgfError
from katachi.sgf.tree import Node, read_move, read_points

# How a record says that its game was counted: what the margin was, by which rules, and whose territory is where.


class RecordedEnding(NamedTuple):
    """What a record tells of the end of its game."""

    margin: float | None  # None if the board did not decide
    rules: Rules | None  # None if it names none that we know
    points: NDArray[np.int64]  # marked as territory in the last node
    owners: NDArray[np.int8]  # of these points


def read_ending(record: SgfGame, size: int) -> RecordedEnding:
    """Read the result, the rules, and TB and TW of the last node; a point that both have is nobody's."""
    result = record.result
    margin = result.margin if result is not None and result.reason is Reason.SCORE else None
    *_, last = record.main_line()
    black, white = (set(read_points(last.properties.get(name, ()), size)) for name in ("TB", "TW"))
    points = np.array(sorted(black ^ white), dtype=np.int64)
    owners = np.array([BLACK if point in black else WHITE for point in points.tolist()], dtype=np.int8)
    return RecordedEnding(margin, _named_rules(record.root), points, owners)


def _named_rules(root: Node) -> Rules | None:
    if not root.simple_text("RU"):
        return None
    log = RepairLog()
    rules = read_rules(root, log)
    return None if log.repairs else rules


# The moves of a record as arrays, from the board before the first of them up to what cannot be played.

_COLORS: Final = {"B": BLACK, "W": WHITE}
_STONES: Final = frozenset(("AB", "AW", "AE"))


class Cut(StrEnum):
    """Why a record is not taken to its end."""

    SETUP = "stones set up after the first move"
    UNREADABLE = "a move that is no point"
    ILLEGAL = "an illegal move"


class RecordedMoves(NamedTuple):
    """The board before the first move, and the legal moves from there on (simple ko, no suicide)."""

    start: Board
    moves: NDArray[np.int64]
    colors: NDArray[np.int8]
    cut: Cut | None


def read_moves(record: SgfGame) -> RecordedMoves:
    """The moves of the main line up to what cannot be played; raises SgfError if the game is none for katachi."""
    start = record.replay(before_move=1).board
    moves, colors, cut = _list_moves(record, start.size)
    if len(moves) > MOST_STEPS:
        raise SgfError(f"more than {MOST_STEPS} moves")
    line = np.array(moves, dtype=np.int64)
    line_colors = np.array(colors, dtype=np.int8)
    played = kernels.play_moves(start.record.copy(), line, line_colors, False)
    if played < line.size:
        cut = Cut.ILLEGAL
    return RecordedMoves(start, line[:played], line_colors[:played], cut)


def _list_moves(record: SgfGame, size: int) -> tuple[list[int], list[int], Cut | None]:
    """The moves and colors of the main line, legal or not, up to a later set-up or a move that cannot be read."""
    moves: list[int] = []
    colors: list[int] = []
    for node in record.main_line():
        if moves and not _STONES.isdisjoint(node.properties):
            return moves, colors, Cut.SETUP
        for name, values in node.properties.items():
            if name in _COLORS:
                for value in values:
                    move = read_move(value, size)
                    if move is None:
                        return moves, colors, Cut.UNREADABLE
                    moves.append(move)
                    colors.append(_COLORS[name])
    return moves, colors, None


# Parts of a dataset in the making.

MOST_EXAMPLES: Final = 20


class Faults(NamedTuple):
    """What was wrong with games: those that were left out and those that were cut short, by reason."""

    skipped: Counter[str]
    cut: Counter[str]
    examples: list[str]

    def skip(self, reason: str, example: str) -> None:
        """Count a game that is left out."""
        self.skipped[reason] += 1
        if len(self.examples) < MOST_EXAMPLES:
            self.examples.append(example)

    def merge(self, other: Faults) -> None:
        """Add the counts of others to these."""
        self.skipped.update(other.skipped)
        self.cut.update(other.cut)
        self.examples.extend(other.examples[: MOST_EXAMPLES - len(self.examples)])


class PartGames(NamedTuple):
    """The games of a part, their places counted within it, and what tells whether two are the same."""

    games: NDArray[Any]  # of GAME
    keys: NDArray[np.uint64]  # equal for equal set-ups and moves
    lengths: NDArray[np.uint32]  # of the records, in bytes
    endings: NDArray[Any]  # of ENDING


class Part(NamedTuple):
    """All that comes from a few pieces of files."""

    games: PartGames
    moves: NDArray[np.uint16]
    stones: NDArray[np.uint16]
    marks: NDArray[np.uint16]
    faults: Faults


class _Entry(NamedTuple):
    """One game on its way into a part."""

    row: NDArray[Any]
    key: int
    length: int
    ending: NDArray[Any]
    codes: tuple[NDArray[np.uint16], ...]  # its moves, stones and marks


def make_part(pieces: Sequence[Piece], sources: Sequence[int]) -> Part:
    """Read the games of pieces; ``sources`` are the numbers of their files."""
    faults = Faults(Counter(), Counter(), [])
    entries: list[_Entry] = []
    for piece, source in zip(pieces, sources, strict=True):
        try:
            records = parse_piece(piece, DEFAULT_LIMITS)
        except SgfError as error:
            faults.skip("cannot be read", str(error))
            continue
        for record, content in zip(records, _contents(piece.data, len(records)), strict=True):
            try:
                line = read_moves(record)
            except SgfError as error:
                faults.skip("cannot be played here", f"{piece.source}: {error}")
                continue
            if line.cut is not None:
                faults.cut[line.cut] += 1
            if (line.moves == PASS).all():
                faults.skip("has no moves", f"{piece.source}: a record without moves")
            else:
                entries.append(_make_entry(record, line, content, source))
    return _join(entries, faults)


def _contents(data: bytes, count: int) -> list[bytes]:
    """The bytes of each of the games in a piece, by which their splits are decided."""
    if count == 1:
        return [data.strip()]
    contents = cut_games(data)
    if len(contents) != count:  # brackets that are none: at least no two games have the same
        contents = [data + str(index).encode() for index in range(count)]
    return contents


def _make_entry(record: SgfGame, line: RecordedMoves, content: bytes, source: int) -> _Entry:
    moves = encode_moves(line.moves, line.colors)
    points = np.flatnonzero(line.start.stones)
    stones = encode_moves(points, line.start.stones[points])
    row = np.zeros(1, dtype=GAME)
    row["moves"], row["plays"], row["stones"] = moves.size, np.count_nonzero(line.moves != PASS), stones.size
    row["source"] = source
    row["split"] = SPLITS.index(split_of(content))
    row["lines"] = line.start.size
    row["to_play"] = line.start.to_play
    _describe(record, row)
    recorded = read_ending(record, line.start.size)
    ending = _describe_ending(recorded, whole=line.cut is None)
    marks = encode_moves(recorded.points, recorded.owners)
    return _Entry(row, game_key(line.start.size, stones, moves), len(content), ending, (moves, stones, marks))


def _describe(record: SgfGame, row: NDArray[Any]) -> None:
    """What the root of a record tells."""
    result = record.result
    row["komi"] = np.nan if record.komi is None else record.komi
    row["handicap"] = min(record.handicap, 255)  # kept in a byte
    row["black_grade"], row["white_grade"] = grade_of(record.black_rank), grade_of(record.white_rank)
    row["winner"] = 0 if result is None else result.winner
    row["result"] = RESULTS.index(None if result is None else result.reason)


def _describe_ending(recorded: RecordedEnding, *, whole: bool) -> NDArray[Any]:
    ending = np.zeros(1, dtype=ENDING)
    ending["margin"] = recorded.margin if whole and recorded.margin is not None else np.nan
    ending["marks"] = recorded.points.size
    if recorded.rules is not None:
        ending["scoring"] = SCORINGS.index(recorded.rules.scoring)
        ending["tax"], ending["bonus"] = TAXES.index(recorded.rules.tax), BONUSES.index(recorded.rules.handicap_bonus)
    return ending


def _join(entries: Sequence[_Entry], faults: Faults) -> Part:
    games = np.concatenate([np.zeros(0, GAME), *(entry.row for entry in entries)])
    endings = np.concatenate([np.zeros(0, ENDING), *(entry.ending for entry in entries)])
    place(games, endings)
    keys = np.array([entry.key for entry in entries], dtype=np.uint64)
    lengths = np.array([entry.length for entry in entries], dtype=np.uint32)
    none = np.zeros(0, np.uint16)
    moves, stones, marks = (np.concatenate([none, *(entry.codes[kind] for entry in entries)]) for kind in range(3))
    return Part(PartGames(games, keys, lengths, endings), moves, stones, marks, faults)


def place(games: NDArray[Any], endings: NDArray[Any]) -> None:
    """Let games follow each other: set where the moves, the stones and the marks of each begin."""
    for rows, first, count in (
        (games, "first_move", "moves"),
        (games, "first_stone", "stones"),
        (endings, "first_mark", "marks"),
    ):
        rows[first] = np.cumsum(rows[count], dtype=np.uint64) - rows[count]


# Parts on disk.


def save_part(path: Path, part: Part) -> None:
    """Write a part whole or not at all."""
    buffer = io.BytesIO()
    faults = np.frombuffer(json.dumps(part.faults).encode(), dtype=np.uint8)
    np.savez(buffer, **part.games._asdict(), moves=part.moves, stones=part.stones, marks=part.marks, faults=faults)
    write_atomically(path, buffer.getvalue())


class SavedPart(NamedTuple):
    """A part on disk; what is asked of it is read, no more."""

    path: Path

    def games(self) -> PartGames:
        return PartGames(*self.read(*PartGames._fields))

    def faults(self) -> Faults:
        skipped, cut, examples = json.loads(self.read("faults")[0].tobytes())
        return Faults(Counter(skipped), Counter(cut), examples)

    def read(self, *names: str) -> list[NDArray[Any]]:
        """Its arrays of these names; raises DatasetError if it is damaged."""
        try:
            with np.load(self.path) as arrays:
                return [arrays[name] for name in names]
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
            raise DatasetError(f"{self.path} is damaged: delete it and repeat the command") from None


# Putting a dataset together from its parts; its card comes last, so that nothing unfinished looks whole.
#
# Games that come more than once, with the same stones set up and the same moves, are all of one split, whichever files
# they are in: that of their shortest record, since the longer ones are the same with something added.


class NoGames(DatasetError):
    """Files in which there is no game to be imported."""


def put_together(
    folder: Path, parts: Sequence[SavedPart], sources: list[Source], *, unique: bool, splits_of: Sequence[str] = ()
) -> None:
    """Write the files of a set and then its card; ``unique`` keeps the first of equal games alone.

    A game that one of the sets ``splits_of`` has, too, is of the split that it is of there.
    """
    faults = Faults(Counter(), Counter(), [])
    for part in parts:
        faults.merge(part.faults())
    found = [part.games() for part in parts]
    if not sum(part_games.keys.size for part_games in found):
        raise NoGames(f"there are no games to import: {', '.join(faults.examples[:1]) or 'no files'}")
    games, keys, lengths, endings = (np.concatenate(arrays) for arrays in zip(*found, strict=True))
    is_first = share_splits(games, keys, lengths)
    kept = is_first if unique else np.ones_like(is_first)
    elsewhere = _take_splits(games, keys, splits_of)
    _write_files(folder, parts, games, endings, kept)
    sync_folder(folder)
    card = DatasetCard(
        games=int(np.count_nonzero(kept)),
        moves=int(games["moves"][kept].sum(dtype=np.int64)),
        unique=unique,
        sources=sources,
        repeated=int(np.count_nonzero(~is_first)),
        skipped=dict(faults.skipped.most_common()),
        cut=dict(faults.cut.most_common()),
        examples=faults.examples,
        splits_of=list(splits_of),
        split_elsewhere=int(np.count_nonzero(elsewhere & kept)),
        files={name: checksum(folder / name) for name in (GAMES, MOVES, STONES, ENDINGS, MARKS)},
    )
    write_atomically(folder / CARD, card.model_dump_json(indent=2) + "\n")


def share_splits(games: NDArray[Any], keys: NDArray[np.uint64], lengths: NDArray[np.uint32]) -> NDArray[np.bool_]:
    """Give equal games the split of the shortest record among them; returns which games come for the first time."""
    _, firsts, groups = np.unique(keys, return_index=True, return_inverse=True)
    shortest_first = np.lexsort((lengths, groups))  # group by group; of equally short ones the earlier
    leaders = shortest_first[np.searchsorted(groups[shortest_first], np.arange(firsts.size))]
    games["split"] = games["split"][leaders][groups]
    is_first = np.zeros(games.size, dtype=np.bool_)
    is_first[firsts] = True
    return is_first


def _take_splits(games: NDArray[Any], keys: NDArray[np.uint64], others: Sequence[str]) -> NDArray[np.bool_]:
    """Give games the split that they are of in other sets, the first of which counts; returns which are in one."""
    is_known = np.zeros(games.size, dtype=np.bool_)
    for other in others:
        dataset = Dataset.open(other)
        splits = {dataset.key(number): int(dataset.games["split"][number]) for number in range(dataset.card.games)}
        for number in np.flatnonzero(~is_known).tolist():
            if (split := splits.get(int(keys[number]))) is not None:
                games["split"][number] = split
                is_known[number] = True
    return is_known


def _write_files(
    folder: Path, parts: Sequence[SavedPart], games: NDArray[Any], endings: NDArray[Any], kept: NDArray[np.bool_]
) -> None:
    """Write the games that are kept, and of each part the moves, stones and marks that belong to them."""
    ends = np.cumsum([part.games().keys.size for part in parts])[:-1]
    for file, name, rows in ((MOVES, "moves", games), (STONES, "stones", games), (MARKS, "marks", endings)):
        chosen = zip(parts, np.split(rows[name], ends), np.split(kept, ends), strict=True)
        blocks = (part.read(name)[0][np.repeat(mask, counts)] for part, counts, mask in chosen)
        _write_array(folder / file, np.uint16, rows[name][kept].sum(dtype=np.int64), blocks)
    games, endings = games[kept], endings[kept]
    place(games, endings)
    _write_array(folder / GAMES, GAME, games.size, [games])
    _write_array(folder / ENDINGS, ENDING, endings.size, [endings])


def _write_array(path: Path, dtype: DTypeLike, length: int, blocks: Iterable[NDArray[Any]]) -> None:
    """Write blocks one after another as one array, whole or not at all, without having it in memory."""
    header = {"descr": npy.dtype_to_descr(np.dtype(dtype)), "fortran_order": False, "shape": (int(length),)}
    temporary = temporary_path(path)
    with naming(path), temporary.open("wb") as file:
        npy.write_array_header_1_0(file, header)
        for block in blocks:
            file.write(block.tobytes())
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)


# The import as a whole.
#
# ```
# SET/import.json       which files, and how; written first
# SET/parts/*.npz       the games of each part of the files, as it is done
# ```
#
# When all parts are there, they are put together. Whenever this is interrupted, the same command
# resumes with the parts that are missing.

_PLAN: Final = "import.json"
_PARTS: Final = "parts"
_PART_BYTES: Final = 1 << 20  # of records

Watcher = Callable[[Path, int], None]


class ImportPlan(Strict):
    """What an import is of."""

    format: Literal[1] = 1
    unique: bool
    sources: list[Source]
    splits_of: list[str] = Field(default_factory=list)


def import_games(
    paths: Iterable[Path],
    folder: Path,
    *,
    unique: bool = False,
    splits_of: Sequence[Path] = (),
    jobs: int = 1,
    watch: Watcher = lambda *_: None,
) -> Dataset:
    """Make a set of the games of files and folders, or go on with it; nothing is done if it is there already.

    ``unique`` keeps games that come more than once only once. A game that one of the sets ``splits_of`` has, with the
    same moves, is of the split that it is of there. ``watch`` hears how far which file is done. Raises DatasetError if
    the folder holds anything else, or another import.
    """
    files = list(find_files(paths))
    others = [str(Dataset.open(other).path) for other in splits_of]
    plan = ImportPlan(unique=unique, sources=[_identify(file) for file in files], splits_of=others)
    if len(files) > MAX_SOURCES:
        raise DatasetError(f"{len(files)} files are too many: join them to at most {MAX_SOURCES}")
    is_new = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    lock = DirectoryLock(folder)
    try:
        if not _is_done(folder, plan):
            _begin(folder, plan)
            parts = _make_parts(files, folder / _PARTS, jobs, watch)
            put_together(folder, parts, plan.sources, unique=plan.unique, splits_of=plan.splits_of)
        _clean(folder)
    except NoGames:  # what is left behind would want the same files again
        _clean(folder)
        if is_new:
            shutil.rmtree(folder)
        raise
    finally:
        lock.release()
    return Dataset.open(folder)


def _identify(file: Path) -> Source:
    try:
        status = file.stat()
    except OSError as error:
        raise DatasetError(f"{file} cannot be read: {error.strerror}") from None
    return Source(path=str(file), bytes=status.st_size, modified=status.st_mtime_ns)


def _is_done(folder: Path, plan: ImportPlan) -> bool:
    """Whether the set is there; raises DatasetError if it is another one."""
    if not (folder / CARD).exists():
        return False
    card = Dataset.open(folder).card
    if (card.unique, card.sources, card.splits_of) != (plan.unique, plan.sources, plan.splits_of):
        raise DatasetError(f"{folder} holds a set of other files, or they have changed since: give a new folder")
    return True


def _begin(folder: Path, plan: ImportPlan) -> None:
    """Write the plan, or see that it is the one that is being followed."""
    if (folder / _PLAN).exists():
        try:
            started = ImportPlan.model_validate_json((folder / _PLAN).read_bytes())
        except ValidationError:
            raise DatasetError(f"{folder / _PLAN} is damaged: give a new folder") from None
        if started != plan:
            raise DatasetError(f"{folder} was started with other files or settings: repeat those, or give a new folder")
    elif any(file.name not in (LOCK_NAME, temporary_path(Path(_PLAN)).name) for file in folder.iterdir()):
        raise DatasetError(f"{folder} holds other files: give a new folder")
    else:
        write_atomically(folder / _PLAN, plan.model_dump_json(indent=2) + "\n")
    (folder / _PARTS).mkdir(exist_ok=True)


def _clean(folder: Path) -> None:
    """Remove what a finished set does not need."""
    shutil.rmtree(folder / _PARTS, ignore_errors=True)
    (folder / _PLAN).unlink(missing_ok=True)


# Making parts.


def _make_parts(files: Sequence[Path], folder: Path, jobs: int, watch: Watcher) -> list[SavedPart]:
    """Make the parts that are not there yet, in any order; returns all of them in theirs."""
    numbers = {file: number for number, file in enumerate(files)}
    paths: list[Path] = []

    def missing() -> Iterator[tuple[Path, list[Piece], list[int]]]:
        for batch in batch_pieces(iter_pieces(files), _PART_BYTES):
            path = folder / f"{len(paths):06}.npz"
            paths.append(path)
            if not path.exists():
                yield path, batch, [numbers[piece.file] for piece in batch]
            watch(batch[-1].file, batch[-1].read)

    for path, part in hand_out(_make_part, missing(), jobs):
        save_part(path, part)
    return [SavedPart(path) for path in paths]


def _make_part(path: Path, pieces: list[Piece], sources: list[int]) -> tuple[Path, Part]:
    return path, make_part(pieces, sources)
