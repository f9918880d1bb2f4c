"""What the tests of the analysis share: small models, judges that think little, and a record with everything in it."""

from __future__ import annotations

import numpy as np
import pytest

from katachi.analysis.judges import Judges
from katachi.core.contracts import Limit
from katachi.core.linear import LinearModel
from katachi.players.specs import load_player
from katachi.sgf import SgfGame, parse_sgf
from katachi.shapes.features import LocalShapes
from katachi.shapes.sets import ShapeSet

RECORD = r"""(;GM[1]FF[4]SZ[5]KM[0.5]PB[Anna <b>]PW[Ben]BR[3k]RE[B+2.5]C[A game \] of ours]XX[kept]
;B[cc]C[the center];W[bb]LB[aa:z]
;B[bc]N[a name](;W[cb];B[db];W[da]TR[cc];B[ab];W[];B[ba];W[]TB[aa]TW[ea])(;W[dd];B[dc]))"""


@pytest.fixture
def record() -> SgfGame:
    return parse_sgf(RECORD)[0]


@pytest.fixture(scope="session")
def shapes() -> LinearModel:
    """Random weights for a few sets of local shapes on 5×5."""
    features = LocalShapes(5, [ShapeSet.parse(name) for name in ("LI 1x1", "LI 2x1", "LD 2x2", "LD 3x3")])
    weights = np.random.default_rng(1).normal(size=features.size).astype(np.float32)
    weights[features.sharing[0] != np.arange(features.size)] = 0
    return LinearModel(features, weights)


@pytest.fixture
def judges(shapes) -> Judges:
    """A tree of twenty simulations, and the shapes."""
    return Judges(load_player("strong-13 search.threads=1", seed=1), Limit(simulations=20), {"shapes": shapes})
