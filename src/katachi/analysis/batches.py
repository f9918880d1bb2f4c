"""Many games judged one after the other, or in processes side by side, through any interruption.

A batch is a few turns of one game. Batches do not depend on each other, so that it does not matter who judges them;
this process alone compares the turns and writes, in the order of the games.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple

from katachi.analysis.annotating import strip
from katachi.analysis.explaining import judge_turn, link_turns
from katachi.analysis.games import GameAnalysis, describe_game, digest_game
from katachi.analysis.journal import Journal
from katachi.analysis.records import GameRecord, PositionRecord
from katachi.analysis.settings import JudgeSettings
from katachi.analysis.turns import turns_of
from katachi.core.evaluators import WrongBoardSize
from katachi.core.processes import end_with_parent
from katachi.sgf import SgfError, SgfGame, format_sgf, iter_sgf, parse_sgf

TURNS: Final = 8  # in a batch: a kill loses no more of them for each process

Watcher = Callable[[int], None]  # is told how many more turns are done


class NamedRecord(NamedTuple):
    """A game of a file without an analysis that it may carry, or what is wrong with the file."""

    name: str
    source: str
    record: SgfGame
    problem: str = ""


class FoundGame(NamedTuple):
    """A game and what there is to tell of it, or why it cannot be judged."""

    record: SgfGame
    game: GameRecord | None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Batch:
    """The turns of a game from ``first`` up to ``stop`` that are to be judged; there may be none."""

    game: GameRecord
    sgf: str
    first: int
    stop: int
    begins: bool  # the game
    ends: bool


# Finding


def find_records(paths: Iterable[Path]) -> Iterator[NamedRecord]:
    """The games of files and folders in their order, each under a name of its own, that of its file if it can be."""
    taken: Counter[str] = Counter()
    for source, found, error in iter_sgf(paths):
        if found is None:
            yield NamedRecord("", source, SgfGame(), str(error))
        else:
            record = strip(found)
            record.root.properties["CA"] = ["UTF-8"]  # as it will be written: then judging that again is the same
            yield NamedRecord(_new_name(source, taken), source, record)


def find_games(paths: Iterable[Path], settings: JudgeSettings) -> Iterator[FoundGame]:
    """The same with what there is to tell of each game; raises SpecError or ModelError if a judge cannot be loaded."""
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


# Judging


def analyze_files(
    paths: Iterable[Path], settings: JudgeSettings, journal: Journal, *, jobs: int = 1, watch: Watcher | None = None
) -> Iterator[GameAnalysis]:
    """Judge all games that can be judged, or what is left of them; every game is yielded when it is complete.

    ``watch`` is told of turns as they are done, those of an earlier run too. Raises AnalysisError if the journal is of
    other games.
    """
    positions: list[PositionRecord] = []
    for batch, judged in _judge_all(_plan(find_games(paths, settings), list(journal.kept)), settings, jobs):
        if batch.begins:
            positions = journal.read(batch.game)
        done = len(positions) if batch.begins else 0
        for position in judged:
            positions.append(link_turns(positions[-1], position) if positions else position)
        if judged:
            journal.write(positions[-len(judged) :])
        if watch is not None:
            watch(done + len(judged))
        if batch.ends:
            yield GameAnalysis(parse_sgf(batch.sgf)[0], batch.game, tuple(positions))


def _plan(games: Iterable[FoundGame], kept: list[int]) -> Iterator[Batch]:
    """Batches for what is not kept; a game of which all is kept has an empty one. ``kept`` counts games' own lines."""
    for record, game, _ in games:
        if game is None:
            continue
        first = kept.pop(0) - 1 if kept else 0
        sgf = format_sgf(record)
        starts = list(range(first, game.positions, TURNS)) or [first]
        for start in starts:
            stop = min(start + TURNS, game.positions)
            yield Batch(game, sgf, start, stop, start == first, start == starts[-1])


def _judge_all(
    batches: Iterable[Batch], settings: JudgeSettings, jobs: int
) -> Iterator[tuple[Batch, list[PositionRecord]]]:
    if jobs == 1:
        yield from (judge_batch(batch, settings) for batch in batches)
        return
    from joblib import Parallel, delayed  # loads multiprocessing, which a single process does without

    parallel = Parallel(n_jobs=jobs, return_as="generator")
    yield from parallel(delayed(_judge_in_worker)(batch, settings, os.getpid()) for batch in batches)


def _judge_in_worker(batch: Batch, settings: JudgeSettings, parent: int) -> tuple[Batch, list[PositionRecord]]:
    end_with_parent(parent)
    return judge_batch(batch, settings)


def judge_batch(batch: Batch, settings: JudgeSettings) -> tuple[Batch, list[PositionRecord]]:
    """The batch, and the records of its turns."""
    positions = []
    for turn in islice(turns_of(parse_sgf(batch.sgf)[0]), batch.first, batch.stop):
        with settings.judges(batch.game.size, batch.game.sha256, turn.turn) as judges:
            positions.append(judge_turn(judges, turn, batch.game.game))
    return batch, positions
