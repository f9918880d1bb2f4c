from __future__ import annotations

import json
import shutil

import pytest

from katachi.cli import setup as doctor
from katachi.cli.setup import Finding


def findings(ran) -> dict[str, dict]:
    return {finding["what"]: finding for finding in json.loads(ran.out)["findings"]}


def test_a_healthy_set_up(run_katachi):
    ran = run_katachi("doctor", "--json")
    assert ran.code == 0
    found = findings(ran)
    assert {"Python", "processor", "threads", "katachi", "numba", "numpy", "kernel cache", "GNU Go"} <= set(found)
    assert all(finding["ok"] for finding in found.values() if finding["essential"])


def test_the_table(run_katachi, monkeypatch):
    monkeypatch.setattr(doctor, "CHECKS", (lambda: iter([Finding("thing", "pip install 'katachi[x]'", False, False)]),))
    ran = run_katachi("doctor")
    assert ran.code == 0
    assert "thing" in ran.out
    assert "katachi[x]" in ran.out


def test_something_essential_fails(run_katachi, monkeypatch):
    monkeypatch.setattr(doctor, "_is_writable", lambda folder: False)
    ran = run_katachi("doctor", "--json")
    assert ran.code == 1
    assert json.loads(ran.out)["ok"] is False
    assert "not writable" in findings(ran)["kernel cache"]["found"]
    assert "FAILS" in run_katachi("doctor").out


def test_a_library_is_missing(run_katachi, monkeypatch):
    monkeypatch.setattr(doctor, "_installed", lambda name: None if name == "rich" else "1.0")
    ran = run_katachi("doctor", "--json")
    assert ran.code == 1
    assert findings(ran)["rich"]["found"].startswith("missing (rich")


def test_gnugo_may_be_missing(run_katachi, monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda *_, **__: None)
    ran = run_katachi("doctor", "--json")
    assert ran.code == 0
    assert findings(ran)["GNU Go"]["ok"] is False


@pytest.mark.parametrize("exists", [True, False])
def test_writing_is_tried(tmp_path, exists):
    folder = tmp_path / "cache"
    if exists:
        folder.mkdir()
    assert doctor._is_writable(folder)
    assert list(folder.iterdir()) == []
    (tmp_path / "file").touch()
    assert not doctor._is_writable(tmp_path / "file" / "inside")
