"""Maddison, Huang, Sutskever and Silver 2014: a deep network predicts the moves of people, and plays by it."""

from __future__ import annotations

from typing import Final

from katachi.papers.experiment import Experiment
from katachi.papers.maddison2014.figures import Counts, Curve, Figure1, Outcomes, Sets, Trend
from katachi.papers.maddison2014.tables import KyuRanks, Table1, Table2, Table3, Table5

_HEAD: Final = """
Chris Maddison, Aja Huang, Ilya Sutskever and David Silver, *Move evaluation in Go using deep convolutional neural
networks*, 2014 (ICLR 2015). A network of up to twelve layers sees a position as 36 planes and predicts the move that a
strong player made there. Playing the most probable move, without any search, it won 97.2 % of its games against GNU Go;
a tree search with it won 86.7 % against the network alone.

<!-- not run: hours; tests/papers runs parts of it with few games -->

```sh
katachi data import games/ --out runs/games
katachi reproduce maddison2014 --data runs/games --budget smoke
katachi reproduce maddison2014 --data runs/games --table table2 --budget full --jobs 2
katachi reproduce maddison2014 --data runs/games --data runs/others --table sets --model runs/policy
katachi data label runs/games
katachi reproduce maddison2014 --data runs/games --table outcomes --model runs/policy --model playouts
```

Any dataset will do; the size with the most games is taken. The table `sets` asks networks about test games of several
sets, `ranks` one that knows kyu ranks about players of all ranks, `outcomes` any models, and playouts, about winners,
scores and owners in labeled games; without `--model` the bundled ones are asked. An interrupted command resumes when it
is given again, in the middle of a training too. Intervals are those of 95 %, Wilson's for shares. Those of moves are
over games, because positions of one game are alike; a table that does not say of how many games its positions are was
measured earlier, and takes positions for independent. Each table lists its differences from the paper, which numbers
only the table of its planes: `table1`, `table2`, `table3` and `table5` are our names for those of sections 5.1, 5.2 and
6. A *former* network was bundled in an earlier release; what the bundled ones of this one predict is in their cards
(`katachi models`).
Measured here: {measured}.
"""


EXPERIMENT: Final = Experiment(
    name="maddison2014",
    title="Move prediction by deep networks",
    tables=(
        Counts(),
        Table1(),
        Table2(),
        Trend(),
        Figure1(),
        Sets(),
        Curve(),
        Table3(),
        Table5(),
        KyuRanks(),
        Outcomes(),
    ),
    head=_HEAD,
)
