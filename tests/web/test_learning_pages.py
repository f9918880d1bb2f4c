"""What the pages about learning show: runs that are watched, models, and a lesson."""

from __future__ import annotations

import asyncio
import json
from threading import Event

import pytest

from katachi.analysis.records import CandidateRecord, MoveRecord, PositionRecord
from katachi.players.specs import load_player
from katachi.web.engines import EnginePool
from katachi.web.learning_pages import Puzzle, draw_learned, judge_answer, model_names
from katachi.web.sessions import App, GameStore, LessonJob
from katachi.web.table import TableError
from katachi.web.widgets import Curve, find_run, list_runs, read_curves


def write_lines(path, *lines) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines) + '{"torn', encoding="utf-8")


def test_a_training_has_curves(tmp_path):
    rates = [{"games": 10, "win_rates": [0.25, 0.75]}, {"games": 20, "win_rates": [1]}]
    write_lines(tmp_path / "five/metrics.jsonl", *rates)
    write_lines(tmp_path / "net/metrics.jsonl", {"positions": 9, "validation_top_1": 0.4, "loss": 2.0}, {"odd": 1}, [])
    (tmp_path / "five/run.json").write_text('{"status": "running"}', encoding="utf-8")
    assert read_curves(tmp_path / "five") == [Curve("wins against alp", ((10.0, 0.5), (20.0, 1.0)))]
    assert read_curves(tmp_path / "net") == [Curve("validation top 1", ((9.0, 0.4),))]
    assert {(run.name, run.status) for run in list_runs(tmp_path)} == {("five", "running"), ("net", "")}


def test_a_match_has_a_score_and_a_last_game(tmp_path):
    games = [("a", "b", "B+3.5"), ("b", "a", "B+R"), ("a", "b", "0"), ("b", "a", "W+2")]
    lines = [{"black": {"name": black}, "white": {"name": white}, "result": result} for black, white, result in games]
    write_lines(tmp_path / "match/games.jsonl", *lines)
    run = find_run(tmp_path, "match")
    assert run.is_match
    assert [tuple(score) for score in run.scores()] == [("a", 2, 4), ("b", 1, 4)]
    assert run.last_game() is None
    (tmp_path / "match/games").mkdir()
    (tmp_path / "match/games/1.sgf").write_text("(;SZ[5];B[cc])", encoding="utf-8")
    assert len(run.last_game().replay().moves) == 1


@pytest.mark.parametrize("name", ["..", ".", "", "five/../five", "/etc"])
def test_a_name_is_never_a_path(tmp_path, name):
    write_lines(tmp_path / "runs/five/metrics.jsonl", {"games": 1, "win_rates": [1]})
    write_lines(tmp_path / "metrics.jsonl", {"games": 1, "win_rates": [1]})
    assert find_run(tmp_path / "runs", name) is None


def test_a_model_shows_its_shapes():
    learned = draw_learned("shapes-5")
    assert "shapes-5" in model_names()
    assert "5×5" in dict(learned.card)["model"]
    titles = [section.title for section in learned.sections]
    assert "LI 2×2" in titles
    assert titles[-1] == "How it learned"
    assert all(figure.svg.startswith("<svg") for section in learned.sections for figure in section.figures)
    with pytest.raises(TableError, match="no such model"):
        draw_learned("../shapes-5")


def test_a_lesson_is_found_and_taught(tmp_path):
    done = LessonJob({"games": 100, "largest": 1}, tmp_path / "pupil").run(lambda _: None, Event())
    assert (done.games, done.figures[0].caption[0] in "+−") == (100, True)


_ENGINE = 'kind = "gtp"\ncommand = "gnugo --mode gtp"\n'


def test_what_a_run_has_learned_can_be_played_unless_it_runs_a_program(tmp_path):
    for name, spec in (("mine", 'kind = "search"\n[evaluator]\nmodel = "shapes-5"\n'), ("other", _ENGINE)):
        (tmp_path / "runs" / name).mkdir(parents=True)
        (tmp_path / "runs" / name / "metrics.jsonl").write_text("", encoding="utf-8")
        (tmp_path / "runs" / name / "player.toml").write_text(spec, encoding="utf-8")

    async def scene():
        application = App(GameStore(tmp_path / "data"), {}, EnginePool(1), tmp_path / "runs")
        found = application.find_opponent("", "run:mine")
        assert found.size == 5
        assert load_player(found.spec, size=5).name
        for name in ("other", "nothing", "../mine"):
            assert application.find_opponent("", f"run:{name}") is None
        await application.close()

    asyncio.run(scene())


def test_a_puzzle_accepts_what_is_as_good_and_says_what_others_lose():
    names = (("E5", 6.0), ("C3", 5.8), ("G7", 1.0))
    candidates = tuple(CandidateRecord(move=move, black_lead=lead, visits=40) for move, lead in names)
    before = PositionRecord(game="", turn=2, node=2, to_play="black", candidates=candidates)
    move = MoveRecord(number=3, color="black", move="A1", loss=0.3, points_lost=9.0, best="E5")
    puzzle = Puzzle("", before, move)
    assert judge_answer(puzzle, "C3") == (True, "Right: C3 is as good as any.")
    assert judge_answer(puzzle, "G7") == (False, "G7 gives away 5 points. Look again.")
    assert judge_answer(puzzle, "A1") == (False, "A1 was played in the game: it lost 9 points.")
    assert not judge_answer(puzzle, "J9")[0]
