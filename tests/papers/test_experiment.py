"""The framework with an experiment that knows no Go at all."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from katachi.papers.documents import write_document
from katachi.papers.experiment import (
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
    load_experiment,
    measure,
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
            return {"sum": 2}

    slow = replace(EXPERIMENT, tables=(Slow(),))
    assert measure(slow, "slow", scope(tmp_path))["slow"]["sum"] == 2
    assert read_results(tmp_path)["slow"]["sum"] == 2


def test_ours_stand_beside_what_the_experiment_names(tmp_path):
    measure(EXPERIMENT, "small", scope(tmp_path / "run"))
    text = write_document(replace(EXPERIMENT, baseline="target"), tmp_path / "run", tmp_path / "docs").read_text()
    assert "## Target and ours" in text
    assert "| what | target | ours (95 %) | run |" in text


def test_results_say_how_they_were_measured(tmp_path):
    found = measure(EXPERIMENT, "small", scope(tmp_path, budget=Budget.HOUR))["small"]
    assert (found["sum"], found["budget"]) == (60, "hour")
    assert found["program"]["katachi"]
    assert measure(EXPERIMENT, "small", scope(tmp_path / "more", runs=3))["small"]["sum"] == 18


def test_rows_have_the_agreed_keys_in_order(tmp_path):
    rows = [asdict(row) for row in EXPERIMENT.rows(measure(EXPERIMENT, "all", scope(tmp_path)))]
    assert {tuple(row) for row in rows} == {("id", "what", "published", "ours", "interval", "run")}
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
    assert "| sum of the dice | 30 | 6 (1 … 2) | `toy/small` |" in text
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
