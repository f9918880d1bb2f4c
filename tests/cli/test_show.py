from __future__ import annotations

import webbrowser
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from urllib.parse import urlparse

import pytest

GOLDEN = Path(__file__).parents[1] / "golden" / "models" / "format-2"


def test_terminal(run_katachi):
    ran = run_katachi("show", str(GOLDEN / "local-shapes"), "--per-set", "2")
    assert ran.code == 0
    for part in ("local shapes, 5×5", "200 games of self-play", "50.0% (40.0–60.0%)", "LI 2×2", "LD 2×1"):
        assert part in ran.out


def test_files(run_katachi, tmp_path):
    svg, html = tmp_path / "shapes.svg", tmp_path / "shapes.html"
    ran = run_katachi("show", str(GOLDEN / "local-shapes"), "--set", "LI 2x2", "--svg", str(svg), "--html", str(html))
    assert ran.code == 0
    assert ran.out.splitlines() == [f"written to {svg}", f"written to {html}"]
    root = ElementTree.fromstring(svg.read_text())
    names = [text.text for text in root.iter("{http://www.w3.org/2000/svg}text") if text.get("class") == "name"]
    assert names == ["LI 2×2"]
    assert html.read_text().count("<section>") == 1


def test_open(run_katachi, monkeypatch):
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    ran = run_katachi("show", str(GOLDEN / "liberty-shapes"), "--open")
    assert ran.code == 0
    page = Path(urlparse(opened[0]).path)
    assert "What liberty-shapes has learned" in page.read_text()
    page.unlink()


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["no-such-model"], "no such model"),
        ([str(GOLDEN / "local-shapes"), "--set", "LI 3x3"], "no set LI 3x3"),
        ([str(GOLDEN / "local-shapes"), "--set", "big"], "no set of shapes"),
        ([str(GOLDEN / "local-shapes"), "--svg", "/no/such/folder/x.svg"], "/no/such/folder"),
    ],
)
def test_bad_input_is_one_sentence(run_katachi, arguments, reason):
    ran = run_katachi("show", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert reason in ran.err
    assert len(ran.err.splitlines()) == 1
