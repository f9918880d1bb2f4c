"""The tree search: strength by simulations, ablations, games against GNU Go, a ladder of levels, and slow priors."""

from __future__ import annotations

from typing import Final

from katachi.papers.experiment import Experiment
from katachi.papers.search.delayed import LatePriors
from katachi.papers.search.ladder import Ladder, Ladder13, Ladder19, write_cards
from katachi.papers.search.strength import Ablation, AgainstGnugo, Doubling

_HEAD: Final = """
How strong Monte-Carlo tree search is, and what its parts are worth and cost. A target is what we set out to reach.

<!-- not run: hours; tests/papers runs parts of it with few games -->

```sh
katachi reproduce search --budget smoke
katachi reproduce search --table doubling --budget full --jobs 2
katachi reproduce search --table ablation --budget full --runs 400 --jobs 2
katachi reproduce search --table ladder-19 --budget hour
```

An interrupted command resumes when it is given again. Intervals are those of 95 %: Wilson's for shares of
games, from resampling games for Elo. Measured here: {measured}.
"""


EXPERIMENT: Final = Experiment(
    name="search",
    title="Search: strength and ablations",
    tables=(Doubling(), Ablation(), AgainstGnugo(), Ladder(), Ladder13(), Ladder19(), LatePriors()),
    head=_HEAD,
    baseline="target",
    write_cards=write_cards,
)
