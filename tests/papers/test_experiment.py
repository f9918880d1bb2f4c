"""The framework with an experiment that knows no Go at all."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import ClassVar

import pytest

from katachi.papers.documents import write_document
from katachi.papers.experiment import (
    Amount,
    Budget,
    Experiment,
    ExperimentError,
    Row,
    Run,
    Scope,
    Table,
    Workers,
    do_runs,
    experiment_names,
    hours_of,
    is_done,
    keep_results,
    load_experiment,
    measure,
    measure_all,
    plan_all,
    planned,
    read_results,
)


def throw(sides: int, times: int) -> dict[str, int]:
    return {"sum": sides * times}


class Small(Table):
    name = "small"
    title = "The table small"
    sides = 6

    def measure(self, scope: Scope) -> dict[str, int]:
        times = scope.runs or {Budget.SMOKE: 1, Budget.HOUR: 10, Budget.FULL: 100}[scope.budget]
        run = Run("throw", throw, {"sides": self.sides, "times": times}, games=times)
        return do_runs([run], scope.folder, scope.workers, scope.watch)[0]

    def rows(self, results: dict[str, int]) -> list[Row]:
        return [
            Row(f"{self.name}/sum", "sum of the dice", 30, results["sum"], (1.0, 2.0), f"toy/{self.name}"),
            Row(f"{self.name}/sides", "sides", self.sides, self.sides, None, f"toy/{self.name}"),
        ]

    def draw(self, results: dict[str, int], pictures: Path) -> None:
        pictures.mkdir(parents=True, exist_ok=True)
        (pictures / f"{self.name}.svg").write_text("<svg/>")

    def section(self, results: dict[str, int]) -> str:
        return f"The dice show {results['sum']:,}.\n\n![{self.name}](toy/{self.name}.svg)"


class Large(Small):
    name = "large"
    title = "The table large"
    sides = 2000


EXPERIMENT = Experiment("toy", "Dice", (Small(), Large()), head="Measured: {measured}.")


def scope(folder: Path, **changes) -> Scope:
    values = {"budget": Budget.SMOKE, "watch": lambda progress: None, "runs": None, "workers": Workers()} | changes
    return Scope(folder, **values)


def test_each_table_has_a_folder_and_all_share_the_results(tmp_path):
    assert set(measure(EXPERIMENT, "small", scope(tmp_path))) == {"small"}
    assert set(measure(EXPERIMENT, "large", scope(tmp_path))) == {"large"}
    assert set(read_results(tmp_path)) == {"small", "large"}
    assert (tmp_path / "small" / "throw.json").exists()
    assert (tmp_path / "large" / "throw.json").exists()
    assert measure(EXPERIMENT, "all", scope(tmp_path)).keys() == {"small", "large"}


def test_results_so_far_are_kept_while_it_goes_on(tmp_path):
    class Slow(Small):
        name = "slow"

        def measure(self, within: Scope) -> dict[str, int]:
            within.keep({"sum": 1})
            assert read_results(tmp_path)["slow"]["sum"] == 1
            assert read_results(tmp_path)["slow"]["budget"] == "smoke"
            assert "It was stopped" in write_document(slow, tmp_path, tmp_path / "docs").read_text()
            return {"sum": 2}

    slow = replace(EXPERIMENT, tables=(Slow(),))
    assert measure(slow, "slow", scope(tmp_path))["slow"]["sum"] == 2
    assert read_results(tmp_path)["slow"]["sum"] == 2
    assert "It was stopped" not in write_document(slow, tmp_path, tmp_path / "docs").read_text()


def test_ours_stand_beside_what_the_experiment_names(tmp_path):
    measure(EXPERIMENT, "small", scope(tmp_path / "run"))
    text = write_document(replace(EXPERIMENT, baseline="target"), tmp_path / "run", tmp_path / "docs").read_text()
    assert "| what | target | ours (95 %) | n | verdict |" in text
    assert text.index("| sum of the dice |") < text.index("Measured: small.")


def test_results_say_how_they_were_measured(tmp_path):
    found = measure(EXPERIMENT, "small", scope(tmp_path, budget=Budget.HOUR))["small"]
    assert (found["sum"], found["budget"]) == (60, "hour")
    assert found["program"]["katachi"]
    assert measure(EXPERIMENT, "small", scope(tmp_path / "more", runs=3))["small"]["sum"] == 18


def test_rows_have_the_agreed_keys_in_order(tmp_path):
    rows = [asdict(row) for row in EXPERIMENT.rows(measure(EXPERIMENT, "all", scope(tmp_path)))]
    keys = ("id", "what", "published", "ours", "interval", "run", "n", "planned", "better", "holds", "source", "note")
    assert {tuple(row) for row in rows} == {keys}
    assert [row["ours"] for row in rows] == [6, 6, 2000, 2000]
    assert json.loads(json.dumps(rows[0]))["interval"] == [1.0, 2.0]


def test_unknown_names_are_answered_with_the_known_ones(tmp_path):
    with pytest.raises(ExperimentError, match="toy has no table big: there are small, large and all"):
        measure(EXPERIMENT, "big", scope(tmp_path))
    with pytest.raises(ExperimentError, match=r"there is no experiment silver: there are .*silver2007"):
        load_experiment("silver")


def test_every_paper_loads():
    for name in experiment_names():
        experiment = load_experiment(name)
        assert experiment.name == name
        assert len({table.name for table in experiment.tables}) == len(experiment.tables)


def test_the_document_is_made_from_results(tmp_path):
    measure(EXPERIMENT, "all", scope(tmp_path / "run"))
    path = write_document(EXPERIMENT, tmp_path / "run", tmp_path / "docs")
    text = path.read_text(encoding="utf-8")
    assert "Measured: small, large." in text
    assert "The dice show 2,000." in text
    assert "| sum of the dice | 30 | 6 (1 … 2) | – | missed |" in text
    assert "| sides |" not in text
    assert "Beside these, counts of the paper that are the same here: 2." in text
    assert (tmp_path / "docs" / "toy" / "large.svg").exists()


def test_the_document_can_be_made_again_without_the_run(tmp_path):
    measure(EXPERIMENT, "all", scope(tmp_path / "run"))
    first = write_document(EXPERIMENT, tmp_path / "run", tmp_path / "docs").read_bytes()
    assert write_document(EXPERIMENT, None, tmp_path / "docs").read_bytes() == first


def test_new_results_replace_those_of_their_table_alone(tmp_path):
    measure(EXPERIMENT, "all", scope(tmp_path / "run"))
    write_document(EXPERIMENT, tmp_path / "run", tmp_path / "docs")
    measure(EXPERIMENT, "small", scope(tmp_path / "again", runs=7))
    text = write_document(EXPERIMENT, tmp_path / "again", tmp_path / "docs").read_text(encoding="utf-8")
    assert "The dice show 42." in text
    assert "The dice show 2,000." in text


def test_without_results_there_is_one_clear_sentence(tmp_path):
    with pytest.raises(ExperimentError, match="there are no results of toy"):
        write_document(EXPERIMENT, None, tmp_path / "docs")
    (tmp_path / "results.json").write_text("{")
    with pytest.raises(ExperimentError, match="damaged: delete it and measure again"):
        write_document(EXPERIMENT, tmp_path, tmp_path / "docs")


# What to measure next, and for how long


class Stopped(Small):
    """Half of its games were played."""

    name = "stopped"

    def rows(self, results: dict[str, int]) -> list[Row]:
        return [
            Row("stopped/won", "won, %", 50, 50, (10, 90), n=10, planned=planned(results, dict.fromkeys(Budget, 20)))
        ]


def known(*tables: Table, budget: Budget = Budget.FULL, **more) -> dict[str, dict]:
    return {table.name: {"sum": 6, "budget": budget.value} | more for table in tables}


def test_a_table_is_done_when_nothing_is_left_of_its_budget():
    assert not is_done(Small(), Budget.HOUR, None)
    assert is_done(Small(), Budget.HOUR, known(Small())["small"])
    assert not is_done(Small(), Budget.FULL, known(Small(), budget=Budget.HOUR)["small"])
    assert not is_done(Small(), Budget.FULL, known(Small())["small"] | {"under way": True})
    assert not is_done(Stopped(), Budget.FULL, known(Stopped())["stopped"])
    assert is_done(Stopped(), Budget.FULL, known(Stopped(), asked=10)["stopped"])


def test_hours_are_those_that_it_took_else_those_that_are_said():
    class Said(Small):
        hours: ClassVar = {Budget.FULL: 7.0}

    took = {"sum": 6, "budget": "full", "took": 2.5}
    assert hours_of(Said(), Budget.FULL, took) == 2.5
    assert hours_of(Said(), Budget.FULL, took | {"under way": True}) == 7
    assert hours_of(Said(), Budget.HOUR, took) == 1
    assert hours_of(Small(), Budget.FULL, None) is None


def test_the_plan_has_open_figures_first_and_fits_the_time():
    class Long(Small):
        name = "long"
        hours: ClassVar = {Budget.FULL: 30.0}

    class Short(Small):
        name = "short"
        hours: ClassVar = {Budget.FULL: 3.0}

    class Unclear(Stopped):
        hours: ClassVar = {Budget.FULL: 22.0}

    toy = replace(EXPERIMENT, tables=(Small(), Large(), Long(), Unclear(), Short()))
    steps = plan_all({toy: known(Unclear(), Large())}, Amount.DAY)
    assert [(step.table.name, step.fits, step.is_done) for step in steps] == [
        ("long", False, False),
        ("short", True, False),
        ("stopped", False, False),
        ("small", True, False),
        ("large", False, True),
    ]
    assert [step.fits for step in plan_all({toy: known(Unclear(), Large())}, Amount.WEEK)] == [True] * 4 + [False]
    assert steps[2].to_json() == {
        "paper": "toy",
        "table": "stopped",
        "wanting": 1,
        "hours": 22.0,
        "done": False,
        "fits": False,
    }


def test_all_is_measured_until_the_time_is_up_and_resumed(tmp_path):
    class Picky(Small):
        name = "picky"

        def measure(self, within: Scope) -> dict[str, int]:
            raise ExperimentError("give --data SET")

    toy = replace(EXPERIMENT, tables=(Picky(), Small(), Large()))

    def go(hours: float) -> list[tuple[str, str]]:
        steps = plan_all({toy: read_results(tmp_path)}, Amount.SMOKE)
        return [(step.table.name, why) for step, why in measure_all(steps, {"toy": scope(tmp_path)}, hours)]

    assert go(0.0) == [("picky", "give --data SET"), ("small", "the time is up; the same command resumes")]
    assert read_results(tmp_path) == {}
    assert go(1.0) == [("picky", "give --data SET"), ("small", ""), ("large", "")]
    assert set(read_results(tmp_path)) == {"small", "large"}
    assert go(1.0) == [("picky", "give --data SET")]


def test_time_adds_up_over_interruptions(tmp_path):
    class Slow(Small):
        name = "slow"
        is_interrupted = True

        def measure(self, within: Scope) -> dict[str, int]:
            within.keep({"sum": 1})
            if self.is_interrupted:
                raise KeyboardInterrupt
            return {"sum": 2}

    slow = replace(EXPERIMENT, tables=(Slow(),))
    with pytest.raises(KeyboardInterrupt):
        measure(slow, "slow", scope(tmp_path))
    found = read_results(tmp_path)
    assert found["slow"]["under way"]
    keep_results(tmp_path, {"slow": found["slow"] | {"took": 5.0}})
    Slow.is_interrupted = False
    again = measure(slow, "slow", scope(tmp_path))["slow"]
    assert 5 <= again["took"] < 6
    assert "under way" not in again
    assert measure(slow, "slow", scope(tmp_path))["slow"]["took"] < 1
