"""What tree search is worth: by simulations, by parts, against GNU Go, as a ladder of levels, and with slow
priors.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from katachi.papers.experiment import Experiment, Json
from katachi.papers.search import delayed
from katachi.papers.search.strength import (
    ABLATION_TABLE,
    AGAINST_GNUGO_TABLE,
    DOUBLING_TABLE,
    LADDER_TABLE,
    write_cards,
)

# The tables about tree search, and what their document says before them.


def head(results: Mapping[str, Json]) -> str:
    """What is measured, and how to measure it again."""
    measured = ", ".join(table.name for table in EXPERIMENT.tables if table.name in results)
    return f"""
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
    tables=(DOUBLING_TABLE, ABLATION_TABLE, AGAINST_GNUGO_TABLE, LADDER_TABLE, delayed.TABLE),
    head=head,
    baseline="bar",
    write_cards=write_cards,
)
