from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from helpers.random_records import random_record
from katachi.core import disk
from katachi.core.disk import DirectoryInUse, DirectoryLock
from katachi.data import importing as dataset_assembly
from katachi.data import importing as dataset_import
from katachi.data import importing as dataset_parts
from katachi.data.dataset import (
    BONUSES,
    CARD,
    GAMES,
    MOVES,
    RESULTS,
    SCORINGS,
    SPLITS,
    TAXES,
    Dataset,
    DatasetError,
    count_games,
)
from katachi.data.importing import import_games
from katachi.go.points import BLACK, PASS, WHITE, Reason
from katachi.go.rules import HandicapBonus, Scoring, Tax
from katachi.sgf import parse_sgf
from katachi.sgf.files import Split, split_of
from katachi.sgf.record import UNKNOWN

GAME = "(;GM[1]SZ[9]KM[6.5]HA[2]BR[3k]WR[7d]RE[W+2.5]AB[gc][cg];W[ee];B[cc];W[];B[gg])"


@pytest.fixture
def records(tmp_path: Path) -> list[str]:
    """Forty games, in a collection and in a folder."""
    rng = np.random.default_rng(2)
    texts = [random_record(rng, int(rng.integers(2, 8)), int(rng.integers(1, 40))) for _ in range(40)]
    folder = tmp_path / "records"
    folder.mkdir()
    (folder / "a.sgf.gz").write_bytes(gzip.compress("\n".join(texts[:30]).encode()))
    for number, text in enumerate(texts[30:]):
        (folder / f"b{number}.sgf").write_text(text + "\n")
    return texts


def import_text(folder: Path, *texts: str, unique: bool = False) -> Dataset:
    files = []
    for number, text in enumerate(texts):
        files.append(folder / f"{number}.sgf")
        files[-1].write_text(text)
    return import_games(files, folder / "set", unique=unique)


def test_what_a_record_tells_is_kept(tmp_path: Path) -> None:
    dataset = import_text(tmp_path, GAME, "(;SZ[5];B[aa])")
    first, second = dataset.games
    assert (first["lines"], first["moves"], first["plays"], first["stones"], first["source"]) == (9, 4, 3, 2, 0)
    assert (first["black_grade"], first["white_grade"], first["handicap"]) == (-2, 7, 2)
    assert (first["winner"], RESULTS[first["result"]]) == (WHITE, Reason.SCORE)
    assert (first["to_play"], first["komi"]) == (WHITE, 6.5)
    assert SPLITS[first["split"]] is split_of(GAME.encode())
    assert np.isnan(second["komi"])
    assert (second["black_grade"], RESULTS[second["result"]], second["source"]) == (UNKNOWN, None, 1)
    moves, colors = dataset.moves_of(0)
    assert moves.tolist() == [40, 20, PASS, 60]
    assert colors.tolist() == [WHITE, BLACK, WHITE, BLACK]
    assert sorted(np.flatnonzero(dataset.start(0).stones).tolist()) == [24, 56]


def test_moves_in_turn_end_where_turns_or_our_rules_do(tmp_path: Path) -> None:
    repeated = "(;SZ[2];B[aa];W[bb];B[ba];W[ab];B[aa];W[ba];B[aa])"
    dataset = import_text(tmp_path, GAME, "(;SZ[5];B[aa];W[bb];W[cc];B[dd])", repeated)
    assert dataset.moves_in_turn(0) == [], "stones of a handicap are not moves"
    assert dataset.moves_in_turn(1) == [0, 6]
    assert dataset.games["moves"][2] == 7, "a simple ko rule allows to take three stones back"
    assert dataset.moves_in_turn(2) == [0, 3, 1, 2, 0, 1]


def test_moves_and_starts_are_those_of_the_records(records: list[str], tmp_path: Path) -> None:
    dataset = import_games([tmp_path / "records"], tmp_path / "set")
    assert dataset.card.games == 40
    for number, text in enumerate(records):
        game = parse_sgf(text)[0].replay()
        board = dataset.start(number)
        for move, color in zip(*dataset.moves_of(number), strict=True):
            board.play(int(move), int(color))
        assert (board.stones == game.board.stones).all()
        assert SPLITS[dataset.games["split"][number]] is split_of(text.encode())
        assert Path(dataset.card.sources[dataset.games["source"][number]].path).exists()


def test_processes_make_the_same_bytes(records: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dataset_import, "_PART_BYTES", 1000)
    alone, together = (import_games([tmp_path / "records"], tmp_path / f"set{jobs}", jobs=jobs) for jobs in (1, 2))
    assert alone.card == together.card
    assert alone.digest == together.digest


