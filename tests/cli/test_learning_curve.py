"""The learning curve of the demo, drawn as it grows."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from katachi.cli import _training
from katachi.cli._training import LearningCurve
from katachi.core.training import MetricLine
from katachi.go.compiling import Compilation
from katachi.shapes.train import TRAINING, ShapeTraining


@pytest.fixture
def console() -> Console:
    return Console(file=io.StringIO(), width=80)


def draw(curve: LearningCurve, console: Console) -> list[str]:
    with console.capture() as drawn:
        console.print(curve)
    return drawn.get().splitlines()


def test_it_reaches_from_tens_of_percent_to_all(console):
    curve = LearningCurve(TRAINING, ShapeTraining(size=5, test_games=100), console)
    for rate in (0.6, 0.64, 0.76, 1.0):
        curve.watch(MetricLine({"size": 5, "games": 10, "win_rates": [rate]}))
    curve.tick(1234, total=5000)
    rows = draw(curve, console)
    assert [row.rstrip() for row in rows[:5]] == [
        " 100% ┤   █",
        "  92% ┤   █",
        "  84% ┤   █",
        "  76% ┤  ██",
        "  68% ┤ ▄██",
    ]
    assert rows[5].startswith("against alp: 100.0% (96%–100%)")
    assert "1,234 games" in rows[6]


def test_a_learner_that_always_wins(console):
    curve = LearningCurve(TRAINING, ShapeTraining(size=5), console)
    curve.watch(MetricLine({"size": 5, "games": 10, "win_rates": [1.0]}))
    assert [row.rstrip() for row in draw(curve, console)[:5]] == [f"{share:4d}% ┤█" for share in (100, 98, 96, 94, 92)]


def test_what_is_compiled_is_named(console, monkeypatch):
    monkeypatch.setattr(_training, "compiling", lambda: Compilation("shapes.games.train", 10.0, 2.0))
    curve = LearningCurve(TRAINING, ShapeTraining(size=5), console)
    assert draw(curve, console)[-1].strip() == "compiling shapes.games.train, this once: 0 s"
