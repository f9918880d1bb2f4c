"""Many files judged: through kills, in several processes, and always to the same bytes."""

from __future__ import annotations

import json
from itertools import pairwise
from threading import Event

import pytest

from katachi.analysis.batches import (
    LINES,
    REPORT,
    RUN,
    TABLE,
    AnalysisError,
    Journal,
    JudgeSettings,
    Outputs,
    ReviewStep,
    choose_depths,
    default_models,
    find_games,
    find_records,
    read_lines,
    review_game,
)
from katachi.analysis.records import PositionRecord, find_mistakes, format_line
from katachi.core.cards import ModelError
from katachi.core.contracts import Limit
from katachi.players.specs import SpecError
from katachi.sgf import load_sgf, parse_sgf

SETTINGS = JudgeSettings(player="strong-13", models=("shapes-5",), simulations=4)
GAMES = {
    "long.sgf": "(;SZ[5]KM[0.5];B[cc];W[bb];B[bc];W[cb];B[db];W[dc];B[dd];W[eb];B[da];W[ea];B[ba])",
    "two.sgf": "(;SZ[5];B[aa])(;SZ[5]C[mine];B[bb];W[cc])",
    "dirty.sgf": "hello (;SZ[5]KM[6,5];B[cc];W[zz];B[bb",
    "other.sgf": "(;GM[2];B[aa])",
    "large.sgf": "(;SZ[7];B[aa])",
}


@pytest.fixture
def files(tmp_path):
    folder = tmp_path / "games"
    folder.mkdir()
    for name, text in GAMES.items():
        (folder / name).write_text(text, encoding="utf-8")
    return [folder]


@pytest.fixture
def whole(files, tmp_path):
    """A run from beginning to end."""
    folder = tmp_path / "whole"
    assert Outputs(folder).write(files, SETTINGS) == 5
    return folder


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name not in (RUN, ".lock")}


def test_games_have_names_of_their_own(files):
    found = [(game.name, game.source.rpartition("/")[2]) for game in find_records(files)]
    assert found == [
        ("dirty", "dirty.sgf"),
        ("large", "large.sgf"),
        ("long", "long.sgf"),
        ("other", "other.sgf"),
        ("two", "two.sgf"),
        ("two-2", "two.sgf"),
    ]


def test_what_cannot_be_judged_is_left_out_with_its_reason(files, tmp_path):
    broken = tmp_path / "broken.sgf"
    broken.write_bytes(b"\0\1\2")
    problems = [found.problem for found in find_games([*files, broken], SETTINGS) if found.game is None]
    assert ["other.sgf: " in problems[0], "broken.sgf" in problems[1], len(problems)] == [True, True, 2]
    by_player = JudgeSettings(player="shapes-5")
    (problem,) = [found.problem for found in find_games([files[0] / "large.sgf"], by_player)]
    assert problem.endswith("large.sgf: this model evaluates 5×5 boards, not 7×7")


def test_models_for_other_sizes_are_not_asked(files):
    (found,) = find_games([files[0] / "large.sgf"], SETTINGS)
    assert found.game.evaluators == ()
    assert (default_models(5), default_models(7)) == (("shapes-5",), ())


def test_everything_is_written(files, whole):
    lines = list(read_lines(whole / LINES))
    assert [line.game for line in lines if line.kind == "game"] == ["dirty", "large", "long", "two", "two-2"]
    assert sum(line.positions for line in lines if line.kind == "game") == len(lines) - 5
    assert (whole / REPORT).read_text(encoding="utf-8").count('<section class="katachi">') == 5
    (game,) = load_sgf(whole / "two-2.sgf")
    assert game.root.text("C").startswith("mine\n\n=== katachi ===")
    assert game.root.get("SBKV") is not None
    assert json.loads((whole / RUN).read_bytes())["settings"]["simulations"] == 4


