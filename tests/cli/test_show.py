from __future__ import annotations

import re
import webbrowser
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from urllib.parse import urlparse

import numpy as np
import pytest

from helpers.networks import tiny_config, tiny_onnx
from katachi.core.models import load_model
from katachi.go.points import format_vertex
from katachi.policy.evaluator import save_policy
from katachi.sgf import load_sgf
from katachi.territory.evaluator import Territory, save_territory
from katachi.territory.inputs import TABLE_SHAPE, PointInputs
from katachi.territory.network import DagRnn, DagRnnConfig

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


@pytest.fixture
def network(tmp_path) -> str:
    config = tiny_config(5)
    save_policy(tmp_path / "net", config, tiny_onnx(config))
    return str(tmp_path / "net")


@pytest.fixture
def record(tmp_path) -> str:
    (tmp_path / "game.sgf").write_text("(;SZ[5];B[cc];W[dd];B[cd])")
    return str(tmp_path / "game.sgf")


def test_what_a_network_would_play(run_katachi, network, record):
    ran = run_katachi("show", network)
    assert ran.code == 0
    assert "plain cnn, 1×2, over maddison-9 planes, 5×5" in ran.out
    assert "Black to play" in ran.out
    assert len(re.findall(r"(?:[A-E][1-5]|pass) +[0-9.]+%", ran.out)) == 10
    later = run_katachi("show", network, "--sgf", record, "--move", "3")
    assert "(O)" in later.out
    assert "Black to play" in later.out
    assert "White to play" in run_katachi("show", network, "--sgf", record).out


def test_the_likeliest_move_is_that_of_the_policy(run_katachi, network, record):
    model = load_model(network)
    policy = model.evaluate([load_sgf(record)[0].replay().board]).policy[0]
    ran = run_katachi("show", network, "--sgf", record)
    best = format_vertex(int(policy[:-1].argmax()), 5)
    assert re.search(rf"{best} +{policy.max():.1%}", ran.out)


def test_what_any_model_would_play_as_files(run_katachi, network, record, tmp_path):
    svg, html = tmp_path / "board.svg", tmp_path / "board.html"
    for model in (network, str(GOLDEN / "local-shapes")):
        ran = run_katachi("show", model, "--sgf", record, "--svg", str(svg), "--html", str(html))
        assert ran.code == 0
        picture = ElementTree.fromstring(svg.read_text())
        labels = [text.text for text in picture.iter("{http://www.w3.org/2000/svg}text")]
        assert sum(int(text) for text in labels[10:]) > 50  # after the coordinates: shares in percent
        assert f"What {Path(model).name} would play" in html.read_text()


def test_whose_each_point_will_be(run_katachi, record, tmp_path):
    net = DagRnn.new(DagRnnConfig(), PointInputs(), seed=0)
    territory = Territory(net, np.zeros(TABLE_SHAPE, dtype=np.float32))
    save_territory(tmp_path / "land", territory, points=5.0, temperature=1.0)
    model, svg, html = str(tmp_path / "land"), tmp_path / "land.svg", tmp_path / "land.html"
    lead = float(territory.ownership([load_sgf(record)[0].replay(before_move=3).board])[0].sum())
    ran = run_katachi("show", model, "--sgf", record, "--move", "3")
    assert ran.code == 0, ran.err
    assert f"{'Black' if lead > 0 else 'White'} is ahead by {abs(lead):.1f} points on the board." in ran.out.replace(
        "\n", " "
    )
    assert re.search(r"[A-E][1-5] +[0-9.]+%", ran.out)
    assert run_katachi("show", model, "--sgf", record, "--svg", str(svg), "--html", str(html)).code == 0
    shaded = [rect for rect in ElementTree.fromstring(svg.read_text()).iter() if "rgba(" in rect.get("fill", "")]
    assert len(shaded) == 25
    assert "Whose each point will be, by land" in html.read_text()


def test_wrong_positions(run_katachi, network, record, tmp_path):
    (tmp_path / "large.sgf").write_text("(;SZ[9];B[cc])")
    for arguments, reason in (
        (["--move", "3"], "a move of which game"),
        (["--sgf", "no-such.sgf"], "no-such.sgf"),
        (["--sgf", str(tmp_path / "large.sgf")], "5×5 boards, not 9×9"),
    ):
        ran = run_katachi("show", network, *arguments)
        assert ran.code == 2
        assert reason in ran.err


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["no-such-model"], "no such model"),
        ([str(GOLDEN / "local-shapes"), "--set", "LI 3x3"], "no set LI 3x3"),
        ([str(GOLDEN / "local-shapes"), "--set", "big"], "not a set of shapes"),
        ([str(GOLDEN / "local-shapes"), "--svg", "/no/such/folder/x.svg"], "/no/such/folder"),
    ],
)
def test_bad_input_is_one_sentence(run_katachi, arguments, reason):
    ran = run_katachi("show", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert reason in ran.err
    assert len(ran.err.splitlines()) == 1
