"""Every model and every feature set that the registry finds keeps its contracts, and searches and players over them."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from katachi.core.conformance import (
    check_afterstate_evaluator,
    check_evaluator,
    check_feature_set,
    check_model,
    check_player,
    check_search,
    sample_games,
)
from katachi.core.contracts import Limit
from katachi.core.linear import LinearModel, SavableFeatures
from katachi.core.models import open_model, pretrained_models
from katachi.core.registry import references
from katachi.crbm.features import Templates
from katachi.players.search_player import SearchPlayer
from katachi.search.alphabeta import AlphaBetaSearch
from katachi.search.one_ply import GreedySearch
from katachi.search.settings import AlphaBetaSettings, GreedySettings
from katachi.shapes.features import LocalShapes
from katachi.shapes.liberty import CombinedShapes, LibertyShapes
from katachi.shapes.sets import ShapeSet

GOLDEN = sorted((Path(__file__).parents[1] / "golden" / "models").glob("format-*/*"))
FEATURES: dict[str, SavableFeatures] = {
    "local shapes": LocalShapes(5, [ShapeSet.parse("LI 2x1"), ShapeSet.parse("LD 4x3")], bins=1000, tied=True),
    "liberty shapes": LibertyShapes(5, [ShapeSet.parse("LI 1x1"), ShapeSet.parse("LD 2x2")], bins=100, tabled=True),
    "combined shapes": CombinedShapes(
        LocalShapes(5, [ShapeSet.parse("LI 2x2")]), LibertyShapes(5, [ShapeSet.parse("LI 3x2")], bins=100)
    ),
    "templates": Templates(5),
}
SETS = {
    "fused": ("LI 1x1", "LI 2x2", "LD 3x2", "LI 3x3"),
    "hashed": ("LI 2x1", "LD 4x3"),
    "tiny": ("LI 1x1", "LD 2x1"),
}
MODELS = [("fused", 3), ("fused", 5), ("fused", 9), ("fused", 19), ("hashed", 5), ("tiny", 2)]


def make_model(sets: str, size: int) -> LinearModel:
    features = LocalShapes(size, [ShapeSet.parse(name) for name in SETS[sets]], bins=1000)
    weights = np.random.default_rng(size).normal(scale=0.2, size=features.size)
    return LinearModel(features, weights.astype(np.float32))


@pytest.mark.parametrize("path", pretrained_models(), ids=lambda path: path.name)
def test_pretrained_models(path):
    size = open_model(path).card.board_size or 9
    check_model(path, games=islice(sample_games(sizes=[size]), 4))


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: "/".join(path.parts[-2:]))
def test_models_of_every_format(path):
    check_model(path)


def test_every_kind_of_model_was_checked():
    assert {open_model(path).card.kind for path in (*pretrained_models(), *GOLDEN)} == references("cards").keys()


@pytest.mark.parametrize("kind", references("feature_cards"))
def test_features(kind):
    features = FEATURES[kind]
    assert features.card().kind == kind
    check_feature_set(features, games=sample_games(sizes=[features.board_size]))


@pytest.mark.parametrize(("sets", "size"), MODELS)
def test_model(sets, size):
    model = make_model(sets, size)
    check_evaluator(model, games=sample_games(sizes=[size]))
    check_afterstate_evaluator(model, games=sample_games(sizes=[size]))
    check_feature_set(model.features, games=sample_games(sizes=[size]))


@pytest.mark.parametrize(("sets", "size"), MODELS)
def test_searches(sets, size):
    model = make_model(sets, size)
    limit = Limit(simulations=100, depth=2)
    check_search(GreedySearch(model, GreedySettings(epsilon=0.2)), games=sample_games(sizes=[size]), limit=limit)
    check_search(AlphaBetaSearch(model), games=sample_games(sizes=[size]), limit=limit)
    search = AlphaBetaSearch(model, AlphaBetaSettings(quiescence=3))
    check_search(search, games=sample_games(sizes=[size]), limit=limit)


@pytest.mark.parametrize("size", [5, 9])
def test_players(size):
    def make(search):
        return SearchPlayer("shapes", search, Limit(depth=3), np.random.default_rng(1), resign_below=0.1)

    model = make_model("fused", size)
    for search in (GreedySearch(model), AlphaBetaSearch(model)):
        check_player(make(search), make(search), games=sample_games(sizes=[size]), limit=Limit(simulations=200))
