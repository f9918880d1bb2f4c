from __future__ import annotations

import json

from katachi.core.models import find_model, open_model
from katachi.papers.experiment import Budget
from katachi.papers.maddison2014 import nets
from katachi.papers.maddison2014.nets import MAIN, NETS, Net, ask_pretrained, learn, pretrained_networks
from katachi.papers.tournaments import require_games


def test_networks_learn_by_the_papers_protocol(make_scope):
    training = Net(12, 128, 28 * 128).training(require_games(make_scope("table2")))
    assert (training.layers, training.filters, training.first_kernel, training.outputs) == (12, 128, 5, 2)
    assert (training.planes, training.batch, training.optimizer, training.symmetries) == (
        "maddison-36",
        128,
        "sgd",
        True,
    )
    assert [training.step_size_at(step) for step in (0, 24, 25, 26, 27)] == [0.128, 0.128, 0.064, 0.032, 0.016]


def test_what_was_learned_is_not_learned_again(make_scope, run):
    seen = []
    net, scope = Net(1, 4, 200), make_scope("table2", watch=seen.append)
    first = learn([net], require_games(scope), scope)[net]
    assert [(progress.name, progress.runs, progress.all_runs, progress.unit) for progress in seen] == [
        ("1x4-maddison-36-200", positions, 256, "positions") for positions in (128, 256)
    ]
    assert first.tested["positions"] == 100 == sum(part["positions"] for part in first.tested["phases"].values())
    again = learn([net], require_games(scope), make_scope("figure1", watch=seen.append))[net]
    assert again == first
    assert len(seen) == 2
    kept = [json.loads(path.read_bytes()) for path in (run / NETS).glob("1x4-*-of-100.json")]
    assert [found["arguments"]["net"]["filters"] for found in kept] == [4]


def test_a_shipped_network_is_asked_the_same(make_scope, monkeypatch):
    scope = make_scope("figure1")
    games = require_games(scope)
    main = MAIN[Budget.SMOKE]
    learned = learn([main], games, scope)[main]
    monkeypatch.setattr(nets, "pretrained_models", lambda: [find_model("shapes-5"), learned.model])
    assert pretrained_networks(5) == {"model": learned.model}
    assert pretrained_networks(4) == {}
    (shipped,) = ask_pretrained(games, scope)
    assert shipped.title == "`model`"
    assert shipped.tested == learned.tested
    assert shipped.positions == open_model(learned.model).card.training.positions == 256
