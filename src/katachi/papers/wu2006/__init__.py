"""Wu and Baldi 2006: a recursive network learns on small boards who will own each point, and judges large ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from katachi.papers.experiment import Experiment, Json
from katachi.papers.wu2006 import figures as figure2
from katachi.papers.wu2006.figures import BOOTSTRAP_TABLE, FIGURE3_TABLE
from katachi.papers.wu2006.tables import POINTS_TABLE, STATUS_TABLE, TABLE2_TABLE

# The paper and its tables, and what its document says before them.


def head(results: Mapping[str, Json]) -> str:
    """What is reproduced, and how to do it again."""
    measured = ", ".join(table.name for table in EXPERIMENT.tables if table.name in results)
    return f"""
Lin Wu and Pierre Baldi, *A scalable machine learning approach to Go*, NIPS 2006. A recursive network spreads over the
board from its four corners and says of every point who will own it. The same few thousand weights serve boards of any
size, so that what is learned on 9×9, where games are short, is good for 19×19. The best move is the one after which
most points will be one's own.

```
katachi data import games9/ --out runs/games9
katachi data label runs/games9
katachi data import games19/ --out runs/games19
katachi reproduce wu2006 --data runs/games9 --data runs/games19 --budget smoke
katachi reproduce wu2006 --data runs/games9 --data runs/games19 --table table2 --budget full --jobs 2
```

Networks learn from the labeled set on the smallest board, and are asked about games of all sizes that are given. An
interrupted command goes on where it was when it is given again. Intervals are those of 95 %; moves of one game are
taken for independent, and positions, not points, are counted. What each table does differently from the paper is told
there. Measured here: {measured}.
"""


EXPERIMENT: Final = Experiment(
    name="wu2006",
    title="Territory, learned on small boards",
    tables=(
        figure2.ERROR_TABLE,
        TABLE2_TABLE,
        figure2.PLACE_TABLE,
        FIGURE3_TABLE,
        POINTS_TABLE,
        STATUS_TABLE,
        BOOTSTRAP_TABLE,
    ),
    head=head,
)
