"""The tools of the repository: changes for the worse, and what katachi is made of."""

from __future__ import annotations

import runpy
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
MUTATE = runpy.run_path(str(ROOT / "tools" / "mutate.py"))
SBOM = runpy.run_path(str(ROOT / "tools" / "sbom.py"))

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
        assert all((ROOT / test).is_file() for test in tests)


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
        name = SBOM["normalize"](SBOM["_NAME"].match(text)[0])
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
