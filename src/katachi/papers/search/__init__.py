"""What tree search is worth: by simulations, by parts, against GNU Go, as a ladder of levels, and with slow
priors.
"""

from __future__ import annotations

from typing import Final

from katachi.papers.experiment import Experiment
from katachi.papers.search.delayed import LatePriors
from katachi.papers.search.strength import (
    Ablation,
    AgainstGnugo,
    Doubling,
    Ladder,
    write_cards,
)

_HEAD: Final = """
How strong Monte-Carlo tree search is, what its parts are worth, and what they cost. A bar is what we set out to reach.

```
katachi reproduce search --budget smoke
katachi reproduce search --table doubling --budget full --jobs 2
katachi reproduce search --table ablation --budget full --runs 400 --jobs 2
```

An interrupted command goes on where it was when it is given again. Intervals are those of 95 %: Wilson's for shares of
games, from resampling games for Elo. Measured here: {measured}.
"""


EXPERIMENT: Final = Experiment(
    name="search",
    title="What tree search is worth",
    tables=(Doubling(), Ablation(), AgainstGnugo(), Ladder(), LatePriors()),
    head=_HEAD,
    baseline="bar",
    write_cards=write_cards,
)
