"""Labeling: finding out who owns each point at the end of the games of a set, by asking one source after another.

A label is kept only if the game, counted by it, ends as its record says. Games come in a random order, so that what
an interrupted run leaves is a sample of all. What was answered is kept: the same command resumes, and another one
with more sources asks only those that were not asked yet, about games that still have no label.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from itertools import chain, islice
from time import monotonic
from typing import Any, Final, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from katachi.core.disk import DirectoryLock
from katachi.core.execution import cluster_in_use, hand_out
from katachi.data.batches import Permutation
from katachi.data.dataset import (
    BONUSES,
    NO_LABEL,
    SCORINGS,
    SOURCES,
    SPLITS,
    TAXES,
    Answer,
    AnswerSource,
    Dataset,
    LabelCard,
    LabelError,
    Labels,
)
from katachi.go import scoring
from katachi.go.board import Board
from katachi.go.points import BLACK, EMPTY, WHITE
from katachi.go.rules import Rules, Scoring, Tax
from katachi.go.scoring import DEFAULT_PLAYOUTS, estimate_status

# Counting recorded games again.

Ownership = NDArray[np.int8]  # [n²]: +1 Black's, −1 White's, 0 neutral; a stone on a point of another's is dead

_ANY_RULES: Final = (Rules(), Rules(scoring=Scoring.TERRITORY))  # how games are counted whose records tell no rules
_SAME: Final = 0.01  # of a point: results are written with one digit after the point


class FinalGame(NamedTuple):
    """The end of a game that was counted, and what its record says of the count."""

    board: Board
    marks: Ownership  # whose territory the record marks each point as; all EMPTY if it does not
    rules: tuple[Rules, ...]  # by one of which it was counted
    handicap: int
    black_lead: float


def final_game(dataset: Dataset, game: int) -> FinalGame:
    """The end of a game of a set that was counted with a komi that the record tells."""
    row, ending = dataset.games[game], dataset.endings[game]
    named = SCORINGS[ending["scoring"]]
    rules: tuple[Rules, ...] = _ANY_RULES
    if named is not None:
        rules = (Rules(scoring=named, tax=TAXES[ending["tax"]], handicap_bonus=BONUSES[ending["bonus"]]),)
    return FinalGame(
        dataset.end(game),
        dataset.marks_of(game),
        tuple(way.with_komi(float(row["komi"])) for way in rules),
        int(row["handicap"]),
        float(row["winner"]) * float(ending["margin"]),
    )


def was_counted(dataset: Dataset) -> NDArray[np.bool_]:
    """Of which games the record tells by how much they were won, and with what komi, [games]."""
    return np.asarray(~np.isnan(dataset.endings["margin"]) & ~np.isnan(dataset.games["komi"]))


def reproduces(final: FinalGame, ownership: Ownership) -> bool:
    """Whether counting like this leads to the result of the record."""
    return any(abs(_black_lead(final, ownership, way) - final.black_lead) < _SAME for way in final.rules)


def _black_lead(final: FinalGame, ownership: Ownership, rules: Rules) -> float:
    stones = final.board.stones
    if rules.scoring is Scoring.AREA:
        points = int(ownership.sum(dtype=np.int64))
    else:
        is_alive = (stones != EMPTY) & (stones == ownership)
        dead_and_owned = (ownership - stones)[~is_alive]  # a dead stone is a prisoner, the point under it territory
        points = int(dead_and_owned.sum(dtype=np.int64)) + final.board.captured(WHITE) - final.board.captured(BLACK)
    return points - rules.komi - rules.handicap_compensation(final.handicap)


def ownership_by_marks(final: FinalGame) -> Ownership:
    """What the record marks, and stones where it marks nothing."""
    return np.where(final.marks == EMPTY, final.board.stones, final.marks)


def ownership_by_status(final: FinalGame, dead: Collection[int], seki: Collection[int]) -> Ownership:
    """Who owns each point if these stones are dead; raises ValueError where there is no stone.

    Eyes in seki are neutral if that alone leads to the result: not every server takes them for what its rules say.
    """
    ownership = scoring.area(final.board, dead)
    if not seki or reproduces(final, ownership) or all(way.tax is not Tax.SEKI for way in final.rules):
        return ownership
    surrounded = scoring.territory(final.board, dead)
    taxed = scoring.territory(final.board, dead, seki)
    return np.where(surrounded == taxed, ownership, np.int8(EMPTY))


# Who says which stones are dead at the end of a game: the players themselves, our own playouts, or a GTP program
# (``katachi.gtp.client``).

_FEW: Final = 8  # the part of all playouts that is tried first


class CheckedLabel(NamedTuple):
    """What a source says of a game; an ownership only if the game, counted like that, ends as it did."""

    answer: Answer
    ownership: Ownership | None = None


class LabelSource(Protocol):
    """Labels the ends of games, in several threads at once, here or on another machine."""

    source: AnswerSource

    def check(self) -> None:
        """Raise ValueError if it cannot answer on this machine."""
        ...

    def close(self) -> None: ...

    def label(self, final: FinalGame) -> CheckedLabel: ...

    def describe(self) -> str:
        """Who this is, in words."""
        ...


class _AlwaysThere:
    """A source that needs nothing but this program."""

    def check(self) -> None:
        """It can answer."""

    def close(self) -> None:
        """Nothing is open."""


class Marks(_AlwaysThere):
    """The players: what the last node of the record marks as territory."""

    source = AnswerSource.MARKS

    def label(self, final: FinalGame) -> CheckedLabel:
        if not final.marks.any():
            return CheckedLabel(Answer.NOTHING)
        return check_ownership(final, ownership_by_marks(final))

    def describe(self) -> str:
        return "territory marked in the records"


class Playouts(_AlwaysThere):
    """Our own estimate: by a few playouts first, which mostly are enough, and by all where their count is wrong."""

    source = AnswerSource.PLAYOUTS

    def __init__(self, playouts: int = DEFAULT_PLAYOUTS) -> None:
        self._playouts = playouts

    def label(self, final: FinalGame) -> CheckedLabel:
        found = self._estimate(final, max(1, self._playouts // _FEW))
        return found if found.answer is Answer.AGREES else self._estimate(final, self._playouts)

    def _estimate(self, final: FinalGame, playouts: int) -> CheckedLabel:
        status = estimate_status(final.board, playouts)
        return check_ownership(final, ownership_by_status(final, status.dead_stones, status.seki_stones))

    def describe(self) -> str:
        return f"{self._playouts} playouts per game at most"


def check_ownership(final: FinalGame, ownership: Ownership) -> CheckedLabel:
    """What is to be said of a game of which somebody says who owns what."""
    if reproduces(final, ownership):
        return CheckedLabel(Answer.AGREES, ownership)
    return CheckedLabel(Answer.DISAGREES)


# Asking about all games of a set, and keeping what was answered.

_SECONDS_BETWEEN_WRITES: Final = 60.0
_TOGETHER: Final = 16  # games that another machine is asked about at once

Watcher = Callable[[int, int, int], None]  # hears how many games are done, how many there are, how many have a label


class _Question(NamedTuple):
    """A game, its end, and what sources answered before."""

    game: int
    final: FinalGame
    answered: NDArray[np.uint8]


class _Labeled(NamedTuple):
    """A game, what each source that was asked answered, and the label if one agreed."""

    game: int
    answers: dict[AnswerSource, Answer]
    ownership: Ownership | None = None


def label_games(
    dataset: Dataset,
    sources: Sequence[LabelSource],
    *,
    jobs: int = 1,
    most: int | None = None,
    watch: Watcher = lambda *_: None,
) -> Labels:
    """Ask sources in turn about games that were counted until one agrees with the record, ``most`` games at most.

    Raises LabelError if the set is of several sizes or none of its games was counted.
    """
    lock = DirectoryLock(dataset.path)
    try:
        labels = _open(dataset)
        counted = was_counted(dataset)
        if not counted.any():
            raise LabelError(f"{dataset.path} has no game that ended by counting, with a komi: nothing can be labeled")
        todo = _unanswered(labels, counted, sources)[:most]
        _label(dataset, labels, todo, sources, jobs, watch)
    finally:
        lock.release()
    return labels


def copy_labels(dataset: Dataset, other: Dataset) -> Labels:
    """Give the games of a set the labels that equal games have in another; raises LabelError if that has none."""
    lock = DirectoryLock(dataset.path)
    try:
        labels = _open(dataset)
        known = {other.key(game): game for game in other.select(dataset.only_size(), labeled=True).tolist()}
        equal = {game: known[key] for game in range(dataset.card.games) if (key := dataset.key(game)) in known}
        here, there = list(equal), list(equal.values())
        labels.labels[here] = other.labels[there]
        labels.answers[here] = Labels.open(other.path, other.card.games, dataset.only_size(), other.digest).answers[
            there
        ]
        labels.save(LabelCard(dataset=dataset.digest, asked=[*labels.card.asked, f"the labels of {other.title}"]))
    finally:
        lock.release()
    return labels


def _open(dataset: Dataset) -> Labels:
    if len(sizes := dataset.sizes) != 1:
        found = " and ".join(f"{size}×{size}" for size in sizes)
        raise LabelError(f"{dataset.path} holds {found}: import each size into a set of its own to label it")
    return Labels.open(dataset.path, dataset.card.games, sizes[0], dataset.digest)


def _unanswered(labels: Labels, counted: NDArray[np.bool_], sources: Sequence[LabelSource]) -> NDArray[np.int64]:
    """The games without a label that one of the sources was not asked about, in random order."""
    columns = [SOURCES.index(source.source) for source in sources]
    is_open = counted & (labels.labels[:, 0] == NO_LABEL)
    is_open &= (labels.answers[:, columns] == Answer.NOT_ASKED).any(axis=1)
    games = np.flatnonzero(is_open)
    return games[Permutation(games.size, (0,))(np.arange(games.size))]


def _label(
    dataset: Dataset, labels: Labels, todo: NDArray[np.int64], sources: Sequence[LabelSource], jobs: int, watch: Watcher
) -> None:
    """Label games and write what is known every minute, and at the end however it comes."""
    before = labels.card
    asked = list(dict.fromkeys([*before.asked, *(source.describe() for source in sources)]))
    begin = written = monotonic()
    found = 0

    def card() -> LabelCard:
        return LabelCard(dataset=dataset.digest, asked=asked, seconds=round(before.seconds + monotonic() - begin, 1))

    def ask_about(game: int) -> _Question:
        return _Question(game, final_game(dataset, game), labels.answers[game].copy())

    def elsewhere() -> Iterator[_Labeled]:
        games = iter(todo.tolist())
        batches = iter(lambda: [ask_about(game) for game in islice(games, _TOGETHER)], [])
        yield from chain.from_iterable(hand_out(_ask_together, ((batch, sources) for batch in batches), jobs))

    try:
        found_labels = (
            elsewhere()
            if cluster_in_use()
            else _in_threads(lambda game: _ask(ask_about(game), sources), todo.tolist(), jobs)
        )
        for done, labeled in enumerate(found_labels, 1):
            for source, answer in labeled.answers.items():
                labels.answers[labeled.game, SOURCES.index(source)] = answer
            if labeled.ownership is not None:
                labels.labels[labeled.game] = labeled.ownership
                found += 1
            watch(done, todo.size, found)
            if monotonic() - written > _SECONDS_BETWEEN_WRITES:
                labels.save(card())
                written = monotonic()
    finally:
        labels.save(card())


def _ask_together(questions: Sequence[_Question], sources: Sequence[LabelSource]) -> list[_Labeled]:
    """The same of several games, on a machine that may lack a program."""
    try:
        for source in sources:
            source.check()
        return [_ask(question, sources) for question in questions]
    finally:
        for source in sources:
            source.close()


def _ask(question: _Question, sources: Sequence[LabelSource]) -> _Labeled:
    game, final, answered = question
    answers: dict[AnswerSource, Answer] = {}
    for source in sources:
        if answered[SOURCES.index(source.source)] == Answer.NOT_ASKED:
            found = source.label(final)
            answers[source.source] = found.answer
            if found.ownership is not None:
                return _Labeled(game, answers, found.ownership)
    return _Labeled(game, answers)


def _in_threads(label: Callable[[int], _Labeled], games: Iterable[int], jobs: int) -> Iterator[_Labeled]:
    """Answers as they come; a game that takes long holds up nobody but its own thread."""
    numbers = iter(games)
    pool = ThreadPoolExecutor(jobs, "labeling")
    try:
        pending: set[Future[_Labeled]] = {pool.submit(label, game) for game in islice(numbers, 2 * jobs)}
        while pending:
            done, pending = wait(pending, return_when=FIRST_COMPLETED)
            pending |= {pool.submit(label, game) for game in islice(numbers, len(done))}
            yield from (future.result() for future in done)
    finally:
        pool.shutdown(cancel_futures=True)


def count_labels(dataset: Dataset, labels: Labels) -> dict[str, Any]:
    """The counts as plain values: games with a label in all and by split, and what each source answered."""
    has_label = labels.labels[:, 0] != NO_LABEL
    counted = was_counted(dataset)
    looked_at = labels.answers.any(axis=1)
    splits = dataset.games["split"]
    return {
        "games": dataset.card.games,
        "counted": int(np.count_nonzero(counted)),
        "looked_at": int(np.count_nonzero(looked_at)),
        "labeled": int(np.count_nonzero(has_label)),
        "share": _ratio(np.count_nonzero(has_label), np.count_nonzero(looked_at)),
        "by_split": {str(split): int(np.count_nonzero(has_label[splits == i])) for i, split in enumerate(SPLITS)},
        "by_source": {str(source): _count_answers(labels.answers[:, i]) for i, source in enumerate(SOURCES)},
        "asked": labels.card.asked,
        "seconds": labels.card.seconds,
    }


def _count_answers(answers: NDArray[np.uint8]) -> dict[str, Any]:
    counts = {answer.name.lower(): int(np.count_nonzero(answers == answer)) for answer in list(Answer)[1:]}
    return counts | {"agreement": _ratio(counts["agrees"], counts["agrees"] + counts["disagrees"])}


def _ratio(part: int | np.intp, whole: int | np.intp) -> float | None:
    return round(int(part) / int(whole), 4) if whole else None