def test_an_analysis_of_an_analysis_is_the_same(whole, tmp_path):
    again = tmp_path / "again"
    Outputs(again).write([whole], SETTINGS)
    names = {path.name for path in again.glob("*.sgf")}
    assert len(names) == 5
    for name in names:
        assert (again / name).read_bytes() == (whole / name).read_bytes()


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.97, 1.0])
def test_a_killed_run_goes_on_to_the_same_bytes(files, whole, tmp_path, share):
    """A kill leaves some of the lines, the last of them torn."""
    killed = tmp_path / "killed"
    killed.mkdir()
    (killed / RUN).write_bytes((whole / RUN).read_bytes())
    lines = (whole / LINES).read_bytes()
    (killed / LINES).write_bytes(lines[: int(share * len(lines))])
    done = []
    Outputs(killed).write(files, SETTINGS, resume=True, watch=done.append)
    assert contents(killed) == contents(whole)
    assert sum(done) == lines.count(b'{"kind":"position"')


def test_several_processes_come_to_the_same_bytes(files, whole, tmp_path):
    parallel = tmp_path / "parallel"
    Outputs(parallel).write(files, SETTINGS, jobs=2)
    assert contents(parallel) == contents(whole)


def test_a_folder_in_use_is_not_begun_again(files, whole):
    with pytest.raises(AnalysisError, match="--resume continues it, or give another --out"):
        Outputs(whole).write(files, SETTINGS)
    other = SETTINGS.model_copy(update={"simulations": 5})
    with pytest.raises(AnalysisError, match="was started with another simulations"):
        Outputs(whole).write(files, other, resume=True)
    with pytest.raises(AnalysisError, match="an analysis of other games"):
        Outputs(whole).write([files[0] / "two.sgf"], SETTINGS, resume=True)
    (whole / RUN).write_text("nonsense", encoding="utf-8")
    with pytest.raises(AnalysisError, match="is damaged"):
        Outputs(whole).write(files, SETTINGS, resume=True)
    (whole / RUN).unlink()
    with pytest.raises(AnalysisError, match="give another --out"):
        Outputs(whole).write(files, SETTINGS)


def test_damaged_lines_are_refused(files, whole):
    (whole / LINES).write_bytes(b"nonsense\n" + (whole / LINES).read_bytes())
    with pytest.raises(AnalysisError, match="damaged"):
        Outputs(whole).write(files, SETTINGS, resume=True)


def test_a_folder_is_held_by_one(files, tmp_path):
    with Journal(tmp_path, SETTINGS, resume=False), pytest.raises(ValueError, match="another process is at work"):
        Journal(tmp_path, SETTINGS, resume=True)


def test_judges_that_do_not_exist(files):
    with pytest.raises(SpecError, match="no player is called 'nobody'"):
        list(find_games(files, JudgeSettings(player="nobody")))
    with pytest.raises(ModelError, match="there is no such model"):
        list(find_games(files, JudgeSettings(models=("nothing",))))


def test_a_search_has_one_thread_and_a_seed_of_its_position():
    with SETTINGS.judges(5, "abc", 3) as judges:
        assert judges.player.parameters["search.threads"] == 1
    with JudgeSettings(player="strong-13").judges(9, "abc", 3) as judges:
        assert judges.player.parameters["search.threads"] == 1