def test_faults_are_counted(tmp_path: Path) -> None:
    texts = ("(;SZ[9];B[aa];W[aa];B[bb])", "nothing", "(;SZ[9:5];B[aa])", "(;SZ[9];B[])", "(;SZ[9];W[cc])")
    dataset = import_text(tmp_path, *texts)
    assert dataset.games["moves"].tolist() == [1, 1]
    assert dataset.card.cut == {"an illegal move": 1}
    assert dataset.card.skipped == {"cannot be read": 1, "cannot be played here": 1, "has no moves": 1}
    assert [Path(text.split(":")[0]).name for text in dataset.card.examples] == ["1.sgf", "2.sgf", "3.sgf"]


def test_equal_games_share_the_split_of_the_shortest_record(tmp_path: Path) -> None:
    """As in collections that have the plain game in one file and the same with its territory in another."""
    plain = [f"(;SZ[9]PB[{name}];B[aa];W[{chr(97 + name)}b])" for name in range(9)]
    longer = [text.replace(")", ";TB[cc][dd])") for text in plain]
    assert [split_of(text.encode()) for text in plain] != [split_of(text.encode()) for text in longer]
    dataset = import_text(tmp_path, "\n".join(longer), "\n".join(plain))
    expected = [split_of(text.encode()) for text in plain]
    assert [SPLITS[split] for split in dataset.games["split"]] == expected * 2
    (tmp_path / "once").mkdir()
    once = import_text(tmp_path / "once", "\n".join(longer), "\n".join(plain), unique=True)
    assert (once.card.games, once.card.repeated) == (9, 9)
    assert [SPLITS[split] for split in once.games["split"]] == expected
    assert [once.moves_of(number).moves.tolist() for number in range(9)] == [[0, 9 + name] for name in range(9)]


def test_how_a_game_was_counted_is_kept(tmp_path: Path) -> None:
    marked = "(;SZ[9]RE[B+3.5]RU[AGA]KM[7.5];B[aa];W[bb];TB[aa:ba][cc]TW[dd][cc])"
    dataset = import_text(tmp_path, marked, GAME, "(;SZ[9]RE[B+R];B[aa])", marked.replace("W[bb]", "W[aa]"))
    first, second, third, cut = dataset.endings
    assert (first["margin"], first["marks"], SCORINGS[first["scoring"]]) == (3.5, 3, Scoring.AREA)
    assert (TAXES[first["tax"]], BONUSES[first["bonus"]]) == (Tax.NONE, HandicapBonus.STONES_LESS_ONE)
    assert (second["margin"], SCORINGS[second["scoring"]]) == (2.5, None)
    assert np.isnan(third["margin"])
    assert np.isnan(cut["margin"])
    assert np.flatnonzero(dataset.marks_of(0) == BLACK).tolist() == [0, 1]
    assert np.flatnonzero(dataset.marks_of(0) == WHITE).tolist() == [30]
    assert not dataset.marks_of(1).any()
    assert (dataset.marks_of(3) == dataset.marks_of(0)).all()


def test_splits_can_be_those_of_other_sets(tmp_path: Path) -> None:
    """As for games that another collection has with their territory, or with other names."""
    plain = [f"(;SZ[9]PB[{name}];B[aa];W[{chr(97 + name)}b])" for name in range(9)]
    longer = [text.replace(")", ";TB[cc][dd])") for text in plain]
    alone = "(;SZ[9];B[ee])"
    first, second = tmp_path / "first", tmp_path / "second"
    for folder, texts in ((first, plain[:5]), (second, plain[5:])):
        folder.mkdir()
        import_text(folder, "\n".join(texts))
    (tmp_path / "longer.sgf").write_text("\n".join([*longer, alone]))
    others = [first / "set", second / "set"]
    dataset = import_games([tmp_path / "longer.sgf"], tmp_path / "set", splits_of=others)
    expected = [split_of(text.encode()) for text in [*plain, alone]]
    assert [SPLITS[split] for split in dataset.games["split"]] == expected
    assert [split_of(text.encode()) for text in longer] != expected[:9]
    assert dataset.card.split_elsewhere == 9
    with pytest.raises(DatasetError, match="other files"):
        import_games([tmp_path / "longer.sgf"], tmp_path / "set")
    with pytest.raises(DatasetError, match="does not exist"):
        import_games([tmp_path / "longer.sgf"], tmp_path / "set2", splits_of=[tmp_path / "none"])


def test_unique_keeps_moves_and_stones_with_their_games(records: list[str], tmp_path: Path) -> None:
    folder = tmp_path / "records"
    (folder / "a0.sgf").write_text("\n".join(records[5:25]))
    dataset = import_games([folder], tmp_path / "set", unique=True)
    assert (dataset.card.games, dataset.card.repeated) == (40, 20)
    plain = import_games([folder / "a.sgf.gz"], tmp_path / "plain")
    same = {tuple(plain.moves_of(number).moves.tolist()) for number in range(30)}
    assert same <= {tuple(dataset.moves_of(number).moves.tolist()) for number in range(40)}


class Killed(BaseException):
    """Stands for a kill: no handler of ours catches it."""


