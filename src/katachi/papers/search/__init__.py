"""The tree search: strength, ablations, GNU Go, a ladder, slow priors, playouts, win rates, reviews, generations."""

from __future__ import annotations

from typing import Final

from katachi.papers.experiment import Experiment
from katachi.papers.search.learned import Generations, NetworkParts, Review
from katachi.papers.search.parts import LatePriors, PlayoutMatches, PlayoutQuality
from katachi.papers.search.positions import Calibration, Positions, Suite
from katachi.papers.search.strength import (
    Ablation,
    AgainstFormer,
    AgainstGnugo,
    AgainstNetwork,
    Doubling,
    Ladder,
    Ladder13,
    Ladder19,
    write_cards,
)

_HEAD: Final = """
How strong Monte-Carlo tree search is, and what its parts are worth and cost. A target is what we set out to reach.

<!-- not run: hours; tests/papers runs parts of it with few games -->

```sh
katachi reproduce search --budget smoke
katachi reproduce search --table doubling --budget full --jobs 2
katachi reproduce search --table ablation --budget full --runs 400 --jobs 2
katachi reproduce search --table ladder-19 --budget hour
katachi reproduce search --table playouts --budget hour --data SET
katachi reproduce search --table calibration --data SET --budget full --jobs 2
katachi reproduce search --table review --data SET --budget full --jobs 2
katachi reproduce search --table positions --data SET --budget hour --jobs 2
katachi reproduce search --table suite --budget full --jobs 2
```

An interrupted command resumes when it is given again. Intervals are those of 95 %: Wilson's for shares of
games, from resampling games for Elo. Measured here: {measured}.
"""


EXPERIMENT: Final = Experiment(
    name="search",
    title="Search: strength and ablations",
    tables=(
        Doubling(),
        Ablation(),
        NetworkParts(),
        AgainstGnugo(),
        AgainstNetwork(),
        AgainstFormer(),
        Ladder(),
        Ladder13(),
        Ladder19(),
        LatePriors(),
        PlayoutQuality(),
        PlayoutMatches(),
        Calibration(),
        Suite(),
        Positions(),
        Review(),
        Generations(),
    ),
    head=_HEAD,
    baseline="target",
    write_cards=write_cards,
)
