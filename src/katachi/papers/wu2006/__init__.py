"""Wu and Baldi 2006: a recursive network learns on small boards who will own each point, and evaluates large ones."""

from __future__ import annotations

from typing import Final

from katachi.papers.experiment import Experiment
from katachi.papers.wu2006.figures import Bootstrap, Figure2a, Figure2b, Figure3
from katachi.papers.wu2006.tables import Points, Status, Table2

_HEAD: Final = """
Lin Wu and Pierre Baldi, *A scalable machine learning approach to Go*, NIPS 2006. A recursive network spreads over the
board from its four corners and says of every point who will own it. The same few thousand weights serve boards of any
size, so that what is learned on 9×9, where games are short, is good for 19×19. The best move is the one after which
most points will be one's own.

<!-- not run: hours; tests/papers runs parts of it with few games -->

```sh
katachi data import games9/ --out runs/games9
katachi data label runs/games9
katachi data import games19/ --out runs/games19
katachi reproduce wu2006 --data runs/games9 --data runs/games19 --budget smoke
katachi reproduce wu2006 --data runs/games9 --data runs/games19 --table table2 --budget full --jobs 2
```

Networks learn from the labeled set on the smallest board, and are asked about games of all sizes that are given. An
interrupted command resumes when it is given again. Intervals are those of 95 %; moves of one game are
taken for independent, and positions, not points, are counted. Each table lists its differences
from the paper. Measured here: {measured}.
"""


EXPERIMENT: Final = Experiment(
    name="wu2006",
    title="Territory, learned on small boards",
    tables=(Figure2a(), Table2(), Figure2b(), Figure3(), Points(), Status(), Bootstrap()),
    head=_HEAD,
)
