"""Labels: from marks, programs and playouts, only where the count is that of the record; through any interruption."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from helpers.settled_games import MARKS as TERRITORY
from helpers.settled_games import OWNERSHIP, settled_record
from katachi.core.disk import DirectoryInUse, DirectoryLock
from katachi.data import dataset as labels
from katachi.data import labeling
from katachi.data.dataset import (
    ANSWERS,
    CARD,
    ENDINGS,
    LABELS,
    MARKS,
    SOURCES,
    Answer,
    Dataset,
    DatasetError,
    LabelError,
    Labels,
)
from katachi.data.dataset import AnswerSource as Source
from katachi.data.importing import import_games
from katachi.data.labeling import LabelSource, Marks, Playouts, copy_labels, count_labels, label_games
from katachi.gtp import EngineFailure
from katachi.gtp.client import Engines

ENGINE = """
import os, sys, time
counter, answers = sys.argv[1], sys.argv[2:]
for line in sys.stdin:
    number, name, *words = line.split()
    answer = "list_commands final_status_list" if name == "list_commands" else ""
    if name == "final_status_list" and words == ["dead"]:
        asked = os.path.getsize(counter) if os.path.exists(counter) else 0
        open(counter, "a").write(".")
        answer = answers[min(asked, len(answers) - 1)]
        if answer == "die":
            sys.exit(1)
        if answer == "hang":
            time.sleep(1000)
    print(f"={number} {answer}\\n", flush=True)