def test_a_table(files, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    Outputs(tmp_path / "out", html=False, parquet=True).write([files[0] / "long.sgf"], SETTINGS)
    assert not (tmp_path / "out" / REPORT).exists()
    rows = parquet.read_table(tmp_path / "out" / TABLE).to_pylist()
    _, *lines = read_lines(tmp_path / "out" / LINES)
    assert len(rows) == len(lines) == 12
    for row, line in zip(rows, lines, strict=True):
        assert (row["turn"], row["black_wins"], row["size"]) == (line.turn, line.black_wins, 5)
        assert row["move"] == (line.move and line.move.move)
        assert row["best"] == line.candidates[0].move
    shapes = lines[4].move.shapes[0]
    assert rows[4]["logit_change"] == shapes.logit_after - shapes.logit_before


def test_text_that_only_other_charsets_have_survives(tmp_path):
    path = tmp_path / "old.sgf"
    path.write_bytes("(;SZ[5]CA[windows-1252]PB[Jérôme];B[aa])".encode("windows-1252"))
    Outputs(tmp_path / "out").write([path], SETTINGS)
    (game,) = parse_sgf((tmp_path / "out" / "old.sgf").read_bytes())
    assert (game.black, game.root.properties["CA"]) == ("Jérôme", ["UTF-8"])


def test_lines_of_the_journal_survive_a_power_cut(files, tmp_path, synced):
    game = next(found.game for found in find_games(files, SETTINGS) if found.game is not None)
    with Journal(tmp_path / "run", SETTINGS, resume=False) as journal:
        assert RUN in synced[tmp_path / "run"]
        journal.write([game])
        assert synced[tmp_path / "run" / LINES] == format_line(game).encode()


def test_a_review_looks_at_all_first_and_searches_in_full_where_values_fall():
    settings = JudgeSettings(player="strong-9 search.threads=1", models=("policy-9",), simulations=16)

    def review() -> tuple[list[ReviewStep], list[PositionRecord]]:
        times = iter(range(1000))
        steps = list(review_game(nine, settings, clock=lambda: float(next(times))))
        known = {position.turn: position for step in steps for position in step.changed}
        return steps, [known[turn] for turn in sorted(known)]

    nine = parse_sgf("(;SZ[9]KM[5.5];B[ee];W[ge];B[aa];W[cc];B[ec];W[ai];B[cg];W[gg])")[0]
    steps, positions = review()
    assert (steps[0].done, steps[0].total, steps[0].seconds_left, len(steps[0].changed)) == (0, 9, None, 9)
    assert all(position.is_first_look and position.black_wins is not None for position in steps[0].changed)
    assert not any(find_mistakes(step.changed) for step in steps[:1]), "nothing is claimed at a first look"
    assert [step.done for step in steps] == list(range(10))
    assert steps[-1].seconds_left == 0
    left = [step.seconds_left for step in steps[1:]]
    assert left == sorted(left, reverse=True)
    assert not any(position.is_first_look for position in positions)
    depths = [sum(candidate.visits for candidate in position.candidates) for position in positions]
    assert {position.in_full for position in positions} == {True, False}
    assert max(depth for depth, each in zip(depths, positions, strict=True) if not each.in_full) < max(depths)
    assert all(before.in_full and each.in_full for before, each in pairwise(positions) if find_mistakes([each]))
    assert review()[1] == positions, "the same seed"
    stop = Event()
    stop.set()
    assert len(list(review_game(nine, settings, stop=stop))) == 1
    rest = list(review_game(nine, settings, [*steps[0].changed, *positions[3:7]]))
    assert [step.done for step in rest] == list(range(4, 10)), "what is known is not searched again"
    assert {each.turn: each for step in rest for each in step.changed} == dict(enumerate(positions))


def test_a_review_says_what_the_analysis_of_a_file_says(tmp_path):
    settings = JudgeSettings(player="strong-9", models=("shapes-9",), simulations=16)
    text = "(;SZ[9]KM[5.5];B[ee];W[ge];B[aa];W[cc];B[ec];W[ai];B[cg];W[gg])"
    (tmp_path / "game.sgf").write_text(text, encoding="utf-8")
    Outputs(tmp_path / "out", html=False).write([tmp_path / "game.sgf"], settings)
    _, *lines = read_lines(tmp_path / "out" / LINES)
    reviewed = {each.turn: each for step in review_game(parse_sgf(text)[0], settings) for each in step.changed}
    assert [reviewed[line.turn].model_copy(update={"game": "game"}) for line in lines] == lines


def test_a_slow_machine_finds_the_same(monkeypatch):
    settings = JudgeSettings(player="level-10", simulations=200)
    record = parse_sgf("(;SZ[9]KM[7];B[ee];W[ge];B[ai];W[gc])")[0]
    usual = [step.changed for step in review_game(record, settings)]
    monkeypatch.setattr("katachi.search.mcts._REPORT_SECONDS", 0.0)  # who watches would get a result at every turn
    assert [step.changed for step in review_game(record, settings)] == usual


def test_depths_do_not_vary_where_nothing_says_how_long_a_search_is():
    first = [PositionRecord(game="", turn=0, node=0, to_play="black", black_wins=0.5)]
    assert choose_depths(first, Limit(simulations=80), 1) == [10]
    assert choose_depths(first, Limit(seconds=1.0), 1) == [None]
    assert choose_depths([], Limit(simulations=80), 3) == [None] * 3
