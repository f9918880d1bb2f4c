"""The tools of the repository: changes for the worse, what katachi is made of, and programs that drive it."""

from __future__ import annotations

import json
import re
import runpy
import sys
import tomllib
from pathlib import Path
from zipfile import ZipFile

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
MUTATE = runpy.run_path(str(ROOT / "tools" / "mutate.py"))
SBOM = runpy.run_path(str(ROOT / "tools" / "sbom.py"))
sys.path.insert(0, str(ROOT / "tools"))  # where it finds sbom.py
LOCK = runpy.run_path(str(ROOT / "tools" / "lock.py"))
sys.path.remove(str(ROOT / "tools"))
OTHERS = runpy.run_path(str(ROOT / "tools" / "other_programs.py"))

MODULE = """
def count(values, limit=10):
    total = 0
    for value in values:
        if value < limit and value not in (3, 4):
            total += value
    print(total)
    return total if total else None
"""


def test_a_mutant_is_the_module_with_one_change():
    found = {mutant.what: mutant.text for mutant in MUTATE["mutate"]("m.py", MODULE)}
    assert len(found) == 11
    assert "value <= limit and value not in (3, 4)" in found["value < limit: LtE"]
    assert "value < limit or value not in (3, 4)" in found["value < limit and value not in (3, 4): Or"]
    assert "total -= value" in found["total += value: Sub"]
    assert "limit=11" in found["10 becomes 11"]
    assert "print" not in found["without print(total)"]
    assert "if not total" in found["not (total)"]
    lines = MUTATE["ast"].unparse(MUTATE["ast"].parse(MODULE)).splitlines()
    for text in found.values():
        assert sum(one != other for one, other in zip(lines, text.splitlines(), strict=True)) == 1


def test_every_module_that_is_mutated_has_tests():
    for module, tests in MUTATE["TESTS"].items():
        assert (ROOT / "src" / "katachi" / module).is_file()
        assert tests
        assert all((ROOT / test.split("::")[0]).is_file() for test in tests)


def test_a_fault_is_noticed(tmp_path):
    workspace = MUTATE["Workspace"](tmp_path)
    text = (ROOT / "src/katachi/gtp/protocol.py").read_text(encoding="utf-8")
    fault = MUTATE["Mutant"]("gtp/protocol.py", 1, "", text.replace("'=' if ok else '?'", "'?'"))
    assert fault.text != text
    assert workspace.kills(fault)
    assert not workspace.kills(fault._replace(text=text))


def test_the_bill_of_materials():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    pins = SBOM["read_pins"]((ROOT / "constraints.txt").read_text(encoding="utf-8"))
    sbom = SBOM["make_sbom"](project, pins)
    components = {each["name"]: each for each in sbom["components"]}
    assert sbom["bomFormat"] == "CycloneDX"
    assert components.keys() == pins.keys()
    for text in project["dependencies"]:
        name = SBOM["normalize"](Requirement(text).name)
        assert components[name]["scope"] == "required", name
    assert components["llvmlite"]["scope"] == "required", "what numba needs"
    assert components["pytest"]["scope"] == "optional"
    known = {each["bom-ref"] for each in sbom["components"]}
    assert all(known.issuperset(each["dependsOn"]) for each in sbom["dependencies"])
    assert len(sbom["dependencies"]) == len(known) + 1


def test_the_bill_is_written(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["sbom.py", str(tmp_path / "new" / "sbom.json")])
    SBOM["main"]()
    assert "components: written to" in capsys.readouterr().out
    assert (tmp_path / "new" / "sbom.json").is_file()


def test_other_programs_are_pinned_with_hashes():
    pins = (OTHERS["PINS"] / "requirements.txt").read_text(encoding="utf-8").splitlines()[1:]
    assert all("==" in pin and " --hash=sha256:" in pin for pin in pins)
    packages = json.loads((OTHERS["PINS"] / "package-lock.json").read_text(encoding="utf-8"))["packages"]
    assert {name for name, package in packages.items() if "integrity" not in package} == {""}
    assert packages[""]["dependencies"] == json.loads((OTHERS["PINS"] / "package.json").read_text())["dependencies"]


def test_a_part_of_katrain_is_kept(tmp_path):
    with ZipFile(tmp_path / "katrain.whl", "w") as wheel:
        for name in ("katrain/core/engine.py", "katrain/KataGo/katago", "katrain/models/net.bin.gz", "pysgf/parser.py"):
            wheel.writestr(name, "x")
    OTHERS["extract"](tmp_path / "katrain.whl", tmp_path / "kept")
    kept = sorted(str(file.relative_to(tmp_path / "kept")) for file in (tmp_path / "kept").rglob("*") if file.is_file())
    assert kept == ["katrain/core/engine.py", "pysgf/parser.py"]