"""


def make_set(folder: Path, *records: str, name: str = "set") -> Dataset:
    (folder / f"{name}.sgf").write_text("\n".join(records))
    return import_games([folder / f"{name}.sgf"], folder / name)


def engines(folder: Path, *answers: str, seconds: float = 60.0) -> Engines:
    """A program whose n-th question after the dead stones is answered so, the last of them again and again."""
    (folder / "engine.py").write_text(ENGINE)
    words = " ".join(f"'{answer}'" for answer in answers)
    return Engines(f"{sys.executable} -S {folder / 'engine.py'} {folder / 'counter'} {words}", seconds)


def answers_of(dataset: Dataset, source: Source) -> list[Answer]:
    found = np.load(dataset.path / ANSWERS)[:, SOURCES.index(source)]
    return [Answer(answer) for answer in found.tolist()]


def owners(dataset: Dataset) -> list[list[int] | None]:
    rows = [Dataset.open(dataset.path).ownership(game) for game in range(dataset.card.games)]
    return [None if row is None else row.tolist() for row in rows]


def test_marks_are_believed_where_their_count_is_that_of_the_record(tmp_path: Path) -> None:
    dataset = make_set(
        tmp_path,
        settled_record("B+4.5", "Chinese", marks=TERRITORY),
        settled_record("B+1.5", "Japanese", marks=TERRITORY),
        settled_record("B+1.5", "Chinese", marks=TERRITORY),  # not by these rules
        settled_record("B+4.5", "", marks=TERRITORY),  # no rules: by area …
        settled_record("B+1.5", "", marks=TERRITORY),  # … or by territory
        settled_record("B+3.5", "", marks=TERRITORY),
        settled_record("B+4.5", "Chinese"),
        settled_record("B+R", "Chinese", marks=TERRITORY),
        settled_record("B+5", "Chinese", komi="", marks=TERRITORY),
    )
    found = label_games(dataset, [Marks()])
    assert owners(dataset) == [OWNERSHIP, OWNERSHIP, None, OWNERSHIP, OWNERSHIP, None, None, None, None]
    yes, no, nothing, unasked = Answer.AGREES, Answer.DISAGREES, Answer.NOTHING, Answer.NOT_ASKED
    assert answers_of(dataset, Source.MARKS) == [yes, yes, no, yes, yes, no, nothing, unasked, unasked]
    counts = count_labels(dataset, found)
    assert (counts["counted"], counts["looked_at"], counts["labeled"], counts["share"]) == (7, 7, 4, 0.5714)
    assert counts["by_source"]["marks"] == {"nothing": 1, "failed": 0, "disagrees": 2, "agrees": 4, "agreement": 0.6667}
    assert sum(counts["by_split"].values()) == 4
    assert Dataset.open(dataset.path).select(labeled=True).tolist() == [0, 1, 3, 4]


def test_playouts_find_the_dead_stone(tmp_path: Path) -> None:
    dataset = make_set(tmp_path, settled_record("B+4.5"), settled_record("B+1.5", "Japanese"), settled_record("W+0.5"))
    label_games(dataset, [Marks(), Playouts(50)])
    assert owners(dataset) == [OWNERSHIP, OWNERSHIP, None]
    assert answers_of(dataset, Source.PLAYOUTS) == [Answer.AGREES, Answer.AGREES, Answer.DISAGREES]


def test_labels_of_equal_games_are_taken_from_another_set(tmp_path: Path) -> None:
    marked = make_set(tmp_path, settled_record("B+4.5", marks=TERRITORY), settled_record("W+0.5"), name="marked")
    label_games(marked, [Marks()])
    other = settled_record("B+4.5").replace(";B[ca]", ";B[cc]")
    dataset = make_set(tmp_path, other, settled_record("B+4.5"), name="all")
    found = copy_labels(dataset, Dataset.open(marked.path))
    assert owners(dataset) == [None, OWNERSHIP]
    assert answers_of(dataset, Source.MARKS) == [Answer.NOT_ASKED, Answer.AGREES]
    assert found.card.asked[-1] == f"the labels of {marked.title}"
    label_games(dataset, [Playouts(50)])
    assert Dataset.open(dataset.path).select(labeled=True).size >= 1
    with pytest.raises(LabelError, match="has no labels"):
        copy_labels(dataset, make_set(tmp_path, other, name="bare"))


def test_handicap_stones_are_paid_for_as_the_rules_say(tmp_path: Path) -> None:
    stones = "HA[2]AB[ca][ab]"
    even = settled_record("B+2.5", "Chinese", marks=TERRITORY).replace(";B[ca];W[aa];B[ab];", ";W[aa];B[];")
    handicap = even.replace("PB[]", stones)
    japanese = handicap.replace("Chinese", "Japanese").replace("B+2.5", "B+1.5")
    dataset = make_set(tmp_path, handicap, japanese, handicap.replace("B+2.5", "B+4.5"))
    label_games(dataset, [Marks()])
    assert owners(dataset) == [OWNERSHIP, OWNERSHIP, None]


def test_a_program_that_hangs_or_dies_costs_one_game_and_is_replaced(tmp_path: Path) -> None:
    dataset = make_set(tmp_path, *(settled_record("B+4.5", name=str(number)) for number in range(6)))
    program = engines(tmp_path, "A5", "die", "A5", "hang", "nonsense", "A1", "A5", seconds=5.0)
    try:
        found = label_games(dataset, [program])
    finally:
        program.close()
    counts = count_labels(dataset, found)["by_source"]["gnugo"]
    assert (counts["agrees"], counts["failed"], counts["disagrees"]) == (2, 4, 0)  # A1 is no stone
    assert sum(row == OWNERSHIP for row in owners(dataset)) == 2


def test_several_programs_at_once_and_the_next_source_where_they_fail(tmp_path: Path) -> None:
    dataset = make_set(tmp_path, *(settled_record("B+4.5", name=str(number)) for number in range(5)))
    program = engines(tmp_path, "die", "", "A5")
    try:
        label_games(dataset, [program, Playouts(50)], jobs=3)
    finally:
        program.close()
    assert owners(dataset) == [OWNERSHIP] * 5
    asked = answers_of(dataset, Source.GNUGO)
    assert (asked.count(Answer.FAILED), asked.count(Answer.DISAGREES), asked.count(Answer.AGREES)) == (1, 1, 3)
    assert answers_of(dataset, Source.PLAYOUTS).count(Answer.AGREES) == 2


def test_a_program_that_cannot_be_started_is_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(EngineFailure, match="cannot be started"):
        Engines(str(tmp_path / "missing")).check()


def test_gnugo_finds_the_dead_stone(tmp_path: Path, gnugo: str) -> None:
    dataset = make_set(tmp_path, settled_record("B+4.5"))
    program = Engines(f"{gnugo} --mode gtp --level 0")
    try:
        program.check()
        label_games(dataset, [program])
    finally:
        program.close()
    assert owners(dataset) == [OWNERSHIP]


class Counting:
    """Playouts that count how often they are asked, and that a kill ends."""

    source = Source.PLAYOUTS

    def __init__(self, dies_after: int = 1000) -> None:
        self.asked = 0
        self._dies_after = dies_after
        self._inner: LabelSource = Playouts(50)

    def label(self, final):
        if self.asked == self._dies_after:
            raise KeyboardInterrupt
        self.asked += 1
        return self._inner.label(final)

    def describe(self) -> str:
        return "counting"


def test_an_interrupted_run_goes_on_and_asks_nothing_twice(tmp_path: Path) -> None:
    dataset = make_set(tmp_path, *(settled_record("B+4.5", name=str(number)) for number in range(9)))
    with pytest.raises(KeyboardInterrupt):
        label_games(dataset, [Counting(dies_after=4)])
    kept = sum(row is not None for row in owners(dataset))
    assert 1 <= kept <= 4
    more = Counting()
    label_games(dataset, [more], most=2)
    assert more.asked == 2
    label_games(dataset, [more])
    assert more.asked == 9 - kept
    assert owners(dataset) == [OWNERSHIP] * 9
    label_games(dataset, [more])
    assert more.asked == 9 - kept


def test_other_sources_are_asked_about_what_is_left(tmp_path: Path) -> None:
    dataset = make_set(tmp_path, settled_record("B+4.5", marks=TERRITORY), settled_record("B+4.5"))
    label_games(dataset, [Marks()])
    playouts = Counting()
    found = label_games(dataset, [Marks(), playouts])
    assert playouts.asked == 1
    assert owners(dataset) == [OWNERSHIP] * 2
    assert found.card.asked == ["territory marked in the records", "counting"]


def test_games_come_in_a_random_order(tmp_path: Path) -> None:
    dataset = make_set(tmp_path, *(settled_record("B+4.5", name=str(number)) for number in range(40)))
    label_games(dataset, [Playouts(20)], most=10)
    chosen = dataset.select(labeled=True).tolist()
    assert len(chosen) == 10
    assert max(chosen) >= 20 > min(chosen)


class Killed(BaseException):
    """Stands for a kill: no handler of ours catches it."""


def test_a_kill_at_any_write_leaves_labels_that_can_be_gone_on_with(tmp_path: Path, monkeypatch) -> None:
    dataset = make_set(tmp_path, settled_record("B+4.5"), settled_record("W+9.5"))
    real = labels.write_atomically
    for writes in range(3):
        left = writes

        def dying(*arguments) -> None:
            nonlocal left
            if left == 0:
                raise Killed
            left -= 1
            real(*arguments)

        monkeypatch.setattr(labels, "write_atomically", dying)
        with pytest.raises(Killed):
            label_games(dataset, [Playouts(50)])
        monkeypatch.setattr(labels, "write_atomically", real)
        label_games(dataset, [Playouts(50)])
        assert owners(dataset) == [OWNERSHIP, None]
        for name in (LABELS, ANSWERS, labels.LABELS_CARD):
            (dataset.path / name).unlink()


def test_what_cannot_be_labeled_is_refused(tmp_path: Path) -> None:
    mixed = make_set(tmp_path, settled_record("B+4.5"), "(;SZ[9]RE[B+4.5]KM[0.5];B[aa])", name="mixed")
    with pytest.raises(LabelError, match="5×5 and 9×9: import each size"):
        label_games(mixed, [Marks()])
    resigned = make_set(tmp_path, settled_record("B+R"), name="resigned")
    with pytest.raises(LabelError, match="no game that ended by counting"):
        label_games(resigned, [Marks()])
    with pytest.raises(LabelError, match="has no labels: katachi data label"):
        resigned.ownership(0)
    lock = DirectoryLock(resigned.path)
    with pytest.raises(DirectoryInUse):
        label_games(resigned, [Marks()])
    lock.release()


def test_a_game_whose_end_is_missing_is_not_counted(tmp_path: Path) -> None:
    cut = settled_record("B+4.5", marks=TERRITORY).replace(";W[de]", ";W[de];B[de]")
    dataset = make_set(tmp_path, cut, settled_record("B+4.5", marks=TERRITORY))
    label_games(dataset, [Marks()])
    assert owners(dataset) == [None, OWNERSHIP]


def test_a_set_from_before_endings_were_kept_opens_and_says_what_it_lacks(tmp_path: Path) -> None:
    dataset = make_set(tmp_path, settled_record("B+4.5"))
    card = json.loads((dataset.path / CARD).read_text())
    for name in (ENDINGS, MARKS):
        del card["files"][name]
        (dataset.path / name).unlink()
    for name in ("splits_of", "split_elsewhere"):
        del card[name]
    (dataset.path / CARD).write_text(json.dumps(card))
    old = Dataset.open(dataset.path)
    assert old.moves_of(0).moves.size == 22
    with pytest.raises(DatasetError, match="does not say how its games were counted: import them again"):
        label_games(old, [Marks()])


def test_bad_labels_are_refused(tmp_path: Path) -> None:
    dataset = make_set(tmp_path, settled_record("B+4.5", marks=TERRITORY), settled_record("B+4.5"))
    label_games(dataset, [Marks()])
    path = dataset.path / LABELS
    good = np.load(path)
    half = good.copy()
    half[1, 3] = 1
    for bad, words in (
        (good[:1], "does not fit its set"),
        (good.astype(np.int16), "does not fit its set"),
        (np.where(good == 1, np.int8(2), good), "says of a point what cannot be"),
        (half, "says of a point what cannot be"),
    ):
        np.save(path, bad)
        with pytest.raises(LabelError, match=words):
            Dataset.open(dataset.path).ownership(0)
    path.write_bytes(b"nothing")
    with pytest.raises(LabelError, match="cannot be read"):
        Dataset.open(dataset.path).ownership(0)
    np.save(path, good)
    other = make_set(tmp_path, settled_record("B+4.5"), settled_record("W+4.5"), name="other")
    for name in (LABELS, ANSWERS, labels.LABELS_CARD):
        (other.path / name).write_bytes((dataset.path / name).read_bytes())
    with pytest.raises(LabelError, match="are of another set"):
        other.ownership(0)
    with pytest.raises(LabelError, match="are of another set"):
        label_games(other, [Marks()])


def test_what_is_known_is_written_while_it_goes_on(tmp_path: Path, monkeypatch) -> None:
    dataset = make_set(tmp_path, *(settled_record("B+4.5", name=str(number)) for number in range(3)))
    monkeypatch.setattr(labeling, "_SECONDS_BETWEEN_WRITES", 0.0)
    saved = []
    monkeypatch.setattr(Labels, "save", lambda self, _card: saved.append(int((self.labels[:, 0] == 1).sum())))
    seen = []
    label_games(dataset, [Playouts(20)], watch=lambda *progress: seen.append(progress))
    assert saved == [1, 2, 3, 3]
    assert seen == [(1, 3, 1), (2, 3, 2), (3, 3, 3)]