def test_a_kill_at_any_write_loses_little_and_leaves_nothing_that_looks_whole(
    records: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dataset_import, "_PART_BYTES", 4000)
    whole = import_games([tmp_path / "records"], tmp_path / "whole")
    writes = 0
    left = 0

    def dying(write):
        def killed_write(*arguments):
            nonlocal left
            if left == 0:
                raise Killed
            left -= 1
            return write(*arguments)

        return killed_write

    for module in (dataset_import, dataset_parts, dataset_assembly):
        monkeypatch.setattr(module, "write_atomically", dying(disk.write_atomically))
    monkeypatch.setattr(dataset_assembly, "_write_array", dying(dataset_assembly._write_array))
    while True:
        left = writes
        folder = tmp_path / f"killed{writes}"
        try:
            import_games([tmp_path / "records"], folder)
            break
        except Killed:
            with pytest.raises(DatasetError, match="was not imported to its end"):
                Dataset.open(folder)
        left = 1000
        assert import_games([tmp_path / "records"], folder).digest == whole.digest
        assert 1000 - left == max(9 - writes, 6)  # what was written is not written again, but the files of the set are
        writes += 1
    assert writes > 6


def test_a_finished_set_is_not_imported_again(records: list[str], tmp_path: Path, monkeypatch) -> None:
    first = import_games([tmp_path / "records"], tmp_path / "set")
    monkeypatch.setattr(dataset_import, "make_part", None)
    assert import_games([tmp_path / "records"], tmp_path / "set").digest == first.digest
    (tmp_path / "records" / "b0.sgf").write_text(GAME)
    with pytest.raises(DatasetError, match="they have changed since: give a new folder"):
        import_games([tmp_path / "records"], tmp_path / "set")


def test_folders_that_hold_something_else_are_refused(tmp_path: Path) -> None:
    (tmp_path / "game.sgf").write_text(GAME)
    with pytest.raises(DatasetError, match="holds other files"):
        import_games([tmp_path / "game.sgf"], tmp_path)
    lock = DirectoryLock(tmp_path)
    with pytest.raises(DirectoryInUse):
        import_games([tmp_path / "game.sgf"], tmp_path)
    lock.release()


def test_nothing_to_import_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"no games to import: .*no game found"):
        import_text(tmp_path, "nothing")
    (tmp_path / "empty").mkdir()
    with pytest.raises(DatasetError, match="no games to import: no files"):
        import_games([tmp_path / "empty"], tmp_path / "other")
    assert not (tmp_path / "other").exists()


def test_a_folder_in_which_there_was_nothing_to_import_takes_other_files(tmp_path: Path) -> None:
    (tmp_path / "set").mkdir()
    with pytest.raises(DatasetError, match="no games to import"):
        import_text(tmp_path, "nothing")
    assert import_text(tmp_path, GAME).card.games == 1


@pytest.mark.parametrize("name", [GAMES, MOVES, CARD])
@pytest.mark.parametrize("damage", [lambda data: data[:-1], lambda data: data[:-5] + b"?" + data[-4:], lambda _: b""])
def test_a_damaged_set_is_refused(tmp_path: Path, name: str, damage) -> None:
    dataset = import_text(tmp_path, GAME)
    path = dataset.path / name
    path.write_bytes(damage(path.read_bytes()))
    if name == CARD and b"}" in path.read_bytes()[-2:]:
        return  # a card without its last line break is whole
    with pytest.raises(DatasetError, match="damaged"):
        Dataset.open(dataset.path)


def test_what_is_no_set_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="does not exist"):
        Dataset.open(tmp_path / "missing")
    dataset = import_text(tmp_path, GAME)
    (dataset.path / MOVES).unlink()
    with pytest.raises(DatasetError, match="cannot be read"):
        Dataset.open(dataset.path)


def test_select_by_size_split_and_rank(records: list[str], tmp_path: Path) -> None:
    dataset = import_games([tmp_path / "records"], tmp_path / "set")
    chosen = dataset.select(size=5, split=Split.TRAINING, weakest="1k").tolist()
    expected = [
        number
        for number, text in enumerate(records)
        if "SZ[5]" in text
        and split_of(text.encode()) is Split.TRAINING
        and all(f"{color}R[{rank}]" not in text for color in "BW" for rank in ("7k",))
        and all(f"{color}R[" in text for color in "BW")
    ]
    assert chosen == expected
    assert dataset.select().size == 40


def test_counts(tmp_path: Path) -> None:
    report = count_games(import_text(tmp_path, GAME, GAME.replace("[7d]", "[1p]"), "(;SZ[5];B[aa])", "no game"))
    assert json.loads(json.dumps(report)) == report
    assert (report["games"], report["moves"], report["positions"], report["repeated"]) == (3, 9, 7, 1)
    assert report["by_size"] == {"5": 1, "9": 2}
    assert report["by_rank"] == {"1p": 1, "7d": 1, "3k": 2, "?": 2}
    assert report["by_result"] == {"?": 1, "score": 2}
    assert list(report["by_source"].values()) == [1, 1, 1]
    assert report["skipped"] == {"cannot be read": 1}
