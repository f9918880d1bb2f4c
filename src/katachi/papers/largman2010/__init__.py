"""Largman and Pham: features of a convolutional RBM for TD learning, as a protocol that can be run again."""

from __future__ import annotations

from typing import Final

from katachi.papers.experiment import Experiment
from katachi.papers.largman2010.features import Counts, Kernels, Winners
from katachi.papers.largman2010.play import Arms, Former, Play, Tournament

_HEAD: Final = """
Yan Largman and Peter Pham, *Convolutional restricted Boltzmann machine features for TD learning in Go*, an undated
report. A convolutional RBM finds features of boards without any labels; a linear value over them
learns by TD(0) from games that GNU Go played against itself, and won 54 of 63 games against the same value over all 2×2
templates.

<!-- not run: hours; tests/papers runs parts of it with few games -->

```sh
katachi data selfplay A B --games 1000 --komi 5.5 --out games.sgf
katachi data import games.sgf --out runs/gnugo
katachi reproduce largman2010 --data runs/gnugo --budget smoke
katachi reproduce largman2010 --data runs/gnugo --table play --budget full --jobs 2
```

A and B are GNU Go, as `katachi data selfplay --help` shows. Any dataset will do; the size with the most games is taken.
An interrupted command resumes when it is given again, in the middle of a training too. Intervals are those of 95 %.
`--table arms` undoes what is ours in the table `play`, one thing at a time.
Each table lists its differences from the paper. Measured here: {measured}.
"""


EXPERIMENT: Final = Experiment(
    name="largman2010",
    title="Features that a convolutional RBM finds",
    tables=(Counts(), Play(), Arms(), Former(), Winners(), Kernels(), Tournament()),
    head=_HEAD,
)