def test_what_cannot_be_had_is_reported(tmp_path, monkeypatch, capsys):
    def fail(folder):
        OTHERS["run"]([sys.executable, "-c", "import sys; sys.exit('no network')"])

    made = []
    monkeypatch.setitem(OTHERS["PROGRAMS"], "katrain", (fail, ("requirements.txt",)))
    monkeypatch.setitem(OTHERS["PROGRAMS"], "node", (made.append, ("package.json",)))
    monkeypatch.setattr(sys, "argv", ["other_programs.py", str(tmp_path)])
    OTHERS["main"]()
    OTHERS["main"]()
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "katrain: tests that need it are skipped: no network"
    assert said[1].startswith("node: installed in")
    assert said[2:] == said[:1], "what is there is not installed again"
    assert made == [tmp_path / "node"]


def test_what_katachi_needs_to_run_is_locked():
    needed = LOCK["read_needed"]()
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    assert SBOM["read_pins"](lock) == needed, "python tools/lock.py requirements.lock"
    assert {"numba", "llvmlite", "nicegui", "uvicorn", "httptools", "setuptools"} <= needed.keys()
    assert not {"torch", "pytest"} & needed.keys()
    for package in lock.split("\n", 1)[1].replace(" \\\n", " ").splitlines():
        name, *hashes = package.split()
        assert hashes, name
        assert all(re.fullmatch("--hash=sha256:[0-9a-f]{64}", each) for each in hashes), name


def test_the_hashes_of_a_version():
    files = ["markdown_it_py-4.3.0-py3-none-any.whl", "markdown-it-py-4.3.0.tar.gz", "markdown_it_py-4.3.0.1.tar.gz"]
    files += ["markdown_it_py-4.2.0-py3-none-any.whl", "markdown_it_py_more-4.3.0.tar.gz", "markdown-4.3.0.tar.gz"]
    page = "\n".join(f'<a href="x/{file}#sha256={number:064x}">{file}</a><br/>' for number, file in enumerate(files))
    page += f'<a href="y#sha256={99:064x}" data-yanked="">markdown_it_py-4.3.0-cp311-none-any.whl</a>'
    assert LOCK["pick_hashes"](page, "markdown-it-py", "4.3.0") == [f"{number:064x}" for number in range(2)]
    assert LOCK["format_lock"]({("a", "1"): ["b", "c"]}).splitlines()[1:] == [
        *("a==1 \\", "    --hash=sha256:b \\", "    --hash=sha256:c")
    ]
    with pytest.raises(SystemExit, match="a 2: PyPI has no files of it"):
        LOCK["format_lock"]({("a", "2"): []})


def test_mutants_are_chosen_by_module_or_folder():
    some, count = MUTATE["choose"](["gtp/commands", "core/disk.py"], 30, seed=1)
    assert len(some) == 30 < count
    assert {mutant.module.rsplit("/", 1)[0] for mutant in some} == {"gtp/commands", "core"}
    assert MUTATE["choose"](["gtp/commands", "core/disk.py"], 30, seed=1) == (some, count)
    assert MUTATE["choose"]([], 1, seed=1)[1] > 2000
    with pytest.raises(SystemExit, match="no/such: known are"):
        MUTATE["choose"](["no/such"], 1, seed=1)


def test_annotations_are_not_changed():
    text = "from typing import Literal\nif TYPE_CHECKING:\n    import x\n\ndef f(a: Literal[1] = 2) -> Literal[3]: ..."
    assert [mutant.what for mutant in MUTATE["mutate"]("m.py", text)] == ["2 becomes 3"]


def test_what_became_of_mutants_is_kept(tmp_path):
    killed, survivor, new = MUTATE["choose"](["core/disk.py"], 3, seed=1)[0]
    results = MUTATE["Results"](tmp_path / "run" / "results.jsonl")
    results.add(killed, killed=True)
    results.add(survivor, killed=False)
    again = MUTATE["Results"](tmp_path / "run" / "results.jsonl")
    assert [again.get(mutant) for mutant in (killed, survivor, new)] == [True, False, None]
    assert again.get(killed._replace(text=killed.text + "#")) is None, "the source has changed"
    lines = list(MUTATE["report"]([killed, survivor, new], again, 99))
    assert lines[1] == "| core/disk.py | 1 | 2 |"
    assert lines[-2].startswith(f"survives: core/disk.py:{survivor.line}: ")
    assert lines[-1] == "1 of 2 mutants killed (50.0 %), of 99 that there are"
    retried = MUTATE["Results"](tmp_path / "run" / "results.jsonl", again=True)
    assert [retried.get(mutant) for mutant in (killed, survivor)] == [True, None]


def test_tests_that_fail_without_a_change_count_for_nothing(tmp_path, monkeypatch):
    monkeypatch.setitem(MUTATE["TESTS"], "core/disk.py", ["tests/no_such_test.py"])
    some, _ = MUTATE["choose"](["core/disk.py"], 1, seed=1)
    results = MUTATE["Results"](tmp_path / "results.jsonl")
    with pytest.raises(SystemExit, match=r"the tests of core/disk\.py fail without a change"):
        MUTATE["try_all"](some, results, 60, show=False)
    assert results.get(some[0]) is None
