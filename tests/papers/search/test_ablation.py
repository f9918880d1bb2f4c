from __future__ import annotations

import pytest

from katachi.core.disk import format_toml
from katachi.papers.documents import format_section
from katachi.papers.experiment import Budget
from katachi.papers.search import strength as ablation
from katachi.papers.search.strength import PARTS, Ablation, Part, worth
from katachi.players.specs import parse_spec

TABLE = Ablation()


@pytest.mark.parametrize("name", PARTS)
def test_every_part_is_a_player_that_differs_from_the_full_one(name):
    spec = parse_spec(format_toml(PARTS[name].player(50)))
    full = parse_spec(format_toml(Part("", "", {}).player(50)))
    assert spec.limit == full.limit
    assert spec != full
    assert spec.build(1) is not None


def test_a_switch_is_turned_whatever_it_is():
    assert PARTS["captures"].sign == "−"
    assert PARTS["captures"].search == {"playouts": {"captures": False}}
    assert PARTS["replies"].is_added
    assert PARTS["replies"].search == {"playouts": {"replies": True}}


def test_the_full_player_meets_all_others(make_scope, monkeypatch):
    monkeypatch.setattr(ablation, "SIZE", 3)
    monkeypatch.setattr(ablation, "SIMULATIONS", {Budget.SMOKE: 3})
    some = {name: PARTS[name] for name in ("rave", "replies")}
    monkeypatch.setattr("katachi.papers.search.strength.PARTS", some)  # taking parts out would change their order
    results = TABLE.measure(make_scope())
    assert results["simulations"] == 3
    assert [(pair["first"], pair["second"], pair["games"]) for pair in results["pairs"]] == [
        ("rave", "full", 2),
        ("replies", "full", 2),
    ]
    assert [row.id for row in TABLE.rows(results)] == ["ablation/rave", "ablation/replies"]


def test_a_part_that_helps_has_a_positive_worth(tmp_path):
    results = {
        "simulations": 1000,
        "games": 400,
        "distinct": 400,
        "ratings": {"rave": [-100, -150, -55], "replies": [20, -30, 70], "full": [0, 0, 0]},
        "pairs": [
            {"first": "rave", "second": "full", "games": 200, "wins": 72, "draws": 0},
            {"first": "replies", "second": "full", "games": 200, "wins": 106, "draws": 0},
        ],
        "seconds": {"rave": 0.03, "replies": 0.08, "full": 0.04},
    }
    assert worth(results, "rave") == (100, 55, 150)
    assert worth(results, "replies") == (20, -30, 70)
    assert [row.what for row in TABLE.rows(results)] == [
        "− RAVE: worth in Elo",
        "+ last good reply in playouts: worth in Elo",
    ]
    text = format_section(TABLE, results, tmp_path)
    assert "| − RAVE | 200 | 36 (29.7 … 42.9) | 100 (55 … 150) | 0.75 |" in text
    assert "400 games on 9×9 at 1,000 simulations per move" in text
    drawn = (tmp_path / "ablation.svg").read_text()
    assert "− RAVE" in drawn
    assert "What each part is worth" in drawn
